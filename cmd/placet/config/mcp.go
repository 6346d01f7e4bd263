package config

// MCP is the table [mcp]: how agents are answered over the Model Context Protocol.
type MCP struct {
	// Elicit says when a question is shown in the dialogue of the agent's host, too.
	Elicit string `toml:"elicit"`
}

var elicitKey = []string{"mcp", "elicit"}

// Elicit says when a question is shown in the dialogue of the host of a process. Where an agent's
// client has started that process, the agent may be the host, and nobody its user: dialogues are
// then shown only if the user's own configuration says when.
func (s Settings) Elicit(byAgent bool) string {
	if byAgent && !s.elicits {
		return "off"
	}
	return s.MCP.Elicit
}

package config

// MCP is the table [mcp]: how placet answers agents over the Model Context Protocol.
type MCP struct {
	// Elicit says when a question is also shown in a dialogue of the agent's host.
	Elicit string `toml:"elicit"`
}

var elicitKey = []string{"mcp", "elicit"}

// Elicit says when a question is also shown in a dialogue of the host of a process. If an agent's
// client started that process, the host may be the agent, without a user: then dialogues are
// shown only if the user's own configuration says when.
func (s Settings) Elicit(byAgent bool) string {
	if byAgent && !s.elicits {
		return "off"
	}
	return s.MCP.Elicit
}

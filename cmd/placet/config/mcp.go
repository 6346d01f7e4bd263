package config

// MCP is the table [mcp]: how agents are answered over the Model Context Protocol.
type MCP struct {
	// Elicit says when a question is shown in the dialogue of the agent's host, too.
	Elicit string `toml:"elicit"`
}

// check reports the first setting that cannot be used, and its key.
func (m MCP) check() (key string, err error) {
	return "elicit", oneOf(m.Elicit, "auto", "on", "off")
}

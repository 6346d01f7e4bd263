package config

import (
	"fmt"
	"slices"
	"strings"
)

// MCP is the table [mcp]: how agents are answered over the Model Context Protocol.
type MCP struct {
	// Elicit says when a question is shown in the dialogue of the agent's host, too.
	Elicit string `toml:"elicit"`
}

// elicits are the values of elicit.
var elicits = []string{"auto", "on", "off"}

// check reports the first setting that cannot be used, and its key.
func (m MCP) check() (key string, err error) {
	if !slices.Contains(elicits, m.Elicit) {
		return "elicit", fmt.Errorf("takes %s, not %q", strings.Join(elicits, ", "), m.Elicit)
	}
	return "", nil
}

// Package mcp answers agents over the Model Context Protocol: six tools, resources that can
// be subscribed to, and two prompts. It knows the protocol, how calls wait, and the SDK;
// what is asked of the workspace goes through [Workspace].
//
// tools.go has the table of tools, wait.go how a call waits for an answer, dialogue.go how the
// host's own dialogue is one more way to answer, resources.go what can be read, http.go the
// server before which a token stands. The schemas are in schemas/mcp.
package mcp

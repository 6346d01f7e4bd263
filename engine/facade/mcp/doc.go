// Package mcp answers agents over the Model Context Protocol: six tools, resources to which
// clients can subscribe, and two prompts. It knows the protocol, how calls wait, and the SDK;
// it reaches the workspace only through [Workspace].
//
// tools.go has the table of tools, wait.go how a call waits for an answer, dialogue.go the
// host's own dialogue as one more way to answer, resources.go what can be read, http.go the
// server that requires a token. The schemas are in schemas/mcp.
package mcp

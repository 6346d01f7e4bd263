// Package asks asks people questions for whoever has no dialect of its own: it makes an ask,
// waits for its answer, withdraws it, and does so for agents over MCP. Nothing here gives an
// answer but the dialogue of an agent's host, whose user is who the caller is.
package asks

// Package asks asks people questions on behalf of callers that have no dialect of their own: it
// makes an ask, waits for its answer, withdraws it, and does so for agents over MCP. Only the
// dialogue of an agent's host gives answers here, since the host's user is the caller.
package asks

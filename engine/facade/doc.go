// Package facade is HTTP in front of a workspace: who may call, with what, how much of it,
// and in what words a call is refused. What the calls do is a table of routes that its user
// hands over; the OpenAPI document is made of the same table.
//
//	connection → limits → host, origin → route → method → identity → role → body → Route.Handle
//
// Every step refuses with problem details (RFC 9457) before the next one looks at anything.
// A GET changes nothing. A call that changes something does so by writing a file that any
// editor could have written; who gave it is recorded beside it ([Identity].Known), outside
// the workspace.
//
// tokens.go keeps the tokens of programs, sessions.go the sessions of browsers, events.go
// the one stream of events, openapi.go the description of the table.
package facade

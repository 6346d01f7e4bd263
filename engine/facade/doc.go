// Package facade puts HTTP in front of a workspace: it decides who may call, with what, and
// how much of it, and words the refusals. Its user supplies a table of routes that says what
// the calls do; the OpenAPI document is made from the same table.
//
//	connection → limits → host, origin → route → method → identity → role → body → Route.Handle
//
// Every step refuses with problem details (RFC 9457) before the next one looks at anything.
// A GET changes nothing. A call that changes something does so by writing a file that any
// editor could have written; the caller is recorded ([Identity].Known) outside the
// workspace.
//
// tokens.go holds the tokens of programs, sessions.go the sessions of browsers, events.go
// the stream of events, openapi.go the description of the table.
package facade

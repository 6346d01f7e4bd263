// Package notify tells people that a request is open: through services named by URLs, on the
// desktop, and through a program of the user's. It decides nothing, and it may be killed at
// any moment.
//
// A request has rungs: its opening, each reminder, each escalation, at ages counted from
// when it was asked. A [Notifier] learns which requests open and close, determines what is
// due, and sends in parallel with the loop; it checks before each message whether the
// request is still open.
//
// Each (request, rung, target) is tried at most once: a line in notified.jsonl of the state
// folder is durable before the attempt begins, and its outcome follows. An attempt without
// an outcome is never repeated. A refused attempt, of which nothing can have arrived, is
// repeated up to three times. A later rung replaces the earlier ones, so a person who was
// away for a day is told of a request once.
//
// settings.go reads the table [notify], quiet.go moves messages out of the quiet hours,
// ntfy.go sends messages with buttons, links.go follows the topic to which they post,
// ledger.go keeps the lines, notifier.go decides what is sent when, send.go sends it.
package notify

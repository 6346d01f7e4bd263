package faber

import "placet/engine"

// Statuses of a run. Upstream's other spellings are read as these.
const (
	Pending    engine.Status = "pending"           // created, not started
	InProgress engine.Status = "in_progress"       // an agent works
	Awaiting   engine.Status = "awaiting_feedback" // waits for a person
	Paused     engine.Status = "paused"            // held by upstream until it sets another status
	Failed     engine.Status = "failed"            // stopped by an error; retry or abort may follow
	Completed  engine.Status = "completed"         // finished; final
	Cancelled  engine.Status = "cancelled"         // given up by a person; final
)

// Events of the run's table.
const (
	requestOpened    = "request_opened"
	answeredContinue = "answered_continue"
	answeredRevise   = "answered_revise"
	answeredRetry    = "answered_retry"
	answeredSkip     = "answered_skip"
	answeredAbort    = "answered_abort"
	expired          = "expired"
	cancelAsked      = "cancel_asked"
)

// final reports whether a status has no way out.
func final(s engine.Status) bool { return s == Completed || s == Cancelled }

// aliases are upstream's other spellings of a status.
var aliases = map[string]engine.Status{
	"aborted": Cancelled, "error": Failed, "running": InProgress, "stopped": Paused,
}

// status reads upstream's word for a run's status.
func status(word string) (engine.Status, bool) {
	if s, ok := aliases[word]; ok {
		return s, true
	}
	switch s := engine.Status(word); s {
	case Pending, InProgress, Awaiting, Paused, Failed, Completed, Cancelled:
		return s, true
	}
	return "", false
}

// edges is the table: what is possible. step.go says which edge is taken now.
// Rows without placet's hand in them (upstream starting, pausing, failing and
// completing a run) are not in it: they are somebody else's transitions.
var edges = append([]engine.Edge{
	{Of: "run", From: Awaiting, Event: requestOpened, To: Awaiting},
	{Of: "run", From: Awaiting, Event: answeredContinue, To: InProgress},
	{Of: "run", From: Awaiting, Event: answeredRevise, To: InProgress},
	{Of: "run", From: Awaiting, Event: answeredRetry, To: InProgress},
	{Of: "run", From: Awaiting, Event: answeredSkip, To: InProgress},
	{Of: "run", From: Awaiting, Event: answeredAbort, To: Cancelled},
	{Of: "run", From: Awaiting, Event: expired, To: InProgress},
	{Of: "run", From: Awaiting, Event: expired, To: Cancelled},
	{Of: "run", From: Failed, Event: answeredRetry, To: InProgress},
	{Of: "run", From: Failed, Event: answeredAbort, To: Cancelled},
	{Of: "run", From: Pending, Event: cancelAsked, To: Cancelled},
	{Of: "run", From: InProgress, Event: cancelAsked, To: Cancelled},
	{Of: "run", From: Awaiting, Event: cancelAsked, To: Cancelled},
	{Of: "run", From: Failed, Event: cancelAsked, To: Cancelled},
	{Of: "run", From: Paused, Event: cancelAsked, To: Cancelled},
}, stepEdges()...)

// stepEdges are the moves of a step that go with an answer. A step that has
// no entry counts as pending.
func stepEdges() []engine.Edge {
	var rows []engine.Edge
	for _, from := range []engine.Status{Pending, InProgress, Failed} {
		rows = append(rows,
			engine.Edge{Of: "step", From: from, Event: answeredContinue, To: Completed},
			engine.Edge{Of: "step", From: from, Event: answeredContinue, To: InProgress}, // gate kind input
			engine.Edge{Of: "step", From: from, Event: answeredSkip, To: Skipped},
			engine.Edge{Of: "step", From: from, Event: answeredRevise, To: InProgress},
			engine.Edge{Of: "step", From: from, Event: answeredRetry, To: InProgress},
			engine.Edge{Of: "step", From: from, Event: expired, To: Skipped},
			engine.Edge{Of: "step", From: from, Event: expired, To: InProgress},
		)
	}
	return rows
}

// Skipped is the status of a step that a person chose to leave out.
const Skipped engine.Status = "skipped"

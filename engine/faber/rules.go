package faber

import (
	"cmp"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/jsonedit"
	"placet/engine/run"
)

// Statuses of a run. placet reads upstream's other spellings as these.
const (
	Pending    engine.Status = "pending"           // created, not started
	InProgress engine.Status = "in_progress"       // an agent works
	Awaiting   engine.Status = "awaiting_feedback" // waits for a person
	Paused     engine.Status = "paused"            // paused by upstream until it sets another status
	Failed     engine.Status = "failed"            // stopped by an error; retry or abort may follow
	Completed  engine.Status = "completed"         // finished; final
	Cancelled  engine.Status = "cancelled"         // cancelled by a person; final
)

// Events of the run's table.
const (
	requestOpened    = "request_opened"
	gateOpened       = "gate_opened"
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

// aliases maps upstream's other spellings to statuses.
var aliases = map[string]engine.Status{
	"aborted": Cancelled, "error": Failed, "running": InProgress, "stopped": Paused,
}

// status parses upstream's word for a run's status.
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

type (
	rule   = run.Rule[State, *view]
	move   = run.Move[State, *view]
	change = run.Change[State, *view]
	from   = []engine.Status
	to     = []engine.Status
)

const ofRun = "run"

// rules are placet's rows of the transition table, in order of precedence. They do not include
// transitions that upstream makes itself (starting, pausing, failing and completing a run).
var rules = [][]rule{
	{{Of: ofRun, From: from{Pending, InProgress, Awaiting, Failed, Paused}, Event: cancelAsked, To: to{Cancelled}, When: cancels}},
	{
		{Of: ofRun, From: from{Awaiting, Failed}, Event: answeredAbort, To: to{Cancelled}, When: onAnswer(answeredAbort)},
		{Of: ofRun, From: from{Awaiting, Failed}, Event: answeredRetry, To: to{InProgress}, When: onAnswer(answeredRetry)},
		{Of: ofRun, From: from{Awaiting}, Event: answeredContinue, To: to{InProgress}, When: onAnswer(answeredContinue)},
		{Of: ofRun, From: from{Awaiting}, Event: answeredRevise, To: to{InProgress}, When: onAnswer(answeredRevise)},
		{Of: ofRun, From: from{Awaiting}, Event: answeredSkip, To: to{InProgress}, When: onAnswer(answeredSkip)},
		{Of: ofRun, From: from{Awaiting}, Event: expired, To: to{InProgress, Cancelled}, When: onAnswer(expired)},
	},
	{{Of: ofRun, From: from{Awaiting}, Event: requestOpened, When: opens}},
	{{Of: ofRun, From: from{Awaiting}, Event: expired, To: to{InProgress, Cancelled}, When: expires}},
	{{Of: ofRun, From: from{Pending, InProgress}, Event: gateOpened, To: to{Awaiting}, When: opensGate}},
}

// transition is what placet writes to move a run.
type transition struct {
	to     engine.Status
	at     time.Time
	reason string
	// cause is the file that caused it, if it has a path.
	cause engine.Document
	// docs are written first, then the events.
	docs   func(revision int) []engine.Document
	events []newEvent
	// moves and history are edits of state.json; see [patch].
	moves, history []jsonedit.Edit
	also           []engine.Transition
}

// move returns the transition in the kernel's form.
func (t transition) move(r *view) *move {
	m := &move{To: t.to, Reason: t.reason}
	if t.cause.Path != "" {
		m.Causes = []engine.Document{t.cause}
	}
	m.Then = func(c *change) {
		c.Now = run.Millis(t.at)
		p := engine.Plan{Writes: t.docs(c.Revision)}
		last := r.emit(&p, c.Revision, t.at, t.events)
		c.Write(p.Writes...)
		for _, also := range t.also {
			c.Also(also)
		}
		c.State.patch = patch{body: r.doc.Body, moves: t.moves, reason: t.reason, history: t.history}
		if r.events.kept {
			c.State.patch.lastEvent = &last
		}
	}
	return m
}

// onAnswer returns the guard of an event that an answer causes. An answer that cannot be carried
// out now blocks everything else.
func onAnswer(event string) func(*view, run.On) *move {
	return func(r *view, _ run.On) *move {
		a := r.answered()
		switch {
		case a == nil:
			return nil
		case !a.can:
			return &move{Blocks: true}
		case a.event() == event:
			return a.decide()
		}
		return nil
	}
}

// expires applies the default of a request whose deadline has expired.
func expires(r *view, _ run.On) *move {
	o := r.asked()
	if o == nil || !o.q.isOpen() || !o.stands {
		return nil
	}
	if a := o.timedOut(); a != nil {
		if t := o.take(a); t.can {
			return t.decide()
		}
	}
	return nil
}

// cancels cancels the run because a person wrote cancel.json.
func cancels(r *view, _ run.On) *move {
	var c Cancel
	d := r.Snap.In("cancel.json")
	if r.foreign() || !r.Decode(d, "faber/cancel", &c) {
		return nil
	}
	at, reason := r.Snap.Now, cmp.Or(c.Reason, r.Say("faber.reason.cancelled", "user", c.By))
	return transition{
		to: Cancelled, at: at, reason: reason, cause: d,
		docs: func(revision int) []engine.Document {
			if r.state.status != Awaiting || r.state.Feedback == nil {
				return nil
			}
			a := r.run.Folder(r.state.Feedback.RequestID)
			if a.Receipt != nil || a.Request == nil {
				return nil
			}
			o := r.past(a)
			closed := o.closed(gate.Cancelled, r.Say("faber.reason.given_up", "reason", reason), revision)
			return []engine.Document{o.receiptDoc(closed)}
		},
		events: cancelEvents(c.By, reason), moves: cancelEdits(seconds(at), reason),
	}.move(r)
}

// stepEdges returns the moves of a step that belong to answers. A step without an entry counts as
// pending.
func stepEdges() (rows []engine.Edge) {
	for _, from := range []engine.Status{Pending, InProgress, Failed} {
		for _, d := range []*outcome{completes, runsOn, skips, revises, retries} {
			rows = append(rows, engine.Edge{Of: "step", From: from, Event: d.event, To: d.step})
		}
		for _, to := range []engine.Status{Skipped, InProgress} {
			rows = append(rows, engine.Edge{Of: "step", From: from, Event: expired, To: to})
		}
	}
	return rows
}

// Skipped is the status of a step that a person chose to skip.
const Skipped engine.Status = "skipped"

func cancelEvents(by, reason string) []newEvent {
	return []newEvent{{event: event{Type: "workflow_cancelled", Status: "cancelled", User: by, Message: reason}}}
}

// opens writes the request's files and records in state.json where the form is and, once a comment
// was posted, where that is.
func opens(r *view, _ run.On) *move {
	o := r.asked()
	if o == nil {
		return nil
	}
	if o.altered != "" && o.folder.Receipt == nil && !o.q.isOpen() {
		o.noteAltered() // an answer to it gets its own note
	}
	if o.q.forStatus == Failed || o.altered != "" || o.folder.Receipt != nil {
		return nil
	}
	edits, reason := o.announce()
	if len(edits) == 0 || r.Held || o.q.artifactsBusy() {
		return nil
	}
	return transition{
		at: r.Snap.Now, reason: reason, moves: edits, events: o.openingEvents(),
		docs: func(int) []engine.Document { return o.files() },
	}.move(r)
}

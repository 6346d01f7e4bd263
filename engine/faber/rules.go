package faber

import (
	"cmp"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/jsonedit"
	"placet/engine/run"
	"placet/schemas"
)

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

type (
	rule   = run.Rule[State, *view]
	move   = run.Move[State]
	change = run.Change[State]
	from   = []engine.Status
	to     = []engine.Status
)

const ofRun = "run"

// rules are placet's rows of the transition table, in the order of precedence. Those
// without its hand in them (upstream starting, pausing, failing and completing a run) are
// somebody else's transitions.
var rules = [][]rule{
	{{Of: ofRun, From: from{Pending, InProgress, Awaiting, Failed, Paused}, Event: cancelAsked, To: to{Cancelled}, When: (*view).cancels}},
	{
		{Of: ofRun, From: from{Awaiting, Failed}, Event: answeredAbort, To: to{Cancelled}, When: onAnswer(answeredAbort)},
		{Of: ofRun, From: from{Awaiting, Failed}, Event: answeredRetry, To: to{InProgress}, When: onAnswer(answeredRetry)},
		{Of: ofRun, From: from{Awaiting}, Event: answeredContinue, To: to{InProgress}, When: onAnswer(answeredContinue)},
		{Of: ofRun, From: from{Awaiting}, Event: answeredRevise, To: to{InProgress}, When: onAnswer(answeredRevise)},
		{Of: ofRun, From: from{Awaiting}, Event: answeredSkip, To: to{InProgress}, When: onAnswer(answeredSkip)},
		{Of: ofRun, From: from{Awaiting}, Event: expired, To: to{InProgress, Cancelled}, When: onAnswer(expired)},
	},
	{{Of: ofRun, From: from{Awaiting}, Event: requestOpened, When: (*view).opens}},
	{{Of: ofRun, From: from{Awaiting}, Event: expired, To: to{InProgress, Cancelled}, When: (*view).expires}},
}

// transition is what placet writes when a run moves.
type transition struct {
	to     engine.Status
	at     time.Time
	reason string
	// cause is the file that it was caused by; without a path there is none.
	cause engine.Document
	// docs are written first, then the events.
	docs   func(revision int) []engine.Document
	events []newEvent
	// moves and history are edits of state.json; see [patch].
	moves, history []jsonedit.Edit
	also           []engine.Transition
}

// makes is the move of a transition.
func (r *answers) makes(t transition) *move {
	m := &move{To: t.to, Reason: t.reason}
	if t.cause.Path != "" {
		m.Causes = []engine.Document{t.cause}
	}
	m.Then = func(c *change) {
		c.Now = run.Text(millis(t.at))
		p := engine.Plan{Writes: t.docs(c.Revision)}
		last := r.emit(&p, c.Revision, t.at, t.events)
		c.Write(p.Writes...)
		for _, also := range t.also {
			c.Also(also)
		}
		c.State.patch = patch{body: r.Doc.Body, moves: t.moves, reason: t.reason, history: t.history}
		if r.hasEvents() {
			c.State.patch.lastEvent = &last
		}
	}
	return m
}

// onAnswer is the guard of an event that an answer causes. An answer that cannot be carried
// out now holds up everything else.
func onAnswer(event string) func(*view, run.On) *move {
	return func(r *view, _ run.On) *move {
		a := r.answered()
		switch {
		case a == nil:
			return nil
		case !a.can:
			return &move{Blocks: true}
		case a.event() == event:
			return r.decide(a)
		}
		return nil
	}
}

// acceptedAnswer is an answer with what it does; can says that it can be carried out now.
type acceptedAnswer struct {
	o   *openRequest
	a   *answer
	e   effect
	can bool
}

// event is that of the edge which the answer takes.
func (t *acceptedAnswer) event() string {
	if t.a.Expired() {
		return expired
	}
	return t.e.event
}

// answered is the answer that counts, nil for none.
func (r *answers) answered() *acceptedAnswer {
	return run.Once(r.Run, "answered", func() *acceptedAnswer {
		o := r.asked()
		if o == nil || r.eventsOpen {
			return nil
		}
		a := r.evidence(o)
		if a == nil {
			return nil
		}
		return r.take(o, a)
	})
}

// take says what an answer does. Without a place to go on from, and while it would do
// something else than was shown, the answer waits; so it does for what resume.md hangs
// on, which stands before the state says that somebody goes on.
func (r *answers) take(o *openRequest, a *answer) *acceptedAnswer {
	t := &acceptedAnswer{o: o, a: a}
	if !a.Counts() || o.nowhere() {
		return t
	}
	e, ok := r.shownEffect(o, a.Response)
	if !ok {
		return t
	}
	t.e, t.can = e, true
	if e.to == InProgress && !r.foreign() && r.resumeBusy() {
		r.Held, t.can = true, false
	}
	return t
}

// expires takes the default of a request whose deadline passed.
func (r *view) expires(run.On) *move {
	o := r.asked()
	if o == nil || !o.q.isOpen() || !o.stands {
		return nil
	}
	if a := r.timedOut(o); a != nil {
		if t := r.take(o, a); t.can {
			return r.decide(t)
		}
	}
	return nil
}

// cancels gives the run up because a person wrote cancel.json.
func (r *view) cancels(run.On) *move {
	var c Cancel
	d := r.Snap.In("cancel.json")
	if r.foreign() || !r.Decode(d, "faber/cancel", &c) {
		return nil
	}
	at, reason := r.Snap.Now, cmp.Or(c.Reason, r.Say("faber.reason.cancelled", "user", c.By))
	return r.makes(transition{
		to: Cancelled, at: at, reason: reason, cause: d,
		docs: func(revision int) []engine.Document {
			if r.State.status != Awaiting || r.State.Feedback == nil {
				return nil
			}
			a := r.Folder(r.State.Feedback.RequestID)
			if a.Receipt != nil || a.Request == nil {
				return nil
			}
			return []engine.Document{r.receiptDoc(a, r.closed(a, gate.Cancelled, r.Say("faber.reason.given_up", "reason", reason), revision))}
		},
		events: r.cancelEvents(c.By, reason), moves: cancelEdits(seconds(at), reason),
	})
}

// stepEdges are the moves of a step that go with an answer. A step that has
// no entry counts as pending.
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

// Skipped is the status of a step that a person chose to leave out.
const Skipped engine.Status = "skipped"

func (r *closings) cancelEvents(by, reason string) []newEvent {
	return []newEvent{{event: event{Type: "workflow_cancelled", Status: "cancelled", User: by, Message: reason}}}
}

// opens writes the request's files and says in state.json where the form is; once a
// comment was posted, where that is.
func (r *view) opens(run.On) *move {
	o := r.asked()
	if o == nil {
		return nil
	}
	if o.altered != "" && o.a.Receipt == nil && !o.q.isOpen() {
		r.noteAltered(o) // an answer to it says so itself
	}
	if o.q.forStatus == Failed || o.altered != "" || o.a.Receipt != nil {
		return nil
	}
	edits, reason := r.announce(o)
	if len(edits) == 0 || r.Held || r.artifactsBusy(o.q) {
		return nil
	}
	return r.makes(transition{
		at: r.Snap.Now, reason: reason, moves: edits, events: r.requestEvents(o),
		docs: func(int) []engine.Document { return r.requestFiles(o) },
	})
}

// announce are the edits of notification_sent that are due, and why.
func (r *requests) announce(o *openRequest) (edits []jsonedit.Edit, reason string) {
	const base = "/feedback_request/notification_sent"
	n := o.q.Notification
	if !o.q.isOpen() {
		reason = r.Say("faber.reason.form")
		edits = append(edits, set(base+"/form", formPath(o.a.ID)))
	}
	if n == nil {
		n = &Notification{}
		edits = []jsonedit.Edit{set(base, schemas.Object{{Name: "form", Value: formPath(o.a.ID)}})}
	}
	var posted Posted
	if r.Decode(r.Snap.Doc(o.a.Dir+"/posted.json"), "faber/posted", &posted) && (!n.IssueComment || n.CommentURL != posted.CommentURL) {
		edits = append(edits, set(base+"/issue_comment", true), set(base+"/comment_url", posted.CommentURL))
		reason = cmp.Or(reason, r.Say("faber.reason.comment"))
	}
	return edits, reason
}

func (r *requests) requestEvents(o *openRequest) []newEvent {
	e := o.event("feedback_request", o.q.step, "", "", schemas.Object{
		{Name: "request_id", Value: o.a.ID}, {Name: "type", Value: o.q.Type}, {Name: "options", Value: o.q.options()},
	})
	e.Message = "Awaiting feedback: " + o.q.Prompt
	return []newEvent{e}
}

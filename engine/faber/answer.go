package faber

import (
	"fmt"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/jsonedit"
	"placet/schemas"
)

// Actions that an answer leads to.
const (
	actContinue = "continue"
	actRevise   = "revise"
	actRetry    = "retry"
	actSkip     = "skip"
	actAbort    = "abort"
)

// kindOf reads an unknown request type: with options it is a selection, else a
// clarification.
func kindOf(typ string, options int) string {
	switch typ {
	case "approval", "confirmation", "selection", "clarification", "review", "error_resolution":
		return typ
	}
	if options > 0 {
		return "selection"
	}
	return "clarification"
}

// outcome is what an accepted answer does to the run.
type outcome struct {
	o      *open
	a      *answer
	action string
	to     engine.Status
	event  string
	// moves are the edits that note the step, stepTo its new status; "" where
	// the step stays as it is.
	moves    []jsonedit.Edit
	stepTo   engine.Status
	point    *ResumePoint
	revision int
	at       time.Time
}

// answers are what counts as an answer, and what it does.
type answers struct{ *requests }

// decide works out what an answer changes: it carries out the effect of its option,
// by the table of section 6.
func (r *answers) decide(o *open, a *answer, e effect) outcome {
	out := outcome{o: o, a: a, action: e.action, revision: r.State.rev + 1, at: a.decidedAt, to: InProgress}
	phase, step := o.q.phase, o.q.step
	now := seconds(out.at)
	var have engine.Status
	if step != "" {
		have = r.State.shape.status(phase, step)
	}
	settled := have == Completed || have == Skipped
	switch out.action {
	case actAbort:
		out.to = Cancelled
	case actRevise, actRetry:
		if !settled {
			out.moves = r.State.shape.reopen(phase, step)
			out.stepTo = InProgress
		}
		out.point = r.pointAt(o, phase, step, "at", out.action)
	case actSkip:
		if !settled {
			out.moves, out.stepTo = r.State.shape.mark(phase, step, Skipped, ""), Skipped
		}
		out.point = r.pointNext(o, out.action)
	default:
		switch e.permits {
		case licensed:
			out.point = r.pointAt(o, phase, step, "at", out.action)
		case runsOn:
			out.moves, out.stepTo = r.State.shape.reopen(phase, step), InProgress
			out.point = r.pointAt(o, phase, step, "at", out.action)
		default:
			if !settled {
				out.moves, out.stepTo = r.State.shape.complete(phase, step, now), Completed
			}
			out.point = r.pointNext(o, out.action)
		}
	}
	out.event = map[string]string{
		actContinue: answeredContinue, actRevise: answeredRevise, actRetry: answeredRetry,
		actSkip: answeredSkip, actAbort: answeredAbort,
	}[out.action]
	if a.Expired() {
		out.event = expired
	}
	return out
}

// What a continuing answer does to the step.
const (
	completes = iota
	licensed  // it permits the step, and does not complete it
	runsOn    // the step goes on with the answer
)

// permits says what a continuing answer does to the step. With a gate, its
// kind says it. A request of upstream's own stands either behind a step (which
// is then completed) or in front of it: in front where the step is destructive,
// or where its entry says pending and no step_start event exists.
func (r *questions) permits(q question) int {
	if q.ownGate {
		switch q.gate.Kind {
		case "phase_entry", "destructive":
			return licensed
		case "input":
			return runsOn
		}
		return completes
	}
	if r.destructive(q.phase, q.step) {
		return licensed
	}
	if e, ok := r.State.shape.find(q.phase, q.step); ok && e.status == string(Pending) && !r.startedStep(q.phase, q.step) {
		return licensed
	}
	return completes
}

func (r *eventLog) startedStep(phase, step string) bool {
	for _, e := range r.events {
		if e.Type == "step_start" && e.Step == step && (e.Phase == "" || e.Phase == phase) {
			return true
		}
	}
	return false
}

func (r *answers) pointAt(o *open, phase, step, position, action string) *ResumePoint {
	rp := &ResumePoint{Phase: phase, Step: step, Position: position, Action: action, RequestID: o.a.ID}
	rp.StepIndex = r.stepIndex(phase, step)
	return rp
}

// stepIndex is a step's number in its phase: by the plan, else as upstream gave it for
// the step at which the run stands; nil where nobody tells.
func (r *planner) stepIndex(phase, step string) *int {
	if i := r.plan().index(phase, step); r.plan().known && i >= 0 {
		return &i
	}
	for _, rp := range []*ResumePoint{r.State.ResumePoint, r.State.requestPoint()} {
		if rp != nil && rp.Phase == phase && rp.Step == step {
			return rp.StepIndex
		}
	}
	return nil
}

// pointNext is the next planned step; where the plan is unknown or has nothing
// later, the answered step with the position after it.
func (r *answers) pointNext(o *open, action string) *ResumePoint {
	if next, ok := r.plan().next(o.q.phase, o.q.step, r.State.shape); ok {
		return r.pointAt(o, next.Phase, next.ID, "at", action)
	}
	return r.pointAt(o, o.q.phase, o.q.step, "after", action)
}

// carriesOut is the move that an accepted answer causes: receipt, events, state.json last.
func (r *answers) carriesOut(out outcome) *move {
	o, a := out.o, out.a
	t := transition{
		event: out.event, to: out.to, at: out.at, reason: a.Why(reasonFor(o.req, a.Response, a.By)),
		cause:  engine.Document{Path: r.Path(a.cause), Sum: a.sum},
		events: r.answerEvents(out), status: []jsonedit.Edit{set("/status", string(out.to))},
		moves: r.answerEdits(out), history: r.historyEdits(out),
		docs: func(int) []engine.Document {
			if o.a.Receipt != nil && !a.Unproven() {
				return nil
			}
			return []engine.Document{r.receiptDoc(o.a, r.receipt(out))}
		},
	}
	if also, ok := r.stepMove(out, t.reason); ok {
		t.also = append(t.also, also)
	}
	return r.makes(t)
}

// stepMove is the move of the step that goes with the answer.
func (r *answers) stepMove(out outcome, reason string) (engine.Transition, bool) {
	from := r.State.shape.status(out.o.q.phase, out.o.q.step)
	if from == "" {
		from = Pending
	}
	if len(out.moves) == 0 || from == out.stepTo || from != Pending && from != InProgress && from != Failed {
		return engine.Transition{}, false
	}
	return engine.Transition{
		Edge:    engine.Edge{Of: "step", From: from, Event: out.event, To: out.stepTo},
		Subject: where(out.o.q.phase, out.o.q.step), Actor: "placet", Reason: reason,
	}, true
}

// reasonWord is the answer as one word or a short line.
func reasonWord(req gate.Request, response string) string {
	if !req.FreeText() {
		return response
	}
	return "answer"
}

func (r *answers) receipt(out outcome) gate.Receipt {
	a := out.a
	rc := gate.Receipt{
		SchemaVersion: 1, RequestID: out.o.a.ID, Result: "accepted", Response: a.Response, Selected: a.Selected,
		Comment: a.Comment, Late: a.late, ProvidedBy: a.By, KnownAs: a.Known, Digest: a.Digest,
		ReceivedAt: a.receivedAt, DecidedAt: millis(out.at), Reason: a.Reason(), Revision: out.revision,
	}
	if a.Expired() {
		rc.Result, rc.Reason = "expired", a.Why("the deadline "+out.o.req.Deadline+" passed without an answer")
	}
	if a.Path != "" {
		rc.Answer = &gate.Answered{Path: a.Path, SHA256: a.Sum.Hex()}
	}
	return rc
}

// answerEvents are the events that an answer calls for, in order.
func (r *answers) answerEvents(out outcome) []emission {
	o, a := out.o, out.a
	phase, step := o.q.phase, o.q.step
	list := []emission{{
		typ: "feedback_received", phase: phase, step: step, user: a.By.User, request: o.a.ID,
		message:  "Feedback received: " + oneLine(a.Response, 200),
		metadata: feedbackMetadata(out),
	}}
	add := func(typ, step, status string, metadata schemas.Object) {
		list = append(list, emission{typ: typ, phase: phase, step: step, status: status, user: a.By.User, metadata: metadata, request: o.a.ID})
	}
	id := schemas.Object{{Name: "request_id", Value: o.a.ID}}
	switch out.action {
	case actContinue:
		if gate.Decides(o.req.Type) && agrees(o.req, a.Response) {
			add("approval_granted", "", "", approvalMetadata(o, a, "approved_by"))
		}
	case actRevise, actRetry:
		add("step_retry", step, "", id)
	case actSkip:
		add("step_skip", step, "skipped", id)
	case actAbort:
		if gate.Decides(o.req.Type) && gate.Fold(a.Response) != gate.Fold("abort") {
			add("approval_denied", "", "", approvalMetadata(o, a, "denied_by"))
		}
		add("workflow_cancelled", "", "cancelled", id)
	}
	return list
}

func approvalMetadata(o *open, a *answer, by string) schemas.Object {
	return schemas.Object{
		{Name: "request_id", Value: o.a.ID}, {Name: "decision", Value: a.Response}, {Name: by, Value: a.By.User},
	}
}

func feedbackMetadata(out outcome) schemas.Object {
	o, a := out.o, out.a
	m := schemas.Object{
		{Name: "request_id", Value: o.a.ID}, {Name: "request_type", Value: o.req.Type}, {Name: "response", Value: a.Response},
	}
	if a.Comment != "" {
		m = append(m, schemas.Member{Name: "comment", Value: a.Comment})
	}
	return append(m, schemas.Member{Name: "action", Value: out.action}, schemas.Member{Name: "provided_by", Value: by(a)})
}

func by(a *answer) schemas.Object {
	return schemas.Object{{Name: "user", Value: a.By.User}, {Name: "source", Value: a.By.Source}}
}

// answerEdits are the edits of state.json that the answer is about.
func (r *answers) answerEdits(out outcome) []jsonedit.Edit {
	edits := out.moves
	switch {
	case out.to == Cancelled:
		reason := out.a.Comment
		if reason == "" {
			reason = fmt.Sprintf("%s by %s", out.a.Response, out.a.By.User)
		}
		edits = append(edits, set("/completed_at", seconds(out.at)), set("/cancellation_reason", reason))
	case r.State.status == Failed:
		edits = append(edits, set("/completed_at", nil))
	}
	if out.action == actRetry {
		edits = append(edits, r.resolveError(out.o.q.phase, out.o.q.step)...)
	}
	return append(edits, closeEdits(out.point)...)
}

// historyEdits note the answer in the history: one entry for one request. One that
// says something else does not count, and this answer takes its place.
func (r *answers) historyEdits(out outcome) []jsonedit.Edit {
	if out.a.recorded {
		return nil
	}
	for i := range r.State.History {
		if r.State.History[i].RequestID == out.o.a.ID {
			return []jsonedit.Edit{set(fmt.Sprintf("/feedback_history/%d", i), historyEntry(out))}
		}
	}
	return []jsonedit.Edit{push("/feedback_history", historyEntry(out))}
}

// recordedAs reports whether the history says of a request that this was the answer.
func (r *answers) recordedAs(id, response string) bool {
	h := r.State.answerTo(id)
	return h != nil && gate.Fold(h.Response) == gate.Fold(response)
}

// reasonFor is the reason of a transition that an answer makes.
func reasonFor(req gate.Request, response string, by gate.By) string {
	return fmt.Sprintf("%s by %s (%s)", reasonWord(req, response), by.User, by.Source)
}

func historyEntry(out outcome) schemas.Object {
	o, a := out.o, out.a
	h := schemas.Object{
		{Name: "request_id", Value: o.a.ID}, {Name: "request_type", Value: o.req.Type}, {Name: "response", Value: a.Response},
		{Name: "provided_by", Value: by(a)}, {Name: "received_at", Value: a.receivedAt},
	}
	if a.Comment != "" {
		h = append(h, schemas.Member{Name: "comment", Value: a.Comment})
	}
	h = append(h, schemas.Member{Name: "action", Value: out.action})
	if o.q.ownGate {
		h = append(h, schemas.Member{Name: "gate", Value: gateObject(o.q.gate)})
	}
	return h
}

// oneLine is a text on one line, cut at n characters.
func oneLine(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n]) + "…"
	}
	return s
}

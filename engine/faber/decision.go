package faber

import (
	"cmp"
	"fmt"
	"slices"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/jsonedit"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// acceptedAnswer is an answer with its effect. can is true if it can be carried out now.
type acceptedAnswer struct {
	request *request
	answer  *answer
	effect  effect
	can     bool
}

// event returns the event of the edge that the answer takes.
func (t *acceptedAnswer) event() string {
	if t.answer.Expired() {
		return expired
	}
	return t.effect.event
}

// answered returns the answer that counts, or nil.
func (r *view) answered() *acceptedAnswer {
	return run.Once(r.run, "answered", func() *acceptedAnswer {
		o := r.asked()
		if o == nil || r.events.open {
			return nil
		}
		a := o.evidence()
		if a == nil {
			return nil
		}
		return o.take(a)
	})
}

// take determines the effect of an answer. The answer cannot be carried out if the run has no place
// to continue from, if the effect differs from the one that was shown, or until the sources of
// resume.md are readable: resume.md is written before the state says that the run continues.
func (o *request) take(a *answer) *acceptedAnswer {
	t := &acceptedAnswer{request: o, answer: a}
	if !a.Counts() || o.nowhere() {
		return t
	}
	e, ok := o.shownEffect(a.Response)
	if !ok {
		return t
	}
	t.effect, t.can = e, true
	if e.to == InProgress && !o.view.foreign() && o.view.resumeBusy() {
		o.view.Held, t.can = true, false
	}
	return t
}

// decide returns the move that an accepted answer causes. It writes receipt, events, and state.json
// last.
func (t *acceptedAnswer) decide() *move {
	o, a := t.request, t.answer
	made := transition{
		to: t.effect.to, at: a.decidedAt, reason: a.Why(reasonFor(o.req, a.Response, a.By).In(o.view.Lang)),
		cause: a.cause, events: o.events(a, t.effect.action),
		docs: func(revision int) []engine.Document {
			if o.folder.Receipt != nil && !a.Unproven() {
				return nil
			}
			return []engine.Document{o.receiptDoc(o.closedBy(a, revision))}
		},
	}
	steps := t.stepEdits()
	if also, ok := t.stepMove(made.reason); ok && len(steps) > 0 {
		made.also = append(made.also, also)
	}
	made.moves = slices.Concat(steps, t.answerEdits())
	if !a.recorded {
		made.history = []jsonedit.Edit{o.historyEdit(a, t.effect.action)}
	}
	return made.move(o.view)
}

// stepEdits returns the edits for the status of the step. A completed or skipped step keeps its
// status unless the step continues with the answer.
func (t *acceptedAnswer) stepEdits() []jsonedit.Edit {
	q, s, d := t.request.q, t.request.view.state.shape, t.effect.outcome
	have := s.status(q.phase, q.step)
	switch settled := have == Completed || have == Skipped; {
	case settled && d != runsOn:
		return nil
	case d.step == InProgress:
		return s.reopen(q.phase, q.step)
	case d.step == Skipped:
		return s.mark(q.phase, q.step, Skipped, "")
	case d.step == Completed:
		return s.complete(q.phase, q.step, seconds(t.answer.decidedAt))
	}
	return nil
}

// stepMove returns the transition of the step that belongs to the answer.
func (t *acceptedAnswer) stepMove(reason string) (engine.Transition, bool) {
	q := t.request.q
	from := cmp.Or(t.request.view.state.shape.status(q.phase, q.step), Pending)
	if from == t.effect.step || from != Pending && from != InProgress && from != Failed {
		return engine.Transition{}, false
	}
	return engine.Transition{
		Edge:    engine.Edge{Of: "step", From: from, Event: t.event(), To: t.effect.step},
		Subject: where(q.phase, q.step), Actor: "placet", Reason: reason,
	}, true
}

// answerEdits returns the other edits of state.json for the answer.
func (t *acceptedAnswer) answerEdits() (edits []jsonedit.Edit) {
	o, a := t.request, t.answer
	at := seconds(a.decidedAt)
	if t.effect.to == Cancelled {
		return cancelEdits(at, cmp.Or(a.Comment, fmt.Sprintf("%s by %s", a.Response, a.By.User)))
	}
	if t.request.view.state.status == Failed {
		edits = append(edits, set("/completed_at", nil))
	}
	if t.effect.outcome == retries {
		edits = append(edits, t.request.view.state.resolveError(o.q.phase, o.q.step)...)
	}
	return append(edits, closeEdits(t.resumePoint())...)
}

// resumePoint returns where the run continues: at the answered step, or at the next planned one. If
// the plan is unknown or has no later step, the run continues after the answered step.
func (t *acceptedAnswer) resumePoint() *ResumePoint {
	r, q := t.request.view, t.request.q
	rp := &ResumePoint{Phase: q.phase, Step: q.step, Position: "at", Action: t.effect.action, RequestID: t.request.folder.ID}
	if t.effect.next {
		if next, ok := r.plan().next(rp.Phase, rp.Step, r.state.shape); ok {
			rp.Phase, rp.Step = next.Phase, next.ID
		} else {
			rp.Position = "after"
		}
	}
	rp.StepIndex = r.stepIndex(rp.Phase, rp.Step)
	return rp
}

// stepIndex returns a step's number in its phase: from the plan, else from upstream's state for the
// current step; nil if unknown.
func (r *view) stepIndex(phase, step string) *int {
	if i := r.plan().index(phase, step); i != nil {
		return i
	}
	for _, rp := range []*ResumePoint{r.state.ResumePoint, r.state.requestPoint()} {
		if rp != nil && rp.Phase == phase && rp.Step == step {
			return rp.StepIndex
		}
	}
	return nil
}

// closedBy returns the request as closed by an answer.
func (o *request) closedBy(a *answer, revision int) run.Request {
	q := run.Request{
		ID: o.folder.ID, Status: gate.Accepted, Reason: run.Text(a.Reason()), Late: a.late,
		ReceivedAt: run.Text(a.receivedAt), ClosedAt: run.Millis(a.decidedAt), ClosedRevision: revision,
	}
	q.Answered(a.Decision)
	if a.Expired() {
		q.Status, q.Reason = gate.Expired, run.Text(a.Why(o.view.Say("faber.reason.deadline", "at", o.req.Deadline)))
	}
	return q
}

// events returns the events of an answer, in order.
func (o *request) events(a *answer, action string) []newEvent {
	step, id := o.q.step, schemas.Object{{Name: "request_id", Value: o.folder.ID}}
	feedback := append(slices.Clip(id), schemas.Object{{Name: "request_type", Value: o.req.Type}, {Name: "response", Value: a.Response}}...)
	if a.Comment != "" {
		feedback = append(feedback, schemas.Member{Name: "comment", Value: a.Comment})
	}
	feedback = append(feedback, schemas.Object{{Name: "action", Value: action}, {Name: "provided_by", Value: a.By}}...)
	list := []newEvent{o.event("feedback_received", step, "", a.By.User, feedback)}
	list[0].Message = "Feedback received: " + oneLine(a.Response, 200)
	add := func(typ, step, status string, metadata schemas.Object) {
		list = append(list, o.event(typ, step, status, a.By.User, metadata))
	}
	decided := func(by string) schemas.Object {
		return append(slices.Clip(id), schemas.Object{{Name: "decision", Value: a.Response}, {Name: by, Value: a.By.User}}...)
	}
	switch action {
	case completes.action:
		if gate.Decides(o.req.Type) && agrees(o.req, a.Response) {
			add("approval_granted", "", "", decided("approved_by"))
		}
	case revises.action, retries.action:
		add("step_retry", step, "", id)
	case skips.action:
		add("step_skip", step, "skipped", id)
	case aborts.action:
		if gate.Decides(o.req.Type) && !isWord(a.Response, []string{"abort"}) {
			add("approval_denied", "", "", decided("denied_by"))
		}
		add("workflow_cancelled", "", "cancelled", id)
	}
	return list
}

// historyEdit records the answer in the history, which has one entry for each request. The answer
// replaces an entry that says something else.
func (o *request) historyEdit(a *answer, action string) jsonedit.Edit {
	h := HistoryEntry{
		RequestID: o.folder.ID, RequestType: o.req.Type, Response: a.Response, ProvidedBy: a.By,
		ReceivedAt: a.receivedAt, Comment: a.Comment, Action: action,
	}
	if o.q.ownGate {
		h.Gate = &o.q.gate
	}
	if i := slices.IndexFunc(o.view.state.History, func(h HistoryEntry) bool { return h.RequestID == o.folder.ID }); i >= 0 {
		return set(fmt.Sprintf("/feedback_history/%d", i), h)
	}
	return push("/feedback_history", h)
}

// reasonFor returns the reason of a transition that an answer makes.
func reasonFor(req gate.Request, response string, by gate.By) templates.Message {
	if req.FreeText() {
		return templates.NewMessage("faber.reason.words", "user", by.User, "source", by.Source)
	}
	return templates.NewMessage("faber.reason.answer", "response", response, "user", by.User, "source", by.Source)
}

// receiptDoc returns the receipt of a closed request. It replaces an unreadable one.
func (o *request) receiptDoc(closed run.Request) engine.Document {
	p := o.path("receipt.json")
	return engine.Document{Path: p, Kind: layout.KindReceipt, Body: run.Must(closed.Receipt().Encode()), Over: o.view.Snap.Doc(p).Sum}
}

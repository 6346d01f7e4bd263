package faber

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/jsonedit"
	"placet/schemas"
)

// answers are what counts as an answer, and what it does.
type answers struct{ *requests }

// decide is the move that an accepted answer causes: receipt, events, state.json last.
func (r *answers) decide(t *acceptedAnswer) *move {
	o, a := t.o, t.a
	made := transition{
		to: t.e.to, at: a.decidedAt, reason: a.Why(reasonFor(o.req, a.Response, a.By)),
		cause: a.cause, events: r.answerEvents(o, a, t.e.action),
		docs: func(revision int) []engine.Document {
			if o.a.Receipt != nil && !a.Unproven() {
				return nil
			}
			return []engine.Document{r.receiptDoc(o.a, r.receipt(o, a, revision))}
		},
	}
	steps := r.stepEdits(o.q, t.e.outcome, a.decidedAt)
	if also, ok := r.stepMove(t, made.reason); ok && len(steps) > 0 {
		made.also = append(made.also, also)
	}
	made.moves = slices.Concat(steps, r.answerEdits(t))
	if !a.recorded {
		made.history = []jsonedit.Edit{r.historyEdit(o, a, t.e.action)}
	}
	return r.makes(made)
}

// stepEdits note what becomes of the step. What is completed or skipped stays so, unless
// it runs on.
func (r *questions) stepEdits(q question, d *outcome, at time.Time) []jsonedit.Edit {
	s := r.State.shape
	have := s.status(q.phase, q.step)
	switch settled := have == Completed || have == Skipped; {
	case settled && d != runsOn:
		return nil
	case d.step == InProgress:
		return s.reopen(q.phase, q.step)
	case d.step == Skipped:
		return s.mark(q.phase, q.step, Skipped, "")
	case d.step == Completed:
		return s.complete(q.phase, q.step, seconds(at))
	}
	return nil
}

// stepMove is the move of the step that goes with the answer.
func (r *answers) stepMove(t *acceptedAnswer, reason string) (engine.Transition, bool) {
	q := t.o.q
	from := cmp.Or(r.State.shape.status(q.phase, q.step), Pending)
	if from == t.e.step || from != Pending && from != InProgress && from != Failed {
		return engine.Transition{}, false
	}
	return engine.Transition{
		Edge:    engine.Edge{Of: "step", From: from, Event: t.event(), To: t.e.step},
		Subject: where(q.phase, q.step), Actor: "placet", Reason: reason,
	}, true
}

// answerEdits are the edits of state.json that the answer is about.
func (r *answers) answerEdits(t *acceptedAnswer) (edits []jsonedit.Edit) {
	o, a := t.o, t.a
	at := seconds(a.decidedAt)
	if t.e.to == Cancelled {
		return cancelEdits(at, cmp.Or(a.Comment, fmt.Sprintf("%s by %s", a.Response, a.By.User)))
	}
	if r.State.status == Failed {
		edits = append(edits, set("/completed_at", nil))
	}
	if t.e.outcome == retries {
		edits = append(edits, r.resolveError(o.q.phase, o.q.step)...)
	}
	return append(edits, closeEdits(r.resumePoint(o, t.e.outcome))...)
}

// resumePoint is where the run goes on: at the answered step, or at the next planned one.
// Where the plan is unknown or has nothing later, it is after the answered step.
func (r *answers) resumePoint(o *openRequest, d *outcome) *ResumePoint {
	rp := &ResumePoint{Phase: o.q.phase, Step: o.q.step, Position: "at", Action: d.action, RequestID: o.a.ID}
	if d.next {
		if next, ok := r.plan().next(rp.Phase, rp.Step, r.State.shape); ok {
			rp.Phase, rp.Step = next.Phase, next.ID
		} else {
			rp.Position = "after"
		}
	}
	rp.StepIndex = r.stepIndex(rp.Phase, rp.Step)
	return rp
}

// stepIndex is a step's number in its phase: by the plan, else as upstream gave it for
// the step at which the run stands; nil where nobody tells.
func (r *planner) stepIndex(phase, step string) *int {
	if i := r.plan().index(phase, step); i != nil {
		return i
	}
	for _, rp := range []*ResumePoint{r.State.ResumePoint, r.State.requestPoint()} {
		if rp != nil && rp.Phase == phase && rp.Step == step {
			return rp.StepIndex
		}
	}
	return nil
}

func (r *answers) receipt(o *openRequest, a *answer, revision int) gate.Receipt {
	rc := gate.Receipt{
		SchemaVersion: 1, RequestID: o.a.ID, Result: gate.Accepted, Response: a.Response, Selected: a.Selected,
		Comment: a.Comment, Late: a.late, ProvidedBy: a.By, KnownAs: a.Known, Digest: a.Digest,
		ReceivedAt: a.receivedAt, DecidedAt: millis(a.decidedAt), Reason: a.Reason(), Revision: revision,
	}
	if a.Expired() {
		rc.Result, rc.Reason = gate.Expired, a.Why("the deadline "+o.req.Deadline+" passed without an answer")
	}
	if a.Path != "" {
		rc.Answer = &gate.Answered{Path: a.Path, SHA256: a.Sum.Hex()}
	}
	return rc
}

// answerEvents are the events that an answer calls for, in order.
func (r *answers) answerEvents(o *openRequest, a *answer, action string) []newEvent {
	step, id := o.q.step, schemas.Object{{Name: "request_id", Value: o.a.ID}}
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

// historyEdit notes the answer in the history: one entry for one request. One that
// says something else does not count, and this answer takes its place.
func (r *answers) historyEdit(o *openRequest, a *answer, action string) jsonedit.Edit {
	h := HistoryEntry{
		RequestID: o.a.ID, RequestType: o.req.Type, Response: a.Response, ProvidedBy: a.By,
		ReceivedAt: a.receivedAt, Comment: a.Comment, Action: action,
	}
	if o.q.ownGate {
		h.Gate = &o.q.gate
	}
	if i := slices.IndexFunc(r.State.History, func(h HistoryEntry) bool { return h.RequestID == o.a.ID }); i >= 0 {
		return set(fmt.Sprintf("/feedback_history/%d", i), h)
	}
	return push("/feedback_history", h)
}

// recordedAs reports whether the history says of a request that this was the answer.
func (r *answers) recordedAs(id, response string) bool {
	h := r.State.answerTo(id)
	return h != nil && gate.Fold(h.Response) == gate.Fold(response)
}

// reasonFor is the reason of a transition that an answer makes.
func reasonFor(req gate.Request, response string, by gate.By) string {
	if req.FreeText() {
		response = "answer"
	}
	return fmt.Sprintf("%s by %s (%s)", response, by.User, by.Source)
}

// oneLine is a text on one line, cut at n characters.
func oneLine(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n]) + "…"
	}
	return s
}

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
	"placet/templates"
)

// answers are what counts as an answer, and what it does.
type answers struct{ *requests }

// decide is the move that an accepted answer causes: receipt, events, state.json last.
func (r *answers) decide(t *acceptedAnswer) *move {
	o, a := t.o, t.a
	made := transition{
		to: t.e.to, at: a.decidedAt, reason: a.Why(reasonFor(o.req, a.Response, a.By).In(r.Lang)),
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
		rc.Result, rc.Reason = gate.Expired, a.Why(r.Say("faber.reason.deadline", "at", o.req.Deadline))
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

// reasonFor is the reason of a transition that an answer makes.
func reasonFor(req gate.Request, response string, by gate.By) templates.Message {
	if req.FreeText() {
		return templates.NewMessage("faber.reason.words", "user", by.User, "source", by.Source)
	}
	return templates.NewMessage("faber.reason.answer", "response", response, "user", by.User, "source", by.Source)
}

// oneLine is a text on one line, cut at n characters.
func oneLine(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n]) + "…"
	}
	return s
}

// effect is what choosing an option of a request does. [answers.decide] carries it
// out, and its words are what a person was shown.
type effect struct {
	*outcome
	words string // "" for those of the outcome
	name  string // what stands in them
}

// outcome is what an effect does to the run: the edge that it takes, the status that its step
// gets, "" for none, and whether the run goes on at the next step or at this one.
type outcome struct {
	action, event string
	to, step      engine.Status
	next          bool
	words         string
}

// What an answer can do. The first three go on: with the next step, with the step that
// the answer permits and does not complete, or with the step that goes on with the answer.
var (
	completes = &outcome{"continue", answeredContinue, InProgress, Completed, true, "continue"}
	licenses  = &outcome{"continue", answeredContinue, InProgress, "", false, "license"}
	runsOn    = &outcome{"continue", answeredContinue, InProgress, InProgress, false, "continue"}
	revises   = &outcome{"revise", answeredRevise, InProgress, InProgress, false, "revise"}
	retries   = &outcome{"retry", answeredRetry, InProgress, InProgress, false, "retry"}
	skips     = &outcome{"skip", answeredSkip, InProgress, Skipped, true, "skip"}
	aborts    = &outcome{"abort", answeredAbort, Cancelled, "", false, "abort"}
)

// effect is what an option does, or an answer in words.
func (r *questions) effect(q question, req gate.Request, response string) effect {
	return r.effectOf(q, req, response, r.permits(q))
}

// effectOf is the effect of an option where an answer that goes on does goesOn.
func (r *questions) effectOf(q question, req gate.Request, response string, goesOn *outcome) effect {
	e := effect{outcome: outcomeOf(req, response), name: unnamed}
	if q.phase != "" && q.step != "" {
		e.name = where(q.phase, q.step)
	}
	if e.outcome != completes {
		return e
	}
	e.outcome = goesOn
	next, planned := r.plan().next(q.phase, q.step, r.State.shape)
	switch {
	case !req.FreeText() && !agrees(req, response):
		e.name, e.words = response, completes.words
	case goesOn != completes:
	case planned:
		e.name = where(next.Phase, next.ID)
	default:
		e.words = "continue.last"
	}
	return e
}

// permits says what a continuing answer does to the step. With a gate, its
// kind says it. A request of upstream's own stands either behind a step (which
// is then completed) or in front of it: in front where the step is destructive,
// or where its entry says pending and no step_start event exists.
func (r *questions) permits(q question) *outcome {
	if q.ownGate {
		switch q.gate.Kind {
		case "phase_entry", "destructive":
			return licenses
		case "input":
			return runsOn
		}
		return completes
	}
	e, ok := r.State.shape.find(q.phase, q.step)
	if r.destructive(q.phase, q.step) || ok && e.status == string(Pending) && !r.startedStep(q.phase, q.step) {
		return licenses
	}
	return completes
}

// unnamed stands for a step that the state does not name yet.
const unnamed = "…"

// shownName is how much of a step or an option an effect names, in bytes.
const shownName = 60

// message says what the effect does.
func (e effect) message() templates.Message {
	name := templates.Cut(oneLine(templates.Clean(e.name), shownName), shownName)
	return templates.NewMessage(templates.Key("faber.effect."+cmp.Or(e.words, e.outcome.words)), "name", name)
}

// shownEffect is the effect that a person was shown of the response: what the
// machine makes of it now, or else what it made of it when the settings or the
// step were others. ok is false where it can no longer be carried out. A request
// of a version that showed none means what it means now.
func (r *answers) shownEffect(o *openRequest, response string) (e effect, ok bool) {
	shown := ""
	for _, option := range o.req.Options {
		if option.ID == response {
			shown = option.Effect
		}
	}
	now := r.effect(o.q, o.req, response)
	if shown == "" || now.message().Says(shown) {
		return now, true
	}
	for _, goesOn := range []*outcome{completes, licenses, runsOn} {
		if e := r.effectOf(o.q, o.req, response, goesOn); e.message().Says(shown) {
			return e, true
		}
	}
	if later := (effect{now.outcome, now.words, unnamed}); later.message().Says(shown) {
		return now, true // nobody knew yet which step it would be
	}
	if r.Held || r.Snap.In("metadata.json").Unsettled() {
		r.Held = true // what is being written may name the plan that was shown
		return e, false
	}
	r.refuse(o, r.Say("faber.note.effect", "response", quote(response), "shown", quote(shown), "effect", quote(now.message().In(r.Lang))))
	return e, false
}

// outcomeOf is what an answer does. The word decides, and then the type of request: one that
// placet does not know is a choice among its options.
func outcomeOf(req gate.Request, response string) *outcome {
	_, asksForDecision := defaultOptions[req.Type]
	switch {
	case req.FreeText():
		return completes
	case isWord(response, []string{"request_changes"}):
		return revises
	case isWord(response, []string{"retry"}):
		return retries
	case isWord(response, []string{"skip"}):
		return skips
	case agrees(req, response):
		return completes
	case isWord(response, ownRefusals) || gate.Decides(req.Type) && gate.Refuses(response) && !offers(req, ownRefusals):
		return aborts
	case gate.Refuses(response):
		return revises // never goes on, not even as one choice of many
	case asksForDecision:
		return revises
	}
	return completes
}

// The table's own words that agree and refuse. In a request about a decision the
// other words of the gate stand for them where it offers none of them.
var (
	ownApprovals = []string{"approve", "confirm"}
	ownRefusals  = []string{"reject", "cancel", "abort"}
)

// agrees reports whether an option is the one that lets what is asked about happen.
func agrees(req gate.Request, response string) bool {
	return isWord(response, ownApprovals) || gate.Decides(req.Type) && gate.Approves(response) && !offers(req, ownApprovals)
}

func isWord(word string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return gate.Fold(w) == gate.Fold(word) })
}

// offers reports whether a request offers one of some words.
func offers(req gate.Request, words []string) bool {
	return slices.ContainsFunc(req.Options, func(o gate.Option) bool { return isWord(o.ID, words) })
}

// disagrees reports whether the reviewer was offered more and did not agree: the
// words of a refusal, or of an option that placet does not know.
func disagrees(h *HistoryEntry) bool {
	return h.Action == revises.action && !isWord(h.Response, []string{"request_changes"}) && strings.TrimSpace(h.Response) != ""
}

package faber

import (
	"fmt"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/jsonedit"
	"placet/layout"
	"placet/schemas"
)

// Machine is the FABER family. The zero value is ready for use.
type Machine struct{}

// New returns the machine.
func New() Machine { return Machine{} }

// Family implements [engine.Machine].
func (Machine) Family() string { return "faber" }

// Edges implements [engine.Machine].
func (Machine) Edges() []engine.Edge { return edges }

// Peek implements [engine.Machine].
func (Machine) Peek(body []byte) engine.Peek {
	var st struct {
		Status    string      `json:"status"`
		UpdatedAt schemas.Raw `json:"updated_at"`
		Last      schemas.Raw `json:"last_transition"`
		Feedback  schemas.Raw `json:"feedback_request"`
	}
	if schemas.Decode("", "state.json", body, &st) != nil {
		return engine.Peek{}
	}
	s, _ := status(st.Status)
	p := engine.Peek{Status: s, Final: final(s), Waiting: s == Awaiting, Touched: !st.Last.Null()}
	if p.Waiting && !st.Feedback.Null() {
		p.Open, p.Asked = 1, askedAt(st.Feedback, st.UpdatedAt)
	}
	return p
}

// askedAt is when a feedback_request was made, the zero time where it does not
// tell. What is wrong with it is for Step to say.
func askedAt(feedback, updatedAt schemas.Raw) time.Time {
	var q struct {
		RequestedAt schemas.Raw `json:"requested_at"`
	}
	_ = schemas.Decode("", "state.json", feedback, &q)
	for _, raw := range []schemas.Raw{q.RequestedAt, updatedAt} {
		if text, _ := raw.Text(); text != "" {
			at, _ := time.Parse(time.RFC3339, text)
			return at.UTC()
		}
	}
	return time.Time{}
}

// Step implements [engine.Machine].
func (Machine) Step(s engine.Snapshot) (engine.Plan, error) {
	if s.Class == layout.FaberSuffix {
		return engine.Plan{}, nil
	}
	r := read(s)
	needs := r.needs()
	if len(s.Lacks(needs)) > 0 {
		return engine.Plan{Needs: needs}, nil
	}
	if r.eventsOpen {
		p := engine.Plan{Needs: needs, Wake: r.Wake}
		r.Held = true
		r.planNotes(&p)
		return p, nil
	}
	r.flow = r.plan()
	if need := r.committedNeed(); need != "" {
		if needs = append(needs, need); !s.Has(need) {
			return engine.Plan{Needs: needs}, nil
		}
	}
	p, moved, more := r.move()
	if needs = append(needs, more...); len(s.Lacks(needs)) > 0 {
		return engine.Plan{Needs: needs}, nil
	}
	if !moved {
		p = r.owed()
	}
	p.Needs = needs
	if r.resumes() && !r.foreign() {
		p.Follow = []string{r.Path("events")} // where the agent shows that it goes on
	}
	p.WakeAt(r.Wake)
	p.Holding = r.Holding
	return p, nil
}

// move is the edge that is taken now, with resume.md where an agent goes on after it;
// moved is false where there is none. needs are the files that resume.md hangs on.
func (r *reading) move() (p engine.Plan, moved bool, needs []string) {
	p, moved = r.route()
	if r.editErr != nil {
		r.noteEdit()
		return engine.Plan{}, false, nil
	}
	if !moved {
		return p, false, nil
	}
	if needs, moved = r.addResume(&p); !moved {
		p = engine.Plan{}
	}
	return p, moved, needs
}

// needs are the files outside the run's folder that the state calls for.
func (r *reading) needs() []string {
	if r.status == "" || final(r.status) {
		return nil
	}
	needs := r.definitionNeeds()
	if q, ok := r.question(); ok {
		needs = append(needs, artifactNeeds(q)...)
	}
	if r.goesOn() && !r.foreign() {
		needs = append(needs, r.contextNeeds()...)
	}
	return needs
}

// route finds the edge that is taken now, first match. moved is false where
// there is none; then only what is owed is written.
func (r *reading) route() (p engine.Plan, moved bool) {
	if r.torn || r.status == "" || final(r.status) || r.foreign() && !r.answerable() {
		return p, false
	}
	if p, ok := r.cancelAsked(); ok {
		return p, true
	}
	if r.stateErr != "" {
		return p, false
	}
	q, ok := r.question()
	if !ok {
		return p, false
	}
	o := r.opened(q)
	if a := r.evidence(o); a != nil {
		return r.take(o, a)
	}
	if p, ok := r.requestOpened(o); ok {
		return p, true
	}
	if r.isOpen(q) && o.stands {
		if a := r.timedOut(o); a != nil {
			return r.take(o, a)
		}
	}
	return p, false
}

// take makes the transition of an answer. Without a place to go on from, and while
// it would do something else than was shown, the answer waits.
func (r *reading) take(o *open, a *answer) (engine.Plan, bool) {
	if !a.Counts() || o.nowhere() {
		return engine.Plan{}, false
	}
	e, ok := r.shownEffect(o, a.Response)
	if !ok {
		return engine.Plan{}, false
	}
	return r.answered(r.decide(o, a, e)), true
}

// cancelAsked gives the run up because a person wrote cancel.json.
func (r *reading) cancelAsked() (p engine.Plan, ok bool) {
	var c Cancel
	d := r.Snap.In("cancel.json")
	if r.foreign() || !r.Decode(d, "faber/cancel", &c) {
		return p, false
	}
	revision, at := r.rev+1, r.Snap.Now
	reason := c.Reason
	if reason == "" {
		reason = "cancelled by " + c.By
	}
	if a := r.askedNow(); a != nil && a.Receipt == nil && a.Request != nil {
		p.Writes = append(p.Writes, r.receiptDoc(a, r.closed(a, "cancelled", "the run was cancelled: "+reason, revision)))
	}
	last := r.emit(&p, revision, at, r.cancelEvents(c.By, reason))
	edits := append([]jsonedit.Edit{set("/status", string(Cancelled))}, r.stampEdits(last, at)...)
	edits = append(edits, set("/completed_at", seconds(at)), set("/cancellation_reason", reason))
	edits = append(edits, r.closeEdits(nil)...)
	edits = append(edits, r.transitionEdits(revision, cancelAsked, at, reason, "cancel.json", d.Sum)...)
	p.Writes = append(p.Writes, r.patched(edits))
	p.Transitions = []engine.Transition{{
		Edge:  engine.Edge{Of: "run", From: r.status, Event: cancelAsked, To: Cancelled},
		Cause: map[string]engine.Digest{"cancel.json": d.Sum}, Actor: "placet", Reason: reason,
	}}
	return p, true
}

func (r *reading) cancelEvents(by, reason string) []emission {
	return []emission{{typ: "workflow_cancelled", status: "cancelled", user: by, message: reason}}
}

// askedNow is the folder of the request that the state asks, nil if there is
// none.
func (r *reading) askedNow() *asked {
	if r.status == Awaiting && r.st.Feedback != nil {
		return r.askeds[r.st.Feedback.RequestID]
	}
	return nil
}

// requestOpened writes the request's files and says in state.json where the
// form is; once a comment was posted, where that is.
func (r *reading) requestOpened(o *open) (p engine.Plan, ok bool) {
	if o.altered != "" && o.a.Receipt == nil && !r.isOpen(o.q) {
		r.noteAltered(o) // an answer to it says so itself
	}
	if o.q.forStatus == forFailed || o.altered != "" || o.a.Receipt != nil {
		return p, false
	}
	edits, reason := r.announce(o)
	if len(edits) == 0 || r.Held || r.unsettledArtifact(o.q) != "" {
		return p, false
	}
	revision, at := r.rev+1, r.Snap.Now
	p.Writes = r.requestFiles(o)
	last := r.emit(&p, revision, at, r.requestEvents(o))
	all := append(r.stampEdits(last, at), edits...)
	all = append(all, r.transitionEdits(revision, requestOpened, at, reason, "", "")...)
	p.Writes = append(p.Writes, r.patched(all))
	p.Transitions = []engine.Transition{{
		Edge:  engine.Edge{Of: "run", From: Awaiting, Event: requestOpened, To: Awaiting},
		Actor: "placet", Reason: reason,
	}}
	return p, true
}

// announce are the edits of notification_sent that are due, and why.
func (r *reading) announce(o *open) ([]jsonedit.Edit, string) {
	const base = "/feedback_request/notification_sent"
	var edits []jsonedit.Edit
	reason := ""
	n := o.q.Notification
	if !r.isOpen(o.q) {
		reason = "form written"
		if n == nil {
			edits = append(edits, set(base, schemas.Object{{Name: "form", Value: formPath(o.a.ID)}}))
			n = &Notification{}
		} else {
			edits = append(edits, set(base+"/form", formPath(o.a.ID)))
		}
	}
	if posted, ok := r.posted(o.a); ok && (!n.IssueComment || n.CommentURL != posted.CommentURL) {
		edits = append(edits, set(base+"/issue_comment", true), set(base+"/comment_url", posted.CommentURL))
		if reason == "" {
			reason = "comment posted"
		}
	}
	return edits, reason
}

// posted reads posted.json of a request.
func (r *reading) posted(a *asked) (Posted, bool) {
	var p Posted
	for _, d := range a.Docs {
		if d.Kind == layout.FaberPosted {
			return p, r.Decode(d, "faber/posted", &p)
		}
	}
	return p, false
}

func (r *reading) requestEvents(o *open) []emission {
	options := []any{}
	for _, id := range o.q.options() {
		options = append(options, id)
	}
	return []emission{{
		typ: "feedback_request", phase: o.q.phase, step: o.q.step, request: o.a.ID,
		message: "Awaiting feedback: " + o.q.Prompt,
		metadata: schemas.Object{
			{Name: "request_id", Value: o.a.ID}, {Name: "type", Value: o.q.Type}, {Name: "options", Value: options},
		},
	}}
}

// receiptDoc is the document of a receipt, in place of an unreadable one.
func (r *reading) receiptDoc(a *asked, rc gate.Receipt) engine.Document {
	body, err := rc.Encode()
	if err != nil {
		r.editErr = fmt.Errorf("cannot write the receipt of %s: %w", quote(a.ID), err)
	}
	p := a.Dir + "/receipt.json"
	return engine.Document{Path: p, Kind: layout.KindReceipt, Body: body, Over: r.Snap.Doc(p).Sum}
}

// closed is the receipt of a request that ended without an answer of its own.
func (r *reading) closed(a *asked, result, reason string, revision int) gate.Receipt {
	return gate.Receipt{
		SchemaVersion: 1, RequestID: a.ID, Result: result, Reason: reason,
		ProvidedBy: gate.By{User: "placet", Source: "file"}, Digest: r.issuedDigest(a),
		ReceivedAt: seconds(r.Snap.Now), DecidedAt: millis(r.Snap.Now), Revision: revision,
	}
}

func (r *reading) issuedDigest(a *asked) engine.Digest {
	if a.Request == nil {
		return ""
	}
	issued, _ := r.sums(*a.Request)
	return gate.Digest(a.Doc.Body, issued)
}

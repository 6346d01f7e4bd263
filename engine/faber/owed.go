package faber

import (
	"fmt"
	"path"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/layout"
)

// owed is what the state calls for and is not there: a function of the state,
// used alike after a transition, after a crash and after somebody deleted a
// file.
func (r *reading) owed() engine.Plan {
	var p engine.Plan
	if r.torn || r.doc.Absent() {
		return p
	}
	if r.foreign() && !r.answerable() && len(r.askeds) == 0 {
		return p
	}
	if r.stateErr == "" {
		r.owedRequest(&p)
		r.closeRequests(&p)
		r.owedEvents(&p)
		if len(p.Writes) == 0 {
			// The views quote receipts and events, so these stand first.
			r.owedViews(&p)
		}
	} else {
		r.notes.Beside(r.doc.Path, r.stateErr)
	}
	r.standNotes()
	r.planNotes(&p)
	return p
}

// owedRequest are the files of the request that the state asks.
func (r *reading) owedRequest(p *engine.Plan) {
	q, ok := r.question()
	if !ok || !r.isOpen(q) {
		return
	}
	o := r.opened(q)
	if o.q.phase == "" || o.q.step == "" {
		r.notes.Beside(r.doc.Path, "no place to go on from: state.json has neither a resume_point with phase and step, nor current_phase and current_step; an answer waits until it has")
	}
	if o.a.receipt != nil || o.altered != "" || r.unsettledArtifact(q) != "" {
		return
	}
	p.Writes = append(p.Writes, r.requestFiles(o)...)
	if q.forStatus == forAwaiting {
		r.emit(p, o.req.Revision, r.lastAt(), r.requestEvents(o))
	}
}

// lastAt is the time of the transition that made the present revision.
func (r *reading) lastAt() time.Time {
	if r.st.Last != nil {
		if t, err := time.Parse(time.RFC3339, r.st.Last.At); err == nil {
			return t
		}
	}
	return r.snap.Now
}

// closeRequests gives every request that is no longer pending its receipt.
func (r *reading) closeRequests(p *engine.Plan) {
	asking := ""
	if q, ok := r.question(); ok {
		asking = q.RequestID
	}
	for _, id := range r.ids() {
		a := r.askeds[id]
		if id == asking || a.receipt != nil || a.badRcpt || a.request == nil {
			continue
		}
		if rc, ok := r.close(a, asking); ok {
			p.Writes = append(p.Writes, r.receiptDoc(a, rc))
			a.receipt = &rc
		}
	}
}

// close says how a request ended that the state does not ask any more; ok is
// false where an older state.json was put back, so that it is still open.
func (r *reading) close(a *asked, asking string) (rc gate.Receipt, ok bool) {
	if a.unsettled() {
		// What the answer was read from is seen again first.
		return rc, false
	}
	if h := r.st.answerTo(a.id); h != nil {
		return r.answeredReceipt(a, *h), true
	}
	if r.rev < a.request.Revision && a.extra.ForStatus != forFailed && !r.newerThan(a) {
		r.notes.Beside(r.doc.Path, fmt.Sprintf("an older state.json was put back: it does not ask request %s any more: ask again or restore it", quote(a.id)))
		return rc, false
	}
	switch {
	case asking != "":
		rc = r.closed(a, "superseded", "another request is asked instead", r.rev)
		rc.SupersededBy = asking
	case r.st.Last != nil && r.st.Last.Edge == cancelAsked:
		rc = r.closed(a, "cancelled", "the run was cancelled: "+r.st.Last.Reason, r.rev)
	default:
		rc = r.closed(a, "cancelled", "withdrawn", r.rev)
	}
	return rc, true
}

// unsettled reports whether a file of the request's folder may still be being
// written.
func (a *asked) unsettled() bool {
	for _, d := range a.docs {
		if d.Unsettled() {
			return true
		}
	}
	return false
}

// newerThan reports whether state.json was changed by somebody after the
// request was written.
func (r *reading) newerThan(a *asked) bool {
	t, err := time.Parse(time.RFC3339, r.st.UpdatedAt)
	return err == nil && t.After(a.doc.Changed)
}

// answeredReceipt is the receipt of a request whose answer the history holds:
// placet's own, where a crash lost it, or that of another writer.
func (r *reading) answeredReceipt(a *asked, h HistoryEntry) gate.Receipt {
	rc := r.closed(a, "accepted", "answered elsewhere", r.rev)
	rc.Response, rc.Comment, rc.ReceivedAt = h.Response, h.Comment, h.ReceivedAt
	rc.ProvidedBy = gate.By{User: h.ProvidedBy.User, Source: h.ProvidedBy.Source}
	rc.KnownAs = []string{"claimed:" + h.ProvidedBy.User}
	last := r.st.Last
	if last == nil || last.Reason != reasonFor(*a.request, h.Response, rc.ProvidedBy) {
		return rc
	}
	rc.Reason, rc.DecidedAt = "", millis(r.lastAt())
	if last.Edge == expired {
		rc.Result, rc.KnownAs = "expired", nil
		rc.Reason = "the deadline " + a.request.Deadline + " passed without an answer"
	}
	r.recall(a, &rc)
	return rc
}

// recall fills in what only the answer's own file tells.
func (r *reading) recall(a *asked, rc *gate.Receipt) {
	v := r.judgedAgain(a, rc.Response)
	if v.Answer == nil {
		return
	}
	rc.Answer = &gate.Answered{Path: v.Answer.Path, SHA256: v.Answer.Sum.Hex()}
	rc.KnownAs, rc.Digest, rc.Selected = v.Answer.Known, v.Answer.Digest, v.Answer.Selected
	if t, err := time.Parse(time.RFC3339, a.request.Deadline); err == nil && !r.lastAt().Before(t) {
		rc.Late = true
	}
}

// judgedAgain finds the answer that was taken, in whichever view of the
// artifacts it was given.
func (r *reading) judgedAgain(a *asked, response string) gate.Verdict {
	again := r.askedAgain(a)
	if v := gate.Judge(again); v.Answer != nil && v.Answer.Response == response {
		return v
	}
	for _, d := range a.docs {
		if d.Kind != layout.KindForm {
			continue
		}
		again.View, again.Present = r.formDigest(a, path.Base(d.Path)), d.Path
		if v := gate.Judge(again); v.Answer != nil && v.Answer.Response == response {
			return v
		}
	}
	return gate.Verdict{}
}

// askedAgain is a request of the past, to be judged by what stands in its
// folder.
func (r *reading) askedAgain(a *asked) gate.Asked {
	issued := r.issuedDigest(a)
	return gate.Asked{
		Request: *a.request, Dir: a.dir, Docs: a.docs, View: issued, Issued: issued,
		Present: a.dir + "/form.md", Gate: r.snap.Facts.Config.GateFor("faber", a.request.Type),
		Now: r.snap.Now, Torn: torn,
	}
}

// owedEvents are the events of the transition that made the present revision,
// where a crash lost them, and .next-id.
func (r *reading) owedEvents(p *engine.Plan) {
	if r.foreign() || r.st.Last == nil || !r.oursLast() {
		return
	}
	var list []emission
	switch {
	case r.st.Last.Edge == cancelAsked:
		var c Cancel
		if r.decode(r.snap.In("cancel.json"), "faber/cancel", &c) {
			list = r.cancelEvents(c.By, r.st.Last.Reason)
		}
	default:
		if out, ok := r.lastOutcome(); ok {
			list = r.answerEvents(out)
		}
	}
	r.emit(p, r.rev, r.lastAt(), list)
}

// oursLast reports whether the last transition is one that owes events here.
func (r *reading) oursLast() bool {
	e := r.st.Last.Edge
	return e == cancelAsked || e == expired || strings.HasPrefix(e, "answered_")
}

// lastOutcome is the answer that made the present revision, from its receipt.
func (r *reading) lastOutcome() (out outcome, ok bool) {
	for _, id := range r.ids() {
		a := r.askeds[id]
		if a.receipt == nil || a.receipt.Revision != r.rev || a.request == nil || a.receipt.Response == "" {
			continue
		}
		o := &open{a: a, req: *a.request}
		if rp := a.extra.ResumePoint; rp != nil {
			o.q.phase, o.q.step = rp.Phase, rp.Step
		}
		ans := &answer{}
		ans.Response, ans.Comment, ans.By = a.receipt.Response, a.receipt.Comment, a.receipt.ProvidedBy
		return outcome{o: o, a: ans, action: action(o.req, ans.Response)}, true
	}
	return out, false
}

// standNotes says, in the folder of a closed request, why an answer that
// stands there moves nothing.
func (r *reading) standNotes() {
	asking := ""
	if q, ok := r.question(); ok {
		asking = q.RequestID
	}
	for _, id := range r.ids() {
		a := r.askeds[id]
		if a.receipt == nil || a.request == nil || id == asking {
			continue
		}
		if text := gate.After(*a.receipt, r.askedAgain(a)); text != "" {
			r.notes.Add(a.dir+"/problem.md", text)
		}
	}
}

// planNotes writes the notes. In a foreign run none stands outside a request's
// folder. While a file that may be the cause is still being written, the notes
// that stand are kept.
func (r *reading) planNotes(p *engine.Plan) {
	notes := &r.notes
	if r.foreign() {
		notes = &engine.Notes{}
		for _, id := range r.ids() {
			note := r.askeds[id].dir + "/problem.md"
			if text := r.notes.Text(note); text != "" {
				notes.Add(note, text)
			}
		}
	}
	notes.Plan(r.snap, p, func(note string) bool {
		return r.held || r.foreign() && !strings.HasPrefix(r.snap.Rel(note), layout.RequestsDir+"/")
	})
}

// owedViews are resume.md, context.md and the resume command: there while an
// answer waits to be taken up, and removed afterwards.
func (r *reading) owedViews(p *engine.Plan) {
	if r.foreign() {
		return
	}
	if !r.resumes() {
		for _, name := range []string{"resume.md", "context.md"} {
			if d := r.snap.In(name); r.written(d) {
				p.Removes = append(p.Removes, d.Path)
			}
		}
		return
	}
	if r.contextBusy() {
		return
	}
	ctx := r.context()
	r.view(p, "resume.md", layout.FaberResume, r.resume(ctx.stop))
	if r.owesContext() {
		r.view(p, "context.md", layout.FaberContext, ctx.body)
	}
	r.resumeCommand(p, ctx.stop != "")
}

// written reports whether a view is there and placet's: its first line says so.
func (r *reading) written(d engine.Document) bool {
	return d.Present() && strings.HasPrefix(string(d.Body), "<!-- placet faber ")
}

// view plans a view that placet replaces.
func (r *reading) view(p *engine.Plan, name, kind string, body []byte) {
	d := r.snap.In(name)
	if d.Err != nil && !d.Absent() || d.Present() && d.Sum == engine.Sum(body) {
		return
	}
	p.Writes = append(p.Writes, engine.Document{Path: path.Join(r.snap.Dir, name), Kind: kind, Body: body, Over: d.Sum})
}

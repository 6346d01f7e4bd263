package faber

import (
	"path"
	"slices"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/layout"
	"placet/templates"
)

// closeRequests writes the receipt of every request that is no longer pending.
func closeRequests(r *view, p *engine.Plan) {
	for _, a := range r.run.Folders {
		if a.Receipt != nil || a.BadReceipt || a.Request == nil || r.asks(a.ID) {
			continue
		}
		o := r.past(a)
		if closed, ok := o.close(); ok {
			p.Writes = append(p.Writes, o.receiptDoc(closed))
			rc := closed.Receipt()
			a.Receipt = &rc
		}
	}
}

// close returns a request that the state no longer asks, with its result. ok is false while the
// result is unknown, and if somebody restored an older state.json, so that the request is still
// open.
func (o *request) close() (closed run.Request, ok bool) {
	r, a := o.view, o.folder
	if a.Unsettled() {
		// The file with the answer must be readable again first.
		return closed, false
	}
	c := claimsOn(r, a.ID)
	if h := r.state.answerTo(a.ID); h != nil && (c.entry == nil || o.madeLast(*h)) {
		return o.closedAs(*h), true
	}
	if h := c.answer(); h != nil {
		return o.closedAs(*h), stoodStill(r, c, c.still())
	}
	if r.state.rev < a.Request.Revision && forStatus(a) != Failed && !moment(r.state.UpdatedAt).After(a.Doc.Changed) {
		r.Notes.Beside(r.doc.Path, r.Say("faber.note.older", "request", quote(a.ID)))
		return closed, false
	}
	if q := r.question(); q != nil {
		closed = o.closed("superseded", r.Say("faber.reason.superseded"), r.state.rev)
		closed.SupersededBy = run.Text(q.RequestID)
		return closed, true
	}
	if r.state.Last != nil && r.state.Last.Event == cancelAsked {
		return o.closed(gate.Cancelled, r.Say("faber.reason.given_up", "reason", r.state.Last.Reason), r.state.rev), true
	}
	reason := templates.NewMessage("faber.reason.withdrawn")
	if r.state.status == Completed {
		reason = passedOver
	}
	// Upstream may write the history last, so the run must be quiet first.
	return o.closed(gate.Cancelled, reason.In(r.Lang), r.state.rev), stoodStill(r, claims{}, brokenStill)
}

// passedOver is the reason in the receipt of a request that was open when another program completed
// the run.
var passedOver = templates.NewMessage("faber.reason.passed")

// elsewhere is the reason in the receipt of an answer that another writer carried out.
var elsewhere = templates.NewMessage("faber.reason.elsewhere")

// closedAs returns the request as closed by the answer in the history. Either placet carried that
// answer out and a crash lost the receipt, or another writer did.
func (o *request) closedAs(h HistoryEntry) run.Request {
	if took := o.tookLast(h); took != nil {
		return o.closedBy(took, o.view.state.rev)
	}
	q := o.closed(gate.Accepted, elsewhere.In(o.view.Lang), o.view.state.rev)
	q.Response, q.Comment, q.ReceivedAt = run.Text(h.Response), run.Text(h.Comment), run.Text(h.ReceivedAt)
	q.By, q.KnownAs = &run.By{User: h.ProvidedBy.User, Source: h.ProvidedBy.Source}, []string{"claimed:" + h.ProvidedBy.User}
	return q
}

// tookLast returns the answer in the history if it made the last transition, with the details from
// its file or else from the history. It is nil if another writer carried the answer out.
func (o *request) tookLast(h HistoryEntry) *answer {
	if !o.madeLast(h) {
		return nil
	}
	took := &answer{receivedAt: h.ReceivedAt, decidedAt: o.view.lastAt()}
	took.Response, took.By, took.Known, took.Digest = h.Response, h.ProvidedBy, []string{"claimed:" + h.ProvidedBy.User}, o.issued
	if o.view.state.Last.Event == expired {
		if took.Decision = o.expiredThen(h.Response); !took.Counts() {
			return nil
		}
	} else if d := o.judgedAgain(h.Response); d != nil {
		took.Decision, took.late = *d, o.folder.Doc.IssuedHere() && o.isLate(took.decidedAt)
	}
	took.Comment, took.By = h.Comment, h.ProvidedBy
	return took
}

// madeLast reports whether an answer in the history made the last transition. If so, placet carried
// it out, whoever gave it.
func (o *request) madeLast(h HistoryEntry) bool {
	last := o.view.state.Last
	return last != nil && reasonFor(*o.folder.Request, h.Response, h.ProvidedBy).Says(last.Reason)
}

// expiredThen returns the default that the deadline of a past request chose at the last transition.
// Only a request.json that this machine wrote proves it.
func (o *request) expiredThen(option string) (d gate.Decision) {
	if o.folder.Doc.IssuedHere() {
		c := gate.Claim{Source: gate.FromDeadline, RequestID: o.folder.ID, At: o.view.lastAt()}
		c.Response, c.Digest = option, o.issued
		d, _ = gate.Verify(c, o.evaluation())
	}
	return d
}

// judgedAgain returns the answer that was carried out, whichever view of the artifacts its author
// saw. It is nil if the answer's file is gone or request.json was altered.
func (o *request) judgedAgain(response string) *gate.Decision {
	if o.folder.Request == nil {
		return nil
	}
	past := o.view.past(o.folder)
	forms := slices.DeleteFunc(slices.Clone(o.folder.Docs), func(d engine.Document) bool { return d.Kind != layout.KindForm })
	for i := -1; i < len(forms); i++ {
		if i >= 0 {
			past.form = path.Base(forms[i].Path)
			past.digest = past.formDigest(past.form)
		}
		if v := gate.Judge(past.evaluation()); v.Answer != nil && v.Answer.Response == response {
			return v.Answer
		}
	}
	return nil
}

// closed returns the request as closed without an answer of its own.
func (o *request) closed(result, reason string, revision int) run.Request {
	now := o.view.Snap.Now
	return run.Request{
		ID: o.folder.ID, Status: result, Reason: run.Text(reason), View: run.Text(o.issued),
		ReceivedAt: run.Seconds(now), ClosedAt: run.Millis(now), ClosedRevision: revision,
	}
}

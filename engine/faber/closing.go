package faber

import (
	"path"
	"slices"

	"placet/engine"
	"placet/engine/gate"
	"placet/layout"
	"placet/templates"
)

// closeRequests gives every request that is no longer pending its receipt.
func closeRequests(r *view, p *engine.Plan) {
	for _, a := range r.run.Folders {
		if a.Receipt != nil || a.BadReceipt || a.Request == nil || r.asks(a.ID) {
			continue
		}
		o := r.past(a)
		if rc, ok := o.close(); ok {
			p.Writes = append(p.Writes, o.receiptDoc(rc))
			a.Receipt = &rc
		}
	}
}

// close makes the receipt of a request that the state no longer asks. ok is false while its
// end cannot be told, and where an older state.json was put back, so that it is still open.
func (o *request) close() (rc gate.Receipt, ok bool) {
	r, a := o.view, o.folder
	if a.Unsettled() {
		// What the answer was read from is seen again first.
		return rc, false
	}
	c := claimsOn(r, a.ID)
	if h := r.state.answerTo(a.ID); h != nil && (c.entry == nil || o.madeLast(*h)) {
		return o.answeredReceipt(*h), true
	}
	if h := c.answer(); h != nil {
		return o.answeredReceipt(*h), stoodStill(r, c, c.still())
	}
	if r.state.rev < a.Request.Revision && forStatus(a) != Failed && !moment(r.state.UpdatedAt).After(a.Doc.Changed) {
		r.Notes.Beside(r.doc.Path, r.Say("faber.note.older", "request", quote(a.ID)))
		return rc, false
	}
	if q := r.question(); q != nil {
		rc = o.closed("superseded", r.Say("faber.reason.superseded"), r.state.rev)
		rc.SupersededBy = q.RequestID
		return rc, true
	}
	if r.state.Last != nil && r.state.Last.Event == cancelAsked {
		return o.closed(gate.Cancelled, r.Say("faber.reason.given_up", "reason", r.state.Last.Reason), r.state.rev), true
	}
	reason := templates.NewMessage("faber.reason.withdrawn")
	if r.state.status == Completed {
		reason = passedOver
	}
	// The history may be the last that upstream writes.
	return o.closed(gate.Cancelled, reason.In(r.Lang), r.state.rev), stoodStill(r, claims{}, brokenStill)
}

// passedOver is the reason in the receipt of a request that was asked when another
// program completed the run.
var passedOver = templates.NewMessage("faber.reason.passed")

// elsewhere is the reason in the receipt of an answer that another writer carried out.
var elsewhere = templates.NewMessage("faber.reason.elsewhere")

// answeredReceipt is the receipt of a request whose answer the history holds:
// placet's own, where a crash lost it, or that of another writer.
func (o *request) answeredReceipt(h HistoryEntry) gate.Receipt {
	if took := o.tookLast(h); took != nil {
		return o.receipt(took, o.view.state.rev)
	}
	rc := o.closed(gate.Accepted, elsewhere.In(o.view.Lang), o.view.state.rev)
	rc.Response, rc.Comment, rc.ReceivedAt = h.Response, h.Comment, h.ReceivedAt
	rc.ProvidedBy, rc.KnownAs = h.ProvidedBy, []string{"claimed:" + h.ProvidedBy.User}
	return rc
}

// tookLast is the answer in the history if it made the last transition: as its file has it,
// else as the history has it. It is nil where another writer carried the answer out.
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

// madeLast reports whether an answer in the history made the last transition: placet
// carried it out, whoever gave it.
func (o *request) madeLast(h HistoryEntry) bool {
	last := o.view.state.Last
	return last != nil && reasonFor(*o.folder.Request, h.Response, h.ProvidedBy).Says(last.Reason)
}

// expiredThen is the default that the deadline of a past request took when the last
// transition was made. Only a request.json that this machine wrote proves it.
func (o *request) expiredThen(option string) (d gate.Decision) {
	if o.folder.Doc.IssuedHere() {
		c := gate.Claim{Source: gate.FromDeadline, RequestID: o.folder.ID, At: o.view.lastAt()}
		c.Response, c.Digest = option, o.issued
		d, _ = gate.Verify(c, o.evaluation())
	}
	return d
}

// judgedAgain finds the answer that was carried out, whichever view of the artifacts it was
// given to. It is nil where its file is gone or request.json was altered.
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

// closed is the receipt of a request that ended without an answer of its own.
func (o *request) closed(result, reason string, revision int) gate.Receipt {
	return gate.Receipt{
		SchemaVersion: 1, RequestID: o.folder.ID, Result: result, Reason: reason,
		ProvidedBy: gate.By{User: "placet", Source: gate.SourceFile}, Digest: o.issued,
		ReceivedAt: seconds(o.view.Snap.Now), DecidedAt: millis(o.view.Snap.Now), Revision: revision,
	}
}

package faber

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/layout"
	"placet/templates"
)

// outputs are what the state calls for and is not there: a function of the state, used
// alike after a transition, after a crash and after somebody deleted a file.
func (r *view) outputs(w *run.Outputs) {
	p := &w.Plan
	if w.Fresh && !r.foreign() && r.resumes() {
		p.NextNeeds = r.contextNeeds()
		r.put(p, "resume.md", layout.FaberResume, r.resume())
	}
	if w.Fresh || r.isClosed() || r.State.unfit != nil {
		return
	}
	r.requestOutputs(p)
	r.closeRequests(p)
	r.eventOutputs(p)
	if len(p.Writes) == 0 {
		// The views quote receipts and events, so these stand first.
		r.viewOutputs(p)
	}
}

// isClosed reports whether nothing can be written into the run now, or ever.
func (r *view) isClosed() bool {
	_, asks := r.question()
	return !r.Begun || r.eventsOpen || r.foreign() && !asks && len(r.Folders) == 0
}

// notes says what stands in the way, whatever moves.
func (r *view) notes() {
	if r.isClosed() {
		return
	}
	if r.State.unfit != nil {
		r.Notes.Beside(r.Doc.Path, templates.In(r.Lang, r.State.unfit))
	}
	r.standNotes()
}

// mayNote keeps notes on a foreign run to the folders of its requests.
func (r *view) mayNote(note string) bool {
	return !r.foreign() || strings.HasPrefix(r.Snap.Rel(note), layout.RequestsDir+"/")
}

// receiptDoc is the document of a receipt, in place of an unreadable one.
func (r *answers) receiptDoc(a *gate.Folder, rc gate.Receipt) engine.Document {
	p := a.Dir + "/receipt.json"
	return engine.Document{Path: p, Kind: layout.KindReceipt, Body: run.Must(rc.Encode()), Over: r.Snap.Doc(p).Sum}
}

// closed is the receipt of a request that ended without an answer of its own.
func (r *closings) closed(a *gate.Folder, result, reason string, revision int) gate.Receipt {
	return gate.Receipt{
		SchemaVersion: 1, RequestID: a.ID, Result: result, Reason: reason,
		ProvidedBy: gate.By{User: "placet", Source: gate.SourceFile}, Digest: r.past(a).issued,
		ReceivedAt: seconds(r.Snap.Now), DecidedAt: millis(r.Snap.Now), Revision: revision,
	}
}

// requestOutputs are the files of the request that the state asks.
func (r *view) requestOutputs(p *engine.Plan) {
	o := r.asked()
	if o == nil {
		return
	}
	if o.nowhere() {
		r.Notes.Beside(r.Doc.Path, r.Say(noPlace))
	}
	if !o.q.isOpen() || o.altered != "" || r.artifactsBusy(o.q) {
		return
	}
	if d, ok := r.voids(o); ok {
		p.Writes = append(p.Writes, d)
		return
	}
	if o.a.Receipt != nil {
		return
	}
	p.Writes = append(p.Writes, r.requestFiles(o)...)
	if o.q.forStatus == Awaiting {
		r.emit(p, o.req.Revision, r.lastAt(), r.requestEvents(o))
	}
}

// noPlace is what is wrong with a state that asks and does not say where the run goes on.
const noPlace templates.Key = "faber.note.place"

// nowhere reports whether nobody knows where the run goes on after the answer.
func (o *openRequest) nowhere() bool { return o.q.phase == "" || o.q.step == "" }

// lastAt is the time of the transition that made the present revision.
func (r *closings) lastAt() time.Time {
	if r.State.Last == nil || r.State.Last.At.Time().IsZero() {
		return r.Snap.Now
	}
	return r.State.Last.At.Time()
}

// closings are what became of requests that the state asks no longer.
type closings struct{ *answers }

// closeRequests gives every request that is no longer pending its receipt.
func (r *closings) closeRequests(p *engine.Plan) {
	for _, a := range r.Folders {
		if a.Receipt != nil || a.BadReceipt || a.Request == nil || r.asks(a.ID) {
			continue
		}
		if rc, ok := r.close(a); ok {
			p.Writes = append(p.Writes, r.receiptDoc(a, rc))
			a.Receipt = &rc
		}
	}
}

// close says how a request ended that the state does not ask any more; ok is
// false where an older state.json was put back, so that it is still open.
func (r *closings) close(a *gate.Folder) (rc gate.Receipt, ok bool) {
	if a.Unsettled() {
		// What the answer was read from is seen again first.
		return rc, false
	}
	c := r.claimsOn(a.ID)
	if h := r.State.answerTo(a.ID); h != nil && (c.entry == nil || r.madeLast(a, *h)) {
		return r.answeredReceipt(a, *h), true
	}
	if h := c.answer(); h != nil {
		return r.answeredReceipt(a, *h), r.stoodStill(c, c.still())
	}
	if r.State.rev < a.Request.Revision && forStatus(a) != Failed && !moment(r.State.UpdatedAt).After(a.Doc.Changed) {
		r.Notes.Beside(r.Doc.Path, r.Say("faber.note.older", "request", quote(a.ID)))
		return rc, false
	}
	if q, asks := r.question(); asks {
		rc = r.closed(a, "superseded", r.Say("faber.reason.superseded"), r.State.rev)
		rc.SupersededBy = q.RequestID
		return rc, true
	}
	if r.State.Last != nil && r.State.Last.Event == cancelAsked {
		return r.closed(a, gate.Cancelled, r.Say("faber.reason.given_up", "reason", r.State.Last.Reason), r.State.rev), true
	}
	reason := templates.NewMessage("faber.reason.withdrawn")
	if r.State.status == Completed {
		reason = passedOver
	}
	// The history may be the last that upstream writes.
	return r.closed(a, gate.Cancelled, reason.In(r.Lang), r.State.rev), r.stoodStill(claims{}, brokenStill)
}

// passedOver is the reason in the receipt of a request that was asked when another
// program completed the run.
var passedOver = templates.NewMessage("faber.reason.passed")

// elsewhere is the reason in the receipt of an answer that another writer carried out.
var elsewhere = templates.NewMessage("faber.reason.elsewhere")

// answeredReceipt is the receipt of a request whose answer the history holds:
// placet's own, where a crash lost it, or that of another writer.
func (r *closings) answeredReceipt(a *gate.Folder, h HistoryEntry) gate.Receipt {
	if took := r.tookLast(a, h); took != nil {
		return r.receipt(r.past(a), took, r.State.rev)
	}
	rc := r.closed(a, gate.Accepted, elsewhere.In(r.Lang), r.State.rev)
	rc.Response, rc.Comment, rc.ReceivedAt = h.Response, h.Comment, h.ReceivedAt
	rc.ProvidedBy, rc.KnownAs = h.ProvidedBy, []string{"claimed:" + h.ProvidedBy.User}
	return rc
}

// tookLast is the answer of which the history tells, where it made the last transition:
// from the file that it was read from, else from the history. It is nil where another
// writer carried it out.
func (r *closings) tookLast(a *gate.Folder, h HistoryEntry) *answer {
	if !r.madeLast(a, h) {
		return nil
	}
	o, took := r.past(a), &answer{receivedAt: h.ReceivedAt, decidedAt: r.lastAt()}
	took.Response, took.By, took.Known, took.Digest = h.Response, h.ProvidedBy, []string{"claimed:" + h.ProvidedBy.User}, o.issued
	if r.State.Last.Event == expired {
		if took.Decision = r.expiredThen(o, h.Response); !took.Counts() {
			return nil
		}
	} else if d := r.judgedAgain(a, h.Response); d != nil {
		took.Decision, took.late = *d, a.Doc.IssuedHere() && o.isLate(took.decidedAt)
	}
	took.Comment, took.By = h.Comment, h.ProvidedBy
	return took
}

// madeLast reports whether an answer in the history made the last transition: placet
// carried it out, whoever gave it.
func (r *closings) madeLast(a *gate.Folder, h HistoryEntry) bool {
	return r.State.Last != nil && reasonFor(*a.Request, h.Response, h.ProvidedBy).Says(r.State.Last.Reason)
}

// expiredThen is what the deadline of a request of the past had taken when the last
// transition was made. Only a request.json that this machine wrote tells.
func (r *closings) expiredThen(o *openRequest, option string) (d gate.Decision) {
	if o.a.Doc.IssuedHere() {
		c := gate.Claim{Source: gate.FromDeadline, RequestID: o.a.ID, At: r.lastAt()}
		c.Response, c.Digest = option, o.issued
		d, _ = gate.Verify(c, r.judging(o))
	}
	return d
}

// judgedAgain finds the answer that was taken, in whichever view of the artifacts it was
// given; nil where its file is not there, or request.json was altered.
func (r *answers) judgedAgain(a *gate.Folder, response string) *gate.Decision {
	if a.Request == nil {
		return nil
	}
	o := r.past(a)
	forms := slices.DeleteFunc(slices.Clone(a.Docs), func(d engine.Document) bool { return d.Kind != layout.KindForm })
	for i := -1; i < len(forms); i++ {
		if i >= 0 {
			o.present = path.Base(forms[i].Path)
			o.view = r.formDigest(a, o.present)
		}
		if v := gate.Judge(r.judging(o)); v.Answer != nil && v.Answer.Response == response {
			return v.Answer
		}
	}
	return nil
}

// eventOutputs are the events of the transition that made the present revision,
// where a crash lost them, and .next-id.
func (r *closings) eventOutputs(p *engine.Plan) {
	if r.foreign() || r.State.Last == nil {
		return
	}
	var list []newEvent
	switch edge := r.State.Last.Event; {
	case edge == cancelAsked:
		var c Cancel
		if r.Decode(r.Snap.In("cancel.json"), "faber/cancel", &c) {
			list = r.cancelEvents(c.By, r.State.Last.Reason)
		}
	case edge == expired || strings.HasPrefix(edge, "answered_"):
		list = r.lastAnswerEvents()
	default:
		return
	}
	r.emit(p, r.State.rev, r.lastAt(), list)
}

// lastAnswerEvents are those of the answer that made the present revision, by its receipt.
func (r *closings) lastAnswerEvents() []newEvent {
	for _, a := range r.Folders {
		if a.Receipt == nil || a.Receipt.Revision != r.State.rev || a.Request == nil || a.Receipt.Response == "" || elsewhere.Says(a.Receipt.Reason) {
			continue
		}
		o, ans := r.past(a), &answer{}
		ans.Response, ans.Comment, ans.By = a.Receipt.Response, a.Receipt.Comment, a.Receipt.ProvidedBy
		action := outcomeOf(o.req, ans.Response).action
		if h := r.State.answerTo(a.ID); h != nil {
			action = cmp.Or(h.Action, action) // as it was carried out
		}
		return r.answerEvents(o, ans, action)
	}
	return nil
}

// standNotes says, in the folder of a closed request, why an answer that
// stands there moves nothing.
func (r *closings) standNotes() {
	for _, a := range r.Folders {
		if a.Receipt == nil || a.Request == nil || r.asks(a.ID) || !gate.Others(*a.Receipt, a.Docs) {
			continue
		}
		if text := gate.After(*a.Receipt, r.judging(r.past(a))); text != "" {
			r.Notes.Add(a.Dir+"/problem.md", text)
		}
	}
}

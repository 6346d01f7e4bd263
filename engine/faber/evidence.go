package faber

import (
	"cmp"
	"slices"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
)

// answer is what counts as the answer to the asked request, and where it
// stands. Author and times come from what is on disk, so that history, event
// and receipt agree and a repeated pass repeats them.
type answer struct {
	gate.Decision
	receivedAt string
	decidedAt  time.Time
	late       bool
	cause      engine.Document // what it was read from
	recorded   bool            // feedback_history has it already
}

// evidence finds the answer to the asked request, first valid one: a receipt
// ahead of the state, the history, a feedback_received event, the files. An
// invalid one is passed over with a problem note. While upstream may still be
// writing its answer down, no other is taken.
func (r *answers) evidence(o *openRequest) *answer {
	if o.a.Receipt != nil {
		return r.fromReceipt(o)
	}
	if r.claimGrows(o) {
		return nil
	}
	if a := r.fromHistory(o); a != nil {
		return a
	}
	if a := r.fromEvent(o); a != nil {
		return a
	}
	if !o.q.isOpen() || !o.stands {
		// Nobody was shown anything yet.
		return nil
	}
	return r.fromFiles(o)
}

// claimGrows reports whether upstream may still be writing down an answer to the asked
// request. Where the gate asks for more than a claim there is nothing to wait for: it
// never counts.
func (r *answers) claimGrows(o *openRequest) bool {
	c := r.claimsOn(o.a.ID)
	if c.none() || gate.Demands(r.Snap.Facts.Config.GateFor("faber", o.req.Type)) {
		return false
	}
	return !r.stoodStill(c, brokenStill)
}

// fromReceipt carries out a receipt whose revision the state has not reached:
// the answer is fact, and no form is read again.
func (r *answers) fromReceipt(o *openRequest) *answer {
	rc := o.a.Receipt
	if rc.Revision <= r.State.rev {
		r.Notes.Beside(r.Doc.Path, r.Say("faber.note.again", "request", quote(o.a.ID), "revision", rc.Revision, "response", rc.Response))
		return nil
	}
	if !o.fact.Counts() {
		return nil
	}
	h := r.State.answerTo(o.a.ID)
	a := &answer{Decision: o.fact, receivedAt: rc.ReceivedAt, late: rc.Late, recorded: h != nil && gate.Fold(h.Response) == gate.Fold(rc.Response)}
	if a.decidedAt = moment(rc.DecidedAt); a.decidedAt.IsZero() {
		a.decidedAt = r.Snap.Now
	}
	switch {
	case rc.Answer != nil:
		a.cause = engine.Document{Path: rc.Answer.Path, Sum: engine.Digest("sha256:" + rc.Answer.SHA256)}
	case a.Expired():
		a.cause = o.a.Doc
	case a.recorded:
		a.cause = r.Doc
	default:
		a.cause.Path = o.a.Dir + "/receipt.json"
	}
	return a
}

// fromHistory takes an answer that an upstream writer put into
// feedback_history without clearing the request.
func (r *answers) fromHistory(o *openRequest) *answer {
	h := r.State.answerTo(o.a.ID)
	if h == nil {
		return nil
	}
	a := r.claim(o, h.claim(gate.FromHistory, r.Say("faber.place.history")))
	if a != nil {
		a.receivedAt, a.recorded, a.cause = h.ReceivedAt, true, r.Doc
	}
	return a
}

// fromEvent takes an answer that stands in a feedback_received event.
func (r *answers) fromEvent(o *openRequest) *answer {
	i := slices.IndexFunc(r.marked, func(e *event) bool { return e.Type == "feedback_received" && e.Metadata.RequestID == o.a.ID })
	if i < 0 {
		return nil
	}
	e := r.marked[i]
	a := r.claim(o, e.Metadata.claim(gate.FromEvent, "events/"+e.Name))
	if a == nil {
		return nil
	}
	a.cause = r.Snap.In("events/" + e.Name)
	if at := moment(e.Timestamp); !at.IsZero() {
		a.receivedAt = seconds(at)
		if e.ours() {
			a.decidedAt = at
		}
	}
	if !e.ours() {
		return a
	}
	return r.remember(o, a)
}

// remember completes an answer that placet took before a crash lost all but
// its event: from the file that it was read from, or the passed deadline.
func (r *answers) remember(o *openRequest, a *answer) *answer {
	if a.Expired() {
		a.cause = o.a.Doc
		return a
	}
	if o.a.Unsettled() {
		r.Held = true
		return nil
	}
	if d := r.judgedAgain(o.a, a.Response); d != nil {
		a.Decision = *d
		a.cause, a.late = engine.Document{Path: d.Path, Sum: d.Sum}, o.isLate(a.decidedAt)
	}
	return a
}

// claim is what an entry of the history says was the answer.
func (h HistoryEntry) claim(source gate.Source, place string) gate.Claim {
	c := gate.Claim{Source: source, RequestID: h.RequestID, Place: place, At: moment(h.ReceivedAt)}
	c.Response, c.Comment, c.By = h.Response, h.Comment, h.ProvidedBy
	return c
}

// claim has an answer verified that somebody wrote into the run's own records, or
// the default that a passed deadline took by their word.
func (r *answers) claim(o *openRequest, c gate.Claim) *answer {
	if c.By.Source == gate.SourceDeadline {
		c.Source, c.Digest = gate.FromDeadline, o.view
	}
	d, problem := gate.Verify(c, r.judging(o))
	if problem != "" {
		r.refuse(o, problem)
		return nil
	}
	return &answer{Decision: d, decidedAt: r.Snap.Now, receivedAt: seconds(r.Snap.Now)}
}

// refuse says in the request's folder why an answer does not count.
func (r *requests) refuse(o *openRequest, text string) { r.Notes.Add(o.a.Dir+"/problem.md", text) }

// fromFiles judges response.json and the present form.
func (r *answers) fromFiles(o *openRequest) *answer {
	if o.altered != "" {
		r.noteAltered(o)
		return nil
	}
	if r.artifactsBusy(o.q) {
		r.Held = true
		return nil
	}
	if r.AreVoid(o.a) {
		r.Held = true
		return nil
	}
	d := r.JudgeAnswers(r.judging(o))
	if d == nil {
		return nil
	}
	return &answer{
		Decision: *d, decidedAt: r.Snap.Now, receivedAt: seconds(r.Snap.Now),
		cause: engine.Document{Path: d.Path, Sum: d.Sum}, late: o.isLate(r.Snap.Now),
	}
}

// cannotUse says why request.json does not count, and what to do.
func (r *requests) cannotUse(o *openRequest) string {
	return r.Say("faber.note.request", "why", o.altered)
}

// noteAltered says beside request.json that it does not count.
func (r *requests) noteAltered(o *openRequest) {
	r.Notes.Beside(o.a.Dir+"/request.json", r.cannotUse(o))
}

// judging is a request with all that bears on its answer.
func (r *requests) judging(o *openRequest) gate.Evaluation {
	issued, altered := o.issued, o.altered
	if o.claimed && len(o.req.Artifacts) > 0 {
		issued = ""
	}
	if !o.stands {
		altered = r.Say("faber.altered.absent")
	}
	g := r.Snap.Facts.Config.GateFor("faber", o.req.Type)
	if o.past {
		g.Since = time.Time{}
	}
	return gate.Evaluation{
		Lang: r.Lang, Request: r.present(o), Dir: o.a.Dir, Docs: o.a.Docs, View: o.view, Issued: issued,
		Present: o.a.Dir + "/" + o.present, Rendered: r.rendered(r.shown(o), o.q, o.view), Stale: r.stale(o), Rewritten: r.rewritten(o),
		Gate: g, Now: r.Snap.Now, Asked: gate.IssuedAt(moment(o.req.RequestedAt), o.a.Doc), Fact: r.Fact, PartialWriteGrace: run.PartialWriteGrace,
		Revision: r.State.rev, Altered: altered,
	}
}

// isLate reports whether an answer of a moment came after the deadline.
func (o *openRequest) isLate(at time.Time) bool {
	deadline := moment(o.req.Deadline)
	return !deadline.IsZero() && !at.Before(deadline)
}

// timedOut is the answer that the passed deadline takes; nil while there is no
// deadline, it has not come, it escalates, or a file that could be an answer is
// still being written.
func (r *answers) timedOut(o *openRequest) *answer {
	if moment(o.req.Deadline).IsZero() || o.altered != "" || !r.Due(run.Text(o.req.Deadline)) {
		return nil
	}
	if o.req.Default == "" || agrees(o.req, o.req.Default) || r.Held {
		return nil
	}
	c := gate.Claim{RequestID: o.a.ID, Place: o.a.Dir + "/request.json", At: r.Snap.Now}
	c.Response, c.By = o.req.Default, gate.By{User: "placet", Source: gate.SourceDeadline}
	a := r.claim(o, c)
	if a != nil {
		a.cause = o.a.Doc
	}
	return a
}

// Upstream records an answer in three writes: the feedback_received event, the
// entry of feedback_history, and the state without the request. Whoever acts
// between two of them ends the run a second time, so what upstream has written is
// taken only once the run has stood still.
const (
	// agreedStill is for how long a run must stand still whose event and history
	// say the same and whose state does not ask any more.
	agreedStill = 2 * time.Second
	// brokenStill is the same where upstream has not said all of it: its session
	// ended halfway, or it leaves out a part.
	brokenStill = 10 * time.Second
)

// claims are what another writer than placet says in the run's records to be the
// answer to a request. The zero claims say nothing.
type claims struct {
	event *event        // a feedback_received event
	entry *HistoryEntry // an entry of feedback_history
}

// claimsOn finds the claims about a request. There are none where placet's own event
// tells of the answer: placet took it, and a crash lost the rest.
func (r *eventLog) claimsOn(id string) claims {
	var c claims
	for _, e := range r.marked {
		if e.Type != "feedback_received" || e.Metadata.RequestID != id {
			continue
		}
		if e.ours() {
			return claims{}
		}
		c.event = cmp.Or(c.event, e)
	}
	// Only placet says in its entries what an answer led to.
	if h := r.State.answerTo(id); h != nil && h.Action == "" {
		c.entry = h
	}
	return c
}

// none reports whether nobody claims anything.
func (c claims) none() bool { return c.event == nil && c.entry == nil }

// still is for how long the run must stand still before the claims count.
func (c claims) still() time.Duration {
	if c.event != nil && c.entry != nil && gate.Fold(c.event.Metadata.Response) == gate.Fold(c.entry.Response) {
		return agreedStill
	}
	return brokenStill
}

// answer is what the claims say as an entry of the history, which goes before the
// event; nil where they say nothing.
func (c claims) answer() *HistoryEntry {
	if c.entry != nil || c.event == nil {
		return c.entry
	}
	return &c.event.Metadata.HistoryEntry
}

// stoodStill reports whether upstream has written nothing into the run for so long since
// it made its claims. Where it has, nothing is decided until then, and the run is looked
// at when that would be so. The times of the files tell, so a restart changes nothing.
func (r *eventLog) stoodStill(c claims, length time.Duration) bool {
	h := engine.PendingFile{Path: r.Doc.Path, Until: r.lastWrite().Add(length), Counts: true}
	if !r.Snap.Now.Before(h.Until) {
		return true
	}
	if c.event != nil {
		h.Path = r.Path("events/" + c.event.Name)
	}
	r.Hold(h)
	return false
}

// lastWrite is when state.json or an event changed last. A file that is further ahead
// than anything is waited for tells nothing: the clock was set back.
func (r *eventLog) lastWrite() time.Time {
	var last time.Time
	for _, d := range append([]engine.Document{r.Doc}, r.Snap.Under("events")...) {
		if d.Changed.After(last) && !d.Changed.After(r.Snap.Now.Add(brokenStill)) {
			last = d.Changed
		}
	}
	return last
}

package faber

import (
	"cmp"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
)

// answer is the answer that counts for the asked request. Author and times come from the disk, so
// that history, event and receipt agree and a repeated pass produces the same ones.
type answer struct {
	gate.Decision
	receivedAt string
	decidedAt  time.Time
	late       bool
	cause      engine.Document // the file that it was read from
	recorded   bool            // whether feedback_history already has it
}

// evidence returns the answer to the asked request: the first valid one of a receipt ahead of the
// state, the history, a feedback_received event, and the files. A note explains why an invalid one
// is ignored. No other answer counts while upstream may still be recording its own.
func (o *request) evidence() *answer {
	if o.folder.Receipt != nil {
		return o.fromReceipt()
	}
	if o.claimGrows() {
		return nil
	}
	if a := o.fromHistory(); a != nil {
		return a
	}
	if a := o.fromEvent(); a != nil {
		return a
	}
	if !o.q.isOpen() || !o.stands {
		// Nobody has seen the request yet.
		return nil
	}
	return o.fromFiles()
}

// claimGrows reports whether upstream may still be recording an answer to the asked request. It is
// false for a gate that asks for more than a claim, because no claim passes such a gate.
func (o *request) claimGrows() bool {
	c := claimsOn(o.view, o.folder.ID)
	if c == (claims{}) || gate.Demands(o.view.Snap.Facts.Config.GateFor("faber", o.req.Type)) {
		return false
	}
	return !stoodStill(o.view, c, brokenStill)
}

// fromReceipt returns the answer of a receipt whose revision the state has not reached. That answer
// is final, so placet reads no form again.
func (o *request) fromReceipt() *answer {
	rc := o.folder.Receipt
	if rc.Revision <= o.view.state.rev {
		o.view.Notes.Beside(o.view.doc.Path, o.view.Say("faber.note.again", "request", quote(o.folder.ID), "revision", rc.Revision, "response", rc.Response))
		return nil
	}
	if !o.fact.Counts() {
		return nil
	}
	h := o.view.state.answerTo(o.folder.ID)
	a := &answer{Decision: o.fact, receivedAt: rc.ReceivedAt, late: rc.Late, recorded: h != nil && gate.Fold(h.Response) == gate.Fold(rc.Response)}
	if a.decidedAt = moment(rc.DecidedAt); a.decidedAt.IsZero() {
		a.decidedAt = o.view.Snap.Now
	}
	switch {
	case rc.Answer != nil:
		a.cause = engine.Document{Path: rc.Answer.Path, Sum: engine.Digest("sha256:" + rc.Answer.SHA256)}
	case a.Expired():
		a.cause = o.folder.Doc
	case a.recorded:
		a.cause = o.view.doc
	default:
		a.cause.Path = o.path("receipt.json")
	}
	return a
}

// fromHistory returns an answer that an upstream writer put into feedback_history without removing
// the request.
func (o *request) fromHistory() *answer {
	h := o.view.state.answerTo(o.folder.ID)
	if h == nil {
		return nil
	}
	a := o.claim(h.claim(gate.FromHistory, o.view.Say("faber.place.history")))
	if a != nil {
		a.receivedAt, a.recorded, a.cause = h.ReceivedAt, true, o.view.doc
	}
	return a
}

// fromEvent returns an answer in a feedback_received event.
func (o *request) fromEvent() *answer {
	e := o.view.events.about("feedback_received", o.folder.ID)
	if e == nil {
		return nil
	}
	a := o.claim(e.Metadata.claim(gate.FromEvent, "events/"+e.Name))
	if a == nil {
		return nil
	}
	a.cause = o.view.Snap.In("events/" + e.Name)
	if at := moment(e.Timestamp); !at.IsZero() {
		a.receivedAt = seconds(at)
		if e.ours() {
			a.decidedAt = at
		}
	}
	if !e.ours() {
		return a
	}
	return o.remember(a)
}

// remember completes an answer of which a crash lost everything but the event. It uses the file
// that contained the answer, or the expired deadline.
func (o *request) remember(a *answer) *answer {
	if a.Expired() {
		a.cause = o.folder.Doc
		return a
	}
	if o.folder.Unsettled() {
		o.view.Held = true
		return nil
	}
	if d := o.judgedAgain(a.Response); d != nil {
		a.Decision = *d
		a.cause, a.late = engine.Document{Path: d.Path, Sum: d.Sum}, o.isLate(a.decidedAt)
	}
	return a
}

// claim returns the answer that an entry of the history claims.
func (h HistoryEntry) claim(source gate.Source, place string) gate.Claim {
	c := gate.Claim{Source: source, RequestID: h.RequestID, Place: place, At: moment(h.ReceivedAt)}
	c.Response, c.Comment, c.By = h.Response, h.Comment, h.ProvidedBy
	return c
}

// claim verifies an answer that somebody wrote into the run's own records, or the default that a
// deadline chose according to them.
func (o *request) claim(c gate.Claim) *answer {
	if c.By.Source == gate.SourceDeadline {
		c.Source, c.Digest = gate.FromDeadline, o.digest
	}
	d, problem := gate.Verify(c, o.evaluation())
	if problem != "" {
		o.refuse(problem)
		return nil
	}
	return &answer{Decision: d, decidedAt: o.view.Snap.Now, receivedAt: seconds(o.view.Snap.Now)}
}

// fromFiles judges response.json and the current form.
func (o *request) fromFiles() *answer {
	if o.altered != "" {
		o.noteAltered()
		return nil
	}
	if o.q.artifactsBusy() || run.AreVoid(o.view.Input, o.folder) {
		o.view.Held = true
		return nil
	}
	d := run.JudgeAnswers(o.view.Input, o.evaluation())
	if d == nil {
		return nil
	}
	return &answer{
		Decision: *d, decidedAt: o.view.Snap.Now, receivedAt: seconds(o.view.Snap.Now),
		cause: engine.Document{Path: d.Path, Sum: d.Sum}, late: o.isLate(o.view.Snap.Now),
	}
}

// timedOut returns the answer that an expired deadline gives. It is nil without a deadline, before
// the deadline, if the deadline escalates, and while a file that could be an answer is still being
// written.
func (o *request) timedOut() *answer {
	if moment(o.req.Deadline).IsZero() || o.altered != "" || !o.view.run.Due(run.Text(o.req.Deadline)) {
		return nil
	}
	if o.req.Default == "" || agrees(o.req, o.req.Default) || o.view.Held {
		return nil
	}
	c := gate.Claim{RequestID: o.folder.ID, Place: o.path("request.json"), At: o.view.Snap.Now}
	c.Response, c.By = o.req.Default, gate.By{User: "placet", Source: gate.SourceDeadline}
	a := o.claim(c)
	if a != nil {
		a.cause = o.folder.Doc
	}
	return a
}

// Upstream records an answer in three writes: the feedback_received event, the entry of
// feedback_history, and the state without the request. A move between two of them would end the run
// twice, so an answer of upstream counts only once the run has been quiet for a while.
const (
	// agreedStill is how long a run must be quiet when event and history agree and the state no
	// longer asks.
	agreedStill = 2 * time.Second
	// brokenStill is how long it must be quiet otherwise: upstream's session ended halfway, or it
	// leaves out a part.
	brokenStill = 10 * time.Second
)

// claims are the answers to a request that a writer other than placet recorded. The zero value
// means none.
type claims struct {
	event *event        // a feedback_received event
	entry *HistoryEntry // an entry of feedback_history
}

// claimsOn returns the claims about a request. It returns none if placet's own event records the
// answer: placet carried it out, and a crash lost the rest.
func claimsOn(r *view, id string) claims {
	var c claims
	for _, e := range r.events.marked {
		if e.Type != "feedback_received" || e.Metadata.RequestID != id {
			continue
		}
		if e.ours() {
			return claims{}
		}
		c.event = cmp.Or(c.event, e)
	}
	// Only placet's entries name the action that an answer led to.
	if h := r.state.answerTo(id); h != nil && h.Action == "" {
		c.entry = h
	}
	return c
}

// still returns how long the run must be quiet before the claims count.
func (c claims) still() time.Duration {
	if c.event != nil && c.entry != nil && gate.Fold(c.event.Metadata.Response) == gate.Fold(c.entry.Response) {
		return agreedStill
	}
	return brokenStill
}

// answer returns the claimed answer as an entry of the history, which takes precedence over the
// event; nil without a claim.
func (c claims) answer() *HistoryEntry {
	if c.entry != nil || c.event == nil {
		return c.entry
	}
	return &c.event.Metadata.HistoryEntry
}

// stoodStill reports whether upstream has written nothing into the run for that long. Until then
// nothing is decided, and the loop loads the run again at that time. Only the times of the files
// matter, so a restart changes nothing.
func stoodStill(r *view, c claims, length time.Duration) bool {
	h := engine.PendingFile{Path: r.doc.Path, Until: lastWrite(r).Add(length), Counts: true}
	if !r.Snap.Now.Before(h.Until) {
		return true
	}
	if c.event != nil {
		h.Path = r.Path("events/" + c.event.Name)
	}
	r.Hold(h)
	return false
}

// lastWrite returns when state.json or an event changed last. It ignores a file dated further ahead
// than any wait lasts: the clock was set back.
func lastWrite(r *view) time.Time {
	var last time.Time
	for _, d := range append([]engine.Document{r.doc}, r.Snap.Under("events")...) {
		if d.Changed.After(last) && !d.Changed.After(r.Snap.Now.Add(brokenStill)) {
			last = d.Changed
		}
	}
	return last
}

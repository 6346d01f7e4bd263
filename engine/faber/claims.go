package faber

import (
	"cmp"
	"time"

	"placet/engine"
	"placet/engine/gate"
)

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
	// Only placet says in its entries what an answer led to.
	if h := r.state.answerTo(id); h != nil && h.Action == "" {
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

// lastWrite is when state.json or an event changed last. A file that is further ahead
// than anything is waited for tells nothing: the clock was set back.
func lastWrite(r *view) time.Time {
	var last time.Time
	for _, d := range append([]engine.Document{r.doc}, r.Snap.Under("events")...) {
		if d.Changed.After(last) && !d.Changed.After(r.Snap.Now.Add(brokenStill)) {
			last = d.Changed
		}
	}
	return last
}

package faber

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"placet/engine"
	"placet/layout"
	"placet/templates"
)

// eventLog is the content of events/.
type eventLog struct {
	// all holds the usable events in numeric order.
	all []*event
	// marked holds those that placet wrote or that name a request.
	marked []*event
	// highest is the highest number of a file, readable or not.
	highest int
	// next is the number in .next-id, 0 if it is unusable.
	next int
	// unreadable holds the names of files that are not readable as events.
	unreadable []string
	// open is true while an event may still be being written. It may be an event of placet's from
	// before a crash, so nothing is decided: placet would write the same event twice.
	open bool
	// gone is true if events/ is missing although the state says that it had events.
	gone bool
	// kept is true if the run keeps events. A plan layout may not keep any, and none are kept while
	// the earlier ones are gone.
	kept bool
}

// readEvents reads events/ in numeric order. It ignores a file that is not an event; `check` warns
// of it.
func readEvents(r *view) (l eventLog) {
	docs := r.Snap.Under("events")
	for i := range docs {
		if d := &docs[i]; d.Kind == layout.FaberEvent || d.Kind == layout.FaberBadEvent {
			l.add(r, d)
		}
	}
	byNumber := func(a, b *event) int { return a.Number - b.Number }
	if !slices.IsSortedFunc(l.all, byNumber) {
		slices.SortStableFunc(l.all, byNumber)
	}
	for _, e := range l.all {
		if e.ours() || e.Metadata.Placet.Revision != 0 || e.Metadata.RequestID != "" {
			l.marked = append(l.marked, e)
		}
	}
	l.next = readNextID(r.Snap.In("events/.next-id"))
	l.miss(r, docs)
	l.kept = !r.foreign() && !l.gone || len(docs) > 0
	return l
}

func (l *eventLog) add(r *view, d *engine.Document) {
	name := path.Base(d.Path)
	number, _, _ := layout.FaberEventName(name)
	l.highest = max(l.highest, number)
	if d.Err != nil && d.Kind == layout.FaberEvent && r.isBusy(*d, "faber.locked.event") {
		l.open = true
	}
	if d.Kind == layout.FaberEvent && d.Present() {
		if e, err := engine.ParseIssued(*d, "faber/event", readEvent); err == nil {
			l.all = append(l.all, e)
			return
		}
	}
	if !d.Unsettled() {
		l.unreadable = append(l.unreadable, name)
	}
}

// miss blocks decisions while events/ is missing although the state says that placet wrote there:
// the missing events would happen again. A final run has nothing to block; it only gets no more
// events.
func (l *eventLog) miss(r *view, docs []engine.Document) {
	last, err := strconv.ParseFloat(string(r.state.LastEventID), 64)
	there := slices.ContainsFunc(docs, func(d engine.Document) bool { return !d.Absent() })
	if l.gone = err == nil && last > 0 && r.state.Revision != nil && !there && !r.foreign(); l.gone && !final(r.state.status) {
		l.open = true
		r.Notes.Beside(r.doc.Path, r.Say("faber.note.events", "last", fmt.Sprintf("%.0f", last), "next", fmt.Sprintf("%.0f", last+1)))
	}
}

// readNextID reads events/.next-id; it returns 0 if the content is unusable.
func readNextID(d engine.Document) int {
	n, err := strconv.Atoi(strings.TrimSpace(string(d.Body)))
	if d.Err != nil || err != nil || n < 0 || n > layout.MostFaberEvents {
		return 0
	}
	return n
}

// badEvent is a file that is unusable as an event, with the reason.
type badEvent struct {
	name string
	why  templates.Message
}

// badEvents returns the files that are unusable as events, sorted by name.
func (l *eventLog) badEvents() []badEvent {
	var bad []badEvent
	for i, e := range l.all {
		if i > 0 && l.all[i-1].Number == e.Number {
			bad = append(bad, badEvent{e.Name, templates.NewMessage("faber.finding.number", "event", l.all[i-1].Name)})
		}
	}
	for _, name := range l.unreadable {
		bad = append(bad, badEvent{name, templates.NewMessage("faber.finding.event")})
	}
	slices.SortFunc(bad, func(a, b badEvent) int { return cmp.Compare(a.name, b.name) })
	return bad
}

// started reports whether an event records the start of a step.
func (l *eventLog) started(step plannedStep) bool {
	return slices.ContainsFunc(l.all, func(e *event) bool { return e.Type == "step_start" && e.of(step) })
}

// lacksNumber reports whether .next-id lags behind an event of placet's because a crash came
// between the two writes.
func (l *eventLog) lacksNumber() bool {
	last := l.newest()
	return last.ours() && last.Number == l.highest && l.next <= last.Number
}

// notBefore returns the time for a new event, which is never before that of the newest event.
func (l *eventLog) notBefore(at time.Time) time.Time {
	if newest := moment(l.newest().Timestamp); newest.After(at) {
		return newest
	}
	return at
}

// newest returns the last event, or an empty one.
func (l *eventLog) newest() event {
	if len(l.all) == 0 {
		return event{}
	}
	return *l.all[len(l.all)-1]
}

// about returns the first event of a type that names a request, or nil.
func (l *eventLog) about(typ, request string) *event {
	for _, e := range l.marked {
		if e.Type == typ && e.Metadata.RequestID == request {
			return e
		}
	}
	return nil
}

// takenUp reports whether an event of another writer, numbered after the answer's events, shows
// that an agent continued.
func (l *eventLog) takenUp(requestID string, revision int) bool {
	after := 0
	for _, e := range l.marked {
		if e.Type == "feedback_received" && e.Metadata.RequestID == requestID || e.ours() && e.Metadata.Placet.Revision == revision {
			after = max(after, e.Number)
		}
	}
	if after == 0 {
		return false
	}
	for _, e := range slices.Backward(l.all) {
		if e.Number <= after {
			return false
		}
		if !e.ours() && (slices.Contains(takingUp, e.Type) || strings.HasPrefix(e.Type, "workflow_")) {
			return true
		}
	}
	return false
}

// takingUp are the events, besides those of the workflow, that show an agent continuing.
var takingUp = []string{"step_start", "step_complete", "step_error", "phase_start", "phase_complete"}

// records reports whether another program wrote an event of a type.
func (l *eventLog) records(typ string) bool {
	return slices.ContainsFunc(l.all, func(e *event) bool { return e.Type == typ && !e.ours() })
}

// isRecordedHalf reports whether events/ records only the start of a step, and also the end of
// another step of the same phase.
func (l *eventLog) isRecordedHalf(step plannedStep) bool {
	began, others := false, false
	for _, e := range l.all {
		switch {
		case e.of(step) && e.Type == "step_start":
			began = true
		case e.of(step):
			return false
		case e.Type == "step_complete" && e.Phase == step.Phase && !e.ours():
			others = true
		}
	}
	return began && others
}

// retries returns how often steps were retried.
func (l *eventLog) retries() int {
	n := 0
	for _, e := range l.all {
		if e.Type == "step_retry" {
			n++
		}
	}
	return n
}

// retriesOf returns how often a step was repeated according to the events before a number.
func (l *eventLog) retriesOf(step plannedStep, before int) (n int) {
	for _, e := range l.all {
		if e.Number < before && e.Type == "step_retry" && e.of(step) {
			n++
		}
	}
	return n
}

// lastRetry returns the last event that repeats a step, nil if none does.
func (l *eventLog) lastRetry(step plannedStep) *event {
	for _, e := range slices.Backward(l.all) {
		if e.Type == "step_retry" && e.of(step) {
			return e
		}
	}
	return nil
}

// repeatedAfter reports whether a step or a phase was repeated after the last event of others about a
// step.
func (l *eventLog) repeatedAfter(step plannedStep) bool {
	for _, e := range slices.Backward(l.all) {
		switch {
		case e.Type == "retry_loop_enter" || e.Type == "step_retry":
			return true
		case e.of(step) && !e.ours():
			return false
		}
	}
	return false
}

// gaps returns messages about the numbers that no event has.
func (l *eventLog) gaps() []templates.Message {
	var gaps []templates.Message
	before := 0
	for _, e := range l.all {
		switch missing := e.Number - before - 1; {
		case missing == 1:
			gaps = append(gaps, templates.NewMessage("faber.finding.gap", "number", fmt.Sprintf("%03d", before+1)))
		case missing > 1:
			gaps = append(gaps, templates.NewMessage("faber.finding.gaps", "from", fmt.Sprintf("%03d", before+1), "to", fmt.Sprintf("%03d", e.Number-1)))
		}
		before = e.Number
	}
	return gaps
}

// entries returns the events for people.
func (l *eventLog) entries() []engine.Entry {
	var list []engine.Entry
	for _, e := range l.all {
		list = append(list, engine.Entry{At: moment(e.Timestamp), Number: e.Number, Event: e.Type, Where: e.place(), Who: e.User, Message: e.Message})
	}
	return list
}

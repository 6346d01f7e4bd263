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
	"placet/engine/gate"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
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

// event is one file of events/, as far as placet reads it.
type event struct {
	Number    int    `json:"event_id"` // the number in the file's name
	Name      string `json:"-"`
	Type      string `json:"type"`
	Timestamp string `json:"timestamp"`
	RunID     string `json:"run_id"`
	Phase     string `json:"phase,omitzero"`
	Step      string `json:"step,omitzero"`
	Status    string `json:"status,omitzero"`
	User      string `json:"user,omitzero"`
	Source    string `json:"source,omitzero"`
	Message   string `json:"message,omitzero"`
	// Raw is free-form metadata. Members that placet does not know belong to upstream.
	Raw      schemas.Raw   `json:"metadata"`
	Metadata eventMetadata `json:"-"`
	// Error is what went wrong, in upstream's events of errors.
	Error schemas.Raw `json:"error,omitzero"`
}

// eventMetadata holds the members of an event's metadata that placet reads. In a feedback_received
// event they are an answer in the form of the history.
type eventMetadata struct {
	HistoryEntry
	Placet mark
}

// readEvent reads one file of events/.
func readEvent(schema, file string, body []byte) (e event, err error) {
	e.Name = path.Base(file)
	if err = schemas.Decode(schema, e.Name, body, &e); err != nil {
		return e, err
	}
	e.Number, _, _ = layout.FaberEventName(e.Name)
	e.Metadata, e.Raw = readEventMetadata(e.Raw), nil
	e.Metadata.ReceivedAt, e.Metadata.ProvidedBy.User = e.Timestamp, cmp.Or(e.Metadata.ProvidedBy.User, e.User)
	return e, nil
}

// readEventMetadata reads the metadata of an event. A member of an unexpected type is upstream's
// own business and does not hide the others. Upstream's writers name the author of an answer in
// three ways: provided_by is an object, provided_by is a name beside source, or user and source are
// members themselves.
func readEventMetadata(value schemas.Raw) (known eventMetadata) {
	var m, by map[string]schemas.Raw
	if len(value) == 0 || schemas.DecodeValue(value, &m) != nil {
		return known
	}
	if m["provided_by"].Kind() != '{' || schemas.DecodeValue(m["provided_by"], &by) != nil {
		by = map[string]schemas.Raw{"user": m["provided_by"]}
	}
	if m["placet"].Kind() == '{' && schemas.DecodeValue(m["placet"], &known.Placet) != nil {
		known.Placet = mark{}
	}
	known.RequestID, known.RequestType = word(m["request_id"]), word(m["request_type"])
	known.Response, known.Comment = word(m["response"]), word(m["comment"])
	known.ProvidedBy = gate.By{User: cmp.Or(word(by["user"]), word(m["user"])), Source: cmp.Or(word(by["source"]), word(m["source"]))}
	return known
}

// word returns the text of a member, "" if it is not text.
func word(value schemas.Raw) string {
	text, _ := value.Text()
	return text
}

// place returns where the event happened, for people.
func (e event) place() string {
	if e.Step == "" {
		return e.Phase
	}
	return where(e.Phase, e.Step)
}

// of reports whether the event is about a step.
func (e event) of(step plannedStep) bool {
	return e.Step == step.ID && (e.Phase == "" || e.Phase == step.Phase)
}

// mark identifies placet's own events.
type mark struct {
	Revision int    `json:"revision"`
	Key      string `json:"key"`
}

// ours reports whether placet wrote the event.
func (e event) ours() bool { return e.Metadata.Placet.Key != "" }

// moment parses a time of a document; it returns the zero time if the text is none.
func moment(text string) time.Time { return run.Text(text).Time() }

// seconds writes a moment with the precision that most of FABER's files use.
func seconds(t time.Time) string { return string(run.Seconds(t)) }

// newEvent is an event that a state calls for. An event about a request is identified by its type
// and the request's id, whoever wrote it and whatever step it names.
type newEvent struct {
	event
	metadata schemas.Object
}

// event returns a new event about a request, in the request's phase.
func (o *request) event(typ, step, status, user string, metadata schemas.Object) newEvent {
	e := newEvent{metadata: metadata}
	e.Type, e.Phase, e.Step, e.Status, e.User, e.Metadata.RequestID = typ, o.q.phase, step, status, user, o.folder.ID
	return e
}

// key returns the identity of an event of placet's. The same work gives the same key, so a repeated
// pass finds what it wrote.
func (e newEvent) key(run string, revision, ordinal int) string {
	parts := fmt.Sprintf("%s\n%d\n%s\n%s\n%s\n%d\n", run, revision, e.Type, e.Phase, e.Step, ordinal)
	return engine.Sum([]byte(parts)).Hex()[:12]
}

// there reports whether an event exists already. It compares an event about a request by the
// request's id, whoever wrote it, and any other event by key.
func (l *eventLog) there(e newEvent, key string) bool {
	return slices.ContainsFunc(l.marked, func(have *event) bool {
		return e.Metadata.RequestID != "" && have.Type == e.Type && have.Metadata.RequestID == e.Metadata.RequestID || have.Metadata.Placet.Key == key
	})
}

// emit plans the missing events of a revision, and .next-id. It returns the highest event number
// afterwards.
func (r *view) emit(p *engine.Plan, revision int, at time.Time, list []newEvent) int {
	highest := r.events.highest
	if !r.events.kept {
		return highest
	}
	next := max(r.events.next, highest+1)
	stamp := r.events.notBefore(at)
	wrote := false
	for i, e := range list {
		key := e.key(r.Snap.Key.ID, revision, i)
		if r.events.there(e, key) {
			continue
		}
		if next > layout.MostFaberEvents {
			r.run.CannotWrite(templates.Errorf("faber.note.numbers", "number", layout.MostFaberEvents))
			return highest
		}
		e.Number, e.Timestamp = next, string(run.Millis(stamp))
		p.Writes = append(p.Writes, e.document(r, mark{revision, key}))
		highest, next, wrote = next, next+1, true
	}
	if wrote || !r.foreign() && r.events.lacksNumber() {
		r.put(p, "events/.next-id", layout.FaberNextID, []byte(strconv.Itoa(next)+"\n"))
	}
	return highest
}

// document returns the file of a new event.
func (e newEvent) document(r *view, own mark) engine.Document {
	e.RunID, e.Source, e.User = r.Snap.Key.ID, "placet", cmp.Or(e.User, "placet")
	e.Raw = run.Must(schemas.Encode(append(slices.Clip(e.metadata), schemas.Member{Name: "placet", Value: own})))
	return engine.Document{
		Path: r.Path(fmt.Sprintf("events/%03d-%s.json", e.Number, e.Type)), Kind: layout.FaberEvent,
		Body: run.Must(schemas.Encode(e.event)),
	}
}

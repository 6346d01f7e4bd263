package faber

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// event is one file of events/, as far as placet reads it.
type event struct {
	Number    int    `json:"event_id"` // that of the file's name
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
	// Raw is free form: what placet does not know in it is upstream's.
	Raw      schemas.Raw   `json:"metadata"`
	Metadata eventMetadata `json:"-"`
}

// eventMetadata are the members of an event's metadata that placet reads. Those of a
// feedback_received event are an answer, as the history has it.
type eventMetadata struct {
	HistoryEntry
	Placet mark
}

// readEvent reads one file of events/.
func readEvent(file string, body []byte) (e event, err error) {
	e.Name = path.Base(file)
	if err = schemas.Decode("faber/event", e.Name, body, &e); err != nil {
		return e, err
	}
	e.Number, _, _ = layout.FaberEventName(e.Name)
	e.Metadata, e.Raw = readEventMetadata(e.Raw), nil
	e.Metadata.ReceivedAt, e.Metadata.ProvidedBy.User = e.Timestamp, cmp.Or(e.Metadata.ProvidedBy.User, e.User)
	return e, nil
}

// readEventMetadata reads the metadata of an event. What a member of another type says is
// upstream's own business, and hides no other. Upstream's writers name who answered
// in three ways: provided_by is an object, it is a name beside source, or user and
// source stand alone.
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

// word is what a member says that is text, "" for all others.
func word(value schemas.Raw) string {
	text, _ := value.Text()
	return text
}

// place is where the event happened, as people read it.
func (e event) place() string {
	if e.Step == "" {
		return e.Phase
	}
	return where(e.Phase, e.Step)
}

// mark is how placet knows its own events again.
type mark struct {
	Revision int    `json:"revision"`
	Key      string `json:"key"`
}

// ours reports whether placet wrote the event.
func (e event) ours() bool { return e.Metadata.Placet.Key != "" }

// eventLog is what has happened in a run.
type eventLog struct {
	*sources
	// events are those that can be used, in numeric order.
	events []*event
	// marked are those of them that placet wrote or that name a request.
	marked []*event
	// highest is the highest number that a file has, readable or not.
	highest int
	// notEvents are the names of files that cannot be read as events.
	notEvents []string
	// eventsOpen is true while an event may still be being written. It may be one of
	// placet's own, from before a crash: nothing is decided, or the same event would be
	// written twice.
	eventsOpen bool
	// eventsGone is true while there is no events/ although the state says that there
	// were events.
	eventsGone bool
}

// readEvents reads events/ in numeric order. What is not an event is left alone: it is
// not used, and check warns of it.
func (r *eventLog) readEvents() {
	docs := r.Snap.Under("events")
	for i := range docs {
		if d := &docs[i]; d.Kind == layout.FaberEvent || d.Kind == layout.FaberBadEvent {
			r.readEvent(d)
		}
	}
	byNumber := func(a, b *event) int { return a.Number - b.Number }
	if !slices.IsSortedFunc(r.events, byNumber) {
		slices.SortStableFunc(r.events, byNumber)
	}
	for _, e := range r.events {
		if e.ours() || e.Metadata.Placet.Revision != 0 || e.Metadata.RequestID != "" {
			r.marked = append(r.marked, e)
		}
	}
	r.missEvents(docs)
}

func (r *eventLog) readEvent(d *engine.Document) {
	name := path.Base(d.Path)
	number, _, _ := layout.FaberEventName(name)
	r.highest = max(r.highest, number)
	if d.Err != nil && d.Kind == layout.FaberEvent && r.unknown(*d) {
		r.eventsOpen = true
		r.locked(*d, "faber.locked.event")
	}
	if d.Kind == layout.FaberEvent && d.Present() {
		if e, err := engine.Parse(*d, readEvent); err == nil {
			r.events = append(r.events, e)
			return
		}
	}
	if !d.Unsettled() {
		r.notEvents = append(r.notEvents, name)
	}
}

// badEvent is a file that cannot be used as an event, and why.
type badEvent struct {
	name string
	why  templates.Message
}

// badEvents are the files that cannot be used as events, sorted by name.
func (r *eventLog) badEvents() []badEvent {
	var bad []badEvent
	for i, e := range r.events {
		if i > 0 && r.events[i-1].Number == e.Number {
			bad = append(bad, badEvent{e.Name, templates.NewMessage("faber.finding.number", "event", r.events[i-1].Name)})
		}
	}
	for _, name := range r.notEvents {
		bad = append(bad, badEvent{name, templates.NewMessage("faber.finding.event")})
	}
	slices.SortFunc(bad, func(a, b badEvent) int { return cmp.Compare(a.name, b.name) })
	return bad
}

// missEvents decides nothing while events/ is away although the state says that placet
// has written there: what has happened stands there, and would happen again. A final run
// has nothing to wait for; it only gets no events.
func (r *eventLog) missEvents(docs []engine.Document) {
	last, err := strconv.ParseFloat(string(r.State.LastEventID), 64)
	there := slices.ContainsFunc(docs, func(d engine.Document) bool { return !d.Absent() })
	if r.eventsGone = err == nil && last > 0 && r.State.Revision != nil && !there && !r.foreign(); !r.eventsGone || final(r.State.status) {
		return
	}
	r.eventsOpen = true
	r.Notes.Beside(r.Doc.Path, r.Say("faber.note.events", "last", fmt.Sprintf("%.0f", last), "next", fmt.Sprintf("%.0f", last+1)))
}

// unknown reports whether an event cannot be read at this moment, though it may
// be one of placet's own: it may still be being written, or the disk refuses
// for now. A folder or a loop of links never becomes a file that can be read.
func (r *sources) unknown(d engine.Document) bool {
	var errno syscall.Errno
	if !d.Absent() && errors.As(d.Err, &errno) && errno != syscall.ELOOP && errno != syscall.EISDIR {
		r.WakeAt(r.Snap.Now.Add(retry))
		return true
	}
	return d.Unsettled()
}

// locked says beside state.json what waits for a file that placet may not read:
// somebody must allow it, or nothing ever goes on.
func (r *sources) locked(d engine.Document, waits templates.Key) {
	if errors.Is(d.Err, fs.ErrPermission) {
		r.Notes.Beside(r.Doc.Path, r.Say(waits, "error", d.Err))
	}
}

// retry is when a file that the disk refused is looked at again.
const retry = time.Second

// nextID is what events/.next-id says; 0 where it says nothing usable.
func (r *eventLog) nextID() int {
	d := r.Snap.In("events/.next-id")
	n, err := strconv.Atoi(strings.TrimSpace(string(d.Body)))
	if d.Err != nil || err != nil || n < 0 || n > layout.MostFaberEvents {
		return 0
	}
	return n
}

// hasEvents reports whether the run keeps events at all: a plan layout may not, and
// none are kept while those before are gone.
func (r *eventLog) hasEvents() bool {
	return r.Snap.Class == layout.FaberRun && !r.eventsGone || len(r.Snap.Under("events")) > 0
}

// startedStep reports whether an event says that somebody began a step.
func (r *eventLog) startedStep(phase, step string) bool {
	return slices.ContainsFunc(r.events, func(e *event) bool {
		return e.Type == "step_start" && e.Step == step && (e.Phase == "" || e.Phase == phase)
	})
}

// newEvent is an event that a state calls for. One about a request is known by its type
// and the id of the request, whoever wrote it and whatever step it names.
type newEvent struct {
	event
	metadata schemas.Object
}

// event is a new event about a request, at its phase.
func (o *openRequest) event(typ, step, status, user string, metadata schemas.Object) newEvent {
	e := newEvent{metadata: metadata}
	e.Type, e.Phase, e.Step, e.Status, e.User, e.Metadata.RequestID = typ, o.q.phase, step, status, user, o.a.ID
	return e
}

// key is the identity of placet's events: the same work has the same name, so
// a pass that is repeated finds what it wrote.
func (r *eventLog) key(revision int, e newEvent, ordinal int) string {
	parts := fmt.Sprintf("%s\n%d\n%s\n%s\n%s\n%d\n", r.Snap.Key.ID, revision, e.Type, e.Phase, e.Step, ordinal)
	return engine.Sum([]byte(parts)).Hex()[:12]
}

// there reports whether an event stands already: one of a request by the request's
// id, whoever wrote it, all others by key.
func (r *eventLog) there(e newEvent, key string) bool {
	return slices.ContainsFunc(r.marked, func(have *event) bool {
		return e.Metadata.RequestID != "" && have.Type == e.Type && have.Metadata.RequestID == e.Metadata.RequestID || have.Metadata.Placet.Key == key
	})
}

// emit plans the events of a revision that are not there yet, and .next-id. It
// returns the highest event number after them.
func (r *eventLog) emit(p *engine.Plan, revision int, at time.Time, list []newEvent) int {
	highest := r.highest
	if !r.hasEvents() {
		return highest
	}
	next := max(r.nextID(), highest+1)
	stamp := r.notBefore(at)
	wrote := false
	for i, e := range list {
		key := r.key(revision, e, i)
		if r.there(e, key) {
			continue
		}
		if next > layout.MostFaberEvents {
			r.CannotWrite(templates.Errorf("faber.note.numbers", "number", layout.MostFaberEvents))
			return highest
		}
		e.Number, e.Timestamp = next, millis(stamp)
		p.Writes = append(p.Writes, r.eventDoc(e, mark{revision, key}))
		highest, next, wrote = next, next+1, true
	}
	if wrote || r.isNextIDDue() {
		r.put(p, "events/.next-id", layout.FaberNextID, []byte(strconv.Itoa(next)+"\n"))
	}
	return highest
}

// isNextIDDue reports whether .next-id lags behind an event that placet wrote:
// a crash came between the two.
func (r *eventLog) isNextIDDue() bool {
	last := r.newest()
	return last.ours() && !r.foreign() && last.Number == r.highest && r.nextID() <= last.Number
}

// put plans a document that placet replaces. One that cannot be read is left alone: nobody
// could say what would be replaced.
func (r *sources) put(p *engine.Plan, name, kind string, body []byte) {
	if d := r.Snap.In(name); (d.Err == nil || d.Absent()) && d.Sum != engine.Sum(body) {
		p.Writes = append(p.Writes, engine.Document{Path: d.Path, Kind: kind, Body: body, Over: d.Sum})
	}
}

// notBefore is the time of a new event: never before that of the newest.
func (r *eventLog) notBefore(at time.Time) time.Time {
	if newest := moment(r.newest().Timestamp); newest.After(at) {
		return newest
	}
	return at
}

// newest is the last event, empty where there is none.
func (r *eventLog) newest() event {
	if len(r.events) == 0 {
		return event{}
	}
	return *r.events[len(r.events)-1]
}

// eventDoc is the document of a new event.
func (r *eventLog) eventDoc(e newEvent, own mark) engine.Document {
	e.RunID, e.Source, e.User = r.Snap.Key.ID, "placet", cmp.Or(e.User, "placet")
	e.Raw = run.Must(schemas.Encode(append(slices.Clip(e.metadata), schemas.Member{Name: "placet", Value: own})))
	return engine.Document{
		Path: r.Path(fmt.Sprintf("events/%03d-%s.json", e.Number, e.Type)), Kind: layout.FaberEvent,
		Body: run.Must(schemas.Encode(e.event)),
	}
}

// moment reads a time of a document, the zero time where it is none.
func moment(text string) time.Time { return run.Text(text).Time() }

// millis and seconds are the two precisions that FABER's files use.
func millis(t time.Time) string  { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
func seconds(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

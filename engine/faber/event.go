package faber

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
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
	return e.completed(), nil
}

// readOwnEvent is [readEvent] of one that this machine wrote.
func readOwnEvent(file string, body []byte) (e event, err error) {
	e.Name = path.Base(file)
	if err = schemas.DecodeOwn(e.Name, body, &e); err != nil {
		return e, err
	}
	return e.completed(), nil
}

// completed is the event with what follows from its name and its metadata.
func (e event) completed() event {
	e.Number, _, _ = layout.FaberEventName(e.Name)
	e.Metadata, e.Raw = readEventMetadata(e.Raw), nil
	e.Metadata.ReceivedAt, e.Metadata.ProvidedBy.User = e.Timestamp, cmp.Or(e.Metadata.ProvidedBy.User, e.User)
	return e
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

// of reports whether the event is about a step.
func (e event) of(step plannedStep) bool {
	return e.Step == step.ID && (e.Phase == "" || e.Phase == step.Phase)
}

// mark is how placet knows its own events again.
type mark struct {
	Revision int    `json:"revision"`
	Key      string `json:"key"`
}

// ours reports whether placet wrote the event.
func (e event) ours() bool { return e.Metadata.Placet.Key != "" }

// moment reads a time of a document, the zero time where it is none.
func moment(text string) time.Time { return run.Text(text).Time() }

// millis and seconds are the two precisions that FABER's files use.
func millis(t time.Time) string  { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
func seconds(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// newEvent is an event that a state calls for. One about a request is known by its type
// and the id of the request, whoever wrote it and whatever step it names.
type newEvent struct {
	event
	metadata schemas.Object
}

// event is a new event about a request, at its phase.
func (o *request) event(typ, step, status, user string, metadata schemas.Object) newEvent {
	e := newEvent{metadata: metadata}
	e.Type, e.Phase, e.Step, e.Status, e.User, e.Metadata.RequestID = typ, o.q.phase, step, status, user, o.folder.ID
	return e
}

// key is the identity of placet's events: the same work has the same name, so
// a pass that is repeated finds what it wrote.
func (e newEvent) key(run string, revision, ordinal int) string {
	parts := fmt.Sprintf("%s\n%d\n%s\n%s\n%s\n%d\n", run, revision, e.Type, e.Phase, e.Step, ordinal)
	return engine.Sum([]byte(parts)).Hex()[:12]
}

// there reports whether an event stands already: one of a request by the request's
// id, whoever wrote it, all others by key.
func (l *eventLog) there(e newEvent, key string) bool {
	return slices.ContainsFunc(l.marked, func(have *event) bool {
		return e.Metadata.RequestID != "" && have.Type == e.Type && have.Metadata.RequestID == e.Metadata.RequestID || have.Metadata.Placet.Key == key
	})
}

// emit plans the events of a revision that are not there yet, and .next-id. It
// returns the highest event number after them.
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
		e.Number, e.Timestamp = next, millis(stamp)
		p.Writes = append(p.Writes, e.document(r, mark{revision, key}))
		highest, next, wrote = next, next+1, true
	}
	if wrote || !r.foreign() && r.events.lacksNumber() {
		r.put(p, "events/.next-id", layout.FaberNextID, []byte(strconv.Itoa(next)+"\n"))
	}
	return highest
}

// document is the file of a new event.
func (e newEvent) document(r *view, own mark) engine.Document {
	e.RunID, e.Source, e.User = r.Snap.Key.ID, "placet", cmp.Or(e.User, "placet")
	e.Raw = run.Must(schemas.Encode(append(slices.Clip(e.metadata), schemas.Member{Name: "placet", Value: own})))
	return engine.Document{
		Path: r.Path(fmt.Sprintf("events/%03d-%s.json", e.Number, e.Type)), Kind: layout.FaberEvent,
		Body: run.Must(schemas.Encode(e.event)),
	}
}

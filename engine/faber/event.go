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

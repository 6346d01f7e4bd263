package faber

import (
	"cmp"
	"path"
	"time"

	"placet/engine/gate"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
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

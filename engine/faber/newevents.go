package faber

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"placet/engine"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

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
			r.kernel.CannotWrite(templates.Errorf("faber.note.numbers", "number", layout.MostFaberEvents))
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

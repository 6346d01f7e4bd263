package ask

import (
	"path"
	"time"

	"placet/engine"
	"placet/engine/run"
	"placet/schemas"
	"placet/templates"
)

// reuseFile is the file in which placet ask counts how often it gave the answer of a key to a
// caller. No pass writes it, and it decides nothing: it is only shown.
const reuseFile = "reuse.json"

// Reuse says how often an answer was used, as far as that was counted.
type Reuse struct {
	Times   int    `json:"times"`
	FirstAt string `json:"first_at"`
	LastAt  string `json:"last_at"`
}

// mostTimes is the largest count of uses.
const mostTimes = 1_000_000_000

// ReadReuse reads reuse.json, and returns nil if there is none.
func ReadReuse(d engine.Document) (*Reuse, error) {
	switch {
	case d.Absent():
		return nil, nil
	case d.Err != nil:
		return nil, d.Err
	}
	u := &Reuse{}
	if err := schemas.Decode("ask/reuse", path.Base(d.Path), d.Body, u); err != nil {
		return nil, err
	}
	return u, nil
}

// Again returns the count with one more use; nil counts as none.
func (u *Reuse) Again(now time.Time) Reuse {
	at := string(run.Seconds(now))
	if u == nil {
		return Reuse{1, at, at}
	}
	return Reuse{min(u.Times+1, mostTimes), u.FirstAt, at}
}

// Encode returns the content of reuse.json.
func (u Reuse) Encode() ([]byte, error) {
	return schemas.Encode(append(schemas.Object{{Name: "schema_version", Value: 1}}, schemas.Struct(u)...))
}

// Entry returns the line of a log that says how often the answer was used.
func (u Reuse) Entry(lang string) engine.Entry {
	at, _ := time.Parse(time.RFC3339, u.LastAt) // without a time it comes first
	return engine.Entry{At: at, Event: "used", Message: templates.Phrase(lang, "ask.used", "n", u.Times, "first", u.FirstAt, "last", u.LastAt)}
}

// readReuse reads reuse.json once the ask is final, because the file means nothing before.
func (r *view) readReuse() {
	if r.run.Begun && r.run.State.IsFinal() {
		r.reuse, _ = run.Load[Reuse](&r.run.Input, r.run.Snap.In(reuseFile), "ask/reuse")
	}
}

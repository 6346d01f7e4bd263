package run

import "placet/engine"

// Control is control.json: what a person wants of a run.
type Control struct {
	Want   string `json:"want"`
	By     string `json:"by,omitzero"`
	Reason string `json:"reason,omitzero"`
}

// The values of [Control.Want].
const (
	WantRun   = "run"
	WantPause = "pause"
	WantAbort = "abort"
)

// ReadWish reads a document in which somebody says what they want of the run, such as
// control.json, stop.json or withdraw.json; it returns nil if there is no usable one. The
// document comes before all rules: while its content cannot be determined, [Input.Unsure]
// holds them.
func ReadWish[T any](in *Input, d engine.Document, schema string) *T {
	v, got := Load[T](in, d, schema)
	in.Unsure = in.Unsure || got == Pending
	return v
}

// Wished returns the move that such a document asks for. by is who wrote it, "" if the
// document does not say.
func Wished[S, V any](d engine.Document, by, reason string, then func(*Change[S, V])) *Move[S, V] {
	m := &Move[S, V]{Reason: reason, Causes: []engine.Document{d}, Then: then}
	if by != "" {
		m.Actor = engine.Person(by)
	}
	return m
}

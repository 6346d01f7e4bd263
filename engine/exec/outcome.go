package exec

import (
	"time"

	"placet/engine"
	"placet/layout"
	"placet/schemas"
)

// The words for how an attempt ended; see the package's documentation.
const (
	finished  = "finished"
	timedOut  = "timed_out"
	stopped   = "stopped"
	lost      = "lost"
	revoked   = "revoked" // of an action without Outcome
	unstarted = "not_started"
)

// stamp is how times are written: RFC 3339 in UTC with milliseconds.
const stamp = "2006-01-02T15:04:05.000Z07:00"

// outcome encodes the outcome document: the action's own fields first. Control
// characters grow sixfold in JSON: of outputs that would make a document larger
// than anybody reads, less is kept.
func outcome(a engine.Action, from, to time.Time, e ending) ([]byte, error) {
	if to.Before(from) { // the clock was set back meanwhile
		to = from
	}
	for {
		body, err := schemas.Encode(document(a, from, to, e))
		if err != nil || len(body) <= layout.LimitJSON || e.silent() {
			return body, err
		}
		e.stdout, e.stderr = e.stdout.half(), e.stderr.half()
	}
}

// silent reports whether nothing is kept of the outputs.
func (e ending) silent() bool {
	return e.stdout.Head+e.stdout.Tail+e.stderr.Head+e.stderr.Tail == ""
}

// document lists the members of an outcome; see [engine.Action] for those that
// an action asks for.
//
// finished_at is when the end was seen, which for an agent that ended while
// placet was away is later than the end. reason is there only where something
// is to be said that no output says.
func document(a engine.Action, from, to time.Time, e ending) schemas.Object {
	var doc schemas.Object
	add := func(name string, value any) {
		doc = append(doc, schemas.Member{Name: name, Value: value})
	}
	for _, f := range a.Fields {
		add(f.Name, f.Value)
	}
	if a.Judge {
		add("cwd", e.cwd)
	}
	add("started_at", from.UTC().Format(stamp))
	add("finished_at", to.UTC().Format(stamp))
	if a.Tail <= 0 {
		add("duration_ms", to.Sub(from).Milliseconds())
	}
	add("outcome", e.word)
	add("exit_code", e.code) // null where nobody saw it
	if a.Judge {
		add("timed_out", e.word == timedOut)
	}
	if a.Tail > 0 {
		add("tail", e.stdout.Tail)
	} else {
		add("stdout", e.stdout.object())
		add("stderr", e.stderr.object())
	}
	if a.Judge {
		add("matched_expected", e.matched)
		add("failing_marker", e.marker)
	}
	if e.reason != "" {
		add("reason", e.reason)
	}
	return doc
}

func (o Output) object() schemas.Object {
	return schemas.Object{
		{Name: "bytes", Value: o.Bytes},
		{Name: "head", Value: o.Head},
		{Name: "tail", Value: o.Tail},
		{Name: "truncated", Value: o.Truncated},
	}
}

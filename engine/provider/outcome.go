package provider

import (
	"time"

	"placet/engine"
	"placet/schemas"
)

// The words for how an attempt ended; see the package's documentation.
const (
	finished  = "finished"
	timedOut  = "timed_out"
	stopped   = "stopped"
	lost      = "lost"
	unstarted = "not_started"
)

// stamp is how times are written: RFC 3339 in UTC with milliseconds.
const stamp = "2006-01-02T15:04:05.000Z07:00"

// outcome encodes the outcome document: the action's own fields first.
// finished_at is when the end was seen, which for an agent that ended while
// placet was away is later than the end. reason is there only where something
// is to be said that no output says.
func outcome(fields []engine.Field, from, to time.Time, e ending) ([]byte, error) {
	if to.Before(from) { // the clock was set back meanwhile
		to = from
	}
	var doc schemas.Object
	add := func(name string, value any) {
		doc = append(doc, schemas.Member{Name: name, Value: value})
	}
	for _, f := range fields {
		add(f.Name, f.Value)
	}
	add("started_at", from.UTC().Format(stamp))
	add("finished_at", to.UTC().Format(stamp))
	add("duration_ms", to.Sub(from).Milliseconds())
	add("outcome", e.word)
	add("exit_code", codeValue(e.code))
	add("stdout", e.stdout.object())
	add("stderr", e.stderr.object())
	if e.reason != "" {
		add("reason", e.reason)
	}
	return schemas.Encode(doc)
}

// codeValue makes JSON's null of an exit code that nobody saw.
func codeValue(code *int) any {
	if code == nil {
		return nil
	}
	return *code
}

func (o Output) object() schemas.Object {
	return schemas.Object{
		{Name: "bytes", Value: o.Bytes},
		{Name: "head", Value: o.Head},
		{Name: "tail", Value: o.Tail},
		{Name: "truncated", Value: o.Truncated},
	}
}

package loop

import (
	"testing"
	"time"

	"placet/engine"
)

// A machine is stepped again when an action of its run ended, or when the same action,
// forgotten and started again, ended in another way.
func TestEndsMakeFactsDiffer(t *testing.T) {
	at := time.Date(2026, 11, 20, 18, 0, 0, 0, time.UTC)
	one, two := 1, 1
	ends := func(e engine.Ended) engine.Environment {
		return engine.Environment{Ended: map[string]engine.Ended{"x": e}}
	}
	is := engine.Ended{Began: at, At: at, Result: "finished", Exit: &one, Output: []byte("out")}
	same := is
	same.Exit, same.Output = &two, []byte("out")
	if !sameFacts(ends(is), ends(same)) {
		t.Error("equal ends are not the same")
	}
	if sameFacts(ends(is), engine.Environment{}) {
		t.Error("an end is nothing new")
	}
	for name, change := range map[string]func(*engine.Ended){
		"result": func(e *engine.Ended) { e.Result = "timed_out" },
		"exit":   func(e *engine.Ended) { e.Exit = nil },
		"output": func(e *engine.Ended) { e.Output = []byte("more") },
		"reason": func(e *engine.Ended) { e.Reason = "locked" },
		"at":     func(e *engine.Ended) { e.At = at.Add(time.Second) },
	} {
		other := is
		change(&other)
		if sameFacts(ends(is), ends(other)) {
			t.Errorf("%s: another end is the same", name)
		}
	}
}

// What an earlier placet has stored holds whatever actions ended in this process.
func TestEndsHaveNoPartInTheMark(t *testing.T) {
	without, _ := markOf(engine.Environment{})
	with, ok := markOf(engine.Environment{Ended: map[string]engine.Ended{"x": {Result: "done"}}})
	if !ok || with != without {
		t.Error("an end changes the mark of the facts")
	}
}

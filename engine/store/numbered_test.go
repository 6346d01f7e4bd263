package store_test

import (
	"errors"
	"strings"
	"testing"

	"placet/engine"
	"placet/engine/store"
	"placet/engine/store/memfs"
	"placet/layout"
)

// Another placet answers while this one looks: it writes its events after this one listed
// events/ and before this one reads the count there. It is killed before it writes its state
// document. The answer must not be recorded twice.
func TestAnEventIsNotNumberedPastOneThatTheLookDidNotFind(t *testing.T) {
	m := scene()
	m.Put(in("events/001-workflow_start.json"), "{}")
	m.Put(in("events/.next-id"), "2\n")
	s := holding(t, m)
	m.Put(in("events/.next-id"), "1\n") // so that it is read anew
	wrote := false
	m.Hook(func(c memfs.Call) error {
		if !wrote && c.Op == "open" && strings.HasSuffix(c.Name, ".next-id") {
			wrote = true
			m.Put(in("events/002-feedback_received.json"), "by the other")
			m.Put(in("events/.next-id"), "3\n")
		}
		return nil
	})
	next := doc(load(t, s), "events/.next-id")
	m.Hook(nil)
	if string(next.Body) != "3\n" || !wrote {
		t.Fatalf(".next-id says %q", next.Body)
	}
	p := engine.Plan{Writes: []engine.Document{newDoc("events/003-feedback_received.json", "by this one"), step.Writes[0]}}
	if err := s.Commit(aRun(), layout.Faber{}, p); !errors.Is(err, store.ErrConflict) {
		t.Errorf("got %v, want ErrConflict", err)
	}
	if _, there := m.Get(in("events/003-feedback_received.json")); there {
		t.Error("the event is written twice")
	}
	load(t, s)
	commit(t, s, p) // made over what stands there now
}

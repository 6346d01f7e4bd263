package store_test

import (
	"fmt"
	"testing"
	"time"

	"placet/engine"
	"placet/engine/store"
	"placet/layout"
)

// hotRuns is more runs than those whose documents are kept.
const hotRuns = 512

// manyRuns loads so many runs that the documents of earlier ones are dropped.
func manyRuns(t *testing.T, w world, s *store.Store) {
	t.Helper()
	for round := range 2 {
		for i := range hotRuns + 100 {
			run, _ := layout.Faber{}.At(fmt.Sprintf(".fractary/faber/runs/o/p/00000000-0000-0000-0000-%012d", 1000+i))
			if round == 0 {
				w.put(run.State, "{}")
			}
			if _, err := s.Load(run, layout.Faber{}, nil); err != nil {
				t.Fatal(err)
			}
		}
		w.later(time.Minute)
	}
}

func TestARestingRunRemembersWhichInodesItKnew(t *testing.T) {
	w := inMemory()
	w.put(in("state.json"), "{}")
	w.put(in("requests/r/response.json"), `{"a":1}`)
	w.later(time.Hour)
	s := w.store()
	load(t, s)
	s.Watching()
	w.later(time.Minute)
	manyRuns(t, w, s)
	expect(t, w, s, "state.json", []any{"{}"})
	manyRuns(t, w, s)
	// The same inode with new content must settle; a new inode need not.
	w.rewrite(in("requests/r/response.json"), `{"a":2}`)
	w.put(in("cancel.json"), `{}`)
	expect(t, w, s, "cancel.json", []any{`{}`})
	expect(t, w, s, "requests/r/response.json", []any{"unsettled", short, `{"a":2}`})
	manyRuns(t, w, s)
	w.put(in("requests/r/response.json"), `{"a":3}`)
	expect(t, w, s, "requests/r/response.json", []any{`{"a":3}`})
}

func TestARunThatWasVisitedAMomentAgoDoesNotRest(t *testing.T) {
	w := inMemory()
	s := w.store()
	s.Watching()
	commit(t, s, engine.Plan{Writes: []engine.Document{stateDoc("{}", ""), newDoc("requests/r/form.md", "text")}})
	load(t, s)
	for i := range hotRuns + 100 {
		if _, err := s.Load(numbered(i), layout.Faber{}, nil); err != nil {
			t.Fatal(err)
		}
	}
	// If the entry were dropped, the store would have forgotten that placet
	// wrote the form.
	expect(t, w, s, "requests/r/form.md", []any{"text"})
}

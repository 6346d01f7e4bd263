package store_test

import (
	"fmt"
	"io/fs"
	"testing"
	"time"

	"placet/engine"
	"placet/engine/store"
	"placet/layout"
)

func TestUnchangedSeesEveryChangeByStatAlone(t *testing.T) {
	for what, change := range map[string]func(w world){
		"in place":           func(w world) { w.rewrite(in("requests/r/form.md"), "y") },
		"replaced":           func(w world) { w.put(in("state.json"), `{"a":1}`) },
		"gone":               func(w world) { w.delete(in("metadata.json")) },
		"new":                func(w world) { w.put(in("requests/r/response.json"), "{}") },
		"new folder":         func(w world) { w.dir(in("events")) },
		"need changed":       func(w world) { w.rewrite("specs/a.md", "z") },
		"need appears":       func(w world) { w.put("specs/none.md", "z") },
		"glob appears":       func(w world) { w.put("glob/b.md", "z") },
		"other kind of file": func(w world) { w.delete(in("metadata.json")); w.odd(in("metadata.json"), fs.ModeNamedPipe) },
	} {
		t.Run(what, func(t *testing.T) {
			w := inMemory()
			for _, name := range []string{in("state.json"), in("metadata.json"), in("requests/r/form.md"), "specs/a.md", "glob/a.md"} {
				w.put(name, "x")
			}
			w.later(time.Hour)
			s := w.store()
			if s.Unchanged(aRun()) {
				t.Error("a run that was never loaded is called unchanged")
			}
			load(t, s, "specs/a.md", "still:specs/none.md", "glob/*.md")
			w.later(time.Minute)
			if !s.Unchanged(aRun()) {
				t.Error("nothing changed, and it is not called unchanged")
			}
			change(w)
			if s.Unchanged(aRun()) {
				t.Error("the change was not seen")
			}
		})
	}
}

func TestUnchangedIsFalseWhileAChangeMightNotShow(t *testing.T) {
	w := inMemory()
	w.put(in("state.json"), "{}")
	s := w.store()
	load(t, s)
	if s.Unchanged(aRun()) {
		t.Error("unchanged although it has not settled")
	}
	w.later(short)
	load(t, s)
	if !s.Unchanged(aRun()) {
		t.Error("not unchanged although it has settled")
	}
	w.put(in("requests/r/receipt.json"), "{}") // settled at once, yet young
	load(t, s)
	if s.Unchanged(aRun()) {
		t.Error("unchanged although the next change might not show")
	}
}

func TestUnchangedLooksAtTheStateDocumentOfAForgottenRun(t *testing.T) {
	w := inMemory()
	w.put(in("state.json"), "{}")
	w.later(time.Hour)
	s := w.store()
	s.Read(aRun().State, layout.File{Kind: engine.KindState})
	if !s.Unchanged(aRun()) {
		t.Error("changed since it was peeked at")
	}
	load(t, s)
	s.Forget(aRun())
	if !s.Unchanged(aRun()) {
		t.Error("changed since it was forgotten")
	}
	w.rewrite(in("state.json"), "{ }")
	if s.Unchanged(aRun()) {
		t.Error("the change was not seen")
	}
}

// manyRuns loads so many runs that those before rest.
func manyRuns(t *testing.T, w world, s *store.Store) {
	t.Helper()
	for round := range 2 {
		for i := range store.HotRuns + 100 {
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
	if !s.Unchanged(aRun()) {
		t.Error("a run changed by resting")
	}
	expect(t, w, s, "state.json", []any{"{}"})
	manyRuns(t, w, s)
	// Known inode, new content: it must stand still. New inode: it need not.
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
	for i := range store.HotRuns + 100 {
		if _, err := s.Load(numbered(i), layout.Faber{}, nil); err != nil {
			t.Fatal(err)
		}
	}
	// Resting, it would have forgotten that the form is placet's own.
	expect(t, w, s, "requests/r/form.md", []any{"text"})
}

package store_test

import (
	"io/fs"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine/store"
	"placet/layout"
)

// sighted is a run that was loaded long after it was written, and its sight.
func sighted(t *testing.T, w world, needs ...string) store.Sight {
	t.Helper()
	w.put(in("state.json"), `{"n": 1}`)
	w.put(in("events/001-step_start.json"), "{}")
	w.put("specs/a.md", "a")
	w.later(3 * time.Second)
	s := w.store()
	s.Sighting(true)
	return load(t, s, needs...).Sight
}

// recalled has the run taken over as the sight shows it.
func recalled(s *store.Store, sight store.Sight) bool {
	_, _, holds := s.Again().Recall(aRun(), sight, func(string, bool) bool { return true }, nil)
	return holds
}

func TestASightHoldsWhileNothingChanges(t *testing.T) {
	needs := []string{"specs/a.md", "none/b.md", "specs/*.md", "specs/*/c.md"}
	changes := map[string]struct {
		do   func(w world)
		want bool
	}{
		"nothing":                    {func(world) {}, true},
		"time":                       {func(w world) { w.later(time.Hour) }, true},
		"other content":              {func(w world) { w.rewrite(in("events/001-step_start.json"), `{"a": 1}`) }, false},
		"the same under a new inode": {func(w world) { w.put(in("state.json"), `{"n": 1}`) }, false},
		"a file less":                {func(w world) { w.delete(in("events/001-step_start.json")) }, false},
		"a file more":                {func(w world) { w.put(in("events/002-step_start.json"), "{}") }, false},
		"a request":                  {func(w world) { w.put(in("requests/r/request.json"), "{}") }, false},
		"a need":                     {func(w world) { w.rewrite("specs/a.md", "ab") }, false},
		"a need that was missing":    {func(w world) { w.put("none/b.md", "b") }, false},
		"another that matches":       {func(w world) { w.put("specs/b.md", "b") }, false},
		"another folder that may":    {func(w world) { w.put("specs/x/y.md", "b") }, false},
		"what nobody looked at":      {func(w world) { w.put("other/b.md", "b") }, true},
		"a run in another's place":   {func(w world) { w.delete(in("state.json")); w.dir(in("state.json")) }, false},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			worlds(t, func(t *testing.T, w world) {
				sight := sighted(t, w, needs...)
				if sight.Zero() {
					t.Fatal("no sight of files that are old enough")
				}
				change.do(w)
				stores := []*store.Store{w.store()}
				if root := w.fs.Root(); root != "/workspace" {
					stores = append(stores, store.New(store.OS(root), store.Options{}))
				}
				for _, s := range stores {
					if got := s.Holds(aRun().Dir, sight); got != change.want {
						t.Errorf("it holds: %t, want %t", got, change.want)
					}
					if got := recalled(s, sight); got != change.want {
						t.Errorf("it is recalled: %t, want %t", got, change.want)
					}
				}
			})
		})
	}
}

// What is younger than the coarsest clock's tick may change without a sign.
func TestThereIsNoSightOfWhatIsYoung(t *testing.T) {
	w := inMemory() // its times are the clock's
	sighted(t, w)
	s := w.store()
	s.Sighting(true)
	w.put("specs/a.md", "b")
	w.later(1900 * time.Millisecond)
	if got := load(t, s, "specs/a.md").Sight; !got.Zero() {
		t.Errorf("a sight of a file that is 1.9 s old: %q", got.Names)
	}
	w.later(200 * time.Millisecond)
	if load(t, s, "specs/a.md").Sight.Zero() {
		t.Error("no sight of a file that is 2.1 s old")
	}
	s.Sighting(false)
	if !load(t, s).Sight.Zero() {
		t.Error("a sight that nobody asked for")
	}
}

func TestAStateDocumentsSight(t *testing.T) {
	w := inMemory() // its times are the clock's
	sighted(t, w)
	s := w.store()
	sight := s.SightState(aRun())
	if sight.Zero() || !s.HoldsState(aRun(), sight) || !s.Holds(aRun().Dir, sight) {
		t.Error("it does not hold at once")
	}
	w.put(in("events/002-step_start.json"), "{}")
	if !s.HoldsState(aRun(), sight) {
		t.Error("another file ends it")
	}
	w.put(in("state.json"), `{"n": 1}`)
	if s.HoldsState(aRun(), sight) || !s.SightState(aRun()).Zero() {
		t.Error("it holds for another inode")
	}
	w.delete(in("state.json"))
	w.later(time.Minute)
	if s.HoldsState(aRun(), s.SightState(aRun())) || s.HoldsState(aRun(), store.Sight{}) {
		t.Error("it holds for nothing")
	}
}

// An answer to a run that was recalled is new, as it would be had the run been
// loaded; what was there is not.
func TestARecalledRunKnowsWhatIsNew(t *testing.T) {
	w := inMemory() // its times are the clock's
	w.put(in("requests/r/request.json"), "{}")
	sight := sighted(t, w)
	s := w.store()
	if !recalled(s, sight) {
		t.Fatal("it does not hold")
	}
	s.Watching()
	w.put(in("requests/r/response.json"), `{"response": "approve"}`)
	if d := doc(load(t, s), in("requests/r/response.json")); d.Err != nil {
		t.Errorf("a whole answer under a new inode: %v", d.Err)
	}
	w.rewrite(in("state.json"), `{"b": 1}`)
	if d := doc(load(t, s), in("state.json")); !d.Unsettled() {
		t.Errorf("other content under an inode that was there: %v", d.Err)
	}
}

func TestAFolderIsListedWithoutLookingAtItsNames(t *testing.T) {
	w := machine(t)
	w.put("d/b", "")
	w.put("d/c/x", "")
	w.odd("d/a", fs.ModeSymlink)
	w.odd("d/f", fs.ModeNamedPipe)
	bare, plain := store.New(store.OS(w.fs.Root()), store.Options{}), w.store()
	for _, dir := range []string{"d", "none", "d/b", "d/a"} {
		got, err := bare.List(dir)
		if err != nil {
			t.Fatal(err)
		}
		want, err := plain.List(dir)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(append([]layout.Entry{}, want...), append([]layout.Entry{}, got...)); diff != "" {
			t.Errorf("%s (-by stat +by the folder):\n%s", dir, diff)
		}
	}
}

package store_test

import (
	"errors"
	"maps"
	"path"
	"syscall"
	"testing"
	"time"

	"placet/engine"
	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/engine/store/memfs"
	"placet/layout"
)

// These are plans of a run that has no state document.
var plansWithoutState = map[string]engine.Plan{
	"document": {Writes: []engine.Document{newDoc("context.md", "C")}},
	"request":  {Writes: []engine.Document{newDoc("requests/r1/request.json", "{}")}},
	"line":     {Lines: []engine.Line{{Path: in("history.jsonl"), Body: []byte("{}\n")}}},
}

// away renames a folder.
func (w world) away(t *testing.T, from, to string) {
	t.Helper()
	if err := w.fs.Rename(from, to, fs.Exclusive); err != nil {
		t.Fatal(err)
	}
}

// wantMoved commits a plan and expects ErrConflict, and that nothing was made at a
// folder.
func (w world) wantMoved(t *testing.T, s *store.Store, p engine.Plan, dir string) {
	t.Helper()
	if err := s.Commit(aRun(), layout.Faber{}, p); !errors.Is(err, store.ErrConflict) {
		t.Errorf("got %v, want ErrConflict", err)
	}
	if _, err := w.fs.Stat(dir); err == nil {
		t.Errorf("%s was made", dir)
	}
}

func TestAPlanWithoutStateMakesTheFolderOfARunBelowOneThatIsThere(t *testing.T) {
	parent := path.Dir(aRun().Dir)
	for name, p := range plansWithoutState {
		t.Run(name, func(t *testing.T) {
			worlds(t, func(t *testing.T, w world) {
				w.dir(parent)
				s := w.store()
				load(t, s)
				commit(t, s, p)
				for _, d := range p.Writes {
					if body, ok := w.get(d.Path); !ok || body != string(d.Body) {
						t.Errorf("%s is %q, %v", d.Path, body, ok)
					}
				}
			})
		})
	}
}

func TestAPlanWithoutStateGivesWayWhereTheFolderAboveIsGone(t *testing.T) {
	parent := path.Dir(aRun().Dir)
	for name, p := range plansWithoutState {
		t.Run(name, func(t *testing.T) {
			worlds(t, func(t *testing.T, w world) {
				w.dir(parent)
				s := w.store()
				load(t, s)
				w.away(t, parent, parent+"-away")
				w.wantMoved(t, s, p, parent)
			})
		})
	}
}

// gone makes a look find the run's folder, somebody remove it, and every kind of plan
// come too late; then it calls then.
func gone(t *testing.T, between func(*store.Store), then func(t *testing.T, s *store.Store, p engine.Plan)) {
	plans := map[string]engine.Plan{"begins": {Writes: []engine.Document{stateDoc("S1", "")}}}
	maps.Copy(plans, plansWithoutState)
	for name, p := range plans {
		t.Run(name, func(t *testing.T) {
			worlds(t, func(t *testing.T, w world) {
				w.put(in("inputs.json"), "{}")
				s := w.store()
				load(t, s)
				w.away(t, aRun().Dir, aRun().Dir+"-away")
				between(s)
				w.wantMoved(t, s, p, aRun().Dir)
				then(t, s, p)
			})
		})
	}
}

// The look found the folder, so somebody has removed it since; only a look that finds
// it gone may lead to a new one.
func TestAFolderThatALookHasFoundIsNotMadeBeforeTheNextOne(t *testing.T) {
	gone(t, func(*store.Store) {}, func(t *testing.T, s *store.Store, p engine.Plan) {
		load(t, s)
		commit(t, s, p)
	})
}

// A plan may wait for its round while a walk finds that the run is gone and forgets
// it: what was known of the run when the plan was made still counts.
func TestTheFolderOfARunThatWasForgottenIsNotMade(t *testing.T) {
	gone(t, func(s *store.Store) { s.Forget(aRun()) }, func(*testing.T, *store.Store, engine.Plan) {})
}

func TestTheFolderOfARunThatHadAStateIsNotMadeByAPlanWithoutOne(t *testing.T) {
	for name, p := range plansWithoutState {
		t.Run(name, func(t *testing.T) {
			worlds(t, func(t *testing.T, w world) {
				w.put(in("state.json"), "S0")
				s := w.store()
				load(t, s)
				w.away(t, aRun().Dir, aRun().Dir+"-away")
				load(t, s)
				w.wantMoved(t, s, p, aRun().Dir)
				s.Forget(aRun()) // as of a run that has ended
				load(t, s)
				w.wantMoved(t, s, p, aRun().Dir)
				commit(t, s, engine.Plan{Writes: []engine.Document{stateDoc("S1", "")}})
			})
		})
	}
}

// A folder below the run's own that a look has found is not made anew before another
// look has missed it: it may be renamed away only for a moment.
func TestAFolderOfARunThatVanishedIsNotMadeBeforeALookMissesIt(t *testing.T) {
	plans := map[string]engine.Plan{
		"document": {Writes: []engine.Document{newDoc("events/002-b.json", "{}")}},
		"state":    {Writes: []engine.Document{newDoc("events/002-b.json", "{}"), stateDoc("S1", "S0")}},
	}
	for name, p := range plans {
		t.Run(name, func(t *testing.T) {
			worlds(t, func(t *testing.T, w world) {
				w.put(in("state.json"), "S0")
				w.put(in("events/001-a.json"), "{}")
				s := w.store()
				if missed := load(t, s).Missed; !missed.IsZero() {
					t.Errorf("a folder is missed since %v", missed)
				}
				w.away(t, in("events"), in("away"))
				w.wantMoved(t, s, p, in("events"))
				check(t, w, map[string]string{in("state.json"): "S0"})
				w.later(time.Second)
				if missed := load(t, s).Missed; !missed.Equal(w.clock.now()) {
					t.Errorf("missed since %v, want %v", missed, w.clock.now())
				}
				commit(t, s, p)
				if missed := load(t, s).Missed; !missed.IsZero() {
					t.Errorf("missed since %v, though it is there", missed)
				}
			})
		})
	}
}

// A document that placet wrote and somebody removed is missed for a while; one that
// placet itself removed is not.
func TestADocumentOfOursThatVanishedIsMissed(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		w.put(in("state.json"), "S0")
		w.put(in("response.json"), "{}")
		s := w.store()
		load(t, s)
		commit(t, s, engine.Plan{Writes: []engine.Document{newDoc("resume.md", "R"), newDoc("context.md", "C")}})
		load(t, s)
		commit(t, s, engine.Plan{Removes: []string{in("resume.md")}})
		w.delete(in("response.json"))
		if missed := load(t, s).Missed; !missed.IsZero() {
			t.Errorf("missed since %v, though nobody took anything of ours", missed)
		}
		w.delete(in("context.md"))
		at := w.clock.now()
		for _, later := range []time.Duration{0, time.Second} {
			w.later(later)
			if missed := load(t, s).Missed; !missed.Equal(at) {
				t.Errorf("missed since %v, want %v", missed, at)
			}
		}
		w.later(2 * time.Second)
		if missed := load(t, s).Missed; !missed.IsZero() {
			t.Errorf("missed since %v, though it has been gone for long", missed)
		}
	})
}

// A document of ours that is not looked at any more, because it is immutable, is not
// missed.
func TestADocumentAtRestIsNotMissed(t *testing.T) {
	w := inMemory()
	s := longHistory(t, w)
	commit(t, s, engine.Plan{Writes: []engine.Document{newDoc(event(101), `{"event_id": 101}`), newDoc(event(102), `{"event_id": 102}`)}})
	for range 4 {
		w.later(time.Minute)
		if missed := load(t, s).Missed; !missed.IsZero() {
			t.Fatalf("missed since %v", missed)
		}
	}
}

// A run whose state document disappears during a commit is being removed: at no
// moment may a new file of the commit stay in it.
func TestNothingIsCreatedInARunWhoseStateGoes(t *testing.T) {
	owed := engine.Plan{Writes: []engine.Document{newDoc("resume.md", "R"), newDoc("context.md", "C")}}
	for name, p := range map[string]engine.Plan{"owed": owed, "step": step} {
		gaveWay, calls := 0, 0
		for k := 1; k == calls+1; k++ {
			m := scene()
			s := quiet(m)
			load(t, s)
			from := m.Calls()
			m.Hook(func(c memfs.Call) error {
				if _, there := m.Get(in("state.json")); c.N == from+k && there {
					calls = k
					m.Delete(in("state.json"))
				}
				return nil
			})
			err := s.Commit(aRun(), layout.Faber{}, p)
			m.Hook(nil)
			noTemps(t, m)
			if err == nil {
				continue
			}
			gaveWay++
			if !errors.Is(err, store.ErrConflict) {
				t.Fatalf("%s, call %d: %v", name, k, err)
			}
			for _, d := range p.Writes {
				if _, there := m.Get(d.Path); there && d.Over == "" {
					t.Errorf("%s: the state went at call %d, and %s stays", name, k, d.Path)
				}
			}
		}
		if gaveWay < 4 {
			t.Errorf("%s: %d of %d commits gave way", name, gaveWay, calls)
		}
	}
}

// A folder that is renamed away and back during a look must not appear half full.
func TestALookDuringWhichAFolderIsAwayIsMadeAgain(t *testing.T) {
	for what, away := range map[string]func(c memfs.Call) bool{
		"the folder": func(c memfs.Call) bool { return c.Op == "stat" && path.Base(c.Name) == "events" },
		"a file":     func(c memfs.Call) bool { return c.Op == "open" && path.Base(c.Name) == "002-b.json" },
	} {
		m := scene()
		names := []string{"events/001-a.json", "events/002-b.json", "events/003-c.json"}
		for _, name := range names {
			m.Put(in(name), `{"event_id": 1}`)
		}
		m.Later(time.Hour)
		times := 0
		m.Hook(func(c memfs.Call) error {
			if !away(c) || times > 0 {
				return nil
			}
			times++
			return syscall.ENOENT
		})
		l := load(t, quiet(m))
		for _, name := range names {
			if d := doc(l, name); times != 1 || d.Absent() {
				t.Errorf("%s is away %d times: %s: %v", what, times, name, d.Err)
			}
		}
	}
}

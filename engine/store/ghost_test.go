package store_test

import (
	"errors"
	"maps"
	"path"
	"testing"

	"placet/engine"
	"placet/engine/store"
	"placet/layout"
)

// Plans of a run that has no state document.
var plansWithoutState = map[string]engine.Plan{
	"document": {Writes: []engine.Document{newDoc("context.md", "C")}},
	"request":  {Writes: []engine.Document{newDoc("requests/r1/request.json", "{}")}},
	"line":     {Lines: []engine.Line{{Path: in("history.jsonl"), Body: []byte("{}\n")}}},
}

// away renames a folder.
func (w world) away(t *testing.T, from, to string) {
	t.Helper()
	if err := w.fs.Rename(from, to, store.Exclusive); err != nil {
		t.Fatal(err)
	}
}

// wantMoved commits a plan and expects that it gives way, with nothing made at a
// folder.
func (w world) wantMoved(t *testing.T, s *store.Store, p engine.Plan, dir string) {
	t.Helper()
	if err := s.Commit(aRun(), layout.Faber{}, p); !errors.Is(err, store.ErrMoved) {
		t.Errorf("got %v, want ErrMoved", err)
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

// gone has a look find the run's folder, somebody take it away, and every kind of plan
// come too late; then is what else happens.
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

// The folder was there at the look, so somebody took it away since; only a look
// that finds it gone may lead to another.
func TestAFolderThatALookHasFoundIsNotMadeBeforeTheNextOne(t *testing.T) {
	gone(t, func(*store.Store) {}, func(t *testing.T, s *store.Store, p engine.Plan) {
		load(t, s)
		commit(t, s, p)
	})
}

// A plan may wait for its round while a walk finds the run gone, which is forgotten
// then: what was known of it when the plan was made counts all the same.
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

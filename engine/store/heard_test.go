package store_test

import (
	"testing"
	"time"

	"placet/engine"
	"placet/engine/store"
	"placet/layout"
)

// A look with named folders sees these, the run's own folder, and what this store has
// written; everything else is as the look before found it, until a look at everything.
func TestALookAtWhatWasHeardOf(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		run, _ := layout.Pal{}.At(".pal/orchestrations/shop/state.json")
		at := func(rel string) string { return run.Dir + "/" + rel }
		const a, b, spec = "sessions/build/A/impl/result-1.json", "sessions/build/B/impl/result-1.json", "ports/A.md"
		for _, name := range []string{at("state.json"), at("orchestration.json"), at(a), at(b), at("sessions/build/A/session.json"), spec} {
			w.put(name, `{"v": 1}`)
		}
		w.later(time.Hour)
		s := w.store()
		look := func(dirs ...string) map[string]string {
			t.Helper()
			var loaded store.Loaded
			var err error
			if dirs == nil {
				loaded, err = s.Load(run, layout.Pal{}, []string{spec})
			} else {
				loaded, err = s.LoadHeard(run, layout.Pal{}, []string{spec}, dirs)
			}
			if err != nil {
				t.Fatal(err)
			}
			bodies := map[string]string{}
			for _, d := range loaded.Docs {
				if d.Present() {
					bodies[d.Path] = string(d.Body)
				}
			}
			return bodies
		}
		wants := func(what string, got map[string]string, name, want string) {
			t.Helper()
			if got[name] != want {
				t.Errorf("%s: %s is %q, expected %q", what, name, got[name], want)
			}
		}
		look()
		s.Watching()
		for _, name := range []string{at("orchestration.json"), at(a), at(b), spec} {
			w.put(name, `{"v": 2}`)
		}
		w.put(at("sessions/build/B/impl/result-2.json"), `{"v": 2}`)
		w.later(time.Hour)
		got := look(at("sessions/build/A/impl"))
		wants("the run's own folder", got, at("orchestration.json"), `{"v": 2}`)
		wants("the folder that was named", got, at(a), `{"v": 2}`)
		wants("another", got, at(b), `{"v": 1}`)
		wants("a new name in another", got, at("sessions/build/B/impl/result-2.json"), "")
		wants("a folder outside", got, spec, `{"v": 1}`)

		// Changes by the store itself are seen without being named.
		err := s.Commit(run, layout.Pal{}, engine.Plan{Writes: []engine.Document{
			{Path: at("sessions/build/A/session.json"), Kind: layout.PalSession, Body: []byte(`{"v": 3}`), Over: engine.Sum([]byte(`{"v": 1}`))},
			{Path: at("channels/A/messages/0001-impl-result.json"), Kind: layout.PalMessage, Body: []byte(`{"v": 3}`)},
		}, Removes: []string{at(b)}})
		if err != nil {
			t.Fatal(err)
		}
		look("ports")
		w.later(time.Second)
		got = look("elsewhere") // what was named had to stand still first
		wants("what was replaced", got, at("sessions/build/A/session.json"), `{"v": 3}`)
		wants("what was created", got, at("channels/A/messages/0001-impl-result.json"), `{"v": 3}`)
		wants("what was removed", got, at(b), "")
		wants("the folder outside that was named", got, spec, `{"v": 2}`)

		w.put(at("sessions/build/C/impl/result-1.json"), `{"v": 4}`)
		w.later(time.Hour)
		wants("a new folder that nobody named", look("ports"), at("sessions/build/C/impl/result-1.json"), "")
		if same, _ := s.Unchanged(run, layout.Pal{}, lookOf(t, s, run)); same {
			t.Error("the scan finds nothing changed")
		}
		wants("a look at all", look(), at("sessions/build/C/impl/result-1.json"), `{"v": 4}`)
		const message = "channels/D/messages/0001-test-query.json"
		w.put(at("channels/D/channel.json"), `{"v": 4}`)
		w.later(time.Hour)
		wants("a new folder that was named with another below it", look(at("channels/D/messages")), at("channels/D/channel.json"), `{"v": 4}`)
		w.put(at(message), `{"v": 4}`)
		w.later(time.Hour)
		wants("a new folder that nobody named", look("ports"), at(message), "")
		wants("a new folder that was named", look(at("channels/D/messages")), at(message), `{"v": 4}`)
		w.put(at(a), `{"v": 5}`)
		w.later(time.Hour)
		s.Invalidate()
		wants("after events were lost", look("ports"), at(a), `{"v": 5}`)
	})
}

// lookOf returns the number of a look at the run's own folder alone.
func lookOf(t *testing.T, s *store.Store, run layout.Run) uint64 {
	t.Helper()
	loaded, err := s.LoadHeard(run, layout.Pal{}, nil, []string{})
	if err != nil {
		t.Fatal(err)
	}
	return loaded.Look
}

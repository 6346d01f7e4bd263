package store_test

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"placet/engine"
	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/layout"
)

// The folder of a run is renamed, or removed by git, between the look and the
// commit. No new folder takes its place, so that it can come back.
func TestTheFolderOfARunThatIsGoneIsNotMadeAnew(t *testing.T) {
	for name, p := range map[string]engine.Plan{
		"owed document":  {Writes: []engine.Document{newDoc("requests/r1/form.md", "F")}},
		"state document": {Writes: []engine.Document{newDoc("context.md", "C"), stateDoc("S1", "S0")}},
		"line":           {Lines: []engine.Line{{Path: in("history.jsonl"), Body: []byte("{}\n")}}},
	} {
		t.Run(name, func(t *testing.T) {
			w := machine(t)
			s := w.store()
			w.put(in("state.json"), "S0")
			if _, err := s.Load(aRun(), layout.Faber{}, nil); err != nil {
				t.Fatal(err)
			}
			at := filepath.Join(w.fs.Root(), aRun().Dir)
			if err := os.Rename(path.Dir(at), path.Dir(at)+"-away"); err != nil {
				t.Fatal(err)
			}
			if err := s.Commit(aRun(), layout.Faber{}, p); !errors.Is(err, store.ErrConflict) {
				t.Errorf("got %v, want ErrConflict", err)
			}
			if err := os.Rename(path.Dir(at)+"-away", path.Dir(at)); err != nil {
				t.Errorf("the folder cannot come back: %v", err)
			}
		})
	}
}

// A workspace that was moved is read and written at its new place; a folder that
// took its name is not touched, and nothing is decided.
func TestTheWorkspaceIsTheFolderAndNotItsName(t *testing.T) {
	for _, walked := range []bool{false, true} {
		if walked {
			defer fs.WithoutOpenat2()()
		}
		top := t.TempDir()
		root, moved := filepath.Join(top, "workspace"), filepath.Join(top, "moved")
		for _, dir := range []string{root + "/" + aRun().Dir, filepath.Join(top, "other", aRun().Dir)} {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		s := store.New(fs.OS(root), store.Options{})
		commit(t, s, engine.Plan{Writes: []engine.Document{stateDoc("S1", "")}})
		if reason, held := s.Paused(); held {
			t.Fatalf("held: %s", reason)
		}
		for _, m := range [][2]string{{root, moved}, {filepath.Join(top, "other"), root}} {
			if err := os.Rename(m[0], m[1]); err != nil {
				t.Fatal(err)
			}
			if reason, held := s.Paused(); !held || !strings.HasPrefix(reason, store.Gone) || reason != s.Away() {
				t.Errorf("%q, %v after %q was moved", reason, held, m[0])
			}
		}
		commit(t, s, engine.Plan{Writes: []engine.Document{newDoc("requests/r1/form.md", "F"), stateDoc("S2", "S1")}})
		for name, want := range map[string]string{in("state.json"): "S2", in("requests/r1/form.md"): "F"} {
			if body, err := os.ReadFile(filepath.Join(moved, name)); err != nil || string(body) != want {
				t.Errorf("%s in the moved workspace is %q, %v", name, body, err)
			}
		}
		if entries, err := os.ReadDir(filepath.Join(root, aRun().Dir)); err != nil || len(entries) > 0 {
			t.Errorf("in the folder that took its name: %v, %v", entries, err)
		}
		if err := os.Rename(root, filepath.Join(top, "other")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(moved, root); err != nil {
			t.Fatal(err)
		}
		if reason, held := s.Paused(); held {
			t.Errorf("held when it is back: %s", reason)
		}
	}
}

package faber

import (
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"placet/engine"
	"placet/internal/enginetest"
	"placet/layout"
	"placet/schemas"
)

// world is a FABER run on a stage.
type world struct{ *enginetest.Stage }

func newWorld(t *testing.T, dir string) *world {
	run, ok := layout.Faber{}.At(dir + "/state.json")
	if !ok {
		run = layout.Run{Family: "faber", ID: dir, Dir: dir, Class: layout.FaberPlan, State: dir + "/state.json"}
	}
	config := engine.Config{Language: "en", Family: DefaultConfig()}
	return &world{enginetest.NewStage(t, New(), layout.Faber{}, run, config)}
}

// load copies a folder of real files into the world.
func (w *world) load(from, to string) {
	w.T.Helper()
	err := filepath.WalkDir(from, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(from, p)
		body, err := os.ReadFile(p)
		w.Put(path.Join(to, filepath.ToSlash(rel)), string(body))
		return err
	})
	if err != nil {
		w.T.Fatal(err)
	}
}

func (w *world) config(change func(*Config)) {
	c := w.Facts.Config.Family.(Config)
	change(&c)
	w.Facts.Config.Family = c
}

// settle steps until nothing is left to do, and returns the run's edges taken.
func (w *world) settle() []string {
	w.T.Helper()
	var taken []string
	for _, t := range w.Settle() {
		if t.Of == "run" {
			taken = append(taken, t.Event)
		}
	}
	return taken
}

// state reads the run's state.json.
func (w *world) state() State {
	w.T.Helper()
	var st State
	if err := schemas.Decode("faber/state", "state.json", []byte(w.Files[w.Run.State]), &st); err != nil {
		w.T.Fatal(err)
	}
	return st
}

// events lists the names of the run's events in order.
func (w *world) events() []string {
	var names []string
	for p := range w.Files {
		if path.Dir(p) == w.In("events") && strings.HasSuffix(p, ".json") {
			names = append(names, strings.TrimSuffix(path.Base(p), ".json"))
		}
	}
	sort.Strings(names)
	return names
}

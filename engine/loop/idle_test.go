package loop

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"placet/engine"
	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/engine/store/statcache"
	"placet/engine/watch"
)

// elderly is a file system in which every file is old.
type elderly struct{ fs.FS }

func (e elderly) Touch(name string) (time.Time, error) {
	at, err := e.FS.Touch(name)
	return at.Add(time.Minute), err
}

// stepping is a toy machine that records the runs for which it was stepped.
type stepping struct {
	toyMachine
	mu    sync.Mutex
	steps map[string]int
}

func (m *stepping) Step(s engine.Snapshot) (engine.Plan, error) {
	m.mu.Lock()
	m.steps[s.Key.ID]++
	m.mu.Unlock()
	return m.toyMachine.Step(s)
}

// times returns how often it was stepped for a run.
func (m *stepping) times(id string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.steps[id]
}

func (m *stepping) stepped() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.steps)
}

// keptBelow is a folder in which the tests keep a cache.
type keptBelow string

func (dir keptBelow) Read(name string, _ int64) ([]byte, error) {
	return os.ReadFile(filepath.Join(string(dir), ".placet", name))
}

func (dir keptBelow) Write(name string, body []byte, _ bool) error {
	return os.WriteFile(filepath.Join(string(dir), ".placet", name), body, 0o600)
}

// nextPlacet returns the next placet in a workspace.
func nextPlacet(t *testing.T, root string) (*world, *stepping) {
	m := &stepping{steps: map[string]int{}}
	return worldAt(t, root, func(o *Options) {
		o.Families = []Family{{toyLayout{}, m}}
		o.Store = store.New(elderly{fs.OS(root)}, store.Options{Log: o.Log})
		o.Cache = statcache.Open(keptBelow(root), "m", o.Store.DiskNow)
		o.Facts = func(string) engine.Environment { return engine.Environment{Config: engine.Config{Language: "en"}} }
	}), m
}

// restingToys makes a workspace with twelve runs of which all but two wait.
func restingToys(t *testing.T) string {
	w, _ := nextPlacet(t, t.TempDir())
	for i := range 12 {
		st := toyState{Target: 1}
		if i > 9 {
			st.Status = "over"
		}
		w.toy(fmt.Sprint("t", i), st)
	}
	if _, err := w.Once(context.Background()); err != nil {
		t.Fatal(err)
	}
	return w.root
}

// kept waits until a daemon has stored what its start has seen.
func (w *world) kept() {
	w.t.Helper()
	w.eventually("the start is kept", func() bool {
		s := w.serving.Load()
		return s != nil && !s.starting.Load() && w.read(".placet/statcache") != ""
	})
}

func TestAStartAsksNothingAboutRunsThatAreAsTheyWereLeft(t *testing.T) {
	root := restingToys(t)
	first, m := nextPlacet(t, root)
	s := first.serve(watch.Notify)
	first.kept()
	s.stop()
	if m.stepped() == 0 {
		t.Fatal("the first start asked nothing")
	}
	before := first.tree()
	w, m := nextPlacet(t, root)
	w.answer("t3", "more") // while no daemon was running
	s = w.serve(watch.Notify)
	w.eventually("the answer is taken", func() bool { return len(w.movedEvents()) > 0 })
	if n := m.stepped(); n != 1 {
		t.Errorf("%d runs were looked at, want the one that changed", n)
	}
	w.answer("t4", "enough")
	w.becomes("t4", "over")
	if err := w.o.Store.Flush(); err != nil {
		t.Fatal(err)
	}
	s.stop()
	for name, body := range before {
		if body != w.read(name) && name != "toys/t3/state.json" && name != "toys/t4/state.json" {
			t.Errorf("%s was changed", name)
		}
	}
}

func TestOnceAsksNothingAboutRunsThatAreAsTheyWereLeft(t *testing.T) {
	root := restingToys(t)
	var reports []Report
	var steps []int
	for range 3 {
		w, m := nextPlacet(t, root)
		r, err := w.Once(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		reports, steps = append(reports, r), append(steps, m.stepped())
	}
	if steps[1] != 0 || steps[2] != 0 {
		t.Errorf("looked at so many runs each time: %d", steps)
	}
	for _, r := range reports {
		if fmt.Sprint(r) != fmt.Sprint(reports[0]) || r.Runs != 12 || r.Waiting != 10 {
			t.Errorf("reports differ: %+v", reports)
		}
	}
	w, m := nextPlacet(t, root)
	w.o.Facts = func(string) engine.Environment { return engine.Environment{Config: engine.Config{Language: "ko"}} }
	if _, err := w.Once(context.Background()); err != nil || m.stepped() == 0 {
		t.Errorf("%v; other settings, and nothing is looked at", err)
	}
}

func TestWhatCannotBeKeptIsLookedAt(t *testing.T) {
	root := restingToys(t)
	w, _ := nextPlacet(t, root)
	w.toy("act", toyState{Status: "waiting", Act: "a1"})
	w.toy("need", toyState{Need: "git:log/1", Target: 1})
	for range 2 {
		w, m := nextPlacet(t, root)
		if _, err := w.Once(context.Background()); err != nil {
			t.Fatal(err)
		}
		if m.times("act") == 0 {
			t.Error("a run with an action to begin was not looked at")
		}
	}
}

func TestFactsHaveOneMark(t *testing.T) {
	facts := func() engine.Environment {
		return engine.Environment{
			Config:  engine.Config{Language: "en", Gates: map[string]engine.Gate{"*": {Level: "file"}}, Family: map[string]int{"a": 1}},
			Trusted: map[engine.Digest]bool{"sha256:1": true, "sha256:2": true}, Alive: map[string]bool{"x": true},
		}
	}
	want, ok := markOf(facts())
	if again, _ := markOf(facts()); !ok || again != want {
		t.Error("the same facts have two marks")
	}
	for name, change := range map[string]func(*engine.Environment){
		"language": func(f *engine.Environment) { f.Config.Language = "ko" },
		"gate": func(f *engine.Environment) {
			f.Config.Gates["*"] = engine.Gate{Level: "file", Approvers: []string{"a"}}
		},
		"family": func(f *engine.Environment) { f.Config.Family = map[string]int{"a": 2} },
		"trust":  func(f *engine.Environment) { delete(f.Trusted, "sha256:2") },
		"alive":  func(f *engine.Environment) { f.Alive = nil },
	} {
		f := facts()
		change(&f)
		if got, _ := markOf(f); got == want {
			t.Errorf("%s: other facts have the same mark", name)
		}
	}
	if _, ok := markOf(engine.Environment{Config: engine.Config{Family: func() {}}}); ok {
		t.Error("facts that cannot be written have a mark")
	}
}

// stuck is a file system that does not list the root until the test releases it.
type stuck struct {
	fs.FS
	listing, goOn chan struct{}
	once          *sync.Once
}

func (s stuck) List(dir string) ([]fs.Name, error) {
	if dir == "toys" {
		s.once.Do(func() { close(s.listing) })
		<-s.goOn
	}
	return s.FS.List(dir)
}

func TestRunsThatCouldMoveAreServedBeforeTheOthersAreKnown(t *testing.T) {
	root := restingToys(t)
	before, _ := nextPlacet(t, root)
	s := before.serve(watch.Notify)
	before.kept()
	s.stop()
	before.answer("t3", "enough")
	if err := os.RemoveAll(filepath.Join(root, "toys/t5")); err != nil {
		t.Fatal(err)
	}
	disk := stuck{elderly{fs.OS(root)}, make(chan struct{}), make(chan struct{}), new(sync.Once)}
	m := &stepping{steps: map[string]int{}}
	w := worldAt(t, root, func(o *Options) {
		o.Families = []Family{{toyLayout{}, m}}
		o.Store = store.New(disk, store.Options{Log: o.Log})
		o.Cache = statcache.Open(keptBelow(root), "m", o.Store.DiskNow)
		o.Facts = func(string) engine.Environment { return engine.Environment{Config: engine.Config{Language: "en"}} }
	})
	s = w.start(watch.Notify)
	<-disk.listing
	w.becomes("t3", "over")
	select {
	case <-s.ready:
		t.Error("it is ready though it does not know the runs")
	default:
	}
	close(disk.goOn)
	if runs := <-s.ready; runs[0] != 11 {
		t.Errorf("%d runs, want 11", runs[0])
	}
	if m.times("t5") != 0 {
		t.Error("a run that is gone was looked at")
	}
	s.stop()
}

func TestARunThatHadEndedAndChangedWhileNobodyWasThereIsServed(t *testing.T) {
	root := restingToys(t)
	before, _ := nextPlacet(t, root)
	s := before.serve(watch.Notify)
	before.kept()
	s.stop()
	w, m := nextPlacet(t, root)
	w.toy("t11", toyState{Target: 2})
	w.serve(watch.Notify)
	w.becomes("t11", "waiting")
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.steps) != 1 || m.steps["t11"] == 0 {
		t.Errorf("looked at: %v, want t11 alone", m.steps)
	}
}

// A note must disappear with its cause, even beside a run that has ended and is known from
// an earlier look: its cause may be outside the state document.
func TestARunThatHadEndedWithANoteIsServed(t *testing.T) {
	root := restingToys(t)
	before, _ := nextPlacet(t, root)
	before.toy("t11", toyState{Status: "over", Quirk: "noted"})
	for range 2 { // a pass that wrote something is not stored
		if _, err := before.Once(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	const note = "toys/t11/state.json.problem.md"
	if before.read(note) == "" {
		t.Fatal("there is no note")
	}
	w, m := nextPlacet(t, root)
	w.serve(watch.Notify)
	w.eventually("it is looked at", func() bool { return m.times("t11") > 0 })
	// The folder appears with its content: a folder without an open request is not
	// followed.
	w.put("whole/q/response.json", "{}\n")
	if err := os.Rename(w.abs("whole"), w.abs("toys/t11/requests")); err != nil {
		t.Fatal(err)
	}
	w.eventually("the note goes", func() bool { return w.read(note) == "" })
}

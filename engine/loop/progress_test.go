package loop

import (
	"encoding/json"
	"errors"
	"fmt"
	iofs "io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"placet/engine"
	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/engine/watch"
	"placet/layout"
)

// gaugeLayout is a family of runs in gauges/<id>, whose workers write w<n>/progress.json.
type gaugeLayout struct{ toyLayout }

func (gaugeLayout) Name() string    { return "gauge" }
func (gaugeLayout) Roots() []string { return []string{"gauges"} }

func gaugeRun(id string) layout.Run {
	return layout.Run{Family: "gauge", ID: id, Dir: "gauges/" + id, State: "gauges/" + id + "/state.json"}
}

func (gaugeLayout) Runs(ls layout.Lister) (runs []layout.Run, err error) {
	entries, err := ls("gauges")
	for _, e := range entries {
		if e.Dir {
			runs = append(runs, gaugeRun(e.Name))
		}
	}
	return runs, err
}

func (gaugeLayout) At(p string) (layout.Run, bool) {
	parts := strings.Split(p, "/")
	if len(parts) < 2 || parts[0] != "gauges" {
		return layout.Run{}, false
	}
	return gaugeRun(parts[1]), true
}

func (gaugeLayout) Descend(_ layout.Run, rel string) bool {
	return rel == "." || strings.HasPrefix(rel, "w") && !strings.Contains(rel, "/")
}

func (g gaugeLayout) File(run layout.Run, rel string) (layout.File, bool) {
	if path.Base(rel) == "hand.json" {
		return layout.File{Kind: "hand", Limit: layout.LimitJSON}, true
	}
	return g.toyLayout.File(run, rel)
}

func (gaugeLayout) Volatile(_ layout.Run, rel string) bool {
	return strings.HasPrefix(rel, "w") && path.Base(rel) == "progress.json"
}

// gauge is the state of a run: the number of workers, and a number of tokens at which the
// run must be looked at.
type gauge struct {
	Status  string `json:"status"`
	Workers int    `json:"workers"`
	AtLeast int    `json:"at_least"`
}

// gaugeMachine shows the progress of its workers and writes notes about unusable content.
type gaugeMachine struct {
	toyMachine
	stepped func(engine.Snapshot)
}

func (gaugeMachine) Family() string { return "gauge" }

func (gaugeMachine) ReadProgress(_ string, body []byte) (engine.Progress, error) {
	var doc struct {
		Progress *float64 `json:"progress"`
		Task     string   `json:"current_task"`
		Used     int      `json:"tokens_used"`
	}
	if err := json.Unmarshal(body, &doc); err != nil {
		return engine.Progress{}, err
	}
	if doc.Progress == nil || *doc.Progress < 0 || *doc.Progress > 1 {
		return engine.Progress{}, errors.New("progress goes from 0 to 1")
	}
	return engine.Progress{Value: *doc.Progress, Task: doc.Task, Used: doc.Used}, nil
}

func (m gaugeMachine) Step(s engine.Snapshot) (engine.Plan, error) {
	var p engine.Plan
	var st gauge
	if doc := s.In("state.json"); !doc.Present() || json.Unmarshal(doc.Body, &st) != nil {
		return p, nil
	}
	for i := range st.Workers {
		name := path.Join(s.Dir, fmt.Sprintf("w%d/progress.json", i))
		p.Needs = append(p.Needs, engine.VolatileNeed+name)
		p.Follow = append(p.Follow, path.Dir(name))
		if st.AtLeast > 0 {
			p.Thresholds = append(p.Thresholds, engine.Threshold{Path: name, AtLeast: st.AtLeast})
		}
	}
	if len(s.Lacks(p.Needs)) > 0 {
		return p, nil
	}
	m.stepped(s)
	var notes engine.Notes
	for _, need := range p.Needs {
		doc := s.Doc(need)
		err := doc.Err
		if doc.Present() {
			_, err = m.ReadProgress(need, doc.Body)
		}
		if err != nil && !doc.Absent() {
			notes.Beside(strings.TrimPrefix(need, engine.VolatileNeed), err.Error())
		}
	}
	notes.Plan(s, &p, nil)
	return p, nil
}

// told records what a loop has reported about one document.
type told struct {
	name string
	at   time.Time
	p    engine.Progress
}

// gauges is a world with such runs, with events from the test.
type gauges struct {
	*world
	fs   *listening
	sink watch.Sink

	lock  sync.Mutex
	steps []engine.Snapshot
	told  []told
}

// listening records which files are opened and which folders are listed.
type listening struct {
	fs.FS
	mu     sync.Mutex
	opened []string
	statted,
	listed int
}

func (l *listening) Open(name string, how fs.How, perm iofs.FileMode) (fs.File, error) {
	l.mu.Lock()
	l.opened = append(l.opened, name)
	l.mu.Unlock()
	return l.FS.Open(name, how, perm)
}

func (l *listening) List(dir string) ([]fs.Name, error) {
	l.mu.Lock()
	l.listed++
	l.mu.Unlock()
	return l.FS.List(dir)
}

func (l *listening) Stat(name string) (fs.Info, error) {
	l.mu.Lock()
	l.statted++
	l.mu.Unlock()
	return l.FS.Stat(name)
}

func (l *listening) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.opened, l.statted, l.listed = nil, 0, 0
}

func newGauges(t *testing.T, root string, st gauge, change ...func(*Options)) *gauges {
	g := &gauges{fs: &listening{FS: fs.OS(root)}}
	m := gaugeMachine{stepped: func(s engine.Snapshot) {
		g.lock.Lock()
		defer g.lock.Unlock()
		g.steps = append(g.steps, s)
	}}
	g.world = worldAt(t, root, append([]func(*Options){func(o *Options) {
		o.Store = store.New(g.fs, store.Options{})
		o.Families = []Family{{gaugeLayout{}, m}}
		o.Observers = append(o.Observers, Observer{Progressed: func(_ layout.Run, name string, p engine.Progress) {
			g.lock.Lock()
			defer g.lock.Unlock()
			g.told = append(g.told, told{name, time.Now(), p})
		}})
	}}, change...)...)
	g.put("gauges/a/state.json", string(encode(st)))
	for i := range st.Workers {
		g.put(fmt.Sprintf("gauges/a/w%d/hand.json", i), "{}\n")
	}
	return g
}

// hears returns a source with events from the test.
func (g *gauges) hears(s watch.Sink) (watch.Source, error) {
	g.sink = s
	return &listed{dirs: map[string]bool{}}, nil
}

// listed is a source that remembers which folders it must watch.
type listed struct {
	mute
	mu   sync.Mutex
	dirs map[string]bool
}

func (l *listed) Add(dir string) error {
	_, err := os.Lstat(dir)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dirs[dir] = err == nil
	return err
}

func (l *listed) List() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Keys(l.dirs))
}

// says writes a worker's progress, by a rename, and reports it to the watcher.
func (g *gauges) says(worker int, body string) {
	name := fmt.Sprintf("gauges/a/w%d/progress.json", worker)
	g.put(name, body)
	g.sink.Event(watch.Event{Path: g.abs(name), Entry: true})
}

func (g *gauges) events() []told {
	g.lock.Lock()
	defer g.lock.Unlock()
	return slices.Clone(g.told)
}

func (g *gauges) looks() int {
	g.lock.Lock()
	defer g.lock.Unlock()
	return len(g.steps)
}

// rests waits for the end of the first passes.
func (g *gauges) rests() {
	time.Sleep(5 * time.Second)
	synctest.Wait()
	g.fs.reset()
}

func amount(value float64, used int) string {
	return fmt.Sprintf(`{"progress": %v, "current_task": "t", "tokens_used": %d}`, value, used)
}

const progressOfW0 = "gauges/a/w0/progress.json"

func TestProgressIsReportedAndMovesNothing(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		g := newGauges(t, root, gauge{Status: "waiting", Workers: 1})
		s := g.start(g.hears)
		<-s.ready
		g.rests()
		before, tree := g.looks(), g.tree()
		for _, value := range []float64{0.2, 0.4, 0.6} {
			g.says(0, amount(value, 7))
			time.Sleep(300 * time.Millisecond)
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		got := g.events()
		if len(got) == 0 || len(got) > 2 {
			t.Fatalf("%d events: %+v", len(got), got)
		}
		if last := got[len(got)-1]; last.name != progressOfW0 || last.p != (engine.Progress{Value: 0.6, Task: "t", Used: 7}) {
			t.Errorf("the last is %+v", last)
		}
		if n := g.looks() - before; n != 0 {
			t.Errorf("%d passes", n)
		}
		if names := slices.Compact(slices.Clone(g.fs.opened)); !slices.Equal(names, []string{progressOfW0}) || len(g.fs.opened) > 3 {
			t.Errorf("opened: %q", g.fs.opened)
		}
		tree[progressOfW0] = amount(0.6, 7)
		if now := g.tree(); len(now) != len(tree) {
			t.Errorf("written: %v", now)
		}
		// The same content again, and an event without a change, are not reported.
		g.says(0, amount(0.6, 7))
		time.Sleep(2 * time.Second)
		if n := len(g.events()); n != len(got) {
			t.Errorf("%d events for nothing", n-len(got))
		}
		s.stop()
	})
}

// Fifty workers write twenty times a second: the loop gets a hundred events a second,
// reports each last value, and opens only their files.
func TestManyWorkersCostWhatTheySay(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		const workers, seconds = 10, 4
		g := newGauges(t, root, gauge{Status: "waiting", Workers: workers, AtLeast: 1 << 30})
		s := g.start(g.hears)
		<-s.ready
		g.rests()
		before := g.looks()
		for i := range 20 * seconds {
			for w := range workers {
				g.says(w, amount(float64(i)/1000, i))
			}
			time.Sleep(50 * time.Millisecond)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		got := g.events()
		last := map[string]int{}
		for i, e := range got {
			last[e.name] = e.p.Used
			within := 0
			for _, other := range got[i:] {
				if other.at.Sub(e.at) < time.Second {
					within++
				}
			}
			if within > 2*workers {
				t.Fatalf("%d events in a second", within)
			}
		}
		for name, used := range last {
			if used != 20*seconds-1 {
				t.Errorf("%s ends at %d", name, used)
			}
		}
		if len(last) != workers {
			t.Errorf("%d workers were heard of", len(last))
		}
		if n := g.looks() - before; n != 0 {
			t.Errorf("%d passes", n)
		}
		for _, name := range g.fs.opened {
			if path.Base(name) != "progress.json" {
				t.Errorf("opened: %s", name)
			}
		}
		if n := len(g.fs.opened); n > 2*workers*(seconds+2) {
			t.Errorf("%d files opened", n)
		}
		s.stop()
	})
}

func TestProgressOnceASecond(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		g := newGauges(t, root, gauge{Status: "waiting", Workers: 1}, func(o *Options) { o.ProgressHz = 1 })
		s := g.start(g.hears)
		<-s.ready
		g.rests()
		for i := range 40 {
			g.says(0, amount(float64(i)/100, i))
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(2 * time.Second)
		if got := g.events(); len(got) < 4 || len(got) > 6 || got[len(got)-1].p.Used != 39 {
			t.Errorf("%d events: %+v", len(got), got)
		}
		s.stop()
	})
}

// A threshold makes the loop look at the run once, even if it was passed while the run was
// looked at; a threshold that another plan sets counts again.
func TestAThresholdHasTheRunLookedAt(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		g := newGauges(t, root, gauge{Status: "waiting", Workers: 1, AtLeast: 100})
		s := g.start(g.hears)
		<-s.ready
		g.rests()
		before := g.looks()
		g.says(0, amount(0.5, 99))
		time.Sleep(2 * time.Second)
		if n := g.looks() - before; n != 0 {
			t.Errorf("%d passes below the threshold", n)
		}
		for _, used := range []int{100, 101, 150} {
			g.says(0, amount(0.5, used))
			time.Sleep(2 * time.Second)
		}
		if n := g.looks() - before; n != 1 {
			t.Errorf("%d passes at the threshold, want 1", n)
		}
		g.lock.Lock()
		if seen := g.steps[len(g.steps)-1].Doc(engine.VolatileNeed + progressOfW0); string(seen.Body) != amount(0.5, 100) {
			t.Errorf("the pass has seen %s", seen.Body)
		}
		g.lock.Unlock()
		g.put("gauges/a/state.json", string(encode(gauge{Status: "waiting", Workers: 1, AtLeast: 200})))
		g.sink.Event(watch.Event{Path: g.abs("gauges/a/state.json"), Entry: true})
		time.Sleep(3 * time.Second)
		before = g.looks()
		g.says(0, amount(0.6, 200))
		time.Sleep(2 * time.Second)
		if n := g.looks() - before; n != 1 {
			t.Errorf("%d passes at the next threshold, want 1", n)
		}
		s.stop()
	})
}

// Unusable content has a note, which disappears with it; half-written content has none.
func TestBadProgressHasANote(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		g := newGauges(t, root, gauge{Status: "waiting", Workers: 1})
		s := g.start(g.hears)
		<-s.ready
		g.rests()
		note := func() string { return g.read(progressOfW0 + ".problem.md") }
		for _, bad := range []string{`{"progress": 1.2}`, `{"progress": "x"}`, strings.Repeat(" ", 20<<10)} {
			before, events := g.looks(), len(g.events())
			g.says(0, amount(0.1, 1))
			time.Sleep(time.Second)
			g.says(0, bad)
			time.Sleep(3 * time.Second)
			if note() == "" {
				t.Errorf("no note about %.20q", bad)
			}
			g.says(0, bad)
			time.Sleep(3 * time.Second)
			g.says(0, amount(0.2, 2))
			time.Sleep(3 * time.Second)
			if note() != "" {
				t.Errorf("the note about %.20q stays: %s", bad, note())
			}
			if n := g.looks() - before; n > 4 { // each pass that writes looks once more
				t.Errorf("%d looks for %.20q", n, bad)
			}
			if got := g.events()[events:]; len(got) != 2 || got[1].p.Value != 0.2 {
				t.Errorf("%+v", got)
			}
		}
		before := g.looks()
		g.says(0, `{"progress": 0.3, "curr`)
		time.Sleep(time.Second)
		g.says(0, amount(0.3, 3))
		time.Sleep(3 * time.Second)
		if n := g.looks() - before; n != 0 || g.events()[len(g.events())-1].p.Value != 0.3 {
			t.Errorf("%d looks at half of a write", n)
		}
		g.says(0, `{"progress": 0.4, "curr`)
		time.Sleep(5 * time.Second)
		if note() == "" {
			t.Error("no note about what stays half of a write")
		}
		if err := os.Remove(g.abs(progressOfW0)); err != nil {
			t.Fatal(err)
		}
		g.sink.Event(watch.Event{Path: g.abs(progressOfW0), Entry: true})
		time.Sleep(3 * time.Second)
		if note() != "" {
			t.Error("the note stays without its file")
		}
		s.stop()
	})
}

// A link is not followed, and a folder or a fifo blocks nobody.
func TestProgressIsAFile(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		g := newGauges(t, root, gauge{Status: "waiting", Workers: 2})
		s := g.start(g.hears)
		<-s.ready
		g.rests()
		g.put("elsewhere.json", amount(0.9, 9))
		if err := os.Symlink(g.abs("elsewhere.json"), g.abs(progressOfW0)); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(g.abs("gauges/a/w1/progress.json"), 0o644); err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			g.sink.Event(watch.Event{Path: g.abs(fmt.Sprintf("gauges/a/w%d/progress.json", i)), Entry: true})
		}
		time.Sleep(3 * time.Second)
		for i := range 2 {
			if g.read(fmt.Sprintf("gauges/a/w%d/progress.json.problem.md", i)) == "" {
				t.Errorf("no note about worker %d", i)
			}
		}
		if got := g.events(); len(got) > 0 {
			t.Errorf("%+v", got)
		}
		s.stop()
	})
}

// Without file events the scan finds the progress.
func TestProgressWithoutEvents(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		g := newGauges(t, root, gauge{Status: "waiting", Workers: 2, AtLeast: 10})
		s := g.start(func(watch.Sink) (watch.Source, error) { return nil, syscall.EMFILE })
		<-s.ready
		g.put(progressOfW0, amount(0.1, 1))
		g.rests()
		before := g.looks()
		for i := range 20 {
			g.put(progressOfW0, amount(0.2+float64(i)/100, 2))
			time.Sleep(500 * time.Millisecond)
		}
		time.Sleep(4 * time.Second)
		synctest.Wait()
		if got := g.events(); len(got) < 4 || got[len(got)-1].p.Value != 0.39 {
			t.Errorf("%+v", got)
		}
		if n := g.looks() - before; n != 0 {
			t.Errorf("%d passes", n)
		}
		g.put(progressOfW0, amount(0.5, 10))
		time.Sleep(5 * time.Second)
		if n := g.looks() - before; n != 1 {
			t.Errorf("%d passes at the threshold", n)
		}
		s.stop()
	})
}

// The progress of a run is forgotten with the run, and its views show what its files
// contain.
func TestProgressIsForgottenWithItsRun(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		g := newGauges(t, root, gauge{Status: "waiting", Workers: 1, AtLeast: 5})
		s := g.start(g.hears)
		<-s.ready
		g.rests()
		g.says(0, amount(0.5, 5))
		time.Sleep(2 * time.Second)
		snap, _, err := g.Snapshot(Found{gaugeRun("a"), g.o.Families[0]})
		if d := snap.Doc(engine.VolatileNeed + progressOfW0); err != nil || string(d.Body) != amount(0.5, 5) {
			t.Errorf("%v: %+v", err, d)
		}
		p := g.serving.Load().progress
		if len(p.files) != 1 || len(p.runs) != 1 {
			t.Errorf("%d files of %d runs", len(p.files), len(p.runs))
		}
		g.put("gauges/a/state.json", string(encode(gauge{Status: "over"})))
		g.sink.Event(watch.Event{Path: g.abs("gauges/a/state.json"), Entry: true})
		time.Sleep(3 * time.Second)
		g.says(0, amount(0.6, 6))
		time.Sleep(2 * time.Second)
		if len(p.files) != 0 || len(p.runs) != 0 {
			t.Errorf("%d files of %d runs are remembered", len(p.files), len(p.runs))
		}
		s.stop()
	})
}

// Progress works with the events of the operating system, and for files that change in
// place.
func TestProgressOverFileEvents(t *testing.T) {
	g := newGauges(t, t.TempDir(), gauge{Status: "waiting", Workers: 3})
	g.serve(watch.Notify)
	for i := range 40 {
		for w := range 3 {
			name := g.abs(fmt.Sprintf("gauges/a/w%d/progress.json", w))
			if err := os.WriteFile(name, []byte(amount(float64(i)/100, i)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	g.eventually("the last values", func() bool {
		last := map[string]int{}
		for _, e := range g.events() {
			last[filepath.Base(filepath.Dir(e.name))] = e.p.Used
		}
		return last["w0"] == 39 && last["w1"] == 39 && last["w2"] == 39
	})
	if notes, _ := filepath.Glob(g.abs("gauges/a/*/*.problem.md")); len(notes) > 0 {
		t.Errorf("notes: %q", notes)
	}
}

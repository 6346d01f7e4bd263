package loop

import (
	"context"
	"fmt"
	iofs "io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"placet/engine"
	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/engine/watch"
)

// slow is a file system whose first sync of a content lasts until the test releases it. At
// every sync of everything it records how many state documents had been exchanged.
type slow struct {
	fs.FS
	first   sync.Once
	entered chan struct{}
	release chan struct{}

	mu        sync.Mutex
	exchanged map[string]bool
	atSync    []int
}

func newSlow(root string) *slow {
	return &slow{
		FS: fs.OS(root), entered: make(chan struct{}), release: make(chan struct{}), exchanged: map[string]bool{},
	}
}

func (s *slow) Open(name string, how fs.How, perm iofs.FileMode) (fs.File, error) {
	f, err := s.FS.Open(name, how, perm)
	return slowFile{f, s}, err
}

type slowFile struct {
	fs.File
	s *slow
}

func (f slowFile) Sync() error {
	f.s.first.Do(func() {
		close(f.s.entered)
		<-f.s.release
	})
	return nil
}

func (s *slow) Rename(from, to string, how fs.Move) error {
	err := s.FS.Rename(from, to, how)
	if err == nil && how == fs.Exchange {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.exchanged[to] = true
	}
	return err
}

func (s *slow) SyncDir(string) error { return nil }

// Unwritten returns false, because what other programs write must not matter here.
func (s *slow) Unwritten() (int64, bool) { return 0, false }

func (s *slow) SyncAll(string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.atSync = append(s.atSync, len(s.exchanged))
	return nil
}

// session returns a session over toys that had their first pass, none of them
// marked.
func (w *world) session(ids ...string) *session {
	w.t.Helper()
	watcher, err := watch.NewFrom(w.root, w.o.Log, deaf)
	if err != nil {
		w.t.Fatal(err)
	}
	w.o.Store.Watching() // the toys appeared just now
	s := newSession(w.Loop, watcher, nil)
	for _, id := range ids {
		s.registry.add(s.registry.newActive(toyFound(id)).knownRun)
	}
	w.t.Cleanup(func() { _ = watcher.Close() })
	return s
}

// works marks runs and serves them until the test ends.
func (w *world) works(s *session, ids ...string) {
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(w.t.Context())
	for _, id := range ids {
		s.queue.mark(toyFound(id).Run.State)
	}
	wg.Go(func() { s.work(ctx, &wg) })
	wg.Go(func() { s.keepTime(ctx) })
	w.t.Cleanup(func() {
		cancel()
		s.queue.close()
		wg.Wait()
	})
}

func named(format string, n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf(format, i)
	}
	return ids
}

// A pass that waits for the disk delays nobody: while the first of 500 runs is being made
// durable, all others get ready, and then share their rounds.
func TestManyRunsReadyAtOnceShareTheirRounds(t *testing.T) {
	const runs = 500
	root := t.TempDir()
	disk := newSlow(root)
	w := worldAt(t, root, func(o *Options) {
		o.Workers, o.Waiting = 2, runs
		o.Store = store.New(disk, store.Options{Log: o.Log})
	})
	ids := named("a%03d", runs)
	for _, id := range ids {
		w.toy(id, toyState{Target: 1})
	}
	s := w.session(ids...)
	w.works(s, ids...)
	<-disk.entered
	w.eventually("all wait for the disk", func() bool {
		return len(s.underWay) == runs && len(s.working) == 0
	})
	if n := len(w.movedEvents()); n != 0 {
		t.Errorf("%d transitions before the disk has taken one", n)
	}
	close(disk.release)
	w.eventually("all have asked", func() bool { return len(w.movedEvents()) == 2*runs })
	disk.mu.Lock()
	defer disk.mu.Unlock()
	// Runs that wait for the disk may not have queued yet when it goes on.
	if all := slices.Index(disk.atSync, runs); all < 0 || all > 20 || disk.atSync[0] > 2 {
		t.Errorf("state documents in place at each sync: %v; want one for each worker at most, and soon all %d", disk.atSync, runs)
	}
}

// However slow the disk, the number of runs under way is limited.
func TestSlowDiskBoundsWhatIsUnderWay(t *testing.T) {
	root := t.TempDir()
	disk := newSlow(root)
	var mu sync.Mutex
	looked := map[string]bool{}
	w := worldAt(t, root, func(o *Options) {
		o.Workers, o.Waiting = 2, 5
		o.Store = store.New(disk, store.Options{Log: o.Log})
		spying(func(s engine.Snapshot) {
			mu.Lock()
			defer mu.Unlock()
			looked[s.Key.ID] = true
		})(o)
	})
	ids := named("a%02d", 30)
	for _, id := range ids {
		w.toy(id, toyState{Target: 1})
	}
	s := w.session(ids...)
	w.works(s, ids...)
	w.eventually("as many as may wait for the disk", func() bool {
		return len(s.underWay) == 7 && len(s.working) == 0
	})
	mu.Lock()
	if len(looked) != 7 {
		t.Errorf("%d runs were looked at, want 7", len(looked))
	}
	mu.Unlock()
	close(disk.release)
	w.eventually("all have asked", func() bool { return len(w.movedEvents()) == 2*len(ids) })
}

// Of many runs with something to do, none continues before the others had their turn.
func TestRunsTakeTurnsStepByStep(t *testing.T) {
	const steps = 6
	w := newWorld(t, func(o *Options) { o.Workers, o.Waiting = 1, 1 })
	ids := named("a%d", 6)
	for _, id := range ids {
		w.toy(id, toyState{Target: steps})
	}
	w.works(w.session(ids...), ids...)
	w.eventually("all have asked", func() bool { return len(w.movedEvents()) == len(ids)*(steps+1) })
	var taken []int
	for i, moved := range w.movedEvents() {
		id, _, _ := strings.Cut(moved, " ")
		before := strings.Count(strings.Join(w.movedEvents()[:i], "\n")+"\n", id+" ")
		if before == 0 {
			taken = append(taken, i)
		}
		if before == 2 && len(taken) < len(ids) {
			t.Fatalf("%s took its third step before all had taken one: %q", id, w.movedEvents()[:i+1])
		}
	}
	if len(taken) != len(ids) || !slices.IsSorted(taken) {
		t.Errorf("first steps at %v of %q", taken, w.movedEvents())
	}
}

// A look that finds the run unchanged since the previous one takes no second step.
func TestTheSameSnapshotIsDecidedOnce(t *testing.T) {
	var snaps []engine.Snapshot
	w := newWorld(t, spying(func(s engine.Snapshot) { snaps = append(snaps, s) }))
	w.toy("locked", toyState{Target: 1})
	w.o.Store.Watching() // it appeared just now
	p := w.newPass(Found{toyRun("locked"), w.o.Families[0]})
	if err := p.run(t.Context()).err; err != nil {
		t.Fatal(err)
	}
	if len(w.movedEvents()) != 2 || len(snaps) != 3 {
		t.Fatalf("%d decisions for %q and the look that finds nothing", len(snaps), w.movedEvents())
	}
	w.answer("locked", "no") // differs from what was seen
	if err := p.run(t.Context()).err; err != nil {
		t.Fatal(err)
	}
	if len(snaps) == 3 {
		t.Error("an answer was not seen")
	}
}

// asksGit needs something from git in addition to what the toy needs.
type asksGit struct {
	spy
}

func (a asksGit) Step(s engine.Snapshot) (engine.Plan, error) {
	p, err := a.spy.Step(s)
	p.Needs = append(p.Needs, "git:log/1")
	return p, err
}

// An answer of git's in a pass is available at its next look: only the first look lacks it.
func TestGitIsNotLackingAtEveryLook(t *testing.T) {
	steps, asked := 0, 0
	w := newWorld(t, func(o *Options) {
		o.Families = []Family{{toyLayout{}, asksGit{spy{on: func(engine.Snapshot) { steps++ }}}}}
		o.Lookup = func(need string) engine.Document {
			asked++
			return engine.Document{Path: need, Kind: "git", Body: []byte("x"), Sum: engine.Sum([]byte("x"))}
		}
	})
	w.toy("a", toyState{Target: 1})
	w.o.Store.Watching() // it appeared just now
	p := w.newPass(Found{toyRun("a"), w.o.Families[0]})
	for pass := range 2 {
		steps, asked = 0, 0
		if err := p.run(t.Context()).err; err != nil {
			t.Fatal(err)
		}
		want := [][2]int{{4, 1}, {2, 1}}[pass] // one look lacks the answer; then two steps are taken, and none
		if got := [2]int{steps, asked}; got != want || len(w.movedEvents()) != 2 {
			t.Errorf("pass %d: %d decisions, git asked %d times, want %v; moved %q", pass, steps, asked, want, w.movedEvents())
		}
	}
}

// The report on a stuck run lists all of its steps, over all passes that it took.
func TestStuckRunTellsItsStepsWhereRunsTakeTurns(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.Workers, o.Waiting = 1, 1 })
	ids := named("a%d", 4)
	for _, id := range ids {
		w.toy(id, toyState{Quirk: "loop"})
	}
	w.works(w.session(ids...), ids...)
	w.eventually("all are stuck", func() bool { return strings.Count(w.log.String(), "is stuck") == len(ids) })
	want := fmt.Sprintf("after %d steps its machine still wants another (a bug); they were: run counted:", maxSteps)
	if strings.Count(w.log.String(), want) != len(ids) {
		t.Errorf("want each to say %q:\n%s", want, w.log)
	}
}

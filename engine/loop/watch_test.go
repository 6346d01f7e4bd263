package loop

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/engine/watch"
	"placet/internal/await"
)

func TestWatchServesWhatIsThereAndWhatComes(t *testing.T) {
	w := newWorld(t)
	w.toy("a", toyState{Target: 2})
	w.toy("b", toyState{Status: "over"})
	w.toy("locked", toyState{})
	w.once()
	s := w.start(watch.Notify)
	if got := <-s.ready; got != [2]int{3, 2} {
		t.Errorf("ready with %v runs and waiting, want 3 and 2", got)
	}
	w.answer("a", "yes")
	w.becomes("a", "over")
	w.toy("c", toyState{Target: 1})
	w.becomes("c", "waiting")
	w.answer("c", "yes")
	w.becomes("c", "over")
	w.toy("g1/d", toyState{})
	w.becomes("g1/d", "waiting")
	w.answer("locked", "yes")
	w.becomes("locked", "over")
}

func TestWatchOfAnEmptyWorkspaceWaitsForItsFolders(t *testing.T) {
	w := newWorld(t)
	w.serve(watch.Notify)
	w.toy("g1/a", toyState{Target: 1})
	w.becomes("g1/a", "waiting")
}

func TestLiveRunHasTwoWatchesAndAFinalOneOne(t *testing.T) {
	w := newWorld(t)
	w.toy("a", toyState{})
	w.toy("b", toyState{Status: "over"})
	var c *counting
	w.serve(func(sink watch.Sink) (watch.Source, error) {
		src, err := watch.Notify(sink)
		c = &counting{Source: src, dirs: map[string]bool{}}
		return c, err
	})
	w.becomes("a", "waiting")
	w.eventually("two watches", func() bool { return c.below(w.abs("toys/a")) == 2 })
	w.eventually("one watch for the final run", func() bool { return c.below(w.abs("toys/b")) == 1 })
	w.answer("a", "yes")
	w.becomes("a", "over")
	w.eventually("one watch when it has ended", func() bool { return c.below(w.abs("toys/a")) == 1 })
}

// If somebody sets an ended run waiting again, or writes an old copy of its state document
// over the last one, the loop notices at once.
func TestARunThatHasEndedIsSeenToBeSetWaitingAgain(t *testing.T) {
	w := newWorld(t)
	w.toy("b", toyState{Status: "over"})
	w.toy("a", toyState{Target: 1})
	w.serve(watch.Notify)
	w.becomes("a", "waiting")
	old := w.read("toys/a/state.json")
	w.answer("a", "yes")
	w.becomes("a", "over")
	w.put("toys/a/state.json", old)
	w.becomes("a", "over")
	w.put("toys/a/requests/q/response.json", "{}")
	w.put("toys/a/state.json", old)
	w.eventually("the answer that stands there now is judged", func() bool { return w.read("toys/a/requests/q/problem.md") != "" })
	w.toy("b", toyState{Target: 2})
	w.becomes("b", "waiting")
	w.toy("c", toyState{Status: "over"})
	w.eventually("the run that came later is found", func() bool { return w.serving.Load().registry.isFinal("toys/c/state.json") })
	w.toy("c", toyState{Target: 2})
	w.becomes("c", "waiting")
}

// opened records which journals are opened to be made durable.
type opened struct {
	fs.FS
	mu    sync.Mutex
	names []string
}

func (o *opened) Open(name string, how fs.How, perm iofs.FileMode) (fs.File, error) {
	if strings.HasSuffix(name, "log.jsonl") && how == fs.ForReading {
		o.mu.Lock()
		o.names = append(o.names, name)
		o.mu.Unlock()
	}
	return o.FS.Open(name, how, perm)
}

// The last lines of a run's journal are made durable by its next commit. A run that is
// final, or gone, has no next commit.
func TestTheJournalOfAFinalRunIsDurable(t *testing.T) {
	root := t.TempDir()
	on := &opened{FS: fs.OS(root)}
	w := worldAt(t, root, func(o *Options) { o.Store = store.New(on, store.Options{}) })
	w.serve(watch.Notify)
	w.toy("a", toyState{Status: "waiting", Quirk: "log"})
	w.becomes("a", "over")
	w.eventually("the journal is made durable", func() bool {
		on.mu.Lock()
		defer on.mu.Unlock()
		return slices.Equal(on.names, []string{"toys/a/log.jsonl"})
	})
}

// populate makes runs that end in a known tree.
func populate(w *world, n int) {
	w.put("specs/x.txt", "v1")
	for i := range n {
		id := fmt.Sprintf("a%d", i)
		if i%3 == 0 {
			id = fmt.Sprintf("g%d/a%d", i%4, i)
		}
		w.toy(id, toyState{Target: i % 4, Need: "specs/x.txt"})
		w.answer(id, fmt.Sprintf("answer %d", i))
	}
}

// over reports whether every run of populate has ended.
func (w *world) over(n int) bool {
	found, err := w.Runs()
	if err != nil || len(found) != n {
		return false
	}
	for _, f := range found {
		if w.state(f.Run.ID).Status != "over" {
			return false
		}
	}
	return true
}

// With dropped events, no events, one worker, many files at once or one by one, the tree is
// the same.
func TestHoweverItIsWatchedTheTreeIsTheSame(t *testing.T) {
	const n = 12
	want := newWorld(t)
	populate(want, n)
	want.once()
	r := rand.New(rand.NewPCG(5, 6))
	var mu sync.Mutex
	half := lossy(func(string) bool {
		mu.Lock()
		defer mu.Unlock()
		return r.IntN(2) == 0
	})
	none := func(watch.Sink) (watch.Source, error) { return nil, syscall.EMFILE }
	cases := map[string]struct {
		open    watch.Open
		workers int
		before  bool // the files are there before the watch begins
	}{
		"all events, files first":      {watch.Notify, 8, true},
		"all events, files later":      {watch.Notify, 8, false},
		"one worker, files later":      {watch.Notify, 1, false},
		"half the events, then a look": {half, 8, false},
		"no instance":                  {none, 8, false},
		"no event ever":                {deaf, 1, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(o *Options) { o.Workers = c.workers })
			if c.before {
				populate(w, n)
			}
			s := w.serve(c.open)
			if !c.before {
				populate(w, n)
			}
			if name == "half the events, then a look" {
				s.stop()
				s = w.serve(watch.Notify)
			}
			w.eventually("all over", func() bool { return w.over(n) })
			s.stop()
			if diff := cmp.Diff(want.tree(), w.tree()); diff != "" {
				t.Errorf("another tree:\n%s", diff)
			}
		})
	}
}

// A change of only the facts does not change a run's folder.
func TestChangedFactsHaveEveryLiveRunLookedAt(t *testing.T) {
	changed := make(chan struct{})
	var news atomic.Bool
	var mu sync.Mutex
	ended := map[string]bool{}
	w := newWorld(t, func(o *Options) {
		o.Changed = changed
		o.Facts = func(string) engine.Environment {
			return engine.Environment{Alive: map[string]bool{"x": news.Load(), "y": news.Load()}}
		}
		o.End = func(id string) {
			mu.Lock()
			defer mu.Unlock()
			ended[id] = true
		}
	})
	w.toy("a", toyState{End: "x"})
	w.toy("g1/b", toyState{End: "y"})
	w.toy("over", toyState{Status: "over"})
	w.serve(watch.Notify)
	w.becomes("a", "waiting")
	w.becomes("g1/b", "waiting")
	news.Store(true)
	changed <- struct{}{}
	w.eventually("both runs learn of it", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return ended["x"] && ended["y"]
	})
}

func TestFileThatSeveralRunsNeedMarksThemAll(t *testing.T) {
	w := newWorld(t)
	for _, id := range []string{"a", "b", "g1/c"} {
		w.toy(id, toyState{Need: "specs/deep/x.txt"})
	}
	w.toy("other", toyState{})
	w.serve(watch.Notify)
	for i := range 3 {
		text := fmt.Sprintf("v%d", i)
		w.put("specs/deep/x.txt", text)
		for _, id := range []string{"a", "b", "g1/c"} {
			w.eventually(id+" has seen "+text, func() bool { return w.state(id).Seen == text })
		}
	}
}

func TestStuckMachineStopsUntilItsFilesChange(t *testing.T) {
	for quirk, most := range map[string]int{"loop": maxSteps, "sway": 2 * maxSteps} {
		t.Run(quirk, func(t *testing.T) { stuckUntilItsFilesChange(t, quirk, most) })
	}
}

func stuckUntilItsFilesChange(t *testing.T, quirk string, most int) {
	var mu sync.Mutex
	steps := 0
	w := newWorld(t, spying(func(s engine.Snapshot) {
		mu.Lock()
		defer mu.Unlock()
		if s.Key.ID == "a" {
			steps++
		}
	}))
	count := func() int {
		mu.Lock()
		defer mu.Unlock()
		return steps
	}
	w.toy("b", toyState{})
	w.toy("a", toyState{Quirk: quirk})
	w.serve(watch.Notify)
	w.eventually("it is stuck", func() bool { return strings.Contains(w.log.String(), "toy/a is stuck") })
	// The run's own last writes raise events, which must not start it again.
	for i := range 5 {
		id := fmt.Sprintf("later%d", i)
		w.toy(id, toyState{})
		w.becomes(id, "waiting")
	}
	if got := w.state("a").Count; got != most {
		t.Errorf("%d steps were carried out, want %d", got, most)
	}
	if n := strings.Count(w.log.String(), "is stuck"); n != 1 {
		t.Errorf("said %d times, want once:\n%s", n, w.log)
	}
	if !strings.Contains(w.log.String(), "counted") {
		t.Errorf("the edges are not named:\n%s", w.log)
	}
	before := count()
	w.toy("a", toyState{Target: 1})
	w.becomes("a", "waiting")
	if count() == before {
		t.Error("a test that cannot fail")
	}
}

func TestRunThatNeverRestsKeepsNobodyWaiting(t *testing.T) {
	w := newWorld(t)
	w.toy("a", toyState{Quirk: "march", Target: 1 << 30})
	w.toy("b", toyState{})
	w.serve(watch.Notify) // it is ready although a never finishes
	w.becomes("b", "waiting")
	n := w.state("a").Count
	w.eventually("it goes on", func() bool { return w.state("a").Count > n+2*maxSteps })
	if strings.Contains(w.log.String(), "stuck") {
		t.Errorf("it is said to be stuck:\n%s", w.log)
	}
}

func TestIllegalTransitionIsRefusedAndSaidOnce(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := worldAt(t, root)
		w.toy("a", toyState{Quirk: "illegal"})
		before := w.read("toys/a/state.json")
		s := w.start(deaf)
		<-s.ready
		time.Sleep(5 * time.Minute)
		if w.read("toys/a/state.json") != before {
			t.Error("the plan was carried out")
		}
		if n := strings.Count(w.log.String(), "no row of its table"); n != 1 {
			t.Errorf("said %d times, want once:\n%s", n, w.log)
		}
		w.toy("a", toyState{Target: 1})
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if got := w.state("a").Status; got != "waiting" {
			t.Errorf("a: %s", got)
		}
		if !strings.Contains(w.log.String(), "going on") {
			t.Errorf("that it is over was not said:\n%s", w.log)
		}
		s.stop()
	})
}

func TestNothingIsDecidedWhileGitRewritesTheTree(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := worldAt(t, root)
		w.toy("a", toyState{Target: 1})
		w.put(".git/MERGE_HEAD", "0\n")
		s := w.start(deaf)
		<-s.ready // although nothing is decided
		w.toy("b", toyState{Target: 1})
		before := w.tree()
		time.Sleep(time.Minute)
		synctest.Wait()
		if diff := cmp.Diff(before, w.tree()); diff != "" {
			t.Errorf("something was decided:\n%s", diff)
		}
		if err := os.Remove(w.abs(".git/MERGE_HEAD")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * scanRound)
		synctest.Wait()
		for _, id := range []string{"a", "b"} {
			if got := w.state(id).Status; got != "waiting" {
				t.Errorf("%s: %s", id, got)
			}
		}
		if n := strings.Count(w.log.String(), "nothing is decided until"); n != 1 {
			t.Errorf("said %d times, want once:\n%s", n, w.log)
		}
		s.stop()
	})
}

func TestRunIsLookedAtByOneWorkerAtATime(t *testing.T) {
	var mu sync.Mutex
	busy := map[string]bool{}
	var twice string
	w := newWorld(t, func(o *Options) {
		o.Workers = 8
		o.Facts = func(string) engine.Environment { runtime.Gosched(); return engine.Environment{} }
	}, spying(func(s engine.Snapshot) {
		mu.Lock()
		if busy[s.Key.ID] {
			twice = s.Key.ID
		}
		busy[s.Key.ID] = true
		mu.Unlock()
		for range 100 {
			runtime.Gosched()
		}
		mu.Lock()
		busy[s.Key.ID] = false
		mu.Unlock()
	}))
	for i := range 4 {
		w.toy(fmt.Sprintf("a%d", i), toyState{Target: 20})
	}
	w.serve(watch.Notify)
	for range 200 {
		for i := range 4 {
			name := w.abs(fmt.Sprintf("toys/a%d/poke", i))
			if err := os.WriteFile(name, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range 4 {
		w.becomes(fmt.Sprintf("a%d", i), "waiting")
	}
	mu.Lock()
	defer mu.Unlock()
	if twice != "" {
		t.Errorf("%s was looked at by two at a time", twice)
	}
}

func TestWatchLeavesNoGoroutineAndEndsMidWork(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 5 {
		w := newWorld(t)
		for i := range 10 {
			w.toy(fmt.Sprintf("a%d", i), toyState{Target: 5})
		}
		s := w.start(watch.Notify)
		w.eventually("it began", func() bool { return w.state("a0").Count > 0 })
		s.stop()
		for i := range 10 {
			// No document is half written: a pass that was under way has committed.
			if st := w.state(fmt.Sprintf("a%d", i)); st.Status == "" {
				t.Errorf("a%d: %q", i, w.read(fmt.Sprintf("toys/a%d/state.json", i)))
			}
		}
	}
	await.Until(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= before })
}

func TestWatchEndsWithAnErrorWhenItsWatcherIsClosed(t *testing.T) {
	w := newWorld(t)
	watcher, err := watch.New(w.root, nil)
	if err != nil {
		t.Fatal(err)
	}
	ready := make(chan bool, 1)
	ended := make(chan error, 1)
	go func() { ended <- w.Watch(t.Context(), watcher, func(int, int) { ready <- true }) }()
	<-ready
	_ = watcher.Close()
	if err := <-ended; !errors.Is(err, watch.ErrClosed) {
		t.Errorf("Watch ended with %v", err)
	}
}

// Whoever removes an ended run removes its state document before the rest. The loop must
// not treat the run as one that begins again.
func TestARunThatHasEndedAndIsBeingRemovedIsLeftAlone(t *testing.T) {
	w := newWorld(t)
	w.toy("a", toyState{Status: "over"})
	w.toy("b", toyState{Status: "over"})
	w.serve(watch.Notify)
	s := w.serving.Load()
	r, _ := s.registry.get("toys/a/state.json")
	w.eventually("the run's folder is watched", func() (kept bool) {
		s.registry.do(func() { kept = r.own != 0 })
		return kept
	})
	if err := os.Remove(w.abs("toys/a/state.json")); err != nil {
		t.Fatal(err)
	}
	w.toy("b", toyState{Target: 1})
	w.becomes("b", "waiting")
	s.heard(r)
	if !s.registry.isFinal("toys/a/state.json") {
		t.Error("it is taken for another one")
	}
}

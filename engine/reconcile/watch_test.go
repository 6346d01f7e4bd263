package reconcile

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/engine/watch"
	"placet/layout"
)

// within is how long inotify and the disk may take on a busy machine.
const within = 10 * time.Second

// service is a Watch that runs.
type service struct {
	watcher *watch.Watcher
	stop    func() // ends it and waits
	ready   chan [2]int
}

// serve starts to watch and waits until it is ready.
func (w *world) serve(open watch.Open) *service {
	w.t.Helper()
	s := w.start(open)
	select {
	case <-s.ready:
	case <-time.After(within):
		w.t.Fatalf("not ready\n%s", w.log)
	}
	return s
}

func (w *world) start(open watch.Open) *service {
	w.t.Helper()
	watcher, err := watch.NewFrom(w.root, w.o.Log, open)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &service{watcher: watcher, ready: make(chan [2]int, 1)}
	ended := make(chan error, 1)
	go func() {
		ended <- w.Watch(ctx, watcher, func(runs, waiting int) { s.ready <- [2]int{runs, waiting} })
	}()
	s.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			w.t.Errorf("Watch ended with %v", err)
		}
		if err := watcher.Close(); err != nil {
			w.t.Error(err)
		}
	})
	w.t.Cleanup(s.stop)
	return s
}

func (w *world) eventually(what string, ok func() bool) {
	w.t.Helper()
	deadline := time.Now().Add(within)
	for !ok() {
		if time.Now().After(deadline) {
			w.t.Fatalf("not within %v: %s\n%s", within, what, w.log)
		}
		<-time.After(2 * time.Millisecond)
	}
}

func (w *world) becomes(id, status string) {
	w.t.Helper()
	w.eventually(id+" becomes "+status, func() bool { return w.state(id).Status == status })
}

// lossy drops events: those for which drop is true, but not the watcher's own
// tests.
func lossy(drop func(p string) bool) watch.Open {
	return func(sink watch.Sink) (watch.Source, error) {
		return watch.Notify(watch.Sink{Broken: sink.Broken, Event: func(e watch.Event) {
			if layout.IsTemp(path.Base(e.Path)) || !drop(e.Path) {
				sink.Event(e)
			}
		}})
	}
}

// mute is a source that never tells anything.
type mute struct{}

func (*mute) Add(dir string) error { _, err := os.Lstat(dir); return err }
func (*mute) Remove(string) error  { return nil }
func (*mute) List() []string       { return nil }
func (*mute) Close() error         { return nil }

func deaf(watch.Sink) (watch.Source, error) { return &mute{}, nil }

// counting counts the folders that are watched.
type counting struct {
	watch.Source
	mu   sync.Mutex
	dirs map[string]bool
}

func (c *counting) Add(dir string) error {
	err := c.Source.Add(dir)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.dirs[dir] = true
	}
	return err
}

func (c *counting) Remove(dir string) error {
	c.mu.Lock()
	delete(c.dirs, dir)
	c.mu.Unlock()
	return c.Source.Remove(dir)
}

func (c *counting) below(dir string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for d := range c.dirs {
		if layout.Under(d, dir) {
			n++
		}
	}
	return n
}

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

func TestLiveRunHasTwoWatchesAndAFinalOneNone(t *testing.T) {
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
	w.eventually("no watch for the final run", func() bool { return c.below(w.abs("toys/b")) == 0 })
	w.answer("a", "yes")
	w.becomes("a", "over")
	w.eventually("no watch any more", func() bool { return c.below(w.abs("toys/a")) == 0 })
}

func TestFinalRunsAreNotReadAtStart(t *testing.T) {
	var mu sync.Mutex
	stepped := map[string]bool{}
	root := t.TempDir()
	first := worldAt(t, root)
	for i := range 20 {
		first.toy(fmt.Sprintf("f%d", i), toyState{Status: "over"})
	}
	first.toy("a", toyState{Status: "waiting"})
	// A first session makes the store certain of the documents, by one look
	// at each, so that what follows tells nothing about youth.
	s := first.serve(watch.Notify)
	first.eventually("all settled", func() bool {
		r, err := first.Once(t.Context())
		return err == nil && len(r.Unsettled) == 0
	})
	s.stop()

	w := worldAt(t, root, spying(func(s engine.Snapshot) {
		mu.Lock()
		defer mu.Unlock()
		stepped[s.Key.ID] = true
	}), func(o *Options) { o.Store = first.o.Store })
	s = w.start(watch.Notify)
	if got := <-s.ready; got != [2]int{21, 1} {
		t.Errorf("ready with %v", got)
	}
	mu.Lock()
	defer mu.Unlock()
	if diff := cmp.Diff(map[string]bool{"a": true}, stepped); diff != "" {
		t.Errorf("looked at:\n%s", diff)
	}
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

// Dropped events, no events, one worker, many files at once or one by one: the
// tree is the same.
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

func TestNoInotifyInstanceIsServedWithinThreeSeconds(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := worldAt(t, root)
		w.toy("a", toyState{Status: "waiting"})
		w.put("toys/a/requests/q/request.json", "{}\n")
		s := w.start(func(watch.Sink) (watch.Source, error) { return nil, syscall.EMFILE })
		<-s.ready
		time.Sleep(5 * time.Second)
		w.answer("a", "yes")
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if got := w.state("a").Status; got != "over" {
			t.Errorf("the answer was not taken in 3 s: %s\n%s", got, w.log)
		}
		w.toy("b", toyState{Target: 1})
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if got := w.state("b").Status; got != "waiting" {
			t.Errorf("the new run was not taken in 3 s: %s", got)
		}
		s.stop()
	})
}

func TestFortyThousandEventsWhileNobodyWatches(t *testing.T) {
	w := newWorld(t)
	const n = 40
	for i := range n {
		w.toy(fmt.Sprintf("a%d", i), toyState{Status: "waiting"})
		w.put(fmt.Sprintf("toys/a%d/requests/q/request.json", i), "{}\n")
	}
	watcher, err := watch.New(w.root, w.o.Log)
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Close()
	for i := range n {
		dir := fmt.Sprintf("toys/a%d", i)
		if err := watcher.Follow(dir+"/state.json", []string{dir, dir + "/requests/q"}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 40_000 {
		name := w.abs(fmt.Sprintf("toys/a%d/requests/q/x%d", i%n, i%500))
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		w.answer(fmt.Sprintf("a%d", i), "yes")
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- w.Watch(ctx, watcher, nil) }()
	w.eventually("all answers are taken", func() bool { return w.over(n) })
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestOverflowIsAnsweredByALookEverywhere(t *testing.T) {
	w := newWorld(t)
	w.toy("a", toyState{})
	var sink watch.Sink
	var drop sync.Map
	s := w.serve(func(s watch.Sink) (watch.Source, error) {
		sink = s
		return lossy(func(string) bool { _, all := drop.Load("all"); return all })(s)
	})
	w.becomes("a", "waiting")
	drop.Store("all", true)
	w.answer("a", "yes")
	w.toy("new", toyState{Target: 1})
	sink.Broken(errors.New("queue overflow"))
	w.becomes("a", "over")
	w.becomes("new", "waiting")
	s.stop()
}

func TestFolderRenamedAwayAndBack(t *testing.T) {
	for _, dir := range []string{"toys", "toys/g1", "toys/g1/a", "toys/g1/a/requests", "toys/g1/a/requests/q"} {
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.toy("g1/a", toyState{Act: "act"})
			w.serve(watch.Notify)
			w.becomes("g1/a", "waiting")
			w.eventually("the action has begun", func() bool { return len(w.begunIDs()) == 1 })
			if err := os.Rename(w.abs(dir), w.abs("away")); err != nil {
				t.Fatal(err)
			}
			w.toy("g2/b", toyState{}) // whatever else goes on
			w.becomes("g2/b", "waiting")
			if err := os.RemoveAll(w.abs(dir)); err != nil && dir == "toys" {
				t.Fatal(err)
			}
			if err := os.Rename(w.abs("away"), w.abs(dir)); err != nil {
				t.Fatal(err)
			}
			w.answer("g1/a", "yes")
			w.becomes("g1/a", "over")
			if diff := cmp.Diff([]string{"act"}, w.begunIDs()); diff != "" {
				t.Errorf("actions begun:\n%s", diff)
			}
		})
	}
}

func TestNewNestedFoldersInAStorm(t *testing.T) {
	w := newWorld(t)
	w.serve(watch.Notify)
	const n = 60
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := g; i < n; i += 4 {
				id := fmt.Sprintf("g%d/a%d", i%7, i)
				w.toy(id, toyState{Target: 1})
				w.answer(id, "yes")
			}
		})
	}
	wg.Wait()
	w.eventually("all over", func() bool { return w.over(n) })
}

func TestVanishedRunIsForgottenAndKnownAgain(t *testing.T) {
	w := newWorld(t)
	w.toy("a", toyState{})
	w.toy("f", toyState{Status: "over"})
	w.serve(watch.Notify)
	w.becomes("a", "waiting")
	for _, id := range []string{"a", "f"} {
		if err := os.RemoveAll(w.abs("toys/" + id)); err != nil {
			t.Fatal(err)
		}
	}
	w.toy("a", toyState{Target: 3})
	w.toy("f", toyState{Target: 3})
	w.eventually("both count anew", func() bool { return w.state("a").Count == 3 && w.state("f").Count == 3 })
}

// The state document of a final run has no watch: a look by stat finds that it
// is another one now.
func TestFinalRunThatIsReopenedIsFoundWithinARound(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := worldAt(t, root)
		for i := range 30 {
			w.toy(fmt.Sprintf("f%d", i), toyState{Status: "over"})
		}
		s := w.start(deaf)
		<-s.ready
		time.Sleep(3 * time.Second)
		w.toy("f7", toyState{Target: 2})
		time.Sleep(scanRound + 5*time.Second)
		synctest.Wait()
		if got := w.state("f7"); got.Status != "waiting" {
			t.Errorf("not served in a round: %+v\n%s", got, w.log)
		}
		s.stop()
	})
}

// Events that never come for a file, although the root has them: a look by stat
// finds the change.
func TestChangeWithoutAnEventIsFoundWithinARound(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := worldAt(t, root)
		w.toy("a", toyState{})
		watcher, err := watch.NewFrom(root, nil, deaf)
		if err != nil {
			t.Fatal(err)
		}
		defer watcher.Close()
		s := newSession(w.Loop, watcher, nil)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		s.begin(ctx, &wg)
		var sc scan
		s.scan(ctx, &sc, true)
		s.passed()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		sc.start(time.Now())
		w.answer("a", "yes")
		sc.blind = time.Now().Add(time.Hour) // nothing is blind here
		for range 61 {
			time.Sleep(scanTick)
			s.tick(&sc, time.Now())
		}
		synctest.Wait()
		if got := w.state("a").Status; got != "over" {
			t.Errorf("not found in a round: %s\n%s", got, w.log)
		}
		cancel()
		s.dirty.close()
		wg.Wait()
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
	w.toy("a", toyState{Quirk: "loop"})
	w.serve(watch.Notify)
	w.eventually("it is stuck", func() bool { return strings.Contains(w.log.String(), "toy/a is stuck") })
	// Its own last writes raise events, which must not set it off again.
	for i := range 5 {
		id := fmt.Sprintf("later%d", i)
		w.toy(id, toyState{})
		w.becomes(id, "waiting")
	}
	if got := w.state("a").Count; got != maxSteps {
		t.Errorf("%d steps were carried out, want %d", got, maxSteps)
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

// lone is a session without scans and events, of one run.
func lone(t *testing.T, w *world, id string) *session {
	t.Helper()
	watcher, err := watch.NewFrom(w.root, nil, deaf)
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(w.Loop, watcher, nil)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	s.begin(ctx, &wg)
	lv := s.book.newLive(toyFound(id))
	s.book.add(lv)
	s.dirty.mark(lv.state)
	t.Cleanup(func() {
		cancel()
		s.dirty.close()
		wg.Wait()
		_ = watcher.Close()
	})
	return s
}

func TestErrorsAreTriedAgainLessAndLess(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var at []time.Time
		w := worldAt(t, root, spying(func(s engine.Snapshot) {
			if s.In("state.json").Present() {
				at = append(at, time.Now())
			}
		}))
		w.toy("a", toyState{Quirk: "error"})
		lone(t, w, "a")
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		var gaps []time.Duration
		for i := 1; i < len(at); i++ {
			gaps = append(gaps, at[i].Sub(at[i-1]).Round(10*time.Millisecond))
		}
		ms := time.Millisecond
		want := []time.Duration{100 * ms, 200 * ms, 400 * ms, 800 * ms, 1600 * ms, 3200 * ms, 6400 * ms, 12800 * ms, 25600 * ms, 51200 * ms, time.Minute, time.Minute, time.Minute}
		if diff := cmp.Diff(want, gaps[:min(len(gaps), len(want))]); diff != "" {
			t.Errorf("waits:\n%s", diff)
		}
		if n := strings.Count(w.log.String(), "the toy is broken"); n != 1 {
			t.Errorf("said %d times, want once:\n%s", n, w.log)
		}
	})
}

func TestDeadlinePassesInItsMoment(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := worldAt(t, root)
		deadline := time.Now().Add(36 * time.Hour)
		w.toy("a", toyState{Deadline: deadline})
		s := lone(t, w, "a")
		time.Sleep(time.Until(deadline) - time.Millisecond)
		synctest.Wait()
		if got := w.state("a").Status; got != "waiting" {
			t.Fatalf("%s before the deadline\n%s", got, w.log)
		}
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		if got := w.state("a").Status; got != "over" {
			t.Errorf("%s after the deadline\n%s", got, w.log)
		}
		if _, ok := s.timers.next(); ok {
			t.Error("a timer is left")
		}
	})
}

// A laptop that slept, or a clock that was set: the deadline passes soon after.
func TestDeadlinePassesSoonAfterTheClockJumps(t *testing.T) {
	for _, jump := range []time.Duration{26 * time.Hour, -time.Hour} {
		t.Run(jump.String(), func(t *testing.T) {
			root := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var offset time.Duration
				now := func() time.Time {
					mu.Lock()
					defer mu.Unlock()
					return time.Now().Round(0).Add(offset)
				}
				w := worldAt(t, root, func(o *Options) { o.Now = now })
				deadline := now().Add(25 * time.Hour)
				w.toy("a", toyState{Deadline: deadline})
				lone(t, w, "a")
				time.Sleep(5 * time.Second)
				synctest.Wait()
				if got := w.state("a").Status; got != "waiting" {
					t.Fatalf("%s\n%s", got, w.log)
				}
				mu.Lock()
				offset = jump
				mu.Unlock()
				time.Sleep(2 * clockPoll)
				synctest.Wait()
				want := "waiting"
				if jump > 0 {
					want = "over"
				}
				if got := w.state("a").Status; got != want {
					t.Errorf("%s after the clock jumped by %v, want %s", got, jump, want)
				}
				if jump < 0 {
					time.Sleep(25 * time.Hour)
					synctest.Wait()
					if got := w.state("a").Status; got != "waiting" {
						t.Errorf("%s an hour before the deadline", got)
					}
					time.Sleep(time.Hour)
					synctest.Wait()
					if got := w.state("a").Status; got != "over" {
						t.Errorf("%s after the deadline", got)
					}
				}
			})
		})
	}
}

func TestNothingIsDecidedWhileGitRewritesTheTree(t *testing.T) {
	w := newWorld(t)
	w.toy("a", toyState{Target: 1})
	w.put(".git/MERGE_HEAD", "0\n")
	w.serve(watch.Notify) // ready although nothing is decided
	w.eventually("it is said", func() bool { return strings.Contains(w.log.String(), "nothing is decided until") })
	w.toy("b", toyState{Target: 1})
	before := w.tree()
	<-time.After(3 * holdPoll)
	if diff := cmp.Diff(before, w.tree()); diff != "" {
		t.Errorf("something was decided:\n%s", diff)
	}
	if err := os.Remove(w.abs(".git/MERGE_HEAD")); err != nil {
		t.Fatal(err)
	}
	w.becomes("a", "waiting")
	w.becomes("b", "waiting")
	if n := strings.Count(w.log.String(), "nothing is decided until"); n != 1 {
		t.Errorf("said %d times, want once:\n%s", n, w.log)
	}
}

func TestRunIsLookedAtByOneWorkerAtATime(t *testing.T) {
	var mu sync.Mutex
	busy := map[string]bool{}
	var twice string
	var w *world
	w = newWorld(t, func(o *Options) {
		o.Workers = 8
		o.Facts = func(string) engine.Facts { runtime.Gosched(); return engine.Facts{} }
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

func TestFolderWrittenAllTheTimeDoesNotEatTheProcessor(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		steps := 0
		w := worldAt(t, root, spying(func(engine.Snapshot) { steps++ }))
		w.toy("a", toyState{Status: "waiting"})
		s := lone(t, w, "a")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		before := steps
		for range 1000 {
			s.dirty.mark("toys/a/state.json")
			time.Sleep(time.Millisecond)
		}
		if got := steps - before; got > int(time.Second/hastyWait)+hastyPasses+2 {
			t.Errorf("%d looks in a second", got)
		}
	})
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
			// What is there is whole: a pass that was under way has committed.
			if st := w.state(fmt.Sprintf("a%d", i)); st.Status == "" {
				t.Errorf("a%d: %q", i, w.read(fmt.Sprintf("toys/a%d/state.json", i)))
			}
		}
	}
	eventually(t, within, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= before })
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

func BenchmarkPassThatFindsNothing(b *testing.B) {
	w := newWorld(b)
	w.toy("a", toyState{Target: 3})
	for {
		if r, err := w.Once(b.Context()); err == nil && r.Waiting == 1 && len(r.Unsettled) == 0 {
			break
		}
	}
	found, err := w.Runs()
	if err != nil {
		b.Fatal(err)
	}
	p := w.newPass(found[0])
	b.ReportAllocs()
	for b.Loop() {
		if err := p.run(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkStatOnlyLook(b *testing.B) {
	w := newWorld(b)
	w.toy("a", toyState{Target: 3})
	w.once2(b)
	watcher, err := watch.NewFrom(w.root, nil, deaf)
	if err != nil {
		b.Fatal(err)
	}
	defer watcher.Close()
	s := newSession(w.Loop, watcher, nil)
	lv := s.book.newLive(toyFound("a"))
	s.book.add(lv)
	s.serve(b.Context(), lv.state)
	b.ReportAllocs()
	for b.Loop() {
		s.compareLive(lv)
	}
	if lv.sights == "" || !strings.Contains(lv.sights, filepath.Base(lv.state)) {
		b.Fatalf("nothing is looked at: %q", lv.sights)
	}
}

// once2 settles the workspace of a benchmark.
func (w *world) once2(b *testing.B) {
	if _, err := w.Once(b.Context()); err != nil {
		b.Fatal(err)
	}
}

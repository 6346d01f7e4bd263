package loop

import (
	"fmt"
	iofs "io/fs"
	"log/slog"
	"os"
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

// ailing is a file system with errors that a test turns on and off.
type ailing struct {
	fs.FS
	mu     sync.Mutex
	create error            // for new files
	list   map[string]error // for folders
}

func (a *ailing) set(change func(*ailing)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change(a)
}

func (a *ailing) Open(name string, how fs.How, perm iofs.FileMode) (fs.File, error) {
	a.mu.Lock()
	err := a.create
	a.mu.Unlock()
	if err != nil && how == fs.ForCreating {
		return nil, &iofs.PathError{Op: "open", Path: name, Err: err}
	}
	return a.FS.Open(name, how, perm)
}

func (a *ailing) List(dir string) ([]fs.Name, error) {
	a.mu.Lock()
	err := a.list[dir]
	a.mu.Unlock()
	if err != nil {
		return nil, &iofs.PathError{Op: "open", Path: dir, Err: err}
	}
	return a.FS.List(dir)
}

// ail makes a world over an ailing file system.
func ail(t *testing.T, root string) (*world, *ailing) {
	a := &ailing{FS: fs.OS(root)}
	w := worldAt(t, root, func(o *Options) {
		o.Store = store.New(a, store.Options{Log: slog.New(slog.DiscardHandler)})
	})
	return w, a
}

func TestFullDiskIsSaidOnceAndAllGoOnWithinTwoSecondsOfRoom(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w, a := ail(t, root)
		const n = 20
		for i := range n {
			w.toy(fmt.Sprintf("a%d", i), toyState{Target: 2})
		}
		a.set(func(a *ailing) { a.create = syscall.ENOSPC })
		s := w.start(deaf)
		<-s.ready
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if got := strings.Count(w.log.String(), "cannot go on"); got != 1 {
			t.Errorf("said %d times, want once:\n%s", got, w.log)
		}
		a.set(func(a *ailing) { a.create = nil })
		time.Sleep(2 * time.Second)
		synctest.Wait()
		for i := range n {
			if got := w.state(fmt.Sprintf("a%d", i)).Status; got != "waiting" {
				t.Errorf("a%d is %s two seconds after there was room", i, got)
			}
		}
		if !strings.Contains(w.log.String(), "going on") {
			t.Errorf("that it is over was not said:\n%s", w.log)
		}
		s.stop()
	})
}

// A failed pass writes (a temporary file, the documents before the one that failed), and so
// raises events, which must not start it again.
func TestFailedRunIsNotWokenByWhatItsOwnPassWrote(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		steps := 0
		count := func() int {
			mu.Lock()
			defer mu.Unlock()
			return steps
		}
		w := worldAt(t, root, spying(func(engine.Snapshot) {
			mu.Lock()
			defer mu.Unlock()
			steps++
		}))
		w.toy("a", toyState{Quirk: "error"})
		s := lone(t, w, "a")
		time.Sleep(time.Minute)
		synctest.Wait()
		before := count()
		for range 1000 {
			s.queue.mark("toys/a/state.json")
			time.Sleep(10 * time.Millisecond)
		}
		synctest.Wait()
		if got := count() - before; got > 1 {
			t.Errorf("%d looks in ten seconds of its long rest", got)
		}
		w.toy("a", toyState{Target: 1})
		s.queue.mark("toys/a/state.json")
		time.Sleep(time.Second)
		synctest.Wait()
		if got := w.state("a").Status; got != "waiting" {
			t.Errorf("%s: a change by somebody else must end the rest\n%s", got, w.log)
		}
	})
}

func lockFile(t *testing.T, name string) (unlock func()) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	return func() { _ = f.Close() }
}

func TestRunsWhoseLockIsHeldDoNotKeepOthersWaiting(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := worldAt(t, root, func(o *Options) { o.Workers, o.Waiting = 2, 16 })
		var unlocks []func()
		for i := range w.o.Waiting {
			id := fmt.Sprintf("locked%d", i)
			w.toy(id, toyState{Target: 1})
			unlocks = append(unlocks, lockFile(t, w.abs("toys/"+id+"/state.json.lock")))
		}
		w.toy("zfree", toyState{Target: 3})
		s := w.start(deaf)
		time.Sleep(time.Second)
		synctest.Wait()
		if got := w.state("zfree").Status; got != "waiting" {
			t.Errorf("the run without a lock is %s\n%s", got, w.log)
		}
		time.Sleep(time.Minute)
		if got := strings.Count(w.log.String(), "cannot go on"); got != 1 {
			t.Errorf("said %d times, want once:\n%s", got, w.log)
		}
		for i, unlock := range unlocks {
			if got := w.state(fmt.Sprintf("locked%d", i)); got.Count != 0 {
				t.Errorf("locked%d was moved under another's lock: %+v", i, got)
			}
			unlock()
		}
		time.Sleep(time.Minute + time.Second)
		synctest.Wait()
		for i := range unlocks {
			if got := w.state(fmt.Sprintf("locked%d", i)).Status; got != "waiting" {
				t.Errorf("locked%d is %s a minute after it was unlocked\n%s", i, got, w.log)
			}
		}
		s.stop()
	})
}

func TestOnceReportsARunWhoseLockIsHeld(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := worldAt(t, root)
		w.toy("locked", toyState{Target: 1})
		w.toy("b", toyState{})
		defer lockFile(t, w.abs("toys/locked/state.json.lock"))()
		r, err := w.Once(t.Context())
		if err == nil || !strings.Contains(err.Error(), "toy/locked") {
			t.Errorf("error: %v", err)
		}
		if r.Waiting != 1 || r.Runs != 2 {
			t.Errorf("report: %+v", r)
		}
	})
}

func TestFolderThatCannotBeListedLeavesItsRunsAsTheyAre(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w, a := ail(t, root)
		w.toy("g1/a", toyState{Act: "act"})
		w.toy("b", toyState{})
		s := w.start(deaf)
		<-s.ready
		time.Sleep(3 * time.Second)
		a.set(func(a *ailing) { a.list = map[string]error{"toys/g1": syscall.EIO} })
		time.Sleep(2 * scanRound)
		w.answer("g1/a", "yes")
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if got := w.state("g1/a").Status; got != "over" {
			t.Errorf("%s: the run was forgotten\n%s", got, w.log)
		}
		if got := strings.Count(w.log.String(), "cannot look for runs"); got != 1 {
			t.Errorf("said %d times, want once:\n%s", got, w.log)
		}
		a.set(func(a *ailing) { a.list = nil })
		time.Sleep(scanRound)
		if !strings.Contains(w.log.String(), "looking for runs everywhere again") {
			t.Errorf("that it is over was not said:\n%s", w.log)
		}
		s.stop()
	})
}

// brokenLayout cannot find its runs.
type brokenLayout struct{ toyLayout }

func (brokenLayout) Name() string                             { return "broken" }
func (brokenLayout) Roots() []string                          { return []string{"broken"} }
func (brokenLayout) Runs(layout.Lister) ([]layout.Run, error) { return nil, fmt.Errorf("no idea") }

func TestFamilyWhoseRunsCannotBeFoundHidesNoOther(t *testing.T) {
	w := newWorld(t, func(o *Options) {
		o.Families = append([]Family{{brokenLayout{}, toyMachine{}}}, o.Families...)
	})
	w.toy("a", toyState{})
	found, err := w.Runs()
	if len(found) != 1 || err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("%v, %v", found, err)
	}
	r, err := w.Once(t.Context())
	if r.Waiting != 1 || err == nil {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestStateDocumentThatIsAFolderOrAFIFOMovesNothing(t *testing.T) {
	w := newWorld(t)
	if err := os.MkdirAll(w.abs("toys/dir/state.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(w.abs("toys/fifo"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(w.abs("toys/fifo/state.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(w.abs("toys/link"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", w.abs("toys/link/state.json")); err != nil {
		t.Fatal(err)
	}
	w.toy("b", toyState{})
	s := w.serve(watch.Notify)
	w.becomes("b", "waiting")
	s.stop()
	if r := w.once(); r.Runs != 4 || r.Waiting != 1 {
		t.Errorf("report: %+v", r)
	}
}

// A deadline does not override an answer that is being written. The machine still names the
// deadline, which is in the past, but that is no reason to look without a pause.
func TestMomentThatHasPassedIsNoHotLoop(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		steps := 0
		w := worldAt(t, root, func(o *Options) {
			o.Families = []Family{{toyLayout{}, past{on: func() {
				mu.Lock()
				defer mu.Unlock()
				steps++
			}}}}
		})
		w.toy("a", toyState{})
		lone(t, w, "a")
		time.Sleep(time.Minute)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if steps > 70 || steps < 50 {
			t.Errorf("%d looks in a minute, want one a second", steps)
		}
	})
}

// past always wants to be woken an hour ago.
type past struct {
	toyMachine
	on func()
}

func (m past) Step(s engine.Snapshot) (engine.Plan, error) {
	m.on()
	return engine.Plan{Wake: s.Now.Add(-time.Hour)}, nil
}

// What was seen before the lock was held does not count.
func TestPlanIsMadeAnewUnderTheLock(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := worldAt(t, root)
		w.toy("locked", toyState{Target: 1})
		unlock := lockFile(t, w.abs("toys/locked/state.json.lock"))
		s := w.start(deaf)
		time.Sleep(2 * time.Second) // it waits for the lock now
		w.toy("locked", toyState{Target: 7, Count: 7})
		unlock()
		time.Sleep(time.Second)
		synctest.Wait()
		if st := w.state("locked"); st.Count != 7 || st.Status != "waiting" {
			t.Errorf("%+v\n%s", st, w.log)
		}
		if w.read("toys/locked/events/001.json") != "" {
			t.Error("a plan was carried out that was made before the lock was held")
		}
		s.stop()
	})
}

// An answer that comes after a folder was read and before it is watched raises
// no event: the run is looked at once more.
func TestAnswerBetweenTheLookAndTheWatchIsFound(t *testing.T) {
	var w *world
	var once sync.Once
	w = newWorld(t, spying(func(s engine.Snapshot) {
		if s.In("requests/q/request.json").Present() && s.In("requests/q/response.json").Absent() {
			once.Do(func() { w.answer("a", "yes") })
		}
	}))
	w.toy("a", toyState{})
	w.serve(watch.Notify)
	w.becomes("a", "over")
}

package store_test

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"placet/engine"
	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/engine/store/memfs"
	"placet/layout"
)

// rounds watches the fsyncs of files and folders and counts how often one kind
// follows the other: a round is a sequence of fsyncs of one kind.
type rounds struct {
	mu    sync.Mutex
	last  string
	count int
	syncs int
}

func (r *rounds) see(op string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.syncs++
	if op != r.last || op == "syncall" {
		r.count++
	}
	r.last = op
}

func numbered(i int) layout.Run {
	run, ok := layout.Faber{}.At(fmt.Sprintf(".fractary/faber/runs/o/p/00000000-0000-0000-0000-%012d", i))
	if !ok {
		panic("no run")
	}
	return run
}

func planOf(run layout.Run) engine.Plan {
	return engine.Plan{Writes: []engine.Document{
		{Path: run.State, Kind: engine.KindState, Body: []byte("S")},
		{Path: run.Dir + "/requests/r/request.json", Body: []byte("R")},
		{Path: run.Dir + "/requests/r/form.md", Body: []byte("F")},
	}}
}

// together makes n commits while one before them is still in its rounds, and
// calls ready when all of them wait.
func together(t *testing.T, m *memfs.FS, s *store.Store, n int, plan func(i int) engine.Plan, ready func()) []error {
	t.Helper()
	entered, release := make(chan bool), make(chan bool)
	var first sync.Once
	m.Hook(func(c memfs.Call) error {
		if c.Op == "sync" {
			first.Do(func() {
				close(entered)
				<-release
			})
		}
		return nil
	})
	var all sync.WaitGroup
	all.Go(func() { commitAs(t, s, numbered(0), planOf(numbered(0))) })
	<-entered
	errs := make([]error, n)
	for i := range n {
		all.Go(func() { errs[i] = s.Commit(numbered(i+1), layout.Faber{}, plan(i+1)) })
	}
	for s.Waiting() < n {
		runtime.Gosched()
	}
	ready()
	close(release)
	all.Wait()
	return errs
}

func commitAs(t *testing.T, s *store.Store, run layout.Run, p engine.Plan) {
	t.Helper()
	if err := s.Commit(run, layout.Faber{}, p); err != nil {
		t.Error(err)
	}
}

func TestCommitsThatAreReadyTogetherShareTwoRounds(t *testing.T) {
	for _, all := range []bool{true, false} {
		m := memfs.New(nil)
		if !all {
			m.NoSyncAll()
		}
		var r rounds
		s := store.New(counting{m, &r}, store.Options{})
		errs := together(t, m, s, 100, func(i int) engine.Plan { return planOf(numbered(i)) }, func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.count, r.syncs, r.last = 0, 0, "none"
		})
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		// The commit before ends with its own two rounds: one of contents, which
		// had begun, and one of names.
		if r.count > 4 {
			t.Errorf("%d rounds", r.count)
		}
		if all != (r.syncs < 20) {
			t.Errorf("%d syncs", r.syncs)
		}
		for i := range 101 {
			if got, _ := m.CrashClone(0).Get(numbered(i).State); got != "S" {
				t.Fatalf("run %d is not durable", i)
			}
		}
	}
}

// counting counts the fsyncs of a file system.
type counting struct {
	fs.FS
	r *rounds
}

func (c counting) SyncDir(dir string) error {
	c.r.see("syncdir")
	return c.FS.SyncDir(dir)
}

func (c counting) SyncAll(dir string) error {
	err := c.FS.SyncAll(dir)
	if err == nil {
		c.r.see("syncall")
	}
	return err
}

func (c counting) Open(name string, how fs.How, perm iofs.FileMode) (fs.File, error) {
	f, err := c.FS.Open(name, how, perm)
	if err != nil {
		return nil, err
	}
	return countingFile{f, c.r}, nil
}

type countingFile struct {
	fs.File
	r *rounds
}

func (f countingFile) Sync() error {
	f.r.see("sync")
	return f.File.Sync()
}

func TestOneCommitIsTwoRounds(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		var r rounds
		s := store.New(counting{w.fs, &r}, store.Options{Now: w.clock.now, Parallel: 8})
		w.put(in("state.json"), "S0")
		w.put(in("state.json.problem.md"), "N0")
		commit(t, s, engine.Plan{
			Writes: []engine.Document{
				stateDoc("S1", "S0"), newDoc("requests/r1/request.json", "R"), newDoc("requests/r1/form.md", "F"),
				newDoc("events/001-a.json", "E"), over(newDoc("state.json.problem.md", "N1"), "N0"),
			},
			Lines: []engine.Line{{Path: in("log.jsonl"), Body: []byte("1\n")}},
		})
		if r.count != 2 {
			t.Errorf("%d rounds", r.count)
		}
	})
}

func TestAPlanThatFailsDoesNotHoldUpTheOthers(t *testing.T) {
	m := memfs.New(nil)
	s := store.New(m, store.Options{})
	m.Put(numbered(3).State, "foreign")
	m.PutOdd(numbered(5).Dir, 0o644) // a file in its folder's place
	errs := together(t, m, s, 20, func(i int) engine.Plan { return planOf(numbered(i)) }, func() {})
	for i, err := range errs {
		run := numbered(i + 1)
		switch i + 1 {
		case 3:
			if !errors.Is(err, store.ErrConflict) {
				t.Errorf("got %v", err)
			}
		case 5:
			if !errors.Is(err, syscall.ENOTDIR) && !strings.Contains(fmt.Sprint(err), "cannot") {
				t.Errorf("got %v", err)
			}
		default:
			if got, _ := m.Get(run.State); err != nil || got != "S" {
				t.Errorf("run %d: %v, %q", i+1, err, got)
			}
		}
	}
	noTemps(t, m)
}

func TestAnErrorOfOneFileEndsOnePlanOnly(t *testing.T) {
	m := memfs.New(nil)
	s := store.New(m, store.Options{})
	var once sync.Once
	errs := together(t, m, s, 20, func(i int) engine.Plan { return planOf(numbered(i)) }, func() {
		m.Hook(func(c memfs.Call) (err error) {
			if c.Op == "create" && !strings.HasPrefix(c.Name, numbered(0).Dir) {
				once.Do(func() { err = syscall.ENOSPC })
			}
			return err
		})
	})
	failed := 0
	for _, err := range errs {
		if err != nil {
			failed++
			if !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("got %v", err)
			}
		}
	}
	if failed != 1 {
		t.Errorf("%d failed", failed)
	}
	noTemps(t, m)
}

func TestTwoPlansForOneStateInOneRoundAreOneTransition(t *testing.T) {
	m := memfs.New(nil)
	s := store.New(m, store.Options{})
	errs := together(t, m, s, 10, func(i int) engine.Plan {
		return engine.Plan{Writes: []engine.Document{{Path: "one/state.json", Kind: engine.KindState, Body: fmt.Appendf(nil, "S%d", i)}}}
	}, func() {})
	won := 0
	for _, err := range errs {
		switch {
		case err == nil:
			won++
		case !errors.Is(err, store.ErrConflict):
			t.Errorf("got %v", err)
		}
	}
	if won != 1 {
		t.Errorf("%d of the plans won", won)
	}
	noTemps(t, m)
}

func TestCommitsFromManySidesAllBecomeDurable(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		s := store.New(w.fs, store.Options{})
		var all sync.WaitGroup
		for i := range 64 {
			all.Go(func() {
				for r := range 4 {
					run := numbered(i)
					over := engine.Digest("")
					if r > 0 {
						over = engine.Sum(fmt.Appendf(nil, "S%d", r-1))
					}
					commitAs(t, s, run, engine.Plan{
						Writes: []engine.Document{{Path: run.State, Kind: engine.KindState, Body: fmt.Appendf(nil, "S%d", r), Over: over}},
						Lines:  []engine.Line{{Path: run.Dir + "/log.jsonl", Body: fmt.Appendf(nil, "%d\n", r)}},
					})
				}
			})
		}
		all.Wait()
		for i := range 64 {
			check(t, w, map[string]string{numbered(i).State: "S3", numbered(i).Dir + "/log.jsonl": "0\n1\n2\n3\n"})
		}
	})
}

// busy is the file system of a machine that has so many bytes to write.
type busy struct {
	counting
	unwritten int64
}

func (b busy) Unwritten() (int64, bool) { return b.unwritten, b.unwritten >= 0 }

// One sync of everything also waits for what others have written, so it is used
// only if that is little.
func TestManyFilesAreSyncedOneByOneWhereOthersWriteMuch(t *testing.T) {
	for unwritten, all := range map[int64]bool{-1: true, 0: true, 300 << 10: true, 300 << 20: false} {
		m := memfs.New(nil)
		var r rounds
		s := store.New(busy{counting{m, &r}, unwritten}, store.Options{})
		errs := together(t, m, s, 100, func(i int) engine.Plan { return planOf(numbered(i)) }, func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.count, r.syncs, r.last = 0, 0, "none"
		})
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		if r.count > 4 {
			t.Errorf("%d rounds where %d bytes are not written", r.count, unwritten)
		}
		if all != (r.syncs < 20) {
			t.Errorf("%d syncs where %d bytes are not written", r.syncs, unwritten)
		}
		for i := range 101 {
			if got, _ := m.CrashClone(0).Get(numbered(i).State); got != "S" {
				t.Fatalf("run %d is not durable", i)
			}
		}
	}
}

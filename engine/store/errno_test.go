package store_test

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"
	"syscall"
	"testing"

	"placet/engine"
	"placet/engine/store"
	"placet/engine/store/memfs"
	"placet/layout"
)

var errnos = []syscall.Errno{
	syscall.ENOSPC, syscall.EIO, syscall.EACCES, syscall.EROFS, syscall.EMFILE, syscall.EDQUOT, syscall.ENOMEM,
}

func TestAnErrorAtAnyCallDamagesNothingAndPasses(t *testing.T) {
	if testing.Short() {
		t.Skip("one call after the other: there is nothing for the race detector")
	}
	for _, variant := range variants {
		t.Run(variant.name, func(t *testing.T) { errorAtAnyCall(t, variant.on) })
	}
}

func errorAtAnyCall(t *testing.T, on func(m *memfs.FS) *store.Store) {
	schedules := 0
	for _, errno := range errnos {
		for k := 1; ; k++ {
			m := scene()
			s := on(m)
			m.FailAt(k, errno)
			err := s.Commit(aRun(), layout.Faber{}, step)
			if m.Calls() < k {
				break
			}
			what := fmt.Sprintf("%v at call %d: %v", errno, k, err)
			if err != nil && (!errors.Is(err, errno) || errors.Is(err, store.ErrStopped)) {
				t.Fatalf("%s: not wrapped", what)
			}
			sound(t, m, what)
			if err != nil { // the same process goes on by itself
				if err := retry(s, m); err != nil {
					t.Fatalf("%s: again: %v", what, err)
				}
			}
			for seed := range uint64(6) { // and what it then says is durable is
				recovers(t, m.CrashClone(seed), fmt.Sprintf("%s, then a power cut, seed %d", what, seed))
				tree := m.CrashClone(seed).Tree()
				for name, may := range after {
					if last := may[len(may)-1]; tree[name] != last && name != in("old.problem.md") {
						t.Fatalf("%s, then a power cut, seed %d: %s holds %q", what, seed, name, tree[name])
					}
				}
				schedules++
			}
			recovers(t, m, what)
		}
	}
	t.Logf("%d schedules", schedules)
}

func TestAnErrorLeavesNoTemporaryNames(t *testing.T) {
	for _, op := range []string{"create", "write", "chmod", "sync", "rename", "exclusive", "exchange"} {
		for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EACCES, syscall.EROFS} {
			m := scene()
			m.Chmod(in("state.json"), 0o600, 0, 0)
			m.Hook(func(c memfs.Call) error {
				if c.Op == op {
					return errno
				}
				return nil
			})
			err := quiet(m).Commit(aRun(), layout.Faber{}, step)
			if !errors.Is(err, errno) || !strings.Contains(err.Error(), "cannot write ") {
				t.Errorf("%s: got %v", op, err)
			}
			noTemps(t, m)
		}
	}
}

func TestAnFsyncThatFailsOnceIsAnsweredByWritingAnew(t *testing.T) {
	for _, variant := range variants {
		t.Run(variant.name, func(t *testing.T) {
			for k := 1; k <= 12; k++ {
				fsyncFails(t, k, variant.on)
			}
		})
	}
}

// fsyncFails makes the k-th fsync fail.
func fsyncFails(t *testing.T, k int, on func(m *memfs.FS) *store.Store) {
	m := scene()
	s := on(m)
	n := 0
	m.Hook(func(c memfs.Call) error {
		if strings.HasPrefix(c.Op, "sync") {
			if n++; n == k {
				return syscall.EIO
			}
		}
		return nil
	})
	err := s.Commit(aRun(), layout.Faber{}, step)
	if err != nil && !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	m.Hook(nil)
	if err != nil {
		t.Logf("the %d. fsync: %v", k, err)
		if err := retry(s, m); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(20) {
		tree := m.CrashClone(seed).Tree()
		for name, may := range after {
			if last := may[len(may)-1]; tree[name] != last && name != in("old.problem.md") {
				t.Fatalf("the %d. fsync failed, seed %d: %s holds %q", k, seed, name, tree[name])
			}
		}
	}
	noTemps(t, m)
}

func TestAnFsyncIsNeverRepeatedOnTheFileThatRefusedIt(t *testing.T) {
	m := scene()
	refused := map[string]bool{}
	m.Hook(func(c memfs.Call) error {
		if c.Op != "sync" {
			return nil
		}
		if refused[c.Name] {
			t.Errorf("%s was synced again", c.Name)
		}
		if len(refused) < 2 {
			refused[c.Name] = true
			return syscall.EIO
		}
		return nil
	})
	commit(t, quiet(m), step)
	if len(refused) != 2 {
		t.Errorf("refused %v", refused)
	}
}

func TestThreeRoundsOfFsyncThatFailStopTheStore(t *testing.T) {
	for _, op := range []string{"sync", "syncdir", "syncall"} {
		m := scene()
		m.Hook(func(c memfs.Call) error {
			if c.Op == op {
				return syscall.EIO
			}
			return nil
		})
		s := quiet(m)
		if op == "syncall" {
			s.SyncAllFrom(1)
		}
		err := s.Commit(aRun(), layout.Faber{}, step)
		if !errors.Is(err, store.ErrStopped) || !errors.Is(err, syscall.EIO) || !s.Stopped() {
			t.Errorf("%s: got %v", op, err)
		}
		m.Hook(nil)
		calls := m.Calls()
		for _, err := range []error{s.Commit(aRun(), layout.Faber{}, step), s.Write(newDoc("x", "y")), s.Flush()} {
			if !errors.Is(err, store.ErrStopped) {
				t.Errorf("%s: then %v", op, err)
			}
		}
		if m.Calls() != calls {
			t.Errorf("%s: files were touched after stopping", op)
		}
		if l := load(t, s); len(l.Docs) == 0 {
			t.Errorf("%s: it no longer looks", op)
		}
		noTemps(t, m)
	}
}

func TestFsyncsThatFailNowAndThenDoNotStopTheStore(t *testing.T) {
	m := scene()
	n := 0
	m.Hook(func(c memfs.Call) error {
		if c.Op == "sync" {
			if n++; n%3 != 0 {
				return syscall.EIO
			}
		}
		return nil
	})
	s := quiet(m)
	for i := range 5 {
		if err := s.Write(engine.Document{Path: fmt.Sprintf("f%d", i), Body: []byte("x")}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAFullDiskAtFsyncPasses(t *testing.T) {
	m := scene()
	m.Hook(func(c memfs.Call) error {
		if c.Op == "sync" {
			return syscall.EDQUOT
		}
		return nil
	})
	s := quiet(m)
	for range 5 {
		if err := s.Commit(aRun(), layout.Faber{}, step); !errors.Is(err, syscall.EDQUOT) || errors.Is(err, store.ErrStopped) {
			t.Fatalf("got %v", err)
		}
	}
	m.Hook(nil)
	commit(t, s, step)
}

func TestAFolderWhoseSyncWasOwedIsSyncedByTheNextCommit(t *testing.T) {
	m := scene()
	s := quiet(m)
	m.Hook(func(c memfs.Call) error {
		if c.Op == "syncdir" && c.Name == aRun().Dir {
			return syscall.EMFILE
		}
		return nil
	})
	if err := s.Commit(aRun(), layout.Faber{}, step); !errors.Is(err, syscall.EMFILE) {
		t.Fatalf("got %v", err)
	}
	m.Hook(nil)
	if err := s.Write(engine.Document{Path: "elsewhere", Body: []byte("x")}); err != nil {
		t.Fatal(err)
	}
	if state, _ := m.CrashClone(0).Get(in("state.json")); state != "state of revision 1" {
		t.Errorf("the state document is %q", state)
	}
}

func TestAFolderThatCouldNotBeChangedAfterAFailedSyncIsChangedByTheNextCommit(t *testing.T) {
	m := scene()
	s := quiet(m)
	refused := false
	m.Hook(func(c memfs.Call) error {
		if c.Op == "syncdir" && c.Name == in("events") {
			refused = true
			return syscall.EIO
		}
		if refused && c.Op == "create" {
			return syscall.EIO
		}
		return nil
	})
	if err := s.Commit(aRun(), layout.Faber{}, step); !errors.Is(err, syscall.EIO) {
		t.Fatalf("got %v", err)
	}
	if err := s.Flush(); err != nil { // it still cannot be changed
		t.Fatal(err)
	}
	m.Hook(nil)
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	if body, _ := m.CrashClone(0).Get(in("events/002-b.json")); body != "event" {
		t.Errorf("the event is %q", body)
	}
	noTemps(t, m)
}

// A failed sync of everything may have lost the name of a new folder, and the
// change that was to make the next sync effective failed, too.
func TestANewFolderWhoseNameAFailedSyncHasLostIsChangedBeforeTheNext(t *testing.T) {
	m := scene()
	s := store.New(m, store.Options{Many: 1})
	var mu sync.Mutex // folders are changed side by side
	refused := 0
	m.Hook(func(c memfs.Call) error {
		mu.Lock()
		defer mu.Unlock()
		if c.Op == "syncall" && refused == 0 || refused == 1 && c.Op == "create" && path.Dir(c.Name) == in("requests") {
			refused++
			return syscall.EIO
		}
		return nil
	})
	if err := s.Commit(aRun(), layout.Faber{}, step); err != nil {
		t.Fatal(err)
	}
	if refused != 2 {
		t.Fatalf("%d calls were refused", refused)
	}
	if body, _ := m.CrashClone(0).Get(in("requests/r2/request.json")); body != after[in("requests/r2/request.json")][1] {
		t.Errorf("the request is %q", body)
	}
}

package store_test

import (
	"context"
	"errors"
	iofs "io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/engine/store/memfs"
)

func lock(t testing.TB, s *store.Store) func() {
	t.Helper()
	unlock, err := s.Lock(context.Background(), aRun(), patiently)
	if err != nil {
		t.Fatal(err)
	}
	return unlock
}

func TestLocksAreCreatedInTheirOrderAndNeverRemoved(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		w.dir(aRun().Dir)
		s := w.store()
		lock(t, s)()
		// The folder of the second lock is not made for the lock.
		if diff := cmp.Diff([]string{"state.json.lock"}, names(t, w, aRun().Dir)); diff != "" {
			t.Error(diff)
		}
		w.dir(in("events"))
		lock(t, s)()
		if diff := cmp.Diff([]string{".next-id.lock"}, names(t, w, in("events"))); diff != "" {
			t.Error(diff)
		}
		check(t, w, map[string]string{in("state.json.lock"): "", in("events/.next-id.lock"): ""})
	})
}

func TestOnlyExistingLocksAreUsedWhereTheRunSaysSo(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		run := aRun()
		run.LocksExist = true
		w.dir(in("events"))
		w.put(in("events/.next-id.lock"), "")
		unlock, err := w.store().Lock(context.Background(), run, patiently)
		if err != nil {
			t.Fatal(err)
		}
		defer unlock()
		if diff := cmp.Diff([]string{"events"}, names(t, w, run.Dir)); diff != "" {
			t.Error(diff)
		}
		f, err := w.fs.Open(in("events/.next-id.lock"), fs.ForLocking, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := f.TryLock(); !errors.Is(err, fs.ErrBusy) {
			t.Errorf("the existing lock is not held: %v", err)
		}
	})
}

func TestARunWithoutFolderCannotBeLocked(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		if _, err := w.store().Lock(context.Background(), aRun(), patiently); !errors.Is(err, iofs.ErrNotExist) {
			t.Errorf("got %v", err)
		}
	})
}

func TestALockThatIsHeldIsWaitedForFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memfs.New(nil)
		m.PutDir(in("events"))
		unlock := lock(t, quiet(m))
		start := time.Now()
		_, err := quiet(m).Lock(context.Background(), aRun(), patiently)
		if !errors.Is(err, fs.ErrBusy) || !strings.Contains(err.Error(), "state.json.lock") {
			t.Errorf("got %v", err)
		}
		if waited := time.Since(start); waited != 5*time.Second {
			t.Errorf("waited %v", waited)
		}
		go func() {
			time.Sleep(3 * time.Second)
			unlock()
			unlock()
		}()
		second := lock(t, quiet(m))
		if waited := time.Since(start); waited < 8*time.Second || waited > 8100*time.Millisecond {
			t.Errorf("taken after %v", waited)
		}
		ctx, cancel := context.WithCancelCause(context.Background())
		because := errors.New("because")
		cancel(because)
		if _, err := quiet(m).Lock(ctx, aRun(), patiently); !errors.Is(err, because) {
			t.Errorf("got %v", err)
		}
		second()
	})
}

func TestALockOfWhichTheSecondIsHeldGivesUpTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memfs.New(nil)
		m.PutDir(in("events"))
		held, err := m.Open(in("events/.next-id.lock"), fs.ForLocking, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		if err := held.TryLock(); err != nil {
			t.Fatal(err)
		}
		if _, err := quiet(m).Lock(context.Background(), aRun(), patiently); !errors.Is(err, fs.ErrBusy) {
			t.Errorf("got %v", err)
		}
		first, err := m.Open(in("state.json.lock"), fs.ForLocking, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		if err := first.TryLock(); err != nil {
			t.Errorf("the first lock is still held: %v", err)
		}
	})
}

func TestALockOnAFileThatWasRemovedMeanwhileIsTakenAnew(t *testing.T) {
	m := memfs.New(nil)
	m.PutDir(aRun().Dir)
	removed := false
	m.Hook(func(c memfs.Call) error {
		if c.Op == "trylock" && !removed {
			removed = true
			m.Delete(in("state.json.lock"))
		}
		return nil
	})
	defer lock(t, quiet(m))()
	f, err := m.Open(in("state.json.lock"), fs.ForLocking, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.TryLock(); !errors.Is(err, fs.ErrBusy) {
		t.Errorf("got %v", err)
	}
}

// TestLocksHoldAgainstWritersThatRemoveTheirLockFiles counts in a file under the
// lock while every unlocking writer removes the lock file, as upstream does.
func TestLocksHoldAgainstWritersThatRemoveTheirLockFiles(t *testing.T) {
	w := machine(t)
	w.dir(aRun().Dir)
	path := filepath.Join(w.fs.Root(), in("state.json.lock"))
	s := store.New(w.fs, store.Options{})
	counter, inside := 0, 0 // deliberately without any other lock
	var mu sync.Mutex
	enter := func() {
		mu.Lock()
		inside++
		if inside != 1 {
			t.Error("two hold the lock")
		}
		mu.Unlock()
		for range 20 {
			runtime.Gosched()
		}
		counter++
		mu.Lock()
		inside--
		mu.Unlock()
	}
	upstream := func() {
		for { // flock(1), then the same check that we make
			f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
			if err != nil {
				t.Error(err)
				return
			}
			defer f.Close()
			if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
				t.Error(err)
				return
			}
			open, err := f.Stat()
			if err != nil {
				t.Error(err)
				return
			}
			if named, err := os.Stat(path); err == nil && os.SameFile(open, named) {
				enter()
				os.Remove(path)
				return
			}
		}
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			for range 300 {
				unlock := lock(t, s)
				enter()
				unlock()
			}
		})
		all.Go(func() {
			for range 300 {
				upstream()
			}
		})
	}
	all.Wait()
	if counter != 1800 {
		t.Errorf("counted %d", counter)
	}
}

func TestWhereThereIsNoFlockThereIsNoLock(t *testing.T) {
	m := memfs.New(nil)
	m.PutDir(in("events"))
	m.Hook(func(c memfs.Call) error {
		if c.Op == "trylock" {
			return errors.ErrUnsupported
		}
		return nil
	})
	lock(t, quiet(m))
	lock(t, quiet(m))()
	for range 2 {
		unlock, err := quiet(m).LockWorkspace()
		if err != nil {
			t.Fatal(err)
		}
		unlock()
	}
}

func TestWhatStandsInALocksPlaceIsAnError(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		w.odd(in("state.json.lock"), iofs.ModeSymlink)
		if _, err := w.store().Lock(context.Background(), aRun(), patiently); err == nil || !strings.Contains(err.Error(), "symbolic link") {
			t.Errorf("got %v", err)
		}
	})
	m := memfs.New(nil)
	m.PutDir(aRun().Dir)
	for _, op := range []string{"lock", "trylock"} {
		m.Hook(func(c memfs.Call) error {
			if c.Op == op {
				return syscall.EIO
			}
			return nil
		})
		if _, err := quiet(m).Lock(context.Background(), aRun(), patiently); !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: got %v", op, err)
		}
		if _, err := quiet(m).LockWorkspace(); !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: got %v", op, err)
		}
	}
}

func TestOnePlacetHoldsTheWorkspace(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		unlock, err := w.store().LockWorkspace()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.store().LockWorkspace(); !errors.Is(err, fs.ErrBusy) {
			t.Errorf("got %v", err)
		}
		unlock()
		again, err := w.store().LockWorkspace()
		if err != nil {
			t.Fatal(err)
		}
		again()
		check(t, w, map[string]string{".placet/.gitignore": "*\n"})
	})
}

// The process that made .placet/.gitignore may have been killed before it wrote
// the content. Content that somebody else wrote there stays.
func TestAnEmptyGitignoreIsCompleted(t *testing.T) {
	for before, want := range map[string]string{"": "*\n", "/lock\n": "/lock\n"} {
		worlds(t, func(t *testing.T, w world) {
			w.put(".placet/.gitignore", before)
			unlock, err := w.store().LockWorkspace()
			if err != nil {
				t.Fatal(err)
			}
			unlock()
			check(t, w, map[string]string{".placet/.gitignore": want})
		})
	}
}

func TestAWorkspaceLockThatWasRemovedIsTakenAnew(t *testing.T) {
	m := memfs.New(nil)
	removed := false
	m.Hook(func(c memfs.Call) error {
		if c.Op == "trylock" && !removed {
			removed = true
			m.Delete(".placet/lock")
		}
		return nil
	})
	unlock, err := quiet(m).LockWorkspace()
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if _, err := quiet(m).LockWorkspace(); !errors.Is(err, fs.ErrBusy) {
		t.Errorf("got %v", err)
	}
}

func TestAWorkspaceThatCannotBeWrittenCannotBeLocked(t *testing.T) {
	for _, op := range []string{"mkdir", "append", "write", "lock", "stat"} {
		m := memfs.New(nil)
		m.Hook(func(c memfs.Call) error {
			if c.Op == op {
				return syscall.EROFS
			}
			return nil
		})
		if _, err := quiet(m).LockWorkspace(); !errors.Is(err, syscall.EROFS) {
			t.Errorf("%s: got %v", op, err)
		}
	}
}

func TestPrivateFolderIsMadeByTwoAtOnce(t *testing.T) {
	m := memfs.New(nil)
	m.Hook(func(c memfs.Call) error {
		if c.Op == "append" {
			m.Put(c.Name, "*\n")
		}
		return nil
	})
	unlock, err := quiet(m).LockWorkspace()
	if err != nil {
		t.Fatal(err)
	}
	unlock()
	if got, _ := m.Get(".placet/.gitignore"); got != "*\n" {
		t.Errorf("it holds %q", got)
	}
}

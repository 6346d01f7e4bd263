package store_test

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"placet/engine"
	"placet/engine/store"
	storefs "placet/engine/store/fs"
	"placet/engine/store/memfs"
	"placet/layout"
)

func plainTemp(digits string) string { return layout.TempPrefix + digits + layout.TempSuffix }

// swapTemp returns the name under which a state document made over one content waits to
// displace it.
func swapTemp(over, own string) string {
	return plainTemp("0123456789abcdef" + engine.Sum([]byte(over)).Hex()[:16] + engine.Sum([]byte(own)).Hex()[:16])
}

// sweep sweeps the run's folder as the one placet of the workspace.
func sweep(t *testing.T, w world) string {
	t.Helper()
	var log bytes.Buffer
	s := store.New(w.fs, store.Options{Now: w.clock.now, Log: slog.New(slog.NewTextHandler(&log, nil))})
	unlock, err := s.LockWorkspace()
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if _, err := s.Sweep(aRun().Dir); err != nil {
		t.Fatal(err)
	}
	return log.String()
}

func TestSweepRemovesPlacetsOwnTemporaryNamesAlone(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		for _, name := range []string{plainTemp("0123456789abcdef"), plainTemp("x"), swapTemp("S0", "S1"), "state.json", ".other.tmp", "state.json.tmp", ".placet-x"} {
			w.put(in(name), "S0")
		}
		w.dir(in(plainTemp("folder")))
		w.later(10 * time.Second) // a command may be writing an answer
		sweep(t, w)
		want := []string{".other.tmp", ".placet-folder.tmp", ".placet-x", "state.json", "state.json.tmp"}
		if diff := cmp.Diff(want, names(t, w, aRun().Dir)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestSweepLeavesWhatAnotherPlacetMayBeUsing(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		w.put(in(plainTemp("0123456789abcdef")), "x")
		s := w.store() // it does not hold the workspace
		for i, want := range []int{1, 1, 0} {
			if _, err := s.Sweep(aRun().Dir); err != nil {
				t.Fatal(err)
			}
			if got := names(t, w, aRun().Dir); len(got) != want {
				t.Errorf("%d: %v", i, got)
			}
			w.later(45 * time.Second)
		}
	})
}

func TestSweepLeavesWhatThisPlacetIsUsing(t *testing.T) {
	m := scene()
	s := quiet(m)
	unlock, err := s.LockWorkspace()
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	sweeping := false
	m.Hook(func(c memfs.Call) error {
		if !sweeping && (c.Op == "sync" || c.Op == "exchange" || c.Op == "exclusive") {
			sweeping = true
			if _, err := s.Sweep(path.Dir(c.Name)); err != nil {
				t.Error(err)
			}
			sweeping = false
		}
		return nil
	})
	commit(t, s, step)
}

func TestSweepPutsADisplacedDocumentOfOthersBack(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		w.put(in("state.json"), "ours")
		w.put(in("metadata.json"), "M")
		w.put(in(swapTemp("S0", "ours")), foreign)
		if log := sweep(t, w); !strings.Contains(log, "put back") {
			t.Errorf("log: %q", log)
		}
		check(t, w, map[string]string{in("state.json"): foreign})
		if got := names(t, w, aRun().Dir); len(got) != 2 {
			t.Errorf("left behind: %v", got)
		}
	})
}

func TestSweepKeepsADisplacedDocumentThatNobodyCanPlace(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		w.put(in("state.json"), "written by others since")
		w.put(in(swapTemp("S0", "ours")), foreign)
		if log := sweep(t, w); !strings.Contains(log, "left aside") {
			t.Errorf("log: %q", log)
		}
		check(t, w, map[string]string{in("state.json"): "written by others since", in(swapTemp("S0", "ours")): foreign})
	})
}

func TestSweepKnowsADisplacedLinkOfOthers(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		w.put(in("state.json"), "ours")
		w.odd(in(swapTemp("S0", "ours")), fs.ModeSymlink)
		sweep(t, w)
		info, err := w.fs.Stat(in("state.json"))
		if err != nil || info.Mode&fs.ModeSymlink == 0 {
			t.Errorf("their link is not back: %v %v", info.Mode, err)
		}
	})
}

func TestSweepSaysWhatItCannotDo(t *testing.T) {
	for _, op := range []string{"list", "remove"} {
		w := inMemory()
		w.put(in(plainTemp("0123456789abcdef")), "x")
		w.later(time.Hour)
		w.fs.(*memfs.FS).Hook(func(c memfs.Call) error {
			if c.Op == op {
				return syscall.EACCES
			}
			return nil
		})
		if _, err := w.store().Sweep(aRun().Dir); !errors.Is(err, syscall.EACCES) {
			t.Errorf("%s: got %v", op, err)
		}
	}
	if _, err := inMemory().store().Sweep("none"); err != nil {
		t.Errorf("got %v", err)
	}
}

// A temporary file that existed when placet took the workspace's lock belongs to nobody,
// unless the process that made it is alive and is another one.
func TestSweepRemovesAtOnceWhatADeadProcessLeft(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		const nobody = 1<<31 - 1 // greater than any process id
		dead, reused, alive := layout.TempName(nobody, 1), layout.TempName(os.Getpid(), 2), layout.TempName(os.Getppid(), 3)
		for _, name := range []string{dead, reused, alive} {
			w.put(in(name), "x")
		}
		w.later(time.Second)
		s := w.store()
		unlock, err := s.LockWorkspace()
		if err != nil {
			t.Fatal(err)
		}
		defer unlock()
		sweep := func(wantLeft bool, want ...string) {
			t.Helper()
			left, err := s.Sweep(aRun().Dir)
			if err != nil || left != wantLeft {
				t.Errorf("left %v, %v", left, err)
			}
			if diff := cmp.Diff(want, names(t, w, aRun().Dir), cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		}
		sweep(true, alive)
		w.later(10 * time.Second)
		sweep(false)
	})
}

// stubborn is a file system that, for a while, does not sync folders or remove temporary
// files.
type stubborn struct {
	storefs.FS
	syncs, removals int
}

func (s *stubborn) SyncDir(dir string) error {
	if s.syncs--; s.syncs >= 0 {
		return syscall.EIO
	}
	return s.FS.SyncDir(dir)
}

func (s *stubborn) Remove(name string) error {
	if layout.IsTemp(path.Base(name)) {
		if s.removals--; s.removals >= 0 {
			return syscall.EIO
		}
	}
	return s.FS.Remove(name)
}

// A file of this process that could not be removed is removed later, in whatever folder:
// here a commit has changed the root of the runs, to sync it again.
func TestWhatCouldNotBeRemovedIsRemovedLater(t *testing.T) {
	for what, later := range map[string]func(s *store.Store) error{
		"the next look": func(s *store.Store) error {
			_, err := s.Load(aRun(), layout.Faber{}, nil)
			return err
		},
		"the next commit": (*store.Store).Flush,
	} {
		w := inMemory()
		w.dir(path.Dir(aRun().Dir))
		disk := &stubborn{FS: w.fs, syncs: 20}
		s := store.New(disk, store.Options{Now: w.clock.now, Parallel: 1})
		unlock, err := s.LockWorkspace()
		if err != nil {
			t.Fatal(err)
		}
		defer unlock()
		disk.syncs, disk.removals = 2, 3
		if err := s.Commit(aRun(), layout.Faber{}, engine.Plan{Writes: []engine.Document{stateDoc("S1", "")}}); err != nil {
			t.Fatal(err)
		}
		left := func() (all []string) {
			for dir := aRun().Dir; ; dir = path.Dir(dir) {
				for _, name := range names(t, w, dir) {
					if layout.IsTemp(name) {
						all = append(all, path.Join(dir, name))
					}
				}
				if dir == "." {
					return all
				}
			}
		}
		if len(left()) == 0 {
			t.Fatal("nothing is left to be removed")
		}
		disk.removals = 0
		if err := later(s); err != nil {
			t.Fatal(err)
		}
		if all := left(); len(all) > 0 {
			t.Errorf("after %s there is still %q", what, all)
		}
	}
}

package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"placet/engine"
	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/engine/store/memfs"
	"placet/layout"
)

// foreign is what somebody else writes into the state document.
const foreign = "their words"

// theirs fails unless the state document holds the foreign content.
func theirs(t *testing.T, m *memfs.FS, what string) {
	t.Helper()
	if got, _ := m.Get(in("state.json")); got != foreign {
		t.Fatalf("%s: the state document holds %q", what, got)
	}
}

func TestAForeignStateWrittenAtAnyCallIsNeverLost(t *testing.T) {
	for _, how := range []func(m *memfs.FS, body string){
		func(m *memfs.FS, body string) { m.Put(in("state.json"), body) },
		func(m *memfs.FS, body string) { m.Rewrite(in("state.json"), body) },
	} {
		for k := 1; ; k++ {
			m := scene()
			hit := false
			m.Hook(func(c memfs.Call) error {
				if c.N == k {
					hit = true
					how(m, foreign)
				}
				return nil
			})
			err := quiet(m).Commit(aRun(), layout.Faber{}, step)
			if !hit {
				break
			}
			what := fmt.Sprintf("written at call %d, commit says %v", k, err)
			if err != nil && !errors.Is(err, store.ErrConflict) {
				t.Fatal(what)
			}
			theirs(t, m, what)
			noTemps(t, m)
		}
	}
}

func TestManyForeignStatesInARowLeaveTheNewest(t *testing.T) {
	for _, every := range []string{"exchange", "stat", "open", "exclusive", "syncdir", "fstat"} {
		m := scene()
		n := 0
		m.Hook(func(c memfs.Call) error {
			if c.Op == every && n < 7 {
				n++
				m.Put(in("state.json"), fmt.Sprintf("%s %d", foreign, n))
			}
			return nil
		})
		err := quiet(m).Commit(aRun(), layout.Faber{}, step)
		got, _ := m.Get(in("state.json"))
		if want := fmt.Sprintf("%s %d", foreign, n); got != want || n == 0 {
			t.Errorf("%s: %q, want %q (%v)", every, got, want, err)
		}
		noTemps(t, m)
	}
}

func TestAStateThatIsRemovedMeanwhileLosesNoWords(t *testing.T) {
	for k := 1; ; k++ {
		m := scene()
		hit := false
		m.Hook(func(c memfs.Call) error {
			if _, there := m.Get(in("state.json")); c.N == k && there {
				hit = true
				m.Delete(in("state.json"))
			}
			return nil
		})
		err := quiet(m).Commit(aRun(), layout.Faber{}, step)
		if !hit {
			break
		}
		if err != nil && !errors.Is(err, store.ErrConflict) {
			t.Fatalf("removed at call %d: %v", k, err)
		}
		noTemps(t, m)
	}
}

// TestAForeignStateSurvivesCrashAndError lets others write at one call and the
// machine crash, or a call fail, at any later one.
func TestAForeignStateSurvivesCrashAndError(t *testing.T) {
	if testing.Short() {
		t.Skip("one call after the other: there is nothing for the race detector")
	}
	schedules := 0
	for k := 1; ; k++ {
		hit := false
		for j := k; j < k+45; j++ {
			for _, fault := range []string{"crash", "kill", "EIO", "EMFILE"} {
				m := scene()
				hit = false
				m.Hook(func(c memfs.Call) error {
					if c.N == k {
						hit = true
						m.Put(in("state.json"), foreign)
					}
					return nil
				})
				switch fault {
				case "crash", "kill":
					m.CrashAt(j, memfs.After)
				case "EIO":
					m.FailAt(j, syscall.EIO)
				case "EMFILE":
					m.FailAt(j, syscall.EMFILE)
				}
				s := quiet(m)
				err := s.Commit(aRun(), layout.Faber{}, step)
				if !hit {
					continue
				}
				what := fmt.Sprintf("written at call %d, %s at %d: %v", k, fault, j, err)
				switch fault {
				case "crash":
					for seed := range seeds(20) {
						c := m.CrashClone(seed)
						sweepHeld(t, c)
						theirs(t, c, fmt.Sprintf("%s, seed %d", what, seed))
						schedules++
					}
					continue
				case "kill":
					m = m.KillClone()
					sweepHeld(t, m)
				default:
					m.Hook(nil)
					state, _ := m.Get(in("state.json"))
					again := s.Commit(aRun(), layout.Faber{}, step)
					what += fmt.Sprintf(", then %q, again: %v", state, again)
				}
				theirs(t, m, what)
				schedules++
			}
		}
		if !hit {
			break
		}
	}
	t.Logf("%d schedules", schedules)
}

func sweepHeld(t *testing.T, m *memfs.FS) {
	t.Helper()
	m.Later(time.Minute)
	s := quiet(m)
	unlock, err := s.LockWorkspace()
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if err := sweepAll(s, m); err != nil {
		t.Fatal(err)
	}
}

// TestForeignStatesRacingWithOursAreNeverLost races commits against a program
// that renames its own state documents over ours.
func TestForeignStatesRacingWithOursAreNeverLost(t *testing.T) {
	w := machine(t)
	w.put(in("state.json"), "theirs -1;")
	path := filepath.Join(w.fs.Root(), in("state.json"))
	s := store.New(w.fs, store.Options{})
	turns := make(chan bool)
	last := "theirs -1;"
	var others sync.WaitGroup
	others.Go(func() {
		for i := 0; ; i++ {
			if _, more := <-turns; !more {
				return
			}
			for n := range i % 4 { // in bursts, so that some of ours get through
				last = fmt.Sprintf("theirs %d.%d;", i, n)
				if err := errors.Join(os.WriteFile(path+".tmp", []byte(last), 0o644), os.Rename(path+".tmp", path)); err != nil {
					t.Error(err)
				}
			}
		}
	})
	replaced := map[string]bool{}
	ours, moved := 0, 0
	for ours+moved < 1000 {
		turns <- true
		now, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		doc := stateDoc(fmt.Sprintf("ours %d over %s", ours+moved, now[bytes.LastIndexByte(now[:len(now)-1], ';')+1:]), string(now))
		switch err := s.Commit(aRun(), layout.Faber{}, engine.Plan{Writes: []engine.Document{doc}}); {
		case err == nil:
			ours++
			if replaced[string(now)] {
				t.Fatalf("%q was replaced twice", now)
			}
			replaced[string(now)] = true
		case errors.Is(err, store.ErrConflict):
			moved++
		default:
			t.Fatal(err)
		}
	}
	close(turns)
	others.Wait()
	// The state document holds their last content, or ours that was made over
	// it.
	if got, _ := w.get(in("state.json")); !strings.HasSuffix(got, last) {
		t.Errorf("their last words %q are lost; the state document holds %q", last, got)
	}
	t.Logf("%d of ours, %d refused", ours, moved)
	if ours == 0 || moved == 0 {
		t.Error("there was no race")
	}
	if left := names(t, w, aRun().Dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// TestTwoStoresOnOneStateDocumentLoseNoTransition lets two placets count in one
// state document, with the run's locks as the only thing between them.
func TestTwoStoresOnOneStateDocumentLoseNoTransition(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		w.put(in("state.json"), "0 ")
		const each = 150
		var both sync.WaitGroup
		for who := range 2 {
			both.Go(func() {
				s := store.New(w.fs, store.Options{})
				for i := 0; i < each; {
					unlock, err := s.Lock(t.Context(), aRun(), patiently)
					if err != nil {
						t.Error(err)
						return
					}
					now, there := w.get(in("state.json"))
					if !there {
						t.Error("the state document was gone")
						return
					}
					doc := stateDoc(fmt.Sprintf("%s%d.%d ", now, who, i), now)
					err = s.Commit(aRun(), layout.Faber{}, engine.Plan{Writes: []engine.Document{doc}})
					unlock()
					switch {
					case err == nil:
						i++
					case !errors.Is(err, store.ErrConflict):
						t.Error(err)
						return
					}
				}
			})
		}
		both.Wait()
		got, _ := w.get(in("state.json"))
		if words := strings.Fields(got); len(words) != 2*each+1 {
			t.Errorf("%d of %d transitions are left", len(words)-1, 2*each)
		}
	})
}

func TestAWriterInPlaceThatHeldTheDisplacedStateOpenIsHeard(t *testing.T) {
	w := machine(t)
	w.put(in("state.json"), "S0")
	path := filepath.Join(w.fs.Root(), in("state.json"))
	held, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	s := store.New(writesAtSyncDir{w.fs, held}, store.Options{})
	err = s.Commit(aRun(), layout.Faber{}, engine.Plan{Writes: []engine.Document{stateDoc("S1", "S0")}})
	if !errors.Is(err, store.ErrConflict) {
		t.Errorf("got %v", err)
	}
	check(t, w, map[string]string{in("state.json"): foreign})
}

// writesAtSyncDir lets a writer in place finish while our names become durable.
type writesAtSyncDir struct {
	fs.FS
	held *os.File
}

func (f writesAtSyncDir) SyncDir(dir string) error {
	if _, err := f.held.WriteAt([]byte(foreign), 0); err != nil {
		return err
	}
	return f.FS.SyncDir(dir)
}

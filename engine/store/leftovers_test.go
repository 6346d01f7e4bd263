package store_test

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"placet/engine"
	"placet/engine/store"
	"placet/engine/store/memfs"
	"placet/layout"
)

// nextStep returns a plan after the step.
func nextStep() engine.Plan {
	return engine.Plan{
		Writes: []engine.Document{stateDoc("state of revision 2", "state of revision 1")},
		Lines:  []engine.Line{{Path: in("log.jsonl"), Body: []byte("{\"line\":3}\n")}},
	}
}

// holding returns a store that holds the workspace, like that of a daemon.
func holding(t *testing.T, m *memfs.FS) *store.Store {
	t.Helper()
	s := quiet(m)
	if _, err := s.LockWorkspace(); err != nil {
		t.Fatal(err)
	}
	return s
}

// inheriting holds the ways in which a disk makes leftovers durable.
var inheriting = map[string]func(*memfs.FS){
	"one sync of everything": func(*memfs.FS) {},
	"file by file":           (*memfs.FS).NoSyncAll,
	"a sync of everything that fails, and loses what it was to make durable": func(m *memfs.FS) {
		m.Hook(func(c memfs.Call) error {
			if c.Op != "syncall" {
				return nil
			}
			m.Hook(nil)
			return syscall.EIO
		})
	},
}

// A placet that continues after a killed one publishes what it finds, so a power
// cut must not remove that any more.
func TestWhatAKilledPlacetLeftIsDurableBeforeTheNextRevision(t *testing.T) {
	for _, file := range []string{"requests/r1/receipt.json", "requests/r2/request.json", "events/002-b.json"} {
		for name, on := range inheriting {
			m := scene()
			m.Hook(func(c memfs.Call) error {
				if c.Op == "syncdir" {
					return memfs.ErrCrashed // killed with all names in place
				}
				return nil
			})
			if err := holding(t, m).Commit(aRun(), layout.Faber{}, step); err == nil {
				t.Fatal("it was not killed")
			}
			m = m.KillClone()
			on(m)
			commit(t, holding(t, m), nextStep())
			for seed := range uint64(20) {
				c := m.CrashClone(seed)
				if state, _ := c.Get(in("state.json")); state != "state of revision 2" {
					t.Fatalf("%s, seed %d: the state is %q", name, seed, state)
				}
				if body, _ := c.Get(in(file)); body != after[in(file)][1] {
					t.Errorf("%s, seed %d: %s holds %q", name, seed, file, body)
				}
			}
		}
	}
}

func TestTheLinesThatAKilledPlacetLeftAreDurableBeforeTheNextRevision(t *testing.T) {
	for name, on := range inheriting {
		m := scene()
		commit(t, holding(t, m), step)
		m = m.KillClone()
		on(m)
		commit(t, holding(t, m), nextStep())
		for seed := range uint64(20) {
			if log, _ := m.CrashClone(seed).Get(in("log.jsonl")); !strings.HasPrefix(log, "{\"line\":1}\n{\"line\":2}\n") {
				t.Errorf("%s, seed %d: revision 2 stands, and the journal holds %q", name, seed, log)
			}
		}
	}
}

func TestOnlyTheFirstPlanOfAHolderInherits(t *testing.T) {
	m := scene()
	count := func(s *store.Store, plan engine.Plan) (all int) {
		m.Hook(func(c memfs.Call) error {
			if c.Op == "syncall" {
				all++
			}
			return nil
		})
		commit(t, s, plan)
		return all
	}
	s := holding(t, m)
	if first, second := count(s, step), count(s, nextStep()); first != 1 || second != 0 {
		t.Errorf("%d and %d syncs of everything", first, second)
	}
	if got := count(quiet(m), engine.Plan{Writes: []engine.Document{stateDoc("S3", "state of revision 2")}}); got != 0 {
		t.Errorf("a store that holds nothing made %d", got)
	}
}

func TestAPlanWaitsWhereWhatWasLeftCannotBeLookedAt(t *testing.T) {
	m := scene()
	m.NoSyncAll()
	s := holding(t, m)
	m.Hook(func(c memfs.Call) error {
		if c.Op == "list" {
			return syscall.EACCES
		}
		return nil
	})
	if err := s.Commit(aRun(), layout.Faber{}, step); !errors.Is(err, syscall.EACCES) {
		t.Fatalf("got %v", err)
	}
	m.Hook(nil)
	commit(t, s, step)
	finished(t, m, "again")
}

// A build that writes during a start does not delay the first plan.
func TestTheFirstPlanOfAHolderDoesNotWaitForWhatOthersWrite(t *testing.T) {
	for unwritten, want := range map[int64]int{0: 1, 1 << 30: 0} {
		m, all := scene(), 0
		m.Hook(func(c memfs.Call) error {
			if c.Op == "syncall" {
				all++
			}
			return nil
		})
		s := store.New(busy{counting{m, new(rounds)}, unwritten}, store.Options{})
		if _, err := s.LockWorkspace(); err != nil {
			t.Fatal(err)
		}
		commit(t, s, step)
		if all != want {
			t.Errorf("%d syncs of everything while %d bytes wait to be written, want %d", all, unwritten, want)
		}
	}
}

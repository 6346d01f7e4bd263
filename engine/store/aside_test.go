package store_test

import (
	"path"
	"strings"
	"syscall"
	"testing"

	"placet/engine"
	"placet/engine/store"
	"placet/engine/store/memfs"
	"placet/layout"
)

// A displaced content that could not be read may turn out to be the expected one: then
// nobody wrote in the meantime, and the state document stays unchanged.
func TestADisplacedStateThatCouldNotBeReadIsLetGoWhenItCan(t *testing.T) {
	m := scene()
	s := holding(t, m)
	exchanged := false
	m.Hook(func(c memfs.Call) error {
		if exchanged && (c.Op == "open" || c.Op == "exchange" || c.Op == "stat") {
			return syscall.ESTALE
		}
		exchanged = exchanged || c.Op == "exchange"
		return nil
	})
	err := s.Commit(aRun(), layout.Faber{}, step)
	if err == nil || !strings.Contains(err.Error(), "is kept in") {
		t.Fatalf("got %v", err)
	}
	m.Hook(nil)
	if _, err := s.Sweep(aRun().Dir); err != nil {
		t.Fatal(err)
	}
	noTemps(t, m)
	if state, _ := m.Get(in("state.json")); state != "state of revision 1" {
		t.Errorf("the state is %q", state)
	}
}

// A sweep, too, puts back what others wrote, not only the next change of the state document.
func TestASweepPutsBackWhatThisProcessKeptAside(t *testing.T) {
	m := scene()
	s := holding(t, m)
	calls := map[string]int{}
	m.Hook(func(c memfs.Call) error {
		if c.Op == "exchange" && calls["exchange"] == 0 {
			m.Put(in("state.json"), "theirs")
		}
		if calls["exchange"] > 0 && c.Op == "exchange" {
			return syscall.EIO
		}
		calls[c.Op]++
		return nil
	})
	if err := s.Commit(aRun(), layout.Faber{}, step); err == nil || !strings.Contains(err.Error(), "is kept in") {
		t.Fatalf("got %v", err)
	}
	m.Hook(nil)
	if _, err := s.Sweep(aRun().Dir); err != nil {
		t.Fatal(err)
	}
	noTemps(t, m)
	if state, _ := m.Get(in("state.json")); state != "theirs" {
		t.Errorf("the state is %q", state)
	}
}

// A power cut may bring back the name of a content that a durable commit has displaced. If
// it cannot be read at that moment, nobody knows whose it is, and putting it back would undo
// a published decision.
func TestASweepPutsNothingBackThatItCannotRead(t *testing.T) {
	for _, op := range []string{"open", "fstat", "read"} {
		m := scene()
		commit(t, holding(t, m), step)
		temp := in(plainTemp("0123456789abcdef" + engine.Sum([]byte("state of revision 0")).Hex()[:16] + engine.Sum([]byte("state of revision 1")).Hex()[:16]))
		m.Put(temp, "state of revision 0")
		m = m.KillClone()
		s := holding(t, m)
		failed := false
		m.Hook(func(c memfs.Call) error {
			if c.Op == op && c.Name == temp && !failed {
				failed = true
				return syscall.EMFILE
			}
			return nil
		})
		if _, err := s.Sweep(aRun().Dir); !failed || err == nil {
			t.Errorf("%s: the sweep said %v", op, err)
		}
		if state, _ := m.Get(in("state.json")); state != "state of revision 1" {
			t.Errorf("%s: the state is %q", op, state)
		}
		if _, err := s.Sweep(aRun().Dir); err != nil {
			t.Error(err)
		}
		noTemps(t, m)
	}
}

// A content that a sweep has put back, or a person removed, must not make the next commit
// fail. Once, every later commit looked for it, and the run could not move until a restart.
func TestADisplacedStateThatASweepPutBackHoldsNoCommitUp(t *testing.T) {
	for name, goes := range map[string]func(m *memfs.FS, s *store.Store) error{
		"put back": func(_ *memfs.FS, s *store.Store) error { _, err := s.Sweep(aRun().Dir); return err },
		"removed": func(m *memfs.FS, _ *store.Store) error {
			for name := range m.Tree() {
				if layout.IsTemp(path.Base(name)) {
					m.Delete(name)
				}
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := scene()
			s := holding(t, m)
			exchanged := false
			m.Hook(func(c memfs.Call) error {
				if exchanged && (c.Op == "open" || c.Op == "exchange" || c.Op == "stat") {
					return syscall.ESTALE
				}
				exchanged = exchanged || c.Op == "exchange"
				return nil
			})
			if err := s.Commit(aRun(), layout.Faber{}, step); err == nil || !strings.Contains(err.Error(), "is kept in") {
				t.Fatalf("got %v", err)
			}
			m.Hook(nil)
			if err := goes(m, s); err != nil {
				t.Fatal(err)
			}
			state, _ := m.Get(in("state.json"))
			if err := s.Commit(aRun(), layout.Faber{}, engine.Plan{Writes: []engine.Document{stateDoc("state of revision 2", state)}}); err != nil {
				t.Errorf("the next commit: %v", err)
			}
			noTemps(t, m)
		})
	}
}

package store_test

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"placet/engine"
	"placet/engine/store"
	"placet/engine/store/memfs"
	"placet/layout"
)

func lines(text ...string) engine.Plan {
	var p engine.Plan
	for _, l := range text {
		p.Lines = append(p.Lines, engine.Line{Path: in("logs/log.jsonl"), Body: []byte(l + "\n")})
	}
	return p
}

func TestLinesAreAppendedInOneWrite(t *testing.T) {
	w := inMemory()
	m := w.fs.(*memfs.FS)
	writes := 0
	m.Hook(func(c memfs.Call) error {
		if c.Op == "write" && strings.HasSuffix(c.Name, "jsonl") {
			writes++
		}
		return nil
	})
	s := w.store()
	commit(t, s, lines("one", "two"))
	commit(t, s, lines("three"))
	check(t, w, map[string]string{in("logs/log.jsonl"): "one\ntwo\nthree\n"})
	if writes != 2 {
		t.Errorf("%d writes", writes)
	}
}

func TestATornLastLineIsCutAtTheLastNewline(t *testing.T) {
	for there, want := range map[string]string{
		"":                                    "new\n",
		"torn":                                "new\n",
		"whole\n":                             "whole\nnew\n",
		"whole\ntor":                          "whole\nnew\n",
		"whole\n\x00\x00":                     "whole\nnew\n",
		"a\nb\n" + strings.Repeat("x", 10000): "a\nb\nnew\n",
		strings.Repeat("x", 10000):            "new\n",
		strings.Repeat("x", 4095) + "\ntorn":  strings.Repeat("x", 4095) + "\nnew\n",
		strings.Repeat("x", 4096) + "\ntorn":  strings.Repeat("x", 4096) + "\nnew\n",
	} {
		worlds(t, func(t *testing.T, w world) {
			w.put(in("logs/log.jsonl"), there)
			commit(t, w.store(), lines("new"))
			check(t, w, map[string]string{in("logs/log.jsonl"): want})
		})
	}
}

func TestLinesComeAfterTheStateDocument(t *testing.T) {
	w := inMemory()
	m := w.fs.(*memfs.FS)
	w.put(in("state.json"), "S0")
	m.Hook(func(c memfs.Call) error {
		if c.Op == "write" && strings.HasSuffix(c.Name, "jsonl") {
			if got, _ := m.CrashClone(0).Get(in("state.json")); got != "S1" {
				t.Errorf("a line is written while the state document is durable as %q", got)
			}
		}
		return nil
	})
	p := lines("one")
	p.Writes = []engine.Document{stateDoc("S1", "S0")}
	commit(t, w.store(), p)
	p.Writes = []engine.Document{stateDoc("S2", "S0")}
	if err := w.store().Commit(aRun(), layout.Faber{}, p); !errors.Is(err, store.ErrConflict) {
		t.Errorf("got %v", err)
	}
	check(t, w, map[string]string{in("logs/log.jsonl"): "one\n"})
}

func TestAnyNextCommitOfTheRunMakesLinesDurable(t *testing.T) {
	for seed := range uint64(10) {
		w := inMemory()
		m := w.fs.(*memfs.FS)
		s := w.store()
		commit(t, s, lines("one"))
		commitAs(t, s, numbered(7), engine.Plan{})
		if got, _ := m.CrashClone(0).Get(in("logs/log.jsonl")); got != "" {
			t.Error("another run's commit has synced the journal")
		}
		commit(t, s, engine.Plan{}) // an action's record, or anything
		if got, _ := m.CrashClone(seed).Get(in("logs/log.jsonl")); got != "one\n" {
			t.Errorf("the journal is durable as %q", got)
		}
		calls := m.Calls()
		commit(t, s, engine.Plan{})
		if m.Calls() != calls {
			t.Error("it is synced for ever")
		}
	}
}

func TestAFileInPlaceWhoseFsyncFailsIsWrittenAnew(t *testing.T) {
	for _, variant := range variants {
		for seed := range uint64(10) {
			w := inMemory()
			m := w.fs.(*memfs.FS)
			w.put(in("logs/log.jsonl"), "zero\n")
			w.put(in("metadata.json"), "M")
			s := variant.on(m)
			commit(t, s, lines("one"))
			log, there := m.Info(in("logs/log.jsonl")).Inode, m.Info(in("metadata.json")).Inode
			failed := 0
			m.Hook(func(c memfs.Call) error {
				if c.Op == "syncall" || c.Op == "sync" && failed < 2 && !strings.Contains(c.Name, layout.TempPrefix) {
					if failed++; failed <= 2 {
						return syscall.EIO
					}
				}
				return nil
			})
			commit(t, s, engine.Plan{Writes: []engine.Document{newDoc("metadata.json", "M")}})
			tree := m.CrashClone(seed).Tree()
			if tree[in("logs/log.jsonl")] != "zero\none\n" || tree[in("metadata.json")] != "M" {
				t.Errorf("%s: durable are %q and %q", variant.name, tree[in("logs/log.jsonl")], tree[in("metadata.json")])
			}
			if m.Info(in("logs/log.jsonl")).Inode == log || m.Info(in("metadata.json")).Inode == there {
				t.Errorf("%s: it is the file that refused", variant.name)
			}
			noTemps(t, m)
		}
	}
}

func TestAJournalThatOthersRemovedHoldsUpNothing(t *testing.T) {
	for _, many := range []int{1, 64} {
		for _, change := range []func(w world){
			func(w world) { w.delete(in("logs/log.jsonl")) },
			func(w world) { w.delete(in("logs/log.jsonl")); w.odd(in("logs/log.jsonl"), fs.ModeNamedPipe) },
			func(w world) { w.delete(in("logs/log.jsonl")); w.delete(in("logs")); w.put(in("logs"), "a file") },
		} {
			worlds(t, func(t *testing.T, w world) {
				s := w.store().SyncAllFrom(many)
				commit(t, s, lines("one"))
				change(w)
				commit(t, s, engine.Plan{Writes: []engine.Document{stateDoc("S1", "")}})
				commit(t, s, engine.Plan{Writes: []engine.Document{stateDoc("S2", "S1")}})
			})
		}
	}
}

func TestAJournalIsOwedUntilItIsDurable(t *testing.T) {
	w := inMemory()
	m := w.fs.(*memfs.FS)
	s := w.store()
	commit(t, s, lines("one"))
	m.Hook(func(c memfs.Call) error {
		if c.Op == "open" && strings.HasSuffix(c.Name, "jsonl") {
			return syscall.EMFILE
		}
		return nil
	})
	for _, err := range []error{s.Flush(), s.Commit(aRun(), layout.Faber{}, lines("two"))} {
		if !errors.Is(err, syscall.EMFILE) {
			t.Errorf("got %v", err)
		}
	}
	m.Hook(nil)
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	if got, _ := m.CrashClone(0).Get(in("logs/log.jsonl")); got != "one\n" {
		t.Errorf("the journal is durable as %q", got)
	}
}

// A run that gets no more commits leaves nothing in memory, and its last lines are
// durable.
func TestAFinishedRunOwesNoLines(t *testing.T) {
	w := inMemory()
	m := w.fs.(*memfs.FS)
	s := w.store()
	if err := s.Finish(aRun()); err != nil || m.Calls() != 0 {
		t.Errorf("of a run that owes nothing: %v, %d calls", err, m.Calls())
	}
	commit(t, s, lines("one", "two"))
	if err := s.Finish(numbered(7)); err != nil || s.Owing() != 1 {
		t.Errorf("of another run: %v, %d owe", err, s.Owing())
	}
	if err := s.Finish(aRun()); err != nil || s.Owing() != 0 {
		t.Errorf("%v, %d owe", err, s.Owing())
	}
	if got, _ := m.CrashClone(0).Get(in("logs/log.jsonl")); got != "one\ntwo\n" {
		t.Errorf("the journal is durable as %q", got)
	}
	commit(t, s, lines("three"))
	w.delete(in("logs/log.jsonl"))
	if err := s.Finish(aRun()); err != nil || s.Owing() != 0 {
		t.Errorf("of a journal that is gone: %v, %d owe", err, s.Owing())
	}
}

func TestALineThatCannotBeAppendedIsAnError(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		w.odd(in("logs/log.jsonl"), fs.ModeNamedPipe)
		p := lines("one")
		p.Writes = []engine.Document{stateDoc("S1", "")}
		err := w.store().Commit(aRun(), layout.Faber{}, p)
		if err == nil || !strings.Contains(err.Error(), "cannot append to") || !strings.Contains(err.Error(), "FIFO") {
			t.Errorf("got %v", err)
		}
		check(t, w, map[string]string{in("state.json"): "S1"})
	})
}

func TestHalfALineIsCompletedByTheNextPass(t *testing.T) {
	for _, op := range []string{"write", "read", "truncate", "fstat"} {
		w := inMemory()
		m := w.fs.(*memfs.FS)
		w.put(in("logs/log.jsonl"), "zero\nto")
		m.Hook(func(c memfs.Call) error {
			if c.Op == op && strings.HasSuffix(c.Name, "jsonl") {
				return syscall.ENOSPC
			}
			return nil
		})
		s := w.store()
		if err := s.Commit(aRun(), layout.Faber{}, lines("one")); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: got %v", op, err)
		}
		m.Hook(nil)
		commit(t, s, lines("one"))
		check(t, w, map[string]string{in("logs/log.jsonl"): "zero\none\n"})
	}
}

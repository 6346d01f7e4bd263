package store_test

import (
	"bytes"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"placet/engine"
	"placet/engine/store"
	"placet/engine/store/memfs"
	"placet/layout"
)

// journaling is a run whose state counts up, with a line in its journal for
// each revision, as the machines write it: no later revision is made before the
// line of a revision is in the journal.
type journaling struct {
	t     *testing.T
	disk  *memfs.FS
	store *store.Store
	base  string   // the whole lines that others wrote
	lines []string // our lines, that of revision 1 first
	// killed: placet has died once, and the machine has not.
	killed bool
}

const journalName = "logs/log.jsonl"

// restart starts a placet that holds the workspace, as a daemon does.
func (j *journaling) restart() {
	j.store = store.New(j.disk, store.Options{Now: func() time.Time { return time.Unix(1e9, 0) }, Parallel: 1})
	_, _ = j.store.LockWorkspace() // if the trouble hits this call, it is not held
}

// stands returns the state's revision, and how many whole lines of ours are in
// the journal. It fails if a line of others is lost, or one of ours is not in
// its place.
func (j *journaling) stands() (revision, there int) {
	j.t.Helper()
	if body, ok := j.disk.Get(in("state.json")); ok {
		if _, err := fmt.Sscanf(body, "S%d", &revision); err != nil {
			j.t.Fatalf("the state is %q", body)
		}
	}
	body, _ := j.disk.Get(in(journalName))
	if !strings.HasPrefix(body, j.base) {
		j.t.Fatalf("of %q there is %q", j.base, body)
	}
	whole := body[len(j.base) : strings.LastIndexByte(body, '\n')+1]
	for whole != "" {
		if there == len(j.lines) || !strings.HasPrefix(whole, j.lines[there]) {
			j.t.Fatalf("line %d of %q is not the one written in %q", there, j.lines, body)
		}
		whole = whole[len(j.lines[there]):]
		there++
	}
	if there != revision && there != revision-1 {
		j.t.Fatalf("revision %d, %d lines: %q", revision, there, body)
	}
	return revision, there
}

// step makes the next step; it returns false if there is none.
func (j *journaling) step() (more bool, err error) {
	revision, there := j.stands()
	line := func(n int) []engine.Line {
		return []engine.Line{{Path: in(journalName), Revision: n, Body: []byte(j.lines[n-1])}}
	}
	if there < revision {
		return true, j.store.Commit(aRun(), layout.Faber{}, engine.Plan{Lines: line(revision)})
	}
	if revision == len(j.lines) {
		return false, j.store.Flush()
	}
	over := ""
	if revision > 0 {
		over = fmt.Sprint("S", revision)
	}
	return true, j.store.Commit(aRun(), layout.Faber{}, engine.Plan{
		Writes: []engine.Document{stateDoc(fmt.Sprint("S", revision+1), over)}, Lines: line(revision + 1),
	})
}

// FuzzJournal puts any content in a journal's place and causes any trouble
// while any lines are appended. Afterwards the journal has every line whole and
// once, in order, after the whole lines of others.
func FuzzJournal(f *testing.F) {
	for _, before := range []string{"", "torn", "whole\n", "whole\ntorn", "whole\n\x00\x00\x00", "\n", "\n\n", "\x00", strings.Repeat("x", 4095) + "\ntorn", strings.Repeat("y", 9000), "1:a\n", "1:a\n1:"} {
		for trouble := range uint8(7) {
			f.Add([]byte(before), "a\nb\n\nc", trouble, uint8(3+trouble*5), uint8(trouble))
		}
	}
	f.Fuzz(func(t *testing.T, before []byte, text string, trouble, at, seed uint8) {
		if len(before) > 1<<16 || len(text) > 1<<12 {
			return
		}
		j := &journaling{t: t, disk: memfs.New(func() time.Time { return time.Unix(1e9, 0) })}
		j.base = string(before[:bytes.LastIndexByte(before, '\n')+1])
		for i, l := range strings.SplitN(text, "\n", 6) {
			j.lines = append(j.lines, fmt.Sprintf("%d:%s\n", i+1, strings.ReplaceAll(l, "\n", " ")))
		}
		j.disk.PutDir(aRun().Dir)
		if len(before) > 0 {
			j.disk.Put(in(journalName), string(before))
		}
		j.restart()
		j.trouble(trouble, int(at)+1)
		for range 8 * (len(j.lines) + 2) {
			more, err := j.step()
			switch {
			case j.disk.Crashed() && trouble%3 == 1:
				j.disk, j.killed = j.disk.KillClone(), true
				j.restart()
			case j.disk.Crashed():
				j.disk = j.disk.CrashClone(uint64(seed))
				j.restart()
			case err == nil && !more:
				j.whole()
				return
			}
		}
		t.Fatal("it never comes to an end")
	})
}

// trouble makes something fail at the k-th call.
func (j *journaling) trouble(kind uint8, k int) {
	switch kind % 7 {
	case 1:
		j.disk.CrashAt(k, memfs.After)
	case 2:
		j.disk.CrashAt(k, memfs.Torn)
	case 3:
		j.disk.FailAt(k, syscall.EIO)
	case 4:
		j.disk.FailAt(k, syscall.ENOSPC)
	case 5:
		j.disk.CrashAt(k, memfs.Before)
	case 6:
		j.disk.NoSyncAll()
		j.disk.FailAt(k, syscall.EMFILE)
	}
}

// whole fails unless all lines are in the journal, also after a power cut. A
// killed placet may have left a line of the last revision that is not durable:
// whoever starts after the power cut writes it again.
func (j *journaling) whole() {
	j.t.Helper()
	j.expect("there is")
	j.disk = j.disk.CrashClone(0)
	if j.killed {
		j.restart()
		for more, err := j.step(); more || err != nil; more, err = j.step() {
			if err != nil {
				j.t.Fatal(err)
			}
		}
	}
	j.expect("durable, there is")
}

func (j *journaling) expect(what string) {
	j.t.Helper()
	want := j.base + strings.Join(j.lines, "")
	if got, _ := j.disk.Get(in(journalName)); got != want {
		j.t.Fatalf("%s\n%q, expected\n%q", what, got, want)
	}
}

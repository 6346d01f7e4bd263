package cli

import (
	"context"
	"fmt"
	iofs "io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"placet/engine"
	"placet/engine/faber"
	"placet/engine/loop"
	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/engine/watch"
	"placet/internal/await"
	"placet/layout"
)

// These are the limits of the cost of one answered FABER request, from the event until placet
// is idle.
const (
	mostLoads   = 3
	mostSteps   = 3
	mostCommits = 2
	mostStats   = 57
	mostOpens   = 18
)

// costs counts placet's operations by their kinds.
type costs struct {
	mu  sync.Mutex
	n   map[string]int
	log []string
}

func (c *costs) count(what, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n[what]++
	c.log = append(c.log, what+" "+name)
}

// take returns the counts, and resets them.
func (c *costs) take() (n map[string]int, log []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, log, c.n, c.log = c.n, c.log, map[string]int{}, nil
	return n, log
}

func (c *costs) sum() (all int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.log)
}

// countedDisk is the machine's file system; it counts every look.
type countedDisk struct {
	fs.FS
	*costs
}

type countedFile struct {
	fs.File
	*costs
	name string
}

func (d countedDisk) Stat(name string) (fs.Info, error) {
	if name == answeredRun+"/requests" {
		d.count("load", name) // every load looks there once
	}
	d.count("stat", name)
	return d.FS.Stat(name)
}

func (d countedDisk) Open(name string, how fs.How, perm iofs.FileMode) (fs.File, error) {
	d.count("open", name)
	f, err := d.FS.Open(name, how, perm)
	if err != nil {
		return nil, err
	}
	return countedFile{f, d.costs, name}, nil
}

func (f countedFile) Stat() (fs.Info, error) {
	f.count("fstat", f.name)
	return f.File.Stat()
}

// countedMachine counts the steps of a machine.
type countedMachine struct {
	engine.Machine
	*costs
}

func (m countedMachine) Step(s engine.Snapshot) (engine.Plan, error) {
	m.count("step", s.Key.String())
	return m.Machine.Step(s)
}

// TestWhatAnAnswerCosts counts the loads, steps, commits, stats and opens of one answered
// request, from the event until the loop is idle, in the loop that the daemon runs. On a busy
// machine the events of one answer may arrive apart, so the cost is that of the cheapest of
// five.
func TestWhatAnAnswerCosts(t *testing.T) {
	for try := 1; ; try++ {
		n, log := costOfAnAnswer(t)
		t.Logf("%v", n)
		var over []string
		for what, most := range map[string]int{"load": mostLoads, "step": mostSteps, "commit": mostCommits, "stat": mostStats, "open": mostOpens} {
			if n[what] > most || n[what] == 0 {
				over = append(over, fmt.Sprintf("%d of %s, want at most %d", n[what], what, most))
			}
		}
		if len(over) == 0 {
			return
		}
		if try == 5 {
			t.Fatalf("%s:\n%s", strings.Join(over, ", "), strings.Join(log, "\n"))
		}
	}
}

// costOfAnAnswer counts what one answer costs in a workspace of its own.
func costOfAnAnswer(t *testing.T) (n map[string]int, log []string) {
	root := t.TempDir()
	c := &costs{n: map[string]int{}}
	a := &answeredTree{b: t, root: root}
	a.begin()
	past := time.Now().Add(-time.Hour)
	_ = filepath.WalkDir(root, func(name string, _ iofs.DirEntry, _ error) error { return os.Chtimes(name, past, past) })
	moved := make(chan string, 100)
	l := loop.New(loop.Options{
		Store:    store.New(countedDisk{fs.OS(root), c}, store.Options{}),
		Families: []loop.Family{{Layout: layout.Faber{}, Machine: countedMachine{faber.New(), c}}},
		Facts: func(string) engine.Environment {
			return engine.Environment{Config: engine.Config{Language: "en", Family: faber.DefaultConfig()}}
		},
		Observers: loop.Observers{{
			Moved:     func(_ layout.Run, tr engine.Transition) { moved <- tr.Event },
			Committed: func(layout.Run, engine.Plan, time.Duration) { c.count("commit", "") },
		}},
	})
	watcher, err := watch.New(root, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = l.Watch(ctx, watcher, func(int, int) {}) }()
	defer func() { cancel(); <-done; watcher.Close() }()
	if event := <-moved; event != "request_opened" {
		t.Fatalf("it began with %s", event)
	}
	c.rests(t, someLooks)
	// A file that was written a moment ago is read once more, by a look that delays nobody.
	if err := os.WriteFile(filepath.Join(root, answeredRun, "requests", answeredID(1), "x.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c.rests(t, someLooks)
	c.take()
	a.answer(1)
	if event := <-moved; event != "answered_continue" {
		t.Fatalf("the answer led to %s", event)
	}
	c.rests(t, someLooks)
	return c.take()
}

// rests waits until nothing was done between a number of looks, some milliseconds apart.
func (c *costs) rests(t *testing.T, looks int) {
	t.Helper()
	n, same := c.sum(), 0
	await.Until(t, "nothing is done any more", func() bool {
		now := c.sum()
		if same++; now != n {
			n, same = now, 0
		}
		return same == looks
	})
}

// someLooks last longer than a written file counts as new, manyLooks longer than all second
// looks take.
const someLooks, manyLooks = 80, 240

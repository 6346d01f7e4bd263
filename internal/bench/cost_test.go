package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"placet/engine"
	"placet/engine/faber"
	"placet/engine/reconcile"
	"placet/engine/statedir"
	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/engine/watch"
	"placet/layout"
)

// costs counts what a loop does.
type costs struct {
	mu    sync.Mutex
	spent cost
	// passed receives the runs whose passes are over.
	passed chan string
}

// cost is what a loop did to bring runs to rest.
type cost struct{ loads, steps, commits int }

func (c *costs) add(more cost) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spent.loads += more.loads
	c.spent.steps += more.steps
	c.spent.commits += more.commits
}

// take returns what was counted, and begins anew.
func (c *costs) take() cost {
	c.mu.Lock()
	defer c.mu.Unlock()
	spent := c.spent
	c.spent = cost{}
	return spent
}

// countedMachine counts the steps of FABER's machine.
type countedMachine struct {
	faber.Machine
	costs *costs
}

// Step implements [engine.Machine].
func (m countedMachine) Step(s engine.Snapshot) (engine.Plan, error) {
	m.costs.add(cost{steps: 1})
	return m.Machine.Step(s)
}

// serve watches a workspace until the test ends.
func (c *costs) serve(t *testing.T, root string) {
	t.Helper()
	state, err := statedir.Create(stateHome(root), root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { state.Close() })
	loop := reconcile.New(reconcile.Options{
		Store:    store.New(fs.OS(root), store.Options{Record: state}),
		Families: []reconcile.Family{{Layout: layout.Faber{}, Machine: countedMachine{faber.New(), c}}},
		Facts: func(string) engine.Facts {
			c.add(cost{loads: 1})
			return engine.Facts{Config: engine.Config{Language: "en", Family: faber.DefaultConfig()}}
		},
		Committed: func(layout.Run, engine.Plan, time.Duration) { c.add(cost{commits: 1}) },
		Passed:    func(run layout.Run, _ time.Duration) { c.passed <- run.Dir },
	})
	w, err := watch.New(root, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan bool), make(chan error)
	go func() { ended <- loop.Watch(ctx, w, func(int, int) { close(ready) }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	<-ready
}

// TestOneAnswerIsCheap answers requests of FABER, each from the event to rest. An event
// of the commit that comes late costs another load, so one of several must be as cheap
// as promised.
func TestOneAnswerIsCheap(t *testing.T) {
	const runs = 4
	w, err := newWorkspace(t.TempDir())
	if err == nil {
		err = many(runs, func(n int) error { return w.waiting(n, 12) })
	}
	if err != nil {
		t.Fatal(err)
	}
	c := costs{passed: make(chan string, 1000)}
	c.serve(t, w.root)
	want := cost{loads: 3, steps: 3, commits: 2}
	var all []cost
	for n := range runs {
		got := c.answer(t, w, n)
		if all = append(all, got); got == want {
			return
		}
	}
	t.Errorf("answers cost %+v, expected %+v", all, want)
}

// answer answers the request of a waiting run, and returns what that cost.
func (c *costs) answer(t *testing.T, w workspace, n int) cost {
	t.Helper()
	dir := w.run("waiting", n)
	request := filepath.Join(w.root, dir, "requests", requestID(n))
	for !exists(filepath.Join(request, "form.md")) {
		<-c.passed
	}
	if err := os.WriteFile(filepath.Join(request, ".response.tmp"), []byte(fill(responseText, dir, n, 0)), 0o644); err != nil {
		t.Fatal(err)
	}
	c.take()
	if err := os.Rename(filepath.Join(request, ".response.tmp"), filepath.Join(request, "response.json")); err != nil {
		t.Fatal(err)
	}
	for !exists(filepath.Join(w.root, dir, "context.md")) {
		<-c.passed
	}
	return c.take()
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

package loop

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/engine/store/statcache"
	"placet/engine/watch"
)

// deafShelf returns a shelf that is served without any file event: the loop knows only what
// it knew at the start.
func deafShelf(t *testing.T) shelf {
	w := newShelfWorld(t)
	w.order("tray", shelfOrder{Brings: []string{"t", "u"}})
	w.wants("a")
	w.once()
	w.wants("b")
	w.once()
	w.wants("c")
	watcher, err := watch.NewFrom(w.root, nil, deaf)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { watcher.Close() })
	w.serving.Store(newSession(w.Loop, watcher, nil))
	w.eventually("c is told that there is nothing", func() bool { return w.answered("c", false).Present() })
	if d := w.answered("c", false); len(d.Body) > 0 {
		t.Fatalf("there is %s", d.Body)
	}
	return w
}

// compared sets when the runs were last compared.
func (x *peers) compared(at time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.verified = at
}

func TestAPlanIsCarriedOutOverWhatIsThereAndNotOverWhatWasTold(t *testing.T) {
	w := deafShelf(t)
	w.order("tray2", shelfOrder{Brings: []string{"v"}})
	x := w.peers["shelf"]
	found, err := w.Runs()
	if err != nil {
		t.Fatal(err)
	}
	x.walked(found, func(string) bool { return false })
	w.eventually("c is told of v", func() bool { return string(w.answered("c", false).Body) == "v" })
	w.put("shelf/a/work/claim.json", string(encode(shelfOrder{Took: "v"})))
	if d := w.answered("c", false); string(d.Body) != "v" {
		t.Errorf("somebody looked at a: %q", d.Body)
	}
	x.compared(time.Now().Add(-time.Hour))
	w.eventually("it is seen that a took it, and what it gave back", func() bool { return string(w.answered("c", true).Body) == "t" })
}

func TestAComparisonHoldsForAMoment(t *testing.T) {
	w := deafShelf(t)
	x := w.peers["shelf"]
	x.compared(time.Now())
	w.put("shelf/a/work/claim.json", "{}")
	if d := w.answered("c", true); len(d.Body) > 0 {
		t.Errorf("all runs were compared again at once: %q", d.Body)
	}
	x.mu.Lock()
	x.took = time.Hour
	x.mu.Unlock()
	x.compared(time.Now().Add(-time.Minute))
	if !x.fresh() {
		t.Error("what took long holds no longer than what took nothing")
	}
	x.markAll()
	w.eventually("all runs are compared after events were lost", func() bool { return string(w.answered("c", false).Body) == "t" })
}

// A stat of everything finds a change that no event reported.
func TestAPartOfTheRunsIsComparedAtEveryTick(t *testing.T) {
	w := deafShelf(t)
	x, s := w.peers["shelf"], w.serving.Load()
	w.put("shelf/a/work/claim.json", "{}")
	found, err := w.Runs()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		s.registry.add(s.registry.newActive(f).knownRun)
	}
	sc := scanner{session: s}
	at := time.Now()
	sc.start(at)
	marked := false
	w.eventually("c is looked at", func() bool {
		at = at.Add(scanRound / 8)
		sc.tick(at)
		x.update()
		for s.queue.waiting() {
			state, _ := s.queue.take()
			marked = marked || state == shelfRun("c").State
		}
		return marked && string(w.answered("c", false).Body) == "t"
	})
}

// The answer that a run got is not a file: at the next start the run is stepped again.
func TestARunThatWasToldOfOthersIsNotRecalled(t *testing.T) {
	root := t.TempDir()
	next := func() shelf {
		return shelfWorldAt(t, root, func(o *Options) {
			o.Store = store.New(elderly{fs.OS(root)}, store.Options{Log: o.Log})
			o.Cache = statcache.Open(keptBelow(root), "m", o.Store.DiskNow)
		})
	}
	w := next()
	w.wants("a")
	for _, id := range numbered("tray", 12) {
		w.order(id, shelfOrder{})
	}
	w.once()
	w = next()
	w.once()
	if steps := w.m.counted(w.m.steps); steps["a"] == 0 || len(steps) > 1 {
		t.Errorf("asked at the next start: %v", steps)
	}
}

// If many runs change at once, most of them share one computation of the answers.
func TestManyChangesAreToldTogether(t *testing.T) {
	w := deafShelf(t)
	x := w.peers["shelf"]
	before := w.m.related()
	for i := range 8 {
		w.order("tray", shelfOrder{Brings: []string{fmt.Sprint("n", i)}})
		x.mark(shelfRun("tray").State)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { x.run(ctx) })
	w.eventually("it is told", func() bool {
		x.mark() // files that are being written are read again
		return w.serving.Load().queue.waiting() && w.toldTo("c") == "n7"
	})
	cancel()
	wg.Wait()
	if n := w.m.related() - before; n > 3 {
		t.Errorf("related %d times", n)
	}
}

// toldTo returns the answer that a run would get from what is known.
func (w shelf) toldTo(id string) string {
	x := w.peers["shelf"]
	x.mu.Lock()
	defer x.mu.Unlock()
	return string(x.answers[id])
}

// If nobody asks, a change is recorded, but no answers are computed.
func TestWhatNobodyWasToldIsNotRelatedAgain(t *testing.T) {
	w := deafShelf(t)
	x := w.peers["shelf"]
	x.mu.Lock()
	clear(x.asked)
	x.mu.Unlock()
	before := w.m.related()
	w.order("tray", shelfOrder{Brings: []string{"new"}})
	w.eventually("it is known", func() bool {
		x.markAll()
		x.update()
		entries, _ := x.entries()
		return strings.Contains(string(entries["tray"]), "new")
	})
	if n := w.m.related() - before; n > 0 || len(x.asked) != 0 {
		t.Errorf("related %d times for %d who asked", n, len(x.asked))
	}
	if d := w.answered("c", false); string(d.Body) != "new" {
		t.Errorf("c is told %q", d.Body)
	}
}

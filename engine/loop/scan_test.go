package loop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/engine/watch"
)

func TestFinalRunsAreNotReadAtStart(t *testing.T) {
	var mu sync.Mutex
	stepped := map[string]bool{}
	root := t.TempDir()
	first := worldAt(t, root)
	for i := range 20 {
		first.toy(fmt.Sprintf("f%d", i), toyState{Status: "over"})
	}
	first.toy("a", toyState{Status: "waiting"})
	// A first session makes the store certain of the documents, by one look at each, so
	// that the rest of the test does not depend on their youth.
	s := first.serve(watch.Notify)
	first.eventually("all settled", func() bool {
		r, err := first.Once(t.Context())
		return err == nil && len(r.Unsettled) == 0
	})
	s.stop()

	w := worldAt(t, root, spying(func(s engine.Snapshot) {
		mu.Lock()
		defer mu.Unlock()
		stepped[s.Key.ID] = true
	}), func(o *Options) { o.Store = first.o.Store })
	s = w.start(watch.Notify)
	if got := <-s.ready; got != [2]int{21, 1} {
		t.Errorf("ready with %v", got)
	}
	mu.Lock()
	defer mu.Unlock()
	if diff := cmp.Diff(map[string]bool{"a": true}, stepped); diff != "" {
		t.Errorf("looked at:\n%s", diff)
	}
}

func TestNoInotifyInstanceIsServedWithinThreeSeconds(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := worldAt(t, root)
		w.toy("a", toyState{Status: "waiting"})
		w.put("toys/a/requests/q/request.json", "{}\n")
		s := w.start(func(watch.Sink) (watch.Source, error) { return nil, syscall.EMFILE })
		<-s.ready
		time.Sleep(5 * time.Second)
		w.answer("a", "yes")
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if got := w.state("a").Status; got != "over" {
			t.Errorf("the answer was not taken in 3 s: %s\n%s", got, w.log)
		}
		w.toy("b", toyState{Target: 1})
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if got := w.state("b").Status; got != "waiting" {
			t.Errorf("the new run was not taken in 3 s: %s", got)
		}
		s.stop()
	})
}

func TestFortyThousandEventsWhileNobodyWatches(t *testing.T) {
	w := newWorld(t)
	const n = 40
	for i := range n {
		w.toy(fmt.Sprintf("a%d", i), toyState{Status: "waiting"})
		w.put(fmt.Sprintf("toys/a%d/requests/q/request.json", i), "{}\n")
	}
	watcher, err := watch.New(w.root, w.o.Log)
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Close()
	for i := range n {
		dir := fmt.Sprintf("toys/a%d", i)
		if err := watcher.Follow(dir+"/state.json", []string{dir, dir + "/requests/q"}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 40_000 {
		name := w.abs(fmt.Sprintf("toys/a%d/requests/q/x%d", i%n, i%500))
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		w.answer(fmt.Sprintf("a%d", i), "yes")
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- w.Watch(ctx, watcher, nil) }()
	w.eventually("all answers are taken", func() bool { return w.over(n) })
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestOverflowIsAnsweredByALookEverywhere(t *testing.T) {
	w := newWorld(t)
	w.toy("a", toyState{})
	var sink watch.Sink
	var drop sync.Map
	s := w.serve(func(s watch.Sink) (watch.Source, error) {
		sink = s
		return lossy(func(string) bool { _, all := drop.Load("all"); return all })(s)
	})
	w.becomes("a", "waiting")
	drop.Store("all", true)
	w.answer("a", "yes")
	w.toy("new", toyState{Target: 1})
	sink.Broken(errors.New("queue overflow"))
	w.becomes("a", "over")
	w.becomes("new", "waiting")
	s.stop()
}

func TestFolderRenamedAwayAndBack(t *testing.T) {
	for _, dir := range []string{"toys", "toys/g1", "toys/g1/a", "toys/g1/a/requests", "toys/g1/a/requests/q"} {
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.toy("g1/a", toyState{Act: "act"})
			w.serve(watch.Notify)
			w.becomes("g1/a", "waiting")
			w.eventually("the action has begun", func() bool { return len(w.begunIDs()) == 1 })
			if err := os.Rename(w.abs(dir), w.abs("away")); err != nil {
				t.Fatal(err)
			}
			w.toy("g2/b", toyState{}) // whatever else happens
			w.becomes("g2/b", "waiting")
			if err := os.RemoveAll(w.abs(dir)); err != nil && dir == "toys" {
				t.Fatal(err)
			}
			if err := os.Rename(w.abs("away"), w.abs(dir)); err != nil {
				t.Fatal(err)
			}
			w.answer("g1/a", "yes")
			w.becomes("g1/a", "over")
			if diff := cmp.Diff([]string{"act"}, w.begunIDs()); diff != "" {
				t.Errorf("actions begun:\n%s", diff)
			}
		})
	}
}

func TestNewNestedFoldersInAStorm(t *testing.T) {
	w := newWorld(t)
	w.serve(watch.Notify)
	const n = 60
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := g; i < n; i += 4 {
				id := fmt.Sprintf("g%d/a%d", i%7, i)
				w.toy(id, toyState{Target: 1})
				w.answer(id, "yes")
			}
		})
	}
	wg.Wait()
	w.eventually("all over", func() bool { return w.over(n) })
}

func TestVanishedRunIsForgottenAndKnownAgain(t *testing.T) {
	w := newWorld(t)
	w.toy("a", toyState{})
	w.toy("f", toyState{Status: "over"})
	w.serve(watch.Notify)
	w.becomes("a", "waiting")
	for _, id := range []string{"a", "f"} {
		if err := os.RemoveAll(w.abs("toys/" + id)); err != nil {
			t.Fatal(err)
		}
	}
	w.toy("a", toyState{Target: 3})
	w.toy("f", toyState{Target: 3})
	w.eventually("both count anew", func() bool { return w.state("a").Count == 3 && w.state("f").Count == 3 })
}

// The state document of a final run has no watch: a comparison by stat finds that it has
// changed.
func TestFinalRunThatIsReopenedIsFoundWithinARound(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := worldAt(t, root)
		for i := range 30 {
			w.toy(fmt.Sprintf("f%d", i), toyState{Status: "over"})
		}
		s := w.start(deaf)
		<-s.ready
		time.Sleep(3 * time.Second)
		w.toy("f7", toyState{Target: 2})
		time.Sleep(scanRound + 5*time.Second)
		synctest.Wait()
		if got := w.state("f7"); got.Status != "waiting" {
			t.Errorf("not served in a round: %+v\n%s", got, w.log)
		}
		s.stop()
	})
}

// Events never come for one file, although the root has them: a comparison by stat finds
// the change.
func TestChangeWithoutAnEventIsFoundWithinARound(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := worldAt(t, root)
		w.toy("a", toyState{})
		watcher, err := watch.NewFrom(root, nil, deaf)
		if err != nil {
			t.Fatal(err)
		}
		defer watcher.Close()
		s := newSession(w.Loop, watcher, nil)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		s.begin(ctx, &wg)
		sc := scanner{session: s}
		sc.scan(ctx, true)
		s.passed()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		sc.start(time.Now())
		w.answer("a", "yes")
		sc.blind = time.Now().Add(time.Hour) // nothing is blind here
		for range 61 {
			time.Sleep(scanTick)
			sc.tick(time.Now())
		}
		synctest.Wait()
		if got := w.state("a").Status; got != "over" {
			t.Errorf("not found in a round: %s\n%s", got, w.log)
		}
		cancel()
		s.queue.close()
		wg.Wait()
	})
}

func TestFoldersThatLookAsBeforeAreNotListedAgain(t *testing.T) {
	for _, test := range []struct {
		name   string
		old    bool // according to the file system's clock
		change func(w *world)
		want   bool
	}{
		{"nothing", true, func(*world) {}, true},
		{"too young to tell", false, func(*world) {}, false},
		{"a run appears", true, func(w *world) { w.toy("b", toyState{}) }, false},
		{"a run goes", true, func(w *world) {
			if err := os.RemoveAll(filepath.Join(w.root, "toys/a")); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"a run changes", true, func(w *world) { w.toy("a", toyState{Target: 7}) }, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := worldAt(t, t.TempDir())
			if test.old {
				w = worldAt(t, w.root, func(o *Options) { o.Store = store.New(elderly{fs.OS(w.root)}, store.Options{}) })
			}
			w.toy("a", toyState{})
			watcher, err := watch.NewFrom(w.root, nil, deaf)
			if err != nil {
				t.Fatal(err)
			}
			defer watcher.Close()
			s := newSession(w.Loop, watcher, nil)
			sc := scanner{session: s}
			sc.scan(t.Context(), true)
			sc.scan(t.Context(), false) // the watcher's tests have changed the roots
			test.change(w)
			if got := sc.asListed(); got != test.want {
				t.Errorf("all as before: %t, want %t", got, test.want)
			}
		})
	}
}

package loop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"placet/engine"
	"placet/engine/watch"
)

// restless is a world with a waiting run that has a long history, and what the last look
// found in one of its events.
type restless struct {
	*world
	mu   sync.Mutex
	body string
}

const eventAtRest = "toys/a/events/007.json"

func restlessAt(t *testing.T, root string) *restless {
	r := &restless{}
	r.world = worldAt(t, root, spying(func(s engine.Snapshot) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.body = string(s.In("events/007.json").Body)
	}))
	return r
}

func newRestless(t *testing.T, root string, follow bool) *restless {
	r := restlessAt(t, root)
	for n := range 100 {
		r.put(fmt.Sprintf("toys/a/events/%03d.json", n), `{"at": "rest"}`)
	}
	r.put("toys/a/requests/q/request.json", "{}\n")
	r.toy("a", toyState{Status: "waiting", Follow: follow})
	return r
}

func (r *restless) seen() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.body
}

// edit changes the event in place.
func (r *restless) edit() {
	r.t.Helper()
	if err := os.WriteFile(r.abs(eventAtRest), []byte(`{"in": "place"}`), 0); err != nil {
		r.t.Fatal(err)
	}
}

const edited = `{"in": "place"}`

// rests waits until the events are old enough to count as immutable.
func (r *restless) rests() {
	r.t.Helper()
	r.eventually("the events are at rest", func() bool {
		loaded, err := r.o.Store.Load(toyRun("a"), toyLayout{}, nil)
		_, sure := r.o.Store.Unchanged(toyRun("a"), toyLayout{}, loaded.Look)
		return err == nil && sure
	})
}

// Documents that were written once and are immutable are not compared when an answer comes.
// The scan finds a change in place within a minute.
func TestAChangeInPlaceIsFoundWithinARound(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		r := newRestless(t, root, false)
		watcher, err := watch.NewFrom(root, nil, deaf)
		if err != nil {
			t.Fatal(err)
		}
		defer watcher.Close()
		s := newSession(r.Loop, watcher, nil)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		s.begin(ctx, &wg)
		sc := scanner{session: s}
		sc.scan(ctx, true)
		s.passed()
		look := func() {
			s.queue.mark("toys/a/state.json")
			time.Sleep(2 * time.Second)
			synctest.Wait()
		}
		look()
		look()
		sc.start(time.Now())
		r.edit()
		if look(); r.body == edited {
			t.Error("a file at rest was looked at")
		}
		sc.blind = time.Now().Add(time.Hour)
		for range 61 {
			time.Sleep(scanTick)
			sc.tick(time.Now())
		}
		synctest.Wait()
		if r.body != edited {
			t.Errorf("not found in a round: %s", r.body)
		}
		cancel()
		s.queue.close()
		wg.Wait()
	})
}

// An event names the file to compare.
func TestAChangeInPlaceIsSeenWhereItsFolderIsFollowed(t *testing.T) {
	r := newRestless(t, t.TempDir(), true)
	r.serve(watch.Notify)
	r.rests()
	r.edit()
	r.eventually("the change is seen", func() bool { return r.seen() == edited })
}

// Lost events mean that every file is compared.
func TestAChangeInPlaceIsSeenWhenEventsWereLost(t *testing.T) {
	r := newRestless(t, t.TempDir(), false)
	var sink watch.Sink
	r.serve(func(s watch.Sink) (watch.Source, error) {
		sink = s
		return watch.Notify(s)
	})
	r.rests()
	r.edit()
	sink.Broken(errors.New("queue overflow"))
	r.eventually("the change is seen", func() bool { return r.seen() == edited })
}

// A new process has no earlier look.
func TestAChangeInPlaceIsSeenAfterARestart(t *testing.T) {
	root := t.TempDir()
	r := newRestless(t, root, false)
	s := r.serve(watch.Notify)
	r.rests()
	s.stop()
	r.edit()
	again := restlessAt(t, root)
	again.serve(watch.Notify)
	again.eventually("the change is seen", func() bool { return again.seen() == edited })
}

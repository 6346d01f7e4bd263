package loop

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/engine/watch"
)

// lone returns a session without scans and events, for one run.
func lone(t *testing.T, w *world, id string) *session {
	t.Helper()
	watcher, err := watch.NewFrom(w.root, nil, deaf)
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(w.Loop, watcher, nil)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	s.begin(ctx, &wg)
	lv := s.registry.newActive(toyFound(id))
	s.registry.add(lv.knownRun)
	s.queue.mark(lv.state)
	t.Cleanup(func() {
		cancel()
		s.queue.close()
		wg.Wait()
		_ = watcher.Close()
	})
	return s
}

func TestErrorsAreTriedAgainLessAndLess(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var at []time.Time
		w := worldAt(t, root, spying(func(s engine.Snapshot) {
			if s.In("state.json").Present() {
				at = append(at, time.Now())
			}
		}))
		w.toy("a", toyState{Quirk: "error"})
		lone(t, w, "a")
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		var gaps []time.Duration
		for i := 1; i < len(at); i++ {
			gaps = append(gaps, at[i].Sub(at[i-1]).Round(10*time.Millisecond))
		}
		ms := time.Millisecond
		want := []time.Duration{100 * ms, 200 * ms, 400 * ms, 800 * ms, 1600 * ms, 3200 * ms, 6400 * ms, 12800 * ms, 25600 * ms, 51200 * ms, time.Minute, time.Minute, time.Minute}
		if diff := cmp.Diff(want, gaps[:min(len(gaps), len(want))]); diff != "" {
			t.Errorf("waits:\n%s", diff)
		}
		if n := strings.Count(w.log.String(), "the toy is broken"); n != 1 {
			t.Errorf("said %d times, want once:\n%s", n, w.log)
		}
	})
}

func TestDeadlinePassesInItsMoment(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := worldAt(t, root)
		deadline := time.Now().Add(36 * time.Hour)
		w.toy("a", toyState{Deadline: deadline})
		s := lone(t, w, "a")
		time.Sleep(time.Until(deadline) - time.Millisecond)
		synctest.Wait()
		if got := w.state("a").Status; got != "waiting" {
			t.Fatalf("%s before the deadline\n%s", got, w.log)
		}
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		if got := w.state("a").Status; got != "over" {
			t.Errorf("%s after the deadline\n%s", got, w.log)
		}
		if _, ok := s.timers.next(); ok {
			t.Error("a timer is left")
		}
	})
}

// After a laptop slept or a clock was set, the deadline passes soon.
func TestDeadlinePassesSoonAfterTheClockJumps(t *testing.T) {
	for _, jump := range []time.Duration{26 * time.Hour, -time.Hour} {
		t.Run(jump.String(), func(t *testing.T) {
			root := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var offset time.Duration
				now := func() time.Time {
					mu.Lock()
					defer mu.Unlock()
					return time.Now().Round(0).Add(offset)
				}
				w := worldAt(t, root, func(o *Options) { o.Now = now })
				deadline := now().Add(25 * time.Hour)
				w.toy("a", toyState{Deadline: deadline})
				lone(t, w, "a")
				time.Sleep(5 * time.Second)
				synctest.Wait()
				if got := w.state("a").Status; got != "waiting" {
					t.Fatalf("%s\n%s", got, w.log)
				}
				mu.Lock()
				offset = jump
				mu.Unlock()
				time.Sleep(2 * clockPoll)
				synctest.Wait()
				want := "waiting"
				if jump > 0 {
					want = "over"
				}
				if got := w.state("a").Status; got != want {
					t.Errorf("%s after the clock jumped by %v, want %s", got, jump, want)
				}
				if jump < 0 {
					time.Sleep(25 * time.Hour)
					synctest.Wait()
					if got := w.state("a").Status; got != "waiting" {
						t.Errorf("%s an hour before the deadline", got)
					}
					time.Sleep(time.Hour)
					synctest.Wait()
					if got := w.state("a").Status; got != "over" {
						t.Errorf("%s after the deadline", got)
					}
				}
			})
		})
	}
}

func TestFolderWrittenAllTheTimeDoesNotEatTheProcessor(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		steps := 0
		w := worldAt(t, root, spying(func(engine.Snapshot) { steps++ }))
		w.toy("a", toyState{Status: "waiting"})
		s := lone(t, w, "a")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		before := steps
		flood := func(more func()) {
			for range 2000 {
				s.queue.mark("toys/a/state.json")
				more()
				time.Sleep(time.Millisecond)
			}
		}
		flood(func() {})
		if got := steps - before; got > cooldownPasses+14 {
			t.Errorf("%d looks in two seconds", got)
		}
		// A file that is written again in every pass is no reason for the next pass either.
		w.put("toys/a/requests/q/response.json", "{}\n")
		s.queue.mark("toys/a/state.json")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		const note = "toys/a/requests/q/problem.md"
		if _, err := os.Stat(w.abs(note)); err != nil {
			t.Fatal(err)
		}
		before = steps
		flood(func() { _ = os.Remove(w.abs(note)) })
		if got := steps - before; got > 4*(cooldownPasses+8) {
			t.Errorf("%d looks in two seconds at a note that is taken away all the time", got)
		}
		// An answer is still processed soon.
		before, asked := steps, time.Now()
		w.answer("a", "yes")
		flood(func() {
			if asked.IsZero() {
				return
			}
			if w.state("a").Status == "over" {
				asked = time.Time{}
			} else if time.Since(asked) > 3*longestCooldown {
				t.Errorf("the answer was not taken within %v, after %d looks", time.Since(asked), steps-before)
				asked = time.Time{}
			}
		})
	})
}

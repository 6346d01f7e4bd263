package loop

import (
	"errors"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/layout"
)

func TestEveryRunIsCountedOnceByHowItStands(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := worldAt(t, root)
		if got := w.Standing(); !cmp.Equal(got, Standing{Families: map[string]Count{"toy": {}}}) {
			t.Errorf("before it is served: %+v", got)
		}
		old := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
		w.toy("asks", toyState{Asked: old.Add(time.Hour)})
		w.toy("asked", toyState{Asked: old})
		w.toy("untold", toyState{})
		w.toy("over", toyState{Status: "over"})
		w.toy("over2", toyState{Status: "over"})
		w.toy("busy", toyState{Quirk: "march"})
		w.toy("broken", toyState{Quirk: "error"})
		s := w.start(deaf)
		<-s.ready
		got := w.Standing()
		want := map[string]Count{"toy": {Waiting: 3, HeldUp: 1, Live: 1, Final: 2, Requests: 3, Oldest: old}}
		if diff := cmp.Diff(want, got.Families); diff != "" {
			t.Errorf("standing (-want +got):\n%s", diff)
		}
		if len(got.Holding) != 1 || got.Unlisted {
			t.Errorf("held up by %v, unlisted %v", got.Holding, got.Unlisted)
		}
		w.answer("asked", "yes")
		w.toy("broken", toyState{Status: "over"})
		time.Sleep(2 * scanRound)
		got = w.Standing()
		want["toy"] = Count{Waiting: 2, Live: 1, Final: 4, Requests: 2, Oldest: old.Add(time.Hour)}
		if diff := cmp.Diff(want, got.Families); diff != "" || got.Holding != nil {
			t.Errorf("held up by %v; standing (-want +got):\n%s", got.Holding, diff)
		}
		s.stop()
		if got := w.Standing(); !cmp.Equal(got, Standing{Families: map[string]Count{"toy": {}}}) {
			t.Errorf("after it was served: %+v", got)
		}
	})
}

func TestWhatHoldsRunsUpIsToldByItsError(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w, a := ail(t, root)
		for i := range 5 {
			w.toy(fmt.Sprintf("g1/a%d", i), toyState{})
		}
		a.set(func(a *ailing) { a.create = syscall.ENOSPC })
		s := w.start(deaf)
		<-s.ready
		got := w.Standing()
		if len(got.Holding) != 1 || !errors.Is(got.Holding[0], syscall.ENOSPC) || got.Families["toy"].HeldUp != 5 {
			t.Errorf("on a full disk: %+v", got)
		}
		a.set(func(a *ailing) { a.create, a.list = nil, map[string]error{"toys/g1": syscall.EIO} })
		time.Sleep(2 * scanRound)
		got = w.Standing()
		if len(got.Holding) != 1 || !errors.Is(got.Holding[0], syscall.EIO) || !got.Unlisted || got.Families["toy"].HeldUp != 0 {
			t.Errorf("a folder that cannot be listed: %+v", got)
		}
		a.set(func(a *ailing) { a.list = nil })
		time.Sleep(2 * scanRound)
		if got = w.Standing(); got.Holding != nil || got.Unlisted {
			t.Errorf("when all is well: %+v", got)
		}
		s.stop()
	})
}

// Without file events, an answer that comes after the last look of a pass and before its
// end is found all the same, whichever pass it is.
func TestAnAnswerAtTheEndOfAPassIsFoundWithoutEvents(t *testing.T) {
	for pass, given := 1, true; given; pass++ {
		synctest.Test(t, func(t *testing.T) {
			var w *world
			passes := 0
			given = false
			w = newWorld(t, func(o *Options) {
				o.Observers = append(o.Observers, Observer{Passed: func(layout.Run, time.Duration) {
					if passes++; passes == pass {
						w.answer("a", "yes")
						given = true
					}
				}})
			})
			w.toy("a", toyState{Target: 2})
			s := w.start(deaf)
			time.Sleep(10 * time.Second)
			s.stop()
			if got := w.state("a").Status; given && got != "over" {
				t.Errorf("an answer at the end of pass %d: the run is %s\n%s", pass, got, w.log)
			}
			given = given && pass < 16
			t.Logf("pass %d of %d", pass, passes)
		})
	}
}

// With more runs than are counted at a time, none is missed and none counted twice.
func TestManyRunsAreCountedInParts(t *testing.T) {
	b := newRegistry([]Family{{toyLayout{}, toyMachine{}}})
	f := Found{Family: b.families[0]}
	for i := range 2*tallied + 3 {
		f.Run = toyRun(fmt.Sprintf("a%d", i))
		b.add(b.newRun(f))
		f.Run = toyRun(fmt.Sprintf("b%d", i))
		lv := b.newActive(f)
		lv.status = engine.Summary{Waiting: true, Open: 2}
		b.add(lv.knownRun)
	}
	counts := make([]Count, 1)
	b.tally(counts, map[string]string{toyRun("b7").State: "full"})
	n := 2*tallied + 3
	if diff := cmp.Diff(Count{Waiting: n - 1, HeldUp: 1, Final: n, Requests: 2 * n}, counts[0]); diff != "" {
		t.Errorf("count (-want +got):\n%s", diff)
	}
}

func TestCommitsAndPassesAreTold(t *testing.T) {
	var mu sync.Mutex
	var commits, notes, passes, negative int
	w := newWorld(t, func(o *Options) {
		o.Observers = append(o.Observers, Observer{Committed: func(run layout.Run, plan engine.Plan, took time.Duration) {
			mu.Lock()
			defer mu.Unlock()
			commits++
			for _, d := range plan.Writes {
				if d.Kind == layout.KindProblem {
					notes++
				}
			}
			if took <= 0 || run.ID != "a" {
				negative++
			}
		}, Passed: func(run layout.Run, took time.Duration) {
			mu.Lock()
			defer mu.Unlock()
			passes++
			if took <= 0 || run.Family != "toy" {
				negative++
			}
		}})
	})
	w.toy("a", toyState{Target: 2})
	s := w.start(deaf)
	<-s.ready
	w.answer("a", "")
	w.eventually("the note stands", func() bool { return w.read("toys/a/requests/q/problem.md") != "" })
	w.answer("a", "yes")
	w.becomes("a", "over")
	s.stop()
	mu.Lock()
	defer mu.Unlock()
	// The commits are: counted twice, asked, noted, answered; and the removal of the note
	// may be a commit of its own.
	if commits < 5 || commits > 6 || notes != 1 || passes < 3 || negative != 0 {
		t.Errorf("%d commits with %d notes, %d passes, %d without a length", commits, notes, passes, negative)
	}
}

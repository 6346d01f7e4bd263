package loop

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/layout"
)

// No observer takes a report from another, and each may omit reports.
func TestEveryObserverIsToldInItsOrder(t *testing.T) {
	var told []string
	say := func(what string) { told = append(told, what) }
	w := newWorld(t, func(o *Options) {
		o.Observers = Observers{
			{Moved: func(layout.Run, engine.Transition) { say("1 moved") }},
			{
				Committed: func(layout.Run, engine.Plan, time.Duration) { say("2 committed") },
				Passed:    func(layout.Run, time.Duration) { say("2 passed") },
			},
			{
				Moved:     func(layout.Run, engine.Transition) { say("3 moved") },
				Committed: func(layout.Run, engine.Plan, time.Duration) { say("3 committed") },
				Passed:    func(layout.Run, time.Duration) { say("3 passed") },
			},
			{},
		}
	})
	w.toy("a", toyState{Target: 1})
	s := w.session("a")
	s.working.acquire()
	s.serve(t.Context(), toyRun("a").State)
	step := []string{"2 committed", "3 committed", "1 moved", "3 moved"}
	want := slices.Concat(step, step, []string{"2 passed", "3 passed"}) // one step, and the last one
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	for _, o := range w.o.Observers {
		o.Progressed(layout.Run{}, "", engine.Progress{}) // a function that an observer omits can still be called
	}
}

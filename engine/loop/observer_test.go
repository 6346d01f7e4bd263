package loop

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/layout"
)

// Nobody takes a report from another observer, and each may leave reports out.
func TestEveryObserverIsToldInItsOrder(t *testing.T) {
	var told []string
	say := func(what string) { told = append(told, what) }
	all := Observers{
		{Moved: func(layout.Run, engine.Transition) { say("1 moved") }},
		{
			Committed:  func(layout.Run, engine.Plan, time.Duration) { say("2 committed") },
			Progressed: func(layout.Run, string, engine.Progress) { say("2 progressed") },
			Passed:     func(layout.Run, time.Duration) { say("2 passed") },
		},
		{
			Moved:      func(layout.Run, engine.Transition) { say("3 moved") },
			Committed:  func(layout.Run, engine.Plan, time.Duration) { say("3 committed") },
			Progressed: func(layout.Run, string, engine.Progress) { say("3 progressed") },
			Passed:     func(layout.Run, time.Duration) { say("3 passed") },
		},
	}
	all.moved(layout.Run{}, engine.Transition{})
	all.committed(layout.Run{}, engine.Plan{}, 0)
	all.progressed(layout.Run{}, "", engine.Progress{})
	all.passed(layout.Run{}, 0)
	want := []string{"1 moved", "3 moved", "2 committed", "3 committed", "2 progressed", "3 progressed", "2 passed", "3 passed"}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

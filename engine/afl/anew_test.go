package afl

import (
	"testing"
	"time"
)

// An action begins once in a process, and is known by its name: a session whose folder
// was made anew, beside the same daemon, must not wait for the commands of the first.
func TestASessionBegunAnewHasCommandsOfItsOwn(t *testing.T) {
	named := map[string]bool{}
	for _, later := range []time.Duration{0, time.Second} {
		w := approvedWorld(t, cp{id: "a"})
		w.pass(later)
		w.untilBegun()
		w.trust()
		w.done("a")
		w.settle()
		w.status(Delegating, "a=validating")
		own := ""
		for range 2 {
			w.pass(time.Second)
			_, p := w.Full()
			if len(p.Actions) != 1 || own != "" && p.Actions[0].ID != own {
				t.Fatalf("the actions are %+v, and %s was begun", p.Actions, own)
			}
			own = p.Actions[0].ID
		}
		if named[own] {
			t.Errorf("%s is a command of two sessions", own)
		}
		named[own] = true
	}
}

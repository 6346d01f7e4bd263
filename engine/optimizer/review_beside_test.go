package optimizer

import (
	"testing"
	"time"
)

// An answer that is there when its deadline is handled wins, also where somebody laid
// a goal.json that says what the deadline would: it waits until that is moved away.
func TestNoDeadlinePassesOverAnAnswerBesideAFallbackGoal(t *testing.T) {
	tell(t, func(d *desk) {
		d.level20()
		d.write("goal.json", string(encoded(goalOf(d.state(), nil))))
		d.tick("raise", "submit")
		d.goes()
		d.noted("goal.json.problem.md", "move it away")
		d.pass(49 * time.Hour)
		d.goes()
		d.unlink("goal.json")
		d.goes(answered)
		if g := d.goal(); g.NextAutomationLevel != 30 || g.ApprovedBy != byHuman {
			t.Errorf("the goal is %+v", g)
		}
	})
}

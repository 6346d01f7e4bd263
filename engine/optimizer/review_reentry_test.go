package optimizer

import (
	"fmt"
	"testing"
	"time"

	"placet/engine"
	"placet/layout"
)

// ran writes upstream's manifest of a run that completed so long after the
// story began.
func (d *desk) ran(run string, after time.Duration, tags string) {
	at := storyNow.Add(after).Format(time.RFC3339)
	d.Put(layout.OptimizerManifest(dirOf(run)), fmt.Sprintf(`{"run_id": %q, "status": "completed", "tags": [%s], "completed_at": %q}`, run, tags, at))
}

// open has the run in hand end with a goal that has an issue.
func (d *desk) openGoal() {
	d.T.Helper()
	d.level10()
	d.respond(typeHITL, `"comment": "an issue"`)
	d.Settle()
	d.status(Reached)
}

// Where runs are told by their slugs too, the one that completed first takes the goal
// up, by whichever rule it is of the workflow.
func TestTheFirstRunToCompleteTakesTheGoalUp(t *testing.T) {
	const tagged = "20260301-msowd-other"
	for name, bySlug := range map[string]bool{"by slug": true, "by tags alone": false} {
		t.Run(name, func(t *testing.T) {
			tellWith(t, func(c *Config) { c.MatchSlug = bySlug }, func(d *desk) {
				d.openGoal()
				d.ran(runB, time.Hour, "")
				d.ran(tagged, 2*time.Hour, `"workflow:`+flow+`"`)
				d.pass(3 * time.Hour)
				d.Settle()
				if got := d.on(runB).there("trigger.json"); got != bySlug {
					t.Errorf("the first run took it up: %t", got)
				}
				if got := d.on(tagged).there("trigger.json"); got == bySlug {
					t.Errorf("the tagged run took it up: %t", got)
				}
			})
		})
	}
}

// A run of two workflows takes up nothing, also where it completed before one of the
// two goals was reached.
func TestARunOfTwoWorkflowsTakesUpNothing(t *testing.T) {
	tell(t, func(d *desk) {
		d.openGoal()
		d.pass(2 * time.Hour)
		other := d.on("20260302-msowd-another")
		other.write("trigger.json", triggerOf("another"))
		other.assets(10)
		other.Settle()
		other.respond(typeHITL, `"comment": "another issue"`)
		other.Settle()
		other.status(Reached)
		d.ran(runC, time.Hour, `"workflow:`+flow+`", "workflow:another"`)
		d.goes()
		if d.on(runC).there("trigger.json") {
			t.Error("it took one of them up")
		}
	})
}

// A run whose state is there, if it cannot be used, has a cycle: it keeps no other
// from taking the goal up.
func TestARunWithABrokenStateTakesUpNothing(t *testing.T) {
	tell(t, func(d *desk) {
		d.openGoal()
		d.on(runB).write("state.json", "{}")
		d.ran(runB, time.Hour, "")
		d.ran(runC, 2*time.Hour, "")
		d.pass(3 * time.Hour)
		d.Settle()
		if d.on(runB).there("trigger.json") || !d.on(runC).there("trigger.json") {
			t.Errorf("the goal was not taken up by %s", runC)
		}
	})
}

// Whoever took a goal up did so for ever, also where its trigger.json is gone.
func TestAGoalStaysTakenWhenTheTriggerGoes(t *testing.T) {
	m := New()
	of := func(run, last string, began string, status engine.Status) []byte {
		return encoded(Entry{Root: ".mso-context", RunID: run, Workflow: flow + last, LastRunID: text(last), Status: status, BeganAt: text(began), MovedAt: text(began),
			Goal: &Goal{NextAutomationLevel: 10, CarryOverIssues: []string{"x"}, ApprovedBy: byHuman}})
	}
	if open := OpenGoals(Entries(map[string][]byte{
		runA: of(runA, "", "2026-03-02T09:12:00Z", Reached), runB: of(runB, runA, "2026-03-03T09:12:00Z", Running),
	})); len(open) != 0 {
		t.Errorf("%+v is open in %s", open, m.Family())
	}
}

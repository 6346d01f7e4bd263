package optimizer

import (
	"path"
	"strings"
	"testing"
	"time"
)

// Whoever begins a cycle in a copy of another run's folder has its context.json there,
// too: the goal and the answers in it are not those behind this cycle.
func TestTheContextOfAnotherCycleDecidesNothing(t *testing.T) {
	for name, other := range map[string][2]string{"run": {runA, runB}, "workflow": {`"workflow_name": "` + flow, `"workflow_name": "other`}} {
		t.Run(name, func(t *testing.T) {
			tell(t, func(d *desk) {
				d.trigger()
				d.goes(triggered, collected)
				found := d.read("context.json")
				d.write("context.json", strings.Replace(found, other[0], other[1], 1))
				d.assets(10)
				d.goes()
				d.noted("context.json.problem.md", "remove it")
				d.unlink("context.json")
				d.goes(decided, reported, recorded)
				d.noted()
			})
		})
	}
}

// What a begun cycle waits for is told as it is: not suggestions that are there.
func TestExplainAwaitsNoSuggestionsThatAreThere(t *testing.T) {
	tell(t, func(d *desk) {
		d.write("level20_report.md", "# mine\n")
		d.assets(20)
		d.write("retrieved.jsonl", retrievedLines)
		d.write("suggestions.json", threeSuggestions)
		d.trigger()
		d.Settle()
		d.status(Running)
		if a := d.Account(d.run); strings.Contains(strings.Join(a.Why, "; "), "awaited") {
			t.Errorf("it waits for %q", a.Why)
		}
	})
}

// A cycle whose state is gone says what to remove to begin it anew: then it comes to
// its goal, and no file of the first time stands in its way.
func TestACycleBegunAnewComesToItsGoal(t *testing.T) {
	tell(t, func(d *desk) {
		d.level20()
		d.respond(typeHITL, `"response": "raise"`)
		d.goes(answered)
		d.unlink("state.json")
		d.goes()
		_, kept, _ := strings.Cut(d.noteBody("state.json.problem.md"), "all else but ")
		for _, p := range d.Tree().Paths() {
			if strings.HasPrefix(p, d.in("")+"/") && !strings.Contains(kept, path.Base(p)) && path.Dir(p) != d.in("inputs") {
				d.Remove(p)
			}
		}
		d.pass(25 * time.Hour)
		d.goes(triggered, collected, decided, retrieved, reported, recorded)
		d.respond(typeHITL, `"response": "lower"`)
		d.goes(answered)
		d.noted()
		if g := d.goal(); g.NextAutomationLevel != 20 { // the first answer had this cycle run at 30
			t.Errorf("the goal is %+v", g)
		}
	})
}

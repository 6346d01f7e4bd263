package optimizer

import (
	"strings"
	"testing"

	"placet/engine"
)

// unknownAttempt has the run in hand ask about an attempt at level 30 whose end
// nobody knows.
func (d *desk) unknownAttempt() {
	d.T.Helper()
	argv := []string{"tool"}
	d.trust(argv)
	d.config(func(c *Config) { c.Workflows = map[string]Workflow{flow: {Evaluation: argv, CriteriaFixed: true}} })
	d.trigger()
	d.goes(triggered, collected, decided)
	d.EndCommand("level/30-1", engine.Ended{Result: "lost"})
	d.goes()
}

// backTo puts state and journal back to before a commit: its receipt stands already.
func (d *desk) backTo(state, events string) {
	d.write("state.json", state)
	d.write("events.jsonl", events)
}

// An answer whose receipt stands is carried out as it was given, whatever else says
// the same by now.
func TestARecordedAnswerComesBeforeALevelError(t *testing.T) {
	tell(t, func(d *desk) {
		d.unknownAttempt()
		state, events := d.read("state.json"), d.read("events.jsonl")
		d.respond(typeUnknown, `"response": "demote"`)
		d.goes(demoted)
		rel := d.request(typeUnknown, "receipt.json")
		receipt := d.read(rel)
		d.backTo(state, events)
		d.write("inputs/level-error.json", `{"level": 30, "error": "no"}`)
		d.Restart()
		d.goes(demoted)
		if got := d.read(rel); got != receipt {
			t.Errorf("the receipt is another one:\n%s\nit was\n%s", got, receipt)
		}
	})
}

// The answer about the re-entries, too: nothing passes it while context.json is made
// again.
func TestARecordedAnswerWaitsForContextJSON(t *testing.T) {
	tell(t, func(d *desk) {
		d.trigger(`"timeout_reentries": 4`)
		d.goes(triggered)
		state, events := d.read("state.json"), d.read("events.jsonl")
		d.respond(typeCap, `"response": "continue"`)
		d.goes(continued)
		receipt := d.read(d.request(typeCap, "receipt.json"))
		d.backTo(state, events)
		d.unlink("context.json")
		d.write("stop.json", `{"reason": "no"}`)
		d.Restart()
		d.goes(continued, stopped)
		if got := d.read(d.request(typeCap, "receipt.json")); got != receipt {
			t.Errorf("the receipt is another one:\n%s\nit was\n%s", got, receipt)
		}
	})
}

// A power cut may leave goal.json and take the receipt: where it says what placet
// writes anyway it is nobody else's.
func TestAGoalThatSaysWhatPlacetWritesIsPlacets(t *testing.T) {
	for name, end := range map[string]struct {
		edge string
		do   func(d *desk)
	}{
		"answered":  {answered, func(d *desk) { d.respond(typeHITL, `"response": "raise"`) }},
		"timed out": {timedOut, func(d *desk) { d.pass(49 * 60 * 60e9) }},
	} {
		t.Run(name, func(t *testing.T) {
			tell(t, func(d *desk) {
				d.level10()
				state, events := d.read("state.json"), d.read("events.jsonl")
				end.do(d)
				d.goes(end.edge)
				goal := d.read("goal.json")
				d.backTo(state, events)
				d.unlink(d.request(typeHITL, "receipt.json"))
				d.Restart()
				// What says otherwise is somebody else's.
				d.write("goal.json", strings.Replace(goal, "\n}", ",\n  \"x\": 1\n}", 1))
				d.goes()
				d.holds("goal.json.problem.md", "move it away")
				d.write("goal.json", goal)
				d.goes(end.edge)
				if d.there("goal.json.problem.md") || d.read("goal.json") != goal {
					t.Errorf("notes %q, the goal is\n%s", d.notes(), d.read("goal.json"))
				}
			})
		})
	}
}

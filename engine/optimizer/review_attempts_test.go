package optimizer

import (
	"testing"
	"time"

	"placet/engine"
)

// A command whose level was given up is ended, and its attempt says so: an attempt
// without outcome is one of which nobody knows whether it runs.
func TestAnAbandonedAttemptHasAnOutcome(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(d *desk)
		edge []string
	}{
		"demoted": {func(d *desk) { d.write("inputs/level-error.json", `{"level": 30, "error": "no"}`) }, []string{demoted}},
		"stopped": {func(d *desk) { d.write("stop.json", `{"reason": "no"}`) }, []string{stopped}},
		"by others": {func(d *desk) {
			d.write("retrieved.jsonl", retrievedLines)
			d.write("suggestions.json", threeSuggestions)
		}, []string{retrieved, reported, recorded}},
		"by others, and a crash": {func(d *desk) {
			d.write("retrieved.jsonl", retrievedLines)
			d.write("suggestions.json", threeSuggestions)
			d.EndCommand("level/30-1", engine.Ended{Result: "finished"})
			d.Restart()
		}, []string{retrieved, reported, recorded}},
	} {
		t.Run(name, func(t *testing.T) {
			tell(t, func(d *desk) {
				argv := []string{"tool"}
				d.trust(argv)
				d.config(func(c *Config) { c.Workflows = map[string]Workflow{flow: {Evaluation: argv, CriteriaFixed: true}} })
				d.trigger()
				d.goes(triggered, collected, decided)
				if len(d.Alive()) != 1 {
					t.Fatalf("%q are under way", d.Alive())
				}
				c.do(d)
				d.goes(c.edge...)
				if alive := d.Alive(); len(alive) != 0 {
					t.Errorf("%q are under way", alive)
				}
				var o Outcome
				d.decode("attempts/30-1.outcome.json", &o)
				if o.Result != resultUnknown {
					t.Errorf("it ended %+v", o)
				}
				d.noted()
			})
		})
	}
}

// The request about an attempt stands in no state: that the settings say otherwise by
// now who may answer, or that the outcome was written anew, makes it no other one.
func TestAQuestionAboutAnAttemptStaysAsItWasAsked(t *testing.T) {
	tell(t, func(d *desk) {
		d.unknownAttempt()
		id := d.asked(typeUnknown)
		before := d.Case.Config
		d.Case.Config = func(c *engine.Config) {
			before(c)
			c.Gates = map[string]engine.Gate{"*": {Level: "file", Approvers: []string{"kim"}}}
		}
		d.unlink("attempts/30-1.outcome.json")
		d.pass(time.Minute)
		d.goes()
		d.noted()
		d.respond(typeUnknown, `"response": "demote"`)
		d.goes(demoted)
		if d.asked(typeUnknown) != id {
			t.Errorf("%s was asked again as %s", id, d.asked(typeUnknown))
		}
	})
}

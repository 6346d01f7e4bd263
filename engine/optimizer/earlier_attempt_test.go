package optimizer

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"placet/layout"
)

// earlierAttempt is one that began before the cycles of the stories.
const earlierAttempt = `{"level": 20, "n": 1, "argv": ["tool"], "started_at": "2026-03-02T09:11:59Z", "deadline": "2026-03-02T09:41:59Z"}`

// The attempts in a folder that was copied from another run are not this cycle's: they
// demote nothing, ask nobody, are not written over and are told of.
func TestAttemptsOfAnotherCycleCountForNothing(t *testing.T) {
	failed := encodedText(Outcome{Result: resultFailed, Error: "exit 2", EndedAt: "2026-03-02T09:11:59Z"})
	for name, outcome := range map[string]string{"failed": failed, "without outcome": "", "unknown": encodedText(Outcome{Result: resultUnknown, EndedAt: "2026-03-02T09:11:59Z"})} {
		t.Run(name, func(t *testing.T) {
			tellWith(t, withCommands(func(w *Workflow) { w.Evaluation = nil }), func(d *desk) {
				d.trust(analyse)
				d.write("attempts/20-1.json", earlierAttempt)
				if outcome != "" {
					d.write("attempts/20-1.outcome.json", outcome)
				}
				d.trigger()
				d.goes(triggered, collected, decided)
				d.noted("attempts/20-1.json.problem.md", "before the cycle did")
				if len(d.Alive()) != 1 || !strings.HasSuffix(d.Alive()[0], "level/20-2") || !d.there("attempts/20-2.json") {
					t.Fatalf("%q are under way", d.Alive())
				}
				d.EndCommand("level/20-2", exited(0, retrievedLines))
				d.goes(retrieved)
				d.write("suggestions.json", threeSuggestions)
				d.goes(reported, recorded)
				if d.there("requests/" + typeUnknown) {
					t.Error("somebody was asked about it")
				}
				if d.read("attempts/20-1.json") != earlierAttempt || d.there("attempts/20-1.outcome.json") != (outcome != "") {
					t.Error("what is another cycle's was changed")
				}
				d.noted("attempts/20-1.json.problem.md", "remove it with its outcome")
				d.unlink("attempts/20-1.json")
				d.goes()
				d.noted()
			})
		})
	}
	t.Run("an outcome alone", func(t *testing.T) {
		tellWith(t, withCommands(func(w *Workflow) { w.Evaluation = nil }), func(d *desk) {
			d.trust(analyse)
			d.write("attempts/20-1.outcome.json", failed)
			d.trigger()
			d.goes(triggered, collected, decided)
			if len(d.Alive()) != 1 || !d.there("attempts/20-2.json") {
				t.Errorf("%q are under way", d.Alive())
			}
		})
	})
}

// While the clock is set back an attempt is the cycle's all the same: its command does
// not begin twice.
func TestAnAttemptWhileTheClockIsSetBackCounts(t *testing.T) {
	tell(t, func(d *desk) {
		d.config(withCommands(func(w *Workflow) { w.Evaluation = nil }))
		d.trigger()
		d.goes(triggered, collected, decided)
		d.trust(analyse)
		s := d.snapshot(nil)
		s.Now = s.Now.Add(-time.Hour)
		p, err := New().Step(s)
		if err != nil || len(p.Actions) != 1 || p.Actions[0].Command.Timeout != 30*time.Minute {
			t.Fatalf("%+v, %v", p.Actions, err)
		}
		var a Attempt
		for _, w := range p.Writes {
			if w.Path == d.in(layout.OptimizerAttemptFile(20, 1)) && json.Unmarshal(w.Body, &a) != nil {
				t.Fatalf("the attempt is %s", w.Body)
			}
		}
		if began := d.state().BeganAt; a.StartedAt != began {
			t.Errorf("the attempt began at %q, the cycle at %q", a.StartedAt, began)
		}
	})
}

func encodedText(v any) string { return string(encoded(v)) }

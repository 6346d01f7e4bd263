package optimizer

import (
	"strings"
	"testing"
	"time"

	"placet/engine"
)

// commands are the level commands of the stories.
var (
	evaluate = []string{"python3", "scripts/evaluation.py"}
	analyse  = []string{"python3", "scripts/analyse.py"}
)

// withCommands is a configuration with both level commands.
func withCommands(change func(*Workflow)) func(*Config) {
	return func(c *Config) {
		w := Workflow{Evaluation: evaluate, Analysis: analyse, CriteriaFixed: true}
		if change != nil {
			change(&w)
		}
		c.Workflows = map[string]Workflow{flow: w}
	}
}

// exited is the end of a command that ended by itself.
func exited(code int, output string) engine.Ended {
	e := engine.Ended{Result: "finished", Exit: &code, Stdout: "to stdout", Stderr: "to stderr"}
	if output != "" {
		e.Output = []byte(output)
	}
	return e
}

func TestScenario08LevelsThatCannotBeDone(t *testing.T) {
	t.Run("the command of level 30 fails", func(t *testing.T) {
		tellWith(t, withCommands(nil), func(d *desk) {
			d.trust(evaluate)
			d.trigger()
			d.goes(triggered, collected, decided)
			d.holds("attempts/30-1.json", `"argv": [`, `"scripts/evaluation.py"`, `"deadline": "2026-03-02T09:42:03Z"`)
			d.EndCommand("level/30-1", exited(2, ""))
			d.goes(demoted)
			d.holds("attempts/30-1.outcome.json", `"exit": 2`, `"result": "failed"`, `"stdout_tail": "to stdout"`, `"stderr_tail": "to stderr"`)
			if st := d.state(); st.Level.Current != 20 || len(st.Demotions) != 1 || st.Demotions[0].Error != "evaluation: exit 2" || st.Decision.AutomationLevel != 30 || st.Decision.EscalationNeeded {
				t.Errorf("the state is %+v, %+v", st.Level, st.Demotions)
			}
			d.write("retrieved.jsonl", retrievedLines)
			d.write("suggestions.json", threeSuggestions)
			d.goes(retrieved, reported, recorded)
			if d.there("level30_report.md") || !d.there("level20_report.md") {
				t.Errorf("the files are %q", d.Tree().Paths())
			}
			d.tick("appropriate", "submit")
			d.goes(answered)
			if g := d.goal(); g.NextAutomationLevel != 20 || len(g.CarryOverIssues) != 1 || g.CarryOverIssues[0] != "Level 30 failed: evaluation: exit 2" {
				t.Errorf("the goal is %+v", g)
			}
		})
	})
	t.Run("both fail, then level 10", func(t *testing.T) {
		tellWith(t, withCommands(nil), func(d *desk) {
			d.trust(evaluate, analyse)
			d.trigger()
			d.goes(triggered, collected, decided)
			d.EndCommand("level/30-1", exited(2, ""))
			d.goes(demoted)
			d.EndCommand("level/20-1", engine.Ended{Result: "timed_out"})
			d.goes(demoted, reported, recorded)
			d.holds("attempts/20-1.outcome.json", `"result": "timeout"`, `"exit": null`)
			st := d.state()
			if !st.Decision.EscalationNeeded || st.Level.Current != 10 || !d.there("level10_report.md") {
				t.Errorf("the state is %+v %+v", st.Decision, st.Level)
			}
			d.holds("decision.json", `"escalation_needed": false`) // as first decided
			d.pass(48 * time.Hour)
			d.goes(timedOut)
			if g := d.goal(); len(g.CarryOverIssues) != 3 || !strings.HasPrefix(g.CarryOverIssues[1], "Level 30 failed: ") || !strings.HasPrefix(g.CarryOverIssues[2], "Level 20 failed: ") || g.NextAutomationLevel != 10 {
				t.Errorf("the goal is %+v", g)
			}
		})
	})
	t.Run("level 10 cannot be done", func(t *testing.T) {
		tell(t, func(d *desk) {
			d.assets(10)
			d.write("inputs/level-error.json", `{"level": 10, "error": "no data at all"}`)
			d.trigger()
			d.goes(triggered, collected, decided, levelFailed)
			d.status(Failed)
			rows := d.rows(auditLogs)
			if len(rows) != 1 || rows[0]["status"] != "fail" || rows[0]["action"] != "level10_failed" || rows[0]["output_path"] != nil || rows[0]["files_affected"] != nil {
				t.Errorf("the rows are %v", rows)
			}
			if st := d.state(); st.Error != "no data at all" || d.there("goal.json") {
				t.Errorf("the error is %q", st.Error)
			}
		})
	})
	t.Run("an error of another level counts for nothing", func(t *testing.T) {
		tell(t, func(d *desk) {
			d.write("inputs/level-error.json", `{"level": 30, "error": "no"}`)
			d.level20()
			if len(d.state().Demotions) != 0 {
				t.Errorf("demoted: %+v", d.state().Demotions)
			}
		})
	})
	t.Run("data of the failed level are taken again", func(t *testing.T) {
		tell(t, func(d *desk) {
			d.assets(30)
			d.write("retrieved.jsonl", retrievedLines)
			d.trigger()
			d.goes(triggered, collected, decided, retrieved)
			d.write("inputs/level-error.json", `{"level": 30, "error": "the criteria are wrong"}`)
			d.goes(demoted, retrieved)
			if st := d.state(); st.Level.Current != 20 || st.Level.Retrieved == "" {
				t.Errorf("the level is %+v", st.Level)
			}
		})
	})
}

func TestScenario08CommandsThatSucceed(t *testing.T) {
	tellWith(t, withCommands(nil), func(d *desk) {
		d.trust(evaluate)
		d.write("suggestions.json", threeSuggestions)
		d.trigger()
		d.goes(triggered, collected, decided)
		d.EndCommand("level/30-1", exited(0, retrievedLines))
		d.goes(retrieved, reported, recorded)
		d.holds("attempts/30-1.outcome.json", `"result": "ok"`, `"error": null`)
		if got := d.read("retrieved.jsonl"); got != retrievedLines {
			t.Errorf("retrieved %q", got)
		}
		d.holds("level30_report.md", "\n## Evaluation summary\n", "\n## KPI attainment\n", "\n## Areas needing improvement\n", "\n## Concrete optimisation proposals\n", "\n### High priority\n", "\n### Normal priority\n",
			"\n## Recommendation for the next cycle\n")
	})
}

// What a command wrote that is no valid retrieved.jsonl is never put into place,
// and what lies there is never written over.
func TestScenario08WhatACommandWrites(t *testing.T) {
	for name, end := range map[string]engine.Ended{
		"a bad line":         exited(0, `{"record_id": "r1", "metric": "m", "value": "7"}`+"\n"),
		"no newline":         exited(0, `{"record_id": "r1", "metric": "m", "value": 7}`),
		"nothing":            exited(0, ""),
		"an empty file":      {Result: "finished", Exit: ptr(0), Output: []byte{}},
		"killed by a signal": {Result: "finished", Reason: "signal: killed"},
		"it was not started": {Result: "not_started", Reason: "no such program"},
	} {
		t.Run(name, func(t *testing.T) {
			tellWith(t, withCommands(nil), func(d *desk) {
				d.trust(evaluate)
				d.trigger()
				d.Settle()
				d.EndCommand("level/30-1", end)
				d.goes(demoted)
				if d.there("retrieved.jsonl") {
					t.Error("it was put into place")
				}
				want := `"result": "invalid"`
				if end.Exit == nil {
					want = `"result": "failed"`
				}
				d.holds("attempts/30-1.outcome.json", want)
			})
		})
	}
	t.Run("beside what an agent wrote meanwhile", func(t *testing.T) {
		tellWith(t, withCommands(nil), func(d *desk) {
			d.trust(evaluate)
			d.trigger()
			d.Settle()
			own := strings.Replace(retrievedLines, "86", "85", 1)
			d.write("retrieved.jsonl", own)
			d.EndCommand("level/30-1", exited(0, retrievedLines))
			d.goes(retrieved)
			if d.read("retrieved.jsonl") != own {
				t.Error("what an agent wrote was written over")
			}
		})
	})
}

func TestScenario17AttemptsWhoseEndNobodyKnows(t *testing.T) {
	lost := func(d *desk) {
		d.trust(evaluate, analyse)
		d.trigger()
		d.goes(triggered, collected, decided)
		d.Restart()
		d.Case.Trusted = nil
		d.trust(evaluate)
		// The command of the process that ended is not that of this one.
		d.EndCommand("level/30-1", engine.Ended{Result: "lost"})
	}
	t.Run("retry", func(t *testing.T) {
		tellWith(t, withCommands(nil), func(d *desk) {
			lost(d)
			d.goes()
			d.holds("attempts/30-1.outcome.json", `"result": "unknown"`)
			d.respond(typeUnknown, `"response": "retry"`)
			d.goes(retried)
			if d.state().Level.ExtraAttempts != 1 || !d.there("attempts/30-2.json") {
				t.Errorf("the level is %+v", d.state().Level)
			}
			d.EndCommand("level/30-2", exited(1, ""))
			d.goes(demoted)
		})
	})
	t.Run("demote", func(t *testing.T) {
		tellWith(t, withCommands(nil), func(d *desk) {
			lost(d)
			d.goes()
			d.respond(typeUnknown, `"response": "demote"`)
			d.goes(demoted)
			if st := d.state(); st.Level.Current != 20 || len(st.Demotions) != 1 {
				t.Errorf("the level is %+v, %+v", st.Level, st.Demotions)
			}
		})
	})
	t.Run("the data come by themselves", func(t *testing.T) {
		tellWith(t, withCommands(nil), func(d *desk) {
			lost(d)
			d.goes()
			d.write("retrieved.jsonl", retrievedLines)
			d.goes(retrieved)
			d.holds(d.request(typeUnknown, "receipt.json"), `"result": "superseded"`)
		})
	})
	t.Run("idempotent", func(t *testing.T) {
		tellWith(t, withCommands(func(w *Workflow) { w.Idempotent = true }), func(d *desk) {
			lost(d)
			d.goes()
			for _, n := range []string{"2", "3", "4"} {
				if d.there("requests") || !d.there("attempts/30-"+n+".json") {
					t.Fatalf("attempt %s is not under way; there are %q", n, d.Tree().Paths())
				}
				d.EndCommand("level/30-"+n, engine.Ended{Result: "lost"})
				d.goes()
			}
			d.asked(typeUnknown) // the fourth loss is a person's to judge
			if d.there("attempts/30-5.json") {
				t.Error("it was started a fifth time unasked")
			}
			d.respond(typeUnknown, `"response": "retry"`)
			d.goes(retried)
			if !d.there("attempts/30-5.json") {
				t.Errorf("there are %q", d.Tree().Paths())
			}
		})
	})
	t.Run("idempotent losses do not count as attempts", func(t *testing.T) {
		tellWith(t, withCommands(func(w *Workflow) { w.Idempotent = true }), func(d *desk) {
			lost(d)
			d.goes()
			d.EndCommand("level/30-2", exited(0, retrievedLines))
			d.goes(retrieved)
		})
	})
	t.Run("a command that nobody trusts", func(t *testing.T) {
		tellWith(t, withCommands(nil), func(d *desk) {
			d.trigger()
			d.goes(triggered, collected, decided)
			d.pass(400 * 24 * time.Hour)
			d.goes()
			if len(d.Alive()) != 0 || d.there("attempts/30-1.json") {
				t.Errorf("under way: %q", d.Alive())
			}
			d.write("retrieved.jsonl", retrievedLines)
			d.goes(retrieved)
		})
	})
	t.Run("as many attempts as are allowed", func(t *testing.T) {
		tellWith(t, withCommands(func(w *Workflow) { w.LevelAttempts = ptr(3) }), func(d *desk) {
			d.trust(evaluate)
			d.trigger()
			d.Settle()
			for _, n := range []string{"1", "2"} {
				d.EndCommand("level/30-"+n, exited(1, ""))
				d.goes()
			}
			d.EndCommand("level/30-3", exited(1, ""))
			d.goes(demoted)
		})
	})
	t.Run("a command still under way after the start of another placet", func(t *testing.T) {
		tellWith(t, withCommands(nil), func(d *desk) {
			d.trust(evaluate)
			d.trigger()
			d.Settle()
			d.write("stop.json", `{"reason": "enough"}`)
			d.goes(stopped)
			if len(d.Alive()) != 0 {
				t.Errorf("it still runs: %q", d.Alive())
			}
		})
	})
}

package optimizer

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/layout"
)

// Whoever judges an attempt whose end nobody knows reads which command it was and when
// it began, in request.json and in the form: whatever the arguments hold, on one line.
func TestTheQuestionAboutAnAttemptNamesItsCommand(t *testing.T) {
	for lang, argv := range map[string][]string{
		"en": {"python3", "scripts/evaluation.py", "a\n\n# b"}, "ko": {"tool", strings.Repeat("긴 ", 4000)},
	} {
		t.Run(lang, func(t *testing.T) {
			tell(t, func(d *desk) {
				d.trust(argv)
				d.config(func(c *Config) {
					c.Language, c.Workflows = lang, map[string]Workflow{flow: {Evaluation: argv, CriteriaFixed: true}}
				})
				d.trigger()
				d.goes(triggered, collected, decided)
				// Of one that was revoked half-way nobody knows what it has done, either.
				d.EndCommand("level/30-1", engine.Ended{Result: map[string]string{"en": "lost", "ko": "revoked"}[lang]})
				d.goes()
				var asked struct {
					Prompt  string
					Context struct {
						Attempt, Command string
						Level            int
						StartedAt        string `json:"started_at"`
					}
				}
				d.decode(d.request(typeUnknown, "request.json"), &asked)
				var a Attempt
				d.decode("attempts/30-1.json", &a)
				want := oneLine(strings.Join(argv, " "), shownName)
				c := asked.Context
				if c.Attempt != "30-1" || c.Level != 30 || c.Command != want || c.StartedAt != string(a.StartedAt) || len(c.Command) > shownName+len("…") {
					t.Errorf("the context is %+v", c)
				}
				form := d.read(d.request(typeUnknown, "form.md"))
				for where, body := range map[string]string{"the prompt": asked.Prompt, "the form": form} {
					if !strings.Contains(body, want) || !strings.Contains(body, c.StartedAt) {
						t.Errorf("%s does not name command and time:\n%s", where, body)
					}
				}
				d.respond(typeUnknown, `"response": "retry"`)
				d.goes(retried)
				d.noted()
			})
		})
	}
}

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

// TestNobodyIsAskedAboutAnAttemptWhoseDataAreThere: placet was killed between the data
// that a command left and the word on how it ended.
func TestNobodyIsAskedAboutAnAttemptWhoseDataAreThere(t *testing.T) {
	for name, there := range map[string]bool{"with its data": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			tell(t, func(d *desk) {
				d.assets(20)
				d.trigger()
				d.Settle()
				d.status(Running)
				if there {
					d.write("retrieved.jsonl", `{"record_id": "r1", "metric": "m", "value": 1}`+"\n")
				}
				d.write("attempts/20-1.json", `{"level": 20, "n": 1, "argv": ["true"], "started_at": "2026-03-02T09:20:00Z", "deadline": "2026-03-02T09:50:00Z"}`)
				d.Settle()
				asked := false
				for _, q := range d.state().Requests {
					asked = asked || q.Type == typeUnknown
				}
				for p := range d.Tree() {
					asked = asked || strings.Contains(p, "/requests/"+typeUnknown)
				}
				if asked == there {
					t.Errorf("asked: %v", asked)
				}
			})
		})
	}
}

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

// A level's command that writes retrieved.jsonl itself, and no PLACET_OUT, has done its
// work: at which level the report is made must not hang on whether placet saw the file
// or the end of the command first.
func TestDataThatACommandPutIntoPlaceItselfCount(t *testing.T) {
	for name, c := range map[string]struct {
		records string
		want    string
	}{
		"whole": {retrievedLines, resultOK},
		"bad":   {"{}\n", resultInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			tellWith(t, withCommands(nil), func(d *desk) {
				d.trust(evaluate)
				d.trigger()
				d.goes(triggered, collected, decided)
				d.write("retrieved.jsonl", c.records)
				d.EndCommand("level/30-1", exited(0, ""))
				d.Settle()
				var o Outcome
				d.decode("attempts/30-1.outcome.json", &o)
				if o.Result != c.want {
					t.Errorf("the outcome is %+v", o)
				}
				if level := d.state().Level.Current; (level == 30) != (c.want == resultOK) {
					t.Errorf("level %d is in hand", level)
				}
			})
		})
	}
}

// While they are half of a write, the command has neither failed nor succeeded.
func TestDataThatAreBeingWrittenAreWaitedForAfterTheCommand(t *testing.T) {
	tellWith(t, withCommands(nil), func(d *desk) {
		d.trust(evaluate)
		d.trigger()
		d.goes(triggered, collected, decided)
		d.write("retrieved.jsonl", retrievedLines[:len(retrievedLines)-1])
		d.EndCommand("level/30-1", exited(0, ""))
		d.goes()
		if d.there("attempts/30-1.outcome.json") {
			t.Fatal("an outcome was told over half of the data")
		}
		d.write("retrieved.jsonl", retrievedLines)
		d.goes(retrieved)
		d.holds("attempts/30-1.outcome.json", resultOK)
	})
}

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

// A level-error.json or stop.json that is still being written may say that the level
// is not to be done: no edge of the level passes over it, and no command begins.
func TestNothingPassesOverALevelErrorThatIsBeingWritten(t *testing.T) {
	argv := []string{"tool"}
	for _, rel := range []string{"inputs/level-error.json", "stop.json"} {
		t.Run(rel, func(t *testing.T) {
			tell(t, func(d *desk) {
				d.assets(20)
				d.trigger()
				d.goes(triggered, collected, decided)
				d.write("retrieved.jsonl", retrievedLines)
				d.write(rel, `{"level": 20, "error": "no", "reason": "no"}`)
				if p := d.step(nil); took(p) == retrieved {
					t.Fatalf("the story is not told as it was meant: %s", took(p))
				}
				if p := d.step(map[string]func(*engine.Document){rel: beingWritten}); took(p) != "" {
					t.Errorf("%s passes over %s", took(p), rel)
				}
				d.unlink("retrieved.jsonl")
				d.trust(argv)
				d.config(func(c *Config) { c.Workflows = map[string]Workflow{flow: {Analysis: argv}} })
				if p := d.step(map[string]func(*engine.Document){rel: beingWritten}); len(p.Actions) != 0 {
					t.Errorf("%+v begins", p.Actions)
				}
				d.unlink(rel)
				if p := d.step(nil); len(p.Actions) != 1 {
					t.Fatal("the story is not told as it was meant: the command does not begin")
				}
			})
		})
	}
}

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

func TestScenario17AnAttemptIsLostAgain(t *testing.T) {
	tellWith(t, withCommands(nil), func(d *desk) {
		d.trust(evaluate)
		d.trigger()
		d.Settle()
		d.EndCommand("level/30-1", engine.Ended{Result: "lost"})
		d.goes()
		first := d.asked(typeUnknown)
		d.respond(typeUnknown, `"response": "retry"`)
		d.goes(retried)
		d.EndCommand("level/30-2", engine.Ended{Result: "lost"})
		d.goes()
		if second := d.asked(typeUnknown); second == first {
			t.Fatal("the second loss asks nobody")
		}
		d.respond(typeUnknown, `"response": "demote"`)
		d.goes(demoted)
		d.noted()
	})
}

// underWay is a stage on which the command of level 30 runs, and its id.
func underWay(t *testing.T) (s *stage, id string) {
	t.Helper()
	s = newStage(t)
	s.Facts.Config.Family = configOf(withCommands(nil))
	s.Facts.Trusted[CommandDigest(evaluate)] = true
	s.Write("trigger.json", triggerOf(flow))
	for range 40 {
		s.Step()
		for _, a := range s.Begun {
			if a.Database != nil && s.Facts.Alive[a.ID] {
				s.End(a.ID, engine.Ended{Result: "absent"})
			}
		}
	}
	if !s.Has("attempts/30-1.json") || len(s.Facts.Alive) != 1 {
		t.Fatalf("under way: %v", s.Facts.Alive)
	}
	for id = range s.Facts.Alive {
	}
	return s, id
}

// What an orderly stop of placet ended begins again with the next one, unasked and
// uncounted.
func TestACommandThatWasStoppedWithPlacetBeginsAgain(t *testing.T) {
	s, id := underWay(t)
	clear(s.Facts.Alive) // another process
	s.Facts.Ended = map[string]engine.Ended{id: {Result: "stopped"}}
	_, p := s.Full()
	if len(p.Writes) != 0 || len(p.Ends) != 0 || len(p.Actions) != 1 || p.Actions[0].ID != id || p.Actions[0].Recorded {
		t.Errorf("planned %+v", p)
	}
}

// While placet is down a command is not under way: its attempt is unknown to the next.
func TestScenario17AnAttemptOfAnEarlierProcess(t *testing.T) {
	s, _ := underWay(t)
	clear(s.Facts.Alive) // another process
	s.Settle()
	if body := s.Read("attempts/30-1.outcome.json"); !strings.Contains(body, `"result": "unknown"`) {
		t.Errorf("the outcome is %s", body)
	}
	if q := s.find("request.json"); !strings.Contains(q, "/attempt_unknown-") {
		t.Errorf("asked is %q", q)
	}
}

func TestATamperedAttemptEndsNoCommand(t *testing.T) {
	tellWith(t, withCommands(nil), func(d *desk) {
		d.trust(evaluate)
		d.trigger()
		d.Settle()
		good := d.read("attempts/30-1.json")
		d.write("attempts/30-1.json", `{"level": 30}`)
		d.pass(15 * time.Second)
		d.goes()
		d.noted("attempts/30-1.json.problem.md", "")
		if len(d.Alive()) != 1 {
			t.Errorf("under way: %q", d.Alive())
		}
		d.write("attempts/30-1.json", good)
		d.EndCommand("level/30-1", exited(0, retrievedLines))
		d.goes(retrieved)
		d.noted()
	})
}

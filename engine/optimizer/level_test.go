package optimizer

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/engine/run"
	"placet/layout"
	"placet/templates"
)

// The request about an attempt with an unknown result shows the command and when it began, in
// request.json and in the form, always on one line.
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
				// The result of a command that was revoked halfway is unknown, too.
				d.EndCommand("level/30-1", engine.Ended{Result: map[string]string{"en": "lost", "ko": "revoked"}[lang]})
				d.goes()
				for _, name := range []string{"request.json", "form.md"} {
					d.holds(d.request(typeUnknown, name), templates.Line(strings.Join(argv, " "), shownName), "2026-03-02T09:12:03Z")
				}
				d.respond(typeUnknown, `"response": "retry"`)
				d.goes(retried)
			})
		})
	}
}

// earlierAttempt is an attempt from before the cycles of the tests.
const earlierAttempt = `{"level": 20, "n": 1, "argv": ["tool"], "started_at": "2026-03-02T09:11:59Z", "deadline": "2026-03-02T09:41:59Z"}`

// The attempts in a folder copied from another run do not belong to this cycle: they demote
// nothing, ask nobody, are not overwritten, and get a note.
func TestAttemptsOfAnotherCycleCountForNothing(t *testing.T) {
	of := func(result string) string {
		return string(run.Encoded(Outcome{Result: result, Error: map[bool]text{true: "exit 2"}[result == resultFailed], EndedAt: "2026-03-02T09:11:59Z"}))
	}
	for name, outcome := range map[string]string{"without outcome": "", "unknown": of(resultUnknown)} {
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
				d.EndCommand("level/20-2", exited(0, retrievedLines))
				d.goes(retrieved)
				d.write("suggestions.json", threeSuggestions)
				d.goes(reported, recorded)
				d.unlink("attempts/20-1.json")
				d.goes()
				d.noted()
			})
		})
	}
	t.Run("an outcome alone", func(t *testing.T) {
		tellWith(t, withCommands(func(w *Workflow) { w.Evaluation = nil }), func(d *desk) {
			d.trust(analyse)
			d.write("attempts/20-1.outcome.json", of(resultFailed))
			d.trigger()
			d.goes(triggered, collected, decided)
			if len(d.Alive()) != 1 || !d.there("attempts/20-2.json") {
				t.Errorf("%q are under way", d.Alive())
			}
		})
	})
}

// An attempt belongs to the cycle even while the clock is set back: its command does not begin
// twice.
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

// Nobody is asked about an attempt whose data exist: placet was killed between the command's data
// and the outcome.
func TestNobodyIsAskedAboutAnAttemptWhoseDataAreThere(t *testing.T) {
	for name, there := range map[string]bool{"with its data": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			tell(t, func(d *desk) {
				d.assets(20)
				d.trigger()
				d.Settle()
				if there {
					d.write("retrieved.jsonl", `{"record_id": "r1", "metric": "m", "value": 1}`+"\n")
				}
				d.write("attempts/20-1.json", `{"level": 20, "n": 1, "argv": ["true"], "started_at": "2026-03-02T09:20:00Z", "deadline": "2026-03-02T09:50:00Z"}`)
				d.Settle()
				if asked := d.Tree().Find(d.in("requests/"+typeUnknown+"-*/request.json")) != ""; asked == there {
					t.Errorf("asked: %v", asked)
				}
			})
		})
	}
}

// The command of an abandoned level is ended, and its attempt gets an outcome: an attempt without
// one may still be running.
func TestAnAbandonedAttemptHasAnOutcome(t *testing.T) {
	byOthers := func(d *desk) {
		d.write("retrieved.jsonl", retrievedLines)
		d.write("suggestions.json", threeSuggestions)
	}
	for name, c := range map[string]struct {
		do   func(d *desk)
		edge []string
	}{
		"demoted":   {func(d *desk) { d.write("inputs/level-error.json", `{"level": 30, "error": "no"}`) }, []string{demoted}},
		"stopped":   {func(d *desk) { d.write("stop.json", `{"reason": "no"}`) }, []string{stopped}},
		"by others": {byOthers, []string{retrieved, reported, recorded}},
		"by others, and a crash": {func(d *desk) {
			byOthers(d)
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
				c.do(d)
				d.goes(c.edge...)
				if alive := d.Alive(); len(alive) != 0 {
					t.Errorf("%q are under way", alive)
				}
				d.holds("attempts/30-1.outcome.json", resultUnknown)
			})
		})
	}
}

// The request about an attempt is in no state. It stays the same request if the settings change who
// may answer, or if the outcome is rewritten.
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
		d.respond(typeUnknown, `"response": "demote"`)
		d.goes(demoted)
		if d.asked(typeUnknown) != id {
			t.Errorf("%s was asked again as %s", id, d.asked(typeUnknown))
		}
	})
}

// A level's command that writes retrieved.jsonl itself, and no PLACET_OUT, has succeeded. The level
// of the report must not depend on whether placet sees the file or the end of the command first.
func TestDataThatACommandPutIntoPlaceItselfCount(t *testing.T) {
	for name, c := range map[string]struct{ records, want string }{"whole": {retrievedLines, resultOK}, "bad": {"{}\n", resultInvalid}} {
		t.Run(name, func(t *testing.T) {
			tellWith(t, withCommands(nil), func(d *desk) {
				d.trust(evaluate)
				d.trigger()
				d.goes(triggered, collected, decided)
				d.write("retrieved.jsonl", c.records)
				d.EndCommand("level/30-1", exited(0, ""))
				d.Settle()
				d.holds("attempts/30-1.outcome.json", `"result": "`+c.want+`"`)
			})
		})
	}
}

// While the data are incomplete, the command has neither failed nor succeeded.
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

// unknownAttempt makes the run ask about an attempt at level 30 with an unknown result.
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

// A void.json that is still being written blocks every answer without a note; a foreign one gets a
// note.
func TestAVoidFileThatIsBeingWrittenHoldsSilently(t *testing.T) {
	tell(t, func(d *desk) {
		d.level20()
		d.respond(typeHITL, `"response": "raise"`)
		name := d.request(typeHITL, "void.json")
		d.write(name, "{}")
		if p := d.step(map[string]func(*engine.Document){name: beingWritten}); took(p) != "" || len(p.Writes) > 0 {
			t.Errorf("it takes %q and writes %v", took(p), p.Writes)
		}
		if p := d.step(nil); took(p) != "" || len(p.Writes) != 1 || !strings.Contains(string(p.Writes[0].Body), "void.json is not what placet wrote") {
			t.Errorf("it takes %q and writes %v", took(p), p.Writes)
		}
	})
}

// A level-error.json or stop.json that is still being written may abandon the level: no edge of the
// level ignores it, and no command begins.
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

// commands are the level commands of the tests.
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

// exited returns the end of a command that ended by itself.
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
			d.EndCommand("level/30-1", exited(2, ""))
			d.goes(demoted)
			d.write("retrieved.jsonl", retrievedLines)
			d.write("suggestions.json", threeSuggestions)
			d.goes(retrieved, reported, recorded)
			d.tick("appropriate", "submit")
			d.goes(answered)
			if g := d.goal(); g.NextAutomationLevel != 20 || !slices.Equal(g.CarryOverIssues, []string{"Level 30 failed: evaluation: exit 2"}) {
				t.Errorf("the goal is %+v", g)
			}
		})
	})
	t.Run("an error of another level counts for nothing", func(t *testing.T) {
		tell(t, func(d *desk) {
			d.write("inputs/level-error.json", `{"level": 30, "error": "no"}`)
			d.level20()
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
		})
	})
}

// The output of a command that is no valid retrieved.jsonl is never put into place, and an existing
// file is never overwritten.
func TestScenario08WhatACommandWrites(t *testing.T) {
	for name, end := range map[string]engine.Ended{
		"a bad line":         exited(0, `{"record_id": "r1", "metric": "m", "value": "7"}`+"\n"),
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
			})
		})
	}
	t.Run("beside what an agent wrote meanwhile", func(t *testing.T) {
		tellWith(t, withCommands(nil), func(d *desk) {
			d.trust(evaluate)
			d.trigger()
			d.Settle()
			d.write("retrieved.jsonl", strings.Replace(retrievedLines, "86", "85", 1))
			d.EndCommand("level/30-1", exited(0, retrievedLines))
			d.goes(retrieved)
			if d.read("retrieved.jsonl") == retrievedLines {
				t.Error("what an agent wrote was written over")
			}
		})
	})
}

func TestScenario17AttemptsWhoseEndNobodyKnows(t *testing.T) {
	t.Run("the data come by themselves", func(t *testing.T) {
		tellWith(t, withCommands(nil), func(d *desk) {
			lostAttempt(d)
			d.write("retrieved.jsonl", retrievedLines)
			d.goes(retrieved)
			d.holds(d.request(typeUnknown, "receipt.json"), `"result": "superseded"`)
		})
	})
	t.Run("idempotent", func(t *testing.T) {
		tellWith(t, withCommands(func(w *Workflow) { w.Idempotent = true }), func(d *desk) {
			lostAttempt(d)
			for _, n := range []string{"2", "3", "4"} {
				if d.there("requests") || !d.there("attempts/30-"+n+".json") {
					t.Fatalf("attempt %s is not under way; there are %q", n, d.Tree().Paths())
				}
				d.EndCommand("level/30-"+n, engine.Ended{Result: "lost"})
				d.goes()
			}
			d.respond(typeUnknown, `"response": "retry"`) // a person has to judge the fourth loss
			d.goes(retried)
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
}

func TestScenario17AnAttemptIsLostAgain(t *testing.T) {
	tellWith(t, withCommands(nil), func(d *desk) {
		d.trust(evaluate)
		d.trigger()
		d.Settle()
		d.EndCommand("level/30-1", engine.Ended{Result: "lost"})
		d.goes()
		d.respond(typeUnknown, `"response": "retry"`)
		d.goes(retried)
		d.EndCommand("level/30-2", engine.Ended{Result: "lost"})
		d.goes()
		d.respond(typeUnknown, `"response": "demote"`) // the second loss is asked about, too
		d.goes(demoted)
	})
}

// underWay returns a stage on which the command of level 30 runs, and the command's id.
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

// A command that an orderly stop of placet ended begins again with the next start, by itself and
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

// No command runs while placet is down: the next process does not know how the attempt ended.
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
		if len(d.Alive()) != 1 {
			t.Errorf("under way: %q", d.Alive())
		}
		d.write("attempts/30-1.json", good)
		d.EndCommand("level/30-1", exited(0, retrievedLines))
		d.goes(retrieved)
	})
}

// lostAttempt loses the end of an attempt of an ended process. The command of that process is not
// this one's.
func lostAttempt(d *desk) {
	d.trust(evaluate, analyse)
	d.trigger()
	d.goes(triggered, collected, decided)
	d.Restart()
	d.Case.Trusted = nil
	d.trust(evaluate)
	d.EndCommand("level/30-1", engine.Ended{Result: "lost"})
	d.goes()
}

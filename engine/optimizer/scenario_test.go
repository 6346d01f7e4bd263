package optimizer

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/engine/run"
)

// A stop.json that comes after the end of a cycle moves nothing and gets a note; the one that
// stopped the cycle gets none.
func TestAStopAfterTheEndIsNoted(t *testing.T) {
	t.Run("sound", func(t *testing.T) {
		tell(t, func(d *desk) {
			d.level10()
			d.tick("raise", "submit")
			d.goes(answered)
			d.write("stop.json", `{"reason": "enough"}`)
			d.goes()
			d.noted("stop.json.problem.md", "the cycle has its goal already: stop.json moves nothing any more; remove it")
			d.unlink("stop.json")
			d.goes()
			d.noted()
		})
	})
	t.Run("failed", func(t *testing.T) {
		tell(t, func(d *desk) {
			d.assets(10)
			d.write("inputs/level-error.json", `{"level": 10, "error": "no"}`)
			d.trigger()
			d.goes(triggered, collected, decided, levelFailed)
			d.write("stop.json", `{"reason": "enough"}`)
			d.goes()
			d.noted("stop.json.problem.md", "the cycle has failed already")
		})
	})
	t.Run("stopped", func(t *testing.T) {
		tell(t, func(d *desk) {
			d.level10()
			d.write("stop.json", `{"reason": "enough"}`)
			d.goes(stopped)
			d.goes()
			d.noted()
		})
	})
}

// A crash in the first transition, which already asks, leaves no cycle with a lost state: the cycle
// begins.
func TestACrashBeforeTheFirstStateLeavesTheCycleToBegin(t *testing.T) {
	tell(t, func(d *desk) {
		d.trigger(`"timeout_reentries": 4`)
		d.goes(triggered)
		id := d.asked(typeCap)
		d.unlink("state.json")
		d.unlink("events.jsonl")
		d.unlink("context.json")
		d.Restart()
		d.pass(time.Minute)
		d.goes(triggered)
		if d.asked(typeCap) != id {
			t.Errorf("%s was asked again as %s", id, d.asked(typeCap))
		}
		d.respond(typeCap, `"response": "continue"`)
		d.goes(continued)
		// Later the state really is lost.
		d.unlink("state.json")
		d.goes()
		if !strings.Contains(d.Notes(), "state.json is gone") {
			t.Errorf("the notes are %s", d.Notes())
		}
	})
}

// An answer that exists when its deadline is handled wins, even if somebody wrote a goal.json with
// the content for the deadline. It waits until that file is moved away.
func TestNoDeadlinePassesOverAnAnswerBesideAFallbackGoal(t *testing.T) {
	tell(t, func(d *desk) {
		d.level20()
		d.write("goal.json", string(run.Encoded(goalOf(d.state(), nil))))
		d.tick("raise", "submit")
		d.goes()
		d.noted("goal.json.problem.md", "Move it away")
		d.pass(49 * time.Hour)
		d.goes()
		d.unlink("goal.json")
		d.goes(answered)
		if g := d.goal(); g.NextAutomationLevel != 30 || g.ApprovedBy != byHuman {
			t.Errorf("the goal is %+v", g)
		}
	})
}

// A cycle whose state is lost says what to remove to begin it anew. It then reaches its goal, and
// no old file blocks it.
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
		if g := d.goal(); g.NextAutomationLevel != 20 { // because of the first answer this cycle ran at 30
			t.Errorf("the goal is %+v", g)
		}
	})
}

// An answer with a receipt is carried out as it was given, whatever else says the same meanwhile.
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

// The same is true of the answer about the re-entries: no rule passes it while context.json is made
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

// A power cut may keep goal.json and lose the receipt. A file with the content that placet would
// write counts as placet's.
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
				// A file with other content is somebody else's.
				d.write("goal.json", strings.Replace(goal, "\n}", ",\n  \"x\": 1\n}", 1))
				d.goes()
				d.holds("goal.json.problem.md", "Move it away")
				d.write("goal.json", goal)
				d.goes(end.edge)
				if d.there("goal.json.problem.md") || d.read("goal.json") != goal {
					t.Errorf("notes %q, the goal is\n%s", d.notes(), d.read("goal.json"))
				}
			})
		})
	}
}

func TestScenario09WaitingForInputs(t *testing.T) {
	t.Run("no assets", func(t *testing.T) {
		tell(t, func(d *desk) {
			d.trigger()
			d.goes(triggered, collected)
			d.pass(9*time.Minute + 50*time.Second)
			d.goes()
			d.pass(10 * time.Second)
			d.goes(decided, reported, recorded)
		})
	})
	t.Run("suggestions that never come", func(t *testing.T) {
		tell(t, func(d *desk) {
			d.assets(20)
			d.trigger()
			d.goes(triggered, collected, decided)
			d.pass(time.Hour)
			d.write("retrieved.jsonl", retrievedLines)
			d.goes(retrieved)
			d.pass(9*time.Minute + 50*time.Second)
			d.goes()
			d.pass(10 * time.Second)
			d.goes(reported, recorded)
		})
	})
}

// goalBehind puts a cycle that reached a goal into another run, as an earlier placet left it.
func (d *desk) goalBehind(run, response string) {
	d.T.Helper()
	before := d.on(run)
	before.level20()
	if response == "" {
		before.pass(49 * time.Hour)
		before.goes(timedOut)
		return
	}
	before.respond(typeHITL, `"response": "`+response+`"`)
	before.goes(answered)
}

func TestScenario16APersonsGoalIsApplied(t *testing.T) {
	tell(t, func(d *desk) {
		d.goalBehind(runA, "raise")
		next := d.on(runB)
		next.assets(20) // the vote alone would be +10
		d.db.others = map[string][]map[string]any{userFeedback: {feedbackOn("FB-99", "2027-01-01", 20, 20), feedbackOn("FB-98", "2027-01-01", 20, 20)}}
		next.trigger(`"last_run_id": "` + runA + `"`)
		next.Settle()
		if got := next.state().Decision; got.AutomationLevel != 30 || got.SignalLevel != 20 {
			t.Errorf("decided %+v", got)
		}
	})
}

// After a timeout the next cycle keeps the level, whatever the signals come to; its report and its
// request say that nobody answered the cycle before.
func TestScenario16AfterATimeoutTheLevelIsKept(t *testing.T) {
	tell(t, func(d *desk) {
		d.goalBehind(runA, "")
		next := d.on(runB)
		next.assets(30)
		next.trigger(`"last_run_id": "` + runA + `"`)
		next.Settle()
		if got := next.state().Decision; got.AutomationLevel != 20 || got.SignalLevel != 30 || !got.EscalationNeeded {
			t.Errorf("decided %+v", got)
		}
		next.write("retrieved.jsonl", retrievedLines)
		next.write("suggestions.json", threeSuggestions)
		next.goes(retrieved, reported, recorded)
		const says = "nobody answered in time in the cycle before, " + runA + ": its level, 20, is kept"
		next.holds("level20_report.md", "nobody answered in "+runA, says)
		next.holds(next.request(typeHITL, "request.json"), says)
		next.holds(next.request(typeHITL, "form.md"), says)
	})
}

// level30 brings the current run to its reviewer at level 30.
func (d *desk) level30(fields ...string) {
	d.T.Helper()
	d.assets(30)
	d.write("retrieved.jsonl", retrievedLines)
	d.write("suggestions.json", threeSuggestions)
	d.trigger(fields...)
	d.Settle()
	d.status(Awaiting)
}

// A wish counts by what was answered: raise at 30 and lower at 10 change nothing, but they are
// level adjustments, and the next cycle hears them.
func TestAWishBeyondTheBoundsIsHeard(t *testing.T) {
	for word, c := range map[string]struct {
		reach func(d *desk, fields ...string)
		votes int
		why   string
	}{
		optRaise: {(*desk).level30, 10, "30 → 30 (raise)"}, optLower: {(*desk).level10, -10, "10 → 10 (lower)"},
	} {
		t.Run(word, func(t *testing.T) {
			tell(t, func(d *desk) {
				c.reach(d)
				d.tick(word, "submit")
				d.goes(answered)
				if rows := d.rows(userFeedback); len(rows) != 1 || !strings.Contains(fmt.Sprint(rows[0]["feedback_text"]), `"feedback_type":"level_adjustment"`) {
					t.Errorf("the rows are %v", rows)
				}
				next := d.on(runB)
				next.assets(20)
				next.trigger()
				next.Settle()
				if got := next.state().Decision; got.Signals.C != c.votes || got.AutomationLevel != 20+c.votes || !strings.Contains(strings.Join(got.Rationale, "\n"), c.why) {
					t.Errorf("decided %+v", got)
				}
			})
		})
	}
}

// The row of an answer names whom its receipt names, whether a form or a program answered.
func TestTheRowNamesWhomTheReceiptNames(t *testing.T) {
	each(t, map[string]func(d *desk){
		"form":          func(d *desk) { d.tick("appropriate", "submit") },
		"response.json": func(d *desk) { d.respond(typeHITL, `"response": "raise"`) },
	}, func(d *desk, answer func(d *desk)) {
		d.level10()
		answer(d)
		d.goes(answered)
		var receipt struct {
			By By `json:"provided_by"`
		}
		d.decode(d.request(typeHITL, "receipt.json"), &receipt)
		if rows := d.rows(userFeedback); receipt.By.User == "" || len(rows) != 1 || rows[0]["user_id"] != receipt.By.User {
			d.T.Errorf("the receipt says %+v, the rows are %v", receipt.By, rows)
		}
	})
}

// Who answers the first question alone has rejected no suggestion; who picks some has passed over
// the others.
func TestWhoPicksNoSuggestionRejectsNone(t *testing.T) {
	for ticks, want := range map[string]string{
		"raise": `"rejected_suggestions":[]`, "s1": `"rejected_suggestions":["희귀 라벨 검사 추가","로그 줄이기"]`,
	} {
		t.Run(ticks, func(t *testing.T) {
			tell(t, func(d *desk) {
				d.level20()
				d.tick(ticks, "submit")
				d.goes(answered)
				if rows := d.rows(userFeedback); len(rows) != 1 || !strings.Contains(fmt.Sprint(rows[0]["feedback_text"]), want) {
					t.Errorf("the rows are %v", rows)
				}
			})
		})
	}
}

// An issue stays open until somebody says that it is settled: an answer that passes over it carries
// it on, and so does a deadline.
func TestOpenIssuesStayOpenUntilTheyAreSettled(t *testing.T) {
	tell(t, func(d *desk) {
		d.level10()
		d.respond(typeHITL, `"comment": "rare labels are slow"`)
		d.goes(answered)
		passed := d.on(runB)
		passed.level10(`"last_run_id": "` + runA + `"`)
		passed.holds(passed.request(typeHITL, "form.md"), "   - [ ] i1: open issue, tick it if it is settled: rare labels are slow")
		passed.tick("appropriate", "submit")
		passed.goes(answered)
		if got := passed.goal().CarryOverIssues; !slices.Equal(got, []string{"rare labels are slow"}) {
			t.Errorf("passed over: %q", got)
		}
		settled := d.on(runC)
		settled.level10(`"last_run_id": "` + runB + `"`)
		settled.tick("i1", "submit")
		settled.comment("the night run, too")
		settled.goes(answered)
		if got := settled.goal().CarryOverIssues; !slices.Equal(got, []string{"the night run, too"}) {
			t.Errorf("settled: %q", got)
		}
	})
}

// A late answer settles an issue for the next cycle; without one the issue stays open.
func TestALateAnswerSettlesAnIssue(t *testing.T) {
	each(t, map[string]bool{"settled late": true, "nobody answered": false}, func(d *desk, late bool) {
		d.level10()
		d.respond(typeHITL, `"comment": "rare labels are slow"`)
		d.goes(answered)
		silent := d.on(runB)
		silent.level10(`"last_run_id": "` + runA + `"`)
		silent.pass(49 * time.Hour)
		silent.goes(timedOut)
		if late {
			silent.tick("i1", "submit")
			silent.goes()
		}
		next := d.on(runC)
		next.level10(`"last_run_id": "` + runB + `"`)
		if got := next.state().Issues; slices.Contains(got, "rare labels are slow") == late {
			d.T.Errorf("the open issues are %q", got)
		}
	})
}

func TestScenario10TriggersThatCannotBe(t *testing.T) {
	for name, test := range map[string]struct{ run, body, says string }{
		"a path":         {runA, triggerOf("../x"), "/workflow_name"},
		"a bad metric":   {runA, triggerOf(flow, `"current_metrics": {"m": "87"}`), "/current_metrics/m"},
		"no such run id": {"20260302-MSOWD-x", triggerOf(flow), `^\d{8}-[a-z]+-[a-z0-9-]{1,40}$`},
		"another root":   {"workspace/20260302-msowd-x", `{"workflow_name": 7}`, "/workflow_name"},
	} {
		t.Run(name, func(t *testing.T) {
			tell(t, func(d *desk) {
				d = d.on(test.run)
				d.assets(10)
				d.write("trigger.json", test.body)
				d.goes()
				d.pass(time.Minute)
				d.goes()
				d.noted("trigger.json.problem.md", test.says)
				if test.run == "20260302-MSOWD-x" {
					d.unlink("trigger.json")
					d.goes()
					return
				}
				d.trigger()
				d.goes(triggered, collected, decided, reported, recorded)
			})
		})
	}
	for name, change := range map[string]func(d *desk){
		"changed": func(d *desk) { d.write("trigger.json", triggerOf("another-workflow")) },
		"removed": func(d *desk) { d.unlink("trigger.json") },
	} {
		t.Run(name+" after the beginning", func(t *testing.T) {
			tell(t, func(d *desk) {
				d.trigger()
				d.goes(triggered, collected)
				change(d)
				d.goes()
				d.noted("trigger.json.problem.md", "goes on")
				d.assets(10)
				d.goes(decided, reported, recorded)
				d.tick("raise", "submit")
				d.goes(answered)
				d.trigger()
				d.goes()
				d.noted()
			})
		})
	}
}

func TestScenario19TheReportAndTheGoalAreNotAnybodys(t *testing.T) {
	t.Run("edited", func(t *testing.T) {
		tell(t, func(d *desk) {
			d.level20()
			report := d.read("level20_report.md")
			d.write("level20_report.md", strings.Replace(report, "20", "30", 1))
			d.tick("raise", "submit")
			d.goes()
			d.noted(d.request(typeHITL, "problem.md"), "restore level20_report.md, or delete it and placet writes it again")
			d.unlink("level20_report.md")
			d.goes()
			d.tickAgain("raise", "submit")
			d.goes(answered)
		})
	})
	t.Run("edited for long", func(t *testing.T) {
		tell(t, func(d *desk) {
			d.level20()
			d.write("level20_report.md", "another")
			d.tick("raise", "submit")
			d.pass(72 * time.Hour)
			d.goes() // no deadline passes while an answer to another report exists
			d.unlink("level20_report.md")
			d.goes(timedOut) // it was void, and nobody has answered since
		})
	})
	t.Run("edited, and nobody answers", func(t *testing.T) {
		tell(t, func(d *desk) {
			d.level20()
			d.write("level20_report.md", "another")
			d.pass(49 * time.Hour)
			d.goes(timedOut) // no answer can be held
		})
	})
	t.Run("deleted", func(t *testing.T) { // before the request; see TestWhatIsRemovedIsMadeAgain
		tell(t, func(d *desk) {
			d.reporting()
			report := d.read("level10_report.md")
			d.unlink("level10_report.md")
			d.goes()
			if got := d.read("level10_report.md"); got != report {
				t.Errorf("the report is another one:\n%s", cmp.Diff(report, got))
			}
		})
	})
	t.Run("deleted, its inputs changed", func(t *testing.T) {
		tell(t, func(d *desk) {
			d.level20()
			d.write("retrieved.jsonl", strings.Replace(retrievedLines, "86", "85", 1))
			d.unlink("level20_report.md")
			d.tick("raise", "submit")
			d.goes()
			d.noted(d.request(typeHITL, "problem.md"), "restore level20_report.md")
			d.write("retrieved.jsonl", retrievedLines)
			d.goes()
			d.tickAgain("raise", "submit")
			d.goes(answered)
		})
	})
	t.Run("inputs changed after the report change nothing", func(t *testing.T) {
		tell(t, func(d *desk) {
			d.level20()
			d.write("retrieved.jsonl", "{")
			d.unlink("suggestions.json")
			d.write("inputs/kpi.json", "7")
			d.tick("raise", "submit")
			d.goes(answered)
		})
	})
	t.Run("somebody's goal", func(t *testing.T) {
		for name, edge := range map[string]string{"answered": answered, "deadline": timedOut} {
			t.Run(name, func(t *testing.T) {
				tell(t, func(d *desk) {
					d.level20()
					d.write("goal.json", `{"next_automation_level": 30}`)
					if edge == answered {
						d.tick("raise", "submit")
					} else {
						d.pass(49 * time.Hour)
					}
					d.goes()
					d.noted("goal.json.problem.md", "Move it away")
					d.unlink("goal.json")
					d.goes(edge)
				})
			})
		}
	})
}

func TestScenario21MovedToTheArchive(t *testing.T) {
	archive := ".mso-context/archive/2026-03/" + runA
	t.Run("at rest, and back", func(t *testing.T) {
		tell(t, func(d *desk) {
			d.level20()
			d.tick("raise", "submit")
			d.Move(".mso-context/active/"+runA, archive)
			d.pass(100 * time.Hour)
			d.goes()
			d.Move(archive, ".mso-context/active/"+runA)
			d.goes(answered)
		})
	})
	t.Run("before each third change", func(t *testing.T) {
		for k, come := 1, true; come && (k <= 7 || !testing.Short()); k += 3 {
			tell(t, func(d *desk) {
				d.assets(20)
				d.write("retrieved.jsonl", retrievedLines)
				d.write("suggestions.json", threeSuggestions)
				d.trigger()
				moved := d.BeforeChange(k, func() { d.Move(".mso-context/active/"+runA, archive) })
				d.Lax = true
				d.Settle()
				if come = moved(); !come {
					return
				}
				for p := range d.Tree() {
					if strings.HasPrefix(p, ".mso-context/active/") {
						t.Errorf("before change %d: %s was made where the run was", k, p)
					}
				}
				d.Move(archive, ".mso-context/active/"+runA)
				d.Settle()
				d.status(Awaiting)
				if rows := d.rows(auditLogs); len(rows) != 1 {
					t.Errorf("before change %d: the rows are %v", k, rows)
				}
			})
		}
	})
}

func TestScenario01FromInputsToTheReviewerInOnePass(t *testing.T) {
	tellWith(t, korean, func(d *desk) {
		d.assets(20)
		d.kpi(87)
		d.write("retrieved.jsonl", retrievedLines)
		d.write("suggestions.json", threeSuggestions)
		d.trigger()
		d.goes(triggered, collected, decided, retrieved, reported, recorded)
		if st := d.state(); st.Deadline.Time().Sub(st.Last.At.Time()) != 48*time.Hour {
			t.Errorf("the deadline is %s after %s", st.Deadline, st.Last.At)
		}
	})
}

func TestScenario04RaiseWithASuggestionAndAComment(t *testing.T) {
	tellWith(t, korean, func(d *desk) {
		d.level20()
		d.tick("raise", "s1", "submit")
		d.comment("월말 자료를 더 보자")
		d.goes(answered)
		if diff := cmp.Diff(Goal{30, []string{"규칙 정리"}, []string{"월말 자료를 더 보자"}, byHuman}, d.goal()); diff != "" {
			t.Errorf("the goal (-want +got):\n%s", diff)
		}
	})
}

// A workflow's own table overrides the settings, and a cycle keeps the settings with which it
// began.
func TestAWorkflowsOwnSettings(t *testing.T) {
	tellWith(t, func(c *Config) {
		c.Workflows = map[string]Workflow{flow: {Language: ptr("en"), HITLTimeout: ptr("1h"), InputsWait: ptr("1m"), GateThreshold: ptr(60.0)}}
	}, func(d *desk) {
		d.write("inputs/kpi.json", `{"metrics": [{"name": "m", "value": 66}]}`)
		d.trigger()
		d.goes(triggered, collected)
		d.config(func(c *Config) { c.Workflows = nil; c.Language = "ko" })
		d.pass(time.Minute)
		d.config(func(c *Config) {
			c.Workflows = map[string]Workflow{flow: {HITLTimeout: ptr("1h"), GateThreshold: ptr(60.0)}}
		})
		d.goes(decided, reported, recorded)
		if st := d.state(); st.Lang != "en" || *st.KPI[0].Threshold != 60 || st.Deadline.Time().Sub(st.Last.At.Time()) != time.Hour {
			t.Errorf("the state is %s, %v, %s", st.Lang, *st.KPI[0].Threshold, st.Deadline)
		}
		other := d.on(runB)
		other.write("trigger.json", triggerOf("another"))
		other.Settle()
		if st := other.state(); st.Lang != "ko" || st.InputsUntil.Time().Sub(st.Last.At.Time()) != 10*time.Minute {
			t.Errorf("another workflow has %s, %s", st.Lang, st.InputsUntil)
		}
	})
}

func TestNoResultIsWrittenWhereNobodyWantsIt(t *testing.T) {
	tellWith(t, func(c *Config) { c.WriteResult = false }, func(d *desk) {
		d.level20()
		d.tick("raise", "submit")
		d.goes(answered)
	})
}

// The first valid late answer counts, and no later one.
func TestScenario07TheFirstLateAnswerCounts(t *testing.T) {
	tell(t, func(d *desk) {
		d.level20()
		d.pass(49 * time.Hour)
		d.goes(timedOut)
		d.tick("raise", "lower", "submit")
		d.goes()
		d.unlink(d.request(typeHITL, "form.md"))
		d.respond(typeHITL, `"response": "lower"`)
		d.goes()
		d.respond(typeHITL, `"response": "raise"`, `"comment": "doch"`)
		d.pass(time.Hour)
		d.goes()
		d.holds(d.request(typeHITL, "late.json"), `"response": "lower"`)
		if rows := d.rows(userFeedback); len(rows) != 1 {
			t.Errorf("the rows are %v", rows)
		}
	})
}

// Scenario 13: TestCrash kills placet at every write. Here somebody edits a form between the
// receipt and the state, at every moment.
func TestScenario13TheReceiptsAnswerCounts(t *testing.T) {
	edited := 0
	for k, over := 1, false; !over; k++ {
		tell(t, func(d *desk) {
			d.level20()
			d.tick("raise", "s1", "submit")
			form, receipt := d.in(d.request(typeHITL, "form.md")), d.in(d.request(typeHITL, "receipt.json"))
			come := d.BeforeChange(k, func() {
				if over = d.there("goal.json") && strings.Contains(d.read("state.json"), `"status": "goal"`); over || !d.Has(receipt) {
					return
				}
				edited++
				d.Put(form, strings.NewReplacer("[x] raise", "[ ] raise", "[ ] lower", "[x] lower").Replace(d.Read(form)))
			})
			d.Lax = true
			d.goes(answered)
			over = over || !come()
			if g := d.goal(); g.NextAutomationLevel != 30 {
				t.Errorf("before change %d: the goal is %+v", k, g)
			}
			if rows := d.rows(userFeedback); len(rows) != 1 {
				t.Errorf("before change %d: the rows are %v", k, rows)
			}
		})
	}
	if edited == 0 {
		t.Error("no moment lies between receipt and state")
	}
}

// The state keeps what a later version writes into it, and documents of others keep their contents.
func TestUnknownMembersAreKept(t *testing.T) {
	tell(t, func(d *desk) {
		d.level20(`"x_ours": {"a": [1]}`)
		body := d.read("state.json")
		later := strings.Replace(body, "{\n", "{\n  \"x_later\": [true],\n", 1)
		d.write("state.json", later)
		sum := func(body string) string { return string(engine.Sum([]byte(body))) }
		d.write("events.jsonl", strings.Replace(d.read("events.jsonl"), sum(body), sum(later), 1))
		d.tick("raise", "submit")
		d.goes(answered)
		d.holds("state.json", `"x_later"`, `"x_ours"`)
	})
}

// A restart does not lose the unrecorded end of an action: rows are found in the database, and
// queries run again.
func TestARestartWhileAnActionIsUnderWay(t *testing.T) {
	tell(t, func(d *desk) {
		d.assets(10)
		d.trigger()
		for range 8 {
			d.Look()
			d.pass(3 * time.Second)
			d.Restart()
		}
		d.Settle()
		d.status(Awaiting)
		if rows := d.rows(auditLogs); len(rows) != 1 {
			t.Errorf("the rows are %v", rows)
		}
	})
}

// TestTheThirtySixCases tests the table itself.
func TestScenario02TheSignalsComeFromFiles(t *testing.T) {
	for name, test := range map[string]struct {
		assets   int
		kpi      string
		feedback []map[string]any
		want     string
	}{
		"a conflict":       {20, "79.99", []map[string]any{feedbackOn("FB-1", "2026-02-01", 10, 20)}, "20!^ 10"},
		"KPI below assets": {30, "90", []map[string]any{feedbackOn("FB-1", "2026-02-01", 20, 10)}, "10! -10"},
		"no KPI":           {30, "", []map[string]any{feedbackOn("FB-1", "2026-02-01", 20, 10)}, "20 -10"},
		"of four the newest three": {10, "", []map[string]any{
			feedbackOn("FB-0", "2026-02-01", 20, 30), feedbackOn("FB-1", "2026-02-02", 20, 10), feedbackOn("FB-2", "2026-02-03", 20, 10), feedbackOn("FB-3", "2026-02-04", 20, 20),
		}, "10 -10"},
	} {
		t.Run(name, func(t *testing.T) {
			tell(t, func(d *desk) {
				d.assets(test.assets)
				if test.kpi != "" {
					d.write("inputs/kpi.json", `{"metrics": [{"name": "precision", "value": `+test.kpi+`}]}`)
				}
				d.db.others = map[string][]map[string]any{userFeedback: test.feedback}
				d.trigger()
				d.Settle()
				if got := d.state().Decision; fmt.Sprint(written(*got), " ", got.Signals.C) != test.want {
					t.Errorf("decided %+v, expected %s", got, test.want)
				}
			})
		})
	}
}

func TestScenario07AnAnswerThatCameWhilePlacetWasDown(t *testing.T) {
	tell(t, func(d *desk) {
		d.level20()
		d.tick("lower", "submit")
		d.pass(72 * time.Hour)
		d.Restart()
		d.goes(answered)
		d.holds(d.request(typeHITL, "receipt.json"), `"late": true`)
	})
}

// The deadline stays the same whatever the settings become, and a cycle may have none.
func TestScenario07WhatTheSettingsSayOfTheDeadline(t *testing.T) {
	t.Run("never", func(t *testing.T) {
		tellWith(t, func(c *Config) { c.HITLTimeout = never }, func(d *desk) {
			d.level20()
			d.pass(400 * 24 * time.Hour)
			d.goes()
			d.holds(d.request(typeHITL, "request.json"), `"deadline": null`, `"default": null`)
		})
	})
	t.Run("changed", func(t *testing.T) {
		tell(t, func(d *desk) {
			d.level20()
			d.config(func(c *Config) { c.HITLTimeout = "1h" })
			d.Restart()
			d.pass(2 * time.Hour)
			d.goes()
		})
	})
}

// The laws show a stop in every status.
func TestScenario18AnAnswerAfterAStop(t *testing.T) {
	for typ, test := range map[string]struct {
		reach func(d *desk)
		word  string
	}{
		typeCap: {func(d *desk) {
			d.trigger(`"timeout_reentries": 4`, `"last_run_id": "20260101-msowd-gone"`)
			d.goes(triggered)
		}, optContinue},
		typeHITL: {func(d *desk) { d.level20() }, optRaise},
	} {
		t.Run(typ, func(t *testing.T) {
			tell(t, func(d *desk) {
				test.reach(d)
				d.write("stop.json", `{"reason": "nobody needs it", "by": "kim"}`)
				d.goes(stopped)
				d.pass(10 * time.Minute)
				d.goes()
				d.respond(typ, `"response": "`+test.word+`"`)
				d.goes()
				d.noted(d.request(typ, "problem.md"), "")
				if rows := d.rows(userFeedback); len(rows) != 0 {
					t.Errorf("the rows are %v", rows)
				}
			})
		})
	}
}

// reporting makes the run wait for a locked database to accept its report's row.
func (d *desk) reporting() {
	d.T.Helper()
	d.Lock(theDB, true)
	d.assets(10)
	d.trigger()
	d.pass(10 * time.Minute)
	d.Settle()
	for d.state().Status != Reporting {
		d.pass(time.Minute)
		d.Settle()
	}
}

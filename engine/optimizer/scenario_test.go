package optimizer

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
)

// A stop.json at the end of a cycle moves nothing, and a note beside it says so, be it
// sound or not; the one that stopped the cycle earns none.
func TestAStopAfterTheEndIsNoted(t *testing.T) {
	for name, body := range map[string]string{"sound": `{"reason": "enough"}`, "bad": `{"reason": 7}`, "no JSON": "stop"} {
		t.Run(name, func(t *testing.T) {
			tell(t, func(d *desk) {
				d.level10()
				d.tick("raise", "submit")
				d.goes(answered)
				goal := d.read("goal.json")
				d.write("stop.json", body)
				d.goes()
				d.noted("stop.json.problem.md", "the cycle has its goal already: stop.json moves nothing any more; remove it")
				if d.read("goal.json") != goal {
					t.Error("goal.json changed")
				}
				d.unlink("stop.json")
				d.goes()
				d.noted()
			})
		})
	}
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

// What a crash left of the first transition, which asks already, is no cycle whose
// state is gone: the cycle begins.
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
		// Later the state is gone indeed.
		d.unlink("state.json")
		d.goes()
		if !strings.Contains(d.Notes(), "state.json is gone") {
			t.Errorf("the notes are %s", d.Notes())
		}
	})
}

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

// historyOf are rows of user_feedback that vote so.
func historyOf(c int) []map[string]any {
	switch c {
	case 10:
		return []map[string]any{feedbackOn("FB-1", "2026-02-01", 10, 20)}
	case -10:
		return []map[string]any{feedbackOn("FB-1", "2026-02-01", 20, 10)}
	}
	return nil
}

// kpiFor is a kpi.json that calls for a level, "" for none.
func kpiFor(b int) string {
	value := map[int]float64{10: 90, 20: 80, 30: 79.99}[b]
	if value == 0 {
		return ""
	}
	return fmt.Sprintf(`{"metrics": [{"name": "precision", "value": %v}]}`, value)
}

func TestScenario02EveryCaseOfTheTableByFiles(t *testing.T) {
	for _, row := range table {
		for i, c := range []int{-10, 0, 10} {
			t.Run(fmt.Sprintf("A%d B%d C%d", row.a, row.b, c), func(t *testing.T) {
				tell(t, func(d *desk) {
					d.assets(row.a)
					if kpi := kpiFor(row.b); kpi != "" {
						d.write("inputs/kpi.json", kpi)
					}
					d.db.others = map[string][]map[string]any{userFeedback: historyOf(c)}
					d.trigger()
					d.Settle()
					got := d.state().Decision
					if got == nil || written(*got) != row.want[i] || got.Signals.A != row.a || got.Signals.C != c || (got.Signals.B == nil) != (row.b == 0) || got.Signals.B != nil && *got.Signals.B != row.b {
						t.Errorf("decided %+v, expected %s", got, row.want[i])
					}
					var file struct {
						Level      int      `json:"automation_level"`
						Escalation bool     `json:"escalation_needed"`
						Rationale  []string `json:"rationale"`
					}
					d.decode("decision.json", &file)
					if file.Level != got.AutomationLevel || file.Escalation != got.EscalationNeeded || len(file.Rationale) != len(got.Rationale) {
						t.Errorf("decision.json says %+v, the state %+v", file, got)
					}
				})
			})
		}
	}
}

func TestScenario03KPIAndHistory(t *testing.T) {
	for name, test := range map[string]struct {
		kpi  string
		want int
	}{
		"79.99":                     {`{"metrics": [{"name": "m", "value": 79.99}]}`, 30},
		"80":                        {`{"metrics": [{"name": "m", "value": 80}]}`, 20},
		"89.99":                     {`{"metrics": [{"name": "m", "value": 89.99}]}`, 20},
		"90":                        {`{"metrics": [{"name": "m", "value": 90}]}`, 10},
		"a ratio":                   {`{"metrics": [{"name": "m", "value": 0.9, "unit": "ratio"}]}`, 10},
		"a ratio below":             {`{"metrics": [{"name": "m", "value": 0.8999, "unit": "ratio"}]}`, 20},
		"no value":                  {`{"metrics": [{"name": "m"}, {"name": "n", "value": null}]}`, 0},
		"a count":                   {`{"metrics": [{"name": "m", "value": 3, "unit": "number"}]}`, 0},
		"not a gate":                {`{"metrics": [{"name": "m", "value": 3, "gate": false}]}`, 0},
		"the highest of several":    {`{"metrics": [{"name": "m", "value": 99}, {"name": "n", "value": 3}]}`, 30},
		"down":                      {`{"metrics": [{"name": "m", "value": 4, "threshold": 9, "direction": "down"}]}`, 10},
		"down, above":               {`{"metrics": [{"name": "m", "value": 15, "threshold": 9, "direction": "down"}]}`, 30},
		"a gate of its own":         {`{"gate_threshold": 50, "metrics": [{"name": "m", "value": 55}]}`, 10},
		"a ratio's own threshold":   {`{"metrics": [{"name": "m", "value": 0.5, "threshold": 0.5, "unit": "ratio"}]}`, 20},
		"no rounding error decides": {`{"metrics": [{"name": "m", "value": 85.1, "threshold": 80.1}]}`, 10},
	} {
		t.Run(name, func(t *testing.T) {
			tell(t, func(d *desk) {
				d.assets(30)
				d.write("inputs/kpi.json", test.kpi)
				d.trigger()
				d.Settle()
				if b := d.state().Decision.Signals.B; (b == nil) != (test.want == 0) || b != nil && *b != test.want {
					t.Errorf("signal B is %v, expected %d", b, test.want)
				}
			})
		})
	}
	const raise, lower, keep = 1, -1, 0
	for name, test := range map[string]struct {
		votes []int // the oldest first
		want  int
	}{
		"raise raise lower": {[]int{raise, raise, lower}, 10}, "raise keep": {[]int{raise, keep}, 0}, "one lower": {[]int{lower}, -10}, "none": {nil, 0},
		"of four the newest three": {[]int{raise, lower, lower, keep}, -10}, "of four, the oldest does not count": {[]int{lower, lower, raise, keep}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			tell(t, func(d *desk) {
				d.assets(10)
				var rows []map[string]any
				for i, vote := range test.votes {
					rows = append(rows, feedbackOn(fmt.Sprint("FB-", i), time.Date(2026, 2, i+1, 0, 0, 0, 0, time.UTC).Format(time.DateOnly), 20, 20+10*vote))
				}
				d.db.others = map[string][]map[string]any{userFeedback: rows}
				d.trigger()
				d.Settle()
				if c := d.state().Decision.Signals.C; c != test.want {
					t.Errorf("signal C is %d, expected %d", c, test.want)
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
			d.status(Deciding)
			d.pass(10 * time.Second)
			d.goes(decided, reported, recorded)
			if got := d.state().Decision; got.Signals.A != 10 || got.AutomationLevel != 10 {
				t.Errorf("decided %+v", got)
			}
		})
	})
	t.Run("assets in the settings", func(t *testing.T) {
		tellWith(t, func(c *Config) {
			c.Workflows = map[string]Workflow{flow: {Evaluation: []string{"python3", "e.py"}, CriteriaFixed: true}}
		}, func(d *desk) {
			d.trigger()
			d.goes(triggered, collected, decided)
			if got := d.state().Decision; got.Signals.A != 30 {
				t.Errorf("decided %+v", got)
			}
		})
	})
	t.Run("invalid assets block their own default", func(t *testing.T) {
		tell(t, func(d *desk) {
			d.write("inputs/assets.json", `{"analysis_script": 7}`)
			d.trigger()
			d.goes(triggered, collected)
			d.noted("inputs/assets.json.problem.md", "/analysis_script")
			d.pass(20 * time.Minute)
			d.goes()
			d.status(Deciding)
			d.assets(20)
			d.goes(decided)
			d.noted()
			if got := d.state().Decision; got.AutomationLevel != 20 {
				t.Errorf("decided %+v", got)
			}
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
			d.holds(d.request(typeHITL, "request.json"), "(none)")
		})
	})
	t.Run("no wait", func(t *testing.T) {
		tellWith(t, func(c *Config) { c.InputsWait = "0s" }, func(d *desk) {
			d.trigger()
			d.goes(triggered, collected, decided, reported, recorded)
		})
	})
}

// goalBehind puts a cycle that reached a goal into another run, as an earlier
// placet left it.
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

func TestScenario16APersonsGoalIsAppliedATimeoutsIsNot(t *testing.T) {
	for response, want := range map[string]int{"raise": 30, "": 20} {
		t.Run("answer "+response, func(t *testing.T) {
			tell(t, func(d *desk) {
				d.goalBehind(runA, response)
				next := d.on(runB)
				next.assets(20)
				if response == "raise" { // the vote alone would be +10
					d.db.others = map[string][]map[string]any{userFeedback: {feedbackOn("FB-99", "2027-01-01", 20, 20), feedbackOn("FB-98", "2027-01-01", 20, 20)}}
				}
				next.trigger(`"last_run_id": "` + runA + `"`)
				next.Settle()
				got := next.state().Decision
				if got.AutomationLevel != want || got.SignalLevel != 20 || got.EscalationNeeded != (want == 30) || (got.GoalLevel != nil) != (want == 30) {
					t.Errorf("decided %+v", got)
				}
				lines := 0
				for _, line := range got.Rationale {
					if len(line) > 6 && line[:6] == "Goal: " {
						lines++
					}
				}
				if lines != map[int]int{30: 1, 20: 0}[want] {
					t.Errorf("the rationale is %q", got.Rationale)
				}
			})
		})
	}
}

func TestScenario10TriggersThatCannotBe(t *testing.T) {
	for name, test := range map[string]struct{ run, body, says string }{
		"no workflow":     {runA, `{}`, "/workflow_name: is missing"},
		"a level as text": {runA, triggerOf(flow, `"current_level": "20"`), "/current_level"},
		"no such level":   {runA, triggerOf(flow, `"current_level": 40`), "/current_level"},
		"unknown type":    {runA, triggerOf(flow, `"trigger_type": "sometimes"`), "/trigger_type"},
		"not JSON":        {runA, `workflow: x`, "trigger.json"},
		"a path":          {runA, triggerOf("../x"), "/workflow_name"},
		"a bad metric":    {runA, triggerOf(flow, `"current_metrics": {"m": "87"}`), "/current_metrics/m"},
		"no such run id":  {"20260302-MSOWD-x", triggerOf(flow), `^\d{8}-[a-z]+-[a-z0-9-]{1,40}$`},
		"another root":    {"workspace/20260302-msowd-x", `{"workflow_name": 7}`, "/workflow_name"},
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
				if d.there("state.json") || d.there("events.jsonl") || d.there("context.json") {
					t.Errorf("there are %q", d.Tree().Paths())
				}
				if test.run == "20260302-MSOWD-x" {
					d.unlink("trigger.json")
					d.goes()
					return
				}
				d.trigger()
				d.goes(triggered, collected, decided, reported, recorded)
				d.noted()
			})
		})
	}
	for name, change := range map[string]func(d *desk){
		"changed": func(d *desk) { d.write("trigger.json", triggerOf("another-workflow")) },
		"removed": func(d *desk) { d.unlink("trigger.json") },
		"torn":    func(d *desk) { d.write("trigger.json", `{"workf`) },
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
				if st := d.state(); st.WorkflowName != flow {
					t.Errorf("the workflow is %q", st.WorkflowName)
				}
				d.trigger()
				d.goes()
				d.noted()
			})
		})
	}
}

// at are runs that stand in each of the five statuses in which a cycle may be
// given up.
var at = map[engine.Status]func(d *desk){
	Context: func(d *desk) {
		d.trigger(`"timeout_reentries": 4`, `"last_run_id": "20260101-msowd-gone"`)
		d.goes(triggered)
	},
	Deciding: func(d *desk) {
		d.trigger()
		d.goes(triggered, collected)
	},
	Running: func(d *desk) {
		d.assets(20)
		d.trigger()
		d.goes(triggered, collected, decided)
	},
	Reporting: func(d *desk) {
		d.Lock(theDB, true)
		d.assets(10)
		d.trigger()
		d.pass(10 * time.Minute)
		d.Settle()
		for d.state().Status != Reporting {
			d.pass(time.Minute)
			d.Settle()
		}
	},
	Awaiting: func(d *desk) { d.level20() },
}

func TestScenario18StopInEveryStatus(t *testing.T) {
	for _, status := range slices.Sorted(maps.Keys(at)) {
		t.Run(string(status), func(t *testing.T) {
			tell(t, func(d *desk) {
				at[status](d)
				d.status(status)
				d.write("stop.json", `{"reason": "nobody needs it", "by": "kim"}`)
				d.goes(stopped)
				d.status(Failed)
				d.Lock(theDB, false)
				d.pass(10 * time.Minute)
				d.goes()
				st := d.state()
				if st.Error != "nobody needs it" || st.Last.Actor != "person:kim" || d.there("goal.json") {
					t.Errorf("the state is %+v, %+v", st.Error, st.Last)
				}
				want := map[engine.Status]string{Context: "cycle_failed", Deciding: "cycle_failed", Running: "level20_failed", Reporting: "level10_report", Awaiting: "level20_report"}[status]
				if rows := d.rows(auditLogs); len(rows) != 1 || rows[0]["action"] != want || rows[0]["status"] != map[bool]string{true: "success", false: "fail"}[strings.HasSuffix(want, "report")] {
					t.Errorf("the rows are %v", rows)
				}
				typ := map[engine.Status]string{Context: typeCap, Awaiting: typeHITL}[status]
				if typ == "" {
					return
				}
				d.holds(d.request(typ, "receipt.json"), `"result": "cancelled"`)
				before := d.read("state.json")
				d.respond(typ, `"response": "`+map[string]string{typeCap: optContinue, typeHITL: optRaise}[typ]+`"`)
				d.goes()
				d.noted(d.request(typ, "problem.md"), "")
				if d.read("state.json") != before || len(d.rows(userFeedback)) != 0 || d.there("requests/"+d.asked(typ)+"/late.json") {
					t.Error("an answer to a request that was cancelled moved something")
				}
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
			d.pass(72 * time.Hour)
			d.goes() // an answer is held: no deadline passes over it
			d.unlink("level20_report.md")
			d.goes(answered)
			d.noted()
			if d.read("level20_report.md") != report || d.goal().ApprovedBy != byHuman {
				t.Error("the report is another one, or the answer was lost")
			}
		})
	})
	t.Run("edited, and nobody answers", func(t *testing.T) {
		tell(t, func(d *desk) {
			d.level20()
			d.write("level20_report.md", "another")
			d.pass(49 * time.Hour)
			d.goes(timedOut) // there is no answer to hold
		})
	})
	t.Run("deleted", func(t *testing.T) {
		for _, status := range []engine.Status{Awaiting, Reporting, Reached} {
			tell(t, func(d *desk) {
				if status == Reporting {
					at[Reporting](d)
				} else {
					d.level10()
				}
				if status == Reached {
					d.tick("raise", "submit")
					d.goes(answered)
				}
				report := d.read("level10_report.md")
				d.unlink("level10_report.md")
				d.goes()
				if d.read("level10_report.md") != report {
					t.Errorf("%s: the report is another one:\n%s", status, cmp.Diff(report, d.read("level10_report.md")))
				}
			})
		}
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
			d.goes(answered)
			d.noted()
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
			d.noted()
		})
	})
	t.Run("somebody's goal", func(t *testing.T) {
		for name, answer := range map[string]bool{"answered": true, "deadline": false} {
			t.Run(name, func(t *testing.T) {
				tell(t, func(d *desk) {
					d.level20()
					d.write("goal.json", `{"next_automation_level": 30}`)
					if answer {
						d.tick("raise", "submit")
					} else {
						d.pass(49 * time.Hour)
					}
					d.goes()
					d.noted("goal.json.problem.md", "move it away")
					if got := d.read("goal.json"); got != `{"next_automation_level": 30}` {
						t.Errorf("it was written over: %s", got)
					}
					d.unlink("goal.json")
					d.goes(map[bool]string{true: answered, false: timedOut}[answer])
					d.noted()
				})
			})
		}
	})
	t.Run("somebody's report", func(t *testing.T) {
		tell(t, func(d *desk) {
			d.write("level10_report.md", "# mine\n")
			d.assets(10)
			d.trigger()
			d.goes(triggered, collected, decided)
			d.noted("level10_report.md.problem.md", "move it away")
			d.status(Running)
			d.unlink("level10_report.md")
			d.goes(reported, recorded)
			d.noted()
		})
	})
}

func TestScenario21MovedToTheArchive(t *testing.T) {
	archive := ".mso-context/archive/2026-03/" + runA
	t.Run("at rest, and back", func(t *testing.T) {
		tell(t, func(d *desk) {
			d.level20()
			d.tick("raise", "submit")
			d.Move(".mso-context/active/"+runA, archive)
			before := d.Tree()
			d.pass(100 * time.Hour)
			d.goes()
			if diff := cmp.Diff(before, d.Tree()); diff != "" {
				t.Errorf("it was written (-before +after):\n%s", diff)
			}
			d.Move(archive, ".mso-context/active/"+runA)
			d.goes(answered)
		})
	})
	t.Run("before each change", func(t *testing.T) {
		for k, come := 1, true; come && (k <= 5 || !testing.Short()); k++ {
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
		d.status(Awaiting)
		d.holds("level20_report.md", "# Workflow Optimization Report (Level 20)\n", "\n## 실행 요약\n", "\n## 분석 결과 (스크립트 기반)\n", "\n### 트렌드\n", "\n### 패턴\n",
			"\n### 이상치\n", "\n## 개선 제안\n", "<!-- placet "+runA+" r5 -->")
		if rows := d.rows(auditLogs); len(rows) != 1 || rows[0]["status"] != "success" || rows[0]["action"] != "level20_report" || rows[0]["id"] != string(d.state().AuditID) {
			t.Errorf("the rows are %v", rows)
		}
		st := d.state()
		if at := st.Deadline.Time(); at.Sub(st.Last.At.Time()) != 48*time.Hour {
			t.Errorf("the deadline is %s after %s", st.Deadline, st.Last.At)
		}
		var asked struct{ Type, Deadline, Default string }
		d.decode(d.request(typeHITL, "request.json"), &asked)
		if asked.Type != typeHITL || asked.Deadline != string(st.Deadline) || asked.Default != "timeout_fallback" {
			t.Errorf("asked %+v", asked)
		}
		d.noted()
	})
}

// said is what a row of user_feedback says in its feedback_text.
type said struct {
	FeedbackType string   `json:"feedback_type"`
	WorkflowName string   `json:"workflow_name"`
	Before       int      `json:"level_before"`
	After        int      `json:"level_after"`
	Accepted     []string `json:"accepted_suggestions"`
	Rejected     []string `json:"rejected_suggestions"`
	FreeText     string   `json:"free_text"`
}

// feedback is the one row of user_feedback, and what it says.
func (d *desk) feedback() (row map[string]any, text said) {
	d.T.Helper()
	rows := d.rows(userFeedback)
	if len(rows) != 1 {
		d.T.Fatalf("there are %d rows of feedback: %v", len(rows), rows)
	}
	decodeAt(d.T, "feedback_text", rows[0]["feedback_text"].(string), &text)
	return rows[0], text
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
		row, text := d.feedback()
		want := said{"level_adjustment", flow, 20, 30, []string{"규칙 정리"}, []string{"희귀 라벨 검사 추가", "로그 줄이기"}, "월말 자료를 더 보자"}
		if diff := cmp.Diff(want, text); diff != "" {
			t.Errorf("the feedback (-want +got):\n%s", diff)
		}
		st := d.state()
		if row["impact_summary"] != "Level 20 → 30, 1건 제안 수렴" || row["related_audit_id"] != string(st.AuditID) || row["id"] != string(st.FeedbackID) ||
			row["impact_domain"] != "workflow_optimization" || row["reversibility"] != "High" || row["source_ref_path"] != st.Report.Path {
			t.Errorf("the row is %v", row)
		}
		var result struct {
			TriggerType string `json:"trigger_type"`
			Goal        Goal   `json:"goal"`
			Metadata    struct {
				LevelBefore   int  `json:"level_before"`
				LevelAfter    int  `json:"level_after"`
				HITLResponded bool `json:"hitl_responded"`
			} `json:"metadata"`
		}
		d.decode("optimizer_result.json", &result)
		if result.Goal.NextAutomationLevel != 30 || result.Metadata.LevelBefore != 20 || result.Metadata.LevelAfter != 30 || !result.Metadata.HITLResponded || result.TriggerType != direct {
			t.Errorf("the result is %+v", result)
		}
		d.noted()
	})
}

// answers of a reviewer to three suggestions, and what they come to.
func TestScenario05WhatAnAnswerComesTo(t *testing.T) {
	for name, test := range map[string]struct {
		level  int
		ticks  []string
		words  string
		want   Goal
		kind   string
		fields []string
	}{
		"only s2":             {level: 20, ticks: []string{"s2"}, want: Goal{20, []string{"희귀 라벨 검사 추가"}, []string{}, byHuman}, kind: "suggestion_acceptance"},
		"lower at 10":         {level: 10, ticks: []string{"lower"}, want: Goal{10, []string{}, []string{}, byHuman}, kind: "free_text"},
		"raise at 30":         {level: 30, ticks: []string{"raise"}, want: Goal{30, []string{}, []string{}, byHuman}, kind: "free_text"},
		"lower at 30":         {level: 30, ticks: []string{"lower"}, want: Goal{20, []string{}, []string{}, byHuman}, kind: "level_adjustment"},
		"only a comment":      {level: 20, words: "  나중에 보자  ", want: Goal{20, []string{}, []string{"나중에 보자"}, byHuman}, kind: "free_text"},
		"only appropriate":    {level: 20, ticks: []string{"appropriate"}, want: Goal{20, []string{}, []string{}, byHuman}, kind: "free_text"},
		"all, in their order": {level: 20, ticks: []string{"s3", "s1", "s2"}, want: Goal{20, []string{"규칙 정리", "희귀 라벨 검사 추가", "로그 줄이기"}, []string{}, byHuman}, kind: "suggestion_acceptance"},
	} {
		t.Run(name, func(t *testing.T) {
			tell(t, func(d *desk) {
				d.assets(test.level)
				d.write("retrieved.jsonl", retrievedLines)
				d.write("suggestions.json", threeSuggestions)
				d.trigger()
				d.Settle()
				d.tick(append(test.ticks, "submit")...)
				if test.words != "" {
					d.comment(test.words)
				}
				d.goes(answered)
				if diff := cmp.Diff(test.want, d.goal()); diff != "" {
					t.Errorf("the goal (-want +got):\n%s", diff)
				}
				if _, text := d.feedback(); text.FeedbackType != test.kind || text.Before != test.level || text.After != test.want.NextAutomationLevel {
					t.Errorf("the feedback is %+v", text)
				}
				d.write("../manifest.json", "") // whatever: no run follows of itself
				d.goes()
			})
		})
	}
}

func TestScenario07SilenceAndLateAnswers(t *testing.T) {
	t.Run("late", func(t *testing.T) {
		tellWith(t, korean, func(d *desk) {
			d.level20()
			d.pass(48 * time.Hour)
			d.goes(timedOut)
			if diff := cmp.Diff(Goal{20, []string{}, []string{"HITL 미응답 — 다음 주기에 재검토 필요"}, byTimeout}, d.goal()); diff != "" {
				t.Errorf("the goal (-want +got):\n%s", diff)
			}
			d.holds(d.request(typeHITL, "receipt.json"), `"result": "expired"`)
			if rows := d.rows(userFeedback); len(rows) != 0 {
				t.Errorf("nobody answered, and yet %v", rows)
			}
			goal, state := d.read("goal.json"), d.read("state.json")
			d.tick("raise", "s2", "submit")
			d.comment("늦었지만")
			d.goes()
			var late Late
			d.decode("requests/"+d.asked(typeHITL)+"/late.json", &late)
			if late.Response != "raise" || !slices.Equal(late.Selected, []string{"s2"}) || late.Comment != "늦었지만" || late.RequestID != d.asked(typeHITL) || late.ReceivedAt != seconds(d.Now()) {
				t.Errorf("kept %+v", late)
			}
			if row, text := d.feedback(); text.After != 30 || text.FreeText != "늦었지만" || row["related_audit_id"] != string(d.state().AuditID) {
				t.Errorf("the row says %+v: %v", text, row)
			}
			if d.read("goal.json") != goal || d.read("state.json") != state {
				t.Error("goal or state is another one")
			}
			d.noted(d.request(typeHITL, "problem.md"), "late.json")
		})
	})
	t.Run("an answer that came while placet was down", func(t *testing.T) {
		tell(t, func(d *desk) {
			d.level20()
			d.tick("lower", "submit")
			d.pass(72 * time.Hour)
			d.Restart()
			d.goes(answered)
			if d.goal().NextAutomationLevel != 10 {
				t.Errorf("the goal is %+v", d.goal())
			}
			d.holds(d.request(typeHITL, "receipt.json"), `"late": true`)
		})
	})
	t.Run("never", func(t *testing.T) {
		tellWith(t, func(c *Config) { c.HITLTimeout = never }, func(d *desk) {
			d.level20()
			d.pass(400 * 24 * time.Hour)
			d.goes()
			d.status(Awaiting)
			d.holds(d.request(typeHITL, "request.json"), `"deadline": null`, `"default": null`)
		})
	})
	t.Run("the deadline stays whatever the settings become", func(t *testing.T) {
		tell(t, func(d *desk) {
			d.level20()
			at := d.state().Deadline
			d.config(func(c *Config) { c.HITLTimeout = "1h" })
			d.Restart()
			d.pass(2 * time.Hour)
			d.goes()
			if d.state().Deadline != at {
				t.Errorf("the deadline moved to %s", d.state().Deadline)
			}
		})
	})
}

func TestScenario22TheSameInEnglish(t *testing.T) {
	tree := func(lang string) (st State, d2 struct{ report, form, request string }) {
		tellWith(t, func(c *Config) { c.Language = lang }, func(d *desk) {
			d.level20()
			st = d.state()
			d2.report, d2.form, d2.request = d.read("level20_report.md"), d.read(d.request(typeHITL, "form.md")), d.read(d.request(typeHITL, "request.json"))
			d.pass(48 * time.Hour)
			d.goes(timedOut)
			want := "No HITL response — review again in the next cycle"
			if lang == "ko" {
				want = "HITL 미응답 — 다음 주기에 재검토 필요"
			}
			if got := d.goal().CarryOverIssues; len(got) != 1 || got[0] != want {
				t.Errorf("%s: the issues are %q", lang, got)
			}
		})
		return st, d2
	}
	ko, _ := tree("ko")
	en, words := tree("en")
	if ko.Lang != "ko" || en.Lang != "en" || ko.Decision.AutomationLevel != en.Decision.AutomationLevel || !cmp.Equal(ko.KPI, en.KPI) || !cmp.Equal(ko.Suggestions, en.Suggestions) || ko.RequestID != en.RequestID || ko.AuditID != en.AuditID {
		t.Errorf("more than words differs:\n%s", cmp.Diff(ko.KPI, en.KPI))
	}
	for _, heading := range []string{"## Run summary", "## Analysis (from scripts)", "### Trends", "### Patterns", "### Outliers", "## Improvement suggestions"} {
		if !strings.Contains(words.report, "\n"+heading+"\n") {
			t.Errorf("the report has no %q:\n%s", heading, words.report)
		}
	}
	block := "[Workflow optimization result]\n- Workflow: sop-masking-engine\n- Applied Automation Level: 20\n- Report path: .mso-context/active/20260302-msowd-sop-masking/optimizer/level20_report.md\n\n" +
		"[Review request]\n1. Was the Automation Level appropriate? (appropriate / raise / lower)\n2. Select the suggestions to take into the next cycle:\n" +
		"   - [ ] 규칙 정리\n   - [ ] 희귀 라벨 검사 추가\n   - [ ] 로그 줄이기\n3. Further comments (optional):"
	var asked struct{ Prompt string }
	if err := json.Unmarshal([]byte(words.request), &asked); err != nil || asked.Prompt != block {
		t.Errorf("the block, %v (-want +got):\n%s", err, cmp.Diff(block, asked.Prompt))
	}
	for _, line := range []string{"   - [ ] raise: raise → goes on at level 30\n", "   - [ ] s1: 규칙 정리\n", "2. Select the suggestions to take into the next cycle:\n"} {
		if !strings.Contains(words.form, line) {
			t.Errorf("the form has no %q:\n%s", line, words.form)
		}
	}
}

// What a workflow's own table says holds for it, and what holds when the cycle begins
// holds to its end.
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
		st := d.state()
		if st.Lang != "en" || *st.KPI[0].Threshold != 60 || st.Deadline.Time().Sub(st.Last.At.Time()) != time.Hour {
			t.Errorf("the state is %s, %v, %s", st.Lang, *st.KPI[0].Threshold, st.Deadline)
		}
		d.holds("level10_report.md", "## Run summary")
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
		if d.there("optimizer_result.json") {
			t.Error("there is one")
		}
	})
}

// The first valid late answer counts, and no later one.
func TestScenario07TheFirstLateAnswerCounts(t *testing.T) {
	tell(t, func(d *desk) {
		d.level20()
		d.pass(49 * time.Hour)
		d.goes(timedOut)
		late := "requests/" + d.asked(typeHITL) + "/late.json"
		d.tick("raise", "lower", "submit")
		d.goes()
		if d.there(late) || len(d.rows(userFeedback)) != 0 {
			t.Error("an invalid answer was kept")
		}
		d.unlink(d.request(typeHITL, "form.md"))
		d.respond(typeHITL, `"response": "lower"`)
		d.goes()
		first := d.read(late)
		d.respond(typeHITL, `"response": "raise"`, `"comment": "doch"`)
		d.pass(time.Hour)
		d.goes()
		if d.read(late) != first || !strings.Contains(first, `"response": "lower"`) || len(d.rows(userFeedback)) != 1 {
			t.Errorf("kept is %s, then %s; the rows are %v", first, d.read(late), d.rows(userFeedback))
		}
	})
}

// Scenario 13: TestCrash kills placet at every write; here a form is edited between
// the receipt and the state, at every moment.
func TestScenario13TheReceiptsAnswerCounts(t *testing.T) {
	edited := 0
	for k, come := 1, true; come; k++ {
		tell(t, func(d *desk) {
			d.level20()
			d.tick("raise", "s1", "submit")
			form, receipt := d.in(d.request(typeHITL, "form.md")), d.in(d.request(typeHITL, "receipt.json"))
			reached := d.BeforeChange(k, func() {
				if !d.Has(receipt) || d.there("goal.json") && strings.Contains(d.read("state.json"), `"status": "goal"`) {
					return
				}
				edited++
				d.Put(form, strings.NewReplacer("[x] raise", "[ ] raise", "[ ] lower", "[x] lower").Replace(d.Read(form)))
			})
			d.Lax = true
			d.goes(answered)
			come = reached()
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

// What a later version writes into the state is kept, and so is what others write
// into their own documents.
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

// An action's end that nobody recorded is not lost with a restart: rows are found
// in the database, looks are made again.
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

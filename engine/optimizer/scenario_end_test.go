package optimizer

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
)

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

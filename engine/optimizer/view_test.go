package optimizer

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/engine/run"
)

// account returns the view of the run.
func (d *desk) account() engine.RunView { d.T.Helper(); return d.Account(d.run) }

// explains checks that the explanation of the run has all of these words. Words after "move " must
// name a file that would move it, words after "await " something that it waits for; all others must
// be among the reasons.
func (d *desk) explains(words ...string) {
	d.T.Helper()
	a := d.account()
	why := strings.Join(a.Why, "\n")
	var moves []string
	for _, m := range a.Unblock {
		moves = append(moves, strings.TrimPrefix(m.Path, dirOf(d.run)+"/")+": "+m.Content)
	}
	all := strings.Join(moves, "\n")
	for _, w := range words {
		if of, ok := strings.CutPrefix(w, "move "); ok {
			if !strings.Contains(all, of) {
				d.T.Errorf("no file that would move it is %q:\n%s", of, all)
			}
			continue
		}
		if what, ok := strings.CutPrefix(w, "await "); ok {
			if !slices.Contains(a.WaitsFor, what) {
				d.T.Errorf("it does not wait for %q, but for %q", what, a.WaitsFor)
			}
			continue
		}
		if !strings.Contains(why, w) {
			d.T.Errorf("it is not explained with %q:\n%s", w, why)
		}
	}
	if len(a.Why) == 0 {
		d.T.Error("nothing explains it")
	}
}

// facts checks these facts, each "label: value"; the value may be a part of the whole.
func (d *desk) facts(want ...string) {
	d.T.Helper()
	var have []string
	for _, f := range d.account().Facts {
		have = append(have, f.Label+": "+f.Value)
	}
	for _, w := range want {
		if !slices.ContainsFunc(have, func(f string) bool { return strings.Contains(f, w) }) {
			d.T.Errorf("no fact is %q:\n%s", w, strings.Join(have, "\n"))
		}
	}
}

// finds checks for exactly these findings, each with severity, file and a word of the text.
func (d *desk) finds(want ...[3]string) {
	d.T.Helper()
	have := d.account().Findings
	if len(have) != len(want) {
		d.T.Errorf("%d findings, want %d: %+v", len(have), len(want), have)
	}
	for _, w := range want {
		if !slices.ContainsFunc(have, func(f engine.Finding) bool {
			return f.Severity == w[0] && strings.TrimPrefix(f.Path, dirOf(d.run)+"/") == w[1] && strings.Contains(f.Text, w[2])
		}) {
			d.T.Errorf("%q is not found: %+v", w, have)
		}
	}
}

func TestARunIsExplainedWhereverItStands(t *testing.T) {
	stories := map[string]func(d *desk){
		"no cycle": func(d *desk) {
			d.Put(".mso-context/active/"+runA+"/README.md", "")
			a := d.account()
			if !a.Absent || a.Status != engine.StatusAbsent {
				d.T.Errorf("%+v", a)
			}
			d.explains("no cycle has begun", `move trigger.json: {"workflow_name": "<workflow>"}`)
		},
		"a trigger that was just written": func(d *desk) {
			d.trigger(`"optimization_goal": "fewer errors"`, `"created_by": "kim"`)
			d.pass(3 * time.Second)
			if got := d.account().Status; got != unbegun {
				d.T.Errorf("status %s", got)
			}
			d.explains("the next pass begins the cycle: trigger.json (direct)", "await the next pass (placet)")
			d.facts("workflow: "+flow, "trigger: direct, by kim", "goal asked for: fewer errors")
		},
		"a trigger that cannot be used": func(d *desk) {
			d.write("trigger.json", `{"workflow_name": 3}`)
			d.Settle()
			if !d.account().Blocked {
				d.T.Error("it does not stand")
			}
			d.explains("no cycle begins: ", "/workflow_name", "move trigger.json: a trigger that can be used", "await trigger.json that can be used (agent)")
			d.finds([3]string{"error", "trigger.json.problem.md", "/workflow_name"})
		},
		"a folder whose name is no run id": func(d *desk) {
			const dir = ".mso-context/active/20260302-MSOWD-x/optimizer"
			d.Put(dir+"/trigger.json", triggerOf(flow))
			d.Settle()
			a := d.Account(".mso-context/active/20260302-MSOWD-x")
			if a.Status != wrongName || !a.Blocked || len(a.Unblock) != 1 || !strings.Contains(a.Why[0], "does not match") || len(a.Findings) != 1 {
				d.T.Errorf("%+v", a)
			}
		},
		"too many cycles in a row without an answer": func(d *desk) {
			d.trigger(`"timeout_reentries": 4`)
			d.Settle()
			d.explains("4 cycles in a row ended without an answer", "request reentry_cap-", "move ticking stop and submit: ends this cycle for good")
			d.facts("trigger: direct, after 4 cycles in a row without an answer")
		},
		"a report of somebody else's": func(d *desk) {
			d.write("level10_report.md", "# mine\n")
			d.assets(10)
			d.trigger()
			d.Settle()
			d.explains("the report cannot be written: ", "move level10_report.md: moving it away", "await level10_report.md out of the way (person)")
		},
		"the usage document cannot be used": func(d *desk) {
			d.Put("docs/usage/"+flow+".md", "---\nkpi: 3\n---\n")
			d.assets(10)
			d.trigger()
			d.Settle()
			d.explains("the level is decided once the usage document can be used: ", "await docs/usage/"+flow+".md that can be used (person)")
		},
		"data that were taken and changed": func(d *desk) {
			d.trigger()
			d.assets(20)
			d.write("retrieved.jsonl", retrievedLines)
			d.Settle()
			d.write("retrieved.jsonl", "none\n")
			d.pass(time.Minute)
			d.Settle()
			d.explains("the report waits for data that can be used: ")
			d.unlink("retrieved.jsonl")
			d.Settle()
			d.explains("retrieved.jsonl was taken and is gone", "await retrieved.jsonl as it was (agent)")
		},
		"inputs are awaited": func(d *desk) {
			d.trigger()
			d.Settle()
			d.explains("inputs/assets.json is awaited until 2026-03-02T09:22:03Z", "move inputs/assets.json: {", "move stop.json: {", "await inputs/assets.json (agent)")
		},
		"keys of the KPI that nobody reads": func(d *desk) {
			d.write("inputs/kpi.json", `{"gate_treshold": 90, "metrics": [{"name": "precision", "value": 87}, {"name": "recall", "vaule": 93, "goal": 95}]}`)
			d.trigger()
			d.assets(20)
			d.Settle()
			d.status(Running)
			const kpi = "inputs/kpi.json"
			d.finds([3]string{"warning", kpi, `/gate_treshold: unknown key "gate_treshold": it is kept and not read; did you mean "gate_threshold"?`},
				[3]string{"warning", kpi, `/metrics/1/vaule: unknown key "vaule": it is kept and not read; did you mean "value"?`},
				[3]string{"warning", kpi, `/metrics/1/goal: unknown key "goal": it is kept and not read`})
			d.write("inputs/kpi.json", `{"metrics": [{"name": "precision", "value": 87}]}`)
			d.Settle()
			d.finds()
		},
		"more keys that nobody reads than are named": func(d *desk) {
			var keys []string
			for i := range mostStrays + 3 {
				keys = append(keys, fmt.Sprintf(`"key%d": 1`, i))
			}
			d.write("inputs/kpi.json", "{"+strings.Join(keys, ", ")+"}")
			d.trigger()
			d.Settle()
			found := d.account().Findings
			if len(found) != mostStrays+1 || found[mostStrays].Text != "3 more keys of this file are unknown" {
				d.T.Errorf("%d findings, the last: %+v", len(found), found[len(found)-1])
			}
		},
		"an input cannot be used": func(d *desk) {
			d.trigger()
			d.write("inputs/assets.json", `{"criteria_fixed": "yes"}`)
			d.Settle()
			d.explains("the level is decided once inputs/assets.json can be used: ", "/criteria_fixed", "await inputs/assets.json that can be used (agent)")
			d.finds([3]string{"error", "inputs/assets.json.problem.md", "/criteria_fixed"})
		},
		"data are awaited": func(d *desk) {
			d.trigger()
			d.assets(20)
			d.Settle()
			d.explains("level 20 waits for retrieved.jsonl, which an agent writes", "move retrieved.jsonl: one line", `move inputs/level-error.json: {"level": 20`, "move goes on at level 10", "await retrieved.jsonl (agent)")
			d.facts("level: 20 decided → 20 in hand", "signals: A 20, B none, C 0: level 20", "escalation: not needed")
		},
		"suggestions are awaited": func(d *desk) {
			d.trigger()
			d.assets(20)
			d.write("retrieved.jsonl", retrievedLines)
			d.Settle()
			d.explains("suggestions.json is awaited until 2026-03-02T09:22:03Z", "move suggestions.json: {", "await suggestions.json (agent)")
		},
		"suggestions cannot be used": func(d *desk) {
			d.trigger()
			d.assets(10)
			d.write("suggestions.json", `{"suggestions": [{"text": " "}]}`)
			d.Settle()
			d.explains("the report waits for suggestions that can be used: ", `move inputs/level-error.json: {"level": 10`, "move ends the cycle as failed")
		},
		"suggestions that may be half of a write": func(d *desk) {
			d.trigger()
			d.assets(10)
			d.write("suggestions.json", `{"suggestions": [`)
			d.Settle()
			d.explains("a file of the level is still being written", "await suggestions.json (still being written)")
			if held := d.account().Pending; len(held) != 1 || held[0].Path != dirOf(d.run)+"/suggestions.json" || held[0].Until.IsZero() {
				d.T.Errorf("held: %+v", held)
			}
			d.pass(11 * time.Second)
			d.Settle()
			d.explains("the report waits for suggestions that can be used: ")
			if held := d.account().Pending; len(held) > 0 {
				d.T.Errorf("held: %+v", held)
			}
		},
		"a person is asked": func(d *desk) {
			d.level20()
			d.explains("request hitl-", "move ticking raise and submit: goes on at level 30", "move requests/")
			d.facts("kpi: precision: 87, threshold 85, target 95, margin 2", "suggestion: s1 (high): 규칙 정리", "deadline: 2026-03-04T09:12:03Z", "audit: audit_logs TASK-20260302-")
			a := d.account()
			if len(a.Open) != 1 || len(a.Open[0].Items) != 3 || a.Open[0].Where != "level 20" || a.Open[0].Default != optAppropriate || a.Open[0].Overdue {
				d.T.Errorf("open: %+v", a.Open)
			}
		},
		"the answer cannot be used": func(d *desk) {
			d.level10()
			d.tick("raise", "lower", "submit")
			d.Settle()
			d.explains("the answer in place does not count: ")
			if a := d.account(); a.Open[0].Problem == "" {
				d.T.Error("the request says nothing of it")
			}
		},
		"answered": func(d *desk) {
			d.level10()
			d.respond(typeHITL, `"response": "raise"`, `"comment": "look at labels"`)
			d.goes(answered)
			d.explains("status goal is final", "it leaves 1 issue for the next cycle of "+flow)
			d.facts("answer: raise by kim (file): look at labels", "goal: level 20 next, by human_feedback", "issue: look at labels", "audit: user_feedback FB-")
			if a := d.account(); !a.Final || len(a.Open) > 0 {
				d.T.Errorf("%+v", a)
			}
			d.finds()
		},
		"nobody answered": func(d *desk) {
			d.level10()
			d.pass(49 * time.Hour)
			d.goes(timedOut)
			d.explains("nobody answered in time; a late answer does not change the goal")
			d.respond(typeHITL, `"response": "lower"`, `"comment": "too late"`)
			d.Settle()
			d.facts("late answer: lower by kim (file): too late")
		},
		"stopped": func(d *desk) {
			d.level10()
			d.write("stop.json", `{"reason": "wrong workflow", "by": "kim"}`)
			d.goes(stopped)
			d.explains("status failed is final", "it failed: wrong workflow")
			d.facts("failed because: wrong workflow")
		},
		"a state that may be half of a write": func(d *desk) {
			d.level10()
			d.write("state.json", d.read("state.json")[:100])
			d.explains("state.json or events.jsonl", "await state.json (still being written)")
		},
		"a state that cannot be read": func(d *desk) {
			d.level10()
			d.write("state.json", `{"schema_version": 1}`)
			d.pass(time.Minute)
			d.Settle()
			a := d.account()
			if a.Status != run.StatusUnreadable || !a.Blocked {
				d.T.Errorf("%+v", a)
			}
			d.explains("cannot read state.json", "move state.json: the state as it was")
			d.finds([3]string{"error", "state.json", "cannot read state.json"})
		},
	}
	each(t, stories, func(d *desk, story func(d *desk)) { story(d) })
}

func TestAttemptsAreExplained(t *testing.T) {
	tellWith(t, withCommands(nil), func(d *desk) {
		d.trigger()
		d.Settle()
		d.explains("level 30 waits for retrieved.jsonl, or for placet trust: nobody has agreed to "+strings.Join(evaluate, " "),
			"await retrieved.jsonl (agent) or placet trust (person)")
		d.trust(evaluate)
		d.Settle()
		d.explains("the command of level 30 runs since ", ": "+strings.Join(evaluate, " "), "await the evaluation command that runs: "+strings.Join(evaluate, " "))
		d.Restart()
		d.EndCommand("level/30-1", engine.Ended{Result: "lost"})
		d.goes()
		d.explains("nobody knows how attempt 30-1 ended: a person decides", "move ticking retry and submit: runs the command again")
		if a := d.account(); len(a.Open) != 1 || a.Open[0].Where != "attempt 30-1" {
			t.Errorf("open: %+v", a.Open)
		}
		d.respond(typeUnknown, `"response": "demote"`)
		d.goes(demoted)
		d.facts("level: 30 decided → 20 in hand", "demoted: 30 → 20: evaluation: ")
	})
}

func TestRowsThatAreOwedAreExplained(t *testing.T) {
	tell(t, func(d *desk) {
		d.assets(10)
		d.trigger()
		d.Lock(theDB, true)
		d.Settle()
		d.explains("what is known of the workflow is being collected", "the database could not be read: ", "await what is known of the workflow (placet)")
		for range len(collectTries) {
			if d.state().Status != Reporting {
				d.pass(3 * time.Minute)
				d.Settle()
			}
		}
		d.explains("the report stands; its row could not be written to " + theDB)
		for range len(rowTries) {
			d.pass(3 * time.Minute)
			d.Settle()
		}
		d.status(Awaiting)
		d.explains("the database "+theDB+" does not have the row TASK-", "or now with placet optimizer replay")
		d.finds([3]string{"warning", "audit.json", "pending after"})
		d.Lock(theDB, false)
		d.pass(11 * time.Minute)
		d.Settle()
		d.finds()
	})
}

func TestARunThatWasPutAwayIsCutOff(t *testing.T) {
	tell(t, func(d *desk) {
		d.level10()
		d.on(runB).level10()
		d.on(runB).respond(typeHITL, `"response": "lower"`)
		d.Settle()
		const month = ".mso-context/archive/2026-03/"
		for _, run := range []string{runA, runB} {
			d.Move(".mso-context/active/"+run, month+run)
		}
		d.Settle()
		a := d.Account(runA + "@2026-03")
		if a.Class != "archived" || a.Status != cutOff || !a.Final || len(a.Open) > 0 || !strings.Contains(a.Why[0], "in awaiting_human") {
			t.Errorf("%+v", a)
		}
		if len(a.Unblock) != 1 || a.Unblock[0].Path != ".mso-context/active/"+runA {
			t.Errorf("moves: %+v", a.Unblock)
		}
		for _, state := range []string{d.Read(".mso-context/archive/2026-03/" + runA + "/optimizer/state.json"), "", "[]"} {
			if p, ok := New().SummarizeClass("archived", []byte(state)); !ok || !p.Final || p.Waiting || p.Open > 0 || p.Status != cutOff {
				t.Errorf("at a glance: %+v", p)
			}
		}
		if p, ok := New().SummarizeClass("archived", []byte(d.Read(".mso-context/archive/2026-03/"+runB+"/optimizer/state.json"))); !ok || p.Status != Reached {
			t.Errorf("at a glance: %+v", p)
		}
		if _, ok := New().SummarizeClass("", nil); ok {
			t.Error("a run that is driven is told apart")
		}
		if b := d.Account(runB + "@2026-03"); b.Status != Reached || !b.Final {
			t.Errorf("%+v", b)
		}
	})
}

// `check` finds a goal that somebody overwrote, and a report that somebody edited.
func TestWhatWasChangedIsFound(t *testing.T) {
	tell(t, func(d *desk) {
		d.Lax = true
		d.level20()
		d.write("level20_report.md", strings.Replace(d.read("level20_report.md"), "### Patterns\n", "", 1))
		d.pass(time.Minute)
		d.Settle()
		found := d.account().Findings
		if !slices.ContainsFunc(found, func(f engine.Finding) bool { return strings.Contains(f.Text, "it lacks the headings ") }) {
			t.Errorf("%+v", found)
		}
	})
	tell(t, func(d *desk) {
		d.Lax = true
		d.level10()
		d.respond(typeHITL, `"response": "raise"`)
		d.Settle()
		d.write("goal.json", strings.Replace(d.read("goal.json"), "20", "30", 1))
		found := d.account().Findings
		if !slices.ContainsFunc(found, func(f engine.Finding) bool {
			return strings.Contains(f.Text, "next_automation_level is 30, expected 20")
		}) {
			t.Errorf("%+v", found)
		}
	})
}

// Functions for verbs that need facts of a run without the machine.
func TestVerbsReadDocuments(t *testing.T) {
	tell(t, func(d *desk) {
		if got := LevelInHand([]byte("{}")); got != 0 {
			t.Errorf("level %d in hand of no state", got)
		}
		d.trigger()
		d.assets(20)
		d.Settle()
		if got := LevelInHand([]byte(d.read("state.json"))); got != 20 {
			t.Errorf("level %d in hand, want 20", got)
		}
		d.write("inputs/level-error.json", `{"level": 20, "error": "no"}`)
		d.Settle()
		d.status(Awaiting)
		if got := LevelInHand([]byte(d.read("state.json"))); got != 0 {
			t.Errorf("level %d in hand of a report", got)
		}
		body := []byte(d.read("inputs/level-error.json"))
		if !NamesLevel(body, 20) || NamesLevel(body, 10) || NamesLevel([]byte(`{"level": "20"}`), 20) {
			t.Error("the level that an error names is another")
		}
		a, err := ReadAudit([]byte(d.read("audit.json")))
		if err != nil || len(a.Rows) != 1 || !a.Rows[0].Settled() {
			t.Errorf("%+v, %v", a, err)
		}
		if q := a.Rows[0].Into(a.DB); q.Path != theDB || q.Insert.ID != a.Rows[0].ID || q.Insert.Values[0].Value != a.Rows[0].ID || q.Hint == "" {
			t.Errorf("%+v", q)
		}
		if _, err := ReadAudit([]byte(`{"db": 1}`)); err == nil {
			t.Error("an audit.json that is none can be read")
		}
	})
}

func TestTheRunForACycleIsChosen(t *testing.T) {
	done := func(root, run, workflow, began string, status engine.Status, goal *Goal) Entry {
		return Entry{Key: root + run, Root: root, RunID: run, Workflow: workflow, BeganAt: text(began), Status: status, Goal: goal, Triggered: true}
	}
	free := func(root, run string, tags ...string) Entry {
		return Entry{Key: root + run, Root: root, RunID: run, Manifest: &Manifest{Tags: tags}}
	}
	goal := &Goal{NextAutomationLevel: 10}
	all := []Entry{
		done("a", "20260301-msowd-x", "w", "1", Reached, goal), done("a", "20260302-msowd-x", "w", "2", Reached, goal),
		done("a", "20260303-msowd-x", "w", "3", Running, nil), done("b", "20260309-msowd-x", "w", "9", Reached, goal),
		done("a", "20260304-msowd-y", "v", "4", Failed, nil),
		free("a", "20260305-msowd-x"), free("a", "20260301-msoed-z", "workflow:w"), free("b", "20260306-msoed-z", "v"),
		free("b", "20260307-msowd-y"), {Key: "c", Root: "a", RunID: "20260310-msowd-x", Archived: true, Manifest: &Manifest{}},
		{Key: "d", Root: "a", RunID: "20260311-msowd-x"},
	}
	if e, ok := NewestGoal(all, "a", "w"); !ok || e.RunID != "20260302-msowd-x" {
		t.Errorf("newest goal: %+v", e)
	}
	if e, ok := NewestCycle(all, "w"); !ok || e.Root != "b" {
		t.Errorf("newest cycle: %+v", e)
	}
	if _, ok := NewestGoal(all, "a", "v"); ok {
		t.Error("a cycle that failed came to a goal")
	}
	for workflow, want := range map[string]string{"w": "20260305-msowd-x", "v": "20260306-msoed-z", "u": ""} {
		if e, ok := FreeRun(all, workflow); e.RunID != want || ok != (want != "") {
			t.Errorf("the run for %s is %q, want %q", workflow, e.RunID, want)
		}
	}
	if got := strings.Join(Workflows(all), " "); got != "w v" {
		t.Errorf("workflows: %s", got)
	}
}

// explain says what a cycle really waits for: not suggestions that exist.
func TestExplainAwaitsNoSuggestionsThatAreThere(t *testing.T) {
	tell(t, func(d *desk) {
		d.write("level20_report.md", "# mine\n")
		d.assets(20)
		d.write("retrieved.jsonl", retrievedLines)
		d.write("suggestions.json", threeSuggestions)
		d.trigger()
		d.Settle()
		if a := d.account(); strings.Contains(strings.Join(a.Why, "; "), "awaited") {
			t.Errorf("it waits for %q", a.Why)
		}
	})
}

package optimizer

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fiftyOne are more suggestions than may be offered.
func fiftyOne() string {
	var list []string
	for i := range 51 {
		list = append(list, fmt.Sprintf(`{"text": "no. %d"}`, i))
	}
	return `{"suggestions": [` + strings.Join(list, ", ") + `]}`
}

// Whatever the decision is made from blocks it while it is bad, also when the wait
// for the inputs is over.
func TestBadInputsBlockTheDecision(t *testing.T) {
	const usage = "../../../../docs/usage/" + flow + ".md"
	for name, test := range map[string]struct{ rel, body, note, says string }{
		"a number as text":    {"inputs/kpi.json", `{"metrics": [{"name": "m", "value": "87"}]}`, "inputs/kpi.json.problem.md", "/metrics/0/value"},
		"a metric twice":      {"inputs/kpi.json", `{"metrics": [{"name": "m"}, {"name": "m"}]}`, "inputs/kpi.json.problem.md", "/metrics/1/name"},
		"a gated count":       {"inputs/kpi.json", `{"metrics": [{"name": "m", "unit": "number", "gate": true}]}`, "inputs/kpi.json.problem.md", "/metrics/0/gate"},
		"no such unit":        {"inputs/kpi.json", `{"metrics": [{"name": "m", "unit": "percents"}]}`, "inputs/kpi.json.problem.md", "/metrics/0/unit"},
		"a flag as text":      {"inputs/assets.json", `{"criteria_fixed": "yes"}`, "inputs/assets.json.problem.md", "/criteria_fixed"},
		"bad front matter":    {usage, "---\nkpi: {gate_threshold: high}\n---\n", "usage.problem.md", "gate_threshold"},
		"a gated count there": {usage, "---\nkpi: {metrics: {m: {unit: number, gate: true}}}\n---\n", "usage.problem.md", "gate"},
		"no YAML":             {usage, "---\nkpi: [\n---\n", "usage.problem.md", "docs/usage"},
		"an anchor":           {usage, "---\nkpi: &k {gate_threshold: 80}\n---\n", "usage.problem.md", "docs/usage"},
		"half of a document":  {"inputs/assets.json", `{"analysis_scr`, "inputs/assets.json.problem.md", "assets.json"},
		"another of a kind":   {"inputs/assets.json", `[]`, "inputs/assets.json.problem.md", "assets.json"},
		"a doubled member":    {"inputs/assets.json", `{"criteria_fixed": true, "Criteria_Fixed": false}`, "inputs/assets.json.problem.md", "riteria"},
	} {
		t.Run(name, func(t *testing.T) {
			tell(t, func(d *desk) {
				if test.rel != "inputs/assets.json" {
					d.assets(10)
				}
				d.write(test.rel, test.body)
				d.trigger()
				d.pass(15 * time.Second)
				d.goes(triggered, collected)
				d.pass(time.Hour)
				d.goes()
				d.noted(test.note, test.says)
				if d.read(test.rel) != test.body {
					t.Error("it was changed")
				}
				d.unlink(test.rel)
				d.goes(decided, reported, recorded)
				d.noted()
			})
		})
	}
}

func TestBadDataKeepTheLevelRunning(t *testing.T) {
	good := `{"record_id": "r1", "metric": "m", "value": 1}` + "\n"
	for name, test := range map[string]struct{ body, says string }{
		"no JSON":          {good + "{\n", "line 2"},
		"a value as text":  {good + good + `{"record_id": "r1", "metric": "m", "value": "1"}` + "\n", "line 3"},
		"not finite":       {`{"record_id": "r1", "metric": "m", "value": 1e999}` + "\n", "line 1"},
		"NaN":              {`{"record_id": "r1", "metric": "m", "value": NaN}` + "\n", "line 1"},
		"no such flag":     {`{"record_id": "r1", "metric": "m", "value": 1, "flag": "odd"}` + "\n", "/flag"},
		"no metric":        {`{"record_id": "r1", "value": 1}` + "\n", "/metric"},
		"empty":            {"", "empty"},
		"no final newline": {strings.TrimSuffix(good, "\n"), "newline"},
		"a blank line":     {good + "\n" + good, "line 2"},
		"a list":           {"[1]\n", "line 1"},
	} {
		t.Run(name, func(t *testing.T) {
			tell(t, func(d *desk) {
				d.assets(20)
				d.write("retrieved.jsonl", test.body)
				d.trigger()
				d.pass(15 * time.Second)
				d.goes(triggered, collected, decided)
				d.pass(time.Hour)
				d.goes()
				d.noted("retrieved.jsonl.problem.md", test.says)
				d.write("retrieved.jsonl", good)
				d.goes(retrieved)
				d.noted()
			})
		})
	}
}

func TestBadSuggestionsBlockTheReportAtEveryLevel(t *testing.T) {
	for name, test := range map[string]struct{ body, says string }{
		"doubles":          {`{"suggestions": [{"text": "a"}, {"text": "b"}, {"text": "a"}]}`, "/suggestions/2/text"},
		"blank":            {`{"suggestions": [{"text": "  "}]}`, "/suggestions/0/text"},
		"no text":          {`{"suggestions": [{"priority": "high"}]}`, "/suggestions/0/text"},
		"no such priority": {`{"suggestions": [{"text": "a", "priority": "urgent"}]}`, "/suggestions/0/priority"},
		"more than 50":     {fiftyOne(), "50"},
		"no list":          {`{"suggestions": "a"}`, "/suggestions"},
		"not JSON":         {`- a`, "suggestions.json"},
	} {
		for _, level := range []int{10, 30} {
			t.Run(fmt.Sprint(name, level), func(t *testing.T) {
				tell(t, func(d *desk) {
					d.assets(level)
					d.write("retrieved.jsonl", retrievedLines)
					d.write("suggestions.json", test.body)
					d.trigger()
					d.pass(15 * time.Second)
					d.Settle()
					d.pass(time.Hour)
					d.goes()
					d.status(Running)
					d.noted("suggestions.json.problem.md", test.says)
					d.write("suggestions.json", threeSuggestions)
					d.goes(reported, recorded)
					d.noted()
				})
			})
		}
	}
}

// A bad level-error.json or stop.json is noted and counts as absent.
func TestBadSignalsCountAsAbsent(t *testing.T) {
	for rel, bodies := range map[string][]string{
		"inputs/level-error.json": {`{"level": 15, "error": "x"}`, `{"level": "20", "error": "x"}`, `{"level": 20, "error": " "}`, `{"level": 20}`, `nothing`},
		"stop.json":               {`{"reason": ""}`, `{}`, `{"reason": " "}`, `{"reason": 7}`, `{"reason": "x", "by": 7}`, `stop`},
	} {
		for _, body := range bodies {
			t.Run(rel+" "+body, func(t *testing.T) {
				tell(t, func(d *desk) {
					d.assets(20)
					d.write(rel, body)
					d.trigger()
					d.pass(15 * time.Second)
					d.goes(triggered, collected, decided)
					d.noted(rel+".problem.md", "")
					d.write("retrieved.jsonl", retrievedLines)
					d.write("suggestions.json", threeSuggestions)
					d.goes(retrieved, reported, recorded)
				})
			})
		}
	}
}

// A state that is not ours, or cannot be read, is never written over, and nothing
// of the run moves.
func TestBadStatesStandStill(t *testing.T) {
	for name, change := range map[string]func(d *desk){
		"torn":            func(d *desk) { body := d.read("state.json"); d.write("state.json", body[:len(body)/2]) },
		"not JSON":        func(d *desk) { d.write("state.json", "state: running") },
		"of another run":  func(d *desk) { d.write("state.json", strings.Replace(d.read("state.json"), runA, runB, 1)) },
		"of another kind": func(d *desk) { d.write("state.json", `{"status": "running", "schema_version": 1}`) },
		"an unknown status": func(d *desk) {
			d.write("state.json", strings.Replace(d.read("state.json"), `"status": "awaiting_human"`, `"status": "thinking"`, 1))
		},
		"a later version": func(d *desk) {
			d.write("state.json", strings.Replace(d.read("state.json"), `"schema_version": 1`, `"schema_version": 2`, 1))
		},
		"gone": func(d *desk) { d.unlink("state.json") },
		"an older one": func(d *desk) {
			d.write("state.json", strings.Replace(d.read("state.json"), `"revision": 6`, `"revision": 3`, 1))
		},
		"a journal ahead":  func(d *desk) { d.write("events.jsonl", d.read("events.jsonl")+`{"seq": 9}`+"\n") },
		"a journal behind": func(d *desk) { d.write("events.jsonl", `{"seq": 2}`+"\n") },
		"a torn journal":   func(d *desk) { d.write("events.jsonl", d.read("events.jsonl")+"{\n") },
	} {
		t.Run(name, func(t *testing.T) {
			tell(t, func(d *desk) {
				d.level20()
				d.tick("raise", "submit")
				good := d.Tree()
				change(d)
				d.pass(15 * time.Second)
				before := d.Tree()
				d.goes()
				d.pass(100 * time.Hour)
				d.goes()
				after := d.Tree()
				delete(after, d.in("state.json.problem.md"))
				if diff := cmp.Diff(before, after); diff != "" {
					t.Errorf("something was written (-before +after):\n%s", diff)
				}
				d.noted("state.json.problem.md", "state.json")
				for _, rel := range []string{"state.json", "events.jsonl"} {
					d.write(rel, good[d.in(rel)])
				}
				d.goes(answered)
				d.noted()
			})
		})
	}
}

// What an earlier cycle left that cannot be used is a warning, not a note.
func TestBadEarlierCyclesAreAWarning(t *testing.T) {
	for name, test := range map[string]struct {
		change func(d *desk)
		says   string
	}{
		"a goal that is none": {func(d *desk) { d.write("goal.json", `{"next_automation_level": "30"}`) }, "has no goal.json that can be used"},
		"a torn goal":         {func(d *desk) { d.write("goal.json", `{"next_`) }, "has no goal.json that can be used"},
		"no goal":             {func(d *desk) { d.unlink("goal.json") }, ""},
		"a torn state":        {func(d *desk) { d.write("state.json", `{"sch`) }, ""},
		"archived and bad": {func(d *desk) {
			d.write("goal.json", "{}")
			d.Move(".mso-context/active/"+runA, ".mso-context/archive/2026-03/"+runA)
		}, "has no goal.json that can be used"},
		"it is nowhere": {func(d *desk) { d.Move(".mso-context/active/"+runA, ".mso-context/elsewhere") }, runA},
		"of another workflow": {func(d *desk) {
			d.write("state.json", strings.Replace(d.read("state.json"), `"workflow_name": "`+flow, `"workflow_name": "other`, 1))
		}, "other"},
	} {
		t.Run(name, func(t *testing.T) {
			tellWith(t, func(c *Config) { c.Language = "en" }, func(d *desk) {
				d.goalBehind(runA, "raise")
				test.change(d)
				d.pass(15 * time.Second)
				d.Lax = true
				d.Settle()
				b := d.on(runB)
				b.assets(10)
				b.trigger(`"last_run_id": "` + runA + `"`)
				b.Settle()
				var f Findings
				b.decode("context.json", &f)
				if test.says != "" && (f.PreviousGoal != nil || len(f.Warnings) < 2 || !strings.Contains(strings.Join(f.Warnings, "\n"), test.says)) {
					t.Errorf("the goal is %+v, the warnings %q", f.PreviousGoal, f.Warnings)
				}
				for _, note := range b.notes() {
					if !strings.Contains(note, runA) && !strings.HasPrefix(note, ".mso-context") {
						t.Errorf("a note of another run stands here: %s", note)
					}
				}
			})
		})
	}
}

// Callbacks: those that fit are shown, others are a warning. Upstream's observer puts
// severity and message into the payload; a callback that has them beside it is read too.
func TestCallbacksAreRead(t *testing.T) {
	tell(t, func(d *desk) {
		d.assets(10)
		d.write("../60_observability/callback-20260302-091500-01.json", `{
  "event_type": "anomaly_detected",
  "checkpoint_id": "AS-20260302-hotspot",
  "payload": {
    "target_skills": ["mso-execution-design", "mso-agent-audit-log"],
    "severity": "warning",
    "message": "error hotspot: file(s) a.py appear in 2 fail logs"
  },
  "retry_policy": {"max_retries": 1, "backoff_seconds": 10, "on_retry": "queue"},
  "correlation": {"run_id": "`+runA+`", "artifact_uri": "/w/plan.json"},
  "timestamp": "2026-03-02T09:15:00Z"
}`)
		d.write("../60_observability/callback-20260302-091500-02.json", `{"event_type": "anomaly_detected", "checkpoint_id": "c1", "severity": "high", "message": "drift", "timestamp": "2026-03-01T00:00:00Z", "more": 1, "payload": null}`)
		d.write("../60_observability/callback-3.json", `{"event": 7}`)
		d.write("../60_observability/callbacks-20260302-091500.json", `no`)
		d.write("../60_observability/callback-4.json.tmp", `no`)
		d.trigger()
		d.Settle()
		var f Findings
		d.decode("context.json", &f)
		want := []Callback{
			{"anomaly_detected", "AS-20260302-hotspot", "warning", "error hotspot: file(s) a.py appear in 2 fail logs", "2026-03-02T09:15:00Z"},
			{"anomaly_detected", "c1", "high", "drift", "2026-03-01T00:00:00Z"},
		}
		if !slices.Equal(f.Callbacks, want) || len(f.Warnings) != 2 || !strings.Contains(f.Warnings[1], "callback-3.json") {
			t.Errorf("found %+v, %q", f.Callbacks, f.Warnings)
		}
		d.holds("level10_report.md", "drift", "warning, AS-20260302-hotspot", "error hotspot: file(s) a.py appear in 2 fail logs")
		d.noted()
	})
}

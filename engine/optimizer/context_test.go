package optimizer

import (
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/engine/run"
)

// Unusable files of an earlier cycle cause a warning, not a note.
func TestBadEarlierCyclesAreAWarning(t *testing.T) {
	for name, test := range map[string]struct {
		change func(d *desk)
		says   string
	}{
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
				if f.PreviousGoal != nil || !strings.Contains(strings.Join(f.Warnings, "\n"), test.says) {
					t.Errorf("the goal is %+v, the warnings %q", f.PreviousGoal, f.Warnings)
				}
			})
		})
	}
}

// Valid callbacks are shown, others cause a warning. Upstream's observer puts severity and message
// into the payload; placet also reads them beside it.
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
		d.holds("level10_report.md", "drift", "warning, AS-20260302-hotspot", "error hotspot: file(s) a.py appear in 2 fail logs")
	})
}

// TestADatabaseThatIsNotThereYetIsNoBrokenOne checks that a missing database is no error: it does
// not exist before the first row.
func TestADatabaseThatIsNotThereYetIsNoBrokenOne(t *testing.T) {
	for _, c := range []struct {
		ended     engine.Ended
		available bool
		warnings  int
	}{
		{engine.Ended{Result: "absent"}, true, 0},
		{engine.Ended{Result: "done", Output: []byte(`{"audit_logs": [], "user_feedback": []}`)}, true, 0},
		{engine.Ended{Result: "done", Output: []byte(`{"audit_logs": 1}`)}, false, 1},
		{engine.Ended{Result: "failed", Reason: "locked"}, false, 1},
	} {
		r := &cycle{run: &run.Run[State, *cycle]{}}
		f := Findings{}
		gatherRows(r, &f, c.ended, shared{})
		if f.Audit.Available != c.available || len(f.Warnings) != c.warnings {
			t.Errorf("%+v: available %v, warnings %q", c.ended, f.Audit.Available, f.Warnings)
		}
	}
}

// placet rewrites context.json however often somebody deletes it, in whatever process.
func TestContextIsCollectedAgainAndAgain(t *testing.T) {
	each(t, map[string]time.Duration{"at once": 0, "later": 4 * time.Minute}, func(d *desk, wait time.Duration) {
		d.trigger()
		d.goes(triggered, collected)
		d.pass(wait)
		for range 3 {
			d.unlink("context.json")
			d.goes()
			if !d.there("context.json") {
				d.T.Fatal("context.json is gone")
			}
		}
		d.assets(10)
		d.goes(decided, reported, recorded)
	})
}

// Others may keep anything in the columns of the database: one row with a number for a date does
// not affect the other rows.
func TestRowsOfOthersMayHoldAnything(t *testing.T) {
	tell(t, func(d *desk) {
		odd := feedbackOn("FB-2", "2026-03-01", 20, 10)
		odd["date"], odd["created_at"] = 20260301, nil
		d.db.others = map[string][]map[string]any{
			auditLogs:    {{"id": nil, "date": 20260301, "task_name": "optimizer/" + flow, "action": 1.5, "status": "fail", "notes": true}},
			userFeedback: {feedbackOn("FB-1", "2026-03-01", 10, 20), odd},
		}
		d.trigger()
		d.goes(triggered, collected)
		var f Findings
		d.decode("context.json", &f)
		want := AuditRow{Date: "20260301", TaskName: text("optimizer/" + flow), Action: "1.5", Status: "fail", Notes: "true"}
		if !f.Audit.Available || len(f.Audit.Rows) != 1 || f.Audit.Rows[0] != want || len(f.Feedback) != 2 {
			t.Errorf("found %+v and %+v; warnings %q", f.Audit, f.Feedback, f.Warnings)
		}
	})
}

// A cycle in a copy of another run's folder finds that run's context.json: its goal and answers do
// not belong to the cycle.
func TestTheContextOfAnotherCycleDecidesNothing(t *testing.T) {
	each(t, map[string][2]string{"run": {runA, runB}, "workflow": {`"workflow_name": "` + flow, `"workflow_name": "other`}}, func(d *desk, other [2]string) {
		d.trigger()
		d.goes(triggered, collected)
		d.write("context.json", strings.Replace(d.read("context.json"), other[0], other[1], 1))
		d.assets(10)
		d.goes()
		d.noted("context.json.problem.md", "remove it")
		d.unlink("context.json")
		d.goes(decided, reported, recorded)
	})
}

package optimizer

import (
	"fmt"
	"testing"
	"time"
)

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

package optimizer

import (
	"fmt"
	"strings"
	"testing"

	"placet/layout"
)

// large returns a text of so many bytes, which JSON doubles.
func large(n int) string { return strings.Repeat(`\"`, n/2) }

// placet can read everything that it writes, however much others have written.
func TestWhatPlacetWritesIsNeverTooLarge(t *testing.T) {
	for name, story := range map[string]func(d *desk){
		"callbacks": func(d *desk) {
			for i := range 3 {
				p := strings.Replace(layout.OptimizerCallbacks(dirOf(d.run)), "*", fmt.Sprint(i), 1)
				d.Put(p, fmt.Sprintf(`{"event_type": "anomaly_detected", "payload": {"message": "%s"}}`, large(600<<10)))
			}
			d.level20()
		},
		"many callbacks": func(d *desk) {
			for i := range 300 {
				p := strings.Replace(layout.OptimizerCallbacks(dirOf(d.run)), "*", fmt.Sprint(i), 1)
				d.Put(p, fmt.Sprintf(`{"event_type": "anomaly_detected", "payload": {"message": "%s"}}`, large(9<<10)))
			}
			d.level20()
		},
		"goals": func(d *desk) {
			last := ""
			for i := range 4 {
				run := fmt.Sprintf("2026010%d-msowd-x", i+1)
				dir := ".mso-context/archive/2026-01/" + run + "/optimizer/"
				d.Put(dir+"goal.json", fmt.Sprintf(`{"next_automation_level": 10, "optimization_directives": [], "carry_over_issues": ["%d %s"], "approved_by": "timeout_fallback"}`, i, large(400<<10)))
				d.Put(dir+"trigger.json", triggerOf(flow))
				if last != "" {
					d.Put(dir+"trigger.json", triggerOf(flow, fmt.Sprintf(`"last_run_id": %q`, last)))
				}
				last = run
			}
			d.level20(fmt.Sprintf(`"last_run_id": %q`, last))
		},
		"the optimisation goal": func(d *desk) { d.level20(`"optimization_goal": "` + strings.Repeat("x", 1<<20-100) + `"`) },
		"notes of others' rows": func(d *desk) {
			row := map[string]any{"id": "TASK-1", "task_name": "optimizer/" + flow, "notes": strings.Repeat(`"`, 700<<10), "date": "2026-03-01"}
			d.db.others = map[string][]map[string]any{auditLogs: {row, {"id": "TASK-2", "task_name": row["task_name"], "notes": row["notes"], "date": "2026-03-01"}}}
			d.level20()
		},
	} {
		t.Run(name, func(t *testing.T) {
			tell(t, func(d *desk) {
				story(d)
				d.tick("raise", "submit")
				d.goes(answered)
				for p, body := range d.Tree() {
					if f, known := (layout.Optimizer{}).File(layout.Run{}, strings.TrimPrefix(p, dirOf(d.run)+"/")); known && int64(len(body)) > f.Limit {
						t.Errorf("%s has %d bytes", p, len(body))
					}
				}
			})
		})
	}
}

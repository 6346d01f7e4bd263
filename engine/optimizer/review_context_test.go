package optimizer

import (
	"testing"
	"time"
)

// context.json is made again, however often somebody deletes it and in whatever
// process that is.
func TestContextIsCollectedAgainAndAgain(t *testing.T) {
	for name, wait := range map[string]time.Duration{"at once": 0, "later": 4 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			tell(t, func(d *desk) {
				d.trigger()
				d.goes(triggered, collected)
				d.pass(wait)
				for range 3 {
					d.unlink("context.json")
					d.goes()
					if !d.there("context.json") {
						t.Fatal("context.json is gone")
					}
				}
				d.assets(10)
				d.goes(decided, reported, recorded)
				if alive := d.Alive(); len(alive) != 0 {
					t.Errorf("%q are under way", alive)
				}
			})
		})
	}
}

// Others keep in the columns of the database what they like: one row with a number for
// a date takes nothing from the others.
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

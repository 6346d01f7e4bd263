package optimizer

import (
	"testing"

	"placet/engine"
	"placet/engine/run"
)

// TestADatabaseThatIsNotThereYetIsNoBrokenOne: before the first row there is no
// database, and nothing is wrong with that.
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
		r := &cycle{Run: &run.Run[State]{}}
		f := Findings{}
		gatherRows(r, &f, c.ended, shared{})
		if f.Audit.Available != c.available || len(f.Warnings) != c.warnings {
			t.Errorf("%+v: available %v, warnings %q", c.ended, f.Audit.Available, f.Warnings)
		}
	}
}

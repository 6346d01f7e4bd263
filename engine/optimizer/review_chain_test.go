package optimizer

import (
	"fmt"
	"testing"
)

// A workflow goes on however many cycles it has had: open issues are looked for
// ten cycles back, however few rounds the loop has for what a machine needs.
func TestACycleBeginsBehindAChainOfManyOthers(t *testing.T) {
	tell(t, func(d *desk) {
		last := ""
		for i := range 12 {
			run := fmt.Sprintf("202601%02d-msowd-sop-masking", i+1)
			g := Goal{NextAutomationLevel: 10, ApprovedBy: byTimeout, CarryOverIssues: []string{fmt.Sprintf("issue %d", i+1)}}
			archived := ".mso-context/archive/2026-01/" + run + "/optimizer/"
			d.Put(archived+"goal.json", string(encoded(g)))
			d.Put(archived+"trigger.json", triggerOf(flow))
			if last != "" {
				d.Put(archived+"trigger.json", triggerOf(flow, fmt.Sprintf(`"last_run_id": %q`, last)))
			}
			last = run
		}
		d.level10(fmt.Sprintf(`"last_run_id": %q`, last))
		var f Findings
		d.decode("context.json", &f)
		if f.PreviousGoal == nil || len(f.OpenIssues) != mostLinks || f.OpenIssues[0] != "issue 12" || f.OpenIssues[9] != "issue 3" {
			t.Errorf("%+v, open issues %q", f.PreviousGoal, f.OpenIssues)
		}
	})
}

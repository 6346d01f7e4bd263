package optimizer

import (
	"testing"

	"placet/engine"
	"placet/layout"
)

// TestWhereARunCannotBeReadNoneTakesUpAGoal: it may have taken up any. The others of
// the root are told so, and those of another root are not held.
func TestWhereARunCannotBeReadNoneTakesUpAGoal(t *testing.T) {
	goal := func(root, workflow string) Entry {
		return Entry{
			Root: root, RunID: "20260101-msowd-" + workflow, Triggered: true, Workflow: workflow, Status: Reached, BeganAt: "2026-01-01T00:00:00Z",
			MovedAt: "2026-01-01T01:00:00Z", Goal: &Goal{CarryOverIssues: []string{"i"}},
		}
	}
	ran := func(root, workflow string) Entry {
		return Entry{Root: root, RunID: "20260102-msowd-" + workflow, Manifest: &Manifest{Status: "completed", CompletedAt: "2026-01-02T00:00:00Z", Tags: []string{"workflow:" + workflow}}}
	}
	const a, b = ".mso-context", "workspace/.mso-context"
	entries := map[string][]byte{
		"20260101-msowd-one": encoded(goal(a, "one")), "20260102-msowd-one": encoded(ran(a, "one")),
		"workspace/20260101-msowd-two": encoded(goal(b, "two")), "workspace/20260102-msowd-two": encoded(ran(b, "two")),
	}
	if got := (Machine{}).Relate(entries); got["20260102-msowd-one"] == nil || got["workspace/20260102-msowd-two"] == nil {
		t.Fatalf("without a run that cannot be read: %s", got)
	}
	key := "20260103-msowd-three"
	entries[key] = Machine{}.Refused(engine.Snapshot{Dir: a + "/active/" + key + "/optimizer"})
	got := Machine{}.Relate(entries)
	if got["20260102-msowd-one"] != nil || got["workspace/20260102-msowd-two"] == nil {
		t.Errorf("beside a run that cannot be read: %s", got)
	}
	for _, g := range NextCycles(Entries(entries), true) {
		if held := g.Root == a; held != (g.HeldBy == key) || held != (g.Taken == "") || len(g.Candidates) != 1 {
			t.Errorf("%+v", g)
		}
	}
	entries[key] = Machine{}.Refused(engine.Snapshot{Dir: a + "/active/x/optimizer", Class: layout.OptimizerMisnamed})
	if got := (Machine{}).Relate(entries); got["20260102-msowd-one"] == nil {
		t.Error("a folder that is no run holds the others")
	}
}

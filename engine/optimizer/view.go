package optimizer

import (
	"fmt"
	"path"

	"placet/engine"
	"placet/engine/run"
	"placet/layout"
)

// Statuses that only a view has.
const (
	unbegun   engine.Status = "new"                // a trigger stands, or is about to; no state yet
	wrongName engine.Status = "misnamed"           // the folder's name is no run id
	cutOff    engine.Status = "cut off in archive" // put away before its cycle had ended
)

// absent reports whether a run has no cycle.
func (r *cycle) absent(a *engine.RunView) bool {
	if !r.trigger.Absent() {
		return false
	}
	a.Why = []string{"no cycle has begun in this run: there is no optimizer/trigger.json"}
	a.Unblock = []engine.UnblockingFile{{Path: r.Path("trigger.json"), Content: `{"workflow_name": "<workflow>"} begins one (placet optimizer trigger)`}}
	return true
}

// tell adds facts, levels and findings to the view of a cycle.
func (r *cycle) tell(a *engine.RunView) {
	a.Facts, a.Parts = r.facts(), r.parts()
	a.Findings = append(a.Findings, r.findings()...)
}

// misnamed is why no cycle begins in a folder whose name is no run id.
func misnamed(s engine.Snapshot) string {
	return fmt.Sprintf("no cycle begins here: the run id %q does not match %s", layout.OptimizerRunID(s.Dir), layout.OptimizerRunIDPattern)
}

// stepMisnamed says so in a note.
func stepMisnamed(s engine.Snapshot) (p engine.Plan) {
	r := run.Input{Snap: s}
	if d := s.In("trigger.json"); !d.Absent() {
		r.Bad(d, misnamed(s)+"; move trigger.json to a run whose folder is named so, such as 20260302-msowd-sop-masking")
	}
	r.Notes.Plan(s, &p, nil)
	return p
}

func accountMisnamed(s engine.Snapshot) engine.RunView {
	a := engine.RunView{Key: s.Key, Class: "served", ShortID: s.Key.ID, Status: wrongName, Blocked: true}
	d := s.In("trigger.json")
	if d.Absent() {
		a.Status, a.Blocked, a.Absent = engine.StatusAbsent, false, true
		return a
	}
	a.Why = []string{misnamed(s)}
	a.Await("a run id as the folder's name (person)")
	a.Unblock = []engine.UnblockingFile{{Path: layout.OptimizerInActive(s.Dir, "<YYYYMMDD>-<key>-<slug>", "trigger.json"), Content: "what stands in " + d.Path}}
	a.Findings = []engine.Finding{{Severity: "error", Path: d.Path, Text: misnamed(s)}}
	return a
}

// accountArchived tells a cycle that was put away, which nothing moves any more.
func accountArchived(s engine.Snapshot) engine.RunView {
	all, r := family.View(s)
	a := engine.RunView{Key: s.Key, Class: "archived", ShortID: s.Key.ID, Status: engine.StatusAbsent, Final: true, Facts: r.facts(), Log: all.Log}
	switch {
	case r.Problem != "":
		a.Status = all.Status
		a.Why = []string{r.Problem}
		a.Findings = []engine.Finding{{Severity: "warning", Path: r.Doc.Path, Text: r.Problem}}
	case r.Begun && final(r.State.Status):
		a.Status = r.State.Status
		a.Why = []string{fmt.Sprintf("status %s is final, and the run was put away: its files are read, and never written", a.Status)}
	case r.Begun || !r.trigger.Absent():
		a.Status = cutOff
		at := ""
		if r.Begun {
			at = ", in " + string(r.State.Status)
		}
		a.Why = []string{"the run was put away before its cycle had ended" + at + ": it has no goal, and nothing moves it"}
		back := layout.OptimizerInActive(r.Snap.Dir, r.runID(), "")
		a.Unblock = []engine.UnblockingFile{{Path: path.Dir(back), Content: "moving the run's folder back there resumes the cycle"}}
	default:
		a.Absent = true
	}
	return a
}

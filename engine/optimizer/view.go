package optimizer

import (
	"path"
	"strconv"

	"placet/engine"
	"placet/engine/run"
	"placet/layout"
	"placet/templates"
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
	a.Why = []string{r.words("why.absent")}
	a.Unblock = []engine.UnblockingFile{{Path: r.run.Path("trigger.json"), Content: r.words("unblock.begin")}}
	return true
}

// tell adds facts, levels and findings to the view of a cycle.
func (r *cycle) tell(a *engine.RunView) {
	a.Facts, a.Parts = r.facts(), r.parts()
	a.Findings = append(a.Findings, r.findings()...)
}

// misnamed is why no cycle begins in a folder whose name is no run id.
func misnamed(s engine.Snapshot) templates.Message {
	return templates.NewMessage("optimizer.why.misnamed", "id", strconv.Quote(layout.OptimizerRunID(s.Dir)), "pattern", layout.OptimizerRunIDPattern)
}

// stepMisnamed says so in a note.
func stepMisnamed(s engine.Snapshot) (p engine.Plan) {
	r := run.NewInput(s)
	if d := s.In("trigger.json"); !d.Absent() {
		r.Bad(d, phrase(r.Lang, "note.misnamed", "problem", misnamed(s)))
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
	r := run.NewInput(s)
	problem := misnamed(s).In(r.Lang)
	a.Why = []string{problem}
	a.Await(r.Say("optimizer.wait.runid"))
	a.Unblock = []engine.UnblockingFile{{Path: layout.OptimizerInActive(s.Dir, "<YYYYMMDD>-<key>-<slug>", "trigger.json"), Content: r.Say("optimizer.unblock.misnamed", "file", d.Path)}}
	a.Findings = []engine.Finding{{Severity: "error", Path: d.Path, Text: problem}}
	return a
}

// accountArchived tells a cycle that was put away, which nothing moves any more.
func accountArchived(s engine.Snapshot) engine.RunView {
	all, r := family.View(s)
	a := engine.RunView{Key: s.Key, Class: "archived", ShortID: s.Key.ID, Status: engine.StatusAbsent, Final: true, Facts: r.facts(), Log: all.Log}
	switch {
	case r.run.Problem != "":
		a.Status = all.Status
		a.Why = []string{r.run.Problem}
		a.Findings = []engine.Finding{{Severity: "warning", Path: r.run.Doc.Path, Text: r.run.Problem}}
	case r.run.Begun && final(r.run.State.Status):
		a.Status = r.run.State.Status
		a.Why = []string{r.words("why.archived.final", "status", a.Status)}
	case r.run.Begun || !r.trigger.Absent():
		a.Status = cutOff
		key := "why.archived"
		if r.run.Begun {
			key = "why.archived.in"
		}
		a.Why = []string{r.words(key, "status", r.run.State.Status)}
		back := layout.OptimizerInActive(r.run.Snap.Dir, r.runID(), "")
		a.Unblock = []engine.UnblockingFile{{Path: path.Dir(back), Content: r.words("unblock.archived")}}
	default:
		a.Absent = true
	}
	return a
}

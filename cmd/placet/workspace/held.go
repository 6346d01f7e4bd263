package workspace

import (
	"cmp"
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/reconcile"
	"placet/engine/run"
	"placet/layout"
)

// heldFile is a file that may still be being written, with what is wrong with it as it
// stands, as far as that is known.
type heldFile struct {
	engine.Holding
	why string
}

// addUnreadable adds to a view the files that may still be being written, and as
// findings those that cannot be and that nobody can read.
func (v *View) addUnreadable(seen reconcile.Seen) {
	add := func(h engine.Holding, why string) {
		if !slices.ContainsFunc(v.held, func(x heldFile) bool { return x.Path == h.Path }) {
			v.held = append(v.held, heldFile{h, why})
		}
	}
	for _, u := range run.FindUnreadable(seen.Snap, func(rel string) (layout.File, bool) {
		return v.Found.Family.Layout.File(v.Found.Run, rel)
	}) {
		if u.Until.IsZero() {
			v.findUnreadable(u)
		} else {
			add(engine.Holding{Path: u.Path, Until: u.Until}, u.Why)
		}
	}
	for _, h := range slices.Concat(v.Holding, seen.Holding) {
		add(h, "")
	}
	for _, d := range seen.Snap.Docs {
		if d.Unsettled() && d.Path != engine.NeedRuns {
			add(engine.Holding{Path: d.Path}, "")
		}
	}
	slices.SortFunc(v.held, func(a, b heldFile) int { return cmp.Compare(a.Path, b.Path) })
}

// findUnreadable adds the error that a file cannot be read. Where a family says less of
// it, that counts, but a merge that is not finished is an error wherever it stands.
func (v *View) findUnreadable(u run.Unreadable) {
	same := func(f engine.Finding) bool {
		return f.Path == u.Path || strings.TrimSuffix(f.Path, layout.ProblemSuffix) == u.Path
	}
	if u.Conflict {
		v.Findings = slices.DeleteFunc(v.Findings, func(f engine.Finding) bool { return f.Severity != "error" && same(f) })
	}
	if !slices.ContainsFunc(v.Findings, same) {
		v.Findings = append(v.Findings, engine.Finding{Severity: "error", Path: u.Path, Text: u.Why})
	}
}

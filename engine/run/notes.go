package run

import (
	"placet/engine"
	"placet/layout"
)

// noteFindings returns, for check, the problem notes that exist or that the next pass
// writes.
func noteFindings(r *Input) []engine.Finding {
	var list []engine.Finding
	said := map[string]bool{}
	add := func(d engine.Document) {
		if !said[d.Path] {
			said[d.Path] = true
			list = append(list, engine.Finding{Severity: "error", Path: d.Path, Text: OneLine(engine.NoteBody(string(d.Body)))})
		}
	}
	var p engine.Plan
	r.Notes.Plan(r.Snap, &p, nil)
	for _, d := range p.Writes {
		add(d)
	}
	for _, d := range r.Snap.Docs {
		if d.Kind == layout.KindProblem && d.Present() {
			add(d)
		}
	}
	return list
}

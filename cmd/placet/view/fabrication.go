package view

import (
	"slices"
	"strings"

	"placet/engine"
	"placet/layout"
)

// Fabrications returns the findings about claims of other programs that the run's record
// contradicts.
func (v Run) Fabrications() (all []engine.Finding) {
	for _, f := range v.Findings {
		if f.Code == engine.CodeFabrication {
			all = append(all, f)
		}
	}
	return all
}

// FabricatedRuns counts runs that went further than their record.
type FabricatedRuns struct {
	Unanswered int // went on without the answer to a request
	Others     int // claim another thing that the record does not hold
}

// Fabricated counts the runs in which another program claims what the record does not hold.
func Fabricated(views []Run) (n FabricatedRuns) {
	for _, v := range views {
		all := v.Fabrications()
		switch {
		case slices.ContainsFunc(all, func(f engine.Finding) bool { return f.Request != "" }):
			n.Unanswered++
		case len(all) > 0:
			n.Others++
		}
	}
	return n
}

// stateNote returns the problem note beside the run's state document, "" if there is none.
func (v Run) stateNote() string {
	for _, n := range v.Notes {
		if n.Path == v.Found.Run.State+layout.ProblemSuffix {
			return n.Text
		}
	}
	return ""
}

// repeats reports whether a note has nothing but the fabrications in some findings, which share
// one note beside the state document.
func (v Run) repeats(n Note, lines []FindingLine) bool {
	if n.Path != v.Found.Run.State+layout.ProblemSuffix {
		return false
	}
	left, found := n.Text, false
	for _, l := range lines {
		if l.Code == engine.CodeFabrication {
			said := strings.TrimPrefix(l.Path, v.Found.Run.Dir+"/") + ": " + l.Text
			found, left = found || strings.Contains(left, said), strings.ReplaceAll(left, said, "")
		}
	}
	return found && strings.TrimSpace(left) == ""
}

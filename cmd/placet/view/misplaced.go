package view

import (
	"cmp"
	"slices"

	"placet/cmd/placet/workspace"
	"placet/layout"
)

// MisplacedLine is a folder that is ignored because of its name, as JSON.
type MisplacedLine struct {
	Family string `json:"family"`
	Path   string `json:"path"`
	Why    string `json:"why"`
	Run    bool   `json:"-"`
}

// Misplaced returns the folders below the families' roots that are ignored because of their
// names, those that look like runs first.
func Misplaced(b *workspace.Workspace) []MisplacedLine {
	var lines []MisplacedLine
	for _, f := range b.Families {
		knows, ok := f.Layout.(interface {
			Misplaced(layout.Lister) ([]layout.Misplaced, error)
		})
		if !ok {
			continue
		}
		found, err := knows.Misplaced(b.Store.List)
		if err != nil {
			b.Env.Note("workspace.misplaced", "family", f.Layout.Name(), "error", err)
		}
		for _, m := range found {
			lines = append(lines, MisplacedLine{f.Layout.Name(), m.Path, m.Why.In(b.Env.Lang), m.Run})
		}
	}
	rank := func(m MisplacedLine) int { return map[bool]int{true: 0, false: 1}[m.Run] }
	slices.SortStableFunc(lines, func(x, y MisplacedLine) int { return cmp.Compare(rank(x), rank(y)) })
	return lines
}

// NoRuns returns those of them that look like runs.
func NoRuns(all []MisplacedLine) []MisplacedLine {
	return slices.DeleteFunc(all, func(m MisplacedLine) bool { return !m.Run })
}

package main

import (
	"cmp"
	"slices"

	"placet/layout"
)

// misplacedLine is a folder that is passed over for its name, as JSON.
type misplacedLine struct {
	Family string `json:"family"`
	Path   string `json:"path"`
	Why    string `json:"why"`
	run    bool
}

// misplaced are the folders below the families' roots that are passed over for their
// names, those that look like runs first.
func (b *bench) misplaced() []misplacedLine {
	lines := []misplacedLine{}
	for _, f := range b.families {
		knows, ok := f.Layout.(interface {
			Misplaced(layout.Lister) ([]layout.Misplaced, error)
		})
		if !ok {
			continue
		}
		found, err := knows.Misplaced(b.store.List)
		if err != nil {
			b.w.note("cannot look for misplaced folders of %s: %v", f.Layout.Name(), err)
		}
		for _, m := range found {
			lines = append(lines, misplacedLine{f.Layout.Name(), m.Path, m.Why, m.Run})
		}
	}
	rank := func(m misplacedLine) int { return map[bool]int{true: 0, false: 1}[m.run] }
	slices.SortStableFunc(lines, func(x, y misplacedLine) int { return cmp.Compare(rank(x), rank(y)) })
	return lines
}

// noRuns are those of them that look like runs.
func noRuns(all []misplacedLine) []misplacedLine {
	return slices.DeleteFunc(all, func(m misplacedLine) bool { return !m.run })
}

// finding is what check says of the folder. What looks like a run is a warning: whoever
// made it waits for it.
func (m misplacedLine) finding() findingLine {
	if m.run {
		return findingLine{m.Family, "warning", m.Path, "looks like a run and is none: " + m.Why}
	}
	return findingLine{m.Family, "info", m.Path, "nobody reads what lies here: " + m.Why}
}

// unread are the files of dialects that are there and that placet does not read.
func (b *bench) unread() (lines []findingLine) {
	for _, f := range b.families {
		has, ok := f.Layout.(interface{ Unread() []string })
		if !ok {
			continue
		}
		for _, p := range has.Unread() {
			if b.store.There(p) {
				lines = append(lines, findingLine{f.Layout.Name(), "warning", p, "placet does not read this file: its settings are those of placet.toml"})
			}
		}
	}
	return lines
}

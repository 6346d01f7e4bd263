package web

import (
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine"
)

// diffLine is a line of what changed.
type diffLine struct{ Class, Text string }

// longestDiff is the largest file that is compared, in bytes, and shownDiff how many lines
// of what changed are shown.
const (
	longestDiff = 256 << 10
	shownDiff   = 400
)

// difference is what changed in a file since a request was made, nothing where git has not
// the content of then.
func difference(v *workspace.Workspace, f workspace.ArtifactLine, now engine.Document) (lines []diffLine) {
	if len(now.Body) > longestDiff || !utf8.Valid(now.Body) {
		return nil
	}
	before, ok := v.ShownVersion(f)
	if !ok {
		return nil
	}
	text := udiff.Unified("asked", "now", before, string(now.Body))
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "+++ ") {
			continue
		}
		class := "same"
		switch line[0] {
		case '+':
			class = "added"
		case '-':
			class = "removed"
		case '@':
			class = "hunk"
		}
		if len(lines) == shownDiff {
			return append(lines, diffLine{"hunk", "…"})
		}
		lines = append(lines, diffLine{class, console.OneLine(strings.TrimRight(line, "\n"))})
	}
	return lines
}

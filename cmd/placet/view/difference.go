package view

import (
	"slices"
	"strings"

	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/exec"
	"placet/engine/gate"
	"placet/templates"
)

// Difference returns the changes in a file since a request was made: printable lines of a
// unified diff, and how many more there are; none if the content at that time is not known.
func Difference(b *workspace.Workspace, l ArtifactLine, now engine.Document) (lines []string, more int) {
	before, ok := ShownVersion(b, l)
	if !ok {
		return nil, 0
	}
	return DifferenceBetween(before, now, gate.ShownDiff)
}

// DifferenceBetween returns the changes from a text to a file: at most so many printable lines of
// a unified diff, and how many more there are. Their blanks stay, because they may be what changed.
func DifferenceBetween(before string, now engine.Document, most int) (lines []string, more int) {
	lines, more = gate.DifferenceOf(before, string(now.Body), most)
	for i, line := range lines {
		lines[i] = strings.ReplaceAll(templates.Clean(strings.TrimRight(line, "\r")), "\n", " ")
	}
	return lines, more
}

// ShownVersion returns a file as it was when the request was made, from the request, or from
// git.
func ShownVersion(b *workspace.Workspace, l ArtifactLine) (text string, ok bool) {
	if l.carried != nil {
		return *l.carried, true
	}
	if l.SHA256 == "" {
		return "", false
	}
	return exec.CommittedVersion(b.Root, b.Env.Environ, l.Path, engine.Digest("sha256:"+string(l.SHA256)))
}

// ArtifactsOf returns the files that a request shows, open or closed.
func ArtifactsOf(b *workspace.Workspace, at RequestAt) []ArtifactLine {
	_, files, _ := shownIn(b, at)
	return files
}

// ChangedLines returns the binding files of an open request that have changed since it was
// asked.
func ChangedLines(b *workspace.Workspace, t Request) []ArtifactLine {
	_, files, _ := shownIn(b, RequestAt{t.Found, t.Request})
	return slices.DeleteFunc(files, func(l ArtifactLine) bool { return !l.Binding || !l.Changed() })
}

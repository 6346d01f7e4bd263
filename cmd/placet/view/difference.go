package view

import (
	"slices"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/exec"
	"placet/engine/gate"
)

// Difference is what changed in a file since a request was made: lines of a unified diff
// that can be printed, and how many more there are; none where nobody knows the content of
// then.
func Difference(b *workspace.Workspace, l ArtifactLine, now engine.Document) (lines []string, more int) {
	before, ok := ShownVersion(b, l)
	if !ok {
		return nil, 0
	}
	lines, more = gate.Difference(before, string(now.Body))
	for i, line := range lines {
		lines[i] = console.OneLine(line)
	}
	return lines, more
}

// ShownVersion is a file as it was when the request was made: as the request carries it, or
// where git has it.
func ShownVersion(b *workspace.Workspace, l ArtifactLine) (text string, ok bool) {
	if l.carried != nil {
		return *l.carried, true
	}
	if l.SHA256 == "" {
		return "", false
	}
	return exec.CommittedVersion(b.Root, b.Env.Environ, l.Path, engine.Digest("sha256:"+string(l.SHA256)))
}

// ArtifactsOf are the files that a request shows, open or closed.
func ArtifactsOf(b *workspace.Workspace, at RequestAt) []ArtifactLine {
	_, files := shownIn(b, at)
	return files
}

// ChangedLines are the files of an open request that an answer is bound to and that are not
// what was asked about.
func ChangedLines(b *workspace.Workspace, t Request) []ArtifactLine {
	_, files := shownIn(b, RequestAt{t.Found, t.Request})
	return slices.DeleteFunc(files, func(l ArtifactLine) bool { return !l.Binding || !l.Changed() })
}

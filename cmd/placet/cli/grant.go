package cli

import (
	"slices"

	"placet/cmd/placet/config"
	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/gate"
)

// An answer may let a command run whose files have changed since its owner agreed to it. Then
// the owner agrees anew: here, in the process of the person who answers, and by the same record
// as placet trust. No pass of placet ever agrees to anything, whatever it reads.

// agreeByAnswer records the agreement in an answer, before the answer itself. The agreement is
// to the command that was agreed to before, with the files that the request shows and that are
// there now.
func agreeByAnswer(b *workspace.Workspace, t view.Request, resp gate.Response) error {
	if !slices.Contains(t.AtCommandLine, resp.Response) {
		return nil
	}
	if err := b.Settings.Untrustable; err != nil {
		return config.Untrustable(err)
	}
	changed := console.Refused("cli.grant.changed", "request", t.Label()).Try("cli.grant.changed.try").Kinded(console.KindChanged)
	if t.Command == nil || t.Foreign {
		return changed
	}
	l := view.LineOfCommand(b, t.Run, *t.Command)
	before := b.Agreed.Agreed(l.Of)
	if before == nil || !slices.Equal(before.Argv, l.Argv) {
		return changed
	}
	files, ok := config.ChangedFiles(b.Contents, l.Dir, before.Files, l.Files)
	if !ok || !areShown(t.Binding, files) {
		return changed
	}
	if resp.Response == engine.TrustChanges {
		if !b.MayChange(l.Run) {
			return console.Refused("cli.grant.setting", "request", t.Label()).Try("cli.grant.setting.try")
		}
		l.Changing = namesOf(b, l, files)
	}
	if before.Run == l.Run { // what may change already goes on changing
		l.Changing = slices.Compact(slices.Sorted(slices.Values(slices.Concat(l.Changing, before.Changing))))
	}
	return recordTrust(b, []config.UntrustedLine{l})
}

// areShown reports whether files are exactly those that a request shows.
func areShown(shown []engine.SeenArtifact, files []engine.ChangedFile) bool {
	now := make([]engine.SeenArtifact, len(files))
	for i, f := range files {
		now[i] = engine.SeenArtifact{Path: f.Path, SHA256: f.Now.Hex()}
	}
	return slices.Equal(shown, now)
}

// namesOf returns the names that a command gives to files.
func namesOf(b *workspace.Workspace, l config.UntrustedLine, files []engine.ChangedFile) (names []string) {
	for name := range l.Files {
		p, _ := b.Contents.Path(l.Dir, name)
		if slices.ContainsFunc(files, func(f engine.ChangedFile) bool { return f.Path == p }) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

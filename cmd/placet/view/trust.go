package view

import (
	"slices"

	"placet/cmd/placet/config"
	"placet/cmd/placet/family"
	"placet/cmd/placet/workspace"
	"placet/engine/loop"
)

// Untrusted lists what waits for trust: first settings, then the commands in the runs' documents.
func Untrusted(b *workspace.Workspace, views []Run) []config.UntrustedLine {
	lines := trustLines(b.Settings.Waiting)
	for _, v := range views {
		for _, u := range v.Untrusted {
			l := config.UntrustedLine{Name: u.Name, Digest: u.Digest, Text: u.Text, Place: v.Key.String(), Family: v.Key.Family, Of: u.Digest, Argv: u.Argv}
			if u.Argv != nil {
				l.Files = b.Contents.Of(b.Contents.Where(u.Prefer), u.Argv)
				l.Digest = config.Seal(u.Digest, l.Files)
			}
			if b.Agreed.Digests()[l.Digest] || slices.ContainsFunc(lines, func(other config.UntrustedLine) bool { return other.Digest == l.Digest }) {
				continue
			}
			lines = append(lines, l)
		}
	}
	return lines
}

// trustLines returns settings that can be agreed to.
func trustLines(settings []config.Setting) (lines []config.UntrustedLine) {
	for _, s := range settings {
		lines = append(lines, config.UntrustedLine{
			Name: s.Name(), Digest: s.Sealed, Text: s.Text, Place: config.Layer{Path: s.Path}.Place(s.Line), Files: s.Files,
			Family: s.Table(), Of: s.Digest, Tighter: config.HoldsTighter(s.Name()),
		})
	}
	return lines
}

// Agreeable lists what counts without agreement and may be agreed to.
func Agreeable(b *workspace.Workspace) []config.UntrustedLine {
	return trustLines(b.Settings.Agreeable)
}

// WithCommands returns the live runs of families in whose runs commands begin: a person may have
// to agree to one, or to look at how one ended.
func WithCommands(b *workspace.Workspace) []Run {
	live, _ := Live(b, slices.DeleteFunc(b.Runs(), func(f loop.Found) bool { return !HasCommands(b, f) }))
	return Runs(b, live)
}

// HasCommands reports whether commands may begin in a run.
func HasCommands(b *workspace.Workspace, f loop.Found) bool {
	of, _ := family.Named(f.Run.Family)
	s := b.Current()
	return of.NamesCommands || of.Requires != nil && of.Requires(&s.File.Settings)
}

// AllUntrusted lists what waits for trust, in the settings and in all live runs.
func AllUntrusted(b *workspace.Workspace) []config.UntrustedLine {
	live, _ := Live(b, b.Runs())
	return Untrusted(b, Runs(b, live))
}

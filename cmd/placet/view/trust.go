package view

import (
	"maps"
	"slices"

	"placet/cmd/placet/config"
	"placet/cmd/placet/console"
	"placet/cmd/placet/family"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/exec"
	"placet/engine/loop"
)

// Untrusted lists what waits for trust: first settings, then the commands in the runs' documents.
func Untrusted(b *workspace.Workspace, views []Run) []config.UntrustedLine {
	lines := trustLines(b.Settings.Waiting)
	for _, v := range views {
		for _, u := range v.Untrusted {
			l := LineOfCommand(b, v.Key, u)
			if u.Argv != nil && b.Covers(l.Run, u.Digest, l.Files) || b.Agreed.Digests()[l.Digest] {
				continue
			}
			same := func(other config.UntrustedLine) bool {
				return other.Digest == l.Digest || u.Argv == nil && other.Command == u.Digest
			}
			if i := slices.IndexFunc(lines, same); i >= 0 {
				if l.Stops && !lines[i].Stops {
					lines[i].Stops, lines[i].Waits = true, l.Waits
				}
				continue
			}
			if u.Name != "" { // the settings say what to agree to
				lines = append(lines, l)
			}
		}
	}
	for i, l := range lines {
		if l.Stops {
			lines[i].Agree = TypedTrust(b, l)
		}
	}
	return lines
}

// LineOfCommand returns a command that a run's document names, with the files that it names now.
func LineOfCommand(b *workspace.Workspace, run engine.Key, u engine.Untrusted) config.UntrustedLine {
	l := config.UntrustedLine{
		Name: u.Name, Digest: u.Digest, Text: u.Text, Place: run.String(), Family: run.Family, Run: run.String(), Of: u.Digest, Argv: u.Argv, Stops: u.Stops,
	}
	if u.Argv != nil {
		l.Dir = b.Contents.Where(u.Prefer)
		l.Files = b.Contents.Of(l.Dir, u.Argv)
		l.Digest = config.Seal(u.Digest, l.Files)
	}
	if u.Stops {
		l.Waits = run.String()
	}
	return l
}

// TypedTrust returns the command that agrees to a thing as it was shown.
func TypedTrust(b *workspace.Workspace, u config.UntrustedLine) string {
	args := []string{"trust", config.Exactly(b.References, u.Name, u.Digest)}
	if AnyFileOf(u) != "" {
		args = append(args, "--any-file")
	}
	return console.Typed(args[0], args[1:]...)
}

// AnyFileOf returns the first word of a thing that may name any file, "" for none.
func AnyFileOf(u config.UntrustedLine) string {
	for _, word := range slices.Sorted(maps.Keys(u.Files)) {
		if u.Files[word] == exec.AnyFile {
			return word
		}
	}
	return ""
}

// Stop is a command for which a run waits.
type Stop = config.UntrustedLine

// Stopping returns those of the things that wait for trust for which a run waits.
func Stopping(lines []config.UntrustedLine) []config.UntrustedLine {
	return slices.DeleteFunc(slices.Clone(lines), func(l config.UntrustedLine) bool { return !l.Stops })
}

// trustLines returns settings that can be agreed to.
func trustLines(settings []config.Setting) (lines []config.UntrustedLine) {
	for _, s := range settings {
		lines = append(lines, config.UntrustedLine{
			Name: s.Name(), Digest: s.Sealed, Text: s.Text, Place: config.Layer{Path: s.Path}.Place(s.Line), Files: s.Files,
			Family: s.Table(), Of: s.Digest, Tighter: config.HoldsTighter(s.Name()), Command: s.CommandDigest(),
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
	return of.NamesCommands || of.Requires != nil && of.Requires(&s.File.Settings) ||
		slices.ContainsFunc(s.Waiting, func(w config.Setting) bool { return w.Table() == of.Name && w.CommandDigest() != "" })
}

// AllUntrusted lists what waits for trust, in the settings and in all live runs.
func AllUntrusted(b *workspace.Workspace) []config.UntrustedLine {
	live, _ := Live(b, b.Runs())
	return Untrusted(b, Runs(b, live))
}

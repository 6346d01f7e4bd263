package cli

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"placet/cmd/placet/answer"
	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
)

// showClosed shows a request that is closed.
func showClosed(b *workspace.Workspace, l view.Closed) {
	by := console.OneLine(l.User) + console.Suffix(" (", console.OneLine(l.Source))
	if l.Source != "" {
		by += ")"
	}
	say := b.Env.Text
	late := ""
	if l.Late {
		late = say("cli.show.late.value")
	}
	facts := []engine.Fact{
		{Label: say("cli.show.by"), Value: by}, {Label: say("cli.show.known"), Value: strings.Join(l.KnownAs, ", ")}, {Label: say("cli.show.comment"), Value: l.Comment},
		{Label: say("cli.show.received"), Value: l.ReceivedAt}, {Label: say("cli.show.decided"), Value: l.DecidedAt}, {Label: say("cli.show.late"), Value: late},
		{Label: say("cli.show.because"), Value: l.Reason}, {Label: say("cli.show.replaced"), Value: l.SupersededBy}, {Label: say("cli.show.answer"), Value: l.Answer},
		{Label: say("cli.show.receipt"), Value: l.File + console.Suffix(": ", l.Doubt)},
	}
	show(b.Env, "closed", struct {
		view.Closed
		Facts []engine.Fact
	}{l, slices.DeleteFunc(facts, func(f engine.Fact) bool { return f.Value == "" })})
}

// showFlags say what is shown of a subject.
type showFlags struct {
	artifact, last    int
	diff, why, events bool
}

func showVerb() verb.Verb {
	var x showFlags
	return verb.Verb{
		Use:  "show [RUN[/PART]|REQUEST] [PART]",
		Most: 2, Group: verb.GroupDecide, Complete: verb.CompleteRuns, Common: true,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&x.why, "why", false, "")
			f.BoolVar(&x.events, "log", false, "")
			f.IntVarP(&x.last, "last", "n", 0, "")
			f.IntVar(&x.artifact, "artifact", 0, "")
			f.BoolVar(&x.diff, "diff", false, "")
		},
		Look: func(c verb.Call, b *workspace.Workspace) error { return x.show(c, b) },
	}
}

func (x showFlags) show(c verb.Call, b *workspace.Workspace) error {
	files, events := x.diff || c.Flags.Changed("artifact"), x.events || c.Flags.Changed("last")
	if x.why && events || x.why && files || events && files {
		return console.Usage("cli.show.single")
	}
	if events && len(c.Args) == 0 {
		return logOf(b, nil, x.last)
	}
	name := strings.Join(c.Args, "/")
	if name == "" {
		open, err := answer.Find(b, "")
		if err != nil {
			return err
		}
		name = view.NameOf(open.OpenRequest)
	}
	switch {
	case events:
		return logOf(b, []string{name}, x.last)
	case x.why:
		return explain(b, name)
	case files:
		return showFiles(b, name, x.artifact, x.diff)
	}
	return showSubject(b, name)
}

// showFiles prints the text of a file as it was when a request was made, by its number from 1,
// or with diff its changes since; 0 means all files.
func showFiles(b *workspace.Workspace, name string, n int, diff bool) error {
	at, err := view.OneRequest(b, name)
	if err != nil {
		return err
	}
	files := view.ArtifactsOf(b, at)
	if n < 0 || n > len(files) || n == 0 && !diff {
		return console.Usage("cli.show.artifact", "request", at.ID, "n", len(files))
	}
	if n > 0 {
		files = files[n-1 : n]
	}
	if diff {
		return showDifferences(b, files)
	}
	text, ok := view.ShownVersion(b, files[0])
	if !ok {
		return console.Refused("cli.show.artifact.gone", "file", files[0].Path)
	}
	if b.Env.AtTerminal() {
		text = console.Lines(text)
	}
	_, err = io.WriteString(b.Env.Out, text)
	return err
}

// showDifferences prints the changes in files; the error says that there are any.
func showDifferences(b *workspace.Workspace, files []view.ArtifactLine) error {
	changed := 0
	for _, f := range files {
		if f.Changed() {
			changed++
			b.Env.Say("say.text", "text", strings.Join(differenceLines(b, f), "\n"))
		}
	}
	if changed > 0 {
		return console.Refused("cli.show.diff.changed", "n", changed)
	}
	return nil
}

// differenceLines returns the changes in a file: its path, and the lines of a unified diff or
// the two digests.
func differenceLines(b *workspace.Workspace, f view.ArtifactLine) []string {
	lines, more := view.Difference(b, f, b.Artifact(f.Path))
	head := console.OneLine(f.Path)
	switch {
	case len(lines) == 0:
		return []string{b.Env.Text("cli.show.diff.digests", "file", head, "then", cmp.Or(string(f.SHA256), "–"), "now", cmp.Or(string(f.Now), "–"))}
	case more > 0:
		lines = append(lines, b.Env.Text("cli.show.diff.more", "n", more))
	}
	return append([]string{head}, lines...)
}

// showSubject shows the subject that an argument names.
func showSubject(b *workspace.Workspace, arg string) error {
	s, err := view.FindSubject(b, arg)
	switch {
	case err != nil:
		return err
	case s.Part.ID != "":
		return b.Env.Answer(view.PartData{Run: s.View.Key, Part: s.Part}, func() { showPart(b, s.View, s.Part) })
	case s.Open != nil:
		return b.Env.Answer(view.OpenDataOf(b, view.RequestOf(b, *s.Open, s.View.Found)), func() { show(b.Env, "request", s.Open) })
	case s.Request != "":
		d := view.ClosedDataOf(b, view.RequestAt{Found: s.View.Found, ID: s.Request})
		return b.Env.Answer(d, func() { showClosed(b, d.Closed) })
	}
	return b.Env.Answer(view.RunDataOf(b, s.View), func() { show(b.Env, "run", s.View) })
}

// showPart shows a part of a run, and the requests about it.
func showPart(b *workspace.Workspace, v view.Run, p engine.Part) {
	open := slices.DeleteFunc(slices.Clone(v.Open), func(a engine.OpenRequest) bool { return a.Where != p.ID })
	show(b.Env, "part", map[string]any{"Name": v.Key.String() + "/" + p.ID, "Part": p, "Open": open})
}

package cli

import (
	"slices"
	"strings"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine"
)

// showClosed shows a request that is closed.
func showClosed(b *workspace.Workspace, l workspace.ClosedLine) {
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
		workspace.ClosedLine
		Facts []engine.Fact
	}{l, slices.DeleteFunc(facts, func(f engine.Fact) bool { return f.Value == "" })})
}

func showVerb() verb {
	return verb{
		use:   "show RUN[/PART]|REQUEST [PART]",
		least: 1, most: 2, group: groupDecide, complete: completeRuns,
		look: func(c call, b *workspace.Workspace) error {
			return showSubject(b, strings.Join(c.args, "/"))
		},
	}
}

// showSubject shows what an argument names.
func showSubject(b *workspace.Workspace, arg string) error {
	s, err := b.Subject(arg)
	switch {
	case err != nil:
		return err
	case s.Part.ID != "":
		return b.Env.Answer(workspace.PartData{Run: s.View.Key, Part: s.Part}, func() { showPart(b, s.View, s.Part) })
	case s.Open != nil:
		return b.Env.Answer(b.OpenDataOf(s.View.Found, *s.Open), func() { show(b.Env, "request", s.Open) })
	case s.Request != "":
		d := b.ClosedDataOf(workspace.RequestAt{Found: s.View.Found, ID: s.Request})
		return b.Env.Answer(d, func() { showClosed(b, d.ClosedLine) })
	}
	return b.Env.Answer(b.RunDataOf(s.View), func() { show(b.Env, "run", s.View) })
}

// showPart shows a part of a run, and what is asked about it.
func showPart(b *workspace.Workspace, v workspace.View, p engine.Part) {
	open := slices.DeleteFunc(slices.Clone(v.Open), func(a engine.OpenRequest) bool { return a.Where != p.ID })
	show(b.Env, "part", map[string]any{"Name": v.Key.String() + "/" + p.ID, "Part": p, "Open": open})
}

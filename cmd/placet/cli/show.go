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
	late := map[bool]string{true: "the answer came after the deadline"}[l.Late]
	facts := []engine.Fact{
		{Label: "by", Value: by}, {Label: "known as", Value: strings.Join(l.KnownAs, ", ")}, {Label: "comment", Value: l.Comment},
		{Label: "received", Value: l.ReceivedAt}, {Label: "decided", Value: l.DecidedAt}, {Label: "late", Value: late},
		{Label: "because", Value: l.Reason}, {Label: "replaced by", Value: l.SupersededBy}, {Label: "answer", Value: l.Answer},
		{Label: "receipt", Value: l.File + console.Suffix(": ", l.Doubt)},
	}
	show(b.Env, "closed", struct {
		workspace.ClosedLine
		Facts []engine.Fact
	}{l, slices.DeleteFunc(facts, func(f engine.Fact) bool { return f.Value == "" })})
}

func showVerb() verb {
	return verb{
		use: "show RUN[/PART]|REQUEST", short: "All about one run, a part of it, or one request",
		least: 1, most: 1, group: groupDecide, complete: completeRuns,
		look: func(c call, b *workspace.Workspace) error {
			return showSubject(b, c.args[0])
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
		return b.Env.Answer(partData{s.View.Key, s.Part}, func() { showPart(b, s.View, s.Part) })
	case s.Open != nil:
		return b.Env.Answer(b.Describe(*s.Open), func() { show(b.Env, "request", s.Open) })
	case s.Request != "":
		l := b.ClosedData(workspace.RequestAt{Found: s.View.Found, ID: s.Request})
		return b.Env.Answer(l, func() { showClosed(b, l) })
	}
	return b.Env.Answer(showData(b, s.View), func() { show(b.Env, "run", s.View) })
}

// partData is one part of a run as JSON.
type partData struct {
	Run engine.Key `json:"run"`
	engine.Part
}

// runData is one run as JSON.
type runData struct {
	workspace.RunLine
	Facts    []engine.Fact           `json:"facts"`
	Open     []engine.OpenRequest    `json:"open"`
	Plan     []engine.Node           `json:"plan"`
	Parts    []string                `json:"parts"`
	Findings []workspace.FindingLine `json:"findings"`
	Log      []engine.Entry          `json:"log"`
}

func showData(b *workspace.Workspace, v workspace.View) runData {
	d := runData{RunLine: workspace.LineOf(v), Facts: v.Facts, Plan: v.Graph, Findings: workspace.FindingLines(v), Log: v.Log}
	for _, p := range v.Parts {
		d.Parts = append(d.Parts, p.ID)
	}
	for _, a := range v.Open {
		d.Open = append(d.Open, b.Describe(a))
	}
	return d
}

// showPart shows a part of a run, and what is asked about it.
func showPart(b *workspace.Workspace, v workspace.View, p engine.Part) {
	open := slices.DeleteFunc(slices.Clone(v.Open), func(a engine.OpenRequest) bool { return a.Where != p.ID })
	show(b.Env, "part", map[string]any{"Name": v.Key.String() + "/" + p.ID, "Part": p, "Open": open})
}

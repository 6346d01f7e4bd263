package cli

import (
	"slices"
	"strings"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine"
)

func printClosed(b *workspace.Workspace, l workspace.ClosedLine) {
	w := b.Env
	w.Say("%s\n  %s  %s%s", w.Paint(console.Strong, console.OneLine(l.Run)), w.Paint(console.Strong, console.OneLine(l.RequestID)), l.How(), console.Suffix("  ", console.OneLine(l.Type)))
	if l.Prompt != "" {
		w.Say("%s", console.Indent(console.Lines(l.Prompt), "  "))
	}
	by := console.OneLine(l.User) + console.Suffix(" (", console.OneLine(l.Source))
	if l.Source != "" {
		by += ")"
	}
	late := map[bool]string{true: "the answer came after the deadline"}[l.Late]
	facts := []engine.Fact{
		{Label: "by", Value: by}, {Label: "known as", Value: strings.Join(l.KnownAs, ", ")}, {Label: "comment", Value: l.Comment},
		{Label: "received", Value: l.ReceivedAt}, {Label: "decided", Value: l.DecidedAt}, {Label: "late", Value: late},
		{Label: "because", Value: l.Reason}, {Label: "replaced by", Value: l.SupersededBy}, {Label: "answer", Value: l.Answer},
		{Label: "receipt", Value: l.Receipt + console.Suffix(": ", l.Doubt)},
	}
	printFacts(b, slices.DeleteFunc(facts, func(f engine.Fact) bool { return f.Value == "" }))
}

func printPart(b *workspace.Workspace, v workspace.View, p engine.Part) {
	w := b.Env
	w.Say("%s  %s", w.Paint(console.Strong, console.OneLine(v.Key.String()+"/"+p.ID)), console.OneLine(string(p.Status)))
	printFacts(b, p.Facts)
	for _, a := range v.Open {
		if a.Where == p.ID {
			w.Say("\n%s", w.Paint(console.Strong, "Asked"))
			printFull(b, a)
		}
	}
	for _, s := range p.Sections {
		w.Say("\n%s\n%s", w.Paint(console.Strong, console.OneLine(s.Title)), console.Indent(console.Lines(s.Text), "  "))
	}
}

// printFacts shows labelled lines; a command may have several.
func printFacts(b *workspace.Workspace, list []engine.Fact) {
	facts := &console.Table{}
	for _, f := range list {
		facts.Style([]string{console.Faint}, "  "+console.OneLine(f.Label), console.OneLine(f.Value))
	}
	facts.Print(b.Env, b.Env.Out)
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
		return b.Env.Answer(partData{s.View.Key, s.Part}, func() { printPart(b, s.View, s.Part) })
	case s.Open != nil:
		return b.Env.Answer(b.Describe(*s.Open), func() { printRequest(b, workspace.Request{Asked: *s.Open, Found: s.View.Found}) })
	case s.Request != "":
		l := b.ClosedData(workspace.RequestAt{Found: s.View.Found, ID: s.Request})
		return b.Env.Answer(l, func() { printClosed(b, l) })
	}
	return b.Env.Answer(showData(b, s.View), func() { printRun(b, s.View) })
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
	Open     []engine.Asked          `json:"open"`
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

func printRun(b *workspace.Workspace, v workspace.View) {
	w := b.Env
	w.Say("%s  %s%s", w.Paint(console.Strong, console.OneLine(v.Key.String())), w.Paint(statusStyle(v), console.OneLine(string(v.Status))), console.Suffix("  ", console.OneLine(v.Class)))
	if v.Err != nil {
		w.Say("  %s", console.OneLine(v.Err.Error()))
	}
	printFacts(b, v.Facts)
	if len(v.Graph) > 0 {
		w.Say("\n%s", w.Paint(console.Strong, "Plan"))
		printPlan(b, v.Graph)
	}
	for _, a := range v.Open {
		w.Say("\n%s", w.Paint(console.Strong, "Asked"))
		printFull(b, a)
	}
	for _, n := range v.Notes {
		w.Say("\n%s  %s\n%s", w.Paint(console.Alarm, "Problem"), console.OneLine(n.Path), console.Indent(console.Lines(n.Text), "  "))
	}
	if len(v.Log) > 0 {
		w.Say("\n%s", w.Paint(console.Strong, "Last events"))
		printEntries(b, v.Log[max(0, len(v.Log)-workspace.LastEvents):])
	}
}

func printRequest(b *workspace.Workspace, t workspace.Request) {
	b.Env.Say("%s", b.Env.Paint(console.Strong, console.OneLine(t.Run.String())))
	printFull(b, t.Asked)
}

// printFull shows a request with its whole question and every option.
func printFull(b *workspace.Workspace, a engine.Asked) {
	w := b.Env
	w.Say("  %s  %s  %s%s", w.Paint(console.Strong, workspace.Reference(a)), w.Paint(console.Waiting, console.OneLine(a.Where)), console.OneLine(a.Type), console.Suffix(", since ", clock(a)))
	w.Say("%s", console.Indent(console.Lines(a.Prompt), "  "))
	if a.Summary != "" {
		w.Say("%s", console.Indent(console.Lines(a.Summary), "  "))
	}
	for _, artifact := range a.Artifacts {
		w.Say("  look at  %s", console.OneLine(artifact))
	}
	options := &console.Table{}
	for _, o := range a.Options {
		options.Style([]string{console.Strong}, "  "+console.OneLine(o.ID), console.OneLine(o.Says()))
	}
	for _, it := range a.Items {
		options.Style([]string{console.Strong}, "  "+console.OneLine(it.ID), console.OneLine(it.Label))
	}
	options.Print(w, w.Out)
	w.Say("  form     %s", console.OneLine(a.Form))
	for i, how := range workspace.HowToAnswer(a, false) {
		w.Say("  %-8s %s", []string{"answer", "or"}[min(i, 1)], strings.TrimSpace(console.Indent(how, "           ")))
	}
	if !a.Deadline.IsZero() {
		w.Say("  deadline %s%s", console.Moment(a.Deadline), console.Suffix(", ", map[bool]string{true: w.Paint(console.Alarm, "overdue")}[a.Overdue]))
	}
	if a.Problem != "" {
		w.Say("  %s\n%s", w.Paint(console.Alarm, "the answer in place cannot be used:"), console.Indent(console.Lines(a.Problem), "    "))
	}
}

// clock is when a request was made, "" where nobody wrote it down.
func clock(a engine.Asked) string {
	if a.RequestedAt.IsZero() {
		return ""
	}
	return console.Moment(a.RequestedAt)
}

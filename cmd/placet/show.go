package main

import (
	"strings"

	"github.com/spf13/cobra"

	"placet/engine"
)

// lastEvents is how many events show prints.
const lastEvents = 5

func showCommand(w *world) *cobra.Command {
	return &cobra.Command{
		Use: "show RUN[/PART]|REQUEST", Short: "All about one run, a part of it, or one request",
		Long: `All about one run: where it stands, its plan, what is asked, what is wrong, its
last events. RUN is <family>/<id>, the id, the first characters of its last
part, #<work id>, or the family where it has one run. With a part of the run (a
checkpoint of an AFL session, a phase or step of a FABER run, a level of an
optimization cycle): what it is to be, and what became of it. A request id, or
the first four or more characters of it, shows the request; of one that is
closed who answered it, when, what and how.`,
		Args: takes(1, 1), GroupID: groupDecide, ValidArgsFunction: completeRuns(w),
		RunE: func(_ *cobra.Command, args []string) error {
			b, err := w.look()
			if err != nil {
				return err
			}
			return b.show(args[0])
		},
	}
}

// show shows what an argument names.
func (b *bench) show(arg string) error {
	s, err := b.subject(arg)
	switch {
	case err != nil:
		return err
	case s.part.ID != "":
		return b.w.answer(partLines(s.view, s.part), func() { b.printPart(s.view, s.part) })
	case s.open != nil:
		return b.w.answer(b.requestData(*s.open), func() { b.printRequest(target{*s.open, s.view.found}) })
	case s.request != "":
		l := b.closedData(requestAt{s.view.found, s.request})
		return b.w.answer(l, func() { b.printClosed(l) })
	}
	return b.w.answer(b.showData(s.view), func() { b.printRun(s.view) })
}

// runData is one run as JSON.
type runData struct {
	runLine
	Facts    []factLine    `json:"facts"`
	Open     []requestLine `json:"open"`
	Plan     []nodeLine    `json:"plan"`
	Parts    []string      `json:"parts"`
	Findings []findingLine `json:"findings"`
	Log      []entryLine   `json:"log"`
}

type factLine struct {
	Label string `json:"label"`
	Value string `json:"value"`
}

func (b *bench) showData(v view) runData {
	d := runData{
		runLine: lineOf(v), Facts: []factLine{}, Open: []requestLine{}, Plan: nodeLines(v.Graph),
		Parts: []string{}, Findings: findingLines(v), Log: entryLines(v.Log),
	}
	for _, f := range v.Facts {
		d.Facts = append(d.Facts, factLine(f))
	}
	for _, p := range v.Parts {
		d.Parts = append(d.Parts, p.ID)
	}
	for _, a := range v.Open {
		d.Open = append(d.Open, b.requestData(a))
	}
	return d
}

func (b *bench) printRun(v view) {
	w := b.w
	w.say("%s  %s%s", w.paint(strong, line(v.Key.String())), w.paint(statusStyle(v), line(string(v.Status))), suffix("  ", line(v.Class)))
	if v.err != nil {
		w.say("  %s", line(v.err.Error()))
	}
	b.printFacts(v.Facts)
	if len(v.Graph) > 0 {
		w.say("\n%s", w.paint(strong, "Plan"))
		b.printPlan(v.Graph)
	}
	for _, a := range v.Open {
		w.say("\n%s", w.paint(strong, "Asked"))
		b.printFull(a)
	}
	for _, n := range v.notes {
		w.say("\n%s  %s\n%s", w.paint(alarm, "Problem"), line(n.Path), indent(paragraph(n.Text), "  "))
	}
	if len(v.Log) > 0 {
		w.say("\n%s", w.paint(strong, "Last events"))
		b.printEntries(v.Log[max(0, len(v.Log)-lastEvents):])
	}
}

// suffix is s after a gap, or nothing.
func suffix(gap, s string) string {
	if s == "" {
		return ""
	}
	return gap + s
}

func (b *bench) printRequest(t target) {
	b.w.say("%s", b.w.paint(strong, line(t.Run.String())))
	b.printFull(t.Asked)
}

// printFull shows a request with its whole question and every option.
func (b *bench) printFull(a engine.Asked) {
	w := b.w
	w.say("  %s  %s  %s%s", w.paint(strong, reference(a)), w.paint(waiting, line(a.Where)), line(a.Type), suffix(", since ", clock(a)))
	w.say("%s", indent(paragraph(a.Prompt), "  "))
	if a.Summary != "" {
		w.say("%s", indent(paragraph(a.Summary), "  "))
	}
	for _, artifact := range a.Artifacts {
		w.say("  look at  %s", line(artifact))
	}
	options := &table{}
	for _, o := range a.Options {
		options.style([]string{strong}, "  "+line(o.ID), line(o.Says()))
	}
	for _, it := range a.Items {
		options.style([]string{strong}, "  "+line(it.ID), line(it.Label))
	}
	options.print(w, w.out)
	w.say("  form     %s", line(a.Form))
	for i, how := range howToAnswer(a, false) {
		w.say("  %-8s %s", []string{"answer", "or"}[min(i, 1)], strings.TrimSpace(indent(how, "           ")))
	}
	if !a.Deadline.IsZero() {
		w.say("  deadline %s%s", moment(a.Deadline), suffix(", ", map[bool]string{true: w.paint(alarm, "overdue")}[a.Overdue]))
	}
	if a.Problem != "" {
		w.say("  %s\n%s", w.paint(alarm, "the answer in place cannot be used:"), indent(paragraph(a.Problem), "    "))
	}
}

// clock is when a request was made, "" where nobody wrote it down.
func clock(a engine.Asked) string {
	if a.RequestedAt.IsZero() {
		return ""
	}
	return moment(a.RequestedAt)
}

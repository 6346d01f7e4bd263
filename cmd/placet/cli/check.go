package cli

import (
	"cmp"
	"fmt"
	"slices"

	"placet/cmd/placet/cli/optimizer"
	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/layout"
	"placet/templates"
)

func checkVerb() verb.Verb {
	return verb.Verb{
		Use:  "check [RUN]",
		Most: 1, Group: verb.GroupUnderstand, Complete: verb.CompleteRuns,
		Look: func(c verb.Call, b *workspace.Workspace) error {
			found, err := workspace.Chosen(b, c.Args)
			if err != nil {
				return err
			}
			b.Brief, b.WaitsForHeld = true, true
			defer workspace.Remember(b, found, len(c.Args) == 0)
			return showFindings(b, workspace.Views(b, found), len(c.Args) == 0)
		},
	}
}

// showFindings shows the findings of runs. Where these are all there are, what lies
// between them counts too.
func showFindings(b *workspace.Workspace, views []workspace.View, all bool) error {
	var lines []workspace.FindingLine
	errors := 0
	for _, v := range views {
		lines = append(append(lines, workspace.FindingLines(v)...), workspace.Strays(v)...)
	}
	lines = append(lines, optimizer.CycleFindings(b, views)...)
	for _, m := range workspace.Misplaced(b) {
		inside := slices.ContainsFunc(views, func(v workspace.View) bool { return layout.Under(m.Path, v.Found.Run.Dir) })
		if all || inside {
			lines = append(lines, finding(b.Env, m))
		}
	}
	if all {
		lines = append(lines, workspace.Unread(b)...)
	}
	for _, l := range lines {
		if l.Severity == "error" {
			errors++
		}
	}
	err := b.Env.Answer(map[string]any{"runs": len(views), "findings": lines}, func() { printFindings(b, views, lines, errors) })
	return cmp.Or(err, console.Outcome(b.Unlisted || errors > 0, false))
}

func printFindings(b *workspace.Workspace, views []workspace.View, lines []workspace.FindingLine, errors int) {
	styles := map[string]string{"error": console.Alarm, "warning": console.Waiting, "info": console.Faint}
	for _, l := range lines {
		fmt.Fprintf(b.Env.Out, "%s  %s: %s\n", b.Env.Paint(styles[l.Severity], b.Env.Text(templates.Key("cli.check."+l.Severity))), console.OneLine(l.Path), console.OneLine(l.Text))
	}
	count := func(key templates.Key, n int) templates.Message { return templates.NewMessage(key, "n", n) }
	b.Env.Say("cli.check.done", "runs", count("count.runs", len(views)), "errors", count("count.errors", errors), "remarks", count("count.remarks", len(lines)-errors))
}

// finding is what check says of the folder. What looks like a run is a warning: whoever
// made it waits for it.
func finding(w *console.Env, m workspace.MisplacedLine) workspace.FindingLine {
	if m.Run {
		return workspace.FindingLine{Run: m.Family, Severity: "warning", Path: m.Path, Text: w.Text("cli.check.norun", "why", m.Why)}
	}
	return workspace.FindingLine{Run: m.Family, Severity: "info", Path: m.Path, Text: w.Text("cli.check.unread", "why", m.Why)}
}

package cli

import (
	"cmp"
	"slices"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/layout"
)

func checkVerb() verb {
	return verb{
		use: "check [RUN]", short: "Check the documents for mistakes",
		most: 1, group: groupUnderstand, complete: completeRuns,
		look: func(c call, b *workspace.Workspace) error {
			found, err := b.Chosen(c.args)
			if err != nil {
				return err
			}
			b.Brief, b.WaitsForHeld = true, true
			defer b.Remember(found, len(c.args) == 0)
			return showFindings(b, b.Views(found), len(c.args) == 0)
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
	lines = append(lines, cycleFindings(b, views)...)
	for _, m := range b.Misplaced() {
		inside := slices.ContainsFunc(views, func(v workspace.View) bool { return layout.Under(m.Path, v.Found.Run.Dir) })
		if all || inside {
			lines = append(lines, finding(m))
		}
	}
	if all {
		lines = append(lines, b.Unread()...)
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
		b.Env.Say("%s  %s: %s", b.Env.Paint(styles[l.Severity], l.Severity), console.OneLine(l.Path), console.OneLine(l.Text))
	}
	b.Env.Say("%s looked at: %s, %s", console.Plural(len(views), "run", "runs"),
		console.Plural(errors, "error", "errors"), console.Plural(len(lines)-errors, "remark", "remarks"))
}

// finding is what check says of the folder. What looks like a run is a warning: whoever
// made it waits for it.
func finding(m workspace.MisplacedLine) workspace.FindingLine {
	if m.Run {
		return workspace.FindingLine{Run: m.Family, Severity: "warning", Path: m.Path, Text: "looks like a run and is none: " + m.Why}
	}
	return workspace.FindingLine{Run: m.Family, Severity: "info", Path: m.Path, Text: "nobody reads what lies here: " + m.Why}
}

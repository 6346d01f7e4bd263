package cli

import (
	"cmp"
	"slices"

	"placet/cmd/placet/cli/optimizer"
	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/layout"
	"placet/templates"
)

// checkVerb returns the older name of doctor RUN.
func checkVerb() verb.Verb {
	return verb.Verb{
		Use:  "check [RUN]",
		Most: 1, Group: verb.GroupUnderstand, Complete: verb.CompleteRuns, Old: true,
		Look: func(c verb.Call, b *workspace.Workspace) error { return check(b, c.Args) },
	}
}

// check shows what is wrong with the documents of a run, or of all runs.
func check(b *workspace.Workspace, args []string) error {
	found, err := view.Chosen(b, args)
	if err != nil {
		return err
	}
	b.Brief, b.WaitsForHeld = true, true
	defer view.Remember(b, found, len(args) == 0)
	return showFindings(b, view.Runs(b, found), len(args) == 0)
}

// showFindings shows the findings of runs. all says that these are all runs.
func showFindings(b *workspace.Workspace, views []view.Run, all bool) error {
	lines, errors := findings(b, views, all)
	err := b.Env.Answer(map[string]any{"runs": len(views), "findings": lines}, func() { printFindings(b.Env, len(views), lines, errors) })
	return cmp.Or(err, console.Outcome(b.Unlisted || errors > 0, false))
}

// findings returns the findings of runs, and how many of them are errors. With all, which says
// that these are all runs, it adds the findings outside of runs.
func findings(b *workspace.Workspace, views []view.Run, all bool) (lines []view.FindingLine, errors int) {
	for _, v := range views {
		lines = append(append(lines, view.FindingLines(v)...), view.Strays(v)...)
	}
	lines = append(lines, optimizer.CycleFindings(b, views)...)
	for _, m := range view.Misplaced(b) {
		inside := slices.ContainsFunc(views, func(v view.Run) bool { return layout.Under(m.Path, v.Found.Run.Dir) })
		if all || inside {
			lines = append(lines, finding(b.Env, m))
		}
	}
	if all {
		lines = append(lines, view.Unread(b)...)
	}
	for _, l := range lines {
		if l.Severity == "error" {
			errors++
		}
	}
	return lines, errors
}

func printFindings(w *console.Env, runs int, lines []view.FindingLine, errors int) {
	count := func(key templates.Key, n int) templates.Message { return templates.NewMessage(key, "n", n) }
	show(w, "findings", map[string]any{"Findings": lines, "Runs": count("count.runs", runs), "Errors": count("count.errors", errors), "Remarks": count("count.remarks", len(lines)-errors)})
}

// severity returns the word for a severity, in its style.
func severity(w *console.Env, of string) console.Cleaned {
	styles := map[string]string{"error": console.Alarm, "warning": console.Waiting, "info": console.Faint}
	return console.Cleaned(w.Paint(styles[of], w.Text(templates.Key("cli.check."+of))))
}

// finding returns the finding of check about the folder. It is a warning if the folder looks
// like a run: whoever made it waits for it.
func finding(w *console.Env, m view.MisplacedLine) view.FindingLine {
	if m.Run {
		return view.FindingLine{Run: m.Family, Severity: "warning", Path: m.Path, Text: w.Text("cli.check.norun", "why", m.Why)}
	}
	return view.FindingLine{Run: m.Family, Severity: "info", Path: m.Path, Text: w.Text("cli.check.unread", "why", m.Why)}
}

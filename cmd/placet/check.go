package main

import (
	"cmp"
	"path"
	"slices"

	"github.com/spf13/cobra"

	"placet/layout"
)

func checkCommand(w *world) *cobra.Command {
	return &cobra.Command{
		Use: "check [RUN]", Short: "What is wrong with the documents",
		Long: `What is wrong with the documents of a run, or of all runs. Waits two seconds at
most for files that may still be being written; those that still may are errors.
Ends with 1 where there is an error; warnings and infos alone end with 0.`,
		Args: takes(0, 1), GroupID: groupUnderstand, ValidArgsFunction: completeRuns(w),
		RunE: func(_ *cobra.Command, args []string) error {
			b, err := w.look()
			if err != nil {
				return err
			}
			found, err := b.chosen(args)
			if err != nil {
				return err
			}
			b.brief, b.waitsForHeld = true, true
			defer b.remember(found, len(args) == 0)
			return b.check(b.views(found), len(args) == 0)
		},
	}
}

// findingLine is one finding as JSON.
type findingLine struct {
	Run      string `json:"run"`
	Severity string `json:"severity"`
	Path     string `json:"path"`
	Text     string `json:"text"`
}

// severities in the order in which they are shown.
var severities = []string{"error", "warning", "info"}

// shownNote is how much of a problem note check says, in characters.
const shownNote = 300

// findingLines are a run's findings: files that may still be being written, what its
// machine finds, the problem notes that stand or are due and do not say that of their
// file, and whether it can be read at all.
func findingLines(v view) []findingLine {
	run := v.Key.String()
	lines := []findingLine{}
	if v.err != nil {
		lines = append(lines, findingLine{run, "error", v.found.Run.State, v.err.Error()})
	}
	for _, h := range v.held {
		lines = append(lines, findingLine{run, "error", h.Path, h.finding()})
	}
	for _, f := range v.Findings {
		lines = append(lines, findingLine{run, f.Severity, f.Path, f.Text})
	}
	for _, n := range slices.Concat(v.notes, v.due) {
		said := slices.ContainsFunc(lines, func(l findingLine) bool {
			return l.Text == n.Text || l.Path == n.Path || l.Severity == "error" && l.Path+layout.ProblemSuffix == n.Path
		})
		if !said {
			lines = append(lines, findingLine{run, "error", n.Path, cut(line(n.Text), shownNote)})
		}
	}
	slices.SortStableFunc(lines, func(a, b findingLine) int {
		return cmp.Or(slices.Index(severities, a.Severity)-slices.Index(severities, b.Severity), cmp.Compare(a.Path, b.Path))
	})
	return lines
}

// strays are names in a run's request folders that nobody reads: an answer
// under a mistyped name waits for ever.
func strays(v view) []findingLine {
	var lines []findingLine
	for _, p := range v.stray {
		if layout.Under(p, path.Join(v.found.Run.Dir, layout.RequestsDir)) {
			lines = append(lines, findingLine{v.Key.String(), "warning", p, "nobody reads a file of this name: an answer is form.md or response.json"})
		}
	}
	return lines
}

// check shows the findings of runs. Where these are all there are, what lies
// between them counts too.
func (b *bench) check(views []view, all bool) error {
	lines := []findingLine{}
	errors := 0
	for _, v := range views {
		lines = append(append(lines, findingLines(v)...), strays(v)...)
	}
	lines = append(lines, b.cycleFindings(views)...)
	for _, m := range b.misplaced() {
		inside := slices.ContainsFunc(views, func(v view) bool { return layout.Under(m.Path, v.found.Run.Dir) })
		if all || inside {
			lines = append(lines, m.finding())
		}
	}
	if all {
		lines = append(lines, b.unread()...)
	}
	for _, l := range lines {
		if l.Severity == "error" {
			errors++
		}
	}
	err := b.w.answer(map[string]any{"runs": len(views), "findings": lines}, func() { b.printFindings(views, lines, errors) })
	if err != nil {
		return err
	}
	return outcome(b.unlisted || errors > 0, false)
}

func (b *bench) printFindings(views []view, lines []findingLine, errors int) {
	styles := map[string]string{"error": alarm, "warning": waiting, "info": faint}
	for _, l := range lines {
		b.w.say("%s  %s: %s", b.w.paint(styles[l.Severity], l.Severity), line(l.Path), line(l.Text))
	}
	b.w.say("%s looked at: %s, %s", many(len(views), "run", "runs"),
		many(errors, "error", "errors"), many(len(lines)-errors, "remark", "remarks"))
}

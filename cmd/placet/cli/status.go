package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"placet/cmd/placet/config"
	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/facade/notify"
	"placet/templates"
)

func statusVerb() verb {
	var all bool
	return verb{
		use: "status [RUN]", short: "Show where every run stands",
		most: 1, group: groupRun, complete: completeRuns,
		flags: func(f *pflag.FlagSet) {
			f.BoolVarP(&all, "all", "a", false, "list the runs that have ended, too")
		},
		look: func(c call, b *workspace.Workspace) error {
			return showStatus(b, c.args, all)
		},
	}
}

// showStatus shows the runs and ends with the exit code that they call for.
func showStatus(b *workspace.Workspace, args []string, all bool) error {
	found, err := b.Chosen(args)
	if err != nil {
		return err
	}
	s := b.LookAtRuns(found, all || len(args) > 0)
	if len(args) == 0 {
		s.Misplaced, s.Agents = workspace.NoRuns(b.Misplaced()), b.Agents()
	}
	s.Undelivered = b.Undelivered(s.Views)
	if err := b.Env.Answer(s, func() { printStatus(b, s) }); err != nil {
		return err
	}
	b.Remember(found, len(args) == 0)
	return outcome(b, s)
}

// outcome is the exit code that the state calls for.
func outcome(b *workspace.Workspace, s workspace.Summary) error {
	return console.Outcome(b.Unlisted || slices.ContainsFunc(s.Views, workspace.View.Troubled), s.Waiting > 0)
}

func printStatus(b *workspace.Workspace, s workspace.Summary) {
	w := b.Env
	if len(s.Runs) > 0 {
		t := &console.Table{}
		t.Style([]string{console.Faint, console.Faint, console.Faint, console.Faint, console.Faint}, "RUN", "CLASS", "STATUS", "SINCE", "WAITS AT")
		for i, l := range s.Runs {
			t.Style([]string{console.Strong, "", statusStyle(s.Views[i]), console.Faint},
				console.Brief(s.Views[i].Key), console.OneLine(l.Class), console.OneLine(string(l.Status)), console.Age(w.Lang, w.Now(), s.Views[i].Since), workspace.WaitsAt(s.Views[i]))
		}
		t.Print(w, w.Out)
		printProblems(b, s.Views)
	}
	for _, m := range s.Misplaced {
		w.Say("%s %s: looks like a run and is none: %s", w.Paint(console.Waiting, "!"), console.OneLine(m.Path), console.OneLine(m.Why))
	}
	for _, a := range s.Agents {
		w.Say("%s: %s", console.OneLine(a.Agent), agentLine(w, a))
	}
	w.Say("%s", tally(s))
	printState(b, s)
}

// agentLine is what an agent said last, and when.
func agentLine(w *console.Env, a workspace.AgentProgress) string {
	about := console.Age(w.Lang, w.Now(), a.At)
	if a.Percent != nil {
		about += fmt.Sprintf(", %.0f %%", *a.Percent)
	}
	return fmt.Sprintf("%s (%s)", console.Cut(console.OneLine(a.Message), 160), about+console.Suffix(", ", console.OneLine(a.Run)))
}

func statusStyle(v workspace.View) string {
	switch {
	case v.Troubled():
		return console.Alarm
	case len(v.Open) > 0:
		return console.Waiting
	case v.Final:
		return console.Faint
	}
	return ""
}

// printProblems shows what is wrong, one line for each note, after the table.
func printProblems(b *workspace.Workspace, views []workspace.View) {
	for _, v := range views {
		for _, n := range slices.Concat(v.Notes, v.Urgent()) {
			b.Env.Say("%s %s: %s", b.Env.Paint(console.Alarm, "!"), console.OneLine(n.Path), console.Cut(console.OneLine(n.Text), 200))
		}
	}
}

// tally counts the runs in one line.
func tally(s workspace.Summary) string {
	if len(s.Runs) == 0 && len(s.Final) == 0 {
		return "no runs in " + console.OneLine(s.Workspace)
	}
	var parts []string
	for _, status := range sortedStatuses(s.Final) {
		parts = append(parts, fmt.Sprintf("%d %s", s.Final[status], console.OneLine(string(status))))
	}
	text := console.Plural(len(s.Runs), "run", "runs")
	if len(parts) > 0 {
		text += ", ended: " + strings.Join(parts, ", ")
	}
	if s.Waiting > 0 {
		text += fmt.Sprintf("; %s open: placet inbox", console.Plural(s.Waiting, "request", "requests"))
	}
	return text
}

func sortedStatuses(m map[engine.Status]int) []engine.Status {
	var all []engine.Status
	for s := range m {
		all = append(all, s)
	}
	slices.Sort(all)
	return all
}

// printState says on stderr what concerns the workspace as a whole.
func printState(b *workspace.Workspace, s workspace.Summary) {
	if !s.Daemon {
		b.Env.Note("no daemon runs here: `placet watch` or `placet once` moves the runs on, and `placet wait` the asks")
	}
	if name := remoteName(b.Root); name != "" {
		b.Env.Note("%s: %s", name, noEvents)
	}
	noteBlind(b, s.Blind)
	if s.Held != "" {
		b.Env.Note("nothing is decided at the moment: %s", s.Held)
	}
	if s.Stale != "" {
		b.Env.Note("%s", s.Stale)
	}
	noteUntrusted(b, s.Untrusted)
	noteWarnings(b)
	noteUndelivered(b, s.Undelivered)
}

// noteWarnings says what is wrong with the settings.
func noteWarnings(b *workspace.Workspace) {
	for _, w := range b.Settings.Warnings {
		b.Env.Note("%s: %s", w.Text, w.Try)
	}
}

// fewUndelivered is how many notifications are named of which nobody knows.
const fewUndelivered = 5

// noteUndelivered says who may not have been told of a request.
func noteUndelivered(b *workspace.Workspace, doubts []notify.Doubt) {
	for i, d := range doubts {
		if i == fewUndelivered {
			b.Env.Note("of %d more notifications it is not known whether they arrived: placet status --json", len(doubts)-i)
			return
		}
		what := templates.Key("it is not known whether %s was told of %s (%s)%s; nobody is told twice")
		if d.Outcome == "refused" {
			what = "%s was not told of %s (%s)%s"
		}
		b.Env.Note(what, d.Target, console.OneLine(d.Request), console.OneLine(d.Rung), console.Suffix(": ", console.OneLine(d.Reason)))
	}
}

// fewUntrusted is how many things that wait for trust are named.
const fewUntrusted = 5

// noteUntrusted says that something waits for trust, or that nothing can be trusted.
func noteUntrusted(b *workspace.Workspace, waiting []config.UntrustedLine) {
	noteUntrustable(b)
	for i, u := range waiting {
		if i == fewUntrusted {
			b.Env.Note("%d more wait for trust: see `placet trust`", len(waiting)-i)
			break
		}
		switch {
		case u.Name == config.GatesKey[0]:
			b.Env.Note("%s", config.GatesWait)
			continue
		case u.Tighter:
			b.Env.Note("%s", config.TighterWaits(console.OneLine(u.Name)))
			continue
		}
		b.Env.Note("%s waits for trust and does not count: see `placet trust`", console.OneLine(u.Name))
	}
}

// noteBlind says in which folders a daemon looks every now and then.
func noteBlind(b *workspace.Workspace, is workspace.WithoutEvents) {
	if is.Count == 0 {
		return
	}
	more := ""
	if n := is.Count - 1; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	often := "every 2 s"
	if is.Count > workspace.BlindMany {
		often = "every few seconds"
	}
	b.Env.Note("the daemon gets no file events in %s%s: it looks %s", console.OneLine(is.Folders[0]), more, often)
}

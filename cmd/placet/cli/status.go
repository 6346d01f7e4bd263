package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"placet/cmd/placet/announce"
	"placet/cmd/placet/asks"
	"placet/cmd/placet/cli/setup"
	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/console"
	"placet/cmd/placet/daemon"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine/facade/notify"
	"placet/templates"
)

func statusVerb() verb.Verb {
	var all bool
	return verb.Verb{
		Use:  "status [RUN]",
		Most: 1, Group: verb.GroupRun, Complete: verb.CompleteRuns,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVarP(&all, "all", "a", false, "")
		},
		Look: func(c verb.Call, b *workspace.Workspace) error {
			return showStatus(b, c.Args, all)
		},
	}
}

// showStatus shows the runs, and ends with the exit code for their state.
func showStatus(b *workspace.Workspace, args []string, all bool) error {
	found, err := view.Chosen(b, args)
	if err != nil {
		return err
	}
	asks.WithdrawAbandoned(b)
	s := view.LookAtRuns(b, found, all || len(args) > 0)
	if len(args) == 0 {
		s.Misplaced, s.Agents = view.NoRuns(view.Misplaced(b)), view.Agents(b)
	}
	s.Undelivered = announce.Undelivered(b, s.Views)
	if err := b.Env.Answer(s, func() { printStatus(b, s) }); err != nil {
		return err
	}
	view.Remember(b, found, len(args) == 0)
	return outcome(b, s)
}

// outcome returns the exit code for the state.
func outcome(b *workspace.Workspace, s view.Summary) error {
	return console.Outcome(b.Unlisted || slices.ContainsFunc(s.Views, view.Run.Troubled), s.WaitsForPerson())
}

func printStatus(b *workspace.Workspace, s view.Summary) {
	show(b.Env, "status", s)
	printState(b, s)
}

// runTable returns the state of the runs, a row for each.
func runTable(w *console.Env, s view.Summary) console.Cleaned {
	t := &console.Table{}
	t.Style([]string{console.Faint, console.Faint, console.Faint, console.Faint, console.Faint}, w.Text("cli.status.head.run"), w.Text("cli.status.head.class"), w.Text("cli.status.head.status"), w.Text("cli.status.head.since"), w.Text("cli.status.head.waits"))
	for i, l := range s.Runs {
		t.Style([]string{console.Strong, "", statusStyle(s.Views[i]), console.Faint},
			console.Brief(s.Views[i].Key), l.Class, string(l.Status), console.Age(w.Lang, w.Now(), s.Views[i].Since), view.WaitsAt(s.Views[i]))
	}
	return console.Cleaned(t.Text(w))
}

func statusStyle(v view.Run) string {
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

// tally returns the counts of the runs on one line.
func tally(w *console.Env, s view.Summary) string {
	if len(s.Runs) == 0 && len(s.Final) == 0 {
		return w.Text("cli.status.none", "workspace", s.Workspace)
	}
	var parts []string
	for _, status := range slices.Sorted(maps.Keys(s.Final)) {
		parts = append(parts, fmt.Sprintf("%d %s", s.Final[status], console.OneLine(string(status))))
	}
	text := w.Text("count.runs", "n", len(s.Runs))
	if len(parts) > 0 {
		text += w.Text("cli.status.ended", "counts", strings.Join(parts, ", "))
	}
	if s.Waiting > 0 {
		text += w.Text("cli.status.open", "n", s.Waiting)
	}
	if n := len(view.Stopping(s.Untrusted)); n > 0 {
		text += w.Text("cli.status.stopped", "n", n)
	}
	return text
}

// printState prints on stderr what concerns the workspace as a whole.
func printState(b *workspace.Workspace, s view.Summary) {
	if s.NeedsDaemon() {
		b.Env.Note("cli.status.nodaemon")
	}
	if name := setup.RemoteName(b.Root); name != "" {
		b.Env.Note("cli.status.warning", "text", name, "try", setup.NoEvents)
	}
	noteBlind(b, s.Blind)
	if s.Held != "" {
		b.Env.Note("cli.status.held", "reason", s.Held)
	}
	if s.Stale != "" {
		b.Env.Note("say.text", "text", s.Stale)
	}
	daemon.NoteUntrusted(b, s.Untrusted)
	daemon.NoteWarnings(b, "")
	noteUndelivered(b, s.Undelivered)
}

// fewUndelivered limits the notifications with unknown outcome that are named.
const fewUndelivered = 5

// noteUndelivered says who may not have been notified of a request.
func noteUndelivered(b *workspace.Workspace, doubts []notify.Doubt) {
	for i, d := range doubts {
		if i == fewUndelivered {
			b.Env.Note("cli.status.untold.more", "n", len(doubts)-i)
			return
		}
		what := templates.Key("cli.status.told.unknown")
		if d.Outcome == "refused" {
			what = "cli.status.untold"
		}
		b.Env.Note(what, "target", d.Target, "request", d.Request, "rung", d.Rung, "reason", console.Suffix(": ", console.OneLine(d.Reason)))
	}
}

// noteBlind says which folders a daemon polls.
func noteBlind(b *workspace.Workspace, is workspace.WithoutEvents) {
	if is.Count == 0 {
		return
	}
	folders := console.OneLine(is.Folders[0])
	if n := is.Count - 1; n > 0 {
		folders = b.Env.Text("list.more", "all", folders, "n", n)
	}
	looks := templates.Key("cli.status.blind")
	if is.Count > workspace.BlindMany {
		looks = "cli.status.blind.many"
	}
	b.Env.Note(looks, "folders", folders)
}

package cli

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
)

// logVerb returns the older name of show --log.
func logVerb() verb.Verb {
	var last int
	return verb.Verb{
		Use:  "log [RUN]",
		Most: 1, Group: verb.GroupUnderstand, Complete: verb.CompleteRuns, Old: true,
		Flags: func(f *pflag.FlagSet) {
			f.IntVarP(&last, "last", "n", 0, "")
		},
		Look: func(c verb.Call, b *workspace.Workspace) error { return logOf(b, c.Args, last) },
	}
}

// logOf shows the last events of a run, or of all runs; 0 means all events.
func logOf(b *workspace.Workspace, args []string, last int) error {
	if last < 0 {
		return console.Usage("cli.log.last", "n", last)
	}
	found, err := view.Chosen(b, args)
	if err != nil {
		return err
	}
	b.Journals = true
	return showLog(b, view.Runs(b, found), last, len(args) == 0)
}

// runEntry is an event with its run.
type runEntry struct {
	Run engine.Key `json:"run"`
	engine.Entry
}

func showLog(b *workspace.Workspace, views []view.Run, last int, name bool) error {
	var all []runEntry
	for _, v := range views {
		for _, e := range v.Log {
			all = append(all, runEntry{v.Key, e})
		}
	}
	slices.SortStableFunc(all, func(x, y runEntry) int {
		if x.Run == y.Run {
			return 0 // the order within a run is that of its record
		}
		return cmp.Or(x.At.Compare(y.At), cmp.Compare(x.Run.String(), y.Run.String()))
	})
	if last > 0 {
		all = all[max(0, len(all)-last):]
	}
	return b.Env.Answer(map[string]any{"entries": all}, func() {
		t := &console.Table{}
		for _, e := range all {
			run := ""
			if name {
				run = console.Brief(e.Run)
			}
			addEntry(t, "", run, e.Entry)
		}
		t.Print(b.Env, b.Env.Out)
	})
}

// eventTable returns events as a table below a heading.
func eventTable(log []engine.Entry) *console.Table {
	t := &console.Table{}
	for _, e := range log {
		addEntry(t, "  ", "", e)
	}
	return t
}

// addEntry adds an event to a table, with its run unless that is "".
func addEntry(t *console.Table, indent, run string, e engine.Entry) {
	at, number := "", ""
	if !e.At.IsZero() {
		at = console.Moment(e.At)
	}
	if e.Number > 0 {
		number = fmt.Sprintf("%03d", e.Number)
	}
	cells := []string{indent + at, number, e.Event, e.Where, e.Who, console.Cut(console.OneLine(e.Message), 160)}
	styles := []string{console.Faint, console.Faint, console.Strong}
	if run != "" {
		cells, styles = append([]string{run}, cells...), append([]string{""}, styles...)
	}
	t.Style(styles, cells...)
}

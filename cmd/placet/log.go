package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"placet/engine"
	"placet/engine/reconcile"
	"placet/engine/store"
)

func logCommand(w *world) *cobra.Command {
	var last int
	cmd := &cobra.Command{
		Use: "log [RUN]", Short: "What happened, oldest first",
		Long: `What happened in a run, or in all runs, oldest first: recorded events and what
became of every request, refused and superseded answers too.`,
		Args: takes(0, 1), GroupID: groupUnderstand, ValidArgsFunction: completeRuns(w),
		RunE: func(_ *cobra.Command, args []string) error {
			if last < 0 {
				return usage("cannot show the last %d events", last)
			}
			b, err := w.look()
			if err != nil {
				return err
			}
			found, err := b.chosen(args)
			if err != nil {
				return err
			}
			b.journals = true
			return b.log(b.views(found), last, len(args) == 0)
		},
	}
	cmd.Flags().IntVarP(&last, "last", "n", 0, "only the last N events")
	return cmd
}

// entryLine is a recorded event as JSON.
type entryLine struct {
	Run     string `json:"run,omitempty"`
	At      string `json:"at"`
	Number  int    `json:"number"`
	Event   string `json:"event"`
	Where   string `json:"where"`
	Who     string `json:"who"`
	Message string `json:"message"`
}

func entryLineOf(run string, e engine.Entry) entryLine {
	return entryLine{Run: run, At: stamp(e.At), Number: e.Number, Event: e.Event, Where: e.Where, Who: e.Who, Message: e.Message}
}

func entryLines(log []engine.Entry) []entryLine {
	lines := []entryLine{}
	for _, e := range log {
		lines = append(lines, entryLineOf("", e))
	}
	return lines
}

// longestJournal is how much of a journal log reads, from its end, in bytes.
const longestJournal = 64 << 20

// wholeJournals reads the journals whole of which no more than the end decides.
func (b *bench) wholeJournals(f reconcile.Found, docs []engine.Document) []engine.Document {
	docs = slices.Clone(docs)
	for i, d := range docs {
		file, ok := f.Family.Layout.File(f.Run, strings.TrimPrefix(d.Path, f.Run.Dir+"/"))
		if !ok || file.End == 0 || !d.Present() {
			continue
		}
		file.End = longestJournal
		// What the store remembers of the file is its end.
		if whole := store.New(store.OS(b.root), store.Options{Now: b.w.now}).Read(d.Path, file); whole.Present() {
			docs[i] = whole
		}
	}
	return docs
}

// runEntry is an event and the run that it belongs to.
type runEntry struct {
	run engine.Key
	engine.Entry
}

func (b *bench) log(views []view, last int, name bool) error {
	var all []runEntry
	for _, v := range views {
		for _, e := range v.Log {
			all = append(all, runEntry{v.Key, e})
		}
	}
	slices.SortStableFunc(all, func(x, y runEntry) int {
		if x.run == y.run {
			return 0 // a run's own order is that of its record
		}
		return cmp.Or(x.At.Compare(y.At), cmp.Compare(x.run.String(), y.run.String()))
	})
	if last > 0 {
		all = all[max(0, len(all)-last):]
	}
	lines := []entryLine{}
	for _, e := range all {
		lines = append(lines, entryLineOf(e.run.String(), e.Entry))
	}
	return b.w.answer(map[string]any{"entries": lines}, func() {
		t := &table{}
		for _, e := range all {
			run := ""
			if name {
				run = brief(e.run)
			}
			b.addEntry(t, "", run, e.Entry)
		}
		t.print(b.w, b.w.out)
	})
}

// printEntries shows events below a heading.
func (b *bench) printEntries(log []engine.Entry) {
	t := &table{}
	for _, e := range log {
		b.addEntry(t, "  ", "", e)
	}
	t.print(b.w, b.w.out)
}

// addEntry adds an event to a table, with its run unless that is "".
func (b *bench) addEntry(t *table, indent, run string, e engine.Entry) {
	at, number := "", ""
	if !e.At.IsZero() {
		at = moment(e.At)
	}
	if e.Number > 0 {
		number = fmt.Sprintf("%03d", e.Number)
	}
	cells := []string{indent + at, number, line(e.Event), line(e.Where), line(e.Who), cut(line(e.Message), 160)}
	styles := []string{faint, faint, strong}
	if run != "" {
		cells, styles = append([]string{run}, cells...), append([]string{""}, styles...)
	}
	t.style(styles, cells...)
}

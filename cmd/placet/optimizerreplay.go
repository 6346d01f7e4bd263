package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"placet/engine"
	"placet/engine/exec"
	"placet/engine/optimizer"
	"placet/engine/reconcile"
	"placet/engine/sqlite"
	"placet/engine/store"
	"placet/layout"
)

func replayCommand(w *world) *cobra.Command {
	var archived, missing bool
	cmd := &cobra.Command{
		Use: "replay", Short: "Try now to give the audit database what it lacks",
		Long: `Tries now to give the audit databases the rows that they could not take: those that
audit-pending.jsonl lists. placet watch tries each again every ten minutes, and
placet once whenever it runs. A row goes in once, however often it is tried.

--archived does the same for runs that were put away. Nothing in the archive is
written: what their files call pending stays so, and the database has it.

--missing puts back what a database has lost: the rows that runs, also those put
away, call inserted, and that placet check misses.`,
		Args: takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return w.replay(cmd.Context(), archived, missing) },
	}
	cmd.Flags().BoolVar(&archived, "archived", false, "the rows of runs that were put away, too")
	cmd.Flags().BoolVar(&missing, "missing", false, "the rows that were in and are lost, too")
	return cmd
}

// replayed is what became of a row, as JSON.
type replayed struct {
	Run     string `json:"run"`
	ID      string `json:"id"`
	Table   string `json:"table"`
	DB      string `json:"db"`
	Outcome string `json:"outcome"`
	Error   string `json:"error"`
}

// in reports whether the database has the row by now.
func (r replayed) in() bool { return r.Outcome == "inserted" || r.Outcome == "present" }

// owing is a run's row that its database does not have yet.
type owing struct {
	found reconcile.Found
	audit optimizer.Audit // that the row stands in
	row   optimizer.Row
}

func (o owing) line(outcome, problem string) replayed {
	return replayed{o.found.Key().String(), o.row.ID, o.row.Table, o.audit.DB, outcome, problem}
}

// replay has the runs try what they owe. Beside a daemon, and of runs that were put
// away, only the database is written: the daemon finds the row there.
func (w *world) replay(ctx context.Context, archived, missing bool) error {
	var runner *exec.Runner
	b, err := w.open(setup{only: "optimizer", tryNow: true, noCommands: true, runner: func(b *bench) *exec.Runner {
		runner = b.runner(nil)
		return runner
	}})
	if err != nil {
		return err
	}
	if !b.serves("optimizer") {
		return usage("the optimizer is not enabled here").try("set enabled = true in [optimizer]")
	}
	driven, away := b.owing()
	lines, err := b.replayDriven(ctx, runner, driven)
	if err == nil && archived {
		lines = append(lines, insertRows(ctx, runner, away)...)
	}
	if err == nil && missing {
		lines = append(lines, insertRows(ctx, runner, b.lostRows())...)
	}
	if err := errors.Join(err, leave(runner)); err != nil {
		return err
	}
	left := 0
	for _, l := range lines {
		if !l.in() {
			left++
		}
	}
	err = w.answer(map[string]any{"rows": append([]replayed{}, lines...), "archived": len(away)}, func() { b.printReplayed(lines, archived, len(away)) })
	if err != nil {
		return err
	}
	return outcome(left > 0, false)
}

// owing lists the rows that wait, of runs that are driven and of those put away.
func (b *bench) owing() (driven, away []owing) {
	for _, f := range b.runs() {
		for _, o := range b.rowsOf(f) {
			switch {
			case o.row.Settled():
			case f.Run.Class == layout.OptimizerArchived:
				away = append(away, o)
			default:
				driven = append(driven, o)
			}
		}
	}
	return driven, away
}

// lostRows are the rows that runs call inserted and that their databases have lost. A
// database that cannot be asked is said.
func (b *bench) lostRows() (all []owing) {
	rows := recorded{}
	for _, f := range b.runs() {
		if f.Run.Family == "optimizer" {
			rows.add(b.rowsOf(f))
		}
	}
	databases := sqlite.New(b.root)
	for _, db := range sorted(rows) {
		some, _, problem := lost(databases, db, rows[db])
		databases.Rest(db)
		if problem != "" {
			b.w.note("%s: %s", db, problem)
			continue
		}
		all = append(all, some...)
	}
	return all
}

// rowsOf are the rows of a run's audit.json, none where it cannot be read.
func (b *bench) rowsOf(f reconcile.Found) []owing {
	kind, ok := f.Family.Layout.File(f.Run, "audit.json")
	if !ok {
		return nil
	}
	d := b.settled(path.Join(f.Run.Dir, "audit.json"), kind)
	if !d.Present() {
		return nil
	}
	a, err := optimizer.ReadAudit(d.Body)
	if err != nil {
		b.w.note("%s cannot be used: %v", d.Path, err)
		return nil
	}
	var list []owing
	for _, row := range a.Rows {
		list = append(list, owing{f, a, row})
	}
	return list
}

// replayDriven has the runs that are driven try, and write down what came of it.
func (b *bench) replayDriven(ctx context.Context, runner *exec.Runner, rows []owing) ([]replayed, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	unlock, err := b.lockWorkspace()
	if errors.Is(err, store.ErrBusy) {
		b.w.note("a daemon serves this workspace: it writes down what came of it when it tries next")
		return insertRows(ctx, runner, rows), nil
	}
	if err != nil {
		return nil, err
	}
	defer unlock()
	if reason, held := b.store.Hold(); held {
		return nil, refused("cannot replay: %s", reason).try("try again when git is done")
	}
	if err := runner.Recover(); err != nil {
		return nil, err
	}
	if _, err := b.settle(ctx, runner); err != nil {
		return nil, err
	}
	var lines []replayed
	for _, o := range rows {
		lines = append(lines, b.fate(o))
	}
	return lines, nil
}

// fate is what the run says of a row by now.
func (b *bench) fate(was owing) replayed {
	for _, o := range b.rowsOf(was.found) {
		if o.row.ID != was.row.ID {
			continue
		}
		return o.line(o.row.Outcome, string(o.row.LastError))
	}
	return was.line("unknown", "audit.json does not name it any more")
}

// insertRows gives databases rows, in order, and says what each made of it.
func insertRows(ctx context.Context, runner *exec.Runner, rows []owing) []replayed {
	var lines []replayed
	for i, o := range rows {
		id := fmt.Sprintf("optimizer/replay/%d/%s", i, o.row.ID)
		runner.Begin(engine.Action{ID: id, Database: new(o.audit.Into(o.row))})
		if err := runner.Wait(ctx); err != nil {
			lines = append(lines, o.line("failed", err.Error()))
			continue
		}
		end := runner.Ended()[id]
		runner.End(id)
		word := strings.Replace(end.Result, "done", "inserted", 1)
		lines = append(lines, o.line(word, end.Reason))
	}
	return lines
}

func (b *bench) printReplayed(lines []replayed, archived bool, away int) {
	w := b.w
	t := &table{}
	for _, l := range lines {
		style := ""
		if !l.in() {
			style = alarm
		}
		t.style([]string{style, strong}, line(l.Outcome), line(l.ID), line(l.Run), line(l.Table), line(l.DB), cut(line(l.Error), 160))
	}
	t.print(w, w.out)
	if len(lines) == 0 {
		w.say("the audit databases lack nothing")
	}
	if !archived && away > 0 {
		w.note("%s of runs that were put away: placet optimizer replay --archived", many(away, "row waits", "rows wait"))
	}
}

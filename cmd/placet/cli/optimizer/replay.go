package optimizer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/console"
	"placet/cmd/placet/daemon"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/loop"
	"placet/engine/optimizer"
	"placet/engine/store/fs"
	"placet/layout"
	"placet/templates"
)

func replayVerb() verb.Verb {
	var archived, missing bool
	return verb.Verb{
		Use: "replay",
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&archived, "archived", false, "")
			f.BoolVar(&missing, "missing", false, "")
		},
		Run: func(c verb.Call) error { return replayRows(c.Ctx, c.Env, archived, missing) },
	}
}

// replayed is the outcome of a row as JSON.
type replayed struct {
	Run     string `json:"run"`
	ID      string `json:"id"`
	Table   string `json:"table"`
	DB      string `json:"db"`
	Outcome string `json:"outcome"`
	Error   string `json:"error"`
}

// in reports whether the database has the row now.
func (r replayed) in() bool { return r.Outcome == "inserted" || r.Outcome == "present" }

// auditRow is a row of a run's audit.json.
type auditRow struct {
	found loop.Found
	audit optimizer.Audit // the audit with the row
	row   optimizer.Row
}

// isRecorded reports whether the run calls the row inserted.
func (o auditRow) isRecorded() bool { return o.row.Outcome == "inserted" || o.row.Outcome == "present" }

func (o auditRow) result(outcome, problem string) replayed {
	return replayed{o.found.Key().String(), o.row.ID, o.row.Table, o.audit.DB, outcome, problem}
}

// replayRows makes the runs try the rows that they owe. Beside a daemon, and for archived runs,
// it writes only the database: the daemon finds the row there.
func replayRows(ctx context.Context, w *console.Env, archived, missing bool) error {
	b, err := workspace.Open(w, workspace.Setup{Family: "optimizer", TryNow: true, NoCommands: true, Acts: true})
	if err != nil {
		return err
	}
	if !b.Serves("optimizer") {
		return console.Usage("cli.optimizer.off").Try("cli.optimizer.enable")
	}
	driven, away := waitingRows(b)
	lines, err := replayDriven(ctx, b, driven)
	if err == nil && archived {
		lines = append(lines, insertRows(ctx, b, away)...)
	}
	if err == nil && missing {
		lines = append(lines, putBack(ctx, b)...)
	}
	if err := errors.Join(err, daemon.StopRunner(b.Runner)); err != nil {
		return err
	}
	left := slices.ContainsFunc(lines, func(l replayed) bool { return !l.in() })
	err = w.Answer(map[string]any{"rows": lines, "archived": len(away)}, func() { printReplayed(b, lines, archived, len(away)) })
	return cmp.Or(err, console.Outcome(left, false))
}

// waitingRows lists the rows that are not settled, of active runs and of archived ones.
func waitingRows(b *workspace.Workspace) (driven, away []auditRow) {
	for _, f := range b.Runs() {
		for _, o := range rowsOf(b, f) {
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

// putBack inserts into databases the rows that runs call inserted and that the databases have
// lost. It does not change or report a row that is there.
func putBack(ctx context.Context, b *workspace.Workspace) []replayed {
	var rows []auditRow
	for _, f := range b.Runs() {
		rows = append(rows, rowsOf(b, f)...)
	}
	rows = slices.DeleteFunc(rows, func(o auditRow) bool { return !o.isRecorded() })
	return slices.DeleteFunc(insertRows(ctx, b, rows), func(l replayed) bool { return l.Outcome == "present" })
}

// rowsOf returns the rows of a run's audit.json, none if it cannot be read.
func rowsOf(b *workspace.Workspace, f loop.Found) []auditRow {
	if _, ok := f.Family.Layout.File(f.Run, "audit.json"); !ok {
		return nil
	}
	d := b.ReadDocument(f, "audit.json")
	if !d.Present() {
		return nil
	}
	a, err := optimizer.ReadAudit(d.Body)
	if err != nil {
		b.Env.Note("cli.replay.unusable", "path", d.Path, "error", err)
		return nil
	}
	var list []auditRow
	for _, row := range a.Rows {
		list = append(list, auditRow{f, a, row})
	}
	return list
}

// replayDriven makes the active runs try their rows, and record the outcomes.
func replayDriven(ctx context.Context, b *workspace.Workspace, rows []auditRow) ([]replayed, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	unlock, err := b.LockWorkspace()
	if errors.Is(err, fs.ErrBusy) {
		b.Env.Note("cli.replay.daemon")
		return insertRows(ctx, b, rows), nil
	}
	if err != nil {
		return nil, err
	}
	defer unlock()
	if reason, held := b.Store.Paused(); held {
		return nil, console.Refused("cli.replay.paused", "reason", reason).Try("cli.replay.git")
	}
	if err := b.Runner.Recover(); err != nil {
		return nil, err
	}
	if _, err := daemon.Settle(ctx, b); err != nil {
		return nil, err
	}
	var lines []replayed
	for _, o := range rows {
		lines = append(lines, outcomeOf(b, o))
	}
	return lines, nil
}

// outcomeOf returns what the run now says of a row.
func outcomeOf(b *workspace.Workspace, was auditRow) replayed {
	for _, o := range rowsOf(b, was.found) {
		if o.row.ID != was.row.ID {
			continue
		}
		return o.result(o.row.Outcome, string(o.row.LastError))
	}
	return was.result("unknown", b.Env.Text("cli.replay.unnamed"))
}

// insertRows inserts rows into databases, in order, and returns the outcome of each.
func insertRows(ctx context.Context, b *workspace.Workspace, rows []auditRow) []replayed {
	var lines []replayed
	for i, o := range rows {
		id := fmt.Sprintf("optimizer/replay/%d/%s", i, o.row.ID)
		b.Runner.Begin(engine.Action{ID: id, Database: new(o.audit.Into(o.row))})
		if err := b.Runner.Wait(ctx); err != nil {
			lines = append(lines, o.result("failed", templates.In(b.Env.Lang, err)))
			continue
		}
		end := b.Runner.Ended()[id]
		b.Runner.End(id)
		word := strings.Replace(end.Result, "done", "inserted", 1)
		lines = append(lines, o.result(word, end.Reason))
	}
	return lines
}

func printReplayed(b *workspace.Workspace, lines []replayed, archived bool, away int) {
	w := b.Env
	t := &console.Table{}
	for _, l := range lines {
		style := ""
		if !l.in() {
			style = console.Alarm
		}
		t.Style([]string{style, console.Strong}, l.Outcome, l.ID, l.Run, l.Table, l.DB, console.Cut(console.OneLine(l.Error), 160))
	}
	t.Print(w, w.Out)
	if len(lines) == 0 {
		w.Say("cli.replay.nothing")
	}
	if !archived && away > 0 {
		w.Note("cli.replay.away", "n", away)
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"placet/engine/exec"
	"placet/engine/reconcile"
	"placet/engine/store"
)

func onceCommand(w *world) *cobra.Command {
	var noCommands bool
	cmd := &cobra.Command{
		Use: "once", Short: "Settle what is there, and end",
		Long: `Settles what is there, and ends: for CI, cron and scripts. It never waits for a
deadline or a person; it says when the next moment is. Beside a running daemon,
while git rewrites the tree, or in a git hook it decides nothing, and shows
where the runs stand.`,
		Args: takes(0, 0), GroupID: groupRun,
		RunE: func(cmd *cobra.Command, _ []string) error { return w.once(cmd.Context(), noCommands) },
	}
	cmd.Flags().BoolVar(&noCommands, "no-commands", false, "start no command")
	return cmd
}

// onceData is once as JSON.
type onceData struct {
	Workspace   string           `json:"workspace"`
	Decided     bool             `json:"decided"`
	Reason      string           `json:"reason"` // why nothing was decided
	Runs        int              `json:"runs"`
	Waiting     int              `json:"waiting"`
	Moved       int              `json:"moved"`
	Transitions []transitionLine `json:"transitions"`
	Notes       []string         `json:"notes"`
	Unsettled   []string         `json:"unsettled"`
	Stuck       []string         `json:"stuck"`
	Wake        string           `json:"wake"`
	Untrusted   []untrustedLine  `json:"untrusted"`
}

func (w *world) once(ctx context.Context, noCommands bool) error {
	moves := &moveLog{w: w}
	var runner *exec.Runner
	b, err := w.open(setup{recall: true, moved: moves.moved, noCommands: noCommands, live: !noCommands, tryNow: true, runner: func(b *bench) *exec.Runner {
		runner = b.runner(nil)
		return runner
	}})
	if err != nil {
		return err
	}
	if w.getenv("GIT_INDEX_FILE") != "" {
		return b.decideNothing("this is a git hook: the tree is not what is being committed")
	}
	unlock, err := b.lockWorkspace()
	if errors.Is(err, store.ErrBusy) {
		return b.decideNothing("a daemon serves this workspace: it does the work")
	}
	if err != nil {
		return err
	}
	defer unlock()
	if reason, held := b.store.Hold(); held {
		return b.decideNothing(reason)
	}
	b.noteLeftovers()
	if err := runner.Recover(); err != nil {
		return err
	}
	report, err := b.settle(ctx, runner)
	if err := errors.Join(err, leave(runner)); err != nil {
		return err
	}
	if report.Held != "" {
		return b.decideNothing(report.Held)
	}
	return b.settledAll(report, moves.made)
}

// mostRounds is how often once settles anew because a check, or something for a
// database, has ended. Nothing
// that lies there needs as many: one round more than checks in a row.
const mostRounds = 64

// settle settles what is there, then what the checks that were begun have come
// to, and what was begun for databases, until none is begun any more.
func (b *bench) settle(ctx context.Context, runner *exec.Runner) (reconcile.Report, error) {
	moved := 0
	for round := 1; ; round++ {
		before := b.checks.Load()
		report, err := b.loop.Once(ctx)
		err = errors.Join(err, runner.Wait(ctx))
		moved += report.Moved
		report.Moved = moved
		if err != nil || report.Held != "" || b.checks.Load() == before || round == mostRounds {
			return report, err
		}
	}
}

// settledAll says what a pass over everything came to.
func (b *bench) settledAll(report reconcile.Report, made []transitionLine) error {
	data := onceData{
		Workspace: b.root, Decided: true, Runs: report.Runs, Waiting: report.Waiting, Moved: report.Moved,
		Transitions: append([]transitionLine{}, made...), Notes: append([]string{}, report.Notes...),
		Unsettled: append(append([]string{}, report.Unsettled...), report.Torn...), Stuck: append([]string{}, report.Stuck...),
		Wake: stamp(report.Wake), Untrusted: b.untrusted(b.naming()),
	}
	if err := b.w.answer(data, func() { b.printOnce(data, report.Wake) }); err != nil {
		return err
	}
	return outcome(len(data.Notes)+len(data.Unsettled)+len(data.Stuck) > 0, data.Waiting > 0)
}

// stopTime is how long checks may take to end when placet ends.
const stopTime = 10 * time.Second

// leave stops a runner in good order; agents are left running.
func leave(r *exec.Runner) error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	return r.Stop(ctx)
}

// decideNothing says why, and shows where the runs stand.
func (b *bench) decideNothing(reason string) error {
	b.w.note("nothing is decided: %s", reason)
	b.onlyLooks()
	found := b.runs()
	s := b.state(found, false)
	data := onceData{
		Workspace: b.root, Reason: reason, Runs: len(found), Waiting: s.Waiting, Transitions: []transitionLine{},
		Notes: []string{}, Unsettled: []string{}, Stuck: []string{}, Untrusted: s.Untrusted,
	}
	for _, p := range inboxProblems(s.views) {
		data.Notes = append(data.Notes, p.Path)
	}
	s.Daemon, s.Held = true, "" // the reason was said
	if err := b.w.answer(data, func() { b.printStatus(s) }); err != nil {
		return err
	}
	return b.outcome(s)
}

func (b *bench) printOnce(data onceData, wake time.Time) {
	w := b.w
	for _, path := range data.Notes {
		w.say("%s %s", w.paint(alarm, "problem"), line(path))
	}
	for _, path := range data.Unsettled {
		w.note("%s cannot be used yet, it may still be being written: run placet once again", line(path))
	}
	for _, run := range data.Stuck {
		w.note("%s does not settle: see placet explain", line(run))
	}
	text := fmt.Sprintf("%s, %s", many(data.Runs, "run", "runs"), many(data.Moved, "transition", "transitions"))
	if data.Waiting > 0 {
		text += fmt.Sprintf(", %d waiting: placet inbox", data.Waiting)
	}
	if !wake.IsZero() {
		text += "; next moment " + moment(wake)
	}
	w.say("%s", text)
	b.noteUntrusted(data.Untrusted)
}

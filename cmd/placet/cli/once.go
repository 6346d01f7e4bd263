package cli

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"placet/cmd/placet/asks"
	"placet/cmd/placet/cli/verb"
	"placet/cmd/placet/config"
	"placet/cmd/placet/console"
	"placet/cmd/placet/daemon"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine/loop"
	"placet/engine/store/fs"
	"placet/templates"
)

// onceVerb returns the older name of watch --once.
func onceVerb() verb.Verb {
	var noCommands bool
	return verb.Verb{
		Use:   "once",
		Group: verb.GroupRun, Old: true,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&noCommands, "no-commands", false, "")
		},
		Run: func(c verb.Call) error { return settleOnce(c.Ctx, c.Env, noCommands) },
	}
}

// onceData is the output of once as JSON.
type onceData struct {
	Workspace   string                  `json:"workspace"`
	Decided     bool                    `json:"decided"`
	Reason      string                  `json:"reason"` // why nothing was decided
	Runs        int                     `json:"runs"`
	Waiting     int                     `json:"waiting"`
	Moved       int                     `json:"moved"`
	Transitions []daemon.TransitionLine `json:"transitions"`
	Notes       []string                `json:"notes"`
	Unsettled   []string                `json:"unsettled"`
	Stuck       []string                `json:"stuck"`
	Wake        string                  `json:"wake"`
	Untrusted   []config.UntrustedLine  `json:"untrusted"`
}

func settleOnce(ctx context.Context, w *console.Env, noCommands bool) error {
	moves := daemon.NewMoveLog(w)
	b, err := workspace.Open(w, workspace.Setup{Cached: true, Moved: moves.Moved, NoCommands: noCommands, Live: !noCommands, TryNow: true, Acts: true})
	if err != nil {
		return err
	}
	if w.InGitHook() {
		return decideNothing(b, b.Env.Text("cli.once.hook"))
	}
	unlock, err := b.LockWorkspace()
	if errors.Is(err, fs.ErrBusy) {
		return decideNothing(b, b.Env.Text("cli.once.daemon"))
	}
	if err != nil {
		return err
	}
	defer unlock()
	if reason, held := b.Store.Paused(); held {
		return decideNothing(b, reason)
	}
	daemon.NoteLeftovers(b)
	if err := b.Runner.Recover(); err != nil {
		return err
	}
	asks.WithdrawAbandoned(b)
	report, err := daemon.Settle(ctx, b)
	if err := errors.Join(err, daemon.StopRunner(b.Runner)); err != nil {
		return err
	}
	if report.Held != "" {
		return decideNothing(b, report.Held)
	}
	return settledAll(b, report, moves.Made())
}

// settledAll prints the outcome of a pass over everything.
func settledAll(b *workspace.Workspace, report loop.Report, made []daemon.TransitionLine) error {
	with := view.WithCommands(b)
	data := onceData{
		Workspace: b.Root, Decided: true, Runs: report.Runs, Waiting: report.Waiting + len(view.RequiredIn(with)), Moved: report.Moved,
		Transitions: made, Notes: report.Notes,
		Unsettled: slices.Concat(report.Unsettled, report.Torn), Stuck: report.Stuck,
		Wake: console.Stamp(report.Wake), Untrusted: view.Untrusted(b, with),
	}
	err := b.Env.Answer(data, func() { printOnce(b, data, report.Wake) })
	return cmp.Or(err, console.Outcome(len(data.Notes)+len(data.Unsettled)+len(data.Stuck) > 0, data.Waiting+len(view.Stopping(data.Untrusted)) > 0))
}

// decideNothing says why nothing is decided, and shows the state of the runs.
func decideNothing(b *workspace.Workspace, reason string) error {
	b.Env.Note("cli.once.nothing", "reason", reason)
	b.OnlyLooks()
	found := b.Runs()
	s := view.LookAtRuns(b, found, false)
	data := onceData{
		Workspace: b.Root, Reason: reason, Runs: len(found), Waiting: s.Waiting,
		Untrusted: s.Untrusted,
	}
	for _, p := range view.InboxProblems(s.Views) {
		data.Notes = append(data.Notes, p.Path)
	}
	s.Daemon, s.Held = true, "" // the reason was shown
	return cmp.Or(b.Env.Answer(data, func() { printStatus(b, s) }), outcome(b, s))
}

// mostUnsettled limits the unusable files that are named.
const mostUnsettled = 5

func printOnce(b *workspace.Workspace, data onceData, wake time.Time) {
	w := b.Env
	shown := data.Unsettled[:min(len(data.Unsettled), mostUnsettled)]
	for _, path := range shown {
		w.Note("cli.once.unsettled", "path", w.Here(path))
	}
	if more := len(data.Unsettled) - len(shown); more > 0 {
		w.Note("cli.once.more", "n", more)
	}
	for _, run := range data.Stuck {
		w.Note("cli.once.stuck", "run", run)
	}
	show(w, "once", struct {
		onceData
		Counted, Made templates.Message
		Next          time.Time
	}{data, templates.NewMessage("count.runs", "n", data.Runs), templates.NewMessage("count.transitions", "n", data.Moved), wake})
	daemon.NoteUntrusted(b, data.Untrusted)
}

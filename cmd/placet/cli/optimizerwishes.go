package cli

import (
	"context"
	"errors"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/optimizer"
	"placet/engine/reconcile"
	"placet/engine/store"
	"placet/layout"
	"placet/schemas"
)

func demoteCommand(w *console.Env) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use: "demote RUN [-m TEXT]", Short: "Say that the level in hand cannot be done",
		Long: `Says that the level which a cycle is at cannot be done: writes
inputs/level-error.json. The cycle goes on one level lower; at level 10 it fails.
placet watch, or the next placet once, carries it out.`,
		Args: takes(1, 1), ValidArgsFunction: completeRuns(w),
	}
	cmd.RunE = onRun(w, func(b *workspace.Workspace, f reconcile.Found) error {
		return demoteCycle(cmd.Context(), b, f, strings.TrimSpace(reason))
	})
	cmd.Flags().StringVarP(&reason, "message", "m", "", "why; it stands in the record and in the next goal")
	return cmd
}

func demoteCycle(ctx context.Context, b *workspace.Workspace, f reconcile.Found, reason string) error {
	v, err := cycle(b, f, "demote")
	if err != nil {
		return err
	}
	level := optimizer.LevelInHand(b.Settled(f.Run.State, workspace.StateFile(f)).Body)
	if level == 0 {
		return console.Refused("cannot demote %s: it is %s, and a level is in hand in running alone", console.Brief(v.Key), console.OneLine(string(v.Status))).
			Try("%s", console.Typed("explain", console.Brief(v.Key)))
	}
	if err := checkWords("demote", console.Brief(v.Key), "the reason", reason, ""); err != nil {
		return err
	}
	if reason, err = reasonFor(ctx, b, v, "demote", reason); err != nil {
		return err
	}
	body, err := schemas.Encode(schemas.Object{{Name: "level", Value: level}, {Name: "error", Value: reason}})
	if err != nil {
		return err
	}
	file := path.Join(f.Run.Dir, "inputs/level-error.json")
	kind, _ := f.Family.Layout.File(f.Run, "inputs/level-error.json")
	there := b.Settled(file, kind)
	switch {
	case there.Err != nil && !there.Absent():
		return console.Refused("cannot write %s: what stands there cannot be read: %v", file, there.Err).Try("remove it and try again")
	case there.Present() && optimizer.NamesLevel(there.Body, level):
		return console.Refused("cannot demote %s: %s names level %d already", console.Brief(v.Key), file, level).Try("%s", console.Typed("explain", console.Brief(v.Key)))
	}
	if err := writeDown(b, v, "demote", engine.Document{Path: file, Kind: layout.OptimizerKindLevelError, Body: body, Over: there.Sum}); err != nil {
		return err
	}
	data := map[string]any{"run": v.Key.String(), "level": level, "error": reason, "path": file, "daemon": workspace.DaemonRuns(b.Root)}
	return b.Env.Answer(data, func() {
		b.Env.Say("level %d of %s cannot be done: %s", level, console.Brief(v.Key), console.Cut(console.OneLine(reason), 160))
	})
}

func stopCommand(w *console.Env) *cobra.Command {
	var reason, by string
	cmd := &cobra.Command{
		Use: "stop RUN [-m TEXT]", Short: "Give a cycle up",
		Long: `Gives a cycle up, wherever it stands: writes stop.json, which placet watch, or
the next placet once, carries out. The cycle has no goal then, and none follows.
There is no way back.`,
		Args: takes(1, 1), ValidArgsFunction: completeRuns(w),
	}
	cmd.RunE = onRun(w, func(b *workspace.Workspace, f reconcile.Found) error {
		return stopCycle(cmd.Context(), b, f, strings.TrimSpace(reason), by)
	})
	cmd.Flags().StringVarP(&reason, "message", "m", "", "why; it stands in the record")
	cmd.Flags().StringVar(&by, "as", console.Login(), "who stops it")
	return cmd
}

func stopCycle(ctx context.Context, b *workspace.Workspace, f reconcile.Found, reason, by string) error {
	v, err := cycle(b, f, "stop")
	if err != nil {
		return err
	}
	if err := checkReason("stop", v, reason, by); err != nil {
		return err
	}
	if reason, err = reasonFor(ctx, b, v, "stop", reason); err != nil {
		return err
	}
	body, err := schemas.Encode(schemas.Object{{Name: "reason", Value: reason}, {Name: "by", Value: by}})
	if err != nil {
		return err
	}
	file := path.Join(f.Run.Dir, "stop.json")
	if err := writeDown(b, v, "stop", engine.Document{Path: file, Kind: layout.OptimizerKindStop, Body: body}); err != nil {
		return err
	}
	data := map[string]any{"run": v.Key.String(), "by": by, "reason": reason, "path": file, "daemon": workspace.DaemonRuns(b.Root)}
	return b.Env.Answer(data, func() {
		b.Env.Say("%s is given up, by %s: %s", console.Brief(v.Key), console.OneLine(by), console.Cut(console.OneLine(reason), 160))
	})
}

// cycle looks at a cycle that a verb wants to change, and refuses what cannot be
// changed.
func cycle(b *workspace.Workspace, f reconcile.Found, verb string) (workspace.View, error) {
	v := b.ViewOf(f)
	switch {
	case f.Run.Family != "optimizer":
		return v, console.Usage("cannot %s %s: it is no optimisation cycle", verb, console.Brief(f.Key()))
	case f.Run.Class == layout.OptimizerArchived:
		return v, console.Refused("cannot %s %s: it was put away, and what lies in the archive is never written", verb, console.Brief(f.Key())).
			Try("move its folder back to active")
	case f.Run.Class != layout.OptimizerRun:
		return v, console.Refused("cannot %s %s: placet does not serve it", verb, console.Brief(f.Key())).Try("%s", console.Typed("explain", f.Run.ID))
	case v.Final:
		return v, console.Refused("cannot %s %s: it is %s, and that is final", verb, console.Brief(f.Key()), console.OneLine(string(v.Status)))
	case !hasBegun(b, f):
		return v, console.Refused("cannot %s %s: no cycle has begun there", verb, console.Brief(f.Key())).Try("%s", console.Typed("explain", console.Brief(f.Key())))
	}
	return v, nil
}

// hasBegun reports whether a run has a cycle: something that begins one, or a state.
func hasBegun(b *workspace.Workspace, f reconcile.Found) bool {
	for _, name := range []string{"trigger.json", "state.json"} {
		kind, _ := f.Family.Layout.File(f.Run, name)
		if !b.Settled(path.Join(f.Run.Dir, name), kind).Absent() {
			return true
		}
	}
	return false
}

// writeDown makes a person's word durable, and says who carries it out.
func writeDown(b *workspace.Workspace, v workspace.View, verb string, d engine.Document) error {
	err := b.Store.Write(d)
	if errors.Is(err, store.ErrMoved) {
		return console.Refused("cannot %s %s: %s stands there already, or was just written", verb, console.Brief(v.Key), d.Path).Try("%s", console.Typed("explain", console.Brief(v.Key)))
	}
	if err != nil {
		return console.Refused("cannot write %s: %v", d.Path, err)
	}
	if !workspace.DaemonRuns(b.Root) {
		b.Env.Note("no daemon runs here: run `placet once` or `placet watch` to carry it out")
	}
	return nil
}

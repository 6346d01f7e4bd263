package main

import (
	"context"
	"errors"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"placet/engine"
	"placet/engine/optimizer"
	"placet/engine/reconcile"
	"placet/engine/store"
	"placet/layout"
	"placet/schemas"
)

func demoteCommand(w *world) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use: "demote RUN [-m TEXT]", Short: "Say that the level in hand cannot be done",
		Long: `Says that the level which a cycle is at cannot be done: writes
inputs/level-error.json. The cycle goes on one level lower; at level 10 it fails.
placet watch, or the next placet once, carries it out.`,
		Args: takes(1, 1), ValidArgsFunction: completeRuns(w),
	}
	cmd.RunE = w.onRun(func(b *bench, f reconcile.Found) error {
		return b.demote(cmd.Context(), f, strings.TrimSpace(reason))
	})
	cmd.Flags().StringVarP(&reason, "message", "m", "", "why; it stands in the record and in the next goal")
	return cmd
}

func (b *bench) demote(ctx context.Context, f reconcile.Found, reason string) error {
	v, err := b.cycle(f, "demote")
	if err != nil {
		return err
	}
	level := optimizer.LevelInHand(b.settled(f.Run.State, stateFile(f)).Body)
	if level == 0 {
		return refused("cannot demote %s: it is %s, and a level is in hand in running alone", brief(v.Key), line(string(v.Status))).
			try("%s", typed("explain", brief(v.Key)))
	}
	if err := checkWords("demote", brief(v.Key), "the reason", reason, ""); err != nil {
		return err
	}
	if reason, err = b.reasonFor(ctx, v, "demote", reason); err != nil {
		return err
	}
	body, err := schemas.Encode(schemas.Object{{Name: "level", Value: level}, {Name: "error", Value: reason}})
	if err != nil {
		return err
	}
	file := path.Join(f.Run.Dir, "inputs/level-error.json")
	kind, _ := f.Family.Layout.File(f.Run, "inputs/level-error.json")
	there := b.settled(file, kind)
	switch {
	case there.Err != nil && !there.Absent():
		return refused("cannot write %s: what stands there cannot be read: %v", file, there.Err).try("remove it and try again")
	case there.Present() && optimizer.NamesLevel(there.Body, level):
		return refused("cannot demote %s: %s names level %d already", brief(v.Key), file, level).try("%s", typed("explain", brief(v.Key)))
	}
	if err := b.writeDown(v, "demote", engine.Document{Path: file, Kind: layout.OptimizerKindLevelError, Body: body, Over: there.Sum}); err != nil {
		return err
	}
	data := map[string]any{"run": v.Key.String(), "level": level, "error": reason, "path": file, "daemon": daemonRuns(b.root)}
	return b.w.answer(data, func() {
		b.w.say("level %d of %s cannot be done: %s", level, brief(v.Key), cut(line(reason), 160))
	})
}

func stopCommand(w *world) *cobra.Command {
	var reason, by string
	cmd := &cobra.Command{
		Use: "stop RUN [-m TEXT]", Short: "Give a cycle up",
		Long: `Gives a cycle up, wherever it stands: writes stop.json, which placet watch, or
the next placet once, carries out. The cycle has no goal then, and none follows.
There is no way back.`,
		Args: takes(1, 1), ValidArgsFunction: completeRuns(w),
	}
	cmd.RunE = w.onRun(func(b *bench, f reconcile.Found) error {
		return b.stopCycle(cmd.Context(), f, strings.TrimSpace(reason), by)
	})
	cmd.Flags().StringVarP(&reason, "message", "m", "", "why; it stands in the record")
	cmd.Flags().StringVar(&by, "as", login(), "who stops it")
	return cmd
}

func (b *bench) stopCycle(ctx context.Context, f reconcile.Found, reason, by string) error {
	v, err := b.cycle(f, "stop")
	if err != nil {
		return err
	}
	if err := checkReason("stop", v, reason, by); err != nil {
		return err
	}
	if reason, err = b.reasonFor(ctx, v, "stop", reason); err != nil {
		return err
	}
	body, err := schemas.Encode(schemas.Object{{Name: "reason", Value: reason}, {Name: "by", Value: by}})
	if err != nil {
		return err
	}
	file := path.Join(f.Run.Dir, "stop.json")
	if err := b.writeDown(v, "stop", engine.Document{Path: file, Kind: layout.OptimizerKindStop, Body: body}); err != nil {
		return err
	}
	data := map[string]any{"run": v.Key.String(), "by": by, "reason": reason, "path": file, "daemon": daemonRuns(b.root)}
	return b.w.answer(data, func() { b.w.say("%s is given up, by %s: %s", brief(v.Key), line(by), cut(line(reason), 160)) })
}

// cycle looks at a cycle that a verb wants to change, and refuses what cannot be
// changed.
func (b *bench) cycle(f reconcile.Found, verb string) (view, error) {
	v := b.viewOf(f)
	switch {
	case f.Run.Family != "optimizer":
		return v, usage("cannot %s %s: it is no optimisation cycle", verb, brief(f.Key()))
	case f.Run.Class == layout.OptimizerArchived:
		return v, refused("cannot %s %s: it was put away, and what lies in the archive is never written", verb, brief(f.Key())).
			try("move its folder back to active")
	case f.Run.Class != layout.OptimizerRun:
		return v, refused("cannot %s %s: placet does not serve it", verb, brief(f.Key())).try("%s", typed("explain", f.Run.ID))
	case v.Final:
		return v, refused("cannot %s %s: it is %s, and that is final", verb, brief(f.Key()), line(string(v.Status)))
	case !b.begun(f):
		return v, refused("cannot %s %s: no cycle has begun there", verb, brief(f.Key())).try("%s", typed("explain", brief(f.Key())))
	}
	return v, nil
}

// begun reports whether a run has a cycle: something that begins one, or a state.
func (b *bench) begun(f reconcile.Found) bool {
	for _, name := range []string{"trigger.json", "state.json"} {
		kind, _ := f.Family.Layout.File(f.Run, name)
		if !b.settled(path.Join(f.Run.Dir, name), kind).Absent() {
			return true
		}
	}
	return false
}

func stateFile(f reconcile.Found) layout.File {
	kind, _ := f.Family.Layout.File(f.Run, path.Base(f.Run.State))
	return kind
}

// writeDown makes a person's word durable, and says who carries it out.
func (b *bench) writeDown(v view, verb string, d engine.Document) error {
	err := b.store.Write(d)
	if errors.Is(err, store.ErrMoved) {
		return refused("cannot %s %s: %s stands there already, or was just written", verb, brief(v.Key), d.Path).try("%s", typed("explain", brief(v.Key)))
	}
	if err != nil {
		return refused("cannot write %s: %v", d.Path, err)
	}
	if !daemonRuns(b.root) {
		b.w.note("no daemon runs here: run `placet once` or `placet watch` to carry it out")
	}
	return nil
}

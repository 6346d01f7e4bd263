package main

import (
	"errors"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"placet/engine"
	"placet/engine/reconcile"
	"placet/engine/store"
	"placet/layout"
	"placet/schemas"
)

// faberCommand holds what FABER alone has.
func faberCommand(w *world) *cobra.Command {
	cmd := &cobra.Command{Use: "faber", Short: "FABER runs: cancel", GroupID: groupFamilies}
	return subcommands(cmd, faberCancelCommand(w))
}

func faberCancelCommand(w *world) *cobra.Command {
	var reason, by string
	cmd := &cobra.Command{
		Use: "cancel RUN -m REASON", Short: "Give a FABER run up",
		Long: `Gives a FABER run up, whatever it waits for: writes cancel.json, which placet
watch, or the next placet once, carries out. There is no way back.`,
		Args: takes(1, 1), ValidArgsFunction: completeRuns(w),
		RunE: w.onRun(func(b *bench, f reconcile.Found) error {
			return b.cancel(f, strings.TrimSpace(reason), by)
		}),
	}
	cmd.Flags().StringVarP(&reason, "message", "m", "", "why; it stands in the record")
	cmd.Flags().StringVar(&by, "as", login(), "who cancels")
	return cmd
}

// cancelling is cancel.json.
type cancelling struct {
	By     string `json:"by"`
	Reason string `json:"reason"`
}

func (b *bench) cancel(f reconcile.Found, reason, by string) error {
	v := b.viewOf(f)
	switch {
	case f.Run.Family != "faber":
		return usage("cannot cancel %s: it is no FABER run", brief(f.Key()))
	case reason == "":
		return usage("cannot cancel %s without a reason", brief(f.Key())).try("add -m REASON")
	case v.Final:
		return refused("cannot cancel %s: it is %s, and that is final", brief(f.Key()), line(string(v.Status)))
	case f.Run.Class != layout.FaberRun:
		return refused("cannot cancel %s: placet does not serve it", brief(f.Key())).try("%s", typed("explain", f.Run.ID))
	}
	if err := checkReason("cancel", v, reason, by); err != nil {
		return err
	}
	done := cancelling{By: by, Reason: reason}
	body, err := schemas.Encode(done)
	if err != nil {
		return err
	}
	file := path.Join(f.Run.Dir, "cancel.json")
	err = b.store.Write(engine.Document{Path: file, Kind: layout.FaberCancel, Body: body})
	if errors.Is(err, store.ErrMoved) {
		return refused("cannot cancel %s: %s stands there already", brief(f.Key()), file).try("%s", typed("explain", brief(f.Key())))
	}
	if err != nil {
		return refused("cannot write %s: %v", file, err)
	}
	daemon := daemonRuns(b.root)
	if !daemon {
		defer b.w.note("no daemon runs here: run `placet once` or `placet watch` to carry it out")
	}
	data := map[string]any{"run": v.Key.String(), "by": by, "reason": reason, "path": file, "daemon": daemon}
	return b.w.answer(data, func() { b.w.say("%s is given up, by %s: %s", brief(v.Key), line(by), cut(line(reason), 160)) })
}

package cli

import (
	"errors"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/reconcile"
	"placet/engine/store"
	"placet/layout"
	"placet/schemas"
)

// faberCommand holds what FABER alone has.
func faberCommand(w *console.Env) *cobra.Command {
	cmd := &cobra.Command{Use: "faber", Short: "FABER runs: cancel", GroupID: groupFamilies}
	return subcommands(cmd, faberCancelCommand(w))
}

func faberCancelCommand(w *console.Env) *cobra.Command {
	var reason, by string
	cmd := &cobra.Command{
		Use: "cancel RUN -m REASON", Short: "Give a FABER run up",
		Long: `Gives a FABER run up, whatever it waits for: writes cancel.json, which placet
watch, or the next placet once, carries out. There is no way back.`,
		Args: takes(1, 1), ValidArgsFunction: completeRuns(w),
		RunE: onRun(w, func(b *workspace.Workspace, f reconcile.Found) error {
			return cancelRun(b, f, strings.TrimSpace(reason), by)
		}),
	}
	cmd.Flags().StringVarP(&reason, "message", "m", "", "why; it stands in the record")
	cmd.Flags().StringVar(&by, "as", console.Login(), "who cancels")
	return cmd
}

// cancelling is cancel.json.
type cancelling struct {
	By     string `json:"by"`
	Reason string `json:"reason"`
}

func cancelRun(b *workspace.Workspace, f reconcile.Found, reason, by string) error {
	v := b.ViewOf(f)
	switch {
	case f.Run.Family != "faber":
		return console.Usage("cannot cancel %s: it is no FABER run", console.Brief(f.Key()))
	case reason == "":
		return console.Usage("cannot cancel %s without a reason", console.Brief(f.Key())).Try("add -m REASON")
	case v.Final:
		return console.Refused("cannot cancel %s: it is %s, and that is final", console.Brief(f.Key()), console.OneLine(string(v.Status)))
	case f.Run.Class != layout.FaberRun:
		return console.Refused("cannot cancel %s: placet does not serve it", console.Brief(f.Key())).Try("%s", console.Typed("explain", f.Run.ID))
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
	err = b.Store.Write(engine.Document{Path: file, Kind: layout.FaberCancel, Body: body})
	if errors.Is(err, store.ErrMoved) {
		return console.Refused("cannot cancel %s: %s stands there already", console.Brief(f.Key()), file).Try("%s", console.Typed("explain", console.Brief(f.Key())))
	}
	if err != nil {
		return console.Refused("cannot write %s: %v", file, err)
	}
	daemon := workspace.DaemonRuns(b.Root)
	if !daemon {
		defer b.Env.Note("no daemon runs here: run `placet once` or `placet watch` to carry it out")
	}
	data := map[string]any{"run": v.Key.String(), "by": by, "reason": reason, "path": file, "daemon": daemon}
	return b.Env.Answer(data, func() {
		b.Env.Say("%s is given up, by %s: %s", console.Brief(v.Key), console.OneLine(by), console.Cut(console.OneLine(reason), 160))
	})
}

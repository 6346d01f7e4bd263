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
	"placet/engine/reconcile"
	"placet/engine/store"
	"placet/layout"
	"placet/schemas"
)

// aflCommand holds what AFL alone has.
func aflCommand(w *console.Env) *cobra.Command {
	cmd := &cobra.Command{Use: "afl", Short: "AFL sessions: pause, resume, abort", GroupID: groupFamilies}
	return subcommands(cmd,
		controlCommand(w, controlRequest{word: "pause", want: "pause", said: "is to pause"}, "Have nothing start in an AFL session",
			"Nothing starts any more in the session; attempts that are running go on to their\nverdict."),
		controlCommand(w, controlRequest{word: "resume", want: "run", said: "is to go on"}, "Have a paused AFL session go on",
			"A session that a person paused goes on. One that waits for its checkpoints to be\napproved goes on when they are."),
		controlCommand(w, controlRequest{word: "abort", want: "abort", said: "is given up", final: true}, "Give an AFL session up",
			"The session and every checkpoint that is not finished are aborted; what runs is\nended. There is no way back. Without -m the reason is asked for on a terminal."),
	)
}

// controlRequest is what a person wants of a session. One that cannot be taken back needs a
// reason.
type controlRequest struct {
	word, want, said string
	final            bool
}

func controlCommand(w *console.Env, want controlRequest, short, long string) *cobra.Command {
	var reason, by string
	cmd := &cobra.Command{
		Use: want.word + " SESSION [-m REASON]", Short: short,
		Long: long + `

The wish is written as control.json in the session's folder, where it stands
until there is another. placet watch, or the next placet once, carries it out.`,
		Args: takes(1, 1), ValidArgsFunction: completeRuns(w),
	}
	cmd.RunE = onRun(w, func(b *workspace.Workspace, f reconcile.Found) error {
		return sendControl(cmd.Context(), b, f, want, strings.TrimSpace(reason), by)
	})
	cmd.Flags().StringVarP(&reason, "message", "m", "", "why; it stands in the record")
	cmd.Flags().StringVar(&by, "as", console.Login(), "who wants it")
	return cmd
}

func sendControl(ctx context.Context, b *workspace.Workspace, f reconcile.Found, want controlRequest, reason, by string) (err error) {
	v := b.ViewOf(f)
	switch {
	case f.Run.Family != "afl":
		return console.Usage("cannot %s %s: it is no AFL session", want.word, console.Brief(f.Key()))
	case v.Absent:
		return console.Refused("cannot %s %s: %s holds no session", want.word, console.Brief(f.Key()), f.Run.Dir)
	case v.Final:
		return console.Refused("cannot %s %s: it is %s, and that is final", want.word, console.Brief(f.Key()), console.OneLine(string(v.Status)))
	}
	if err := checkReason(want.word, v, reason, by); err != nil {
		return err
	}
	if want.final {
		if reason, err = reasonFor(ctx, b, v, want.word, reason); err != nil {
			return err
		}
	}
	control := schemas.Object{{Name: "want", Value: want.want}, {Name: "by", Value: by}}
	if reason != "" {
		control = append(control, schemas.Member{Name: "reason", Value: reason})
	}
	file, err := writeControl(b, f, control)
	if err != nil {
		return err
	}
	noteControl(b, v, want)
	daemon := workspace.DaemonRuns(b.Root)
	if !daemon {
		defer b.Env.Note("no daemon runs here: run `placet once` or `placet watch` to carry it out")
	}
	data := map[string]any{"run": v.Key.String(), "want": want.want, "by": by, "reason": reason, "path": file, "daemon": daemon}
	return b.Env.Answer(data, func() {
		b.Env.Say("%s %s, by %s%s", console.Brief(v.Key), want.said, console.OneLine(by), console.Suffix(": ", console.Cut(console.OneLine(reason), 160)))
	})
}

// writeControl makes a person's wish durable, in place of the one before.
func writeControl(b *workspace.Workspace, f reconcile.Found, control schemas.Object) (file string, err error) {
	file = path.Join(f.Run.Dir, "control.json")
	body, err := schemas.Encode(control)
	if err != nil {
		return file, err
	}
	kind, _ := f.Family.Layout.File(f.Run, "control.json")
	for range 3 {
		there := b.Settled(file, kind)
		if there.Err != nil && !there.Absent() {
			return file, console.Refused("cannot write %s: what stands there cannot be read: %v", file, there.Err).Try("remove it and try again")
		}
		err = b.Store.Write(engine.Document{Path: file, Kind: layout.AFLControl, Body: body, Over: there.Sum})
		if err == nil {
			return file, nil
		}
		if !errors.Is(err, store.ErrMoved) {
			return file, console.Refused("cannot write %s: %v", file, err)
		}
	}
	return file, console.Refused("cannot write %s: somebody else keeps writing it", file).Try("try again")
}

// noteControl says where a wish changes nothing for now.
func noteControl(b *workspace.Workspace, v workspace.View, want controlRequest) {
	paused := ""
	for _, f := range v.Facts {
		if f.Label == "paused" {
			paused = f.Value
		}
	}
	switch {
	case want.want == "run" && paused == "":
		b.Env.Note("%s is not paused: the wish stands and changes nothing for now", console.Brief(v.Key))
	case want.want == "run" && !strings.HasPrefix(paused, "person"):
		b.Env.Note("%s is paused until its checkpoints are approved (%s): see `%s`", console.Brief(v.Key), console.OneLine(paused), console.Typed("explain", console.Brief(v.Key)))
	case want.want == "pause" && paused != "":
		b.Env.Note("%s is paused already (%s)", console.Brief(v.Key), console.OneLine(paused))
	}
}

package main

import (
	"context"
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

// aflCommand holds what AFL alone has.
func aflCommand(w *world) *cobra.Command {
	cmd := &cobra.Command{Use: "afl", Short: "AFL sessions: pause, resume, abort", GroupID: groupFamilies}
	return subcommands(cmd,
		wishCommand(w, wish{word: "pause", want: "pause", said: "is to pause"}, "Have nothing start in an AFL session",
			"Nothing starts any more in the session; attempts that are running go on to their\nverdict."),
		wishCommand(w, wish{word: "resume", want: "run", said: "is to go on"}, "Have a paused AFL session go on",
			"A session that a person paused goes on. One that waits for its checkpoints to be\napproved goes on when they are."),
		wishCommand(w, wish{word: "abort", want: "abort", said: "is given up", final: true}, "Give an AFL session up",
			"The session and every checkpoint that is not finished are aborted; what runs is\nended. There is no way back. Without -m the reason is asked for on a terminal."),
	)
}

// wish is what a person wants of a session. One that cannot be taken back needs a
// reason.
type wish struct {
	word, want, said string
	final            bool
}

func wishCommand(w *world, want wish, short, long string) *cobra.Command {
	var reason, by string
	cmd := &cobra.Command{
		Use: want.word + " SESSION [-m REASON]", Short: short,
		Long: long + `

The wish is written as control.json in the session's folder, where it stands
until there is another. placet watch, or the next placet once, carries it out.`,
		Args: takes(1, 1), ValidArgsFunction: completeRuns(w),
	}
	cmd.RunE = w.onRun(func(b *bench, f reconcile.Found) error {
		return b.wish(cmd.Context(), f, want, strings.TrimSpace(reason), by)
	})
	cmd.Flags().StringVarP(&reason, "message", "m", "", "why; it stands in the record")
	cmd.Flags().StringVar(&by, "as", login(), "who wants it")
	return cmd
}

func (b *bench) wish(ctx context.Context, f reconcile.Found, want wish, reason, by string) (err error) {
	v := b.viewOf(f)
	switch {
	case f.Run.Family != "afl":
		return usage("cannot %s %s: it is no AFL session", want.word, brief(f.Key()))
	case v.Absent:
		return refused("cannot %s %s: %s holds no session", want.word, brief(f.Key()), f.Run.Dir)
	case v.Final:
		return refused("cannot %s %s: it is %s, and that is final", want.word, brief(f.Key()), line(string(v.Status)))
	}
	if err := checkReason(want.word, v, reason, by); err != nil {
		return err
	}
	if want.final {
		if reason, err = b.reasonFor(ctx, v, want.word, reason); err != nil {
			return err
		}
	}
	control := schemas.Object{{Name: "want", Value: want.want}, {Name: "by", Value: by}}
	if reason != "" {
		control = append(control, schemas.Member{Name: "reason", Value: reason})
	}
	file, err := b.control(f, control)
	if err != nil {
		return err
	}
	b.noteWish(v, want)
	daemon := daemonRuns(b.root)
	if !daemon {
		defer b.w.note("no daemon runs here: run `placet once` or `placet watch` to carry it out")
	}
	data := map[string]any{"run": v.Key.String(), "want": want.want, "by": by, "reason": reason, "path": file, "daemon": daemon}
	return b.w.answer(data, func() {
		b.w.say("%s %s, by %s%s", brief(v.Key), want.said, line(by), suffix(": ", cut(line(reason), 160)))
	})
}

// control makes a person's wish durable, in place of the one before.
func (b *bench) control(f reconcile.Found, control schemas.Object) (file string, err error) {
	file = path.Join(f.Run.Dir, "control.json")
	body, err := schemas.Encode(control)
	if err != nil {
		return file, err
	}
	kind, _ := f.Family.Layout.File(f.Run, "control.json")
	for range 3 {
		there := b.settled(file, kind)
		if there.Err != nil && !there.Absent() {
			return file, refused("cannot write %s: what stands there cannot be read: %v", file, there.Err).try("remove it and try again")
		}
		err = b.store.Write(engine.Document{Path: file, Kind: layout.AFLControl, Body: body, Over: there.Sum})
		if err == nil {
			return file, nil
		}
		if !errors.Is(err, store.ErrMoved) {
			return file, refused("cannot write %s: %v", file, err)
		}
	}
	return file, refused("cannot write %s: somebody else keeps writing it", file).try("try again")
}

// noteWish says where a wish changes nothing for now.
func (b *bench) noteWish(v view, want wish) {
	paused := ""
	for _, f := range v.Facts {
		if f.Label == "paused" {
			paused = f.Value
		}
	}
	switch {
	case want.want == "run" && paused == "":
		b.w.note("%s is not paused: the wish stands and changes nothing for now", brief(v.Key))
	case want.want == "run" && !strings.HasPrefix(paused, "person"):
		b.w.note("%s is paused until its checkpoints are approved (%s): see `%s`", brief(v.Key), line(paused), typed("explain", brief(v.Key)))
	case want.want == "pause" && paused != "":
		b.w.note("%s is paused already (%s)", brief(v.Key), line(paused))
	}
}

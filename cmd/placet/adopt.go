package main

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"placet/engine"
	"placet/engine/reader"
	"placet/engine/reconcile"
	"placet/templates"
)

func adoptCommand(w *world) *cobra.Command {
	var reason, by string
	cmd := &cobra.Command{
		Use: "adopt RUN[@DIGEST]", Short: "Accept a state document that somebody else wrote",
		Long: `Accepts the state.json of a run that stands still because its journal does not
account for it: somebody else than placet changed it. Look at it first, for
instance with git diff; the usual way is to restore it. RUN@DIGEST names exactly
what was shown, by the first digits of its digest; without a digest a terminal
shows what is there and asks.

A line of the run's events.jsonl records who adopted which state. The run goes on
from there with placet watch, or the next placet once.`,
		Args: takes(1, 1), GroupID: groupDecide, ValidArgsFunction: completeRuns(w),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := w.look()
			if err != nil {
				return err
			}
			run, digest, named := cutLast(args[0], "@")
			f, err := b.oneRun(run)
			if err != nil {
				return err
			}
			if named && len(digest) < leastDigest {
				return usage("cannot adopt %s: %q is too short for a digest", brief(f.Key()), line(digest)).try("name at least %d digits", leastDigest)
			}
			return b.adopt(cmd.Context(), f, digest, strings.TrimSpace(reason), by)
		},
	}
	cmd.Flags().StringVarP(&reason, "message", "m", "", "why; it stands in the record")
	cmd.Flags().StringVar(&by, "as", login(), "who adopts it")
	return cmd
}

// leastDigest is how many digits of a digest name it at least; shownDigest is how
// many are shown.
const (
	leastDigest = 7
	shownDigest = 8
)

// cutLast is strings.Cut at the last separator.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// adopt records a person's word for the state document of a run, whose digest
// begins with the given one; "" asks at a terminal.
func (b *bench) adopt(ctx context.Context, f reconcile.Found, digest, reason, by string) error {
	v := b.viewOf(f)
	state := b.settled(f.Run.State, stateFile(f))
	if err := checkReason("adopt", v, reason, by); err != nil {
		return err
	}
	if v.Unaccounted == "" {
		return refused("cannot adopt the state of %s: nothing is wrong between it and its journal", brief(v.Key)).try("placet explain %s", brief(v.Key))
	}
	short := v.Unaccounted.Hex()[:shownDigest]
	again := templates.CommandLine("placet adopt", []string{brief(v.Key) + "@" + short})
	switch {
	case state.Sum != v.Unaccounted:
		return refused("cannot adopt the state of %s: it changed just now", brief(v.Key)).try("placet explain %s", brief(v.Key))
	case digest != "" && !strings.HasPrefix(v.Unaccounted.Hex(), strings.TrimPrefix(digest, "sha256:")):
		return refused("cannot adopt the state of %s: its digest is %s by now, not %s", brief(v.Key), short, line(digest)).try("look at it, then %s", again)
	case digest == "" && !b.w.atTerminal():
		return refused("cannot adopt the state of %s without its digest: nobody can be asked here", brief(v.Key)).try("look at it, then %s", again)
	case digest == "":
		if err := b.askAdopt(ctx, v, f, short); err != nil {
			return err
		}
	}
	if err := b.adoptState(f, state, reason, by); err != nil {
		return err
	}
	daemon := daemonRuns(b.root)
	if !daemon {
		defer b.w.note("no daemon runs here: run `placet once` or `placet watch` to go on")
	}
	data := map[string]any{"run": v.Key.String(), "path": state.Path, "digest": state.Sum, "status": v.Status, "by": by, "reason": reason, "daemon": daemon}
	return b.w.answer(data, func() {
		b.w.say("adopted  %s  %s  %s, by %s%s", brief(v.Key), line(string(v.Status)), short, line(by), suffix(": ", cut(line(reason), 160)))
	})
}

// askAdopt shows what a state document says and asks whether it shall count.
func (b *bench) askAdopt(ctx context.Context, v view, f reconcile.Found, short string) error {
	p := b.w.newPrompter()
	defer p.close()
	fmt.Fprintf(b.w.err, "%s  %s  %s\n", brief(v.Key), line(string(v.Status)), short)
	for _, why := range v.Why {
		fmt.Fprintf(b.w.err, "%s\n", paragraph(why))
	}
	for _, fact := range v.Facts {
		fmt.Fprintf(b.w.err, "  %s: %s\n", line(fact.Label), line(fact.Value))
	}
	fmt.Fprintf(b.w.err, "See also: git diff -- %s\n", templates.ShellWord(f.Run.State))
	return p.agreed(ctx, "Shall it count as it is? (y/N) ")
}

// adoptState adds the line to the run's journal. Nobody else writes there: the run
// stands still. A line that is longer than what is read of a journal is refused.
func (b *bench) adoptState(f reconcile.Found, state engine.Document, reason, by string) error {
	body, err := reader.AdoptionLine(state, by, reason, b.w.now())
	if err != nil {
		return err
	}
	journal := reader.JournalBeside(state.Path)
	kind, _ := f.Family.Layout.File(f.Run, path.Base(journal))
	if n := int64(len(body)); kind.End > 0 && n > kind.End {
		return refused("cannot adopt the state of %s: its line of %s takes %d bytes: expected at most %d", brief(f.Key()), journal, n, kind.End).
			try("put a part of the reason into a file and name it")
	}
	plan := engine.Plan{Lines: []engine.Line{{Path: journal, Body: body}}}
	if err := b.store.Commit(f.Run, f.Family.Layout, plan); err != nil {
		return refused("cannot adopt the state of %s: %v", brief(f.Key()), err)
	}
	return b.store.Flush()
}

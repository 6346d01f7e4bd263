package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"placet/engine/exec"
	"placet/engine/reconcile"
	"placet/engine/sqlite"
	"placet/engine/store"
	"placet/engine/watch"
)

func watchCommand(w *world) *cobra.Command {
	var format, metrics string
	var watches int
	cmd := &cobra.Command{
		Use: "watch", Short: "Serve the workspace until stopped",
		Long: `Serves the workspace until stopped, by SIGINT or SIGTERM: watches the files,
moves each run on, and prints one line for every transition. One daemon serves
a workspace. It can be stopped or killed at any moment; nothing is lost.

With --metrics it can be asked over HTTP how it is doing, by Prometheus for
example: GET /metrics. The address is said on standard error; port 0 takes a
free one. Nobody is asked who they are: give a host other than 127.0.0.1 only
where everybody who reaches it may know how many requests wait.

At most half of the folders that the system lets a user watch are watched, and
65536; --watches sets another number. The rest is looked at every few seconds.`,
		Args: takes(0, 0), GroupID: groupRun,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case w.flags.json:
				return usage("cannot answer with one JSON object: watch does not end").try("placet watch --log json")
			case format != "text" && format != "json":
				return usage("--log takes text or json, not %q", line(format))
			}
			if cmd.Flags().Changed("watches") && watches < 1 {
				return usage("--watches takes a number from 1 on, not %d", watches)
			}
			var t *tap
			if cmd.Flags().Changed("metrics") {
				var err error
				if t, err = newTap(metrics); err != nil {
					return err
				}
			}
			return w.watch(cmd.Context(), format == "json", watches, t)
		},
	}
	cmd.Flags().StringVar(&format, "log", "text", "text, or json for one JSON object a line")
	cmd.Flags().StringVar(&metrics, "metrics", "", "answer GET /metrics at host:port, 127.0.0.1:9090 for example")
	cmd.Flags().IntVar(&watches, "watches", 0, "watch so many folders at most; 0 for half of what the system allows")
	return cmd
}

// watch serves the workspace. It watches so many folders at most, 0 for the usual
// number. t is nil where nobody asks for metrics.
func (w *world) watch(ctx context.Context, asJSON bool, watches int, t *tap) error {
	outliveReaders()
	moves := &moveLog{w: w}
	log := slog.New(newSpeech(w.err, slog.LevelInfo))
	if asJSON {
		moves.json = slog.New(slog.NewJSONHandler(w.out, nil))
		log = slog.New(slog.NewJSONHandler(w.err, nil))
	}
	var runner *exec.Runner
	s := setup{log: log, moved: moves.moved, refused: &refusalLog{log: log}, metrics: t.counts(), live: true, recall: true, remembers: true, runner: func(b *bench) *exec.Runner {
		runner = b.runner(log)
		return runner
	}}
	var b *bench
	unlock := func() {}
	defer func() { unlock() }()
	defer t.close()
	err := begin(ctx, log,
		func() (err error) { b, err = w.open(s); return err },
		func() error { return b.serve(&unlock) },
		t.listen,
		func() error { return runner.Recover() },
	)
	if err != nil {
		return orderly(err)
	}
	b.noteLeftovers()
	go b.hideScratch(log)
	watcher, err := watch.New(b.root, log)
	if err != nil {
		return err
	}
	defer watcher.Close()
	if watches > 0 {
		watcher.Limit(watches)
	}
	t.serve(b, watcher, log)
	b.noteUntrusted(b.untrusted(nil))
	go b.changing.poll(ctx, func() { runner.Revoke(b.changing.revoked) })
	go b.tellBlind(ctx, watcher)
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	go b.keepLock(ctx, log, end)
	err = b.loop.Watch(ctx, watcher, func(runs, waiting int) {
		w.note("watching %s (%s, %d waiting)", line(b.root), many(runs, "run", "runs"), waiting)
		lean()
		go stayLean(ctx)
	})
	if taken := (*problem)(nil); errors.As(context.Cause(ctx), &taken) {
		err = taken
	}
	return errors.Join(orderly(err), leave(runner))
}

// begin takes the steps of a start in their order, each until it succeeds: a machine in
// trouble is waited for. What a person must change ends the start.
func begin(ctx context.Context, log *slog.Logger, steps ...func() error) error {
	return reconcile.Persist(ctx, log, func() error {
		for ; len(steps) > 0; steps = steps[1:] {
			if err := steps[0](); err != nil {
				return err
			}
		}
		return nil
	}, func(err error) bool {
		var p *problem
		return errors.As(err, &p) && !reconcile.OfMachine(err)
	})
}

// serve takes the lock of the workspace, for this daemon alone.
func (b *bench) serve(unlock *func()) error {
	release, err := b.lockWorkspace()
	if errors.Is(err, store.ErrBusy) {
		return refused("cannot watch %q: another placet serves it already", b.root).try("placet status shows where the runs stand; stop that daemon first to start another")
	}
	if err == nil {
		*unlock = release
	}
	return err
}

// outliveReaders keeps the process from ending when nobody reads its output any
// more. The signal is caught, not ignored: commands would inherit that.
func outliveReaders() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// runner carries out the commands of a bench. It asks once more, when a
// command is about to begin, whether its owner still agrees to it.
func (b *bench) runner(log *slog.Logger) *exec.Runner {
	databases := sqlite.New(b.root)
	return exec.NewRunner(b.root, b.store, exec.RunnerOptions{
		State: b.stateRoot(), Families: b.layouts(), Database: databases.Do, Rested: databases.Rest,
		Now: b.w.now, Log: log, Allow: b.Commands.Env,
		Permit: b.permit, Record: b.record(),
		Told: func(id string) { b.loop.Told(id) },
	})
}

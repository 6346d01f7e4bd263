package cli

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"placet/cmd/placet/cli/nemawashi"

	"placet/cmd/placet/cli/verb"

	"github.com/spf13/pflag"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine/loop"
	"placet/engine/store/fs"
	"placet/engine/watch"
	"placet/templates"
)

func watchVerb() verb.Verb {
	var format, metrics string
	var watches int
	return verb.Verb{
		Use:   "watch",
		Group: verb.GroupRun,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&format, "log", "text", "")
			f.StringVar(&metrics, "metrics", "", "")
			f.IntVar(&watches, "watches", 0, "")
		},
		Run: func(c verb.Call) error {
			switch {
			case c.Env.Flags.JSON:
				return console.Usage("cli.watch.endless", "verb", "watch").Try("say.text", "text", "placet watch --log json")
			case format != "text" && format != "json":
				return console.Usage("cli.watch.log", "value", strconv.Quote(console.OneLine(format)))
			}
			if c.Flags.Changed("watches") && watches < 1 {
				return console.Usage("cli.watch.watches", "value", watches)
			}
			var t server = noServer{}
			if c.Flags.Changed("metrics") {
				m, err := newMetricsServer(metrics)
				if err != nil {
					return err
				}
				t = m
			}
			return serveWorkspace(c.Ctx, c.Env, format == "json", watches, t)
		},
	}
}

// server is what a daemon answers others with, besides files.
type server interface {
	// attach has a loop report to the server what it does.
	attach(o *loop.Options)
	// listen takes the address. Whoever asks from now on waits for serve.
	listen(b *workspace.Workspace) error
	// serve answers until close, and says where.
	serve(b *workspace.Workspace, watcher *watch.Watcher, log *slog.Logger)
	close()
}

// noServer answers nobody.
type noServer struct{}

func (noServer) attach(*loop.Options)                                     {}
func (noServer) listen(*workspace.Workspace) error                        { return nil }
func (noServer) serve(*workspace.Workspace, *watch.Watcher, *slog.Logger) {}
func (noServer) close()                                                   {}

// serveWorkspace serves the workspace. It watches so many folders at most, 0 for the usual
// number.
func serveWorkspace(ctx context.Context, w *console.Env, asJSON bool, watches int, t server) error {
	defer outliveReaders()()
	moves := &moveLog{w: w}
	log := slog.New(console.NewLogHandler(w.Err, slog.LevelInfo))
	if asJSON {
		moves.json = slog.New(console.NewJSONLogHandler(w.Out))
		log = slog.New(console.NewJSONLogHandler(w.Err))
	}
	var announcer workspace.Announcer
	s := workspace.Setup{Log: log, Moved: moves.moved, Attach: []func(*loop.Options){(&refusalLog{log: log}).attach, t.attach, announcer.Attach}, Live: true, Cached: true, Remembers: true, Acts: true}
	var b *workspace.Workspace
	unlock := func() {}
	defer func() { unlock() }()
	defer t.close()
	err := begin(ctx, log,
		func() (err error) { b, err = workspace.Open(w, s); return err },
		func() error { return takeLock(b, &unlock) },
		func() error { return t.listen(b) },
		func() error { return b.Runner.Recover() },
	)
	if err != nil {
		return verb.Orderly(err)
	}
	noteLeftovers(b)
	go hideScratch(b, log)
	watcher, err := watch.New(b.Root, log)
	if err != nil {
		return err
	}
	defer watcher.Close()
	if watches > 0 {
		watcher.Limit(watches)
	}
	if err := b.ClearServedAt(""); err != nil { // of a serve that was killed
		log.Warn("placet open and placet login may print links to a server that is gone", "err", err)
	}
	t.serve(b, watcher, log)
	noteUntrusted(b, b.Untrusted(nil))
	noteWarnings(b, "")
	announcer.Begin(b, log)
	go b.Changing.Poll(ctx, func() { b.Runner.Revoke(b.Changing.Revoked) })
	go workspace.ReportHealth(ctx, b, watcher)
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	go workspace.KeepLock(ctx, b, log, end)
	var announcing sync.WaitGroup
	err = b.Loop.Watch(ctx, watcher, func(runs, waiting int) {
		if names := nemawashi.EnvironDiffers(b.Settings.File, w.Getenv); len(names) > 0 {
			w.Note("cli.watch.environ", "names", strings.Join(names, ", "), "try", nemawashi.EnvironHelp)
		}
		w.Note("cli.watch.at", "workspace", console.OneLine(b.Root), "runs", templates.NewMessage("count.runs", "n", runs), "waiting", waiting)
		go keepSmall(ctx)
		announcing.Go(func() { announcer.Run(ctx) })
	})
	end(nil)
	announcing.Wait()
	if taken := (*console.Problem)(nil); errors.As(context.Cause(ctx), &taken) {
		err = taken
	}
	return errors.Join(verb.Orderly(err), stopRunner(b.Runner))
}

// begin takes the steps of a start in their order, each until it succeeds: a machine in
// trouble is waited for. What a person must change ends the start.
func begin(ctx context.Context, log *slog.Logger, steps ...func() error) error {
	return loop.Persist(ctx, log, func() error {
		for ; len(steps) > 0; steps = steps[1:] {
			if err := steps[0](); err != nil {
				return err
			}
		}
		return nil
	}, func(err error) bool {
		var p *console.Problem
		return errors.As(err, &p) && !loop.OfMachine(err)
	})
}

// takeLock takes the lock of the workspace, for this daemon alone.
func takeLock(b *workspace.Workspace, unlock *func()) error {
	release, err := b.LockWorkspace()
	if errors.Is(err, fs.ErrBusy) {
		return console.Refused("cli.watch.busy", "workspace", strconv.Quote(b.Root)).Try("cli.watch.busy.try")
	}
	if err == nil {
		*unlock = release
	}
	return err
}

// outliveReaders keeps the process from ending when nobody reads its output any
// more, until end is called. The signal is caught, not ignored: commands would inherit that.
func outliveReaders() (end func()) {
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGPIPE)
	return func() { signal.Stop(caught) }
}

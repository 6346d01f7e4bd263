// Package daemon serves a workspace until its context ends. watch, serve and once share it.
//
// daemon.go starts, holds the lock and runs the loop; moves.go and refusallog.go print what it does; metrics.go
// and runcounts.go count it; metricsserver.go and webserver.go answer over HTTP.
package daemon

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"

	"placet/cmd/placet/announce"
	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine/loop"
	"placet/engine/store/fs"
	"placet/engine/watch"
	"placet/templates"
)

// Options say how a workspace is served.
type Options struct {
	// JSON prints transitions and the log as JSON, for programs.
	JSON bool
	// Watches limits the folders that are watched, 0 for the usual number.
	Watches int
	// Begun is called, besides everything else, once this daemon holds the lock of the workspace.
	Begun func(b *workspace.Workspace, log *slog.Logger)
	// Serves is called when the runs are served, before placet prints that it watches.
	Serves func(b *workspace.Workspace)
	// Beside runs beside the loop until the context ends; nil for nothing.
	Beside func(ctx context.Context, b *workspace.Workspace, log *slog.Logger)
	// Server answers clients over HTTP; nil answers nobody.
	Server Server
}

// Server answers a daemon's clients over HTTP.
type Server interface {
	// attach makes a loop report what it does to the server.
	attach(o *loop.Options)
	// listen opens the address. Clients that connect from now on wait for serve.
	listen(b *workspace.Workspace) error
	// serve answers until close, and prints its address.
	serve(b *workspace.Workspace, watcher *watch.Watcher, log *slog.Logger)
	// presses gives the server what answers for presses of buttons, before it serves, and returns
	// the address to which buttons post; "" for none.
	presses(b *workspace.Workspace, press func(ctx context.Context, text string) error) (at string)
	close()
}

// noServer answers nobody.
type noServer struct{}

func (noServer) attach(*loop.Options)                                                     {}
func (noServer) listen(*workspace.Workspace) error                                        { return nil }
func (noServer) serve(*workspace.Workspace, *watch.Watcher, *slog.Logger)                 {}
func (noServer) presses(*workspace.Workspace, func(context.Context, string) error) string { return "" }
func (noServer) close()                                                                   {}

// Run serves the workspace until the context ends.
func Run(ctx context.Context, w *console.Env, o Options) error {
	defer outliveReaders()()
	t := o.Server
	if t == nil {
		t = noServer{}
	}
	moves := NewMoveLog(w)
	log := slog.New(console.NewLogHandler(w.Err, slog.LevelInfo))
	if o.JSON {
		moves.json = slog.New(console.NewJSONLogHandler(w.Out))
		log = slog.New(console.NewJSONLogHandler(w.Err))
	}
	var announcer announce.Announcer
	s := workspace.Setup{Log: log, Moved: moves.Moved, Attach: []func(*loop.Options){(&refusalLog{log: log}).attach, t.attach, announcer.Attach}, Live: true, Cached: true, Remembers: true, Acts: true}
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
		return Orderly(err)
	}
	NoteLeftovers(b)
	go o.Begun(b, log)
	watcher, err := watch.New(b.Root, log)
	if err != nil {
		return err
	}
	defer watcher.Close()
	if o.Watches > 0 {
		watcher.Limit(o.Watches)
	}
	if err := workspace.ClearServedAt(b, ""); err != nil { // left by a serve that was killed
		log.Warn("placet open and placet open --print may print links to a server that is gone", "err", err)
	}
	announcer.PostTo = t.presses(b, announcer.Press)
	announcer.Begin(b, log)
	t.serve(b, watcher, log)
	NoteUntrusted(b, view.Untrusted(b, nil))
	NoteWarnings(b, "")
	go b.Changing.Poll(ctx, func() { b.Runner.Revoke(b.Changing.Revoked) })
	go workspace.ReportHealth(ctx, b, watcher)
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	go workspace.KeepLock(ctx, b, log, end)
	var announcing sync.WaitGroup
	if o.Beside != nil {
		announcing.Go(func() { o.Beside(ctx, b, log) })
	}
	err = b.Loop.Watch(ctx, watcher, func(runs, waiting int) {
		o.Serves(b)
		w.Note("cli.watch.at", "workspace", b.Root, "runs", templates.NewMessage("count.runs", "n", runs), "waiting", waiting)
		go keepSmall(ctx)
		announcing.Go(func() { announcer.Run(ctx) })
	})
	end(nil)
	announcing.Wait()
	if taken := (*console.Problem)(nil); errors.As(context.Cause(ctx), &taken) {
		err = taken
	}
	return errors.Join(Orderly(err), StopRunner(b.Runner))
}

// begin runs the steps of a start in order, and retries each until it succeeds, so that it outlasts a machine
// in trouble. An error that only a person can mend ends the start.
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

// takeLock takes the lock of the workspace for this daemon.
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

// outliveReaders keeps the process alive when nobody reads its output any more, until end is called. It catches
// the signal and does not ignore it, because commands would inherit that.
func outliveReaders() (end func()) {
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGPIPE)
	return func() { signal.Stop(caught) }
}

// Orderly returns the error of a verb that a signal ended in good order.
func Orderly(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

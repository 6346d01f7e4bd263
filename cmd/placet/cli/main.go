// Package cli is placet's command line: one file for each verb or small group of them.
//
// Answers go to standard output, progress and errors to standard error. Text that comes
// from files is shown through console.OneLine or console.Lines.
package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"placet/cmd/placet/console"
	"placet/templates"
)

// Main runs the command line of this process. release is the version that was given to the
// linker, "" for none.
func Main(release string) int {
	version = release
	w, err := console.NewEnv()
	if err != nil {
		fmt.Fprintln(os.Stderr, "placet:", templates.Phrase(console.Locale(os.Getenv), "cli.main.begin", "error", err))
		return console.ExitProblem
	}
	w.CollectLater = collectLater
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	return run(ctx, w, os.Args[1:])
}

// garbage is how much garbage a short verb may leave uncollected, in percent of what it uses:
// collecting at the usual pace costs half as much as the verb's own work. Above garbageLimit
// bytes it is collected all the same.
const (
	garbage      = 800
	garbageLimit = 256 << 20
)

// collectLater makes this process, which soon ends, collect garbage later than a daemon does.
func collectLater() {
	debug.SetGCPercent(garbage)
	debug.SetMemoryLimit(garbageLimit)
}

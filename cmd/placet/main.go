// Command placet is the clerk for human decisions in a workspace where agents
// work: it watches the files of their runs, moves each run on, and asks and
// answers by files.
//
// This package is wiring and the command line, the only place that knows
// everything: main.go and root.go the command line, one file for each verb or
// small group, settings.go, strict.go, policy.go and trust.go the
// configuration, wiring.go the parts of engine put together.
//
// Answers go to standard output, progress and errors to standard error, and
// text that comes from files is shown through line or paragraph (text.go).
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(placet()) }

// placet runs the command line of this process.
func placet() int {
	w, err := realWorld()
	if err != nil {
		fmt.Fprintln(os.Stderr, "placet: cannot begin:", err)
		return exitProblem
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	return w.run(ctx, os.Args[1:])
}

package daemon

import (
	"context"
	"errors"
	"time"

	"placet/cmd/placet/workspace"
	"placet/engine/exec"
	"placet/engine/loop"
)

// mostRounds limits how often once settles again because a check or a database write has ended.
// A workspace needs one round more than it has checks in a row, which is far less.
const mostRounds = 64

// Settle settles the workspace, and again after the checks and database writes that it began
// have ended, until none is begun any more.
func Settle(ctx context.Context, b *workspace.Workspace) (loop.Report, error) {
	moved := 0
	for round := 1; ; round++ {
		before := b.ChecksBegun.Load()
		report, err := b.Loop.Once(ctx)
		err = errors.Join(err, b.Runner.Wait(ctx))
		moved += report.Moved
		report.Moved = moved
		if err != nil || report.Held != "" || b.ChecksBegun.Load() == before || round == mostRounds {
			waitForAgents(ctx, b)
			return report, err
		}
	}
}

// waitForAgents waits for the agents that were begun, as long as they ask for.
func waitForAgents(ctx context.Context, b *workspace.Workspace) {
	if grace := time.Duration(b.Grace.Load()); grace > 0 {
		short, cancel := context.WithTimeout(ctx, grace)
		defer cancel()
		_ = b.Runner.WaitAll(short) // an agent that goes on is as it should be
	}
}

// stopTime is how long checks and sends may take to end when placet ends: sends are cut off
// after ten seconds, and their outcomes are written after that.
const stopTime = 15 * time.Second

// StopRunner stops the checks of a runner. Agents are left running.
func StopRunner(r *exec.Runner) error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	return r.Stop(ctx)
}

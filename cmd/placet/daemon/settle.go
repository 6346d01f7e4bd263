package daemon

import (
	"context"
	"errors"
	"time"

	"placet/cmd/placet/workspace"
	"placet/engine/exec"
	"placet/engine/loop"
)

// mostRounds is how often once settles anew because a check, or something for a
// database, has ended. Nothing
// that lies there needs as many: one round more than checks in a row.
const mostRounds = 64

// Settle settles what is there, then what the checks that were begun have come
// to, and what was begun for databases, until none is begun any more.
func Settle(ctx context.Context, b *workspace.Workspace) (loop.Report, error) {
	moved := 0
	for round := 1; ; round++ {
		before := b.ChecksBegun.Load()
		report, err := b.Loop.Once(ctx)
		err = errors.Join(err, b.Runner.Wait(ctx))
		moved += report.Moved
		report.Moved = moved
		if err != nil || report.Held != "" || b.ChecksBegun.Load() == before || round == mostRounds {
			return report, err
		}
	}
}

// stopTime is how long checks and sends may take to end when placet ends: sends are cut
// after ten seconds, and their outcomes are written after that.
const stopTime = 15 * time.Second

// StopRunner stops the checks of a runner. Agents are left running.
func StopRunner(r *exec.Runner) error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	return r.Stop(ctx)
}

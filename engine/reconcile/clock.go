package reconcile

import (
	"context"
	"time"
)

const (
	// clockPoll is how long the clock is trusted: a machine that slept or
	// whose clock was set notices within this time.
	clockPoll = 2 * time.Second
	// clockJump is by how much the clock may differ from the time that passed.
	clockJump = time.Second
)

// clock marks runs whose moment has come.
type clock struct{ *session }

// run marks the runs whose moment has come. Moments are compared with the
// wall clock time and again, never slept for in one piece: a deadline that
// passes while the machine sleeps is handled when it wakes.
func (c clock) run(ctx context.Context) {
	wall, mono := c.l.o.Now().Round(0), time.Now()
	for {
		now := c.l.o.Now()
		if jumped(now.Round(0).Sub(wall), time.Since(mono)) {
			// A wait counted from the wrong hour may be for ever.
			c.queue.markAll(c.timers.all())
		}
		wall, mono = now.Round(0), time.Now()
		c.queue.markAll(c.timers.due(now))
		if !c.sleep(ctx, now) {
			return
		}
	}
}

// jumped reports whether the clock was set, given how far it went and how much
// time passed.
func jumped(went, passed time.Duration) bool {
	return (went - passed).Abs() > clockJump
}

// sleep waits until a timer passes, an earlier one is set, or the clock is to
// be looked at again. It is false when the context ended.
func (c clock) sleep(ctx context.Context, now time.Time) bool {
	wait := clockPoll
	if next, ok := c.timers.next(); ok {
		wait = min(max(next.Sub(now), 0), clockPoll)
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-c.timers.earlier:
	case <-t.C:
	}
	return true
}

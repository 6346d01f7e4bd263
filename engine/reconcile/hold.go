package reconcile

import (
	"context"
	"time"
)

// holdPoll is how often the tree is looked at while git rewrites it.
const holdPoll = 250 * time.Millisecond

// free waits until git does not rewrite the tree. The hold is said once.
func (l *Loop) free(ctx context.Context) error {
	for {
		reason, held := l.o.Store.Hold()
		l.sayHold(reason, held)
		if !held {
			return nil
		}
		if err := pause(ctx, holdPoll); err != nil {
			return err
		}
	}
}

// sayHold logs that a hold begins or ends.
func (l *Loop) sayHold(reason string, held bool) {
	l.holdMu.Lock()
	defer l.holdMu.Unlock()
	switch {
	case held && l.held == "":
		l.o.Log.Warn("nothing is decided until git is ready with the tree", "because", reason)
		l.held = reason
	case !held && l.held != "":
		l.o.Log.Info("git is ready with the tree; going on", "over", l.held)
		l.held = ""
	}
}

// pause waits, or ends with the context's error.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

package loop

import (
	"context"
	"strings"
	"time"

	"placet/engine/store"
)

// pausePoll is how often to look at the tree while git rewrites it, or while it
// is not there.
const pausePoll = 250 * time.Millisecond

// awaitTree waits until placet may decide again. It logs the reason once.
func (l *Loop) awaitTree(ctx context.Context) error {
	for {
		reason, held := l.o.Store.Paused()
		l.logPause(reason, held)
		if !held {
			return nil
		}
		if err := pause(ctx, pausePoll); err != nil {
			return err
		}
	}
}

// logPause logs that a pause begins or ends, or that one of another kind follows.
func (l *Loop) logPause(reason string, held bool) {
	l.holdMu.Lock()
	defer l.holdMu.Unlock()
	if l.held != "" && (!held || gone(reason) != gone(l.held)) {
		if held || l.o.Store.Stale() == "" {
			l.o.Log.Info(begins[gone(l.held)].over, "over", l.held)
		}
		l.held = ""
	}
	if held && l.held == "" {
		l.o.Log.Warn(begins[gone(reason)].nothing, "because", reason)
		l.held = reason
	}
}

// logStale logs once that a sign of git's stands and holds nothing up any more.
func (l *Loop) logStale(stale string) {
	l.holdMu.Lock()
	defer l.holdMu.Unlock()
	if stale != "" && stale != l.stale {
		l.o.Log.Warn("git does not seem to be at work", "because", stale)
	}
	l.stale = stale
}

// begins holds what the log says of a pause, by whether the workspace is gone.
var begins = map[bool]struct{ nothing, over string }{
	false: {"nothing is decided until git is ready with the tree", "git is ready with the tree; going on"},
	true:  {"nothing is decided until the workspace is back; to serve what is there now, start placet again", "the workspace is back; going on"},
}

// gone reports whether a hold's reason is that the workspace is gone.
func gone(reason string) bool { return strings.HasPrefix(reason, store.Gone) }

// sayAway says that the workspace is gone, or is back, and reports whether it is
// gone.
func (l *Loop) sayAway() bool {
	why := l.o.Store.Away()
	l.holdMu.Lock()
	was := gone(l.held)
	l.holdMu.Unlock()
	if why != "" || was {
		l.logPause(why, why != "")
	}
	return why != ""
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

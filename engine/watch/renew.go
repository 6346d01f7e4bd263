package watch

import (
	"errors"
	"syscall"
	"time"
)

// lost handles lost events: it marks everything and renews all watches, because a folder
// may have been replaced unnoticed. The caller holds the lock.
func (w *Watcher) lost() {
	wait := resetAfter - time.Since(w.resetAt)
	if w.resetAt.IsZero() || wait <= 0 {
		w.reset()
		return
	}
	w.pending.markAll(w.follows)
	w.due = true
	w.retry.later(wait)
}

// Anew renews all watches and wakes every owner: the workspace may be another folder than
// the one that the watches are on, or in another place.
func (w *Watcher) Anew() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.reset()
	}
}

// reset renews all watches and marks everything. The caller holds the lock.
func (w *Watcher) reset() {
	w.due = false
	w.resetAt = time.Now()
	if w.watches.source != nil {
		if err := w.watches.source.Close(); err != nil {
			w.say("cannot close the file events that overflowed", err)
		}
	}
	w.begin()
	w.rewatch(w.watches.nodes["."])
	w.pending.markAll(w.follows)
}

// retry is the timer for trying again what failed.
type retry struct {
	try    func()
	at     time.Time
	timer  *time.Timer
	closed bool
}

// later schedules the next try after d at the latest.
func (r *retry) later(d time.Duration) {
	now := time.Now()
	if r.closed || r.at.After(now) && !now.Add(d).Before(r.at) {
		return
	}
	if r.timer != nil {
		r.timer.Stop()
	}
	r.at = now.Add(d)
	r.timer = time.AfterFunc(d, r.try)
}

func (r *retry) close() {
	if r.closed = true; r.timer != nil {
		r.timer.Stop()
	}
}

// tryAgain tries again what failed: the source, the watches that must be renewed, the
// workspace, the watches that were refused.
func (w *Watcher) tryAgain() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.retry.at = time.Time{}
	root := w.watches.nodes["."]
	switch {
	case w.due || w.watches.source == nil:
		w.retrySource()
	case root != nil && root.sight == missing:
		w.retryRoot(root)
	case w.watches.blind > 0:
		w.retryRefused()
	}
}

// retryRoot checks whether the workspace is back.
func (w *Watcher) retryRoot(root *node) {
	if !w.home.here() {
		w.retry.later(rootAfter)
		return
	}
	w.rewatch(root)
	w.pending.markAll(w.follows)
}

// retrySource tries to get file events again. Owners must look at folders that are watched
// again; if there are still no events, nobody is woken.
func (w *Watcher) retrySource() {
	if w.due {
		w.reset()
		return
	}
	if w.begin(); w.watches.source != nil {
		w.rewatch(w.watches.nodes["."])
		w.pending.markAll(w.follows)
	}
}

// retryRefused tries the refused watches again, until one is refused for a reason that
// applies to all.
func (w *Watcher) retryRefused() {
	for _, n := range w.watches.nodes {
		if n.sight != refused {
			continue
		}
		if w.watches.watch(n); n.sight == refused {
			if w.watches.full {
				break
			}
			continue
		}
		w.pending.markNode(n)
	}
	if w.watches.blind > 0 {
		w.retry.later(retryAfter)
		return
	}
	clear(w.said)
	w.log.Info("all folders have file events again")
}

// say logs a cause once.
func (w *Watcher) say(text string, err error, more ...any) {
	key := text + ": " + cause(err)
	if w.said[key] {
		return
	}
	w.said[key] = true
	w.log.Warn(text, append([]any{"err", err}, more...)...)
}

// cause returns what an error has in common with others of its kind.
func cause(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno.Error()
	}
	return err.Error()
}

// exhausted reports whether an error says that no further watch is available.
func exhausted(err error) bool {
	return isBudget(err) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}

// rewatch drops the watches at and below a folder and adds them again by path. The caller
// holds the lock.
func (w *Watcher) rewatch(top *node) {
	if top == nil {
		return
	}
	top.each(func(n *node) {
		w.watches.drop(n)
		n.needed = false
		w.forgetCookie(n.path())
	})
	top.each(func(n *node) {
		w.pending.markNode(n)
		if !n.spare() {
			w.watches.watch(n)
		}
	})
}

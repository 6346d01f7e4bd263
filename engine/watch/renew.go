package watch

import (
	"errors"
	"syscall"
	"time"
)

// lost answers to lost events: everything is looked at, and all watches are
// made anew, for a folder may have been put in another's place unseen. The
// caller holds the lock.
func (w *Watcher) lost() {
	wait := resetAfter - time.Since(w.resetAt)
	if w.resetAt.IsZero() || wait <= 0 {
		w.reset()
		return
	}
	w.markAll()
	w.due = true
	w.retryLater(wait)
}

// Anew makes all watches anew and wakes everybody: the workspace may be another
// folder, or in another place, than the watches stand for.
func (w *Watcher) Anew() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.reset()
	}
}

// reset makes all watches anew and marks everything. The caller holds the lock.
func (w *Watcher) reset() {
	w.due = false
	w.resetAt = time.Now()
	if w.source != nil {
		if err := w.source.Close(); err != nil {
			w.say("cannot close the file events that overflowed", err)
		}
	}
	w.begin()
	w.replant(w.nodes["."])
	w.markAll()
}

// markAll makes every owner dirty and asks for a rescan. The caller holds the
// lock.
func (w *Watcher) markAll() {
	for owner := range w.follows {
		w.dirty[owner] = struct{}{}
	}
	w.dirs = map[string]struct{}{".": {}}
	w.rescan, w.missed = true, true
	w.signal()
}

// retryLater has what is missing tried again after d at the latest. The caller
// holds the lock.
func (w *Watcher) retryLater(d time.Duration) {
	now := time.Now()
	if w.closed || w.retryAt.After(now) && !now.Add(d).Before(w.retryAt) {
		return
	}
	if w.retry != nil {
		w.retry.Stop()
	}
	w.retryAt = now.Add(d)
	w.retry = time.AfterFunc(d, w.tryAgain)
}

// tryAgain brings back what could not be had: the source, the watches that
// were due, the workspace, the watches that were refused.
func (w *Watcher) tryAgain() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.retryAt = time.Time{}
	root := w.nodes["."]
	switch {
	case w.due || w.source == nil:
		w.retrySource()
	case root != nil && root.sight == missing:
		w.retryRoot(root)
	case w.blind > 0:
		w.retryRefused()
	}
}

// retryRoot looks whether the workspace is back.
func (w *Watcher) retryRoot(root *node) {
	if !w.home.here() {
		w.retryLater(rootAfter)
		return
	}
	w.replant(root)
	w.markAll()
}

// retrySource tries to have file events again. What is watched again must be
// looked at; where there still are none, nobody is woken.
func (w *Watcher) retrySource() {
	if w.due {
		w.reset()
		return
	}
	if w.begin(); w.source != nil {
		w.replant(w.nodes["."])
		w.markAll()
	}
}

// retryRefused tries the refused watches again, until one is refused for a
// reason that holds for all.
func (w *Watcher) retryRefused() {
	for _, n := range w.nodes {
		if n.sight != refused {
			continue
		}
		if w.plant(n); n.sight == refused {
			if w.full {
				break
			}
			continue
		}
		w.mark(n)
	}
	if w.blind > 0 {
		w.retryLater(retryAfter)
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

// cause is what an error has in common with others of its kind.
func cause(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno.Error()
	}
	return err.Error()
}

// exhausted reports whether an error says that no watch at all can be had.
func exhausted(err error) bool {
	return isBudget(err) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}

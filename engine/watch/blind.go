package watch

import "slices"

// Lacks says what keeps file events from being relied on.
type Lacks struct {
	// Events: there are none at all; the system gives no source of them.
	Events bool
	// Watches: the system refuses further ones.
	Watches bool
	// Folders: there are blind ones; see [Watcher.Blind].
	Folders bool
}

// Lacks says what the watcher is short of at this moment, at the cost of a look
// at every root.
func (w *Watcher) Lacks() Lacks {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := Lacks{Events: w.watches.source == nil && !w.closed, Watches: w.watches.short, Folders: w.watches.blind > 0}
	for _, c := range w.cookies {
		l.Folders = l.Folders || c.blind
	}
	return l
}

// Blind returns the folders in and below which no file events can be relied
// on, sorted, the topmost of each branch: those whose watch was refused, and
// the roots in which a test raised no event. It is nil where all is well. The caller
// must not change it.
func (w *Watcher) Blind() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var blind []string
	for p, c := range w.cookies {
		if c.blind {
			blind = append(blind, p)
		}
	}
	if len(blind) == 0 {
		return w.watches.refusedDirs()
	}
	blind = append(blind, w.watches.refusedDirs()...)
	slices.Sort(blind)
	return slices.Compact(blind)
}

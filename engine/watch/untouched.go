package watch

import "time"

// Untouched reports whether every path was there, unchanged, since before a
// moment, by the file system's word. A change in the same tick of its clock
// does not show, and its clock may not be ours: since must lie well back.
func (w *Watcher) Untouched(since time.Time, paths ...string) bool {
	for _, p := range paths {
		at, ok := changedAt(w.watches.paths.abs(p))
		if !ok || !at.Before(since) {
			return false
		}
	}
	return true
}

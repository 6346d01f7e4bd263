package watch

import (
	"hash/maphash"
	"time"
)

// Print tells whether some paths may have changed since another Print of them
// was taken: it differs if modification time, change time, size, inode or kind
// of any of them does, or whether it exists. It means nothing to another
// process. It costs one stat for each path and reads nothing.
type Print uint64

var printSeed = maphash.MakeSeed()

// Print takes the print of paths relative to the workspace. Links are not
// followed.
func (w *Watcher) Print(paths ...string) Print {
	var h maphash.Hash
	h.SetSeed(printSeed)
	for _, p := range paths {
		printPath(&h, w.abs(p))
	}
	return Print(h.Sum64())
}

// Untouched reports whether every path was there, unchanged, since before a
// moment, by the file system's word. A change in the same tick of its clock
// does not show, and its clock may not be ours: since must lie well back.
func (w *Watcher) Untouched(since time.Time, paths ...string) bool {
	for _, p := range paths {
		at, ok := changedAt(w.abs(p))
		if !ok || !at.Before(since) {
			return false
		}
	}
	return true
}

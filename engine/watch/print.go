package watch

import "hash/maphash"

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

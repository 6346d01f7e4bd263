// Package statcache remembers the results of looking at files, like git's index.
// It is the only memory of this kind in placet.
//
// An [Entry] describes one name: the result of stat, the beginning of the content's
// digest, since when the content is unchanged, and, while there is room, the document
// with its bytes and the results of parsing them. Folders have entries like files: while
// a folder's identity is the same, so is the list of its names.
//
// An entry is trusted while stat returns the same for its name and the entry is not
// racily clean: a file that was changed within one tick of the file system's clock
// before it was looked at could change once more and look the same. Such an entry
// is read again at the next look. A document that is written once is trusted as long as
// its folder is, and needs no stat of its own; the scan of all runs verifies it.
//
// The entries of one run form a [Run]: a tree of its folder, and the names outside
// it that its machine needed. It answers four questions:
//
//   - What need not be read again? Trusted entries that have a document.
//   - Has a file been unchanged for long enough? Since says so.
//   - Has the run changed since the last look? It has if any identity has.
//   - Has it changed since an earlier placet looked? The same holds for the entries
//     that are stored in one file of the state folder (see [File]). The file has a
//     version, can be deleted at any moment, and is ignored when in doubt.
//
// Documents are dropped when they take too much memory, entries only with their run.
package statcache

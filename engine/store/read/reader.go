// Package read reads the documents of runs: the files in a run's folder, and those that its machine
// needs besides. It decides which files have stopped changing, and what looks the same as before.
package read

import "placet/engine/store/disk"

// settler reads single files and decides which have stopped changing.
type settler struct {
	disk   *disk.Disk
	seen   *Seen
	record Record
}

// Reader reads the documents of runs, and compares runs with the results of earlier looks.
type Reader struct {
	disk    *disk.Disk
	settler *settler
	seen    *Seen
}

// New returns a reader of the runs on a disk. record remembers what is written; nil remembers
// nothing.
func New(d *disk.Disk, seen *Seen, record Record) *Reader {
	return &Reader{disk: d, settler: &settler{disk: d, seen: seen, record: record}, seen: seen}
}

// Watching says that a run or a file that appears from now on did not exist before: a JSON document
// under a new inode is then complete once it parses.
func (s *Reader) Watching() { s.seen.watching.Store(true) }

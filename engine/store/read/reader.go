// Package read reads the documents of runs: what is in the folder of one and what its machine needs
// besides, which files have stopped changing, and what looks as it did.
package read

import "placet/engine/store/disk"

// settler reads single files, and tells which have stopped changing.
type settler struct {
	disk   *disk.Disk
	seen   *Seen
	record Record
}

// Reader reads the documents of runs, and compares runs with what it has seen of them.
type Reader struct {
	disk    *disk.Disk
	settler *settler
	seen    *Seen
}

// New returns what reads runs on a disk. record remembers what is written; nil remembers nothing.
func New(d *disk.Disk, seen *Seen, record Record) *Reader {
	return &Reader{disk: d, settler: &settler{disk: d, seen: seen, record: record}, seen: seen}
}

// Watching says that from now on a run or a file that appears was not there
// before: a JSON document under a new inode is complete when it parses.
func (s *Reader) Watching() { s.seen.watching.Store(true) }

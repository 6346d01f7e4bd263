package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// shape is what one transition puts on disk: the floor makes files of the same
// number and sizes durable, in the same folders.
type shape []piece

// piece is one file of a shape.
type piece struct {
	Path string `json:"path"` // relative to the run; the state document is last
	Size int    `json:"size"`
}

func (s shape) bytes() (n int) {
	for _, p := range s {
		n += p.Size
	}
	return n
}

// stamp is the state of a file.
type stamp struct {
	ino   uint64
	size  int64
	ctime syscall.Timespec
}

// stamps returns the states of all files of a folder.
func stamps(dir string) (map[string]stamp, error) {
	all := map[string]stamp{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		var st syscall.Stat_t
		if err := syscall.Lstat(p, &st); err != nil {
			if os.IsNotExist(err) {
				return nil
			}
			return err
		}
		rel, err := filepath.Rel(dir, p)
		all[rel] = stamp{ino: st.Ino, size: st.Size, ctime: changedAt(&st)}
		return err
	})
	return all, err
}

// written returns the shape of the changes between two looks at a run's folder,
// as far as they belong to the transition: the state document is renamed into
// place last, and later files follow from the state and are not part of the
// move. The answer itself, which the bench wrote, does not count.
func written(before, after map[string]stamp, answer string) shape {
	const state = "state.json"
	var s shape
	last := after[state]
	for name, now := range after {
		if name == answer || name == state || now == before[name] || later(now.ctime, last.ctime) {
			continue
		}
		s = append(s, piece{Path: name, Size: int(now.size)})
	}
	slices.SortFunc(s, func(a, b piece) int {
		if a.Path < b.Path {
			return -1
		}
		return 1
	})
	return append(s, piece{Path: state, Size: int(last.size)})
}

func later(a, b syscall.Timespec) bool {
	return a.Sec > b.Sec || a.Sec == b.Sec && a.Nsec > b.Nsec
}

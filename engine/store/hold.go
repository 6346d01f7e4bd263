package store

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
	"time"
)

// holdIndex is how long git's index.lock holds: an older one was left behind.
const holdIndex = 10 * time.Second

// rewriting are the names in git's folder that stand while it rewrites the tree.
var rewriting = []string{"rebase-merge", "rebase-apply", "MERGE_HEAD", "CHERRY_PICK_HEAD"}

// indexLock remembers when a lock of git's index was first seen, and when no work
// tree was found above the workspace.
type indexLock struct {
	mu    sync.Mutex
	inode uint64
	since time.Time
	none  time.Time
}

// Gone is what the reason of a hold begins with where the workspace is not under
// its name any more.
const Gone = "the workspace is gone"

// homed is a file system that tells whether its root is still under its name.
type homed interface {
	// Away says why it is not, "" where it is.
	Away() (why string)
}

// Away says, beginning with [Gone], that the workspace was moved away or another
// folder took its name; "" where neither is so. What is read and written all the
// same lies in the workspace, wherever that is now.
func (s *Store) Away() (why string) {
	if h, ok := s.fs.(homed); ok {
		if why = h.Away(); why != "" {
			why = Gone + ": " + why
		}
	}
	return why
}

// Hold reports whether the workspace is gone, or git is rewriting the tree, and by
// which sign. While that is so, nothing is decided.
func (s *Store) Hold() (reason string, held bool) {
	if why := s.Away(); why != "" {
		return why, true
	}
	dir, ok := s.gitDir()
	if !ok {
		return "", false
	}
	for _, name := range rewriting {
		if _, err := s.fs.Stat(path.Join(dir, name)); err == nil {
			return "git is rewriting the tree (" + name + ")", true
		}
	}
	info, err := s.fs.Stat(path.Join(dir, "index.lock"))
	if err != nil || !s.locks.young(info, s.now()) {
		return "", false
	}
	if disk, known := s.diskNow(freshClock); known && disk.Sub(info.Changed) > holdIndex {
		return "", false
	}
	return "git is rewriting the tree (index.lock)", true
}

// young reports whether this lock was first seen less than holdIndex ago.
func (l *indexLock) young(info Info, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inode != info.Inode || l.since.IsZero() || l.since.After(now) {
		l.inode, l.since = info.Inode, now
	}
	return now.Sub(l.since) <= holdIndex
}

// gitDir finds git's folder for this work tree: .git here or in the nearest
// folder above, which in worktrees and submodules is a file that names it.
func (s *Store) gitDir() (string, bool) {
	if dir, ok := s.gitAt(".", ".git"); ok {
		return dir, true
	}
	if s.locks.noneAbove(s.now()) {
		return "", false
	}
	for dir := s.fs.Root(); dir != "/" && dir != "."; {
		dir = path.Dir(dir)
		if found, ok := s.gitAt(dir, path.Join(dir, ".git")); ok {
			return found, true
		}
	}
	s.locks.foundNone(s.now())
	return "", false
}

// noneFor is how long it is believed that no folder above the workspace is a work
// tree: who makes one does not begin to rewrite it at once.
const noneFor = time.Second

// noneAbove reports whether there was no work tree above the workspace a moment
// ago.
func (l *indexLock) noneAbove(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	age := now.Sub(l.none)
	return !l.none.IsZero() && age >= 0 && age < noneFor
}

func (l *indexLock) foundNone(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.none = now
}

func (s *Store) gitAt(tree, name string) (string, bool) {
	info, err := s.fs.Stat(name)
	switch {
	case err != nil:
		return "", false
	case info.Mode.IsDir():
		return name, true
	case info.regular():
		return s.gitFile(tree, name)
	case info.Mode&fs.ModeSymlink != 0 && !strings.HasPrefix(name, "/"):
		return s.gitAt(s.fs.Root(), path.Join(s.fs.Root(), name)) // links are followed there
	}
	return "", false
}

// gitFile reads "gitdir: <folder>".
func (s *Store) gitFile(tree, name string) (string, bool) {
	f, err := s.fs.Open(name, ForReading, 0)
	if err != nil {
		return "", false
	}
	defer f.Close()
	buf := make([]byte, 4096)
	n, err := f.ReadAt(buf, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", false
	}
	line, _, _ := bytes.Cut(buf[:n], []byte("\n"))
	dir, ok := strings.CutPrefix(string(line), "gitdir:")
	dir = strings.TrimSpace(dir)
	if !ok || dir == "" {
		return "", false
	}
	if !path.IsAbs(dir) {
		if tree == "." {
			tree = s.fs.Root()
		}
		dir = path.Join(tree, dir)
	}
	return dir, true
}

package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"sync/atomic"
	"time"

	"placet/engine/store/fs"
	"placet/layout"
)

// How long a lock is waited for, and how often it is tried.
const (
	lockWait  = 5 * time.Second
	lockFirst = 2 * time.Millisecond
	lockMost  = 10 * time.Millisecond
)

// locks takes the workspace's lock, and those of runs.
type locks struct {
	disk *disk
	lock atomic.Pointer[fs.File]
}

// Lock takes the flocks that other writers of the run's documents take, in
// their order. The files are empty, created if missing unless the run says
// otherwise, and never removed. A lock whose folder does not exist is passed
// over, and so are all where the file system has no flock. ErrBusy after 5 s.
func (s *locks) Lock(ctx context.Context, run layout.Run) (unlock func(), err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, lockWait, fs.ErrBusy)
	defer cancel()
	var held []fs.File
	unlock = func() {
		for i := len(held) - 1; i >= 0; i-- {
			held[i].Close()
		}
		held = nil
	}
	for _, name := range run.Locks {
		f, err := s.lockOne(ctx, name, run)
		if err != nil {
			unlock()
			return nil, fmt.Errorf("cannot lock %s: %w", name, err)
		}
		if f != nil {
			held = append(held, f)
		}
	}
	return unlock, nil
}

// lockOne takes one lock; it returns nil where there is nothing to take.
func (s *locks) lockOne(ctx context.Context, name string, run layout.Run) (fs.File, error) {
	pause := lockFirst
	for {
		f, err := s.tryLock(name, run)
		if !errors.Is(err, fs.ErrBusy) {
			return f, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, context.Cause(ctx)
		case <-timer.C:
		}
		pause = min(2*pause, lockMost)
	}
}

// tryLock tries once to take a lock of a run.
func (s *locks) tryLock(name string, run layout.Run) (fs.File, error) {
	how := fs.ForLocking
	if run.LocksExist {
		how = fs.ForLockingExisting
	}
	f, locked, err := s.lockFile(name, how)
	if errors.Is(err, os.ErrNotExist) && (run.LocksExist || path.Dir(name) != run.Dir) {
		return nil, nil
	}
	if err == nil && !locked {
		s.disk.once("flock "+run.Dir, "this file system has no flock; compare-and-swap alone keeps writers apart", "path", name)
		f.Close()
		return nil, nil
	}
	return f, err
}

// lockFile opens and locks a file. Others remove their lock files: a lock counts only
// while the name still leads to the file that was locked. locked is false where the file
// system has no flock.
func (s *locks) lockFile(name string, how fs.How) (f fs.File, locked bool, err error) {
	for {
		f, err := s.disk.fs.Open(name, how, 0o666)
		if err != nil {
			return nil, false, err
		}
		switch err := f.TryLock(); {
		case errors.Is(err, errors.ErrUnsupported):
			return f, false, nil
		case err != nil:
			f.Close()
			return nil, false, err
		case s.leadsTo(name, f):
			return f, true, nil
		}
		f.Close()
	}
}

// leadsTo reports whether a name leads to an open file.
func (s *locks) leadsTo(name string, f fs.File) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := s.disk.fs.Stat(name)
	return err == nil && named.Inode == open.Inode && named.Device == open.Device
}

// Package lock decides who may write in a workspace, and when nobody decides anything there:
// it holds the lock of the workspace, the locks of runs that other programs also take, and
// git's signs of rewriting the tree.
package lock

import (
	"context"
	"errors"
	"os"
	"path"
	"sync/atomic"
	"time"

	"placet/engine/store/disk"
	"placet/engine/store/fs"
	"placet/layout"
	"placet/templates"
)

// The limits of waiting for a lock: lockWait in all, lockFirst and lockMost between two
// tries.
const (
	lockWait  = 5 * time.Second
	lockFirst = 2 * time.Millisecond
	lockMost  = 10 * time.Millisecond
)

// Locks takes the lock of the workspace and those of runs.
type Locks struct {
	disk *disk.Disk
	lock atomic.Pointer[fs.File]
}

// New returns the locks of a workspace.
func New(d *disk.Disk) *Locks { return &Locks{disk: d} }

// Lock takes the flocks that other writers of the run's documents take, in their order. The
// files are empty, are created if missing unless the run says otherwise, and are never
// removed. Lock skips a lock whose folder does not exist, and all locks if the file system
// has no flock. It returns ErrBusy after 5 s. It calls waiting around each wait for another
// holder.
func (s *Locks) Lock(ctx context.Context, run layout.Run, waiting func(wait func())) (unlock func(), err error) {
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
		f, err := s.lockOne(ctx, name, run, waiting)
		if err != nil {
			unlock()
			return nil, templates.Errorf("store.lock", "file", name, "error", err)
		}
		if f != nil {
			held = append(held, f)
		}
	}
	return unlock, nil
}

// lockOne takes one lock; it returns nil if there is nothing to take.
func (s *Locks) lockOne(ctx context.Context, name string, run layout.Run, waiting func(wait func())) (f fs.File, err error) {
	if f, err = s.tryLock(name, run); !errors.Is(err, fs.ErrBusy) {
		return f, err
	}
	waiting(func() {
		for pause := lockFirst; errors.Is(err, fs.ErrBusy); pause = min(2*pause, lockMost) {
			timer := time.NewTimer(pause)
			select {
			case <-ctx.Done():
				timer.Stop()
				err = context.Cause(ctx)
				return
			case <-timer.C:
			}
			f, err = s.tryLock(name, run)
		}
	})
	return f, err
}

// tryLock tries once to take a lock of a run.
func (s *Locks) tryLock(name string, run layout.Run) (fs.File, error) {
	how := fs.ForLocking
	if run.LocksExist {
		how = fs.ForLockingExisting
	}
	f, locked, err := s.lockFile(name, how)
	if errors.Is(err, os.ErrNotExist) && (run.LocksExist || path.Dir(name) != run.Dir) {
		return nil, nil
	}
	if err == nil && !locked {
		s.disk.Once("flock "+run.Dir, "this file system has no flock; compare-and-swap alone keeps writers apart", "path", name)
		f.Close()
		return nil, nil
	}
	return f, err
}

// lockFile opens and locks a file. Others remove their lock files, so a lock counts only
// while the name still leads to the locked file. locked is false if the file system has no
// flock.
func (s *Locks) lockFile(name string, how fs.How) (f fs.File, locked bool, err error) {
	for {
		f, err := s.disk.FS.Open(name, how, 0o666)
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
func (s *Locks) leadsTo(name string, f fs.File) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := s.disk.FS.Stat(name)
	return err == nil && named.Inode == open.Inode && named.Device == open.Device
}

const lockName = disk.PrivateDir + "/lock"

// LockWorkspace takes the lock that one placet per workspace holds. It returns ErrBusy if
// another has it. If the file system has no flock, there is nothing to hold, and
// deterministic names make two of them agree. Other errors name the file; the caller must add
// that the workspace cannot be locked.
func (s *Locks) LockWorkspace() (unlock func(), err error) {
	f, err := s.lockWorkspace()
	if err != nil {
		return nil, err
	}
	s.lock.Store(&f)
	release := s.disk.Hold()
	return func() {
		release()
		(*s.lock.Swap(nil)).Close()
	}, nil
}

// KeepWorkspace takes the lock anew if its name no longer leads to the locked file: somebody
// removed it, and a second placet could begin. It reports whether it did. It returns ErrBusy
// if a second one has begun.
func (s *Locks) KeepWorkspace() (anew bool, err error) {
	held := s.lock.Load()
	if held == nil || !s.hasLostName(*held) {
		return false, nil
	}
	f, err := s.lockWorkspace()
	if err != nil {
		return false, err
	}
	if !s.lock.CompareAndSwap(held, &f) {
		return false, f.Close() // the lock was released meanwhile
	}
	return true, (*held).Close()
}

// hasLostName reports whether the lock's name leads to nothing or to another file. A name
// that cannot be checked now is not lost.
func (s *Locks) hasLostName(held fs.File) bool {
	_, err := s.disk.FS.Stat(lockName)
	return errors.Is(err, os.ErrNotExist) || err == nil && !s.leadsTo(lockName, held)
}

func (s *Locks) lockWorkspace() (fs.File, error) {
	if err := s.disk.Private(); err != nil {
		return nil, err
	}
	f, locked, err := s.lockFile(lockName, fs.ForLocking)
	if err == nil && !locked {
		s.disk.Once("flock", "this file system has no flock; nothing keeps a second placet away", "path", lockName)
	}
	return f, err
}

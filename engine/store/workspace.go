package store

import (
	"errors"
	"os"

	"placet/engine/store/fs"
)

// PrivateDir holds what placet can lose at any moment: locks, clocks, process
// ids. git is told to ignore it by a .gitignore of its own.
const PrivateDir = ".placet"

const lockName = PrivateDir + "/lock"

// private makes .placet/ with its own .gitignore, where it is missing or empty: who
// made it may have been killed before it was written.
func (s *disk) private() error {
	info, err := s.fs.Stat(PrivateDir + "/.gitignore")
	if !errors.Is(err, os.ErrNotExist) && (err != nil || info.Size > 0 || !info.IsRegular()) {
		return err
	}
	if err := s.fs.Mkdir(PrivateDir); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	f, err := s.fs.Open(PrivateDir+"/.gitignore", fs.ForAppending, 0o666)
	if err != nil {
		return err
	}
	if info, err = f.Stat(); err == nil && info.Size == 0 {
		_, err = f.Write([]byte("*\n"))
	}
	return errors.Join(err, f.Close())
}

// LockWorkspace takes the lock that one placet per workspace holds. It returns
// ErrBusy where another has it. Where the file system has no flock there is
// nothing to hold: deterministic names then make two of them agree. Other errors name the
// file; that the workspace cannot be locked is for the caller to say.
func (s *locks) LockWorkspace() (unlock func(), err error) {
	f, err := s.lockWorkspace()
	if err != nil {
		return nil, err
	}
	s.disk.clock.mu.Lock()
	s.disk.heldSince, _ = s.disk.touchClock()
	s.disk.clock.mu.Unlock()
	s.lock.Store(&f)
	s.disk.held.Store(true)
	return func() {
		s.disk.held.Store(false)
		(*s.lock.Swap(nil)).Close()
	}, nil
}

// KeepWorkspace takes the lock anew where its name does not lead to the file that is
// locked any more: somebody removed it, and a second placet could begin. It reports
// whether it did. The error is ErrBusy where one has begun.
func (s *locks) KeepWorkspace() (anew bool, err error) {
	held := s.lock.Load()
	if held == nil || !s.hasLostName(*held) {
		return false, nil
	}
	f, err := s.lockWorkspace()
	if err != nil {
		return false, err
	}
	if !s.lock.CompareAndSwap(held, &f) {
		return false, f.Close() // it was given back meanwhile
	}
	return true, (*held).Close()
}

// hasLostName reports whether the lock's name leads to nothing or to another file. What cannot
// be asked for now is not lost.
func (s *locks) hasLostName(held fs.File) bool {
	_, err := s.disk.fs.Stat(lockName)
	return errors.Is(err, os.ErrNotExist) || err == nil && !s.leadsTo(lockName, held)
}

func (s *locks) lockWorkspace() (fs.File, error) {
	if err := s.disk.private(); err != nil {
		return nil, err
	}
	f, locked, err := s.lockFile(lockName, fs.ForLocking)
	if err == nil && !locked {
		s.disk.once("flock", "this file system has no flock; nothing keeps a second placet away", "path", lockName)
	}
	return f, err
}

package store

import (
	"errors"
	"fmt"
	"io/fs"
)

// PrivateDir holds what placet can lose at any moment: locks, clocks, process
// ids. git is told to ignore it by a .gitignore of its own.
const PrivateDir = ".placet"

const lockName = PrivateDir + "/lock"

// private makes .placet/ with its own .gitignore, where it is missing or empty: who
// made it may have been killed before it was written.
func (s *Store) private() error {
	info, err := s.fs.Stat(PrivateDir + "/.gitignore")
	if !errors.Is(err, fs.ErrNotExist) && (err != nil || info.Size > 0 || !info.regular()) {
		return err
	}
	if err := s.fs.Mkdir(PrivateDir); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	f, err := s.fs.Open(PrivateDir+"/.gitignore", ForAppending, 0o666)
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
// nothing to hold: deterministic names then make two of them agree.
func (s *Store) LockWorkspace() (unlock func(), err error) {
	if err := s.private(); err != nil {
		return nil, fmt.Errorf("cannot lock the workspace: %w", err)
	}
	f, err := s.lockFile()
	if err != nil {
		return nil, fmt.Errorf("cannot lock the workspace with %s: %w", lockName, err)
	}
	return func() {
		s.held.Store(false)
		f.Close()
	}, nil
}

// lockFile takes the lock; it counts only while its name leads to it.
func (s *Store) lockFile() (File, error) {
	for {
		f, err := s.fs.Open(lockName, ForLocking, 0o666)
		if err != nil {
			return nil, err
		}
		switch err := f.TryLock(); {
		case errors.Is(err, errors.ErrUnsupported):
			s.once("flock", "this file system has no flock; nothing keeps a second placet away", "path", lockName)
			return f, nil
		case err != nil:
			f.Close()
			return nil, err
		case s.leads(lockName, f):
			s.heldSince, _ = s.touchClock()
			s.held.Store(true)
			return f, nil
		}
		f.Close()
	}
}

package store

import (
	"errors"
	"os"
	"path"
	"strings"
	"syscall"
	"time"

	"placet/engine/store/disk"
	"placet/engine/store/fs"
	"placet/layout"
	"placet/templates"
)

const (
	// sweepAge is how old another process's temporary name must be if placet does not
	// hold the workspace: a second placet, on another machine, may be using it.
	sweepAge = time.Minute
	// sweepHeld is how old it must be if placet holds the workspace: then only a command
	// that writes one answer may be working beside the daemon. A name that was there
	// before and whose process has ended is removed at once.
	sweepHeld = 5 * time.Second
)

// sweepFolder implements [Store.Sweep].
func (s *swapper) sweepFolder(dir string) (left bool, err error) {
	infos, err := s.disk.List(dir)
	if err != nil {
		return true, err
	}
	var errs []error
	for _, found := range infos {
		name := path.Join(dir, found.Name)
		if _, mine := s.temps.inUse.Load(name); mine || !layout.IsTemp(found.Name) || found.Mode.IsDir() { // placet makes no such folder
			continue
		}
		info, err := s.disk.FS.Stat(name)
		if err != nil {
			left = left || !errors.Is(err, os.ErrNotExist)
			continue
		}
		if !s.isStale(name, info) {
			left = true
			continue
		}
		if err := s.sweep(name, infos); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, templates.Errorf("store.sweep", "file", name, "error", err))
		}
	}
	return left || len(errs) > 0, errors.Join(errs...)
}

// isStale reports whether no process can be using a temporary name any more.
func (s *swapper) isStale(name string, info fs.Info) bool {
	now, _ := s.disk.DiskNow(disk.FreshClock)
	if !s.disk.IsHeld() {
		return now.Sub(info.Changed) > sweepAge
	}
	if _, _, swap := swapDigests(name); swap || s.isOrphaned(info) {
		return true // state documents are exchanged by the holder alone
	}
	return now.Sub(info.Changed) > sweepHeld
}

// isOrphaned reports whether a temporary file existed before this placet took the
// workspace's lock, and the process that made it has ended.
func (s *swapper) isOrphaned(info fs.Info) bool {
	if s.disk.HeldSince().IsZero() || info.Changed.After(s.disk.HeldSince()) {
		return false
	}
	pid, ok := layout.TempOwner(info.Name)
	return ok && (pid == os.Getpid() || !isAlive(pid))
}

// isAlive reports whether a process exists; a process that placet may not signal exists.
func isAlive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// sweep removes a temporary name that nobody uses, or puts back its content.
func (s *swapper) sweep(name string, beside []fs.Name) error {
	s.sweeping.Lock()
	defer s.sweeping.Unlock()
	over, own, swap := swapDigests(name)
	if !swap {
		return s.disk.FS.Remove(name)
	}
	c, err := s.disk.ContentOf(name)
	if err == nil {
		hex := c.Digest().Hex()
		if strings.HasPrefix(hex, over) || strings.HasPrefix(hex, own) {
			return s.disk.FS.Remove(name)
		}
	}
	if isUnknown(err) {
		return err
	}
	return s.recover(name, own, beside)
}

// recover puts a displaced state document back after a crash, or an error, came between
// the exchange and the check of what it had displaced. If others have written since,
// nobody can say which content is right: the file stays, and the log says so.
func (s *swapper) recover(name, own string, beside []fs.Name) error {
	for _, info := range beside {
		target := path.Join(path.Dir(name), info.Name)
		if !info.Mode.IsRegular() || layout.IsTemp(info.Name) {
			continue
		}
		c, err := s.disk.ContentOf(target)
		if err != nil || !strings.HasPrefix(c.Digest().Hex(), own) {
			continue
		}
		p := &fileWrite{info: c.Info, temp: name}
		p.doc.Path, p.doc.Body = target, c.Body
		if err := s.putBack(p); !errors.Is(err, ErrConflict) {
			return err
		}
		s.disk.Log.Warn("put back a state document that had been left aside", "path", target)
		return nil
	}
	s.disk.Once("aside "+name, "a document that others wrote was left aside by a crash; compare it with the state document and remove it", "path", name)
	return nil
}

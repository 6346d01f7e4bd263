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
	// sweepAge is how old another's temporary name must be where placet does
	// not hold the workspace: a second one, on another machine, may be at work.
	sweepAge = time.Minute
	// sweepHeld is enough where it does: beside the daemon only a command that
	// writes one answer may be at work. What was there before, and of which the
	// process has ended, needs no waiting for.
	sweepHeld = 5 * time.Second
)

// sweepFolder is [Store.Sweep].
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

// isStale reports whether nobody can be using a temporary name any more.
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

// isOrphaned reports whether a temporary file was there when this placet took the
// workspace, and no other process that may have made it lives.
func (s *swapper) isOrphaned(info fs.Info) bool {
	if s.disk.HeldSince().IsZero() || info.Changed.After(s.disk.HeldSince()) {
		return false
	}
	pid, ok := layout.TempOwner(info.Name)
	return ok && (pid == os.Getpid() || !isAlive(pid))
}

// isAlive reports whether a process exists; one that placet may not signal does.
func isAlive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// sweep removes a temporary name that nobody uses, or puts back what it holds.
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

// recover puts a displaced state document back: a crash, or an error, came between the
// exchange and the look at what it had displaced. Where others have written since, nobody
// can say which is right: the file stays, and the log says so.
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

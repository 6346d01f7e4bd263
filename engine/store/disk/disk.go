// Package disk looks at the files of a workspace and decides how far a look can be
// believed: it holds the file system with its own clock, the results of stat and of
// reading a whole file, and the rules for which files could change again and look the
// same.
package disk

import (
	"errors"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"placet/engine"
	"placet/engine/store/fs"
	"placet/engine/store/statcache"
	"placet/templates"
)

// Disk is the file system with its clock. Its methods are safe for concurrent use.
type Disk struct {
	// FS is the file system, Now the clock of this machine, Log the log of what a person
	// should know.
	FS  fs.FS
	Now func() time.Time
	Log *slog.Logger
	// Parallel is how many calls of one round run in parallel.
	Parallel int

	began time.Time
	clock clock
	said  sync.Map
	held  atomic.Bool // .placet/lock is ours
	// heldSince is when this process took the lock, by the file system's clock; zero if
	// unknown.
	heldSince time.Time
	// unremoved are temporary files of this process that could not be removed.
	unremoved sync.Map
}

// New returns a disk on a file system. A nil clock means time.Now, a nil log drops all
// messages; 0 for parallel means 64.
func New(fsys fs.FS, now func() time.Time, log *slog.Logger, parallel int) *Disk {
	d := &Disk{FS: fsys, Now: now, Log: log, Parallel: parallel}
	if d.Now == nil {
		d.Now = time.Now
	}
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	if d.Parallel <= 0 {
		d.Parallel = 64
	}
	d.began = d.Now()
	return d
}

// Once logs a warning the first time that it is called with a key.
func (s *Disk) Once(key, msg string, args ...any) {
	if _, said := s.said.LoadOrStore(key, true); !said {
		s.Log.Warn(msg, args...)
	}
}

// Age returns the time since the disk was made.
func (s *Disk) Age() time.Duration { return s.Now().Sub(s.began) }

// At returns the moment at which the disk had an age.
func (s *Disk) At(age time.Duration) time.Time { return s.began.Add(age) }

// Remove removes a temporary file of this process, now or later.
func (s *Disk) Remove(name string) {
	if err := s.FS.Remove(name); err == nil || errors.Is(Unusable(name, err), engine.ErrAbsent) {
		s.unremoved.Delete(name)
	} else {
		s.unremoved.Store(name, true)
	}
}

// RemoveAgain tries again to remove the files that could not be removed.
func (s *Disk) RemoveAgain() {
	s.unremoved.Range(func(name, _ any) bool {
		s.Remove(name.(string))
		return true
	})
}

// PrivateDir is the folder for files that placet can lose at any moment: locks, clocks,
// process ids. A .gitignore of its own makes git ignore it.
const PrivateDir = ".placet"

// Private makes .placet/ with its own .gitignore, if the latter is missing or empty: the
// process that made it may have been killed before it wrote the content.
func (s *Disk) Private() error {
	info, err := s.FS.Stat(PrivateDir + "/.gitignore")
	if !errors.Is(err, os.ErrNotExist) && (err != nil || info.Size > 0 || !info.IsRegular()) {
		return err
	}
	if err := s.FS.Mkdir(PrivateDir, 0o777); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	f, err := s.FS.Open(PrivateDir+"/.gitignore", fs.ForAppending, 0o666)
	if err != nil {
		return err
	}
	if info, err = f.Stat(); err == nil && info.Size == 0 {
		_, err = f.Write([]byte("*\n"))
	}
	return errors.Join(err, f.Close())
}

// IdentityOf returns what the cache remembers of the result of stat.
func IdentityOf(i fs.Info) statcache.Identity {
	if i.Inode == 0 && i.Device == 0 {
		return statcache.Identity{}
	}
	return statcache.Identity{
		Device: i.Device, Inode: i.Inode, Size: i.Size, Modified: i.Modified.UnixNano(), Changed: i.Changed.UnixNano(),
	}
}

// IdentityAt returns what the cache remembers of the present result of stat for a name.
func (s *Disk) IdentityAt(name string) statcache.Identity {
	info, err := s.FS.Stat(name)
	if err != nil {
		return statcache.Identity{}
	}
	return IdentityOf(info)
}

// List lists a folder, sorted by name. It returns nothing for a folder that does not
// exist, and for a file or a link in a folder's place, which is never followed.
func (s *Disk) List(dir string) ([]fs.Name, error) {
	names, err := s.FS.List(dir)
	if err != nil {
		return nil, NoFolder(dir, err)
	}
	return names, nil
}

// NoFolder returns nil for an error that says that there is no folder.
func NoFolder(dir string, err error) error {
	var other *fs.NotRegular
	switch {
	case err == nil, errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.As(err, &other):
		return nil
	}
	return templates.Errorf("store.list", "file", dir, "error", err)
}

// Exists reports whether anything is under a name. It returns true if that is unknown.
func (s *Disk) Exists(name string) bool {
	_, err := s.FS.Stat(name)
	return !errors.Is(err, os.ErrNotExist)
}

// IsFolder reports whether a folder is under a name.
func (s *Disk) IsFolder(dir string) (bool, error) {
	info, err := s.FS.Stat(dir)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.Mode.IsDir(), err
}

// IsHeld reports whether this process holds the workspace's lock.
func (s *Disk) IsHeld() bool { return s.held.Load() }

// HeldSince returns when this process took the lock, by the file system's clock; zero if
// unknown.
func (s *Disk) HeldSince() time.Time { return s.heldSince }

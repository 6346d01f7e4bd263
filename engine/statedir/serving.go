package statedir

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"syscall"
	"time"
)

// serving/<ask>/<name> belongs to one process that waits for an ask: it holds a lock on the file
// for as long as it lives. The file stays when the process is killed, and says with its time
// until when somebody waited.
const servingDir = "serving"

// ephemeral is the content of the file of a process without which its question is worth nothing.
const ephemeral = "ephemeral\n"

// Serving is the record of this process as one that waits for an ask.
type Serving struct {
	dir  *Dir
	ask  string
	name string
	file *os.File
}

// Serve records that this process waits for an ask. alone says that the question is worth
// nothing once the process is gone.
func (d *Dir) Serve(ask string, alone bool) (*Serving, error) {
	s := &Serving{dir: d, ask: ask, name: path.Join(servingDir, ask, fmt.Sprintf("%d-%016x", os.Getpid(), rand.Uint64()))}
	err := d.makeFolders(servingDir, path.Join(servingDir, ask))
	if err == nil {
		s.file, err = d.root.OpenFile(s.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	}
	if err != nil {
		return nil, err
	}
	// The lock comes first: a file with this content that nobody locks has lost its process.
	if err = syscall.Flock(int(s.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil && alone {
		_, err = s.file.WriteString(ephemeral)
	}
	if err != nil {
		return nil, errors.Join(err, s.file.Close(), d.root.Remove(s.name))
	}
	return s, nil
}

// Beat records that the process still waits.
func (s *Serving) Beat(now time.Time) { _ = s.dir.root.Chtimes(s.name, now, now) } // it says only since when nobody does

// End records that the process waits no longer. over says that the ask has ended, and nobody
// needs to know who waited.
func (s *Serving) End(now time.Time, over bool) {
	s.Beat(now)
	_ = s.file.Close() // nothing is written
	if over {
		_ = s.dir.root.RemoveAll(path.Join(servingDir, s.ask)) // what is left says nothing about an ask that has ended
	}
}

// Served is who waits for an ask.
type Served struct {
	// Now says that a process waits. Otherwise Until is when the last one still waited, the zero
	// time if none ever did.
	Now   bool
	Until time.Time
	// Alone says that one of those that are gone made the question worth nothing by going.
	Alone bool
}

// Served returns who waits for an ask on this machine.
func (d *Dir) Served(ask string) (s Served) {
	dir := path.Join(servingDir, ask)
	files, _ := fs.ReadDir(d.root.FS(), dir) // nobody ever waited if there is none
	for _, f := range files {
		name := path.Join(dir, f.Name())
		info, err := d.root.Lstat(name)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if d.isLocked(name) {
			s.Now = true
			continue
		}
		if info.ModTime().After(s.Until) {
			s.Until = info.ModTime()
		}
		body, err := d.Read(name, int64(len(ephemeral)))
		s.Alone = s.Alone || err == nil && string(body) == ephemeral
	}
	return s
}

// Waited returns the asks for which a process waits, or waited until it was killed.
func (d *Dir) Waited() (asks []string) {
	all, _ := fs.ReadDir(d.root.FS(), servingDir) // nobody ever waited if there is none
	for _, a := range all {
		asks = append(asks, a.Name())
	}
	return asks
}

// Abandoned returns the asks that are worth nothing without a process that is gone, if no other
// waits for them.
func (d *Dir) Abandoned() (asks []string) {
	return slices.DeleteFunc(d.Waited(), func(ask string) bool {
		s := d.Served(ask)
		return !s.Alone || s.Now
	})
}

// isLocked reports whether a process holds the lock of a file. Several may ask at once.
func (d *Dir) isLocked(name string) bool {
	f, err := d.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

package store

import (
	"cmp"
	"encoding/hex"
	"errors"
	iofs "io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"syscall"

	"placet/engine"
	"placet/engine/store/disk"
	"placet/engine/store/fs"
	"placet/engine/store/read"
	"placet/layout"
)

// A temporary name holds 16 hex digits: the process that made it, and random ones. When
// the content of a state document is durable, its temporary name gets 32 more: the first
// 16 of the digest that it is to displace, and of its own digest. A crash leaves only a
// whole file under such a name: it is ours, or it was displaced, and the digits let a
// sweep recognize it.
const swapDigits = 48

// temps writes contents under temporary names, and knows which names this process is
// using.
type temps struct {
	disk   *disk.Disk
	random func() uint64
	pid    int // of this process
	inUse  sync.Map
}

// tempName returns a new temporary name beside a file.
func (s *temps) tempName(file string) string {
	return path.Join(path.Dir(file), layout.TempName(s.pid, uint32(s.random())))
}

// swapName returns the name that a durable temporary state document gets.
func swapName(temp string, doc engine.Document) string {
	return strings.TrimSuffix(temp, layout.TempSuffix) + doc.Over.Hex()[:16] + engine.Sum(doc.Body).Hex()[:16] + layout.TempSuffix
}

// swapDigests returns the digits in the temporary name of a state document: the beginnings
// of the digest to displace and of its own.
func swapDigests(name string) (over, own string, ok bool) {
	digits := strings.TrimSuffix(strings.TrimPrefix(path.Base(name), layout.TempPrefix), layout.TempSuffix)
	if _, err := hex.DecodeString(digits); err != nil || len(digits) != swapDigits {
		return "", "", false
	}
	return digits[16:32], digits[32:], true
}

// errSync wraps the error of an fsync, after which the content is written anew.
type errSync struct{ error }

func (e errSync) Unwrap() error { return e.error }

// syncError marks the error of an fsync, unless it says that space ran out: that may pass,
// and does not mean that the disk has lost anything.
func syncError(err error) error {
	if err == nil || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return err
	}
	return errSync{err}
}

// writeTemp writes a file's content under a temporary name, with the mode and ownership of
// the file that it replaces. With sync, the file stays open for [temps.syncTemp]. On error
// the name is removed.
func (s *temps) writeTemp(p *fileWrite, sync bool) error {
	name := s.tempName(p.doc.Path)
	s.inUse.Store(name, true)
	f, err := s.fillTemp(name, p)
	if p.temp = name; err != nil || sync {
		p.file = f
		return s.dropFailed(p, err)
	}
	return s.closeTemp(p, f, nil)
}

// syncTemp makes a temporary file durable. On error its name is removed.
func (s *temps) syncTemp(p *fileWrite) error {
	f := p.file
	p.file = nil
	return s.closeTemp(p, f, syncError(f.Sync()))
}

// closeTemp describes and closes a temporary file. It only closes it if there is an error
// already.
func (s *temps) closeTemp(p *fileWrite, f fs.File, err error) error {
	if err == nil {
		p.info, err = f.Stat()
	}
	return s.dropFailed(p, cmp.Or(err, f.Close()))
}

// dropFailed removes a temporary file if there is an error.
func (s *temps) dropFailed(p *fileWrite, err error) error {
	if err != nil {
		s.dropTemp(p.temp)
		p.temp = ""
	}
	return err
}

// nameSwap gives a temporary state document, now durable, the name that holds its digests.
func (s *temps) nameSwap(p *fileWrite) error {
	if p.doc.Kind == engine.KindState && p.doc.Over != "" && p.temp != "" {
		return s.renameTemp(p, swapName(p.temp, p.doc))
	}
	return nil
}

// renameTemp gives a temporary file another temporary name.
func (s *temps) renameTemp(p *fileWrite, name string) error {
	s.inUse.Store(name, true)
	if err := s.disk.FS.Rename(p.temp, name, fs.Replace); err != nil {
		s.freeTemp(name)
		return err
	}
	s.freeTemp(p.temp)
	p.temp = name
	return nil
}

// modeOf returns a mode, for a place where answers are written without the permission of
// others to write: anybody who may write there is assumed to be the owner.
func modeOf(answers bool, mode iofs.FileMode) iofs.FileMode {
	if answers {
		return mode &^ read.ForOthers
	}
	return mode
}

// fillTemp writes a content under a new name, and returns the open file.
func (s *temps) fillTemp(name string, p *fileWrite) (fs.File, error) {
	f, err := s.disk.FS.Open(name, fs.ForCreating, modeOf(p.doc.Kind == layout.KindForm, 0o666))
	if err != nil {
		return nil, err
	}
	if _, err = f.Write(p.doc.Body); err == nil {
		err = s.keepMode(f, p)
	}
	if err != nil {
		return nil, cmp.Or(err, f.Close())
	}
	return f, nil
}

// keepMode gives the new file the owner, group and permissions of the old one, but no
// set-id or sticky bit: they would lend its owner's rights to what placet wrote. Only a
// privileged user may give files away; the log says once what cannot be kept.
func (s *temps) keepMode(f fs.File, p *fileWrite) error {
	if p.old == nil {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.UID != p.old.UID || info.GID != p.old.GID {
		err := f.Chown(p.old.UID, p.old.GID)
		if errors.Is(err, os.ErrPermission) {
			s.disk.Once("chown", "cannot keep the owner of a replaced file", "path", p.doc.Path, "error", err)
			err = f.Chown(info.UID, p.old.GID)
		}
		if err != nil && !errors.Is(err, os.ErrPermission) {
			return err
		}
	}
	if info.Mode.Perm() == p.old.Mode.Perm() {
		return nil
	}
	return f.Chmod(modeOf(p.doc.Kind == layout.KindForm, p.old.Mode.Perm()))
}

// dropTemp removes a temporary name. If that fails, the next look at a run or the next
// commit tries again, because a sweep visits only the folders of runs, and skips files
// that may belong to another process.
func (s *temps) dropTemp(name string) {
	if name == "" {
		return
	}
	s.disk.Remove(name)
	s.freeTemp(name)
}

// freeTemp notes that this process no longer uses a temporary name.
func (s *temps) freeTemp(name string) { s.inUse.Delete(name) }

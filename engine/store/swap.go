package store

import (
	"crypto/sha256"
	"errors"
	"os"
	"path"
	"sync"

	"placet/engine"
	"placet/engine/store/disk"
	"placet/engine/store/fs"
	"placet/templates"
)

// swapper replaces state documents and puts back what others wrote in the meantime.
type swapper struct {
	disk      *disk.Disk
	temps     *temps
	syncer    *syncer
	displaced sync.Map   // by state document: the temporary name that holds what others wrote
	sweeping  sync.Mutex // held while something may be put back from a temporary name
}

// swap replaces the state document: it exchanges the two names in one step and reads
// the content that was displaced. If that is not what the plan was made over,
// somebody wrote in the meantime, and their content is put back.
//
// Between the exchange and the putting back others can read a content that is not yet
// fact. So the two are as close as possible: a stat just before the exchange finds those
// who wrote while the contents were made durable.
func (s *swapper) swap(p *fileWrite) error {
	if err := s.checkUnmoved(p); err != nil {
		return err
	}
	err := s.disk.FS.Rename(p.temp, p.doc.Path, fs.Exchange)
	if errors.Is(err, errors.ErrUnsupported) {
		return s.replaceCompared(p)
	}
	if errors.Is(err, os.ErrNotExist) {
		return moved(p.doc.Path)
	}
	if err != nil {
		return templates.Errorf("store.write", "file", p.doc.Path, "error", err)
	}
	c, err := s.disk.ContentOf(p.temp)
	if err != nil {
		back := s.putBack(p)
		return templates.Errorf("store.write.both", "file", p.doc.Path, "error", err, "other", back)
	}
	if !p.expects(c) {
		return s.putBack(p)
	}
	p.displaced = &c
	return nil
}

// expects reports whether a content may be displaced: the content that the plan was
// made over, or already the new one.
func (p *fileWrite) expects(c disk.Content) bool {
	return c.Digest() == p.doc.Over || c.Digest() == engine.Sum(p.doc.Body)
}

// replaceCompared replaces the state document without an exchange: it compares,
// renames, and compares again.
func (s *swapper) replaceCompared(p *fileWrite) error {
	if err := s.renamed(p, s.disk.FS.Rename(p.temp, p.doc.Path, fs.Replace)); err != nil {
		return err
	}
	c, err := s.disk.ContentOf(p.doc.Path)
	if err == nil && c.Digest() != engine.Sum(p.doc.Body) {
		return moved(p.doc.Path)
	}
	return nil
}

// settleDisplaced checks once more the content that the state document displaced,
// and removes it. Another writer may have had that file open: if it has changed
// since, it is put back. A file that cannot be read is left for a sweep.
func (s *swapper) settleDisplaced(p *fileWrite) {
	if p.displaced == nil {
		return
	}
	before := p.displaced.Info
	p.displaced = nil
	info, err := s.disk.FS.Stat(p.temp)
	if err == nil && disk.IdentityOf(info) == disk.IdentityOf(before) {
		s.temps.dropTemp(p.temp)
		p.temp = ""
		return
	}
	c, err := s.disk.ContentOf(p.temp)
	if err == nil && !p.expects(c) {
		p.commit.err = s.putBack(p)
		return
	}
	if err == nil {
		s.temps.dropTemp(p.temp)
	}
	s.temps.freeTemp(p.temp) // a sweep looks at a file that cannot be read now
	p.temp = ""
}

// isSame reports whether two names hold the same file with the same content.
// Something that cannot be read, a link for instance, is compared by its inode
// alone.
func isSame(c, d disk.Content) bool {
	return c.Info.Device == d.Info.Device && c.Info.Inode == d.Info.Inode && (c.Sum == d.Sum || !c.IsRead() || !d.IsRead())
}

// contentAt is ContentOf for a file that may be unreadable; it then returns only the
// file's Info.
func (s *swapper) contentAt(name string) (disk.Content, error) {
	info, err := s.disk.FS.Stat(name)
	if err != nil {
		return disk.Content{}, err
	}
	c, err := s.disk.ContentOf(name)
	if err != nil {
		return disk.Content{Info: info}, nil
	}
	return c, nil
}

// putBack gives the name of the state document back to the content that was
// displaced from it, and returns ErrConflict. Another writer that uses the name
// meanwhile is newer and wins: each exchange must displace exactly what the one
// before had put there; if it displaces anything else, that content is put back in
// turn. So the content that is removed in the end is ours, or one that its own
// writers replaced.
func (s *swapper) putBack(p *fileWrite) error {
	placed := disk.Content{Info: p.info, Sum: sha256.Sum256(p.doc.Body)}
	for {
		theirs, err := s.contentAt(p.temp)
		if err != nil {
			return s.keepDisplaced(p, err)
		}
		err = s.disk.FS.Rename(p.temp, p.doc.Path, fs.Exchange)
		if errors.Is(err, os.ErrNotExist) {
			if err = s.disk.FS.Rename(p.temp, p.doc.Path, fs.Exclusive); err == nil {
				return s.backInPlace(p, false)
			}
			if errors.Is(err, os.ErrExist) {
				continue
			}
		}
		if err != nil {
			return s.keepDisplaced(p, err)
		}
		displaced, err := s.contentAt(p.temp)
		if err != nil || isSame(displaced, placed) {
			return s.backInPlace(p, displaced.IsRead())
		}
		placed = theirs
	}
}

// backInPlace ends putBack. It makes the exchange durable before it removes the
// other name, because a crash could otherwise keep the removal and lose the
// exchange. It removes the file under the other name only if that was read and is
// known; otherwise a sweep looks at it.
func (s *swapper) backInPlace(p *fileWrite, known bool) error {
	if err := s.disk.FS.SyncDir(path.Dir(p.doc.Path)); err != nil {
		s.syncer.addPendingDir(path.Dir(p.doc.Path), err)
	} else if known {
		s.temps.dropTemp(p.temp)
	}
	s.temps.freeTemp(p.temp)
	p.temp = ""
	return moved(p.doc.Path)
}

// keepDisplaced leaves somebody's content under the temporary name. The next commit
// and a sweep try again to put it back.
func (s *swapper) keepDisplaced(p *fileWrite, err error) error {
	name := p.temp
	s.displaced.Store(p.doc.Path, name)
	s.temps.freeTemp(name)
	p.temp = ""
	return templates.Errorf("store.putback", "file", p.doc.Path, "kept", path.Base(name), "error", err)
}

// bringBack puts back a state document that an earlier commit had to leave under a
// temporary name.
func (s *swapper) bringBack(name string) error {
	temp, kept := s.displaced.Load(name)
	if !kept {
		return nil
	}
	beside, err := s.disk.List(path.Dir(name))
	if err == nil {
		err = s.sweep(temp.(string), beside)
	}
	if err == nil || errors.Is(err, os.ErrNotExist) || errors.Is(err, engine.ErrAbsent) { // a sweep was here first
		s.displaced.Delete(name)
		return nil
	}
	return err
}

// isUnknown reports whether an error says nothing about the file under a name. The
// file may be the state document that a durable commit has displaced, and putting it
// back would undo a published decision. Something that is not a regular file was
// never ours.
func isUnknown(err error) bool { return err != nil && !errors.As(err, new(*fs.NotRegular)) }

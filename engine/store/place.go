package store

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"

	"placet/engine"
	"placet/engine/store/fs"
)

// renameCommit renames a commit's contents to their names, in order, and removes what
// is to be removed. It ends at the first name that others have changed. Where the run is
// being removed, it takes back what it has created so far.
func (s *committer) renameCommit(j *commit) {
	s.renameAll(j)
	if slices.ContainsFunc(j.writes, (*fileWrite).created) && !j.moves() && s.isBeingRemoved(j) {
		s.takeBack(j)
	}
}

// created reports whether a write has made a file under a name that was free.
func (p *fileWrite) created() bool { return p.placed && p.doc.Over == "" }

// moves reports whether the commit has replaced the state document.
func (j *commit) moves() bool {
	return slices.ContainsFunc(j.writes, func(p *fileWrite) bool { return p.placed && p.doc.Kind == engine.KindState })
}

// takeBack removes what a commit has created in a run that is being taken away: the
// folder could not be removed, or would hold that alone.
func (s *committer) takeBack(j *commit) {
	for _, p := range j.writes {
		if !p.created() || p.info.Inode == 0 {
			continue
		}
		info, err := s.fs.Stat(p.doc.Path)
		if err == nil && info.Device == p.info.Device && info.Inode == p.info.Inode && info.Size == p.info.Size && info.Modified.Equal(p.info.Modified) {
			_ = s.fs.Remove(p.doc.Path)
		}
		p.placed = false
	}
	j.err = moved(j.run.State)
}

func (s *committer) renameAll(j *commit) {
	for _, p := range j.writes {
		if p.placed {
			continue
		}
		if j.err = s.rename(p); j.err != nil {
			return
		}
		p.placed = true
		if !p.journal {
			j.dirs[path.Dir(p.doc.Path)] = true
		}
	}
	for _, name := range j.removes {
		switch err := s.fs.Remove(name); {
		case err == nil:
			s.forgetOwn(j.run, name)
			j.dirs[path.Dir(name)] = true
		case !errors.Is(unusable(name, err), engine.ErrAbsent):
			j.err = fmt.Errorf("cannot remove %s: %w", name, err)
			return
		}
	}
}

// rename gives one content its name.
func (s *committer) rename(p *fileWrite) error {
	switch {
	case p.there, p.journal:
		return nil
	case p.doc.Over == "":
		return s.create(p)
	case p.doc.Kind == engine.KindState:
		return s.swap(p)
	}
	return s.replace(p)
}

// create gives a content a name that must be free, or hold the same bytes.
func (s *committer) create(p *fileWrite) error {
	err := s.fs.Rename(p.temp, p.doc.Path, fs.Exclusive)
	if errors.Is(err, os.ErrExist) {
		if err := s.compare(p); err != nil {
			return err
		}
		if p.there {
			p.info = fs.Info{} // not our file; finish removes ours
			return s.syncFile(p)
		}
		return moved(p.doc.Path) // it came and went
	}
	return s.renamed(p, err)
}

// replace gives a content the name of what it was made over. Only placet writes
// such a document, so what is there is compared and no more.
func (s *swapper) replace(p *fileWrite) error {
	if err := s.checkUnmoved(p); err != nil {
		return err
	}
	return s.renamed(p, s.fs.Rename(p.temp, p.doc.Path, fs.Replace))
}

// checkUnmoved compares again what is under the name, by its times where they do.
func (s *swapper) checkUnmoved(p *fileWrite) error {
	info, err := s.fs.Stat(p.doc.Path)
	if err == nil && p.sure && identityOf(info) == identityOf(*p.old) {
		return nil
	}
	there, _, err := s.digestAt(p.doc.Path)
	if err == nil && there != p.doc.Over {
		err = moved(p.doc.Path)
	}
	return err
}

// renamed ends a rename: the temporary name is free, or the error is told.
func (s *swapper) renamed(p *fileWrite, err error) error {
	if err == nil {
		s.freeTemp(p.temp)
		p.temp = ""
		return nil
	}
	if errors.Is(err, os.ErrNotExist) { // the folder went away
		return moved(p.doc.Path)
	}
	return fmt.Errorf("cannot write %s: %w", p.doc.Path, err)
}

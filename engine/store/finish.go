package store

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/store/statcache"
	"placet/layout"
)

// finish ends a job: what it displaced is let go, its temporary names are
// removed, its documents are remembered, and its lines are appended.
func (s *Store) finish(j *job) {
	for _, p := range j.puts {
		s.settleDisplaced(p)
	}
	for _, p := range j.puts {
		s.dropTemp(p.temp)
		p.temp = ""
		if p.placed && !p.there && !p.journal {
			s.suspects.Delete(p.doc.Path)
		}
		switch {
		case p.run != "" && !p.placed:
			s.oweJournal(p.run, p.doc.Path, p.newName)
		case p.placed && j.err == nil && p.info.Inode != 0:
			s.remember(j, p)
		}
	}
	if j.err == nil {
		j.err = s.appendLines(j)
	}
}

// remember keeps what placet itself has put in place: it is settled at once.
func (s *Store) remember(j *job, p *put) {
	sum := sha256.Sum256(p.doc.Body)
	e := statcache.Entry{
		Known: true, Own: true, Racy: true, ID: identityOf(p.info), Sum: binary.NativeEndian.Uint64(sum[:]), Since: s.age(),
	}
	if rel, inside := strings.CutPrefix(p.doc.Path, j.run.Dir+"/"); inside && j.run.State != "" {
		tree := s.tree(j.run)
		tree.Lock()
		tree.Set(p.doc.Path, s.withDocument(e, j, p, rel))
		tree.Unlock()
	}
	if s.cache.Outside(p.doc.Path).Known {
		s.cache.SetOutside(p.doc.Path, e)
	}
}

// withDocument returns the entry with the document that was written, if stat shows that
// nobody has changed it since: the file got its name in a later tick of the clock than
// its content, so that a change after that would show in the mtime.
func (s *Store) withDocument(e statcache.Entry, j *job, p *put, rel string) statcache.Entry {
	if j.fam == nil || len(p.doc.Body) > keepBody {
		return e
	}
	info, err := s.fs.Stat(p.doc.Path)
	id := identityOf(info)
	if err != nil || !id.Is(e.ID) || id.Size != e.ID.Size || id.Modified != e.ID.Modified || id.Changed <= id.Modified {
		return e
	}
	file, known := j.fam.File(j.run, rel)
	if !known || file.End != 0 {
		return e
	}
	a := ask{path: p.doc.Path, file: file}
	e.ID, e.Racy = id, false
	e.Doc = &engine.Document{
		Path: p.doc.Path, Kind: file.Kind, Body: p.doc.Body, Sum: engine.Sum(p.doc.Body), Changed: info.Changed,
		Known: s.owner(a, info), Parsed: new(engine.Parsed),
	}
	return e
}

// forgetOwn notes that placet itself removes a document of a run: nobody misses it.
func (s *Store) forgetOwn(run layout.Run, name string) {
	tree := s.cache.Get(run.State)
	if tree == nil {
		return
	}
	tree.Lock()
	defer tree.Unlock()
	if e := tree.At(name); e != nil {
		e.Known = false
	}
}

// takeFolders returns the folders whose sync is owed. Those whose last sync failed
// are changed first, or the next one would say nothing about what that has lost;
// where that cannot be done, the sync is refused.
func (s *Store) takeFolders() (dirs []string, refused map[string]error) {
	s.queue.mu.Lock()
	owed := s.queue.folders
	s.queue.folders = map[string]bool{}
	s.queue.mu.Unlock()
	refused = map[string]error{}
	for _, dir := range slices.Sorted(maps.Keys(owed)) {
		if owed[dir] {
			if err := s.stir(dir); err != nil {
				refused[dir] = lostSync{err}
				continue
			}
		}
		dirs = append(dirs, dir)
	}
	return dirs, refused
}

// lostSync is why a folder is still not synced whose sync has failed before.
type lostSync struct{ error }

func (l lostSync) Unwrap() error { return l.error }

// oweFolder notes that a folder is to be synced by the next commit, and why it is
// not yet.
func (s *Store) oweFolder(dir string, cause error) {
	s.queue.mu.Lock()
	defer s.queue.mu.Unlock()
	lost := errors.As(cause, new(lostSync)) || !passing(cause)
	s.queue.folders[dir] = s.queue.folders[dir] || lost
}

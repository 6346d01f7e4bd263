package store

import (
	"crypto/sha256"
	"errors"
	"maps"
	"slices"
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
	c := content{info: p.info, sum: sha256.Sum256(p.doc.Body)}
	s.memory.keep(j.run, p.doc.Path, trace{
		known: true, own: true, device: p.info.Device, inode: p.info.Inode, mark: s.memory.markOf(c, true), since: s.age(),
	})
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

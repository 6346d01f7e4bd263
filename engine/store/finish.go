package store

import (
	"crypto/sha256"
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

// takeFolders returns the folders whose sync is owed.
func (s *Store) takeFolders() []string {
	s.queue.mu.Lock()
	defer s.queue.mu.Unlock()
	dirs := slices.Collect(maps.Keys(s.queue.folders))
	clear(s.queue.folders)
	return dirs
}

// oweFolder notes that a folder is to be synced by the next commit.
func (s *Store) oweFolder(dir string) {
	s.queue.mu.Lock()
	defer s.queue.mu.Unlock()
	s.queue.folders[dir] = true
}

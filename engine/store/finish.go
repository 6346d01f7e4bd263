package store

// finish ends a job: what it displaced is let go, its temporary names are
// removed, its documents are remembered, and its lines are appended.
func (s *Store) finish(j *job) {
	for _, p := range j.puts {
		s.settleDisplaced(p)
	}
	for _, p := range j.puts {
		s.dropTemp(p.temp)
		p.temp = ""
		switch {
		case p.journal && !p.placed:
			s.oweJournal(j.run.State, p.doc.Path, p.newName)
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
	now := s.now()
	r := &record{
		id: identityOf(p.info), sum: sumOf(p.doc.Body), body: p.doc.Body,
		since: now, read: now, racy: true, own: true,
	}
	s.memory.keep(j.run, p.doc.Path, r)
}

// takeFolders returns the folders whose sync is owed, if there is a round.
func (s *Store) takeFolders(round bool) []string {
	s.queue.mu.Lock()
	defer s.queue.mu.Unlock()
	var dirs []string
	for dir := range s.queue.folders {
		dirs = append(dirs, dir)
	}
	if round {
		clear(s.queue.folders)
		return dirs
	}
	return nil
}

// oweFolder notes that a folder is to be synced by the next commit.
func (s *Store) oweFolder(dir string) {
	s.queue.mu.Lock()
	defer s.queue.mu.Unlock()
	s.queue.folders[dir] = true
}

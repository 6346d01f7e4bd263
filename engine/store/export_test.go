package store

// WalkPaths makes the machine's file system do without openat2 until the
// returned function is called.
func WalkPaths() (restore func()) { return walkPaths() }

// HotRuns is how many runs keep the traces of their files.
const HotRuns = hotRuns

// MoveWithout renames as on a kernel without exclusive renames.
var MoveWithout = moveWithout

// Waiting is how many plans wait for the rounds before them to end.
func (s *Store) Waiting() int {
	s.queue.mu.Lock()
	defer s.queue.mu.Unlock()
	return len(s.queue.waiting)
}

// Owing is how many runs have lines that are not durable.
func (s *Store) Owing() int {
	s.queue.mu.Lock()
	defer s.queue.mu.Unlock()
	return len(s.queue.journals)
}

// SyncAllFrom sets from how many files on a round is one sync of everything.
func (s *Store) SyncAllFrom(n int) *Store {
	s.many = n
	return s
}

// Remembered is how many traces and contents of files the store keeps.
func (s *Store) Remembered() [2]int {
	m := &s.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	traces := len(m.outside.traces)
	for _, f := range m.runs {
		traces += len(f.traces)
	}
	m.bodies.mu.Lock()
	defer m.bodies.mu.Unlock()
	return [2]int{traces, len(m.bodies.kept)}
}

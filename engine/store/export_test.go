package store

import "placet/layout"

// Waiting returns how many plans wait for the end of the rounds before them.
func (s *Store) Waiting() int {
	s.committer.queue.mu.Lock()
	defer s.committer.queue.mu.Unlock()
	return len(s.committer.queue.waiting)
}

// Owing returns how many runs have lines that are not durable.
func (s *Store) Owing() int {
	s.syncer.mu.Lock()
	defer s.syncer.mu.Unlock()
	return len(s.syncer.pendingJournals)
}

// SyncAllFrom sets the number of files from which on a round is one sync of
// everything.
func (s *Store) SyncAllFrom(n int) *Store {
	s.syncer.many = n
	return s
}

// Remembered returns how many runs, and how many files outside them, the store
// remembers, and how many bytes their documents take.
func (s *Store) Remembered() [3]int {
	runs, outside, bytes := s.seen.Cache.Sizes()
	return [3]int{runs, outside, bytes}
}

// LastLook returns the number of the last look at a run.
func (s *Store) LastLook(run layout.Run) uint64 {
	tree := s.seen.Cache.Lock(run.State)
	defer tree.Unlock()
	return tree.Look
}

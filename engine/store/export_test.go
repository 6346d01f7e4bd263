package store

import "placet/layout"

// Waiting is how many plans wait for the rounds before them to end.
func (s *Store) Waiting() int {
	s.committer.queue.mu.Lock()
	defer s.committer.queue.mu.Unlock()
	return len(s.committer.queue.waiting)
}

// Owing is how many runs have lines that are not durable.
func (s *Store) Owing() int {
	s.syncer.mu.Lock()
	defer s.syncer.mu.Unlock()
	return len(s.syncer.pendingJournals)
}

// SyncAllFrom sets from how many files on a round is one sync of everything.
func (s *Store) SyncAllFrom(n int) *Store {
	s.syncer.many = n
	return s
}

// Remembered is how many runs and files outside them the store remembers, and how many
// bytes their documents take.
func (s *Store) Remembered() [3]int {
	runs, outside, bytes := s.seen.Cache.Sizes()
	return [3]int{runs, outside, bytes}
}

// LastLook is the number of the last look at a run.
func (s *Store) LastLook(run layout.Run) uint64 {
	tree := s.seen.Cache.Lock(run.State)
	defer tree.Unlock()
	return tree.Look
}

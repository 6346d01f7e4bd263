package reconcile

import "sync"

// slots bound how many passes look and decide side by side. A pass that waits for
// the disk or for a lock gives its slot up, so that others get ready meanwhile and
// share its rounds of fsync. Who comes back from there goes before who begins: what
// is begun ends first.
type semaphore struct {
	mu     sync.Mutex
	free   int
	backs  int // waiting to go on
	goOn   *sync.Cond
	begins *sync.Cond
}

func newSemaphore(n int) *semaphore {
	s := &semaphore{free: n}
	s.goOn, s.begins = sync.NewCond(&s.mu), sync.NewCond(&s.mu)
	return s
}

// begin waits for a slot for a pass that begins.
func (s *semaphore) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.free == 0 || s.backs > 0 {
		s.begins.Wait()
	}
	s.free--
}

// again waits for a slot for a pass that gave its own up.
func (s *semaphore) again() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.backs++
	for s.free == 0 {
		s.goOn.Wait()
	}
	s.backs--
	s.free--
	s.wake()
}

// give gives a slot up.
func (s *semaphore) give() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free++
	s.wake()
}

// wake must be called with the lock held.
func (s *semaphore) wake() {
	switch {
	case s.free == 0:
	case s.backs > 0:
		s.goOn.Signal()
	default:
		s.begins.Signal()
	}
}

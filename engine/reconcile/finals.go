package reconcile

import (
	"context"
	"sync"
	"time"
)

// finals are the final runs that placet moved at some time. A crash may have
// come between their last state and what it owes, so each is looked at once
// after a start. Nobody waits for them: those that can move come first.
type finals struct {
	mu   sync.Mutex
	runs []Found
}

// check has a final run looked at once.
func (s *session) check(f Found) {
	s.finals.mu.Lock()
	defer s.finals.mu.Unlock()
	s.finals.runs = append(s.finals.runs, f)
}

// checkFinals takes the final runs one after the other among those that can
// move: a pass over each finds what is owed, and retires it again.
func (s *session) checkFinals(ctx context.Context) {
	s.finals.mu.Lock()
	runs := s.finals.runs
	s.finals.runs = nil
	s.finals.mu.Unlock()
	for _, f := range runs {
		if pause(ctx, finalsPace) != nil {
			return
		}
		s.revive(f)
	}
	select {
	case <-ctx.Done():
	case <-s.allPassed:
		s.started()
	}
}

// finalsPace leaves the workers to the runs that people wait for.
const finalsPace = time.Millisecond

// revive takes a final run among those that can move, unless it is gone or
// there already.
func (s *session) revive(f Found) {
	if len(s.book.finalAt(f.Run.State)) == 0 {
		return
	}
	s.book.removeFinal(f.Run.State)
	lv := s.book.newLive(f)
	s.book.add(lv)
	s.dirty.mark(lv.state)
}

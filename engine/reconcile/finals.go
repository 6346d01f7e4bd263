package reconcile

import (
	"context"
	"sync"
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

// checkFinals looks at the final runs one after the other. One that cannot be
// brought to rest is taken among those that can move.
func (s *session) checkFinals(ctx context.Context) {
	s.finals.mu.Lock()
	runs := s.finals.runs
	s.finals.runs = nil
	s.finals.mu.Unlock()
	for _, f := range runs {
		if ctx.Err() != nil {
			return
		}
		p := s.l.newPass(f)
		err := p.run(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil || !p.again().IsZero() {
			s.revive(f)
		}
		s.l.o.Store.Forget(f.Run)
	}
}

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

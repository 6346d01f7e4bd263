package reconcile

import (
	"slices"
	"strings"
	"sync"
	"time"

	"placet/engine"
	"placet/engine/store"
	"placet/layout"
)

// absenceStands is how long a folder of a run, or a file that placet wrote there, must
// be gone before it is written again: many tools remove a file before they put the new
// one in its place, and refuse one that stands there by then; a folder may be renamed
// away and back; and what is gone may be the first of a run that somebody removes.
const absenceStands = 250 * time.Millisecond

// absences are the moments from which what a run lacks may be written again.
type absences struct {
	mu sync.Mutex
	at map[string]time.Time // by state document
}

func newAbsences() absences { return absences{at: map[string]time.Time{}} }

// hastyPlan reports whether a plan was made while something of the run had vanished a
// moment ago, or would write again what had, and when it may be carried out. missed is
// when the store first missed something. Otherwise there is nothing early in a plan that
// moves the run.
func (s *session) hastyPlan(lv *live, run layout.Run, plan engine.Plan, missed time.Time) (until time.Time, hasty bool) {
	now := s.l.o.Now()
	if until = missed.Add(absenceStands); now.Before(until) && !now.Before(missed) {
		return until, true
	}
	s.absences.mu.Lock()
	defer s.absences.mu.Unlock()
	until, known := s.absences.at[lv.state]
	switch {
	case len(plan.Transitions) > 0:
		return time.Time{}, false
	case !known && s.vanished(lv, run, plan):
		until = now.Add(absenceStands)
		s.absences.at[lv.state] = until
		return until, true
	}
	// A clock that was set back must not keep anybody waiting.
	return until, known && now.Before(until) && until.Sub(now) <= absenceStands
}

// vanished reports whether a plan makes something anew that was there when the run
// came to rest last. A problem note keeps nobody waiting: it is nobody's but placet's.
func (s *session) vanished(lv *live, run layout.Run, plan engine.Plan) bool {
	anew := func(d engine.Document) bool { return d.Over == "" && d.Kind != layout.KindProblem }
	if !slices.ContainsFunc(plan.Writes, anew) {
		return false
	}
	seen := "\x00" + s.book.names(lv)
	return slices.ContainsFunc(plan.Writes, func(d engine.Document) bool {
		return anew(d) && strings.Contains(seen, "\x00"+store.NameIn(run.Dir, d.Path)+"\x00")
	})
}

// stood forgets what a run has lacked.
func (s *session) stood(lv *live) {
	s.absences.mu.Lock()
	defer s.absences.mu.Unlock()
	delete(s.absences.at, lv.state)
}

package reconcile

import (
	"slices"
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

// debounce has the moments from which what runs lack may be written again.
type debounce struct {
	mu sync.Mutex
	at map[string]time.Time // by state document
}

func newDebounce() debounce { return debounce{at: map[string]time.Time{}} }

// early reports whether a plan was made while something of the run had vanished a
// moment ago, or would write again what had, and when it may be carried out. Otherwise
// there is nothing early in a plan that moves the run.
func (d *debounce) early(state string, now time.Time, loaded store.Loaded, plan engine.Plan) (until time.Time, early bool) {
	if until = loaded.Missed.Add(absenceStands); now.Before(until) && !now.Before(loaded.Missed) {
		return until, true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	until, known := d.at[state]
	switch {
	case len(plan.Transitions) > 0:
		return time.Time{}, false
	case !known && makesAnew(plan, loaded.Vanished):
		until = now.Add(absenceStands)
		d.at[state] = until
		return until, true
	}
	// A clock that was set back must not keep anybody waiting.
	return until, known && now.Before(until) && until.Sub(now) <= absenceStands
}

// makesAnew reports whether a plan makes something anew that has just vanished. A problem
// note keeps nobody waiting: it is nobody's but placet's.
func makesAnew(plan engine.Plan, vanished []string) bool {
	return slices.ContainsFunc(plan.Writes, func(d engine.Document) bool {
		return d.Over == "" && d.Kind != layout.KindProblem && slices.Contains(vanished, d.Path)
	})
}

// forget forgets what a run has lacked.
func (d *debounce) forget(state string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.at, state)
}

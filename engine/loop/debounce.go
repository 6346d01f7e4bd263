package loop

import (
	"slices"
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

// absence is the moment from which what a run lacks may be written again, zero where it
// lacks nothing.
type absence struct{ until time.Time }

// debounce reports whether a plan was made while something of the run had vanished a
// moment ago, or would write again what had, and when it may be carried out. Otherwise
// a plan that moves the run never waits.
func (a *absence) debounce(now time.Time, loaded store.Loaded, plan engine.Plan) (until time.Time, early bool) {
	if until = loaded.Missed.Add(absenceStands); now.Before(until) && !now.Before(loaded.Missed) {
		return until, true
	}
	switch {
	case len(plan.Transitions) > 0:
		return time.Time{}, false
	case a.until.IsZero() && makesAnew(plan, loaded.Vanished):
		a.until = now.Add(absenceStands)
		return a.until, true
	}
	// A clock that was set back must not keep anybody waiting.
	return a.until, now.Before(a.until) && a.until.Sub(now) <= absenceStands
}

// makesAnew reports whether a plan makes something anew that has just vanished. A problem
// note keeps nobody waiting: only placet writes it.
func makesAnew(plan engine.Plan, vanished []string) bool {
	return slices.ContainsFunc(plan.Writes, func(d engine.Document) bool {
		return d.Over == "" && d.Kind != layout.KindProblem && slices.Contains(vanished, d.Path)
	})
}

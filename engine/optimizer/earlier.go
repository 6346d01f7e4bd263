package optimizer

import (
	"fmt"

	"placet/layout"
	"placet/schemas"
)

// earlier reports whether an attempt began before the cycle did: then it is another
// cycle's, whose folder was copied or begun anew, and counts for nothing in this one.
func (r *cycle) earlier(a Attempt) bool {
	at := a.StartedAt.Time()
	return !at.IsZero() && at.Before(r.State.BeganAt.Time())
}

// noteEarlier say so beside such attempts.
func noteEarlier(r *cycle) {
	for _, d := range r.Snap.Under("attempts") {
		var a Attempt
		_, _, outcome, ok := layout.OptimizerAttempt(r.Snap.Rel(d.Path))
		if !ok || outcome || !d.Present() || schemas.Decode("optimizer/attempt", d.Path, d.Body, &a) != nil || !r.earlier(a) {
			continue
		}
		r.Notes.Beside(d.Path, fmt.Sprintf("this attempt began at %s, before the cycle did at %s: it is another cycle's and counts for nothing here; remove it with its outcome",
			a.StartedAt, r.State.BeganAt))
	}
}

// nextAttempt is the first number after the last attempt under which nothing lies,
// whoever's: none is written over, and no outcome is taken for another attempt's.
func nextAttempt(r *cycle, all attempts) int {
	level, n := r.State.Level.Current, 1
	if last := all.last(); last != nil {
		n = last.n + 1
	}
	for !r.Snap.In(layout.OptimizerAttemptFile(level, n)).Absent() || !r.Snap.In(layout.OptimizerOutcomeFile(level, n)).Absent() {
		n++
	}
	return n
}

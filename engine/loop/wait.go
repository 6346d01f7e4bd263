package loop

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/layout"
)

const (
	// cooldownPasses is how many passes in quick succession may move nothing before the run
	// has to wait a little: somebody keeps writing in its folder, or keeps removing what
	// placet writes there. The wait doubles with every such pass, up to longestCooldown, so
	// that an answer is still processed soon.
	cooldownPasses    = 8
	cooldownWithin    = 100 * time.Millisecond
	cooldownWait      = 25 * time.Millisecond
	cooldownDoublings = 3
	longestCooldown   = cooldownWait << cooldownDoublings
	// longestRest is the longest wait after a long pass, which is restFactor times as long
	// as the pass took, so that large documents do not keep a processor busy.
	longestRest = 2 * time.Second
	// probeWait is how often one run tests whether an error that affects all runs is over.
	probeWait = time.Second
)

// pausePoll is how often to check the tree while git rewrites it, or while it is missing.
const pausePoll = 250 * time.Millisecond

// awaitTree waits until placet may decide again. It logs the reason once.
func (l *Loop) awaitTree(ctx context.Context) error {
	for {
		reason, held := l.o.Store.Paused()
		l.logPause(reason, held)
		if !held {
			return nil
		}
		if err := pause(ctx, pausePoll); err != nil {
			return err
		}
	}
}

// logPause logs that a pause begins or ends, or that a pause of another kind follows.
func (l *Loop) logPause(reason string, held bool) {
	l.holdMu.Lock()
	defer l.holdMu.Unlock()
	if l.held != "" && (!held || gone(reason) != gone(l.held)) {
		if held || l.o.Store.Stale() == "" {
			l.o.Log.Info(begins[gone(l.held)].over, "over", l.held)
		}
		l.held = ""
	}
	if held && l.held == "" {
		l.o.Log.Warn(begins[gone(reason)].nothing, "because", reason)
		l.held = reason
	}
}

// logStale logs once that a sign of git's is still present but no longer holds anything up.
func (l *Loop) logStale(stale string) {
	l.holdMu.Lock()
	defer l.holdMu.Unlock()
	if stale != "" && stale != l.stale {
		l.o.Log.Warn("git does not seem to be at work", "because", stale)
	}
	l.stale = stale
}

// begins holds what the log says about a pause, by whether the workspace is gone.
var begins = map[bool]struct{ nothing, over string }{
	false: {"nothing is decided until git is ready with the tree", "git is ready with the tree; going on"},
	true:  {"nothing is decided until the workspace is back; to serve what is there now, start placet again", "the workspace is back; going on"},
}

// gone reports whether the reason of a pause is that the workspace is gone.
func gone(reason string) bool { return strings.HasPrefix(reason, store.Gone) }

// sayAway logs that the workspace is gone, or is back, and reports whether it is gone.
func (l *Loop) sayAway() bool {
	why := l.o.Store.Away()
	l.holdMu.Lock()
	was := gone(l.held)
	l.holdMu.Unlock()
	if why != "" || was {
		l.logPause(why, why != "")
	}
	return why != ""
}

// pause waits, or returns the context's error if the context ends first.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// absenceStands is how long a folder of a run, or a file that placet wrote there, must be
// gone before it is written again. Many tools remove a file before they create the new one,
// and refuse to replace one that exists by then; a folder may be renamed away and back; and
// the missing file may be the first of a run that somebody removes.
const absenceStands = 250 * time.Millisecond

// absence is the time from which missing files of a run may be written again, zero if none
// is missing.
type absence struct{ until time.Time }

// debounce reports whether a plan must wait, and until when, because part of the run
// vanished a moment ago, or because the plan would write again what did. Otherwise a plan
// that moves the run never waits.
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
	// A clock that was set back must not delay anybody.
	return a.until, now.Before(a.until) && a.until.Sub(now) <= absenceStands
}

// makesAnew reports whether a plan recreates a file that has just vanished. Problem notes
// do not count, because only placet writes them.
func makesAnew(plan engine.Plan, vanished []string) bool {
	return slices.ContainsFunc(plan.Writes, func(d engine.Document) bool {
		return d.Over == "" && d.Kind != layout.KindProblem && slices.Contains(vanished, d.Path)
	})
}

const (
	firstWait = 100 * time.Millisecond
	// busyWait is the first wait after waiting for a lock that took as long.
	busyWait = 5 * time.Second
	lastWait = time.Minute
)

// backoff is how long a run waits after an error: the wait doubles with every error and is
// reset by the first success. The zero value is for a run without errors.
type backoff struct{ wait time.Duration }

// next returns the wait after another error.
func (b *backoff) next(err error) time.Duration {
	first := firstWait
	if errors.Is(err, fs.ErrBusy) {
		first = busyWait
	}
	b.wait = min(max(first, 2*b.wait), lastWait)
	return b.wait
}

// retry says from when on a run may be looked at again although it is marked.
type retry struct {
	notBefore time.Time // at least the end of the last pass
	fruitless int       // passes in quick succession that moved nothing
	backoff   backoff   // of its errors
	// cause is how the run looked when an error held it up: it may continue early if it
	// looks different. It is nil if no error holds it up.
	cause *retryCause
}

type retryCause struct {
	print uint64
	until time.Time
	epoch uint64 // of the session
}

// mustWait reports whether a marked run must not be looked at yet, and sets a timer for
// when it may be. A run that an error holds up waits for as long as it looks the same:
// without this rule, the files that the failed pass itself has written would wake it.
func (s *session) mustWait(lv *activeRun) bool {
	left := time.Until(lv.retry.notBefore)
	if c := lv.retry.cause; c != nil {
		over := time.Until(c.until)
		if over > 0 && c.epoch == s.epoch.Load() && c.print == s.printOf(lv) {
			left = max(left, over)
		} else {
			lv.retry.cause = nil
		}
	}
	if left <= 0 {
		return false
	}
	s.timers.set(lv.state, s.l.o.Now().Add(left))
	return true
}

// coolDown counts passes in quick succession that moved nothing, and sets how long the run
// waits for the next one.
func (s *session) coolDown(lv *activeRun, p *pass) {
	if p.transitions > 0 {
		s.moved.Add(1)
	}
	r, now := &lv.retry, time.Now()
	calm := r.notBefore.Add(cooldownWithin)
	if r.notBefore = now; p.transitions > 0 || p.began.After(calm) {
		r.fruitless = 0
		return
	}
	if r.fruitless = min(r.fruitless+1, cooldownPasses+cooldownDoublings); r.fruitless >= cooldownPasses {
		r.notBefore = now.Add(max(cooldownWait<<(r.fruitless-cooldownPasses), min(restFactor*now.Sub(p.began), longestRest)))
	}
}

// failed makes a run wait after an error.
func (s *session) failed(lv *activeRun, f Found, err error) {
	wait := stuckWait
	probe := s.fail(lv, f, err)
	if stuck := (*stuckError)(nil); !errors.As(err, &stuck) {
		if wait = lv.retry.backoff.next(err); probe && common(err) {
			wait = min(wait, probeWait)
		}
	}
	lv.retry.cause = &retryCause{print: s.printOf(lv), until: time.Now().Add(wait), epoch: s.epoch.Load()}
	s.timers.set(lv.state, s.l.o.Now().Add(wait))
}

// goesOn records that no error holds a run up. A run that was stuck must prove it first.
func (s *session) goesOn(lv *activeRun) {
	lv.retry.backoff = backoff{}
	if !lv.taken.circling() {
		s.clear(lv.knownRun)
	}
}

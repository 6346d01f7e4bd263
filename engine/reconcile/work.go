package reconcile

import (
	"context"
	"errors"
	"path"
	"slices"
	"sync"
	"time"

	"placet/engine"
	"placet/layout"
)

const (
	// hastyPasses is how many passes in quick succession may move nothing
	// before the run has to wait a little: somebody writes in its folder all
	// the time, or takes away what placet writes there. The wait doubles with
	// every such pass, up to longestWait: an answer is taken soon all the same.
	hastyPasses = 8
	hastyWithin = 100 * time.Millisecond
	hastyWait   = 25 * time.Millisecond
	hastyTwice  = 3
	longestWait = hastyWait << hastyTwice
	// A run whose passes are long waits restFactor times as long as the last one
	// took, up to longestRest: large documents must not keep a processor busy.
	longestRest = 2 * time.Second
	// probeWait is how often one run tries whether an error is over that
	// holds for all of them.
	probeWait = time.Second
	// longAgo is by how much a file system's clock may differ from ours.
	longAgo = 10 * time.Second
)

// work gives every dirty run a pass, in their order, several side by side.
func (s *session) work(ctx context.Context, wg *sync.WaitGroup) {
	for s.queue.wait() {
		s.under <- struct{}{}
		s.semaphore.begin()
		state, ok := s.queue.take()
		if !ok {
			return
		}
		wg.Go(func() {
			s.serve(ctx, state)
			s.semaphore.give()
			<-s.under
			s.queue.finish(state)
		})
	}
}

// serve gives one run its pass.
func (s *session) serve(ctx context.Context, state string) {
	lv := s.registry.get(state)
	if lv == nil {
		s.finals.heard(state)
		return
	}
	if s.resting(lv) || s.coolingDown(lv) {
		return
	}
	s.timers.drop(state)
	p := s.newPass(lv)
	r := p.timed(ctx)
	for errors.Is(r.err, errHeld) {
		// The caller need not wait for git to hear that we are here.
		s.tell()
		if r.err = s.l.free(ctx); r.err == nil {
			r = p.timed(ctx)
		}
	}
	s.l.peers[p.f.Run.Family].passed(p)
	if ctx.Err() != nil && errors.Is(r.err, ctx.Err()) {
		return
	}
	if r.err == nil {
		s.remember(p)
	}
	s.end(lv, p, r)
}

// resting reports whether a run that is stuck, or waits after an error, is still
// what it was then. What the failed pass itself has written is no reason to look
// again: without this rule it would wake itself.
func (s *session) resting(lv *live) bool {
	if lv.rest == nil {
		return false
	}
	left := time.Until(lv.rest.until)
	over := left <= 0 || lv.rest.epoch != s.epoch.Load()
	if !over && s.printOf(lv) == lv.rest.print {
		s.timers.set(lv.state, s.l.o.Now().Add(left))
		return true
	}
	lv.rest = nil
	return false
}

// coolingDown puts a run off for a moment that is marked all the time for nothing.
func (s *session) coolingDown(lv *live) bool {
	left := lv.cooldown() - time.Since(lv.endedAt)
	if left <= 0 {
		return false
	}
	s.timers.set(lv.state, s.l.o.Now().Add(left))
	return true
}

// newPass returns a run's pass. Its folder is followed before it is read.
func (s *session) newPass(lv *live) *pass {
	p := s.l.newPass(s.registry.found(lv))
	p.began = time.Now()
	p.needs, p.taken = lv.needs, lv.taken
	p.looking = func() { s.looking(lv) }
	p.follow = func(lk look) bool { return s.tooEarly(lv, lk, p.f.Run) }
	p.waiting = func(wait func()) {
		s.semaphore.give()
		wait()
		s.semaphore.again()
	}
	var anew, first bool
	s.registry.do(func() {
		if anew = lv.anew || lv.dirs == nil; anew {
			lv.anew, lv.dirs = false, nil
		}
		first = lv.first
	})
	p.yields = func() bool { return !first && s.queue.waiting() }
	p.early = func(plan engine.Plan) (time.Time, bool) {
		return s.debounce.early(lv.state, s.l.o.Now(), p.last.loaded, plan)
	}
	if anew {
		s.w.Forget(lv.state)
		s.rank(lv)
		s.follow(lv, []string{p.f.Run.Dir})
	}
	return p
}

// looking notes that a run is about to be read: what has marked it until now, its own
// commits included, is seen. Watches that are not to be trusted are made anew by
// another pass.
func (s *session) looking(lv *live) {
	var anew bool
	if s.registry.do(func() { anew = lv.anew }); !anew {
		s.queue.unmark(lv.state)
	}
}

// rank has the watcher put others before a run that has not begun, as far as its
// state document tells: folders that hold nothing must not take the watches away.
func (s *session) rank(lv *live) {
	var begun bool
	s.registry.do(func() { begun = lv.status != engine.Peek{} })
	s.w.Secondary(lv.state, !begun)
}

// follow has a run woken by what happens in the folders, and returns those that
// were not followed before. That a folder is blind is the watcher's to say, and
// the scan's to answer.
func (s *session) follow(lv *live, dirs []string) (more []string) {
	if slices.Equal(lv.dirs, dirs) {
		return nil
	}
	_ = s.w.Follow(lv.state, dirs)
	for _, d := range dirs {
		if !slices.Contains(lv.dirs, d) {
			more = append(more, d)
		}
	}
	s.registry.do(func() { lv.dirs = dirs })
	return more
}

// tooEarly follows what a look has found, and reports whether the look came too
// early: something may have happened in a folder between the look and the
// watch. In a folder that nobody has touched for long, nothing has.
func (s *session) tooEarly(lv *live, lk look, run layout.Run) bool {
	more := s.follow(lv, follows(lk, run, lv.dirs))
	if len(more) == 0 {
		return false
	}
	paths := more
	for _, d := range lk.loaded.Docs {
		if slices.Contains(more, path.Dir(d.Path)) && !d.Absent() {
			paths = append(paths, d.Path)
		}
	}
	return !s.w.Untouched(lk.began.Add(-longAgo), paths...)
}

// end draws the conclusions from a pass.
func (s *session) end(lv *live, p *pass, r result) {
	s.haste(lv, p)
	lv.needs, lv.taken = p.needs, p.taken
	if r.outcome != more {
		s.note(lv, p)
	}
	switch r.outcome {
	case idle:
		s.goesOn(lv)
		s.debounce.forget(lv.state)
		s.wait(lv, p, r.at)
	case later:
		s.goesOn(lv)
		s.timers.set(lv.state, r.at)
	case more:
		s.goesOn(lv)
		s.queue.mark(lv.state)
	case failed:
		s.failed(lv, p.f, r.err)
	}
	if lv.looks++; r.outcome == more || p.last.loaded.Again.IsZero() || lv.looks >= firstLooks {
		s.firstOver(lv)
	}
	s.unfollow(lv)
}

// goesOn notes that no error holds a run up. One that was stuck has to show it first.
func (s *session) goesOn(lv *live) {
	lv.back.reset()
	if !lv.taken.circling() {
		s.clear(lv)
	}
}

// failed has a run wait after an error.
func (s *session) failed(lv *live, f Found, err error) {
	wait := stuckWait
	probe := s.fail(lv, f, err)
	if stuck := (*stuckError)(nil); !errors.As(err, &stuck) {
		if wait = lv.back.next(err); probe && common(err) {
			wait = min(wait, probeWait)
		}
	}
	s.rest(lv, wait)
}

// unfollow ends the watches of a run that vanished during its pass.
func (s *session) unfollow(lv *live) {
	if s.registry.get(lv.state) != lv && len(s.registry.finalAt(lv.state)) == 0 {
		s.w.Forget(lv.state)
	}
}

// rest has a run wait, unless it changes.
func (s *session) rest(lv *live, wait time.Duration) {
	lv.rest = &rest{print: s.printOf(lv), until: time.Now().Add(wait), epoch: s.epoch.Load()}
	s.timers.set(lv.state, s.l.o.Now().Add(wait))
}

// firstLooks is how many passes a run's files may take to stand still before
// the daemon counts as ready all the same.
const firstLooks = 8

// haste counts passes in quick succession that moved nothing, and says how long the
// run waits for the next one.
func (s *session) haste(lv *live, p *pass) {
	now, calm := time.Now(), lv.endedAt.Add(hastyWithin+lv.cooldown())
	if p.moved > 0 {
		s.moved.Add(1)
	}
	if lv.endedAt = now; p.moved > 0 || p.began.After(calm) {
		lv.hasty, lv.cool = 0, 0
		return
	}
	if lv.hasty++; lv.hasty < hastyPasses {
		return
	}
	lv.hasty = min(lv.hasty, hastyPasses+hastyTwice)
	wait := max(hastyWait<<(lv.hasty-hastyPasses), min(restFactor*now.Sub(p.began), longestRest))
	lv.cool = uint16(wait / time.Millisecond)
}

// cooldown is how long the run waits after a pass.
func (lv *live) cooldown() time.Duration { return time.Duration(lv.cool) * time.Millisecond }

// note remembers the last look at a run, and how it stands.
func (s *session) note(lv *live, p *pass) {
	status := peek(p.f, p.last.snap.Doc(p.f.Run.State))
	var began bool
	s.registry.do(func() {
		began = (lv.status == engine.Peek{}) != (status == engine.Peek{})
		lv.look, lv.status = p.last.loaded.Look, status
	})
	if began {
		s.rank(lv)
	}
}

// printOf takes the fingerprint of all that was last seen of a run.
func (s *session) printOf(lv *live) uint64 {
	return s.l.o.Store.RunFingerprint(layout.Run{Dir: lv.dir(), State: lv.state})
}

// wait sets a run's timer, or takes it out of the way if it is final. A note is to go
// with its cause: its run is not over.
func (s *session) wait(lv *live, p *pass, at time.Time) {
	if at.IsZero() && len(standingNotes(p.last.snap.Docs)) == 0 && lv.status.Final && short(p.f.Run) && !s.queue.marked(lv.state) && !s.l.ends.due(lv.state) {
		s.retire(lv, p)
		return
	}
	s.timers.set(lv.state, at)
}

// retire makes a run final, unless its state document is another one by now.
// The print is taken before the document is read again, so that whatever
// happens after that makes the print differ.
func (s *session) retire(lv *live, p *pass) {
	run := p.f.Run
	print := s.l.o.Store.Fingerprint(run.Dir, run.State)
	seen := p.last.snap.Doc(run.State)
	file, ok := p.f.Family.Layout.File(run, layoutRel(run))
	if !ok || s.l.o.Store.Read(run.State, file).Sum != seen.Sum {
		s.queue.mark(lv.state)
		return
	}
	s.registry.retire(lv, p.f, print)
	s.release(run)
	s.finals.keepFinal(run.State)
}

// release ends what the store keeps of a run while it can move.
func (s *session) release(run layout.Run) {
	if err := s.l.o.Store.Finish(run); err != nil {
		s.l.o.Log.Debug("the last lines of a run's journal may not be durable yet", "run", run.Dir, "err", err)
	}
	s.l.o.Store.Forget(run)
}

// fail logs what holds a run up, once per cause, and reports whether the run is
// the one by which to see that it is over.
func (s *session) fail(lv *live, f Found, err error) (probe bool) {
	news, probe := s.l.errors.fail(lv.state, err)
	if news {
		s.l.o.Log.Warn("cannot go on with a run; trying again later", "run", f.Key().String(), "err", err)
	}
	return probe
}

// clear notes that nothing holds a run up any more. If that means that others
// may go on, their rest is over.
func (s *session) clear(lv *live) {
	over, others := s.l.errors.clear(lv.state)
	if over != "" {
		s.l.o.Log.Info("going on", "over", over)
	}
	if len(others) > 0 {
		s.epoch.Add(1)
		s.queue.markAll(others)
	}
}

// firstOver notes that a run had its first pass.
func (s *session) firstOver(lv *live) {
	var was bool
	s.registry.do(func() { was, lv.first = lv.first, false })
	if was {
		s.passed()
	}
}

// forget takes a run out that is not there any more.
func (s *session) forget(lv *live) {
	s.registry.remove(lv)
	s.timers.drop(lv.state)
	s.clear(lv)
	s.w.Forget(lv.state)
	s.release(s.registry.found(lv).Run)
	s.firstOver(lv)
}

// layoutRel is the state document's path relative to the run's folder.
func layoutRel(run layout.Run) string {
	return run.State[min(len(run.Dir)+1, len(run.State)):]
}

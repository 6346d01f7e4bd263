package loop

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"placet/engine"
	"placet/layout"
)

// work gives every marked run a pass, in order, several in parallel.
func (s *session) work(ctx context.Context, wg *sync.WaitGroup) {
	for s.queue.wait() {
		s.underWay.acquire()
		s.working.acquire()
		state, ok := s.queue.take()
		if !ok { // passes that come back from a wait need room
			s.working.release()
			s.underWay.release()
			return
		}
		wg.Go(func() {
			s.serve(ctx, state)
			s.working.release()
			s.underWay.release()
			s.queue.finish(state)
		})
	}
}

// serve gives one run its pass.
func (s *session) serve(ctx context.Context, state string) {
	r, lv := s.registry.get(state)
	switch {
	case r == nil:
		s.queue.trust(state)
		return
	case lv == nil:
		s.queue.trust(state)
		s.heard(r)
		return
	}
	defer func() {
		if !s.queue.marked(state) { // otherwise the next pass begins at once
			s.returnSubmissions(lv)
		}
	}()
	if s.mustWait(lv) {
		return
	}
	s.timers.drop(state)
	if lv.looks == 0 && s.starting.Load() && s.restore(lv) {
		return
	}
	p := s.newPass(lv)
	result := s.runPass(ctx, p)
	if x := s.l.peers[p.f.Run.Family]; x != nil {
		x.passed(p)
	}
	if ctx.Err() != nil && errors.Is(result.err, ctx.Err()) {
		return
	}
	if result.err == nil && s.starting.Load() {
		s.l.store(p.f, p.last, nil) // for the next start
	}
	s.end(lv, p, result)
}

// runPass runs a pass, and repeats it while git is rewriting the tree.
func (s *session) runPass(ctx context.Context, p *pass) result {
	for {
		began := time.Now()
		r := p.run(ctx)
		took := time.Since(began)
		for _, o := range s.l.o.Observers {
			o.Passed(p.f.Run, took)
		}
		if !errors.Is(r.err, errPaused) {
			return r
		}
		// The callers need not wait for git.
		s.tell()
		s.returnSubmissions(p.lv)
		s.queue.distrust(p.lv.state)
		if r.err = s.l.awaitTree(ctx); r.err != nil {
			return r
		}
	}
}

// yields reports whether other runs are queued while a run that had its first pass takes one
// step after the other: then the pass ends, and the next one begins after them. So of many
// answers at once all are accepted before the outputs of any of them are written.
func (s *session) yields(lv *activeRun) bool {
	var first bool
	s.registry.do(func() { first = lv.first })
	return !first && s.queue.waiting()
}

// waiting lets another pass look and decide while this one waits for a lock or the disk.
func (s *session) waiting(wait func()) {
	s.working.release()
	wait()
	s.working.acquire()
}

// end applies the result of a pass to its run.
func (s *session) end(lv *activeRun, p *pass, r result) {
	s.coolDown(lv, p)
	lv.taken = p.steps
	s.registry.do(func() { lv.needs = p.needs })
	if r.outcome != more {
		s.note(lv, p)
	}
	switch r.outcome {
	case idle:
		s.goesOn(lv)
		lv.absence = absence{}
		s.wait(lv, p, r.at)
	case later:
		s.goesOn(lv)
		s.queue.distrust(lv.state)
		s.timers.set(lv.state, r.at)
	case more:
		s.goesOn(lv)
		s.queue.markHeard(lv.state)
	case failed:
		s.queue.distrust(lv.state)
		s.failed(lv, p.f, r.err)
	}
	if lv.looks++; r.outcome == more || p.last.loaded.Again.IsZero() || lv.looks >= firstLooks {
		s.firstOver(lv)
	}
	if r, _ := s.registry.get(lv.state); r == nil {
		s.w.Forget(lv.state) // it vanished during its pass
	}
}

// firstLooks is how many passes a run's files may take to settle before the daemon counts as
// ready all the same.
const firstLooks = 8

// note records the last look at a run, and its summary.
func (s *session) note(lv *activeRun, p *pass) {
	status := summarize(p.f, p.last.snap.Doc(p.f.Run.State))
	var began bool
	s.registry.do(func() {
		began = (lv.status == engine.Summary{}) != (status == engine.Summary{})
		lv.look, lv.status = p.last.loaded.Look, status
	})
	s.progress.passed(lv, p)
	if began {
		s.rank(lv)
	}
}

// printOf returns the fingerprint of everything that was last seen of a run.
func (s *session) printOf(lv *activeRun) uint64 {
	return s.l.o.Store.RunFingerprint(layout.Run{Dir: lv.dir(), State: lv.state})
}

// wait sets a run's timer, or retires the run if it is final. A run with a problem note is not
// retired, because the note must disappear with its cause.
func (s *session) wait(lv *activeRun, p *pass, at time.Time) {
	if at.IsZero() && len(standingNotes(p.last.snap.Docs)) == 0 && lv.status.Final && short(p.f.Run) && !s.queue.marked(lv.state) && !s.l.actions.isUnderWay(lv.state) {
		s.retire(lv, p)
		return
	}
	s.timers.set(lv.state, at)
}

// retire makes a run final, unless its state document has changed. It takes the fingerprint
// before it reads the document again, so that any later change makes the fingerprint differ.
func (s *session) retire(lv *activeRun, p *pass) {
	run := p.f.Run
	print := s.l.o.Store.Fingerprint(run.Dir, run.State)
	seen := p.last.snap.Doc(run.State)
	file, ok := p.f.Family.Layout.File(run, strings.TrimPrefix(run.State, run.Dir+"/"))
	if !ok || s.l.o.Store.Read(run.State, file).Sum != seen.Sum {
		s.queue.mark(lv.state)
		return
	}
	s.registry.retire(lv.knownRun, print)
	s.progress.drop(lv.state)
	s.release(run)
	s.keep(lv.knownRun)
}

// release frees what the store keeps of a run while the run can move.
func (s *session) release(run layout.Run) {
	if err := s.l.o.Store.Finish(run); err != nil {
		s.l.o.Log.Debug("the last lines of a run's journal may not be durable yet", "run", run.Dir, "err", err)
	}
	s.l.o.Store.Forget(run)
}

// fail logs what holds a run up, once per cause, and reports whether the run is the probe of
// its cause.
func (s *session) fail(lv *activeRun, f Found, err error) (probe bool) {
	news, probe := s.l.errors.fail(lv.state, err)
	if news {
		s.l.o.Log.Warn("cannot go on with a run; trying again later", "run", f.Key().String(), "err", err)
	}
	return probe
}

// clear records that nothing holds a run up any more. If other runs may continue because of
// that, it marks them.
func (s *session) clear(r *knownRun) {
	over, others := s.l.errors.clear(r.state)
	if over != "" {
		s.l.o.Log.Info("going on", "over", over)
	}
	if len(others) > 0 {
		s.epoch.Add(1)
		s.queue.markAll(others)
	}
}

// firstOver records that a run had its first pass.
func (s *session) firstOver(lv *activeRun) {
	var was bool
	s.registry.do(func() { was, lv.first = lv.first, false })
	if was {
		s.passed()
	}
}

// forget removes a run that no longer exists.
func (s *session) forget(r *knownRun) {
	lv := s.registry.remove(r)
	s.timers.drop(r.state)
	s.progress.drop(r.state)
	s.clear(r)
	s.w.Forget(r.state)
	run := s.registry.found(r).Run
	s.release(run)
	s.l.o.Cache.Drop(run)
	if lv != nil {
		s.firstOver(lv)
	}
}

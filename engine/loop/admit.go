package loop

import (
	"context"
	"slices"
	"sync"
	"time"

	"placet/engine/store/statcache"
	"placet/layout"
)

const (
	// peekers is how many state documents of new runs are read in parallel, because each
	// read takes a while on a cold disk.
	peekers = 16
	// mostRestored is how many names the record of a run may have for the run to be
	// restored. A run with a long history is read at the start, because reading it at its
	// next answer would delay that answer.
	mostRestored = 256
	// mostKept is for how many final runs, the newest, the folder remains watched: an ended
	// run can be made to wait again, or be overwritten with an old copy.
	mostKept = 1000
	// finalsPace leaves the workers to the runs that people wait for.
	finalsPace = time.Millisecond
)

// admit adds new runs to the registry.
func (sc *scanner) admit(ctx context.Context, fresh []Found, walk uint32, first bool) {
	sideBySide(ctx, peekers, fresh, func(f Found) { sc.admitOne(f, walk, first) })
}

// admitOne adds one run. It takes the fingerprint before it reads the document, so that any
// later change makes the fingerprint differ.
//
// A final run that placet moved may have been stopped in the middle of a commit, or part of
// it may be missing. It gets a pass; at the start only after the runs that can move.
func (sc *scanner) admitOne(f Found, walk uint32, first bool) {
	r := sc.registry.newRun(f)
	r.walk, r.print = walk, sc.l.o.Store.Fingerprint(f.Run.Dir, f.Run.State)
	status := sc.l.Summarize(f)
	if status.Final && short(f.Run) && (first || !status.Touched) {
		r.unchecked = status.Touched && !sc.isAsLeft(f)
		sc.registry.add(r)
		sc.l.o.Store.Forget(f.Run)
		if !first {
			sc.keep(r)
		}
		return
	}
	r.active = &activeRun{knownRun: r, status: status, first: first}
	if first {
		sc.pending.Add(1)
	}
	sc.registry.add(r)
	sc.queue.mark(r.state)
}

// isAsLeft reports whether a final run looks as it did when nothing was to be done for it.
// It returns false for a run with a problem note, because the note must disappear with its
// cause.
func (sc *scanner) isAsLeft(f Found) bool {
	rec, run := sc.l.storedFor(f.Family).get(f)
	return run.Idle != nil && len(run.Idle.Notes) == 0 && sc.l.o.Store.Holds(f.Run, rec)
}

// admitFirst admits the runs that could move when placet last ran, before the walk finds
// the others. The walk then drops those that no longer exist.
func (sc *scanner) admitFirst(ctx context.Context) {
	first := sc.l.o.Cache.First()
	if len(first) == 0 {
		return
	}
	// The watcher creates files in the roots to test them. That must come before any look,
	// or everything would look changed.
	var roots []string
	for _, f := range sc.l.o.Families {
		roots = append(roots, f.Layout.Roots()...)
	}
	sc.w.Structure(roots)
	var found []Found
	for _, state := range first {
		if f, ok := sc.findByState(state); ok {
			found = append(found, f)
		}
	}
	const walk = 0 // before any
	sc.admit(ctx, found, walk, true)
}

// findByState returns the run with a state document, if the document exists and its path
// alone determines the run: a run below one of a family's other roots may be shadowed by
// one below the first.
func (sc *scanner) findByState(state string) (Found, bool) {
	for _, f := range sc.l.o.Families {
		if !layout.Under(state, f.Layout.Roots()[0]) {
			continue
		}
		run, ok := f.Layout.At(state)
		if !ok || run.State != state {
			return Found{}, false
		}
		return Found{run, f}, sc.l.o.Store.IsFile(state)
	}
	return Found{}, false
}

// restore makes a run wait without a pass if it looks as it did when an earlier placet
// found nothing to do for it. It follows the folders of the run before it compares them, so
// that a later change marks the run.
func (s *session) restore(lv *activeRun) bool {
	f := s.registry.found(lv.knownRun)
	rec, run := s.l.storedFor(f.Family).get(f)
	if run.Idle == nil || run.Summary.Final || rec.Size() > mostRestored {
		return false
	}
	s.rank(lv)
	s.follow(lv, run.Idle.Dirs)
	look, ok := s.l.o.Store.Restore(f.Run, rec)
	if !ok || look == 0 {
		return false
	}
	var needs []string
	for _, need := range run.Idle.Needs {
		needs = append(needs, statcache.Name(need))
	}
	s.registry.do(func() { lv.needs, lv.look, lv.looks, lv.status = needs, look, 1, run.Summary })
	lv.retry.notBefore = time.Now()
	s.timers.set(lv.state, run.Idle.Wake)
	s.firstOver(lv)
	return true
}

// checkFinals keeps watches of the newest final runs that existed at the start, and gives a
// pass to each run that a crash may have left unfinished. The runs that a killed placet was
// working on have the latest changes. Nobody waits for them, so the runs that can move come
// first.
func (sc *scanner) checkFinals(ctx context.Context) {
	finals := sc.registry.finals(func(r *knownRun) bool { return true })
	changed := make(map[*knownRun]time.Time, len(finals))
	for _, r := range finals {
		changed[r] = sc.l.o.Store.Changed(r.state)
	}
	slices.SortFunc(finals, func(a, b *knownRun) int { return changed[b].Compare(changed[a]) })
	for _, r := range slices.Backward(finals[:min(len(finals), mostKept)]) {
		if ctx.Err() != nil {
			return
		}
		sc.keep(r)
	}
	for _, r := range finals {
		if !r.unchecked {
			continue
		}
		if pause(ctx, finalsPace) != nil {
			return
		}
		sc.activate(r)
	}
	select {
	case <-ctx.Done():
	case <-sc.allPassed:
		sc.started()
	}
}

// activate gives a pass to a run that was final.
func (s *session) activate(r *knownRun) {
	s.registry.activate(r)
	s.queue.mark(r.state)
}

// keep watches the state document of a final run, and finds changes since the fingerprint
// of the run was taken.
func (s *session) keep(r *knownRun) {
	s.w.Keep(r.state, r.dir())
	own := s.l.o.Store.Fingerprint(r.state, r.state)
	var print uint64
	s.registry.do(func() { r.own, print = own, r.print })
	if s.l.o.Store.Fingerprint(r.dir(), r.state) != print && s.l.o.Store.IsFile(r.state) {
		s.reopen(r)
	}
}

// heard checks whether the state document of a final run has changed. A run without state
// document is probably being removed; heard leaves it to the scan.
func (s *session) heard(r *knownRun) {
	var own uint64
	s.registry.do(func() { own = r.own })
	if own != 0 && s.l.o.Store.Fingerprint(r.state, r.state) != own && s.l.o.Store.IsFile(r.state) {
		s.reopen(r)
	}
}

// compareFinal looks at a final run whose folder or state document has changed. It removes
// a run without state document from the registry, and a walk may find it again.
func (sc *scanner) compareFinal(r *knownRun) {
	var print uint64
	sc.registry.do(func() { print = r.print })
	switch {
	case sc.l.o.Store.Fingerprint(r.dir(), r.state) == print:
	case sc.l.o.Store.IsFile(r.state):
		sc.reopen(r)
	default:
		sc.forget(r)
		sc.rescans.ask()
	}
}

// reopen looks at a final run that has changed. A run that placet never moved, and that is
// still final, stays final.
func (s *session) reopen(r *knownRun) {
	f := s.registry.found(r)
	print, own := s.l.o.Store.Fingerprint(f.Run.Dir, r.state), s.l.o.Store.Fingerprint(r.state, r.state)
	if status := s.l.Summarize(f); !status.Final || status.Touched {
		s.activate(r)
		return
	}
	s.registry.do(func() {
		if r.print = print; r.own != 0 {
			r.own = own
		}
	})
	s.l.o.Store.Forget(f.Run)
}

// sideBySide calls do for each element, several in parallel, until the context ends.
func sideBySide[T any](ctx context.Context, workers int, all []T, do func(T)) {
	var wg sync.WaitGroup
	next := make(chan T)
	for range min(workers, len(all)) {
		wg.Go(func() {
			for one := range next {
				do(one)
			}
		})
	}
	for _, one := range all {
		if ctx.Err() != nil {
			break
		}
		next <- one
	}
	close(next)
	wg.Wait()
}

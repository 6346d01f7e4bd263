package reconcile

import (
	"context"
	"slices"
	"sync"
	"time"

	"placet/engine/store"
)

// finals are the final runs that placet moved at some time. A crash may have
// come between their last state and what it owes, so each is looked at once
// after a start. Nobody waits for them: those that can move come first.
type finals struct {
	*session
	mu   sync.Mutex
	runs []Found
}

// check has a final run looked at once.
func (fs *finals) check(f Found) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.runs = append(fs.runs, f)
}

// run takes the final runs one after the other among those that can
// move: a pass over each finds what is owed, and retires it again.
func (fs *finals) run(ctx context.Context) {
	fs.mu.Lock()
	runs := fs.runs
	fs.runs = nil
	fs.mu.Unlock()
	fs.keepNewest(ctx)
	// What a killed placet was at has changed last.
	changed := changes(fs.l.o.Store, runs, func(f Found) string { return f.Run.State })
	slices.SortFunc(runs, func(a, b Found) int { return changed[b.Run.State].Compare(changed[a.Run.State]) })
	for _, f := range runs {
		if pause(ctx, finalsPace) != nil {
			return
		}
		fs.revive(f)
	}
	select {
	case <-ctx.Done():
	case <-fs.allPassed:
		fs.started()
	}
}

// finalsPace leaves the workers to the runs that people wait for.
const finalsPace = time.Millisecond

// revive takes a final run among those that can move, unless it is gone or
// there already.
func (s *session) revive(f Found) {
	if lv := s.registry.newLive(f); s.registry.revive(lv) {
		s.queue.mark(lv.state)
	}
}

// mostKept is of how many final runs, the newest, the folder stays watched: what has
// ended can be set waiting again, or be overwritten with an old copy.
const mostKept = 1000

// keepNewest keeps watches of the final runs that were there at the start.
func (fs *finals) keepNewest(ctx context.Context) {
	finals := fs.registry.allFinals()
	if len(finals) > mostKept {
		changed := changes(fs.l.o.Store, finals, func(f final) string { return f.state })
		slices.SortFunc(finals, func(a, b final) int { return changed[a.state].Compare(changed[b.state]) })
		finals = finals[len(finals)-mostKept:]
	}
	for _, f := range finals {
		if ctx.Err() != nil {
			return
		}
		fs.keep(f)
	}
}

// changes is when the state documents of runs were changed last.
func changes[T any](s *store.Store, runs []T, state func(T) string) map[string]time.Time {
	changed := make(map[string]time.Time, len(runs))
	for _, r := range runs {
		changed[state(r)] = s.Changed(state(r))
	}
	return changed
}

// keep has a final run looked at as soon as something happens to its state document.
// What has happened since its print was taken is seen here.
func (fs *finals) keep(f final) {
	fs.w.Keep(f.state, f.state[:f.dir])
	own := fs.l.o.Store.Fingerprint(f.state, f.state)
	fs.registry.note(f.state, func(f *final) { f.own = own })
	if fs.l.o.Store.Fingerprint(f.state[:f.dir], f.state) != f.print {
		fs.reopen(f.state)
	}
}

// heard looks whether the state document of a final run is another one.
func (fs *finals) heard(state string) {
	for _, f := range fs.registry.finalAt(state) {
		if f.own != 0 && fs.l.o.Store.Fingerprint(state, state) != f.own {
			fs.reopen(state)
		}
	}
}

// reopen looks at a final run whose folder or state document is another one. One that
// placet never moved, and that still is final, is none that can move. One without state
// document is being taken away, as far as anybody can tell now: it is left to the scan.
func (fs *finals) reopen(state string) {
	if !fs.l.o.Store.IsFile(state) {
		return
	}
	f, ok := fs.firstOf(state)
	if !ok {
		fs.removeFinal(state)
		fs.rescans.ask()
		return
	}
	print, own := fs.l.o.Store.Fingerprint(f.Run.Dir, state), fs.l.o.Store.Fingerprint(state, state)
	if status := fs.l.Peek(f); status.Final && !status.Touched && short(f.Run) {
		fs.registry.note(state, func(f *final) { f.print, f.own = print, own })
		fs.l.o.Store.Forget(f.Run)
		return
	}
	fs.revive(f)
}

// removeFinal takes a final run out, for a walk to find anew.
func (s *session) removeFinal(state string) {
	s.registry.removeFinal(state)
	s.w.Forget(state)
}

// keepFinal is keep by the state document.
func (fs *finals) keepFinal(state string) {
	for _, f := range fs.registry.finalAt(state) {
		fs.keep(f)
	}
}

package reconcile

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"placet/engine/store/statcache"
	"placet/layout"
)

// mostRecalled is how many names a live run may have to be recalled. One with a
// long history is read at the start: read at its next answer, it would hold that up.
const mostRecalled = 256

// recalled is a run that is taken as it was left, if it still is.
type recalled struct {
	f    Found
	rec  statcache.Record
	run  storedRun
	lv   *live // nil where it has ended
	gone bool  // it is another one by now
}

// recall takes runs that are new to us as an earlier placet left them, without
// reading them, and returns the others. The folders of all that can move are
// followed first; if then all of a run looks as it did when nothing was to be done,
// nothing is.
func (s *session) recall(ctx context.Context, fresh []Found, walk uint32) (others []Found) {
	if s.l.o.Cache == nil {
		return fresh
	}
	known, others := s.remembered(fresh, walk)
	sideBySide(ctx, known, func(k *recalled) {
		if k.lv != nil {
			// What happens from now on marks it, and waits until it is taken in.
			s.queue.claim(k.lv.state)
			s.registry.add(k.lv)
			s.follow(k.lv, k.run.Idle.Dirs)
		}
	})
	round := s.l.Stored()
	sideBySide(ctx, known, func(k *recalled) {
		if k.lv != nil {
			s.takeLive(round, k)
		} else {
			k.gone = !s.takeFinal(round, k, walk)
		}
	})
	for _, k := range known {
		if k.gone {
			others = append(others, k.f)
		}
	}
	return others
}

// early takes in the runs that could move when placet was last here, before it is
// known what else there is. Where one of them is no more, the walk does not find it.
func (s *session) early(ctx context.Context) {
	first := s.l.o.Cache.First()
	if len(first) == 0 {
		return
	}
	// The watcher tests the roots with files that it makes there: before anything is
	// looked at, lest it all look changed.
	var roots []string
	for _, f := range s.l.o.Families {
		roots = append(roots, f.Layout.Roots()...)
	}
	s.w.Structure(roots)
	var found []Found
	for _, state := range first {
		if f, ok := s.firstOf(state); ok {
			found = append(found, f)
		}
	}
	const walk = 0 // before any
	s.classify(ctx, s.recall(ctx, found, walk), walk, true)
}

// firstOf is the run with a state document, where that is there and its path alone
// tells: one below a family's other roots may be shadowed by one below the first.
func (s *session) firstOf(state string) (Found, bool) {
	for _, f := range s.l.o.Families {
		if !layout.Under(state, f.Layout.Roots()[0]) {
			continue
		}
		run, ok := f.Layout.At(state)
		if !ok || run.State != state {
			return Found{}, false
		}
		return Found{run, f}, s.l.o.Store.IsFile(state)
	}
	return Found{}, false
}

// claim takes a run that is not in the set yet; the caller must give it back with
// finish.
func (d *workqueue) claim(run string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.in[run] = taken
}

// remembered sorts out the runs of which enough is remembered.
func (s *session) remembered(fresh []Found, walk uint32) (known []*recalled, others []Found) {
	round := s.l.Stored()
	share := sharing{}
	for _, f := range fresh {
		k := &recalled{f: f}
		k.rec, k.run = round.get(f)
		switch {
		case endedAsLeft(k):
			k.rec, k.run = statcache.Record{}, storedRun{} // read again when its turn comes: there may be very many
		case k.run.Idle != nil && !k.run.Peek.Final && k.rec.Size() <= mostRecalled:
			k.lv = s.registry.newLive(f)
			k.f.Run.State, k.f.Run.Dir = k.lv.state, k.lv.dir() // one copy of each path
			k.lv.walk, k.lv.status, k.lv.first = walk, k.run.Peek, true
			k.run.Idle.Dirs = share.dirs(k.lv.dir(), k.run.Idle.Dirs)
			k.run.Idle.Needs = share.list(k.run.Idle.Needs)
			s.pending.Add(1)
		default:
			others = append(others, f)
			continue
		}
		known = append(known, k)
	}
	return known, others
}

// endedAsLeft reports whether enough is remembered of a run that has ended: of one
// that placet never moved, its state document. One beside which a note stands is
// looked at: the note is to go with its cause.
func endedAsLeft(k *recalled) bool {
	return k.run.Peek.Final && short(k.f.Run) && (k.run.Idle != nil && len(k.run.Idle.Notes) == 0 || k.run.Idle == nil && !k.run.Peek.Touched)
}

// takeFinal takes a run that has ended in if it is as it was left.
func (s *session) takeFinal(round *Stored, k *recalled, walk uint32) bool {
	rec, run := round.get(k.f)
	if k := (&recalled{f: k.f, rec: rec, run: run}); !endedAsLeft(k) {
		return false
	}
	print := s.l.o.Store.Fingerprint(k.f.Run.Dir, k.f.Run.State) // it must not be younger than the record
	holds := s.l.o.Store.HoldsState
	if run.Idle != nil {
		holds = s.l.o.Store.Holds
	}
	if !holds(k.f.Run, rec) {
		return false
	}
	s.registry.addFinal(k.f, print, walk)
	return true
}

// takeLive has a run that can move wait if it is as it was left; else it is looked at.
func (s *session) takeLive(round *Stored, k *recalled) {
	lv, idle := k.lv, k.run.Idle
	defer s.queue.finish(lv.state)
	mark, ok := round.marks[k.f.Run.Family]
	var look uint64
	if ok && idle.fits(round.now, mark) {
		look, ok = s.l.o.Store.Restore(k.f.Run, k.rec)
	}
	k.rec = statcache.Record{}
	if !ok || look == 0 {
		s.queue.mark(lv.state)
		return
	}
	s.registry.do(func() { lv.look, lv.looks = look, 1 })
	lv.needs, lv.endedAt = idle.Needs, time.Now()
	s.timers.set(lv.state, idle.Wake)
	s.firstOver(lv)
}

// sharing keeps one copy of what many runs have alike.
type sharing struct{ lists map[string][]string }

// list returns a copy that shares no memory with the list.
func (s *sharing) list(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	key := strings.Clone(strings.Join(list, "\x00"))
	if have, ok := s.lists[key]; ok {
		return have
	}
	if s.lists == nil {
		s.lists = map[string][]string{}
	}
	s.lists[key] = strings.Split(key, "\x00")
	return s.lists[key]
}

// dirs returns a copy of the folders that a run follows. Its own is the one given.
func (s *sharing) dirs(own string, list []string) []string {
	dirs := make([]string, len(list))
	for i, d := range list {
		switch {
		case d == own:
			dirs[i] = own
		case layout.Under(d, own):
			dirs[i] = strings.Clone(d)
		default:
			dirs[i] = s.list(list[i : i+1])[0]
		}
	}
	return dirs
}

// sideBySide calls do for each, many at a time: where the disk is cold, they are
// waited for one by one otherwise.
func sideBySide[T any](ctx context.Context, all []T, do func(T)) {
	const chunk = 32
	var wg sync.WaitGroup
	next := make(chan []T)
	for range min(peekers, len(all)) {
		wg.Go(func() {
			for part := range next {
				for _, one := range part {
					do(one)
				}
			}
		})
	}
	for part := range slices.Chunk(all, chunk) {
		if ctx.Err() != nil {
			break
		}
		next <- part
	}
	close(next)
	wg.Wait()
}

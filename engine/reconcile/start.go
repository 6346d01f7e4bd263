package reconcile

import (
	"context"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"placet/engine/recall"
	"placet/engine/store"
	"placet/layout"
)

// mostRecalled is how many names a live run may have to be recalled. One with a
// long history is read at the start: read at its next answer, it would hold that up.
const mostRecalled = 256

// recalled is a run that is taken as it was left, if it still is.
type recalled struct {
	f    Found
	e    recall.Entry
	lv   *live // nil where it has ended
	gone bool  // it is another one by now
}

// recall takes runs that are new to us as an earlier placet left them, without
// reading them, and returns the others. The folders of all that can move are
// followed first; if then all of a run looks as it did when nothing was to be done,
// nothing is.
func (s *session) recall(ctx context.Context, fresh []Found, walk uint32) (others []Found) {
	if s.l.o.Recall == nil {
		return fresh
	}
	known, others := s.remembered(fresh, walk)
	sideBySide(ctx, known, func(k *recalled) {
		if k.lv != nil {
			// What happens from now on marks it, and waits until it is taken in.
			s.dirty.claim(k.lv.state)
			s.book.add(k.lv)
			s.follow(k.lv, k.e.Rest.Dirs)
		}
	})
	round := s.l.Recall()
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
	first := s.l.o.Recall.First()
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
		return Found{run, f}, s.l.o.Store.HasFile(state)
	}
	return Found{}, false
}

// claim takes a run that is not in the set yet; the caller must give it back with
// finish.
func (d *dirty) claim(run string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.in[run] = taken
}

// remembered sorts out the runs of which enough is remembered.
func (s *session) remembered(fresh []Found, walk uint32) (known []*recalled, others []Found) {
	round := s.l.Recall()
	share := sharing{}
	for _, f := range fresh {
		k := &recalled{f: f, e: round.entry(f)}
		switch {
		case endedAsLeft(k):
			k.e = recall.Entry{} // read again when its turn comes: there may be very many
		case k.e.Rest != nil && !k.e.Peek.Final && strings.Count(k.e.Rest.Sight.Names, "\x00") <= mostRecalled:
			k.lv = s.book.newLive(f)
			k.f.Run.State, k.f.Run.Dir = k.lv.state, k.lv.dir() // one copy of each path
			k.lv.walk, k.lv.status, k.lv.first = walk, k.e.Peek, true
			k.e.Rest.Dirs = share.dirs(k.lv.dir(), k.e.Rest.Dirs)
			k.e.Rest.Needs = share.list(k.e.Rest.Needs)
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
	return k.e.Peek.Final && short(k.f.Run) && (k.e.Rest != nil && len(k.e.Rest.Notes) == 0 || k.e.Rest == nil && !k.e.Peek.Touched && !k.e.State.Zero())
}

// takeFinal takes a run that has ended in if it is as it was left.
func (s *session) takeFinal(round *Recall, k *recalled, walk uint32) bool {
	var glance uint64
	var holds bool
	k.e = round.entry(k.f)
	defer func() { k.e = recall.Entry{} }()
	if !endedAsLeft(k) {
		return false
	}
	switch {
	case k.e.Rest == nil:
		glance, holds = round.again.EndedState(k.f.Run, k.e.State)
	case round.fits(k):
		glance, holds = round.again.Ended(k.f.Run, k.e.Rest.Sight)
	}
	if holds {
		s.book.addFinal(k.f, glance, walk)
	}
	return holds
}

// takeLive has a run that can move rest if it is as it was left; else it is looked
// at.
func (s *session) takeLive(round *Recall, k *recalled) {
	lv, rest := k.lv, k.e.Rest
	defer s.dirty.finish(lv.state)
	names, glance, holds := round.again.Recall(k.f.Run, rest.Sight, tells(k.f.Run, rest.Dirs), outside(k.f.Run, rest))
	if !holds || !round.fits(k) {
		s.dirty.mark(lv.state)
		return
	}
	s.book.do(func() { s.book.setSights(lv, names); lv.print, lv.looks = glance, 1 })
	lv.needs, lv.endedAt = rest.Needs, time.Now()
	s.timers.set(lv.state, rest.Wake)
	s.firstOver(lv)
}

// fits reports whether what is remembered of a run may hold in this round.
func (r *Recall) fits(k *recalled) bool {
	mark, ok := r.marks[k.f.Run.Family]
	return ok && k.e.Rest.Fits(r.now, mark)
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

// tells says which names of a sight show that something may have happened to a run,
// as sights does: folders, and what lies in those that are followed.
func tells(run layout.Run, dirs []string) func(name string, folder bool) bool {
	followed := make([]string, len(dirs))
	for i, d := range dirs {
		followed[i] = store.NameIn(run.Dir, d)
	}
	return func(name string, folder bool) bool {
		return folder || slices.Contains(followed, path.Dir(name))
	}
}

// outside are the folders outside a run that it follows.
func outside(run layout.Run, rest *recall.Rest) []string {
	var dirs []string
	for _, d := range rest.Dirs {
		if !layout.Under(d, run.Dir) {
			dirs = append(dirs, d)
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

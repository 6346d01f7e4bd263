package reconcile

import (
	"bytes"
	"fmt"
	"slices"
	"time"
)

// verifyRest is how many times as long as it took a comparison of all runs holds,
// at least: many plans, one after the other, must not compare all the time.
const verifyRest = 20

// ready has the entries known as far as they can be. sure, and wherever no Watch
// keeps them, has all runs compared if that was not done a moment ago.
func (x *index) ready(sure bool) error {
	if sure = sure || x.l.serving.Load() == nil; !x.fresh(sure) {
		if err := x.compare(sure); err != nil {
			return err
		}
	}
	return x.refresh()
}

// fresh reports whether no run need be compared.
func (x *index) fresh(sure bool) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.built && !x.doubted && (!sure || !x.verified.IsZero() && time.Since(x.verified) < max(lookHolds, verifyRest*x.took))
}

// compare looks at every run. The first time it finds them.
func (x *index) compare(sure bool) error {
	x.whole.Lock()
	defer x.whole.Unlock()
	if x.fresh(sure) {
		return nil
	}
	if !x.built {
		if err := x.find(); err != nil {
			return err
		}
	}
	began := time.Now()
	x.mu.Lock()
	x.doubted = false
	all := make([]*slot, 0, len(x.slots))
	for _, sl := range x.slots {
		all = append(all, sl)
	}
	x.mu.Unlock()
	err := x.look(all)
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.doubted = x.doubted || err != nil; err != nil {
		return err
	}
	x.took, x.verified = time.Since(began), time.Now()
	if !x.built {
		// Reading all of them is no measure for a comparison.
		x.built, x.took = true, 0
	}
	return nil
}

// find lists the family's runs.
func (x *index) find() error {
	x.mu.Lock()
	if x.slots == nil {
		x.slots, x.open = map[string]*slot{}, map[string]*slot{}
	}
	x.mu.Unlock()
	w := walk{list: x.l.o.Store.List}
	runs, err := x.fam.Layout.Runs(w.ls)
	if err == nil {
		err = w.err()
	}
	if err != nil {
		return fmt.Errorf("cannot know of the other runs of %s: %w", x.fam.Layout.Name(), err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, run := range runs {
		x.slot(run)
	}
	return nil
}

// known runs a change of an index that somebody needs, under its lock.
func (x *index) known(change func()) {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.slots != nil {
		change()
	}
}

// suspect calls the entries of runs into question.
func (x *index) suspect(states ...string) {
	x.known(func() {
		for _, state := range states {
			if sl := x.slots[state]; sl != nil {
				x.tick++
				sl.marked, x.open[state] = x.tick, sl
			}
		}
	})
}

// relateRest is how many times as long as it took nobody is looked at again after
// answers were made anew: of many runs that change at once most are in the next.
const relateRest = 4

// settle has those looked at again whose answer is another one by now: at once, or
// shortly after the last time.
func (x *index) settle() {
	x.known(func() {
		rest := relateRest*x.relating - time.Since(x.related)
		if x.due || x.of == x.version || x.askers == 0 {
			return
		}
		if x.due = rest > 0; x.due {
			time.AfterFunc(rest, func() { x.known(x.tell) })
			return
		}
		x.tell()
	})
}

// tell makes the answers anew, if all is known. The caller holds the lock.
func (x *index) tell() {
	x.due = false
	if _, unknown := x.unknown(); unknown || !x.built {
		return
	}
	if err := x.relate(); err != nil {
		x.l.o.Log.Debug("nobody is told of the other runs", "err", err)
	}
}

// hears notes whether a run was told something. The caller holds the lock.
func (x *index) hears(sl *slot, is bool) {
	switch {
	case is && !sl.asked:
		x.askers++
	case !is && sl.asked:
		x.askers--
	}
	sl.asked, sl.unsure, sl.told = is, false, nil
}

// passed looks at a run after a pass over it.
func (x *index) passed(p *pass) {
	var sl *slot
	x.known(func() {
		sl = x.slot(p.f.Run)
		if !p.last.began.IsZero() && !needsRuns(p.last.plan.Needs) {
			x.hears(sl, false)
		}
	})
	if sl == nil {
		return
	}
	if err := x.lookAt(sl); err != nil {
		x.l.o.Log.Debug("cannot look at what others must know of a run", "run", p.f.Key().String(), "err", err)
	}
	x.settle()
}

// walked takes over which runs there are. hides says which of those that were not
// found may be there.
func (x *index) walked(found []Found, hides func(string) bool) {
	x.known(func() {
		here := map[string]bool{}
		for _, f := range found {
			if f.Run.Family != x.fam.Layout.Name() {
				continue
			}
			here[f.Run.State] = true
			if sl := x.slots[f.Run.State]; sl != nil && !sameRun(sl.run, f.Run) {
				x.drop(sl)
			}
			x.slot(f.Run)
		}
		for state, sl := range x.slots {
			if !here[state] && !hides(state) {
				x.drop(sl)
			}
		}
	})
}

// drop takes a run out. The caller holds the lock.
func (x *index) drop(sl *slot) {
	x.hears(sl, false)
	delete(x.slots, sl.run.State)
	delete(x.open, sl.run.State)
	if len(sl.entry) > 0 {
		x.version++
	}
}

// doubt calls every entry into question: nothing is taken for compared.
func (x *index) doubt() { x.known(func() { x.doubted = true }) }

// part compares the part of the runs whose turn it is.
func (x *index) part(part float64) {
	var some []*slot
	x.known(func() {
		n := portion(&x.rest, len(x.slots), part)
		for ; n > 0; n-- {
			if len(x.round) == 0 {
				for state := range x.slots {
					x.round = append(x.round, state)
				}
			}
			if sl := x.slots[x.round[0]]; sl != nil {
				some = append(some, sl)
			}
			x.round = x.round[1:]
		}
	})
	if len(some) == 0 {
		return
	}
	if err := x.look(some); err != nil {
		x.l.o.Log.Debug("cannot look at what others must know of a run", "err", err)
	}
	x.settle()
}

// entries are those of the runs that are known, and the files that are being
// written of the others.
func (x *index) entries() (entries map[string][]byte, writing []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	entries = map[string][]byte{}
	for _, sl := range x.slots {
		switch {
		case !sl.known:
			writing = append(writing, sl.unsettled...)
		case len(sl.entry) > 0:
			entries[sl.run.ID] = bytes.Clone(sl.entry)
		}
	}
	slices.Sort(writing)
	return entries, writing
}

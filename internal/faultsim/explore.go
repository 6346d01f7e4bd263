package main

import (
	"placet/engine/store/memfs"
)

// dig is one way to search for trouble: how deep, and how densely.
type dig struct {
	l *lab
	// depth is how many crashes may follow one another.
	depth int
	// seeds is how many different power cuts are tried at one call, by depth.
	seeds []int
	// only, if not nil, says at which calls of the first execution it crashes.
	only func(c memfs.Call) bool
	// from is the first call at which it crashes.
	from int
	// onward is the number of schedules after which the rest of the scenario is run too.
	onward int64
}

// into runs a schedule in which nothing has crashed so far, and crashes it at every call.
func (d *dig) into(s schedule) {
	w := d.l.newWorld(s.sc, s.step)
	w.troubles = s.troubles
	d.tell(w, s, 0, w.take)
}

// tell lets a world become idle and judges it. On the way it crashes the world, if
// the depth allows.
func (d *dig) tell(w *world, s schedule, deep int, rest func() error) {
	d.l.told.Add(1)
	if deep < d.depth {
		w.watch = d.watch(w, s, deep)
	}
	err := rest()
	w.watch = nil
	if problem := w.verdict(err, s.step); problem != "" {
		d.l.fail(s, problem)
		return
	}
	if deep < d.depth && w.disk.Pending() {
		d.cuts(w, s, deep, memfs.Call{N: w.disk.Calls() + 1}, "cut")
	}
	if d.onward == 0 || d.l.told.Load()%d.onward != 0 {
		return
	}
	s.onward = true
	if problem := w.later(); problem != "" {
		d.l.fail(s, problem)
	}
}

// watch returns a function that crashes a world at the calls that it sees. It skips a
// call after one that changed nothing, because a crash there equals the crash before.
func (d *dig) watch(w *world, s schedule, deep int) func(memfs.Call) {
	changed := true
	return func(c memfs.Call) {
		was := changed
		changed = c.Change > 0 || c.N < d.from && deep == 0
		switch {
		case d.l.over(), deep == 0 && (c.N < d.from || d.only != nil && !d.only(c)):
			return
		case was:
			d.crash(w, s, deep, trouble{kind: "kill", at: c.N}, c)
			d.cuts(w, s, deep, c, "cut")
		}
		if c.Op == "write" {
			d.crash(w, s, deep, trouble{kind: "half", at: c.N}, c)
			d.cuts(w, s, deep, c, "halfcut")
		}
	}
}

// cuts tries power cuts that keep different content.
func (d *dig) cuts(w *world, s schedule, deep int, c memfs.Call, kind string) {
	seen := map[uint64]bool{}
	most := d.seeds[min(deep, len(d.seeds)-1)]
	for seed := range uint64(2 * most) {
		if len(seen) == most || d.l.over() {
			return
		}
		t := trouble{kind: kind, at: c.N, seed: seed}
		if seed > 0 {
			t.seed += d.l.seed * 1000003
		}
		left := fork(w.disk, t, c)
		if left == nil || seen[left.Choice()] {
			continue
		}
		seen[left.Choice()] = true
		d.recover(w, s, deep, t, left)
	}
}

// crash tries one crash without chance.
func (d *dig) crash(w *world, s schedule, deep int, t trouble, c memfs.Call) {
	if left := fork(w.disk, t, c); left != nil {
		d.recover(w, s, deep, t, left)
	}
}

// recover runs the recovery from a crash.
func (d *dig) recover(w *world, s schedule, deep int, t trouble, left *memfs.FS) {
	next := w.after(left, t.power())
	s = s.with(t)
	if problem := next.kept(); t.power() && problem != "" {
		d.l.told.Add(1)
		d.l.fail(s, problem)
		return
	}
	d.tell(next, s, deep+1, next.rest)
}

package store

import (
	"hash/maphash"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"placet/layout"
)

// Again looks at many runs again, one shortly after the other. What lies outside
// the runs, and many of them depend on, is looked at once: whoever follows folders
// must follow those of all the runs before. Its methods may be called at the same
// time.
type Again struct {
	s       *Store
	mu      sync.Mutex
	outside map[string]seen
}

// seen is what stat says of a name.
type seen struct {
	info  Info
	there bool
}

// Again begins to look again.
func (s *Store) Again() *Again { return &Again{s: s, outside: map[string]seen{}} }

// Holds is [Store.Holds].
func (a *Again) Holds(dir string, old Sight) bool {
	return a.look(dir, old, func(string, seen) {})
}

// Ended is Holds for a run that has ended: where the sight holds, glance is what
// [Store.GlanceAt] would have returned at that moment.
func (a *Again) Ended(run layout.Run, old Sight) (glance uint64, holds bool) {
	var dir, state seen
	stateAt := NameIn(run.Dir, run.State)
	holds = a.look(run.Dir, old, func(name string, is seen) {
		switch name {
		case ".":
			dir = is
		case stateAt:
			state = is
		}
	})
	if holds && state.there {
		a.s.memory.noteState(run.State)
	}
	return a.s.glanceOf(dir, state), holds && state.there
}

// EndedState is Ended for the sight of a state document alone.
func (a *Again) EndedState(run layout.Run, old Sight) (glance uint64, holds bool) {
	// The folder first: the glance must not be younger than the sight.
	dir := a.s.see(run.Dir)
	state := a.s.see(run.State)
	v := newSeeing()
	v.add(state.info, state.there)
	if holds = state.there && !old.Zero() && v.print() == old.Print; holds {
		a.s.memory.noteState(run.State)
	}
	return a.s.glanceOf(dir, state), holds
}

// Recall is Holds for a run that nothing was loaded of yet: where the sight holds,
// its files count as seen long ago, as if this store had loaded them and they had
// rested since. names are those of the sight for which told is true, and after
// them more; number is their Glance.
func (a *Again) Recall(run layout.Run, old Sight, told func(name string, folder bool) bool, more []string) (names string, number uint64, holds bool) {
	m := &a.s.memory
	var list strings.Builder
	var g glance
	list.Grow(len(old.Names))
	resting := make([]uint64, 0, strings.Count(old.Names, "\x00"))
	var found found
	stateAt := NameIn(run.Dir, run.State)
	take := func(name string, is seen) {
		list.WriteString(name)
		list.WriteByte(0)
		g.add(m, is.info, is.there)
	}
	holds = a.look(run.Dir, old, func(name string, is seen) {
		outside := strings.HasPrefix(name, "/")
		if is.there && !outside && is.info.Mode.IsDir() {
			found.dirs = append(found.dirs, m.hash(name))
		}
		if is.there && !outside {
			resting = append(resting, m.restKey(m.hash(name), is.info.Device, is.info.Inode))
		}
		if name == stateAt && is.there {
			m.noteState(run.State)
			found.state = true
		}
		if told(name, is.there && is.info.Mode.IsDir()) {
			take(name, is)
		}
	})
	if !holds {
		return "", 0, false
	}
	for _, name := range more {
		take("/"+name, a.at(name))
	}
	a.rest(run, resting, found)
	return list.String(), g.number, true
}

// rest has a run's files count as seen long ago.
func (a *Again) rest(run layout.Run, resting []uint64, found found) {
	m := &a.s.memory
	f := m.of(run)
	slices.Sort(resting)
	m.mu.Lock()
	defer m.mu.Unlock()
	if !f.loaded {
		f.resting, f.loaded, f.traces = slices.Clip(resting), true, nil
		f.stands(found, a.s.age())
	}
}

// look looks at the names of a sight, shows each, and reports whether it holds.
func (a *Again) look(dir string, old Sight, show func(name string, is seen)) bool {
	if old.Zero() {
		return false
	}
	v := newSeeing()
	inside, done := a.s.below(dir)
	defer done()
	for name := range strings.SplitSeq(strings.TrimSuffix(old.Names, "\x00"), "\x00") {
		var is seen
		if at, outside := strings.CutPrefix(name, "/"); outside {
			is = a.at(at)
		} else {
			info, err := inside(name)
			is = seen{info, err == nil}
		}
		v.add(is.info, is.there)
		show(name, is)
	}
	return v.print() == old.Print
}

// at looks at a path that is no run's own.
func (a *Again) at(p string) seen {
	a.mu.Lock()
	defer a.mu.Unlock()
	is, known := a.outside[p]
	if !known {
		is = a.s.see(p)
		a.outside[strings.Clone(p)] = is
	}
	return is
}

func (s *Store) see(p string) seen {
	info, err := s.fs.Stat(p)
	return seen{info, err == nil}
}

// Glance makes one number of what stat says of names: it differs if modification
// time, change time, size, inode or kind of any of them does, or whether it exists.
// The names are those of a [Sight]. It means nothing to another process, and is
// never 0.
func (s *Store) Glance(dir, names string) uint64 { return s.Again().Glance(dir, names) }

// Glance is [Store.Glance].
func (a *Again) Glance(dir, names string) uint64 {
	var g glance
	inside, done := a.s.below(dir)
	defer done()
	for name := range strings.SplitSeq(strings.TrimSuffix(names, "\x00"), "\x00") {
		var is seen
		if at, outside := strings.CutPrefix(name, "/"); outside {
			is = a.at(at)
		} else {
			info, err := inside(name)
			is = seen{info, err == nil}
		}
		g.add(&a.s.memory, is.info, is.there)
	}
	return g.number
}

// GlanceOld is Glance of one path, 0 where it is so young that a change in the same
// tick of the file system's clock would not show.
func (s *Store) GlanceOld(p string) uint64 {
	now, known := s.diskNow(staleClock)
	is := s.see(p)
	if !known || is.there && (now.Sub(is.info.Changed) < sightAge || now.Sub(is.info.Modified) < sightAge) {
		return 0
	}
	return s.glanceOf(is)
}

// Changed is when what is under a name was changed last; the zero time if nothing is.
func (s *Store) Changed(name string) time.Time { return latest(s.see(name).info) }

// HasFile reports whether a regular file is under a name.
func (s *Store) HasFile(name string) bool {
	is := s.see(name)
	return is.there && is.info.regular()
}

// GlanceAt is Glance of a run's folder and its state document alone.
func (s *Store) GlanceAt(dir, state string) uint64 {
	return s.glanceOf(s.see(dir), s.see(state))
}

func (s *Store) glanceOf(list ...seen) uint64 {
	var g glance
	for _, is := range list {
		g.add(&s.memory, is.info, is.there)
	}
	return g.number
}

// glance folds what is seen of several names, in order.
type glance struct{ number uint64 }

func (g *glance) add(m *memory, info Info, there bool) {
	seen := uint64(1)
	if there {
		seen = maphash.Comparable(m.seed, struct {
			id   identity
			mode uint32
		}{identityOf(info), uint32(info.Mode)})
	}
	g.number = m.restKey(g.number, seen, 0) | 1
}

// NameIn is how a path is named in a sight of the run at a folder.
func NameIn(dir, p string) string {
	if p == dir {
		return "."
	}
	if len(p) > len(dir) && p[len(dir)] == '/' && strings.HasPrefix(p, dir) {
		return p[len(dir)+1:]
	}
	return "/" + path.Clean(p)
}

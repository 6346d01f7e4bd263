package reconcile

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"sync"
	"time"

	"placet/engine"
	"placet/engine/store"
	"placet/layout"
)

// index knows what the runs of one family must know of one another: an entry of
// each run, made of its shared files, and what the machine makes of all entries.
//
// It is built when a run first needs it. From then on it is kept by what changes:
// by runs that are marked, by passes that are over, by walks that find other
// runs, and by a stat of everything that is spread over a minute. A look asks for
// no more than the entries that were called into question.
//
// The rules:
//
//   - An entry is taken for known when all of a run's shared files were settled.
//     While one is not known, nobody is answered.
//   - Looks at one run may overtake each other. What the later one has read stands.
//   - Whoever was answered, and would get another answer now, is looked at again.
type index struct {
	l      *Loop
	fam    Family
	m      engine.Related
	shares []string
	// turn is held by who carries out a plan that was made over an answer.
	turn chan struct{}
	// whole is held by who looks at all runs.
	whole sync.Mutex

	mu    sync.Mutex
	slots map[string]*slot // by state document; nil until somebody needs it
	// open are those whose entry may be another one, or is not known.
	open map[string]*slot
	// tick orders marks and looks.
	tick uint64
	// version counts the changes of entries; of is that of which answers are.
	version, of uint64
	answers     map[string][]byte
	// related is when they were made, and relating how long that took; due: they
	// will be soon. askers is how many runs were told something.
	related  time.Time
	relating time.Duration
	due      bool
	askers   int
	built    bool
	// verified is when all runs were last compared, and took how long that took.
	verified time.Time
	took     time.Duration
	doubted  bool
	round    []string // those to compare next
	rest     float64  // the fraction of a run that the last part left over
}

// slot is what the index keeps of one run.
type slot struct {
	run   layout.Run
	entry []byte
	// known: the entry is that of settled files. print is theirs, and racy says
	// that a change of them might not show in it.
	known, racy bool
	print       uint64
	// marked is when the entry was last called into question, read when the files
	// were that it was made of.
	marked, read uint64
	// again is when to look at files that are being written, and unsettled names
	// them.
	again     time.Time
	unsettled []string
	// asked: the run was answered with told; unsure: that nobody knows yet.
	asked, unsure bool
	told          []byte
}

// newIndex returns a family's index, nil for one whose runs need not know of one
// another.
func newIndex(l *Loop, f Family) *index {
	m, ok := f.Machine.(engine.Related)
	if !ok {
		return nil
	}
	return &index{l: l, fam: f, m: m, shares: m.Shares(), turn: make(chan struct{}, 1)}
}

// slot returns a run's slot. The caller holds the lock.
func (x *index) slot(run layout.Run) *slot {
	sl := x.slots[run.State]
	if sl == nil {
		sl = &slot{run: run}
		x.slots[run.State], x.open[run.State] = sl, sl
	}
	return sl
}

// unknown reports whether there is a run whose entry is not known, and when to
// look again. The caller holds the lock.
func (x *index) unknown() (again time.Time, is bool) {
	for _, sl := range x.open {
		if sl.known {
			continue
		}
		at := sl.again
		if at.IsZero() {
			at = x.l.o.Now().Add(settlePoll)
		}
		if !is || at.Before(again) {
			again = at
		}
		is = true
	}
	return again, is
}

// refresh looks at the runs whose entries were called into question, but at those
// that are being written only when their time has come.
func (x *index) refresh() error {
	now := x.l.o.Now()
	x.mu.Lock()
	var todo []*slot
	for _, sl := range x.open {
		if sl.marked > sl.read || !sl.again.After(now) {
			todo = append(todo, sl)
		}
	}
	x.mu.Unlock()
	return x.look(todo)
}

// look looks at runs, many side by side.
func (x *index) look(todo []*slot) error {
	var mu sync.Mutex
	var errs []error
	sideBySide(context.Background(), todo, func(sl *slot) {
		if err := x.lookAt(sl); err != nil {
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
		}
	})
	if len(errs) > 0 {
		return errs[0] // they are of one kind
	}
	return nil
}

// lookAt makes a run's entry anew, where its files are not as they were.
func (x *index) lookAt(sl *slot) error {
	x.mu.Lock()
	x.tick++
	at, sure, print := x.tick, sl.known && !sl.racy, sl.print
	x.mu.Unlock()
	if sure && x.l.o.Store.PrintPart(sl.run, x.shares) == print {
		x.stands(sl, at)
		return nil
	}
	part, err := x.l.o.Store.LoadPart(sl.run, x.fam.Layout, x.shares)
	var entry []byte
	refused := err != nil
	switch {
	case refused:
		entry, err = x.refused(sl.run, err)
	case part.Again.IsZero():
		entry, err = x.entry(sl.run, part.Docs)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.slots[sl.run.State] == sl && at > sl.read {
		x.take(sl, at, part, entry, err)
		if refused {
			x.open[sl.run.State] = sl // it is looked at whenever somebody asks
		}
	}
	return err
}

// refused is the entry of a run of which the system refuses a file; the error is the
// system's where nobody can be answered without.
func (x *index) refused(run layout.Run, why error) (entry []byte, err error) {
	defer x.bug(&err)
	if entry = x.m.Refused(engine.Snapshot{Key: engine.Key{Family: run.Family, ID: run.ID}, Dir: run.Dir, Class: run.Class}); entry == nil {
		return nil, why
	}
	return entry, nil
}

// stands notes that a run was as it had been at a moment.
func (x *index) stands(sl *slot, at uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.slots[sl.run.State] == sl && sl.known && sl.marked <= at {
		delete(x.open, sl.run.State)
	}
}

// take takes over what a look has found of a run. The caller holds the lock.
func (x *index) take(sl *slot, at uint64, part store.Part, entry []byte, err error) {
	sl.read, sl.again, sl.unsettled = at, time.Time{}, nil
	x.open[sl.run.State] = sl
	switch {
	case err != nil:
		sl.known = false
		return
	case !part.Again.IsZero() && sl.known && sl.print == part.Print:
		// The same files, of which it is not known yet that they stand still: a
		// store forgets what it knows of a run that has ended.
		sl.racy = true
	case !part.Again.IsZero():
		sl.known, sl.again, sl.unsettled = false, part.Again, unsettled(part.Docs)
		return
	default:
		if !bytes.Equal(sl.entry, entry) {
			sl.entry = entry
			x.version++
		}
		sl.known, sl.print, sl.racy = true, part.Print, part.Racy
	}
	if sl.marked <= at {
		delete(x.open, sl.run.State)
	}
}

func unsettled(docs []engine.Document) []string {
	var paths []string
	for _, d := range docs {
		if d.Unsettled() {
			paths = append(paths, d.Path)
		}
	}
	return paths
}

// entry asks the machine what others must know of a run.
func (x *index) entry(run layout.Run, docs []engine.Document) (entry []byte, err error) {
	defer x.bug(&err)
	var needs []string
	for _, rel := range x.shares {
		if p := path.Join(run.Dir, rel); !layout.Under(p, run.Dir) {
			needs = append(needs, p)
		}
	}
	slices.Sort(needs)
	return x.m.Entry(engine.Snapshot{
		Key: engine.Key{Family: run.Family, ID: run.ID}, Dir: run.Dir, Class: run.Class, Docs: docs, Needs: needs,
	}), nil
}

// relate makes the answers of the entries that are known by now, and has those
// looked at again who were told otherwise. The caller holds the lock.
func (x *index) relate() (err error) {
	if x.answers != nil && x.of == x.version {
		return nil
	}
	defer x.bug(&err)
	began := time.Now()
	entries := map[string][]byte{}
	for _, sl := range x.slots {
		if len(sl.entry) > 0 {
			entries[sl.run.ID] = sl.entry
		}
	}
	answers := x.m.Relate(entries)
	if answers == nil {
		answers = map[string][]byte{}
	}
	x.answers, x.of = answers, x.version
	x.wake()
	x.related, x.relating = time.Now(), time.Since(began)
	return nil
}

// wake has those looked at again who were told otherwise. The caller holds the
// lock.
func (x *index) wake() {
	s := x.l.serving.Load()
	for state, sl := range x.slots {
		if sl.asked && (sl.unsure || !bytes.Equal(sl.told, x.answers[sl.run.ID])) && s != nil {
			s.dirty.mark(state)
		}
	}
}

// bug makes an error of a machine's panic.
func (x *index) bug(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("cannot tell what the runs of %s must know of one another: the machine panicked (a bug): %v", x.fam.Layout.Name(), r)
	}
}

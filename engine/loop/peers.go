package loop

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"placet/engine"
	"placet/layout"
	"placet/templates"
)

// peers holds what the runs of one family must know of one another: an entry for each run,
// derived from its shared files, and the machine's answers from all entries. It does not
// exist for families whose runs need not know of one another.
//
// It is built when a run first needs it. After that, it is updated for runs that are
// marked, after passes, after walks that find other runs, and by the scan.
//
// The rules:
//
//   - An entry is known when all of a run's shared files were settled. While one is
//     not known, nobody is answered.
//   - Files are read under the lock: whoever asks waits for whoever reads.
//   - A run that would now get another answer than it got is looked at again.
type peers struct {
	l      *Loop
	fam    Family
	m      engine.PeerMachine
	shares []string
	// turn is held by the pass that carries out a plan based on an answer.
	turn chan struct{}
	// needed says that somebody has asked.
	needed atomic.Bool
	marks  peerMarks

	mu   sync.Mutex
	runs map[string]*peer // by state document
	// open are the runs that are read whenever somebody asks: their entries are not known,
	// or the system refuses one of their files.
	open  map[string]*peer
	built bool
	// verified is when all runs were last compared, and took is how long that took.
	verified time.Time
	took     time.Duration
	// answers are derived from the entries, unless stale; asked holds the answer that each
	// run got.
	answers map[string][]byte
	stale   atomic.Bool
	asked   map[string]given
}

// given is the answer that a run got.
type given struct {
	body   []byte
	unsure bool // the answer was that nobody knows yet
}

// peer is one run, as far as the others know it.
type peer struct {
	run   layout.Run
	entry []byte
	// known says that the entry comes from settled files. print is their fingerprint, and
	// racy says that a change of them might not show in it.
	known, racy bool
	print       uint64
	// again is when to read files that are being written, and unsettled names them.
	again     time.Time
	unsettled []string
	// refused says that the system refuses one of the files, err why there is no entry.
	refused bool
	err     error
}

// peerMarks are the runs whose entries may have changed.
type peerMarks struct {
	mu      sync.Mutex
	states  map[string]bool
	all     bool
	pending chan struct{} // holds a token when something was marked
}

// take returns what was marked, and clears it.
func (k *peerMarks) take() (states map[string]bool, all bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	states, all = k.states, k.all
	k.states, k.all = nil, false
	return states, all
}

// add marks runs, or all of them. It never waits for files to be read.
func (k *peerMarks) add(all bool, states ...string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.states == nil {
		k.states = map[string]bool{}
	}
	for _, state := range states {
		k.states[state] = true
	}
	k.all = k.all || all
	select {
	case k.pending <- struct{}{}:
	default:
	}
}

// newPeers returns the peers of a family, or nil if its runs need not know of one another.
func newPeers(l *Loop, f Family) *peers {
	m, ok := f.Machine.(engine.PeerMachine)
	if !ok {
		return nil
	}
	return &peers{
		l: l, fam: f, m: m, shares: m.Shares(), turn: make(chan struct{}, 1), marks: peerMarks{pending: make(chan struct{}, 1)},
		runs: map[string]*peer{}, open: map[string]*peer{}, asked: map[string]given{},
	}
}

// mark marks the entries of runs as possibly changed.
func (x *peers) mark(states ...string) {
	if x.needed.Load() {
		x.marks.add(false, states...)
	}
}

// markAll marks every entry as possibly changed.
func (x *peers) markAll() {
	if x.needed.Load() {
		x.marks.add(true)
	}
}

// verifyFactor is for how many times its own duration a comparison of all runs remains
// valid, at least, so that many plans in a row do not compare all the time.
const verifyFactor = 20

// fresh reports whether all runs were compared a moment ago.
func (x *peers) fresh() bool {
	return !x.verified.IsZero() && time.Since(x.verified) < max(lookHolds, verifyFactor*x.took)
}

// refresh reads the runs whose entries may have changed, and those whose entries are not
// known and that are due. If sure is true, it compares all runs unless that was done a
// moment ago. The caller holds the lock.
func (x *peers) refresh(sure bool) error {
	if !x.built {
		if err := x.find(); err != nil {
			return err
		}
	}
	states, all := x.marks.take()
	if !x.built || all || sure && !x.fresh() {
		return x.compare()
	}
	var todo []*peer
	now := x.l.o.Now()
	for state, p := range x.open {
		if !states[state] && !p.again.After(now) {
			todo = append(todo, p)
		}
	}
	for state := range states {
		if p := x.runs[state]; p != nil {
			todo = append(todo, p)
		}
	}
	return x.read(todo)
}

// compare reads every run whose files have changed.
func (x *peers) compare() error {
	began := time.Now()
	if err := x.read(slices.Collect(maps.Values(x.runs))); err != nil {
		x.marks.add(true)
		return err
	}
	x.took, x.verified = time.Since(began), time.Now()
	if !x.built {
		// The first reading of all runs does not measure how long a comparison takes.
		x.built, x.took = true, 0
	}
	return nil
}

// find lists the family's runs.
func (x *peers) find() error {
	x.needed.Store(true)
	w := walk{list: x.l.o.Store.List}
	runs, err := x.fam.Layout.Runs(w.ls)
	if err == nil {
		err = w.err()
	}
	if err != nil {
		return templates.Errorf("loop.peers", "family", x.fam.Layout.Name(), "error", err)
	}
	for _, run := range runs {
		x.peer(run)
	}
	return nil
}

// peer returns the entry of a run. A new one is not known.
func (x *peers) peer(run layout.Run) *peer {
	p := x.runs[run.State]
	if p == nil {
		p = &peer{run: run}
		x.runs[run.State], x.open[run.State] = p, p
	}
	return p
}

// read renews the entries of runs, many in parallel. It returns the first error.
func (x *peers) read(todo []*peer) (err error) {
	sideBySide(context.Background(), peekers, todo, x.readOne)
	for _, p := range todo {
		if err = cmp.Or(err, p.err); p.known && !p.refused {
			delete(x.open, p.run.State)
		} else {
			x.open[p.run.State] = p
		}
	}
	return err
}

// readOne renews a run's entry if its files have changed.
func (x *peers) readOne(p *peer) {
	p.refused, p.err = false, nil
	if p.known && !p.racy && x.l.o.Store.PrintPart(p.run, x.shares) == p.print {
		return
	}
	part, err := x.l.o.Store.LoadPart(p.run, x.fam.Layout, x.shares)
	p.again, p.unsettled = part.Again, nil
	var entry []byte
	switch {
	case err != nil:
		p.refused = true
		entry, p.err = x.refused(p.run, err)
	case part.Again.IsZero():
		entry, p.err = x.entry(p.run, part.Docs)
	case p.known && p.print == part.Print:
		// These are the same files, but they may not have settled.
		p.racy = true
		return
	default:
		p.known, p.unsettled = false, unsettled(part.Docs)
		return
	}
	if p.known = p.err == nil; p.known {
		if !bytes.Equal(p.entry, entry) {
			x.stale.Store(true)
		}
		p.entry, p.print, p.racy = entry, part.Print, part.Racy || p.refused
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

// refused asks the machine for the entry of a run with a file that the system refuses. It
// returns the system's error if nobody can be answered without that file.
func (x *peers) refused(run layout.Run, why error) (entry []byte, err error) {
	defer x.bug(&err)
	if entry = x.m.Refused(engine.Snapshot{Key: engine.Key{Family: run.Family, ID: run.ID}, Dir: run.Dir, Class: run.Class}); entry == nil {
		return nil, why
	}
	return entry, nil
}

// entry asks the machine what others must know of a run.
func (x *peers) entry(run layout.Run, docs []engine.Document) (entry []byte, err error) {
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

// bug turns a machine's panic into an error.
func (x *peers) bug(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("cannot tell what the runs of %s must know of one another: the machine panicked (a bug): %v", x.fam.Layout.Name(), r)
	}
}

// unknown reports whether the entry of any run is not known, and when to look again.
func (x *peers) unknown() (again time.Time, is bool) {
	for _, p := range x.open {
		switch {
		case p.known:
			continue
		case p.again.IsZero():
			again = earlier(again, x.l.o.Now().Add(settlePoll))
		default:
			again = earlier(again, p.again)
		}
		is = true
	}
	return again, is
}

// walked takes over the runs that a walk found. hides reports whether a run that was not
// found may exist.
func (x *peers) walked(found []Found, hides func(string) bool) {
	if !x.needed.Load() {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	here := map[string]bool{}
	for _, f := range found {
		if f.Run.Family != x.fam.Layout.Name() {
			continue
		}
		here[f.Run.State] = true
		if p := x.runs[f.Run.State]; p != nil && !sameRun(p.run, f.Run) {
			x.drop(p)
		}
		x.peer(f.Run)
	}
	for state, p := range x.runs {
		if !here[state] && !hides(state) {
			x.drop(p)
		}
	}
	x.mark() // the others must learn of runs that are gone
}

// drop removes a run.
func (x *peers) drop(p *peer) {
	delete(x.asked, p.run.State)
	delete(x.runs, p.run.State)
	delete(x.open, p.run.State)
	if len(p.entry) > 0 {
		x.stale.Store(true)
	}
}

// entries returns the entries of the runs that are known, and the files of the other runs
// that are being written.
func (x *peers) entries() (entries map[string][]byte, writing []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	entries = map[string][]byte{}
	for _, p := range x.runs {
		switch {
		case !p.known:
			writing = append(writing, p.unsettled...)
		case len(p.entry) > 0:
			entries[p.run.ID] = bytes.Clone(p.entry)
		}
	}
	slices.Sort(writing)
	return entries, writing
}

// errUnrelated says why the need for other runs is not answered.
var errUnrelated = errors.New("the runs of this family do not know of one another (a bug)")

// Entries returns what the runs of a family report for the others, by id. It waits a little
// for files that are being written; if they still are, the error is engine.ErrUnsettled and
// names them, and their runs are left out. It returns an error for a family whose runs need
// not know of one another. It writes nothing.
func (l *Loop) Entries(family string) (map[string][]byte, error) {
	x := l.peers[family]
	if x == nil {
		return nil, templates.Errorf("loop.peers.of", "folder", strconv.Quote(family), "error", errUnrelated)
	}
	for waited := time.Duration(0); ; waited += settlePoll {
		if err := x.ready(); err != nil {
			return nil, err
		}
		entries, writing := x.entries()
		if len(writing) == 0 {
			return entries, nil
		}
		if waited >= settleWait {
			return entries, templates.Errorf("loop.peers.all", "family", family, "folder", fmt.Sprintf("%q", writing), "error", engine.ErrUnsettled)
		}
		if err := l.o.Pause(context.Background(), settlePoll); err != nil {
			return entries, err
		}
	}
}

// ready compares all runs, unless that was done a moment ago.
func (x *peers) ready() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.refresh(true)
}

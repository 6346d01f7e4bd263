package loop

import (
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"sync"

	"placet/engine"
	"placet/layout"
)

// registry holds the runs of the workspace by the path of their state document.
type registry struct {
	mu       sync.Mutex
	families []Family
	runs     map[string]*knownRun
	// round holds the paths in the order in which the scan compares the runs, and at is the
	// index of the next one.
	round []string
	at    int
}

// knownRun is one run of the workspace. There may be very many ended runs, so it takes 64
// bytes and the path, whose memory the queue and the watcher share.
type knownRun struct {
	state string
	run   *layout.Run // nil if the layout finds the run by its path
	ident uint64      // of what the layout reported of it

	// The registry guards the following fields.
	active *activeRun // nil while the run is final
	print  uint64     // the fingerprint of a final run's folder and state document when they were read
	own    uint64     // the fingerprint of the state document alone, while a final run's folder is watched; otherwise 0
	walk   uint32     // the last walk that found it
	dirLen uint16     // length of the folder's path, which state begins with
	fam    uint8
	// unchecked says that a crash may have left something to do for a final run.
	unchecked bool
}

// activeRun is a run that can move.
type activeRun struct {
	*knownRun

	// These fields belong to the pass: only one is under way at a time.
	taken   *stepCounts // nil: no step since the plan was last empty
	absence absence
	retry   retry

	// The registry guards the following fields.
	needs  []string // of the last pass
	dirs   []string // followed
	look   uint64   // the last one
	status engine.Summary
	looks  int32 // passes so far
	first  bool  // the first pass is not over
	anew   bool  // its watches are not to be trusted
	// heard are the folders that have changed since the last look, for a run of a sparse
	// family.
	heard     map[string]bool
	submitted []*submission // what the next commits write besides
}

func newRegistry(families []Family) *registry {
	return &registry{families: families, runs: map[string]*knownRun{}}
}

// newRun returns a final run that is in no registry yet.
func (b *registry) newRun(f Found) *knownRun {
	fam := slices.IndexFunc(b.families, func(o Family) bool { return o.Layout.Name() == f.Family.Layout.Name() })
	r := &knownRun{state: strings.Clone(f.Run.State), dirLen: uint16(len(f.Run.Dir)), fam: uint8(max(fam, 0)), ident: identOf(f.Run)}
	if run, ok := f.Family.Layout.At(f.Run.State); !ok || !sameRun(run, f.Run) || !short(f.Run) {
		r.run = &f.Run
	}
	return r
}

// newActive is newRun for a run that can move.
func (b *registry) newActive(f Found) *activeRun {
	r := b.newRun(f)
	r.active = &activeRun{knownRun: r}
	return r.active
}

func sameRun(a, b layout.Run) bool {
	return a.Family == b.Family && a.ID == b.ID && a.Dir == b.Dir && a.Class == b.Class && a.State == b.State &&
		slices.Equal(a.Locks, b.Locks) && a.LocksExist == b.LocksExist
}

// short reports whether the path of a run's state document begins with its folder, so that
// the length of the folder's path determines it.
func short(run layout.Run) bool {
	return strings.HasPrefix(run.State, run.Dir) && len(run.Dir) < 1<<16
}

var identSeed = maphash.MakeSeed()

// identOf distinguishes runs that have the same state document at different times, for
// example one that is shadowed now.
func identOf(run layout.Run) uint64 {
	return maphash.Comparable(identSeed, [4]string{run.Family, run.ID, run.Dir, run.Class})
}

// dir returns the run's folder.
func (r *knownRun) dir() string {
	if r.run != nil {
		return r.run.Dir
	}
	return r.state[:r.dirLen]
}

// found returns a run as the layout finds it. Its paths share the memory of the registry's.
func (b *registry) found(r *knownRun) Found {
	f := b.families[r.fam]
	if r.run != nil {
		return Found{*r.run, f}
	}
	run, _ := f.Layout.At(r.state)
	run.State, run.Dir = r.state, r.dir()
	return Found{run, f}
}

// do runs a function that reads or changes what the registry guards.
func (b *registry) do(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
}

// add puts a run into the registry.
func (b *registry) add(r *knownRun) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.runs[r.state] = r
	b.round = append(b.round, r.state)
}

// get returns the run with a state document, and its active part; both are nil if
// there is none.
func (b *registry) get(state string) (*knownRun, *activeRun) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.runs[state]
	if r == nil {
		return nil, nil
	}
	return r, r.active
}

// following returns the runs that follow a folder whose path has that end.
func (b *registry) following(end string) (found []Found) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.runs {
		if r.active != nil && slices.ContainsFunc(r.active.dirs, func(dir string) bool { return strings.HasSuffix(dir, end) }) {
			found = append(found, b.found(r))
		}
	}
	return found
}

// needsOf returns what the machine of a run needed in its last pass, nil if that is not known.
func (b *registry) needsOf(state string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r := b.runs[state]; r != nil && r.active != nil {
		return r.active.needs
	}
	return nil
}

// live returns the active runs.
func (b *registry) live() (found []Found) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.runs {
		if r.active != nil {
			found = append(found, b.found(r))
		}
	}
	return found
}

// hear records which folders of a run of a sparse family have changed. It returns false if the
// next look must read the whole run: for a run of another family, and for too many folders.
func (b *registry) hear(state string, dirs []string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.runs[state]
	if r == nil || r.active == nil || !layout.IsSparse(b.families[r.fam].Layout) || len(r.active.heard)+len(dirs) > mostHeard {
		return false
	}
	if r.active.heard == nil {
		r.active.heard = map[string]bool{}
	}
	for _, dir := range dirs {
		r.active.heard[dir] = true
	}
	return true
}

// mostHeard is how many changed folders are recorded for a run; with more of them, the
// whole run is read.
const mostHeard = 1024

// takeHeard reports whether a run's watches are not to be trusted, and returns the folders
// that have changed since the last look; they are never nil.
func (b *registry) takeHeard(lv *activeRun) (anew bool, dirs []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	dirs = slices.AppendSeq([]string{}, maps.Keys(lv.heard))
	lv.heard = nil
	return lv.anew, dirs
}

// remove removes a run, if it is the one in the registry, and returns its active part.
func (b *registry) remove(r *knownRun) *activeRun {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.runs[r.state] == r {
		delete(b.runs, r.state)
	}
	return r.active
}

// retire makes a run final.
func (b *registry) retire(r *knownRun, print uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r.active, r.print, r.own = nil, print, 0
}

// activate makes a final run active.
func (b *registry) activate(r *knownRun) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.active == nil {
		r.active = &activeRun{knownRun: r}
	}
}

// finals returns the final runs that a function accepts.
func (b *registry) finals(accepts func(*knownRun) bool) (finals []*knownRun) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.runs {
		if r.active == nil && accepts(r) {
			finals = append(finals, r)
		}
	}
	return finals
}

// next returns the next runs of the round through all runs, given the part of the round's
// time that has passed. At the end of a round it drops the runs that are gone, and keeps
// the order of the others, so that none waits longer.
func (b *registry) next(rest *float64, part float64) (runs []*knownRun) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for n := min(portion(rest, len(b.runs), part), len(b.runs)); n > 0; b.at++ {
		if b.at >= len(b.round) {
			b.at, b.round = 0, b.staying()
		}
		if r := b.runs[b.round[b.at]]; r != nil {
			runs = append(runs, r)
			n--
		}
	}
	return runs
}

// staying returns the paths of the round that still belong to a run, once each.
func (b *registry) staying() []string {
	seen := make(map[string]bool, len(b.runs))
	return slices.DeleteFunc(b.round, func(state string) bool {
		gone := b.runs[state] == nil || seen[state]
		seen[state] = true
		return gone
	})
}

// portion returns how many of n are due, given the part of a round that has passed; it
// keeps the fraction for the next call.
func portion(rest *float64, n int, part float64) int {
	*rest += float64(n) * part
	whole := int(*rest)
	*rest -= float64(whole)
	return whole
}

// known records that a walk found a run, and reports whether the registry has exactly this
// run. If another run has the same state document, it returns that one.
func (b *registry) known(f Found, walk uint32) (other *knownRun, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.runs[f.Run.State]
	if r == nil || r.ident != identOf(f.Run) {
		return r, false
	}
	r.walk = walk
	return nil, true
}

// gone returns the runs that a walk did not find, unless they are hidden.
func (b *registry) gone(walk uint32, hidden func(state string) bool) (gone []*knownRun) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.runs {
		if r.walk != walk && !hidden(r.state) {
			gone = append(gone, r)
		}
	}
	return gone
}

// count returns how many runs there are, and how many wait for a person.
func (b *registry) count() (runs, waiting int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.runs {
		if r.active != nil && r.active.status.Waiting {
			waiting++
		}
	}
	return len(b.runs), waiting
}

// states returns the state documents of the active runs that a function accepts.
func (b *registry) states(accepts func(*activeRun) bool) (states []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.runs {
		if r.active != nil && accepts(r.active) {
			states = append(states, r.state)
		}
	}
	return states
}

// tallied is how many runs are counted while the registry is locked.
const tallied = 1024

// tally counts the runs by family. held names the runs that an error holds up.
func (b *registry) tally(counts []Count, held map[string]string) {
	var all []*knownRun
	b.do(func() { all = slices.Collect(maps.Values(b.runs)) })
	for part := range slices.Chunk(all, tallied) {
		b.do(func() {
			for _, r := range part {
				_, is := held[r.state]
				counts[r.fam].add(r.active, is)
			}
		})
	}
}

package reconcile

import (
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"placet/engine"
	"placet/layout"
)

// live is a run that can move. It is known by the path of its state document,
// which all sets and the watcher share. There may be very many: it takes 256 bytes.
type live struct {
	state  string
	run    *layout.Run // nil where the path alone tells
	ident  uint64      // of what the layout said of it
	walk   uint32      // the last walk that found it
	dirLen uint16      // length of the folder's path, which state begins with
	fam    uint8

	// Of the pass: only one is under way at a time.
	hasty   int16  // passes in quick succession that moved nothing
	cool    uint16 // how long the run waits before the next one, in milliseconds
	needs   []string
	taken   *stepCounts // nil: no step since there was nothing to do
	back    backoff
	rest    *rest     // nil: none
	endedAt time.Time // the last pass

	// Guarded by the registry.
	dirs   []string // followed
	look   uint64   // the last one
	status engine.Peek
	looks  int32 // passes so far
	first  bool  // the first pass is not over
	anew   bool  // its watches are not to be trusted
}

// rest is why a run is not looked at although it was marked: until a moment,
// unless its print changes.
type rest struct {
	print uint64
	until time.Time
	epoch uint64 // of the session
}

// final is a run that nothing but a new state document can move. It costs one
// path and a few words.
type final struct {
	state string
	print uint64
	own   uint64 // of the state document alone, while a watch of its folder is kept; else 0
	walk  uint32
	dir   uint16 // length of the folder's path, which state begins with
	fam   uint8
}

// dir is the run's folder.
func (lv *live) dir() string {
	if lv.run != nil {
		return lv.run.Dir
	}
	return lv.state[:lv.dirLen]
}

// registry knows the runs of the workspace.
type registry struct {
	mu       sync.Mutex
	families []Family
	live     map[string]*live
	final    map[string]final
	// finals counts the final runs by family.
	finals []int
	// The order in which all runs are compared, round by round.
	liveRound, finalRound round
}

func newRegistry(families []Family) *registry {
	return &registry{families: families, live: map[string]*live{}, final: map[string]final{}, finals: make([]int, len(families))}
}

// family is the index of a found run's family.
func (b *registry) family(f Found) int {
	for i := range b.families {
		if b.families[i].Layout.Name() == f.Family.Layout.Name() {
			return i
		}
	}
	return 0
}

// newLive returns a live run that is in no registry yet.
func (b *registry) newLive(f Found) *live {
	lv := &live{state: strings.Clone(f.Run.State), dirLen: uint16(len(f.Run.Dir)), fam: uint8(b.family(f)), ident: identOf(f.Run)}
	if run, ok := f.Family.Layout.At(f.Run.State); !ok || !sameRun(run, f.Run) || !short(f.Run) {
		lv.run = &f.Run
	}
	return lv
}

func sameRun(a, b layout.Run) bool {
	return a.Family == b.Family && a.ID == b.ID && a.Dir == b.Dir && a.Class == b.Class && a.State == b.State &&
		slices.Equal(a.Locks, b.Locks) && a.LocksExist == b.LocksExist
}

// short reports whether the path of a run's state document tells its folder too,
// given the length.
func short(run layout.Run) bool {
	return strings.HasPrefix(run.State, run.Dir) && len(run.Dir) < 1<<16
}

// found returns a live run as the layout finds it. Its paths share what the registry
// keeps of them.
func (b *registry) found(lv *live) Found {
	f := b.families[lv.fam]
	if lv.run != nil {
		return Found{*lv.run, f}
	}
	run, _ := f.Layout.At(lv.state)
	run.State, run.Dir = lv.state, lv.dir()
	return Found{run, f}
}

// add puts a live run into the registry.
func (b *registry) add(lv *live) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.putLive(lv)
}

func (b *registry) putLive(lv *live) {
	b.live[lv.state] = lv
	b.liveRound.add(lv.state)
}

// do runs a change of what the registry guards.
func (b *registry) do(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
}

// get returns a live run, nil if there is none.
func (b *registry) get(state string) *live {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.live[state]
}

// remove takes a live run out, if it is the one in the registry.
func (b *registry) remove(lv *live) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.removeLive(lv)
}

func (b *registry) removeLive(lv *live) {
	if b.live[lv.state] == lv {
		delete(b.live, lv.state)
	}
}

// addFinal puts a final run into the registry.
func (b *registry) addFinal(f Found, print uint64, walk uint32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.putFinal(final{strings.Clone(f.Run.State), print, 0, walk, uint16(len(f.Run.Dir)), uint8(b.family(f))})
}

func (b *registry) putFinal(f final) {
	b.dropFinal(f.state)
	b.final[f.state] = f
	b.finalRound.add(f.state)
	b.finals[f.fam]++
}

// retire makes a live run final.
func (b *registry) retire(lv *live, f Found, print uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.live[lv.state] == lv {
		b.removeLive(lv)
		b.putFinal(final{lv.state, print, 0, lv.walk, uint16(len(f.Run.Dir)), lv.fam})
	}
}

// revive puts a live run in the place of the final one with its state document, and
// reports whether there is one.
func (b *registry) revive(lv *live) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	f, ok := b.final[lv.state]
	if !ok {
		return false
	}
	lv.walk = f.walk
	b.dropFinal(lv.state)
	b.putLive(lv)
	return true
}

// note notes how a final run looks now.
func (b *registry) note(state string, change func(*final)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if f, ok := b.final[state]; ok {
		change(&f)
		b.final[state] = f
	}
}

// allFinals are all final runs.
func (b *registry) allFinals() []final {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Collect(maps.Values(b.final))
}

// removeFinal takes a final run out.
func (b *registry) removeFinal(state string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dropFinal(state)
}

func (b *registry) dropFinal(state string) {
	if f, ok := b.final[state]; ok {
		b.finals[f.fam]--
		delete(b.final, state)
	}
}

// nextLive returns the next n live runs of the round.
func (b *registry) nextLive(n int) []*live {
	b.mu.Lock()
	defer b.mu.Unlock()
	return next(&b.liveRound, b.live, n)
}

// nextFinal returns the next n final runs of the round.
func (b *registry) nextFinal(n int) []final {
	b.mu.Lock()
	defer b.mu.Unlock()
	return next(&b.finalRound, b.final, n)
}

// round is an order in which runs are visited again and again.
type round struct {
	states []string
	at     int
}

func (r *round) add(state string) { r.states = append(r.states, state) }

// next returns the next n runs of a round, or all if there are fewer. At its end those
// that are gone leave it, and each stays at its place, so that nobody waits for longer.
func next[T any](r *round, all map[string]T, n int) (out []T) {
	for n = min(n, len(all)); n > 0; r.at++ {
		if r.at >= len(r.states) {
			seen := make(map[string]bool, len(all))
			r.at, r.states = 0, slices.DeleteFunc(r.states, func(state string) bool {
				_, ok := all[state]
				gone := !ok || seen[state]
				seen[state] = true
				return gone
			})
		}
		if one, ok := all[r.states[r.at]]; ok {
			out = append(out, one)
			n--
		}
	}
	return out
}

// known notes that a walk found a run, and reports whether it is in the registry as
// it is. A live run that is another one now is returned.
func (b *registry) known(f Found, walk uint32) (other *live, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if fin, ok := b.final[f.Run.State]; ok {
		fin.walk = walk
		b.final[f.Run.State] = fin
		return nil, true
	}
	lv := b.live[f.Run.State]
	if lv == nil {
		return nil, false
	}
	if lv.ident != identOf(f.Run) {
		return lv, false
	}
	lv.walk = walk
	return nil, true
}

var identSeed = maphash.MakeSeed()

// identOf tells runs apart that have the same state document, one after the
// other: one that is shadowed now, for example.
func identOf(run layout.Run) uint64 {
	return maphash.Comparable(identSeed, [4]string{run.Family, run.ID, run.Dir, run.Class})
}

// gone takes out the final runs that a walk did not find, unless they are hidden. It
// returns the live ones, and the final ones of which a watch was kept.
func (b *registry) gone(walk uint32, hidden func(state string) bool) (out []*live, kept []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, lv := range b.live {
		if lv.walk != walk && !hidden(lv.state) {
			out = append(out, lv)
		}
	}
	for _, f := range b.final {
		if f.walk != walk && !hidden(f.state) {
			b.dropFinal(f.state)
			if f.own != 0 {
				kept = append(kept, f.state)
			}
		}
	}
	return out, kept
}

// count returns how many runs there are, and how many wait for a person.
func (b *registry) count() (runs, waiting int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, lv := range b.live {
		if lv.status.Waiting {
			waiting++
		}
	}
	return len(b.live) + len(b.final), waiting
}

func (b *registry) sizes() (lives, finals int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.live), len(b.final)
}

// states are all live runs.
func (b *registry) states() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Collect(maps.Keys(b.live))
}

// following are the live runs that follow one of the folders, or one below.
func (b *registry) following(dirs map[string]bool) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	for _, lv := range b.live {
		for _, d := range lv.dirs {
			if coveredBy(dirs, d) {
				out = append(out, lv.state)
				break
			}
		}
	}
	return out
}

// finalAt is the final run with this state document, if there is one.
func (b *registry) finalAt(state string) []final {
	b.mu.Lock()
	defer b.mu.Unlock()
	if f, ok := b.final[state]; ok {
		return []final{f}
	}
	return nil
}

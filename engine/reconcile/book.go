package reconcile

import (
	"hash/maphash"
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
	slot   int32       // in the book's round
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

	// Guarded by the book.
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

// book knows the runs of the workspace.
type book struct {
	mu       sync.Mutex
	families []Family
	live     map[string]*live
	round    []*live
	atLive   int
	final    map[string]int // state → index in finals
	finals   []final
	atFinal  int
}

func newBook(families []Family) *book {
	return &book{families: families, live: map[string]*live{}, final: map[string]int{}}
}

// family is the index of a found run's family.
func (b *book) family(f Found) int {
	for i := range b.families {
		if b.families[i].Layout.Name() == f.Family.Layout.Name() {
			return i
		}
	}
	return 0
}

// newLive returns a live run that is in no book yet.
func (b *book) newLive(f Found) *live {
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

// found returns a live run as the layout finds it. Its paths share what the book
// keeps of them.
func (b *book) found(lv *live) Found {
	f := b.families[lv.fam]
	if lv.run != nil {
		return Found{*lv.run, f}
	}
	run, _ := f.Layout.At(lv.state)
	run.State, run.Dir = lv.state, lv.dir()
	return Found{run, f}
}

// add puts a live run into the book.
func (b *book) add(lv *live) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.addLive(lv)
}

func (b *book) addLive(lv *live) {
	b.live[lv.state] = lv
	lv.slot = int32(len(b.round))
	b.round = append(b.round, lv)
}

// do runs a change of what the book guards.
func (b *book) do(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
}

// get returns a live run, nil if there is none.
func (b *book) get(state string) *live {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.live[state]
}

// remove takes a live run out, if it is the one in the book.
func (b *book) remove(lv *live) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.removeLive(lv)
}

func (b *book) removeLive(lv *live) {
	if b.live[lv.state] != lv {
		return
	}
	delete(b.live, lv.state)
	i, last := int(lv.slot), len(b.round)-1
	if i < b.atLive {
		// Keep what was visited in this round before what was not.
		b.atLive--
		b.swapLive(i, b.atLive)
		i = b.atLive
	}
	b.swapLive(i, last)
	b.round[last] = nil
	b.round = b.round[:last]
}

func (b *book) swapLive(i, j int) {
	b.round[i], b.round[j] = b.round[j], b.round[i]
	b.round[i].slot, b.round[j].slot = int32(i), int32(j)
}

// addFinal puts a final run into the book.
func (b *book) addFinal(f Found, print uint64, walk uint32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.putFinal(final{strings.Clone(f.Run.State), print, 0, walk, uint16(len(f.Run.Dir)), uint8(b.family(f))})
}

func (b *book) putFinal(fin final) {
	b.final[fin.state] = len(b.finals)
	b.finals = append(b.finals, fin)
}

// retire makes a live run final.
func (b *book) retire(lv *live, f Found, print uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.live[lv.state] == lv {
		b.removeLive(lv)
		b.putFinal(final{lv.state, print, 0, lv.walk, uint16(len(f.Run.Dir)), lv.fam})
	}
}

// revive puts a live run in the place of the final one with its state document, and
// reports whether there is one.
func (b *book) revive(lv *live) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	i, ok := b.final[lv.state]
	if !ok {
		return false
	}
	lv.walk = b.finals[i].walk
	b.dropFinal(lv.state)
	b.addLive(lv)
	return true
}

// note notes how a final run looks now.
func (b *book) note(state string, change func(*final)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if i, ok := b.final[state]; ok {
		change(&b.finals[i])
	}
}

// allFinals are all final runs.
func (b *book) allFinals() []final {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.finals)
}

// removeFinal takes a final run out.
func (b *book) removeFinal(state string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dropFinal(state)
}

func (b *book) dropFinal(state string) {
	i, ok := b.final[state]
	if !ok {
		return
	}
	last := len(b.finals) - 1
	if i < b.atFinal {
		b.atFinal--
		b.swapFinal(i, b.atFinal)
		i = b.atFinal
	}
	b.swapFinal(i, last)
	b.finals[last] = final{}
	b.finals = b.finals[:last]
	delete(b.final, state)
}

func (b *book) swapFinal(i, j int) {
	if i == j {
		return
	}
	b.finals[i], b.finals[j] = b.finals[j], b.finals[i]
	b.final[b.finals[i].state], b.final[b.finals[j].state] = i, j
}

// nextLive returns the next n live runs of the round.
func (b *book) nextLive(n int) []*live {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []*live
	out, b.atLive = turn(b.round, b.atLive, n)
	return out
}

// nextFinal returns the next n final runs of the round.
func (b *book) nextFinal(n int) []final {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []final
	out, b.atFinal = turn(b.finals, b.atFinal, n)
	return out
}

// turn returns the next n of a round, which begins anew at its end, and where
// it goes on.
func turn[T any](round []T, at, n int) ([]T, int) {
	n = min(n, len(round))
	if at >= len(round) {
		at = 0
	}
	out := append([]T(nil), round[at:min(at+n, len(round))]...)
	if len(out) < n {
		at = n - len(out)
		return append(out, round[:at]...), at
	}
	return out, at + n
}

// known notes that a walk found a run, and reports whether it is in the book as
// it is. A live run that is another one now is returned.
func (b *book) known(f Found, walk uint32) (other *live, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if i, ok := b.final[f.Run.State]; ok {
		b.finals[i].walk = walk
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
func (b *book) gone(walk uint32, hidden func(state string) bool) (out []*live, kept []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, lv := range b.round {
		if lv.walk != walk && !hidden(lv.state) {
			out = append(out, lv)
		}
	}
	for i := len(b.finals) - 1; i >= 0; i-- {
		if f := b.finals[i]; f.walk != walk && !hidden(f.state) {
			b.dropFinal(f.state)
			if f.own != 0 {
				kept = append(kept, f.state)
			}
		}
	}
	return out, kept
}

// count returns how many runs there are, and how many wait for a person.
func (b *book) count() (runs, waiting int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, lv := range b.round {
		if lv.status.Waiting {
			waiting++
		}
	}
	return len(b.round) + len(b.finals), waiting
}

func (b *book) sizes() (lives, finals int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.round), len(b.finals)
}

// states are all live runs.
func (b *book) states() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]string, len(b.round))
	for i, lv := range b.round {
		out[i] = lv.state
	}
	return out
}

// following are the live runs that follow one of the folders, or one below.
func (b *book) following(dirs map[string]bool) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	for _, lv := range b.round {
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
func (b *book) finalAt(state string) []final {
	b.mu.Lock()
	defer b.mu.Unlock()
	if i, ok := b.final[state]; ok {
		return []final{b.finals[i]}
	}
	return nil
}

package loop

import (
	"context"
	"errors"
	"maps"
	"path"
	"slices"
	"strconv"
	"sync"
	"time"

	"placet/layout"
	"placet/templates"
)

const (
	// scanRound is the time in which every run is compared by stat once.
	scanRound = time.Minute
	scanTick  = time.Second
	// blindTick is how often runs in blind folders are looked at.
	blindTick = 2 * time.Second
	// blindFactor is how many times the duration of the last look at blind folders they are
	// left alone, at least.
	blindFactor = 16
	// minRest and maxRest limit the pause between two rescans, which is restFactor times as
	// long as the last rescan took.
	minRest    = 20 * time.Millisecond
	maxRest    = time.Second
	restFactor = 4
)

// rescans collects the folders for which a rescan was requested.
type rescans struct {
	mu    sync.Mutex
	dirs  map[string]bool
	asked chan struct{}
}

func newRescans() rescans {
	return rescans{dirs: map[string]bool{}, asked: make(chan struct{}, 1)}
}

// ask requests a scan of the workspace for runs that appeared or vanished. The scan also
// looks at final runs at and below the folders.
func (r *rescans) ask(dirs ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range dirs {
		r.dirs[d] = true
	}
	select {
	case r.asked <- struct{}{}:
	default:
	}
}

func (r *rescans) take() map[string]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	dirs := r.dirs
	r.dirs = map[string]bool{}
	return dirs
}

// run makes the first scan, then rescans on request, and otherwise compares all runs by
// stat, a slice at a time.
func (sc *scanner) run(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	sc.scan(ctx, true)
	if ctx.Err() != nil {
		return
	}
	sc.passed()
	wg.Go(func() { sc.checkFinals(ctx) })
	tick := time.NewTicker(scanTick)
	defer tick.Stop()
	sc.start(time.Now())
	for {
		select {
		case <-ctx.Done():
			return
		case <-sc.rescans.asked:
			began := time.Now()
			sc.recheck(sc.rescans.take())
			sc.scan(ctx, false)
			sc.took = time.Since(began)
			rest := min(max(restFactor*sc.took, minRest), maxRest)
			if pause(ctx, rest) != nil {
				return
			}
		case <-tick.C:
			if !sc.away() {
				sc.tick(time.Now())
			}
		}
	}
}

// away reports whether the workspace is missing. No event reports that a folder above it
// was moved, so its watches are renewed when it is back.
func (sc *scanner) away() bool {
	was := sc.gone
	if sc.gone = sc.l.sayAway(); was && !sc.gone {
		sc.w.Anew()
	}
	return sc.gone
}

// scanner looks at runs and folders whether or not an event reported a change.
type scanner struct {
	*session
	walk   uint32
	gone   bool            // the workspace was not there at the last tick
	listed map[string]bool // structure folders
	// unswept are folders in which placet's own left-overs remain.
	unswept map[string]bool
	// folders holds the fingerprints of the folders before they were listed, 0 if a change
	// might not show.
	folders map[string]uint64
	// sliced, blind, walked and swept are when the slices, the blind folders, the structure
	// and the left-overs were last looked at.
	sliced, blind, walked, swept time.Time
	// blindWait is how long blind folders are left alone, longer the more of them there
	// are. took is how long the last rescan took.
	blindWait, took time.Duration
	rest            float64 // the fraction of a run that the last slice left over
}

func (sc *scanner) start(now time.Time) {
	sc.sliced, sc.blind, sc.walked, sc.swept = now, now, now, now
}

// scan walks the workspace. It watches every folder in which runs may appear before it
// lists that folder. It looks at new runs and forgets vanished ones; runs below a folder
// that cannot be listed stay unchanged.
func (sc *scanner) scan(ctx context.Context, first bool) {
	if first {
		sc.admitFirst(ctx)
	}
	sc.walk++
	looked := map[string]uint64{}
	w := walk{list: sc.l.o.Store.List, before: func(dir string) {
		sc.w.Guard(dir)
		looked[dir] = sc.l.o.Store.FingerprintOld(dir)
	}}
	found := sc.l.walk(&w)
	if ctx.Err() != nil {
		return
	}
	if sc.folders = looked; w.err() != nil {
		sc.folders = nil
	}
	sc.sayWalk(&w)
	sc.w.Structure(w.listed)
	sc.listed = w.folders()
	if first {
		sc.unswept = sc.l.sweep(sc.listed)
	}
	var fresh []Found
	for _, f := range found {
		other, ok := sc.registry.known(f, sc.walk)
		if other != nil {
			sc.forget(other)
		}
		if !ok {
			fresh = append(fresh, f)
		}
	}
	for _, r := range sc.registry.gone(sc.walk, w.hides) {
		sc.forget(r)
	}
	for _, x := range sc.l.peers {
		x.walked(found, w.hides)
	}
	sc.admit(ctx, fresh, sc.walk, first)
	sc.walked = time.Now()
}

// walking stands for the walk in the error log: no run has this path.
const walking = "\x00walk"

// sayWalk logs folders that cannot be listed, once. A later walk tries again.
func (sc *scanner) sayWalk(w *walk) {
	if err := w.err(); err != nil {
		if news, _ := sc.l.errors.fail(walking, err); news {
			sc.l.o.Log.Warn("cannot look for runs everywhere", "err", err)
		}
		return
	}
	if over, _ := sc.l.errors.clear(walking); over != "" {
		sc.l.o.Log.Info("looking for runs everywhere again", "over", over)
	}
}

// recheck looks at the final runs at and below the folders that have changed.
func (sc *scanner) recheck(dirs map[string]bool) {
	for dir := range dirs {
		if dir == "." || sc.listed[dir] {
			for _, r := range sc.registry.finals(func(r *knownRun) bool { return coveredBy(dirs, r.state) }) {
				sc.compareFinal(r)
			}
			return
		}
	}
	for dir := range dirs {
		for _, f := range sc.l.o.Families {
			if run, ok := f.Layout.At(dir); ok {
				sc.compareFinalAt(run.State)
			}
		}
	}
}

func (sc *scanner) compareFinalAt(state string) {
	if r, lv := sc.registry.get(state); r != nil && lv == nil {
		sc.compareFinal(r)
	}
}

// coveredBy reports whether a path is at or below one of the folders.
func coveredBy(dirs map[string]bool, p string) bool {
	for {
		if dirs[p] {
			return true
		}
		if p == "." || p == "/" {
			return false
		}
		p = path.Dir(p)
	}
}

// tick looks at the next slice of all runs, at blind folders, and at the structure, each
// when it is due.
func (sc *scanner) tick(now time.Time) {
	part := min(float64(now.Sub(sc.sliced))/float64(scanRound), 1)
	sc.sliced = now
	for _, r := range sc.registry.next(&sc.rest, part) {
		sc.compare(r.state)
		if x := sc.l.peers[sc.registry.families[r.fam].Layout.Name()]; x != nil {
			x.mark(r.state)
		}
	}
	if now.Sub(sc.blind) >= max(sc.blindWait, blindTick) {
		sc.blind = now
		began := time.Now()
		if !sc.lookBlind() {
			sc.took = 0
		}
		sc.blindWait = min(blindFactor*(time.Since(began)+sc.took), scanRound)
	}
	if len(sc.unswept) > 0 && now.Sub(sc.swept) >= sweepAgain {
		sc.swept, sc.unswept = now, sc.l.sweep(sc.unswept)
	}
	if now.Sub(sc.walked) >= scanRound {
		sc.walked = now
		if sc.asListed() {
			sc.w.Structure(slices.Collect(maps.Keys(sc.listed))) // this restores lost watches
		} else {
			sc.rescans.ask()
		}
	}
}

// asListed reports whether every folder in which runs may appear is unchanged since it was
// listed, so that a walk would find the same.
func (sc *scanner) asListed() bool {
	for dir, was := range sc.folders {
		if was == 0 || sc.l.o.Store.FingerprintOld(dir) != was {
			return false
		}
	}
	return sc.folders != nil
}

// compare checks by stat alone whether a run has changed.
func (sc *scanner) compare(state string) {
	switch r, lv := sc.registry.get(state); {
	case lv != nil:
		sc.compareActive(lv)
	case r != nil:
		sc.compareFinal(r)
	}
}

// compareActive marks a run that has changed since its last look, or for which a change
// might not show. If the change was not reported, the run's watches may be on other
// folders, so they are renewed.
func (sc *scanner) compareActive(lv *activeRun) {
	f := sc.registry.found(lv.knownRun)
	var look uint64
	sc.registry.do(func() { look = lv.look })
	sc.progress.poll(lv.state)
	same, sure := sc.l.o.Store.Unchanged(f.Run, f.Family.Layout, look)
	if !same {
		sc.registry.do(func() { lv.anew = true })
	}
	if !same || !sure {
		sc.queue.mark(lv.state)
	}
}

// lookBlind marks the live runs that follow a blind folder and have changed. If a structure
// folder is blind and the structure has changed, it requests a rescan, and reports so.
func (sc *scanner) lookBlind() (asked bool) {
	blind := map[string]bool{}
	for _, dir := range sc.w.Blind() {
		blind[dir] = true
	}
	if len(blind) == 0 {
		return false
	}
	follows := func(lv *activeRun) bool {
		return slices.ContainsFunc(lv.dirs, func(dir string) bool { return coveredBy(blind, dir) })
	}
	for _, state := range sc.registry.states(follows) {
		sc.compare(state)
	}
	for dir := range sc.listed {
		if coveredBy(blind, dir) {
			if asked = !sc.asListed(); asked {
				sc.rescans.ask()
			}
			return asked
		}
	}
	return false
}

// walk lists the folders in which runs may be.
type walk struct {
	// before is called for each folder before it is listed; may be nil.
	before func(dir string)
	list   layout.Lister
	// listed are the folders so far, failed are those that cannot be listed.
	listed, failed []string
	errs           []error
}

// folders returns the listed folders as a set.
func (w *walk) folders() map[string]bool {
	set := map[string]bool{}
	for _, dir := range w.listed {
		set[dir] = true
	}
	return set
}

// ls is the layout's lister. It returns a folder that cannot be listed as empty, because a
// folder without permission must not hide the others.
func (w *walk) ls(dir string) ([]layout.Entry, error) {
	if w.before != nil {
		w.before(dir)
	}
	w.listed = append(w.listed, dir)
	entries, err := w.list(dir)
	if err != nil {
		w.failed = append(w.failed, dir)
		w.errs = append(w.errs, templates.Errorf("loop.list", "file", strconv.Quote(dir), "error", err))
		return nil, nil
	}
	return entries, nil
}

func (w *walk) err() error { return errors.Join(w.errs...) }

// hides reports whether a path may exist although the walk did not find it.
func (w *walk) hides(p string) bool {
	for _, dir := range w.failed {
		if layout.Under(p, dir) {
			return true
		}
	}
	return false
}

func (l *Loop) walk(w *walk) []Found {
	var found []Found
	for _, f := range l.o.Families {
		runs, err := f.Layout.Runs(w.ls)
		if err != nil {
			w.failed = append(w.failed, f.Layout.Roots()...)
			w.errs = append(w.errs, templates.Errorf("loop.find", "family", f.Layout.Name(), "error", err))
		}
		for _, r := range runs {
			found = append(found, Found{r, f})
		}
	}
	return found
}

package store

import (
	"hash/maphash"
	"path"
	"slices"
	"sync"

	"placet/engine"
	"placet/engine/store/statcache"
	"placet/layout"
)

// A folder of a run that somebody took away is not made anew: it could not be
// brought back if another stood there. A folder below the run's own is made only
// where the look that the plan was made over did not find it. So is the run's own
// folder, and besides
//
//   - by a plan that begins the run: it writes the first state document;
//   - by any other plan if there never was a state document, and the folder above
//     is there: what takes the whole away takes that too.
//
// A run whose state document that look found, and which has none now, is being
// taken away: nothing is written into it.

// canMakeDir reports whether a commit may make a folder of its run, which is not there.
func (s *committer) canMakeDir(j *commit, dir string) bool {
	begun, known := s.reader.states.get(j.run.State)
	looked, found := s.reader.lastLook(j.run, dir)
	switch {
	case !looked:
		return dir != j.run.Dir || !known
	case found:
		return false
	case dir != j.run.Dir || j.begins():
		return true
	}
	above, err := s.disk.IsFolder(path.Dir(j.run.Dir))
	return !begun && above && err == nil
}

// owns reports whether a folder is that of the commit's run, or lies in it.
func (j *commit) owns(dir string) bool { return j.run.State != "" && layout.Under(dir, j.run.Dir) }

// begins reports whether the commit writes the run's first state document.
func (j *commit) begins() bool {
	return slices.ContainsFunc(j.writes, func(p *fileWrite) bool { return p.doc.Kind == engine.KindState && p.doc.Over == "" })
}

// isBeingRemoved reports whether the commit's run had a state document when the plan was made,
// and has none now.
func (s *committer) isBeingRemoved(j *commit) bool {
	if j.run.State == "" || j.begins() {
		return false
	}
	begun, _ := s.reader.states.get(j.run.State)
	looked, found := s.reader.lastLook(j.run, j.run.State)
	return (found || !looked && begun) && !s.disk.Exists(j.run.State)
}

// lastLook reports whether a run was looked at, and whether the last look found
// something under a path in its folder.
func (s *reader) lastLook(run layout.Run, path string) (looked, found bool) {
	tree := s.settler.cache.Lock(run.State)
	defer tree.Unlock()
	e := tree.At(path)
	return tree.Look != 0, e != nil && e.ID != statcache.Identity{}
}

// states holds every run ever seen, by the hash of its state document's path, and
// whether that document was there.
type states struct {
	mu   sync.Mutex
	seen map[uint64]bool
}

var stateSeed = maphash.MakeSeed()

// get reports whether a run was seen, and whether its state document was.
func (s *states) get(state string) (begun, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	begun, known = s.seen[maphash.String(stateSeed, state)]
	return begun, known
}

// begin notes that a run's state document was seen.
func (s *states) begin(state string) { s.note(state, true) }

// note notes that a run was seen, and reports whether it had been before.
func (s *states) note(state string, begun bool) (known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := maphash.String(stateSeed, state)
	was, known := s.seen[key]
	s.seen[key] = was || begun
	return known
}

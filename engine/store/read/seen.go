package read

import (
	"hash/maphash"
	"os"
	"sync"
	"sync/atomic"

	"placet/engine/store/fs"
	"placet/engine/store/statcache"
	"placet/layout"
)

// Seen holds what looks and commits have seen of runs and files. Its methods are safe for
// concurrent use.
type Seen struct {
	// Cache holds the results of stat, and of reading.
	Cache    *statcache.Cache
	watching atomic.Bool
	owners   owners
	states   states
}

// NewSeen returns an empty Seen.
func NewSeen() *Seen {
	return &Seen{Cache: statcache.New(), owners: owners{self: uint32(os.Geteuid())}, states: states{seen: map[uint64]bool{}}}
}

// Tree returns what is remembered of a run. It assumes that a run whose state document was
// never seen before appeared while placet was running.
func (s *Seen) Tree(run layout.Run) *statcache.Run {
	return s.Cache.Add(run.State, func() *statcache.Run {
		return &statcache.Run{Dir: run.Dir, Root: statcache.Entry{Kind: statcache.Folder}, Newborn: !s.states.note(run.State, false) && s.watching.Load()}
	})
}

// LastLook reports whether a run was looked at, and whether the last look found
// something under a path in its folder.
func (s *Seen) LastLook(run layout.Run, path string) (looked, found bool) {
	tree := s.Cache.Lock(run.State)
	defer tree.Unlock()
	e := tree.At(path)
	return tree.Look != 0, e != nil && e.ID != statcache.Identity{}
}

// Begun reports whether a run's state document was seen, and whether the run, which it names,
// was seen at all.
func (s *Seen) Begun(state string) (begun, known bool) { return s.states.get(state) }

// Owner returns the owner of a file that others write, as a document's Known.
func (s *Seen) Owner(file layout.File, info fs.Info) []string {
	if file.Writer == layout.Placet {
		return nil
	}
	return s.owners.known(info.UID)
}

// states holds every run ever seen, by the hash of its state document's path, and whether
// that document was seen.
type states struct {
	mu   sync.Mutex
	seen map[uint64]bool
}

var stateSeed = maphash.MakeSeed()

// get reports whether a run's state document was seen, and whether the run was.
func (s *states) get(state string) (begun, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	begun, known = s.seen[maphash.String(stateSeed, state)]
	return begun, known
}

// begin notes that a run's state document was seen.
func (s *states) begin(state string) { s.note(state, true) }

// note notes that a run was seen, and reports whether it had been seen before.
func (s *states) note(state string, begun bool) (known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := maphash.String(stateSeed, state)
	was, known := s.seen[key]
	s.seen[key] = was || begun
	return known
}

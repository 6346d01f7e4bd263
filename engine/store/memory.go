package store

import (
	"crypto/sha256"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"time"

	"placet/engine"
	"placet/layout"
)

// keepOutside bounds the traces of files outside the runs.
const keepOutside = 1 << 14

// trace is what is remembered of one file to tell whether it stands still.
type trace struct {
	device, inode uint64
	// mark stands for size, ctime and content; of a file that placet itself put
	// in place for size, mtime and content, because a rename changes the ctime.
	mark uint64
	// since is the moment from which the content is known to stand still, as a
	// length of time since the store began, and still how long it did.
	since, still time.Duration
	pass         uint32 // the visit that saw it last
	// fresh: the inode appeared under a running placet and has not been whole
	// before. whole: it was, so that the content is complete as it stands.
	fresh, whole bool
	// own: placet itself put it there.
	own bool
	// absent: looked for and not found. known: not the zero trace.
	absent, known bool
}

// folder is what is known of one run's files, by the hash of the path relative
// to its folder; or of all files outside the runs, by the hash of the path.
type folder struct {
	dir    string // of the run
	traces map[uint64]trace
	// resting stands for the traces of a run that has not been looked at for a
	// while and stood still then: hashes of path and inode, sorted.
	resting []uint64
	// loaded: every file of the folder has been looked at once, so that one
	// without a trace has appeared since.
	loaded bool
	// newborn: the whole run appeared under a running placet.
	newborn bool
	// dirs are the folders that the last look found, by the hash of their name, and
	// state says whether it found the state document. missing is what of the run has
	// gone a moment ago, and when it was first missed.
	dirs    []uint64
	state   bool
	missing map[uint64]time.Duration
	hot     bool // in memory.hot
	pass    uint32
	visited time.Duration // when the last visit ended
	shelved
}

// memory is what the store knows from earlier looks. All of it can vanish: the
// files are then seen for the first time.
type memory struct {
	mu       sync.Mutex
	watching bool
	runs     map[string]*folder // by state document
	outside  *folder
	hot      []*folder // those with traces, the next to rest first
	seed     maphash.Seed
	// states holds every run ever seen, by the hash of its state document's path,
	// and whether that document was there.
	states map[uint64]bool
	bodies bodies
	// shelves is what all shelves cost, and doubts counts how often all of them
	// were called into question.
	shelves int
	doubts  int
}

func (m *memory) init() {
	m.runs, m.states = map[string]*folder{}, map[uint64]bool{}
	m.outside = &folder{traces: map[uint64]trace{}}
	m.seed = maphash.MakeSeed()
	m.bodies.kept = map[string]*content{}
}

// Watching says that from now on a run or a file that appears was not there
// before: a JSON document under a new inode is complete when it parses.
func (s *Store) Watching() {
	s.memory.mu.Lock()
	s.memory.watching = true
	s.memory.mu.Unlock()
}

// Forget drops what is remembered of a run, but that it was seen. Its files are then looked at as if for the first time. A loop calls it
// for runs that are final or gone.
func (s *Store) Forget(run layout.Run) {
	m := &s.memory
	m.mu.Lock()
	if f := m.runs[run.State]; f != nil {
		m.unshelve(f)
		f.gone = true
	}
	delete(m.runs, run.State)
	m.mu.Unlock()
	m.bodies.drop(run.Dir + "/")
}

func (m *memory) hash(s string) uint64 { return maphash.String(m.seed, s) }

// of returns what is known of a run. A run whose state document was never seen
// before appeared under a running placet.
func (m *memory) of(run layout.Run) *folder {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.runs[run.State]
	if f == nil {
		key := m.hash(run.State)
		begun, known := m.states[key]
		m.states[key] = begun
		f = &folder{dir: run.Dir, traces: map[uint64]trace{}, newborn: m.watching && !known}
		m.runs[run.State] = f
	}
	return f
}

// place says where the trace of a file is kept.
type place struct {
	in  *folder
	key uint64
}

func (m *memory) inside(f *folder, rel string) place { return place{f, m.hash(rel)} }
func (m *memory) beside(path string) place           { return place{m.outside, m.hash(path)} }

// get returns the trace of a file that is there, and whether one without has
// appeared under a running placet.
func (m *memory) get(at place, info Info) (t trace, appeared bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := at.in
	t = f.traces[at.key]
	if t.known || !m.watching {
		return t, false
	}
	if f.resting != nil {
		_, was := slices.BinarySearch(f.resting, m.restKey(at.key, info.Device, info.Inode))
		return t, !was
	}
	return t, f.loaded || f.newborn
}

// put replaces a file's trace; the zero trace forgets it.
func (m *memory) put(at place, t trace) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !t.known {
		delete(at.in.traces, at.key)
		return
	}
	if at.in == m.outside && !at.in.traces[at.key].known {
		m.bound()
	}
	if at.in.traces == nil {
		at.in.traces = map[uint64]trace{}
	}
	t.pass = at.in.pass
	at.in.traces[at.key] = t
}

// bound forgets some file outside the runs where there are too many. It is then
// seen for the first time again, which is slower and never wrong.
func (m *memory) bound() {
	for key := range m.outside.traces {
		if len(m.outside.traces) < keepOutside {
			return
		}
		delete(m.outside.traces, key)
	}
}

// begin starts a visit of a whole run and returns its number, and what earlier
// ones have kept.
func (m *memory) begin(f *folder) (pass uint32, kept shelving) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f.pass++
	kept = shelving{old: f.shelves, suspects: f.suspects, whole: f.doubts != m.doubts, doubts: m.doubts, long: f.long}
	f.suspects = nil
	return f.pass, kept
}

// saw notes that a visit has seen a file without making its trace anew.
func (m *memory) saw(at place) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t := at.in.traces[at.key]; t.known && t.pass != at.in.pass {
		t.pass = at.in.pass
		at.in.traces[at.key] = t
	}
}

// forget lets go of the traces of documents of a run that are at rest from now on. No
// look notes them any more, and they are not missed.
func (m *memory) forget(f *folder, docs []engine.Document) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range docs {
		delete(f.traces, m.hash(NameIn(f.dir, docs[i].Path)))
	}
}

// keep puts the trace of a file that placet wrote where a later look finds it:
// with its run, or with the needs where it was asked for as one.
func (m *memory) keep(run layout.Run, name string, t trace) {
	if rel, inside := strings.CutPrefix(name, run.Dir+"/"); inside && run.State != "" {
		m.put(m.inside(m.of(run), rel), t)
	}
	if beside := m.beside(name); m.has(beside) {
		m.put(beside, t)
	}
}

// removed forgets a file that placet itself removes: nobody misses it.
func (m *memory) removed(run layout.Run, name string) {
	if rel, inside := strings.CutPrefix(name, run.Dir+"/"); inside && run.State != "" {
		m.put(m.inside(m.of(run), rel), trace{})
	}
}

func (m *memory) has(at place) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return at.in.traces[at.key].known
}

// markOf is what two looks that agree have in common besides the inode.
func (m *memory) markOf(c content, own bool) uint64 {
	moment := c.info.Changed
	if own {
		moment = c.info.Modified
	}
	return maphash.Comparable(m.seed, struct {
		size, moment int64
		sum          [sha256.Size]byte
	}{c.info.Size, moment.UnixNano(), c.sum})
}

func (m *memory) restKey(key, device, inode uint64) uint64 {
	return maphash.Comparable(m.seed, [3]uint64{key, device, inode})
}

// noteState remembers that a run's state document was seen.
func (m *memory) noteState(state string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.states[m.hash(state)] = true
}

package store

import (
	"crypto/sha256"
	"encoding/hex"
	"hash/maphash"
	"strings"
	"sync"
	"time"

	"placet/engine"
	"placet/layout"
)

// What is remembered costs memory in proportion to the runs that move; these
// are its bounds.
const (
	keepBody    = 64 << 10 // a larger body is read again
	keepBodies  = 8 << 20  // all bodies together
	keepOutside = 1 << 14  // records of files outside the runs
)

// identity is what a look sees of a file without reading it. Two looks that
// agree in it, outside the racy window, saw the same content.
type identity struct {
	device, inode     uint64
	size              int64
	modified, changed int64 // nanoseconds
}

func identityOf(i Info) identity {
	return identity{i.Device, i.Inode, i.Size, i.Modified.UnixNano(), i.Changed.UnixNano()}
}

// record is what is known of one file. A record is replaced, never changed, so
// that whoever holds one may read it without a lock.
type record struct {
	id  identity
	sum [sha256.Size]byte
	// body is the content, nil where it was too large to keep.
	body []byte
	// since is the moment from which the content is known to stand still, and
	// read the moment it was last read and found the same.
	since, read time.Time
	// racy: so young when it was read that a change in the same tick of the
	// file system's clock would not show in id.
	racy bool
	// fresh: the inode appeared under a running placet and has not been whole
	// before; whole: it was, so that the content is complete as it stands.
	fresh, whole bool
	// own: placet itself put it there.
	own bool
	// absent: looked for and not found.
	absent bool
}

func (r *record) digest() engine.Digest {
	return engine.Digest("sha256:" + hex.EncodeToString(r.sum[:]))
}

// folder is what is known of one run's files, by path relative to its folder,
// or of all files outside the runs, by path.
type folder struct {
	records map[string]*record
	// loaded: every file of the folder has been looked at once, so that one
	// without a record has appeared since.
	loaded bool
	// newborn: the whole run appeared under a running placet.
	newborn bool
}

// memory is what the store knows from earlier looks. All of it can vanish: the
// files are then seen for the first time.
type memory struct {
	mu       sync.Mutex
	watching bool
	runs     map[string]*folder // by state document
	outside  *folder
	seed     maphash.Seed
	known    map[uint64]struct{} // hashes of all state documents ever seen
	bodies   int                 // bytes of all bodies kept
}

func (m *memory) init() {
	m.runs, m.known = map[string]*folder{}, map[uint64]struct{}{}
	m.outside = &folder{records: map[string]*record{}}
	m.seed = maphash.MakeSeed()
}

// Watching says that from now on a run or a file that appears was not there
// before: a JSON document under a new inode is complete when it parses.
func (s *Store) Watching() {
	s.memory.mu.Lock()
	s.memory.watching = true
	s.memory.mu.Unlock()
}

// Forget drops what is remembered of a run. Its files are then looked at as if
// for the first time. A loop calls it for runs that are final or gone.
func (s *Store) Forget(run layout.Run) {
	m := &s.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.runs[run.State]; f != nil {
		for _, r := range f.records {
			m.bodies -= len(r.body)
		}
		delete(m.runs, run.State)
	}
}

// meet notes that a state document was seen, and reports whether it is new
// under a running placet. The lock must be held.
func (m *memory) meet(state string) (newborn bool) {
	key := maphash.String(m.seed, state)
	_, known := m.known[key]
	m.known[key] = struct{}{}
	return m.watching && !known
}

// of returns what is known of a run.
func (m *memory) of(run layout.Run) *folder {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.runs[run.State]
	if f == nil {
		f = &folder{records: map[string]*record{}, newborn: m.meet(run.State)}
		m.runs[run.State] = f
	}
	return f
}

// place says where the record of a file is kept.
type place struct {
	in  *folder
	key string
}

// get returns a file's record, nil where it was never seen, and whether a file
// without one has appeared under a running placet.
func (m *memory) get(at place) (r *record, appeared bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return at.in.records[at.key], m.watching && (at.in.loaded || at.in.newborn)
}

// put replaces a file's record; nil forgets it.
func (m *memory) put(at place, r *record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old := at.in.records[at.key]; old != nil {
		m.bodies -= len(old.body)
	}
	if r == nil {
		delete(at.in.records, at.key)
		return
	}
	if len(r.body) > keepBody || m.bodies+len(r.body) > keepBodies {
		short := *r
		short.body = nil
		r = &short
	}
	m.bodies += len(r.body)
	if at.in == m.outside && at.in.records[at.key] == nil {
		m.bound()
	}
	at.in.records[at.key] = r
}

// bound forgets some file outside the runs where there are too many. It is then
// seen for the first time again, which is slower and never wrong.
func (m *memory) bound() {
	for key, r := range m.outside.records {
		if len(m.outside.records) < keepOutside {
			return
		}
		m.bodies -= len(r.body)
		delete(m.outside.records, key)
	}
}

// finish notes that a whole run was looked at: what is not in seen is gone.
func (m *memory) finish(f *folder, seen map[string]bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, r := range f.records {
		if !seen[key] {
			m.bodies -= len(r.body)
			delete(f.records, key)
		}
	}
	f.loaded = true
}

func sumOf(body []byte) [sha256.Size]byte { return sha256.Sum256(body) }

// keep puts the record of a file that placet wrote where a later look finds it:
// with its run, or with the needs where it was asked for as one.
func (m *memory) keep(run layout.Run, name string, r *record) {
	for _, at := range m.places(run, name) {
		m.put(at, r)
	}
}

func (m *memory) places(run layout.Run, name string) (all []place) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rel, inside := strings.CutPrefix(name, run.Dir+"/")
	if f := m.runs[run.State]; f != nil && inside {
		all = append(all, place{f, rel})
	}
	if m.outside.records[name] != nil {
		all = append(all, place{m.outside, name})
	}
	return all
}

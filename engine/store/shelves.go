package store

import (
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/layout"
)

// Doubt has the next look at every run ask of every file: something may have
// happened that nobody was told of.
func (s *Store) Doubt() {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	s.memory.doubts++
}

// Suspect has the next look at a run ask of a file, whatever is kept of it. The
// run is named by its state document.
func (s *Store) Suspect(state, file string) {
	m := &s.memory
	m.mu.Lock()
	f := m.runs[state]
	m.mu.Unlock()
	if f != nil {
		m.suspect(f, map[string]bool{file: true})
	}
}

// mostSuspects is how many files of a run are called into question one by one.
const mostSuspects = 1024

func (m *memory) suspect(f *folder, files map[string]bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(f.shelves) == 0 {
		return
	}
	if f.suspects == nil {
		f.suspects = map[string]bool{}
	}
	for file := range files {
		f.suspects[file] = true
	}
	if len(f.suspects) > mostSuspects {
		f.suspects, f.doubts = nil, m.doubts-1
	}
}

// Verify reports whether stat says of every file of a run that looks take over as
// it was that it still is. The next look asks of those that are not. Of the run, its
// folder and its state document are needed.
func (s *Store) Verify(run layout.Run) bool {
	m := &s.memory
	m.mu.Lock()
	f := m.runs[run.State]
	var shelves map[string]*shelf
	if f != nil {
		shelves = f.shelves
	}
	m.mu.Unlock()
	if len(shelves) == 0 {
		return true
	}
	changed := map[string]bool{}
	stat, done := s.below(run.Dir)
	defer done()
	for _, sh := range shelves {
		for i, rel := range sh.rest.rels(run.Dir) {
			info, err := stat(rel)
			if err != nil || identityOf(info) != sh.rest.ids[i] {
				changed[sh.rest.docs[i].Path] = true
			}
		}
	}
	if len(changed) > 0 {
		m.suspect(f, changed)
	}
	return len(changed) == 0
}

// shelve keeps what a visit left on the shelves. The caller holds the lock.
func (m *memory) shelve(f *folder, seen shelving) {
	m.shelves -= f.cost
	f.shelves, f.cost, f.long, f.doubts = nil, 0, seen.seen >= longRun, seen.doubts
	if f.gone || !f.long {
		return
	}
	f.shelves = seen.next
	for _, sh := range f.shelves {
		f.cost += sh.rest.cost
	}
	m.shelves += f.cost
	for m.shelves > keepShelves {
		oldest := f
		for _, other := range m.hot {
			if other.cost > 0 && (oldest.cost == 0 || other.visited < oldest.visited) {
				oldest = other
			}
		}
		oldest.resting = m.resting(oldest, nil)
		m.unshelve(oldest)
	}
}

// resting adds the hashes of path and inode of what is on the shelves of a run, and
// sorts them: its files are then not new to us. The caller holds the lock.
func (m *memory) resting(f *folder, hashes []uint64) []uint64 {
	for _, sh := range f.shelves {
		for i, rel := range sh.rest.rels(f.dir) {
			id := sh.rest.ids[i]
			hashes = append(hashes, m.restKey(m.hash(rel), id.device, id.inode))
		}
	}
	slices.Sort(hashes)
	return hashes
}

// rels are the paths of documents at rest relative to their run's folder.
func (r rest) rels(dir string) []string {
	rels := make([]string, len(r.docs))
	for i, d := range r.docs {
		rels[i] = strings.TrimPrefix(d.Path, dir+"/")
	}
	return rels
}

// unshelve lets go of the shelves of a run. The caller holds the lock.
func (m *memory) unshelve(f *folder) {
	m.shelves -= f.cost
	f.shelves, f.suspects, f.cost = nil, nil, 0
}

// still returns those documents at rest that were kept; of the others the traces
// are put back.
func (m *memory) still(f *folder, old rest, kept []bool) rest {
	var left rest
	gone := false
	for i, d := range old.docs {
		if !kept[i] {
			gone = true
			m.wake(f, d, old.ids[i])
		}
	}
	if !gone {
		return old
	}
	for i, d := range old.docs {
		if kept[i] {
			left.docs, left.ids = append(left.docs, d), append(left.ids, old.ids[i])
			left.cost += len(d.Body) + restCost
		}
	}
	return rest{}.with(left)
}

// wake puts the trace of a document that was at rest back, as of one that has
// stood still for long.
func (m *memory) wake(f *folder, d engine.Document, id identity) {
	at := m.inside(f, strings.TrimPrefix(d.Path, f.dir+"/"))
	if m.has(at) {
		return
	}
	c := content{info: Info{Size: id.size, Changed: time.Unix(0, id.changed)}}
	_, _ = hex.Decode(c.sum[:], []byte(d.Sum.Hex()))
	m.put(at, trace{
		known: true, device: id.device, inode: id.inode, mark: m.markOf(c, false), still: standLong,
	})
}

package recall

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"placet/engine"
	"placet/engine/store"
	"placet/layout"
)

// The files of the state folder: what is kept of runs that can move, and of
// those that have ended. The first is small where runs have piled up, and read
// before anything else.
const (
	liveName  = "recall-live"
	endedName = "recall"
)

// Memory is what an earlier placet kept, and what this one has seen. A nil Memory
// knows nothing and keeps nothing. Its methods may be called at the same time.
type Memory struct {
	store *store.Store
	files Files
	mark  string
	first []string // state documents of the runs that could move

	mu     sync.Mutex
	live   table
	ended  table
	opened bool // ended was read
	notes  map[key]string
	worth  int
}

// Files are where a Memory is kept.
type Files interface {
	// Read returns a file; one above limit bytes is an error.
	Read(name string, limit int64) ([]byte, error)
	// Write replaces a file: a reader finds the old content or the new one. Only
	// what is durable outlives a power cut.
	Write(name string, body []byte, durable bool) error
}

// Open reads what an earlier placet kept of runs that can move; what it kept of
// others is read when it is asked for. The mark stands for the program and for
// whoever runs it: what was kept under another one is not used.
func Open(s *store.Store, files Files, mark string) *Memory {
	m := &Memory{store: s, files: files, mark: mark, notes: map[key]string{}}
	m.live = m.open(liveName)
	m.live.all(func(_ key, packed string) {
		if u := Unpack(packed); u.Text() != "" && !u.Bad {
			m.first = append(m.first, Unpack(packed).Text())
		}
	})
	return m
}

// First are the state documents of the runs that could move when they were last
// looked at: where to look first, no more.
func (m *Memory) First() []string {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.first
}

// clockSlack is by how much the file system's present may seem to lie before the
// moment at which a file was written: on a busy machine it is measured late. All times
// in an entry are older than its look by more than that.
const clockSlack = time.Second

// open reads a file; the empty table stands for one that cannot be used.
func (m *Memory) open(name string) table {
	body, err := m.files.Read(name, maxFile)
	if err != nil {
		return table{} // it may always be missing
	}
	t := read(body, m.mark)
	if now, _ := m.store.DiskNow(); now.Before(t.written.Add(-clockSlack)) {
		return table{} // the clock went back: times may come again
	}
	return t
}

func (m *Memory) find(run layout.Run) string {
	if m == nil {
		return ""
	}
	k := keyOf(run)
	m.mu.Lock()
	live := m.live
	m.mu.Unlock()
	if packed := live.find(k); packed != "" {
		return packed
	}
	return m.openEnded().find(k)
}

func (m *Memory) openEnded() table {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.opened {
		m.ended, m.opened = m.open(endedName), true
	}
	return m.ended
}

// Peek returns what a run's state document said when it looked as it does now.
func (m *Memory) Peek(run layout.Run) (engine.Peek, bool) {
	packed := m.find(run)
	if packed == "" {
		return engine.Peek{}, false
	}
	u := Unpack(packed)
	e := u.peek()
	if u.Bad || !m.store.HoldsState(run, e.State) {
		return engine.Peek{}, false
	}
	return e.Peek, true
}

// Entry returns what is kept of a run, the zero Entry where nothing is. Nothing of
// it is known to hold. Its lists and the names in its sights share the memory of
// all that is kept.
func (m *Memory) Entry(run layout.Run) Entry {
	packed := m.find(run)
	if packed == "" {
		return Entry{}
	}
	u := Unpack(packed)
	e := u.entry()
	if u.Bad {
		return Entry{}
	}
	return e
}

// Note takes an entry in, unless its state document was too young.
func (m *Memory) Note(run layout.Run, e Entry) {
	if m == nil || e.State.Zero() {
		return
	}
	worth := 1
	if e.Rest != nil {
		worth += 8 + len(e.Rest.Sight.Names)/64
	}
	var p Packer
	if e.Peek.Final {
		p.Text("") // its path is not kept
	} else {
		p.Text(run.State)
	}
	p.entry(e)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.notes != nil {
		m.notes[keyOf(run)] = string(p.Bytes())
		m.worth += worth
	}
}

// Worth is what must have been noted to write the file again: looking at so much
// takes longer than writing.
const (
	leastWorth = 64
	worthShare = 64 // of the entries that are there
)

// Save writes the files if what was noted is worth it. runs are all runs of the
// workspace: others are not kept. nil keeps them all.
func (m *Memory) Save(runs []layout.Run) error {
	if m == nil {
		return nil
	}
	ended := m.openEnded()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.worth < leastWorth+(len(m.live.slots)+len(ended.slots))/slot/worthShare {
		return nil
	}
	packed := make(map[key]string, len(m.notes)+(len(m.live.slots)+len(ended.slots))/slot)
	for _, t := range []table{ended, m.live} {
		t.all(func(k key, entry string) { packed[k] = entry })
	}
	for k, entry := range m.notes {
		packed[k] = entry
	}
	if runs != nil {
		packed = only(packed, runs)
	}
	written, known := m.store.DiskNow()
	if !known {
		return nil // nothing can be kept here
	}
	m.worth = 0
	live := map[key]string{}
	for k, entry := range packed {
		if u := Unpack(entry); u.Text() != "" {
			live[k] = entry
			delete(packed, k)
		}
	}
	return errors.Join(m.keep(endedName, written, packed), m.keep(liveName, written, live))
}

func (m *Memory) keep(name string, written time.Time, packed map[key]string) error {
	body := file(m.mark, written, packed)
	if len(body) > maxFile {
		return fmt.Errorf("cannot keep what was seen: %d bytes are too many", len(body))
	}
	return m.files.Write(name, body, false)
}

func only(packed map[key]string, runs []layout.Run) map[key]string {
	kept := make(map[key]string, len(runs))
	for _, run := range runs {
		k := keyOf(run)
		if entry := packed[k]; entry != "" {
			kept[k] = entry
		}
	}
	return kept
}

// Close lets go of all that is remembered; from then on nothing is noted.
func (m *Memory) Close() {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.live, m.ended, m.opened, m.first = table{}, table{}, true, nil
	m.notes, m.worth = nil, 0
}

package recall

import (
	"fmt"
	"sync"

	"placet/engine"
	"placet/engine/store"
	"placet/layout"
)

// fileName is the file below the private folder.
const fileName = "recall"

// Memory is what an earlier placet kept, and what this one has seen. A nil Memory
// knows nothing and keeps nothing. Its methods may be called at the same time.
type Memory struct {
	store *store.Store
	mark  string

	mu    sync.Mutex
	have  table
	notes map[key]string
	worth int
}

// Open reads what an earlier placet kept. The mark stands for the program and
// for whoever runs it: what was kept under another one is not used.
func Open(s *store.Store, mark string) *Memory {
	m := &Memory{store: s, mark: mark, notes: map[key]string{}}
	body, err := s.Kept(fileName, maxFile)
	if err != nil {
		return m // it may always be missing
	}
	m.have = read(body, mark)
	if now, _ := s.DiskNow(); now.Before(m.have.written) {
		m.have = table{} // the clock went back: times may come again
	}
	return m
}

func (m *Memory) find(run layout.Run) string {
	if m == nil {
		return ""
	}
	m.mu.Lock()
	have := m.have
	m.mu.Unlock()
	return have.find(keyOf(run))
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

// Save writes the file if what was noted is worth it. runs are all runs of the
// workspace: others are not kept. nil keeps them all.
func (m *Memory) Save(runs []layout.Run) error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.worth < leastWorth+len(m.have.slots)/slot/worthShare {
		return nil
	}
	packed := make(map[key]string, len(m.notes)+len(m.have.slots)/slot)
	m.have.all(func(k key, entry string) { packed[k] = entry })
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
	body := file(m.mark, written, packed)
	if len(body) > maxFile {
		return fmt.Errorf("cannot keep what was seen: %d bytes are too many", len(body))
	}
	m.worth = 0
	return m.store.Keep(fileName, body)
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
	m.have, m.notes, m.worth = table{}, nil, 0
}

package store

import (
	"path"
	"slices"
	"strings"
	"time"

	"placet/layout"
)

// How many runs keep the traces of their files, and for how long the others do.
const (
	hotRuns  = 512
	restTime = 2 * standLong
)

// finish ends a visit: what neither it nor a later one has seen is gone.
func (m *memory) finish(f *folder, pass uint32, names string, glance uint64, now time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, t := range f.traces {
		if t.pass < pass {
			delete(f.traces, key)
		}
	}
	f.resting, f.loaded, f.visited = nil, true, now
	f.names, f.glance = names, glance
	if !f.hot {
		f.hot = true
		m.hot = append(m.hot, f)
	}
	for range 2 {
		m.cool(now)
	}
}

// cool lets the run whose turn it is rest, if it may.
func (m *memory) cool(now time.Duration) {
	if len(m.hot) <= hotRuns {
		return
	}
	f := m.hot[0]
	m.hot = slices.Delete(m.hot, 0, 1)
	if !m.rests(f, now) {
		m.hot = append(m.hot, f)
	}
}

// rests replaces a run's traces by hashes. Afterwards a file under the same
// inode counts as seen for the first time: it settles by its age. So a run may
// rest only when it was last visited longer ago than any file takes to settle.
func (m *memory) rests(f *folder, now time.Duration) bool {
	if now-f.visited < restTime {
		return false
	}
	resting := make([]uint64, 0, len(f.traces))
	for key, t := range f.traces {
		resting = append(resting, m.restKey(key, t.device, t.inode))
	}
	slices.Sort(resting)
	f.resting, f.traces, f.hot = resting, nil, false
	return true
}

// Unchanged reports, by stat alone, that all that the last Load of a run looked
// at still looks the same. It is false where that cannot be told. Of a run that
// was forgotten it looks at the state document as Read last saw it.
func (s *Store) Unchanged(run layout.Run) bool {
	m := &s.memory
	m.mu.Lock()
	f := m.runs[run.State]
	var names string
	var was uint64
	if f != nil && f.loaded {
		names, was = f.names, f.glance
	} else {
		names, was = "/"+run.State+"\x00", m.states[m.hash(run.State)]
	}
	m.mu.Unlock()
	return was != 0 && s.glance(run.Dir, names) == was
}

// glance stats names and makes one number of what it sees.
func (s *Store) glance(dir, names string) uint64 {
	var g glance
	for name := range strings.SplitSeq(strings.TrimSuffix(names, "\x00"), "\x00") {
		at, outside := strings.CutPrefix(name, "/")
		if !outside {
			at = path.Join(dir, name)
		}
		info, err := s.fs.Stat(at)
		g.add(&s.memory, info, err == nil)
	}
	return g.number
}

// glance folds what is seen of several names, in order.
type glance struct{ number uint64 }

func (g *glance) add(m *memory, info Info, there bool) {
	seen := uint64(1)
	if there {
		seen = m.glanceOf(info)
	}
	g.number = m.restKey(g.number, seen, 0) | 1
}

// noteState remembers how a state document looked.
func (m *memory) noteState(state string, info Info) {
	var g glance
	g.add(m, info, true)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.states[m.hash(state)] = g.number
}

package store

import (
	"slices"
	"time"
)

// How many runs keep the traces of their files, and for how long the others do.
const (
	hotRuns  = 512
	restTime = 2 * standLong
)

// finish ends a visit: what neither it nor a later one has seen is gone. It returns
// when folders of the run, or what placet wrote there, were last missed, if any are.
func (m *memory) finish(f *folder, pass uint32, seen shelving, found found, now time.Duration) (missed time.Duration, any bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, t := range f.traces {
		if t.pass < pass {
			delete(f.traces, key)
			if t.own {
				f.miss(key, now)
			}
		}
	}
	f.resting, f.loaded, f.visited = nil, true, now
	f.stands(found, now)
	m.shelve(f, seen)
	if !f.hot {
		f.hot = true
		m.hot = append(m.hot, f)
	}
	for range 2 {
		m.cool(now)
	}
	return f.missed(now)
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
	resting = m.resting(f, resting)
	m.unshelve(f)
	f.resting, f.traces, f.hot = resting, nil, false
	return true
}

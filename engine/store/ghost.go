package store

import (
	"path"
	"slices"

	"placet/engine"
	"placet/layout"
)

// The folder of a run that somebody took away is not made anew: it could not be
// brought back if another stood there. So, of a run that was looked at, it is made
// only where that look did not find it either, and then
//
//   - by a plan that begins the run: it writes the first state document;
//   - by any other plan if there never was a state document, and the folder above
//     is there: what takes the whole away takes that too.

// mayMake reports whether a job may make its run's folder, which is not there.
func (s *Store) mayMake(j *job) bool {
	h := s.memory.standingOf(j.run)
	switch {
	case !h.looked:
		return !h.known
	case h.there:
		return false
	case j.begins():
		return true
	}
	above, err := s.exists(path.Dir(j.run.Dir))
	return !h.begun && above && err == nil
}

// begins reports whether the job writes the run's first state document.
func (j *job) begins() bool {
	return slices.ContainsFunc(j.puts, func(p *put) bool { return p.doc.Kind == engine.KindState && p.doc.Over == "" })
}

// standing is what is known of a run's folder.
type standing struct {
	looked bool // the run was looked at
	known  bool // the same, though it may have been forgotten since
	there  bool // then it was there
	begun  bool // at some time it held a state document
}

func (m *memory) standingOf(run layout.Run) standing {
	m.mu.Lock()
	defer m.mu.Unlock()
	begun, known := m.states[m.hash(run.State)]
	f := m.runs[run.State]
	if f == nil {
		return standing{known: known}
	}
	return standing{f.loaded, known, f.there, begun}
}

// stands notes whether a run's folder is there.
func (m *memory) stands(f *folder, there bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f.there = there
}

package store

import (
	"path"
	"slices"
	"time"

	"placet/engine"
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

// mayMake reports whether a job may make a folder of its run, which is not there.
func (s *Store) mayMake(j *job, dir string) bool {
	h := s.memory.standingOf(j.run)
	switch {
	case !h.looked:
		return dir != j.run.Dir || !h.known
	case slices.Contains(h.dirs, s.memory.hash(NameIn(j.run.Dir, dir))):
		return false
	case dir != j.run.Dir || j.begins():
		return true
	}
	above, err := s.exists(path.Dir(j.run.Dir))
	return !h.begun && above && err == nil
}

// owns reports whether a folder is that of the job's run, or lies in it.
func (j *job) owns(dir string) bool { return j.run.State != "" && layout.Under(dir, j.run.Dir) }

// begins reports whether the job writes the run's first state document.
func (j *job) begins() bool {
	return slices.ContainsFunc(j.puts, func(p *put) bool { return p.doc.Kind == engine.KindState && p.doc.Over == "" })
}

// bereft reports whether the job's run had a state document when the plan was made,
// and has none now.
func (s *Store) bereft(j *job) bool {
	if j.run.State == "" || j.begins() {
		return false
	}
	h := s.memory.standingOf(j.run)
	return (h.state || !h.looked && h.begun) && !s.There(j.run.State)
}

// standing is what is known of a run's folder.
type standing struct {
	looked bool     // the run was looked at
	known  bool     // the same, though it may have been forgotten since
	state  bool     // then its state document was there
	dirs   []uint64 // and these folders: hashes of their names in it
	begun  bool     // at some time it held a state document
}

func (m *memory) standingOf(run layout.Run) standing {
	m.mu.Lock()
	defer m.mu.Unlock()
	begun, known := m.states[m.hash(run.State)]
	f := m.runs[run.State]
	if f == nil {
		return standing{known: known, begun: begun}
	}
	return standing{f.loaded, known, f.state, f.dirs, begun}
}

// found is what a visit found there of a run.
type found struct {
	dirs  []uint64 // folders, by the hash of their name in the run's own
	state bool     // the state document
	// gone: a name was there when its folder was listed, and not any more when it
	// was looked at. What such a visit saw was never there at one moment.
	gone bool
}

// stands notes which folders a visit found there. The caller holds the lock.
func (f *folder) stands(now found, at time.Duration) {
	for _, dir := range f.dirs {
		if !slices.Contains(now.dirs, dir) {
			f.miss(dir, at)
		}
	}
	f.dirs, f.state = slices.Clip(now.dirs), now.state
}

// miss notes that something of the run is gone that placet did not remove. The caller
// holds the lock.
func (f *folder) miss(name uint64, at time.Duration) {
	if f.missing == nil {
		f.missing = map[uint64]time.Duration{}
	}
	f.missing[name] = at
}

// missed is when the last of what is gone was first missed. What is back, or has been
// gone for long, is not missed any more. The caller holds the lock.
func (f *folder) missed(now time.Duration) (last time.Duration, any bool) {
	for name, at := range f.missing {
		if slices.Contains(f.dirs, name) || f.traces[name].known || now-at > standLong {
			delete(f.missing, name)
			continue
		}
		last, any = max(last, at), true
	}
	if !any {
		f.missing = nil
	}
	return last, any
}

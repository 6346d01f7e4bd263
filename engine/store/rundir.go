package store

import (
	"path"
	"slices"

	"placet/engine"
	"placet/layout"
)

// A folder of a run that somebody removed is not made anew, because they could not put
// it back if another folder were in its place. A folder below the run's own is made
// only if the look that the plan was made over did not find it. The same holds for the
// run's own folder, which in addition is made only
//
//   - by a plan that begins the run: it writes the first state document;
//   - by any other plan if there never was a state document, and the folder above
//     exists: whoever removes the whole removes that, too.
//
// A run whose state document that look found, and which has none now, is being removed:
// nothing is written into it.

// canMakeDir reports whether a commit may make a missing folder of its run.
func (s *committer) canMakeDir(j *commit, dir string) bool {
	begun, known := s.seen.Begun(j.run.State)
	looked, found := s.seen.LastLook(j.run, dir)
	switch {
	case !looked:
		return dir != j.run.Dir || !known
	case found:
		return false
	case dir != j.run.Dir || j.begins():
		return true
	}
	above, err := s.disk.IsFolder(path.Dir(j.run.Dir))
	return !begun && above && err == nil
}

// owns reports whether a folder is that of the commit's run or is in it.
func (j *commit) owns(dir string) bool { return j.run.State != "" && layout.Under(dir, j.run.Dir) }

// begins reports whether the commit writes the run's first state document.
func (j *commit) begins() bool {
	return slices.ContainsFunc(j.writes, func(p *fileWrite) bool { return p.doc.Kind == engine.KindState && p.doc.Over == "" })
}

// isBeingRemoved reports whether the commit's run had a state document when the plan was made,
// and has none now.
func (s *committer) isBeingRemoved(j *commit) bool {
	if j.run.State == "" || j.begins() {
		return false
	}
	begun, _ := s.seen.Begun(j.run.State)
	looked, found := s.seen.LastLook(j.run, j.run.State)
	return (found || !looked && begun) && !s.disk.Exists(j.run.State)
}

package store

import (
	"errors"
	"os"
	"path"

	"placet/layout"
)

// What a placet that was killed has put in place can be seen, and may not be
// durable: it died before the last round, or with lines that were to be synced with
// the next commit. Whoever goes on from there would publish a revision whose
// receipt, or whose line, a power cut takes away. So before its first plan a new
// holder of the workspace makes durable what it finds.

// inherit makes durable what an earlier placet has left: all of the file system at
// once, or, where that cannot be had or others have much to write, of each run that
// is committed for the first time its folders and the journals that the plan writes
// to.
func (s *committer) inherit(batch []*job) {
	if !s.held.Load() || s.inherited.all {
		return
	}
	for _, j := range batch {
		if j.run.State == "" || s.inherited.runs[j.run.State] {
			continue
		}
		if !s.inherited.tried {
			if s.syncInherited(); s.inherited.all {
				return
			}
		}
		if j.err = s.inheritFolders(j, j.run.Dir, 0); j.err != nil {
			continue
		}
		s.inherited.runs[j.run.State] = true
		s.doubtInherited(j)
		for _, l := range j.lines {
			if _, err := s.fs.Stat(l.Path); !errors.Is(err, os.ErrNotExist) {
				s.oweJournal(j.run.State, l.Path, true)
			}
		}
	}
}

// syncInherited makes all of the file system durable at once, if that can be had.
func (s *committer) syncInherited() {
	s.inherited.tried, s.inherited.runs = true, map[string]bool{}
	if !s.together(manyInherited) {
		return
	}
	err := s.fs.SyncAll(".")
	s.inherited.all = err == nil
	if err != nil && !errors.Is(err, errors.ErrUnsupported) && !passing(err) {
		s.inherited.lost = lostSync{err}
	}
}

// doubtInherited has a job's folders changed before they are synced, and its files
// written anew, where a sync of everything has failed: it may have lost them, and
// another sync would say nothing about it.
func (s *committer) doubtInherited(j *job) {
	if s.inherited.lost == nil {
		return
	}
	for dir := range j.dirs {
		s.oweFolder(dir, s.inherited.lost)
	}
	for _, name := range j.targets() {
		s.suspects.Store(name, true)
	}
}

// inheritFolders has a job sync a folder of its run and all below. Where one cannot
// be looked at, the job must wait.
func (s *committer) inheritFolders(j *job, dir string, depth int) error {
	infos, err := s.list(dir)
	if err != nil || depth > maxDepth {
		return err
	}
	j.dirs[dir] = true
	for _, info := range infos {
		if name := path.Join(dir, info.Name); info.Mode.IsDir() && !layout.Noise(info.Name) {
			if err := s.inheritFolders(j, name, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// manyInherited is for how many files the first plan after a start may wait.
const manyInherited = 4096

// inherited is what was done so far; only whoever leads the rounds looks at it.
type inherited struct {
	tried, all bool
	lost       error // how a sync of everything has failed
	runs       map[string]bool
}

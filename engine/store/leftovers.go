package store

import (
	"errors"
	"os"
	"path"

	"placet/engine/store/read"
	"placet/layout"
)

// A killed placet may leave files that are visible but not durable: it died before the
// second round of fsync, or with lines that the next commit was to sync. A successor that
// built on them could publish a revision whose receipt or line a power cut takes away.
// So before its first plan a new holder of the workspace makes durable what it finds.

// syncLeftovers makes durable what an earlier placet has left. It syncs the whole file
// system at once. If that is impossible, or others have much to write, it instead syncs,
// for each run at its first commit, the folders of the run and the journals that the plan
// writes to.
func (s *committer) syncLeftovers(batch []*commit) {
	if !s.disk.IsHeld() || s.leftovers.all {
		return
	}
	for _, j := range batch {
		if j.run.State == "" || s.leftovers.runs[j.run.State] {
			continue
		}
		if !s.leftovers.tried {
			if s.syncAllLeftovers(); s.leftovers.all {
				return
			}
		}
		if j.err = s.addLeftoverDirs(j, j.run.Dir, 0); j.err != nil {
			continue
		}
		s.leftovers.runs[j.run.State] = true
		s.writeLeftoversAnew(j)
		for _, l := range j.lines {
			if _, err := s.disk.FS.Stat(l.Path); !errors.Is(err, os.ErrNotExist) {
				s.syncer.addPendingJournal(j.run.State, l.Path)
				j.dirs[path.Dir(l.Path)] = true
			}
		}
	}
}

// syncAllLeftovers makes the whole file system durable at once, if possible.
func (s *committer) syncAllLeftovers() {
	s.leftovers.tried, s.leftovers.runs = true, map[string]bool{}
	if !s.syncer.useSyncfs(mostLeftovers) {
		return
	}
	had, err := s.syncer.syncAll(".")
	s.leftovers.all = had && err == nil
	if err != nil {
		s.leftovers.lost = lostSync{err}
	}
}

// writeLeftoversAnew has a commit's folders changed before they are synced, and its files
// written anew, if a sync of everything has failed: that sync may have lost them, and
// another sync would not report it.
func (s *committer) writeLeftoversAnew(j *commit) {
	if s.leftovers.lost == nil {
		return
	}
	for dir := range j.dirs {
		s.syncer.addPendingDir(dir, s.leftovers.lost)
	}
	for _, name := range j.targets() {
		s.syncer.failedSyncs.Store(name, true)
	}
}

// addLeftoverDirs makes a commit sync a folder of its run and all folders below. If one
// cannot be listed, the commit must wait.
func (s *committer) addLeftoverDirs(j *commit, dir string, depth int) error {
	infos, err := s.disk.List(dir)
	if err != nil || depth > read.MaxDepth {
		return err
	}
	j.dirs[dir] = true
	for _, info := range infos {
		if name := path.Join(dir, info.Name); info.Mode.IsDir() && !layout.Noise(info.Name) {
			if err := s.addLeftoverDirs(j, name, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// mostLeftovers is the number of files for which the first plan after a start may wait.
const mostLeftovers = 4096

// leftovers says what has been made durable so far. Only the leader of the rounds uses
// it.
type leftovers struct {
	tried, all bool
	lost       error // how a sync of everything failed
	runs       map[string]bool
}

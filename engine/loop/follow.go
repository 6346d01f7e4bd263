package loop

import (
	"path"
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/layout"
)

// follows returns the folders in which a change may move a run: its own, those of its open
// requests, those that its machine names and the empty folders in them, and those that
// contain its needs. It leaves out folders that only collect final documents (answered
// requests), so that a waiting run costs two watches.
//
// It includes folders with a problem note, and for a while the folder of an open request
// that has vanished, which may come back unchanged.
func follows(lk look, run layout.Run, before []string) []string {
	dirs := append([]string{run.Dir}, openRequests(lk.loaded.Docs)...)
	dirs = append(dirs, vanished(lk.snap, run, before)...)
	dirs = append(dirs, noted(lk.snap, run)...)
	dirs = append(dirs, empty(lk, run)...)
	for _, d := range slices.Concat(lk.plan.Follow, lk.loaded.Dirs) {
		if !slices.Contains(dirs, d) {
			dirs = append(dirs, d)
		}
	}
	return dirs
}

// empty returns the new folders within those that the machine names. Files created in them
// before they were followed may have been missed.
func empty(lk look, run layout.Run) (dirs []string) {
	for _, d := range lk.loaded.Empty {
		if len(dirs) < maxNoted && isBelow(d, lk.plan.Follow, run.Dir) {
			dirs = append(dirs, d)
		}
	}
	return dirs
}

// isBelow reports whether a folder of the run is below one of the folders, the run's own
// folder aside.
func isBelow(dir string, folders []string, own string) bool {
	for d := path.Dir(dir); len(d) > len(own); d = path.Dir(d) {
		if slices.Contains(folders, d) {
			return true
		}
	}
	return false
}

// maxNoted is how many folders are followed because of their notes.
const maxNoted = 8

// noted returns the folders of the run with problem notes. Each is followed until its note
// disappears.
func noted(snap engine.Snapshot, run layout.Run) []string {
	var dirs []string
	for _, p := range standingNotes(snap.Docs) {
		if dir := path.Dir(p); strings.HasPrefix(dir, run.Dir+"/") && len(dirs) < maxNoted && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// maxVanished is how many missing folders are followed.
const maxVanished = 8

// vanished returns the run's folders that were followed before and that no longer contain
// any document.
func vanished(snap engine.Snapshot, run layout.Run, before []string) []string {
	var dirs []string
	for _, d := range before {
		rel, ok := strings.CutPrefix(d, run.Dir+"/")
		if ok && len(dirs) < maxVanished && !slices.ContainsFunc(snap.Under(rel), func(doc engine.Document) bool { return !doc.Absent() }) {
			dirs = append(dirs, d)
		}
	}
	return dirs
}

// openRequests returns the folders with a request and no receipt.
func openRequests(docs []engine.Document) []string {
	answered := map[string]bool{}
	for _, d := range docs {
		if d.Kind == layout.KindReceipt && !d.Absent() {
			answered[path.Dir(d.Path)] = true
		}
	}
	var dirs []string
	for _, d := range docs {
		if dir := path.Dir(d.Path); d.Kind == layout.KindRequest && !d.Absent() && !answered[dir] && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// longAgo is the largest expected difference between a file system's clock and ours.
const longAgo = 10 * time.Second

// follow makes changes in the folders wake a run, and returns the folders that were not
// followed before. The watcher reports blind folders, and the scan checks them.
func (s *session) follow(lv *activeRun, dirs []string) (more []string) {
	if slices.Equal(lv.dirs, dirs) {
		return nil
	}
	_ = s.w.Follow(lv.state, dirs)
	for _, d := range dirs {
		if !slices.Contains(lv.dirs, d) {
			more = append(more, d)
		}
	}
	s.registry.do(func() { lv.dirs = dirs })
	return more
}

// tooEarly follows the folders that a look has found, and reports whether the look came too
// early: a folder may have changed between the look and the watch. A folder whose last
// change is long ago has not.
func (s *session) tooEarly(lv *activeRun, lk look, run layout.Run, isPartial bool) bool {
	if s.w == nil {
		return false
	}
	more := s.follow(lv, follows(lk, run, lv.dirs))
	if len(more) == 0 {
		return false
	}
	if s.registry.hear(lv.state, more) && isPartial {
		return true // anything may have happened in a folder that was not followed
	}
	paths := more
	for _, d := range lk.loaded.Docs {
		if slices.Contains(more, path.Dir(d.Path)) && !d.Absent() {
			paths = append(paths, d.Path)
		}
	}
	return !s.w.Untouched(lk.began.Add(-longAgo), paths...)
}

// rank makes the watcher prefer other runs to one that has not begun, according to its state
// document, so that empty folders do not use up the watches.
func (s *session) rank(lv *activeRun) {
	var begun bool
	s.registry.do(func() { begun = lv.status != engine.Summary{} })
	s.w.Secondary(lv.state, !begun)
}

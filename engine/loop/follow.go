package loop

import (
	"path"
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/layout"
)

// follows are the folders in which something may happen that moves a run: its
// own, those of its open requests, those that its machine names with what is empty in
// them, and those that its needs lie in. A folder that only collects what is final (answered
// requests) is not among them, so that a waiting run costs two watches.
//
// A folder with a problem note is followed, too, and that of an open request that
// has vanished for a while longer: it may come back as it was.
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

// empty are the new folders in those that the machine names: what is put into them was
// not there to be seen when they were made.
func empty(lk look, run layout.Run) (dirs []string) {
	for _, d := range lk.loaded.Empty {
		if parent := path.Dir(d); parent != run.Dir && slices.Contains(lk.plan.Follow, parent) && len(dirs) < maxNoted {
			dirs = append(dirs, d)
		}
	}
	return dirs
}

// maxNoted is how many folders are followed for the sake of their notes.
const maxNoted = 8

// noted are the folders of the run in which problem notes stand: each goes as soon
// as its cause does.
func noted(snap engine.Snapshot, run layout.Run) []string {
	var dirs []string
	for _, p := range standingNotes(snap.Docs) {
		if dir := path.Dir(p); strings.HasPrefix(dir, run.Dir+"/") && len(dirs) < maxNoted && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// maxVanished is how many folders are followed that are not there.
const maxVanished = 8

// vanished are those of the run's folders, followed before, in which there is
// no document any more.
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

// openRequests are the folders that hold a request and no receipt.
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

// longAgo is by how much a file system's clock may differ from ours.
const longAgo = 10 * time.Second

// follow has a run woken by what happens in the folders, and returns those that
// were not followed before. That a folder is blind is the watcher's to say, and
// the scan's to answer.
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

// tooEarly follows what a look has found, and reports whether the look came too
// early: something may have happened in a folder between the look and the
// watch. In a folder that nobody has touched for long, nothing has.
func (s *session) tooEarly(lv *activeRun, lk look, run layout.Run, isPartial bool) bool {
	if s.w == nil {
		return false
	}
	more := s.follow(lv, follows(lk, run, lv.dirs))
	if len(more) == 0 {
		return false
	}
	if s.registry.hear(lv.state, more) && isPartial {
		return true // in a folder that nobody followed anything may have happened
	}
	paths := more
	for _, d := range lk.loaded.Docs {
		if slices.Contains(more, path.Dir(d.Path)) && !d.Absent() {
			paths = append(paths, d.Path)
		}
	}
	return !s.w.Untouched(lk.began.Add(-longAgo), paths...)
}

// rank has the watcher put others before a run that has not begun, as far as its
// state document tells: folders that hold nothing must not take the watches away.
func (s *session) rank(lv *activeRun) {
	var begun bool
	s.registry.do(func() { begun = lv.status != engine.Summary{} })
	s.w.Secondary(lv.state, !begun)
}

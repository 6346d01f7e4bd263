package loop

import (
	"path"
	"slices"
	"strings"

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

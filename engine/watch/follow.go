package watch

import (
	"fmt"
	"path"
	"slices"
	"time"

	"placet/layout"
	"placet/templates"
)

// Follow makes changes in the folders wake an owner, in place of the folders that it
// followed before. The watcher owns the list from then on, and replaces the names by its
// own copies; the caller may read it. The watches exist when Follow returns: the caller
// must read the folders after that. Follow waits for a folder that does not exist. An error
// only says that some folders are blind; [Watcher.Blind] names them.
func (w *Watcher) Follow(owner string, dirs []string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watches.ranks.of[owner] == classSpare {
		w.watches.ranks.set(owner, classRun)
	}
	return w.follow(owner, dirs)
}

// follow is Follow for a caller that holds the lock.
func (w *Watcher) follow(owner string, dirs []string) error {
	if w.closed {
		return ErrClosed
	}
	now := clean(dirs)
	// The folders below a run's own folder come after it in the list. If their nodes are
	// made first, the names share memory.
	for i, dir := range slices.Backward(now) {
		now[i] = w.watches.at(dir).path()
	}
	w.watches.blindDirs = nil
	var blind []string
	for _, dir := range now {
		n := w.watches.at(dir) // made again if it was removed for one of the others
		if n.owners.add(owner); n.sight == watched {
			w.watches.reclass(n)
		}
		w.watches.reach(n)
		if n.sight == refused {
			blind = append(blind, dir)
		}
	}
	before := w.follows[owner]
	w.follows[owner] = now
	for _, dir := range before {
		if !slices.Contains(now, dir) {
			w.release(dir, owner)
		}
	}
	if blind != nil {
		return templates.Errorf("watch.events", "file", fmt.Sprintf("%q", blind))
	}
	return nil
}

// Forget removes everything that an owner follows, and what happened there before.
func (w *Watcher) Forget(owner string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.forget(owner)
}

// forget is Forget for a caller that holds the lock.
func (w *Watcher) forget(owner string) {
	w.watches.ranks.set(owner, classRun)
	w.watches.blindDirs = nil
	for _, dir := range w.follows[owner] {
		w.release(dir, owner)
	}
	delete(w.follows, owner)
	delete(w.pending.dirty, owner)
}

// release removes an owner from a folder. The caller holds the lock.
func (w *Watcher) release(dir, owner string) {
	if n := w.watches.nodes[dir]; n != nil {
		n.owners.remove(owner)
		w.watches.settle(n)
	}
}

// Guard makes a folder a structure folder, in addition to the present ones. The watch
// exists when Guard returns: the caller must list the folder after that.
func (w *Watcher) Guard(dir string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range clean([]string{dir}) {
		w.guard(d)
	}
}

func (w *Watcher) guard(dir string) {
	if w.closed {
		return
	}
	n := w.watches.at(dir)
	if !n.structure {
		n.structure, w.watches.blindDirs = true, nil
	}
	w.structure[n.path()] = n
	w.watches.reach(n)
}

// Structure sets the structure folders, in place of the previous ones. It also restores
// watches that the source has lost silently, and tests every root that was not tested yet
// (a structure folder below no other one, or the existing part of the path to it).
func (w *Watcher) Structure(dirs []string) {
	w.mu.Lock()
	keep := map[string]bool{}
	for _, d := range clean(dirs) {
		keep[d] = true
		w.guard(d)
	}
	for p, n := range w.structure {
		if !keep[p] {
			n.structure, w.watches.blindDirs = false, nil
			delete(w.structure, p)
			w.forgetCookie(p)
			w.watches.settle(n)
		}
	}
	w.repair()
	tests := w.untested()
	w.mu.Unlock()
	for _, c := range tests {
		w.bake(c)
	}
}

// repair restores watches that the source no longer has, as after an unmount. It checks all
// of them, so it must not run often. The caller holds the lock.
func (w *Watcher) repair() {
	if w.closed || w.watches.source == nil || time.Since(w.repairAt) < repairAfter {
		return
	}
	w.repairAt = time.Now()
	have := map[string]bool{}
	for _, abs := range w.watches.source.List() {
		have[abs] = true
	}
	var lost []*node
	for _, n := range w.watches.nodes {
		if n.sight == watched && !have[n.abs] {
			lost = append(lost, n)
		}
	}
	for _, n := range lost {
		w.watches.see(n, unwatched)
		w.watches.watch(n)
		w.pending.markNode(n)
	}
}

// clean returns the paths that are in the workspace, in one spelling and once each.
func clean(dirs []string) []string {
	if isClean(dirs) {
		return slices.Clip(dirs)
	}
	out := make([]string, 0, len(dirs))
	for _, d := range dirs {
		if d = path.Clean(d); (d == "." || layout.Safe(d)) && !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	return out
}

// isClean reports whether clean would change nothing.
func isClean(dirs []string) bool {
	for i, d := range dirs {
		if path.Clean(d) != d || d != "." && !layout.Safe(d) || slices.Contains(dirs[:i], d) {
			return false
		}
	}
	return true
}

// Untouched reports whether every path has existed unchanged since before a time, according
// to the file system. A change in the same tick of its clock does not show, and its clock
// may differ from ours, so since must be well in the past.
func (w *Watcher) Untouched(since time.Time, paths ...string) bool {
	for _, p := range paths {
		at, ok := changedAt(w.watches.paths.abs(p))
		if !ok || !at.Before(since) {
			return false
		}
	}
	return true
}

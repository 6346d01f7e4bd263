package watch

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"placet/layout"
)

// hear takes one event of a round of the source.
func (w *Watcher) hear(round int, e Event) {
	rel, ok := w.rel(e.Path)
	if !ok {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || round != w.round {
		return
	}
	if n := w.nodes[rel]; n != nil {
		w.hearNode(n, e.Entry)
	}
	if rel != "." {
		w.hearName(rel, e.Entry)
	}
}

// rel is an absolute path as the caller knows it.
func (w *Watcher) rel(abs string) (string, bool) {
	if abs == w.root {
		return ".", true
	}
	rel, ok := strings.CutPrefix(abs, w.prefix)
	return path.Clean(filepath.ToSlash(rel)), ok
}

// hearNode takes what happened to a folder that is followed or leads to one. A
// folder that appeared, vanished or changed its name may be another one now, so
// nothing below it is trusted.
func (w *Watcher) hearNode(n *node, entry bool) {
	if entry {
		w.replant(n)
		return
	}
	if n.sight != watched && !n.spare() {
		w.plant(n)
	}
	w.mark(n)
}

// hearName takes what happened to a name in a folder.
func (w *Watcher) hearName(rel string, entry bool) {
	name := path.Base(rel)
	if layout.IsTemp(name) {
		w.heardCookie(path.Dir(rel), name)
		return
	}
	dir := w.nodes[path.Dir(rel)]
	if dir == nil || !dir.wanted() {
		return
	}
	led := w.nodes[rel] != nil
	if entry && !led && !dir.structure && w.allDirty(dir) {
		return // they are woken already
	}
	if !led && quiet(name) && !(entry && w.isDir(rel)) {
		return
	}
	if !dir.owners.empty() {
		for owner := range dir.owners.each {
			w.dirty[owner] = struct{}{}
			if !entry {
				w.edited(Edit{owner, rel})
			}
		}
		w.signal()
	}
	if dir.structure && entry {
		w.changed(rel)
	}
}

// allDirty reports whether all owners of a folder are dirty. The caller holds the lock.
func (w *Watcher) allDirty(n *node) bool {
	for owner := range n.owners.each {
		if _, is := w.dirty[owner]; !is {
			return false
		}
	}
	return true
}

// edited notes a file that changed in its place. The caller holds the lock.
func (w *Watcher) edited(e Edit) {
	if len(w.edits) >= maxEdits {
		clear(w.edits)
		w.missed = true
	}
	w.edits[e] = struct{}{}
}

// quiet reports whether a name wakes nobody: a temporary, backup or lock file.
func quiet(name string) bool { return layout.Noise(name) && !layout.ConflictCopy(name) }

func (w *Watcher) isDir(rel string) bool {
	info, err := os.Lstat(w.abs(rel))
	return err == nil && info.IsDir()
}

package watch

import (
	"path"

	"placet/layout"
)

// hear takes one event of a round of the source.
func (w *Watcher) hear(round int, e Event) {
	rel, ok := w.watches.paths.rel(e.Path)
	if !ok {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || round != w.round {
		return
	}
	if n := w.watches.nodes[rel]; n != nil {
		w.hearNode(n, e.Entry)
	}
	if rel != "." {
		w.hearName(rel, e.Entry)
	}
}

// hearNode takes what happened to a folder that is followed or leads to one. A
// folder that appeared, vanished or changed its name may be another one now, so
// nothing below it is trusted.
func (w *Watcher) hearNode(n *node, entry bool) {
	if entry {
		w.rewatch(n)
		return
	}
	if n.sight != watched && !n.spare() {
		w.watches.watch(n)
	}
	w.pending.markNode(n)
}

// hearName takes what happened to a name in a folder.
func (w *Watcher) hearName(rel string, entry bool) {
	name := path.Base(rel)
	if layout.IsTemp(name) {
		w.heardCookie(path.Dir(rel), name)
		return
	}
	dir := w.watches.nodes[path.Dir(rel)]
	if dir == nil || !dir.wanted() {
		return
	}
	led := w.watches.nodes[rel] != nil
	noise := !led && quiet(name)
	switch {
	case noise && !entry:
		return
	case !led && !noise && w.volatile != nil && w.volatile(rel):
		w.pending.markVolatile(rel)
		return
	}
	if entry && !led && !dir.structure && w.pending.hasOwners(&dir.owners, path.Dir(rel)) {
		return // they are woken already
	}
	if noise && !w.watches.paths.isDir(rel) {
		return
	}
	w.pending.markOwners(&dir.owners, path.Dir(rel))
	if !entry {
		for owner := range dir.owners.each {
			w.pending.markEdit(Edit{owner, rel})
		}
	}
	if dir.structure && entry {
		w.pending.markDir(rel)
	}
}

// quiet reports whether a name wakes nobody: a temporary, backup or lock file.
func quiet(name string) bool { return layout.Noise(name) && !layout.ConflictCopy(name) }

package watch

import (
	"maps"
	"path"
	"slices"

	"placet/layout"
)

const (
	// maxEdits is how many edits a batch has at most; with more of them it sets Lost.
	maxEdits = 4096
	// maxVolatile is how many volatile files a batch has at most; with more of them it sets
	// Lost.
	maxVolatile = 4096
	// maxDirs is how many changed folders a batch names at most; with more of them it names
	// the workspace instead.
	maxDirs = 4096
	// maxHeard is how many folders a batch names for an owner at most; with more of them it
	// names none.
	maxHeard = 256
)

// pending is what happened since the last batch.
type pending struct {
	dirty map[string]*heard
	edits map[Edit]struct{}
	dirs  map[string]struct{}
	// volatile are the volatile files that changed.
	volatile map[string]struct{}

	rescan bool
	missed bool          // events were lost
	wake   chan struct{} // holds a token while there is something for Next
}

// heard says which folders of an owner have changed: nil means any.
type heard struct{ dirs map[string]struct{} }

func newPending() pending {
	p := pending{wake: make(chan struct{}, 1)}
	p.reset()
	return p
}

// reset clears what was pending, except wake, which is read without the lock.
func (p *pending) reset() {
	p.dirty, p.edits, p.dirs = map[string]*heard{}, map[Edit]struct{}{}, map[string]struct{}{}
	p.volatile = nil
	p.rescan, p.missed = false, false
}

func (p *pending) signal() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// take returns what is pending; ok is false if nothing is.
func (p *pending) take() (Batch, bool) {
	if len(p.dirty) == 0 && len(p.volatile) == 0 && !p.rescan {
		return Batch{}, false
	}
	b := Batch{
		Owners: slices.Sorted(maps.Keys(p.dirty)), Edits: slices.SortedFunc(maps.Keys(p.edits), Edit.compare), Lost: p.missed,
		Rescan: p.rescan, Dirs: slices.Sorted(maps.Keys(p.dirs)), Volatile: slices.Sorted(maps.Keys(p.volatile)),
	}
	b.Heard = make(map[string][]string, len(p.dirty))
	for owner, h := range p.dirty {
		if h.dirs != nil {
			b.Heard[owner] = slices.Sorted(maps.Keys(h.dirs))
		}
	}
	p.reset()
	return b, true
}

// markOwners makes owners dirty because of a folder.
func (p *pending) markOwners(o *owners, dir string) {
	for owner := range o.each {
		h := p.dirty[owner]
		if h == nil {
			h = &heard{map[string]struct{}{}}
			p.dirty[owner] = h
		}
		if h.dirs != nil {
			h.dirs[dir] = struct{}{}
		}
		if len(h.dirs) > maxHeard {
			h.dirs = nil
		}
		p.signal()
	}
}

// hasOwners reports whether all of the owners are already dirty because of a folder.
func (p *pending) hasOwners(o *owners, dir string) bool {
	for owner := range o.each {
		h := p.dirty[owner]
		if h == nil {
			return false
		}
		if _, is := h.dirs[dir]; !is && h.dirs != nil {
			return false
		}
	}
	return true
}

// markNode makes a folder's owners dirty, and requests a rescan if it is a structure
// folder.
func (p *pending) markNode(n *node) {
	p.markOwners(&n.owners, n.path())
	if n.structure {
		p.markDir(n.path())
	}
}

// markDir requests a rescan that must look twice at a path.
func (p *pending) markDir(dir string) {
	p.rescan = true
	if _, any := p.dirs["."]; any || len(p.dirs) >= maxDirs {
		p.dirs = map[string]struct{}{".": {}}
	} else {
		p.dirs[dir] = struct{}{}
	}
	p.signal()
}

// markEdit records a file that changed in place.
func (p *pending) markEdit(e Edit) {
	if len(p.edits) >= maxEdits {
		clear(p.edits)
		p.missed = true
	}
	p.edits[e] = struct{}{}
}

// markVolatile records that a volatile file changed, appeared or vanished. It makes no
// owner dirty.
func (p *pending) markVolatile(name string) {
	if p.volatile == nil || len(p.volatile) >= maxVolatile {
		p.missed = p.missed || p.volatile != nil
		p.volatile = map[string]struct{}{}
	}
	p.volatile[name] = struct{}{}
	p.signal()
}

// markAll makes every owner dirty and requests a rescan.
func (p *pending) markAll(follows map[string][]string) {
	for owner := range follows {
		p.dirty[owner] = &heard{}
	}
	p.dirs = map[string]struct{}{".": {}}
	p.rescan, p.missed = true, true
	p.signal()
}

// hear handles one event from the source of a round.
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

// hearNode handles a change of a folder that is followed or leads to such a folder. A
// folder that appeared, vanished or changed its name may be another one now, so the watches
// below it are renewed.
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

// hearName handles a change of a name in a folder.
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
		return // they have been woken already
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

package watch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// abs is where a path lies on the disk.
func (w *Watcher) abs(p string) string {
	if p == "." {
		return w.root
	}
	return w.prefix + filepath.FromSlash(p)
}

// at returns the node of a folder, which it makes if need be. The caller holds the
// lock.
func (w *Watcher) at(p string) *node {
	if n := w.nodes[p]; n != nil {
		return n
	}
	return w.nodes.at(w.abs(p), int32(len(w.prefix)))
}

// reach has a folder watched, and the way to it. The caller holds the lock.
func (w *Watcher) reach(n *node) {
	if n.parent != nil {
		w.reach(n.parent)
	}
	if !n.spare() {
		w.plant(n)
	}
}

// plant has one folder watched. Where it does not exist, the nearest folder
// above it is watched, and it is looked for once more after that: it may have
// been made meanwhile. The caller holds the lock.
func (w *Watcher) plant(n *node) {
	if n.sight == watched {
		return
	}
	if n.parent != nil && n.parent.sight == missing {
		w.see(n, missing)
		return
	}
	w.see(n, w.add(n))
	if n.sight == missing && w.await(n) {
		w.see(n, w.add(n))
	}
	if p := n.parent; n.sight == watched && p != nil && p.needed {
		w.relieve(p)
	}
}

// add asks the source for a watch.
func (w *Watcher) add(n *node) sight {
	if w.source == nil {
		return refused
	}
	info, err := os.Lstat(n.abs)
	if err == nil && !info.IsDir() || n.parent == nil && !w.home.here() {
		return missing
	}
	c := w.classOf(n)
	if err == nil {
		err = w.addAs(c, n.abs)
	}
	if c == classSpare && err != nil && exhausted(err) {
		return unwatched
	}
	w.full = err != nil && exhausted(err)
	w.short = w.short || w.full
	switch {
	case err == nil:
		return watched
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return missing
	}
	w.say("cannot watch a folder; looking every 2 s instead", err, "folder", n.path())
	w.retryLater(retryAfter)
	return refused
}

// addAs asks the source for a watch of a class. Where there is none left, those who
// can do without give way.
func (w *Watcher) addAs(c class, abs string) error {
	for {
		err := error(errBudget{w.budget.most})
		if w.budget.affords(c) {
			err = w.source.Add(abs)
		}
		spare := !isBudget(err) && exhausted(err) || isBudget(err) && w.budget.full()
		if !spare || c == classSpare || !w.giveWay() {
			return err
		}
	}
}

// await has the folder above a missing one watched, and reports whether it is.
// A missing folder whose birth nobody would see is blind.
func (w *Watcher) await(n *node) bool {
	p := n.parent
	if p == nil {
		w.retryLater(rootAfter)
		return false
	}
	p.needed = true
	w.plant(p)
	if p.sight == refused {
		w.see(n, refused)
	}
	return p.sight == watched
}

// relieve ends the watch of a folder that was needed for missing ones, if none
// below it is missing any more and nothing else needs it.
func (w *Watcher) relieve(n *node) {
	if n.wanted() {
		n.needed = false
		return
	}
	for c := n.first; c != nil; c = c.next {
		if c.sight != watched {
			return
		}
	}
	n.needed = false
	if n.spare() {
		w.drop(n)
	}
}

// see notes how a folder is seen.
func (w *Watcher) see(n *node, s sight) {
	if n.sight == refused {
		w.blind--
	}
	if s == refused {
		w.blind++
	}
	if n.sight == watched {
		w.budget.spent[n.class]--
	}
	if s == watched {
		n.class = w.classOf(n)
		w.budget.spent[n.class]++
	}
	if n.sight == refused != (s == refused) {
		w.blindDirs = nil
	}
	w.short = w.short && w.blind > 0
	n.sight = s
}

// drop ends the watch of a folder.
func (w *Watcher) drop(n *node) {
	if n.sight == watched && w.source != nil {
		// The source may have dropped it itself, with the folder.
		_ = w.source.Remove(n.abs)
	}
	w.see(n, unwatched)
}

// replant drops the watches at and below a folder and adds them again by path.
// The caller holds the lock.
func (w *Watcher) replant(top *node) {
	if top == nil {
		return
	}
	top.each(func(n *node) {
		w.drop(n)
		n.needed = false
		w.forgetCookie(n.path())
	})
	top.each(func(n *node) {
		w.mark(n)
		if !n.spare() {
			w.plant(n)
		}
	})
}

// mark makes a folder's owners dirty; a structure folder asks for a rescan.
// The caller holds the lock.
func (w *Watcher) mark(n *node) {
	for owner := range n.owners.each {
		w.dirty[owner] = struct{}{}
	}
	if n.structure {
		w.changed(n.path())
	} else if !n.owners.empty() {
		w.signal()
	}
}

// changed asks for a rescan that looks twice at a path.
func (w *Watcher) changed(p string) {
	w.rescan = true
	if _, any := w.dirs["."]; any || len(w.dirs) >= maxDirs {
		w.dirs = map[string]struct{}{".": {}}
	} else {
		w.dirs[p] = struct{}{}
	}
	w.signal()
}

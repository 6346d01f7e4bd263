package watch

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// paths converts paths of the workspace to absolute paths and back.
type paths struct {
	root   string // absolute
	prefix string // the root and a separator
}

// abs returns the absolute path of a path of the workspace.
func (p paths) abs(rel string) string {
	if rel == "." {
		return p.root
	}
	return p.prefix + filepath.FromSlash(rel)
}

// rel returns the path in the workspace of an absolute path; ok is false outside the
// workspace.
func (p paths) rel(abs string) (string, bool) {
	if abs == p.root {
		return ".", true
	}
	rel, ok := strings.CutPrefix(abs, p.prefix)
	return path.Clean(filepath.ToSlash(rel)), ok
}

// isDir reports whether a path is a folder.
func (p paths) isDir(rel string) bool {
	info, err := os.Lstat(p.abs(rel))
	return err == nil && info.IsDir()
}

// watches are the folders that must be watched, and the state of their watches. The
// watcher's lock guards them.
type watches struct {
	w      *Watcher
	paths  paths
	source Source // nil while there is none
	nodes  tree
	budget budget
	ranks  ranks
	full   bool // the last watch was refused for a reason that applies to all
	blind  int  // nodes that are refused
	short  bool // some of them because no watch is available
	// blindDirs are the refused folders, nil if the list must be made again.
	blindDirs []string
}

// at returns the node of a folder, which it makes if necessary.
func (t *watches) at(p string) *node {
	if n := t.nodes[p]; n != nil {
		return n
	}
	return t.nodes.at(t.paths.abs(p), int32(len(t.paths.prefix)))
}

// reach watches a folder, and the folders on the way to it.
func (t *watches) reach(n *node) {
	if n.parent != nil {
		t.reach(n.parent)
	}
	if !n.spare() {
		t.watch(n)
	}
}

// watch watches one folder. If the folder does not exist, it watches the nearest folder
// above, and then tries once more, because the folder may have been made meanwhile.
func (t *watches) watch(n *node) {
	if n.sight == watched {
		return
	}
	if n.parent != nil && n.parent.sight == missing {
		t.see(n, missing)
		return
	}
	t.see(n, t.add(n))
	if n.sight == missing && t.watchAbove(n) {
		t.see(n, t.add(n))
	}
	if p := n.parent; n.sight == watched && p != nil && p.needed {
		t.relieve(p)
	}
}

// add asks the source for a watch.
func (t *watches) add(n *node) sight {
	if t.source == nil {
		return refused
	}
	info, err := os.Lstat(n.abs)
	if err == nil && !info.IsDir() || n.parent == nil && !t.w.home.here() {
		return missing
	}
	c := t.ranks.classOf(n)
	if err == nil {
		err = t.addClass(c, n.abs)
	}
	if c == classSpare && err != nil && exhausted(err) {
		return unwatched
	}
	t.full = err != nil && exhausted(err)
	t.short = t.short || t.full
	switch {
	case err == nil:
		return watched
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return missing
	}
	t.w.say("cannot watch a folder; looking every 2 s instead", err, "folder", n.path())
	t.w.retry.later(retryAfter)
	return refused
}

// addClass asks the source for a watch of a class. If none is available, owners that can do
// without give way.
func (t *watches) addClass(c class, abs string) error {
	for {
		err := error(errBudget{t.budget.most})
		if t.budget.affords(c) {
			err = t.source.Add(abs)
		}
		spare := !isBudget(err) && exhausted(err) || isBudget(err) && t.budget.full()
		if !spare || c == classSpare || !t.w.giveWay() {
			return err
		}
	}
}

// watchAbove watches the folder above a missing one, and reports whether it is watched. A
// missing folder whose creation nobody would notice is blind.
func (t *watches) watchAbove(n *node) bool {
	p := n.parent
	if p == nil {
		t.w.retry.later(rootAfter)
		return false
	}
	p.needed = true
	t.watch(p)
	if p.sight == refused {
		t.see(n, refused)
	}
	return p.sight == watched
}

// relieve ends the watch of a folder that was needed for missing ones, if none below it is
// missing any more and nothing else needs it.
func (t *watches) relieve(n *node) {
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
		t.drop(n)
	}
}

// see sets the sight of a folder, and updates the counts.
func (t *watches) see(n *node, s sight) {
	if n.sight == refused {
		t.blind--
	}
	if s == refused {
		t.blind++
	}
	if n.sight == watched {
		t.budget.spent[n.class]--
	}
	if s == watched {
		n.class = t.ranks.classOf(n)
		t.budget.spent[n.class]++
	}
	if n.sight == refused != (s == refused) {
		t.blindDirs = nil
	}
	t.short = t.short && t.blind > 0
	n.sight = s
}

// drop ends the watch of a folder.
func (t *watches) drop(n *node) {
	if n.sight == watched && t.source != nil {
		// The source may itself have dropped the watch with the folder.
		_ = t.source.Remove(n.abs)
	}
	t.see(n, unwatched)
}

// settle drops what nobody needs any more at and above a folder.
func (t *watches) settle(n *node) {
	stays := t.nodes.prune(n, t.drop)
	if stays == nil || stays.wanted() {
		return
	}
	if stays.needed {
		t.relieve(stays)
	} else if stays.spare() {
		t.drop(stays)
	}
	// Folders below it that were spare may now need a watch.
	for c := stays.first; c != nil; c = c.next {
		if !c.spare() {
			t.watch(c)
		}
	}
}

// refusedDirs returns the folders whose watch was refused, sorted, the topmost of each
// branch. There may be very many, so the list is made again only after it has changed. The
// caller must not change it.
func (t *watches) refusedDirs() []string {
	if t.blind == 0 {
		return nil
	}
	if t.blindDirs == nil {
		for p, n := range t.nodes {
			if n.sight == refused && n.wanted() && !n.isRefusedAbove() {
				t.blindDirs = append(t.blindDirs, p)
			}
		}
		slices.Sort(t.blindDirs)
	}
	return t.blindDirs
}

// reclass counts a folder under its present class, or watches a refused folder if that is
// now possible.
func (t *watches) reclass(n *node) {
	if n.sight == watched {
		t.budget.spent[n.class]--
		n.class = t.ranks.classOf(n)
		t.budget.spent[n.class]++
		return
	}
	if n.sight == refused {
		t.watch(n)
	}
}

package watch

import "path/filepath"

// sight says whether a folder is watched.
type sight uint8

const (
	// unwatched means that nobody has tried, or that the watch was dropped.
	unwatched sight = iota
	// watched means that the watch exists.
	watched
	// missing means that the folder does not exist; the nearest existing one above it is
	// watched.
	missing
	// refused means that the watch is not available, or that the creation of a missing
	// folder cannot be noticed. The folder is blind.
	refused
)

// node is a folder that somebody asked for, or one on the way to it.
type node struct {
	abs                       string // the path on the disk
	parent, first, next, prev *node
	owners                    owners
	start                     int32 // of the path in the workspace in abs
	structure                 bool
	// needed is true if a node must be watched because one below it is missing.
	needed bool
	sight  sight
	class  class // its class in the budget, while it is watched
}

// path returns the path relative to the workspace, with slashes, "." for the workspace. It
// shares its memory with abs, which the source keeps.
func (n *node) path() string { return within(n.abs, n.start) }

// within returns the part of an absolute path that begins at start, "." if it is empty.
func within(abs string, start int32) string {
	if len(abs) <= int(start) {
		return "."
	}
	return filepath.ToSlash(abs[start:])
}

// wanted reports whether somebody asked for the folder itself.
func (n *node) wanted() bool { return n.structure || !n.owners.empty() }

// spare reports whether a folder that nobody asked for need not be watched: the watch of
// its parent notices when it goes, and the watches of the folders below it notice when they
// go. So a run with one open request needs only two watches.
func (n *node) spare() bool {
	return !n.wanted() && !n.needed && n.parent != nil && n.parent.wanted()
}

// isRefusedAbove reports whether a wanted folder above this one is refused too.
func (n *node) isRefusedAbove() bool {
	for p := n.parent; p != nil; p = p.parent {
		if p.wanted() && p.sight == refused {
			return true
		}
	}
	return false
}

// isBelowStructure reports whether a folder above this one is a structure folder.
func (n *node) isBelowStructure() bool {
	for p := n.parent; p != nil; p = p.parent {
		if p.structure {
			return true
		}
	}
	return false
}

// each visits a node and all nodes below it, from the top.
func (n *node) each(visit func(*node)) {
	visit(n)
	for c := n.first; c != nil; c = c.next {
		c.each(visit)
	}
}

// tree holds the nodes by path. Every ancestor of a node is a node.
type tree map[string]*node

// at returns the node of an absolute path, which it makes if necessary. The name of a new
// node shares memory with those of the nodes above it that are made with it.
func (t tree) at(abs string, start int32) *node {
	p := within(abs, start)
	if n := t[p]; n != nil {
		return n
	}
	n := &node{abs: abs, start: start}
	if p != "." {
		n.parent = t.at(filepath.Dir(abs), start)
		n.next = n.parent.first
		if n.next != nil {
			n.next.prev = n
		}
		n.parent.first = n
	}
	t[p] = n
	return n
}

// prune removes a node that nobody needs any more, and those above it that only led to it.
// It calls drop for each before it removes it. It returns the nearest node that remains, or
// nil.
func (t tree) prune(n *node, drop func(*node)) *node {
	for n != nil && !n.wanted() && n.first == nil {
		drop(n)
		parent := n.parent
		if parent != nil {
			t.unlink(n)
		}
		delete(t, n.path())
		n = parent
	}
	return n
}

func (t tree) unlink(n *node) {
	if n.prev != nil {
		n.prev.next = n.next
	} else {
		n.parent.first = n.next
	}
	if n.next != nil {
		n.next.prev = n.prev
	}
}

// owners is a small set of non-empty strings. Nearly all folders belong to one run, and
// there may be many folders, so a single owner takes no further memory.
type owners struct {
	one  string
	more map[string]struct{}
}

func (o *owners) empty() bool { return o.one == "" && len(o.more) == 0 }

func (o *owners) add(owner string) {
	switch {
	case o.one == owner:
	case o.one == "" && o.more == nil:
		o.one = owner
	default:
		if o.more == nil {
			o.more = map[string]struct{}{}
		}
		o.more[owner] = struct{}{}
	}
}

func (o *owners) remove(owner string) {
	if o.one == owner {
		o.one = ""
	}
	delete(o.more, owner)
}

func (o *owners) each(yield func(string) bool) {
	if o.one != "" && !yield(o.one) {
		return
	}
	for m := range o.more {
		if !yield(m) {
			return
		}
	}
}

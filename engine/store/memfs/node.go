package memfs

import (
	"bytes"
	"io/fs"
	"maps"
	"time"

	"placet/engine/store"
)

// node is one inode: what is visible of it, and what is durable.
type node struct {
	inode    uint64
	mode     fs.FileMode
	uid, gid uint32
	modified time.Time
	changed  time.Time
	links    int
	opened   int
	locked   *file

	data    []byte
	durable []byte
	dirty   bool
	// lost: an fsync failed. What was written before is never made durable,
	// however often a later one says so.
	lost bool

	names   map[string]*node
	kept    map[string]*node   // names that are durable
	changes []map[string]*node // in between, oldest first; nil removes a name
	// dropped are changes that an fsync which failed was to write. They are
	// written again only with the next change of the folder.
	dropped []map[string]*node
}

// node makes an inode. Numbers that are free are used again at once.
func (m *FS) node(mode fs.FileMode) *node {
	n := &node{mode: mode}
	if last := len(m.free) - 1; last >= 0 {
		n.inode, m.free = m.free[last], m.free[:last]
	} else {
		m.last++
		n.inode = m.last + 10
	}
	if mode.IsDir() {
		n.names, n.kept = map[string]*node{}, map[string]*node{}
	}
	m.stamp(n)
	n.modified = n.changed
	return n
}

// stamp sets the ctime.
func (m *FS) stamp(n *node) { n.changed = m.now().Round(0).Add(m.shift).Truncate(tick) }

func (n *node) info(name string) store.Info {
	return store.Info{
		Name: name, Mode: n.mode, Size: int64(len(n.data)), Inode: n.inode, Device: 1,
		UID: n.uid, GID: n.gid, Modified: n.modified, Changed: n.changed,
	}
}

// change makes one change to a folder's names, visible and not yet durable.
func (m *FS) change(dir *node, change map[string]*node) {
	var left []*node
	for name, n := range change {
		if old := dir.names[name]; old != nil {
			old.links--
			left = append(left, old)
		}
		if n == nil {
			delete(dir.names, name)
			continue
		}
		n.links++
		dir.names[name] = n
	}
	for _, n := range left {
		m.stamp(n)
		m.release(n)
	}
	dir.changes = append(append(dir.changes, dir.dropped...), change)
	dir.dropped = nil
	m.stamp(dir)
	dir.modified = dir.changed
}

// release frees the number of an inode that nothing leads to.
func (m *FS) release(n *node) {
	if n.links == 0 && n.opened == 0 && !n.mode.IsDir() {
		m.free = append(m.free, n.inode)
	}
}

// set writes the content.
func (m *FS) set(n *node, data []byte) {
	n.data, n.dirty = data, true
	m.stamp(n)
	n.modified = n.changed
}

func (n *node) sync() {
	if !n.lost {
		n.durable, n.dirty = bytes.Clone(n.data), false
	}
}

func (n *node) syncNames() {
	for _, change := range n.changes {
		apply(n.kept, change)
	}
	n.changes = nil
}

// lose is what an fsync that fails does.
func (n *node) lose() {
	n.lost = n.lost || n.dirty
	n.dropped, n.changes = append(n.dropped, n.changes...), nil
}

// each visits a node and all below it.
func (n *node) each(do func(*node)) {
	do(n)
	for _, below := range n.names {
		below.each(do)
	}
}

func apply(names, change map[string]*node) {
	for name, n := range change {
		if n == nil {
			delete(names, name)
			continue
		}
		names[name] = n
	}
}

// copyNames copies a folder's names.
func copyNames(names map[string]*node) map[string]*node { return maps.Clone(names) }

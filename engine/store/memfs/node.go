package memfs

import (
	iofs "io/fs"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"placet/engine/store/fs"
)

// node is one inode: its visible and its durable content. A node may belong to
// several file systems that were forked from one another: only the one with the
// node's epoch may change it, see own. Its slices are never changed in place.
type node struct {
	epoch    uint64
	inode    uint64
	mode     iofs.FileMode
	uid, gid uint32
	modified time.Time
	changed  time.Time
	links    int
	opened   int
	locked   *file

	data    []byte
	durable []byte
	dirty   bool
	// lost: an fsync failed. The content written before is never made durable,
	// even if a later fsync succeeds.
	lost bool

	names   names
	kept    names    // the durable names
	changes []change // since kept, oldest first
	// dropped are changes that a failed fsync should have made durable. They
	// are written again only with the next change of the folder.
	dropped []change
}

// id is the index of a node in the table of its file system.
type id int

// gone stands for no node: a change to it removes the name.
const gone id = -1

// named is one name of a folder.
type named struct {
	name string
	node id
}

// names holds the names in a folder, sorted. It is never changed, only
// replaced.
type names []named

// change is the effect of one call on a folder's names.
type change []named

func (ns names) find(name string) (int, bool) {
	return slices.BinarySearchFunc(ns, name, func(n named, name string) int { return strings.Compare(n.name, name) })
}

// get returns the node under a name, gone if there is none.
func (ns names) get(name string) id {
	if i, there := ns.find(name); there {
		return ns[i].node
	}
	return gone
}

// with returns the names after a change.
func (ns names) with(c change) names {
	out := make(names, len(ns), len(ns)+len(c))
	copy(out, ns)
	for _, n := range c {
		switch i, there := out.find(n.name); {
		case there && n.node == gone:
			out = slices.Delete(out, i, i+1)
		case there:
			out[i] = n
		case n.node != gone:
			out = slices.Insert(out, i, n)
		}
	}
	return out
}

// epochs counts the forks of all file systems.
var epochs atomic.Uint64

// own returns a node for changing: it copies the node if a fork may share it.
func (m *FS) own(at id) *node {
	n := m.nodes[at]
	if n.epoch == m.epoch {
		return n
	}
	mine := *n
	mine.epoch = m.epoch
	m.nodes[at] = &mine
	return &mine
}

// node makes an inode. It uses free numbers again at once.
func (m *FS) node(mode iofs.FileMode) id {
	n := &node{mode: mode, epoch: m.epoch}
	if last := len(m.free) - 1; last >= 0 {
		n.inode, m.free = m.free[last], m.free[:last:last]
	} else {
		m.last++
		n.inode = m.last + 10
	}
	m.nodes = append(m.nodes, n)
	at := id(len(m.nodes) - 1)
	m.stamp(at)
	n.modified = n.changed
	return at
}

// stamp sets the ctime.
func (m *FS) stamp(at id) { m.own(at).changed = m.now().Round(0).Add(m.shift).Truncate(tick) }

func (n *node) info(name string) fs.Info {
	return fs.Info{
		Name: name, Mode: n.mode, Size: int64(len(n.data)), Inode: n.inode, Device: 1,
		UID: n.uid, GID: n.gid, Modified: n.modified, Changed: n.changed,
	}
}

// change makes one change to a folder's names, visible and not yet durable.
func (m *FS) change(dir id, c change) {
	folder := m.own(dir)
	var left []id
	for _, n := range c {
		if old := folder.names.get(n.name); old != gone {
			m.own(old).links--
			left = append(left, old)
		}
		if n.node != gone {
			m.own(n.node).links++
		}
	}
	folder.names = folder.names.with(c)
	for _, n := range left {
		m.stamp(n)
		m.release(n)
	}
	folder.changes = append(slices.Concat(folder.changes, folder.dropped), c)
	folder.dropped = nil
	m.stamp(dir)
	folder.modified = folder.changed
}

// release frees the number of an inode to which no name leads.
func (m *FS) release(at id) {
	if n := m.nodes[at]; n.links == 0 && n.opened == 0 && !n.mode.IsDir() {
		m.free = append(m.free, n.inode)
	}
}

// set writes the content.
func (m *FS) set(at id, data []byte) {
	n := m.own(at)
	n.data, n.dirty = data, true
	m.stamp(at)
	n.modified = n.changed
}

// add writes at the end.
func (m *FS) add(at id, p []byte) { m.set(at, slices.Concat(m.nodes[at].data, p)) }

// sync makes the content durable.
func (m *FS) sync(at id) {
	if n := m.nodes[at]; n.dirty && !n.lost {
		n = m.own(at)
		n.durable, n.dirty = n.data, false
	}
}

// syncNames makes the names durable.
func (m *FS) syncNames(at id) {
	if len(m.nodes[at].changes) == 0 {
		return
	}
	n := m.own(at)
	for _, c := range n.changes {
		n.kept = n.kept.with(c)
	}
	n.changes = nil
}

// lose does what a failed fsync does.
func (m *FS) lose(at id) {
	n := m.own(at)
	n.lost = n.lost || n.dirty
	n.dropped, n.changes = slices.Concat(n.dropped, n.changes), nil
}

// each visits a node and all below it.
func (m *FS) each(at id, do func(id)) {
	do(at)
	for _, below := range m.nodes[at].names {
		m.each(below.node, do)
	}
}

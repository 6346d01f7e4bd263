package memfs

import (
	"bytes"
	"math/rand/v2"
)

// KillClone returns the file system as it is when only placet dies: all that was
// visible still is, locks are gone, and so are the faults.
func (m *FS) KillClone() *FS {
	return m.clone(
		func(n *node) map[string]*node { return n.names },
		func(n *node) []byte { return n.data },
	)
}

// CrashClone returns the file system as it comes up after a power cut. What is
// durable is there; of the rest the seed keeps some. Seed 0 keeps nothing.
func (m *FS) CrashClone(seed uint64) *FS {
	r := rand.New(rand.NewPCG(seed, 0x706c61636574))
	return m.clone(
		func(n *node) map[string]*node { return surviving(n, seed, r) },
		func(n *node) []byte { return survivingData(n, seed, r) },
	)
}

// surviving returns the names of a folder after a power cut: an unbroken part of
// the changes from the oldest on, as a journal keeps them, or any of them.
func surviving(n *node, seed uint64, r *rand.Rand) map[string]*node {
	names := copyNames(n.kept)
	if seed == 0 {
		return names
	}
	if seed%2 == 0 {
		for _, change := range n.changes[:r.IntN(len(n.changes)+1)] {
			apply(names, change)
		}
		return names
	}
	for _, change := range n.changes {
		if r.IntN(2) == 0 {
			apply(names, change)
		}
	}
	return names
}

// survivingData returns the content of a file after a power cut. What is durable
// and was not changed since stays.
func survivingData(n *node, seed uint64, r *rand.Rand) []byte {
	if seed == 0 || !n.dirty {
		return n.durable
	}
	safe := common(n.durable, n.data)
	part := safe + r.IntN(len(n.data)-safe+1)
	switch choice := r.IntN(5); {
	case choice == 0:
		return n.durable
	case choice == 1 && !n.lost:
		return n.data
	case choice == 2:
		return n.data[:safe]
	case choice == 3:
		return n.data[:part]
	}
	torn := bytes.Clone(n.data) // the length came through, the end did not
	clear(torn[part:])
	return torn
}

// common is the length of what two contents have in common at their beginning.
func common(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// clone copies what can be reached.
func (m *FS) clone(names func(*node) map[string]*node, data func(*node) []byte) *FS {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := &FS{now: m.now, shift: m.shift, last: m.last}
	seen := map[*node]*node{}
	var copyOf func(n *node) *node
	copyOf = func(n *node) *node {
		if c := seen[n]; c != nil {
			c.links++
			return c
		}
		c := &node{
			inode: n.inode, mode: n.mode, uid: n.uid, gid: n.gid, links: 1,
			modified: n.modified, changed: n.changed,
		}
		seen[n] = c
		if n.names == nil {
			c.data = bytes.Clone(data(n))
			c.durable = bytes.Clone(c.data)
			return c
		}
		c.names, c.kept = map[string]*node{}, map[string]*node{}
		for _, name := range sorted(names(n)) {
			c.names[name.name] = copyOf(name.node)
		}
		c.kept = copyNames(c.names)
		return c
	}
	out.root = copyOf(m.root)
	return out
}

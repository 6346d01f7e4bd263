package memfs

import (
	"bytes"
	"math/rand/v2"
	"slices"
)

// KillClone returns the file system as it is when only placet dies: everything
// that was visible still is, and nothing more of it is durable than before; locks
// are gone, and so are the faults. The two share what neither changes.
func (m *FS) KillClone() *FS {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.fork()
	for at, n := range m.nodes {
		if n.opened > 0 {
			n = out.own(id(at))
			n.opened, n.locked = 0, nil
		}
	}
	out.free = slices.Clone(m.free)
	return out
}

// fork returns a file system with the same nodes. Each of the two now copies a
// node before it changes it. The caller holds the lock.
func (m *FS) fork() *FS {
	m.epoch = epochs.Add(1)
	out := &FS{now: m.now, shift: m.shift, last: m.last, epoch: epochs.Add(1)}
	out.nodes = append(make([]*node, 0, len(m.nodes)+32), m.nodes...)
	return out
}

// CrashClone returns the file system after a power cut. Everything durable is
// there, and the seed chooses what else is. Seed 0 keeps nothing else.
func (m *FS) CrashClone(seed uint64) *FS {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.fork()
	cut := cut{seed: seed, r: rand.New(rand.NewPCG(seed, 0x706c61636574)), links: make([]int, len(m.nodes))}
	cut.keep(out, 0)
	for at, links := range cut.links {
		if n := out.nodes[at]; links > 0 && (n.links != links || n.opened > 0) {
			n = out.own(id(at))
			n.links, n.opened, n.locked = links, 0, nil
		}
	}
	out.choice = cut.choice
	return out
}

// Pending reports whether a power cut could lose anything now.
func (m *FS) Pending() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	pending := false
	m.each(0, func(at id) {
		n := m.nodes[at]
		pending = pending || n.dirty || len(n.changes)+len(n.dropped) > 0
	})
	return pending
}

// Choice identifies what a power cut has kept: two clones of one moment with the
// same choice hold the same.
func (m *FS) Choice() uint64 { return m.choice }

// cut is one power cut: it decides what is left of each node.
type cut struct {
	seed   uint64
	r      *rand.Rand
	links  []int
	choice uint64
}

// keep reduces a node, and all below it, to what survives.
func (c *cut) keep(m *FS, at id) {
	c.links[at]++
	if c.links[at] > 1 {
		return
	}
	n := m.nodes[at]
	switch {
	case n.mode.IsDir() && len(n.changes)+len(n.dropped) > 0:
		left := c.surviving(n)
		n = m.own(at)
		n.names, n.kept, n.changes, n.dropped = left, left, nil, nil
	case n.dirty || n.lost:
		left := c.data(n)
		n = m.own(at)
		n.data, n.durable, n.dirty, n.lost = left, left, false, false
	}
	for _, below := range n.names {
		c.keep(m, below.node)
	}
}

// chose records one choice.
func (c *cut) chose(n int) { c.choice = (c.choice ^ uint64(n+1)) * 0x100000001b3 }

// surviving returns the names of a folder after a power cut. It keeps the oldest
// changes up to some point, as a journal does, or any of them.
func (c *cut) surviving(n *node) names {
	left := n.kept
	if c.seed == 0 {
		return left
	}
	part := len(n.changes)
	if c.seed%2 == 0 {
		part = c.r.IntN(len(n.changes) + 1)
	}
	for i, change := range n.changes[:part] {
		if c.seed%2 == 0 || c.r.IntN(2) == 0 {
			c.chose(i)
			left = left.with(change)
		}
	}
	c.chose(-1)
	return left
}

// data returns the content of a file after a power cut. The durable part that was
// not changed since is always there.
func (c *cut) data(n *node) []byte {
	if c.seed == 0 || !n.dirty {
		return n.durable
	}
	safe := common(n.durable, n.data)
	part := safe + c.r.IntN(len(n.data)-safe+1)
	choice := c.r.IntN(5)
	c.chose(choice)
	switch {
	case choice == 0:
		return n.durable
	case choice == 1 && !n.lost:
		return n.data
	case choice == 2:
		return n.data[:safe:safe]
	}
	c.chose(part)
	if choice == 3 {
		return n.data[:part:part]
	}
	torn := bytes.Clone(n.data) // the length was written, the end was not
	clear(torn[part:])
	return torn
}

// common returns the length of the common beginning of two contents.
func common(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

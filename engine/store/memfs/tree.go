package memfs

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"placet/engine/store"
)

// The calls in this file are the test's own: they are not counted, see no fault,
// and panic where a test has made a mistake.

// Later lets time pass for the file system alone.
func (m *FS) Later(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.shift += d
}

// Put writes a file as another program would, by rename, durable at once, and
// makes the folders above it.
func (m *FS) Put(name, body string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.node(0o644)
	n.data, n.durable = []byte(body), []byte(body)
	m.enter(name, n)
}

// PutDir makes a folder and those above it, durable at once.
func (m *FS) PutDir(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dirs(name)
}

// PutOdd puts something in place that is no regular file: the type bits of the
// mode say what.
func (m *FS) PutOdd(name string, mode fs.FileMode) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.enter(name, m.node(mode))
}

// Rewrite changes a file in place, keeping its inode, durable at once.
func (m *FS) Rewrite(name, body string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.must(name)
	m.set(n, []byte(body))
	n.sync()
}

// Delete removes a file or an empty folder, durable at once.
func (m *FS) Delete(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir := m.must(path.Dir(name))
	m.change(dir, map[string]*node{path.Base(name): nil})
	dir.syncNames()
}

// Chmod sets a file's mode, and its owner and group.
func (m *FS) Chmod(name string, mode fs.FileMode, uid, gid uint32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.must(name)
	n.mode, n.uid, n.gid = n.mode.Type()|mode, uid, gid
	m.stamp(n)
}

// Get returns a file's content, and whether there is such a file.
func (m *FS) Get(name string) (string, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.find(name)
	if err != nil || n.names != nil {
		return "", false
	}
	return string(n.data), true
}

// Info describes what is under a name.
func (m *FS) Info(name string) store.Info {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.must(name).info(path.Base(name))
}

// Tree returns every file's content by path, as is visible now.
func (m *FS) Tree() map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	tree := map[string]string{}
	var walk func(dir string, n *node)
	walk = func(dir string, n *node) {
		for name, below := range n.names {
			if p := path.Join(dir, name); below.names != nil {
				walk(p, below)
			} else {
				tree[p] = string(below.data)
			}
		}
	}
	walk(".", m.root)
	return tree
}

func (m *FS) must(name string) *node {
	n, err := m.find(name)
	if err != nil {
		panic(fmt.Sprintf("memfs: %s: %v", name, err))
	}
	return n
}

func (m *FS) enter(name string, n *node) {
	dir := m.dirs(path.Dir(name))
	m.change(dir, map[string]*node{path.Base(name): n})
	dir.syncNames()
}

func (m *FS) dirs(name string) *node {
	at := m.root
	for _, part := range parts(name) {
		next := at.names[part]
		if next == nil {
			next = m.node(fs.ModeDir | 0o755)
			m.change(at, map[string]*node{part: next})
			at.syncNames()
		}
		at = next
	}
	return at
}

type named struct {
	name string
	node *node
}

// sorted returns names in order, so that one seed always gives one crash.
func sorted(names map[string]*node) []named {
	all := make([]named, 0, len(names))
	for name, n := range names {
		all = append(all, named{name, n})
	}
	slices.SortFunc(all, func(a, b named) int { return strings.Compare(a.name, b.name) })
	return all
}

package memfs

import (
	"fmt"
	iofs "io/fs"
	"path"
	"strings"
	"time"

	"placet/engine/store/fs"
)

// The calls in this file belong to the test: they are not counted, no fault
// affects them, and they panic if a test has made a mistake.

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
	at := m.node(0o644)
	n := m.own(at)
	n.data = []byte(body)
	n.durable = n.data
	m.enter(name, at)
}

// PutDir makes a folder and those above it, durable at once.
func (m *FS) PutDir(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dirs(name)
}

// PutOdd puts something in place that is not a regular file; the type bits of
// mode say what.
func (m *FS) PutOdd(name string, mode iofs.FileMode) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.enter(name, m.node(mode))
}

// Rewrite changes a file in place, with the same inode, durable at once. It also
// makes the names in the file's folder durable, as a file system with one
// journal does.
func (m *FS) Rewrite(name, body string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := m.must(name)
	m.set(at, []byte(body))
	m.sync(at)
	m.syncNames(m.must(path.Dir(name)))
}

// Delete removes a file or an empty folder, durable at once.
func (m *FS) Delete(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir := m.must(path.Dir(name))
	m.change(dir, change{{path.Base(name), gone}})
	m.syncNames(dir)
}

// Chmod sets a file's mode, and its owner and group.
func (m *FS) Chmod(name string, mode iofs.FileMode, uid, gid uint32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := m.must(name)
	n := m.own(at)
	n.mode, n.uid, n.gid = n.mode.Type()|mode, uid, gid
	m.stamp(at)
}

// Get returns a file's content, and whether there is such a file.
func (m *FS) Get(name string) (string, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, err := m.find(name)
	if err != nil || m.nodes[at].mode.IsDir() {
		return "", false
	}
	return string(m.nodes[at].data), true
}

// Info describes what is under a name.
func (m *FS) Info(name string) fs.Info {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.nodes[m.must(name)].info(path.Base(name))
}

// Tree returns every file's content by path, as is visible now.
func (m *FS) Tree() map[string]string {
	tree := map[string]string{}
	m.Each(func(name string, data []byte) { tree[name] = string(data) })
	return tree
}

// Each calls show for every file, sorted folder by folder, as is visible now.
// show must not change the content.
func (m *FS) Each(show func(name string, data []byte)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var walk func(dir string, at id)
	walk = func(dir string, at id) {
		for _, below := range m.nodes[at].names {
			n := m.nodes[below.node]
			if p := dir + below.name; n.mode.IsDir() {
				walk(p+"/", below.node)
			} else {
				show(p, n.data)
			}
		}
	}
	walk("", 0)
}

// Half makes half of a write, which a hook of another file system saw, in a
// clone that was made at that moment. It returns false for every other call.
func (m *FS) Half(c Call) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c.Op != "write" {
		return false
	}
	m.add(c.at, c.data[:len(c.data)/2])
	return true
}

func (m *FS) must(name string) id {
	at, err := m.find(name)
	if err != nil {
		panic(fmt.Sprintf("memfs: %s: %v", name, err))
	}
	return at
}

func (m *FS) enter(name string, at id) {
	dir := m.dirs(path.Dir(name))
	m.change(dir, change{{path.Base(name), at}})
	m.syncNames(dir)
}

func (m *FS) dirs(name string) id {
	at := id(0)
	for part := range strings.SplitSeq(path.Clean(name), "/") {
		if part == "." {
			continue
		}
		next := m.nodes[at].names.get(part)
		if next == gone {
			next = m.node(iofs.ModeDir | 0o755)
			m.change(at, change{{part, next}})
			m.syncNames(at)
		}
		at = next
	}
	return at
}

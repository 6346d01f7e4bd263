package memfs

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"placet/engine/store"
)

// ErrCrashed is what every call returns from the crash on.
var ErrCrashed = errors.New("memfs: the machine has crashed")

// Root is the absolute path that every FS of this package says it has.
const Root = "/workspace"

// tick is how coarse file times are, as on ext4.
const tick = 4 * time.Millisecond

// Call is one call as a hook sees it.
type Call struct {
	// N counts the calls from 1.
	N int
	// Change counts, from 1, those that can change something; of the others it
	// is 0.
	Change int
	// Op is the method: open, create, append, lock, stat, list, mkdir, rename,
	// exclusive, exchange, remove, syncdir, syncall, touch, read, write, fstat,
	// truncate, chown, chmod, sync, trylock.
	Op string
	// Name is the path, of a rename the target.
	Name string
}

// FS is a file system in memory. It implements store.FS.
type FS struct {
	mu    sync.Mutex
	now   func() time.Time
	shift time.Duration
	root  *node
	free  []uint64 // inode numbers to use again, as ext4 does
	last  uint64
	calls int
	// changes are those of the calls that can change something.
	changes int
	fault   fault
}

// looks are the calls that change nothing.
var looks = map[string]bool{"open": true, "stat": true, "list": true, "read": true, "fstat": true, "trylock": true}

// New returns an empty file system whose times come from now; nil is time.Now.
func New(now func() time.Time) *FS {
	if now == nil {
		now = time.Now
	}
	m := &FS{now: now}
	m.root = m.node(fs.ModeDir | 0o755)
	m.root.links = 1
	return m
}

// Root implements store.FS.
func (m *FS) Root() string { return Root }

// call counts a call, lets the hook run, and then makes it, unless a fault takes
// its place. Half is made instead where the call is to be torn.
func (m *FS) call(op, name string, whole func() error, half func(error)) error {
	m.mu.Lock()
	m.calls++
	c := Call{N: m.calls, Op: op, Name: name}
	if !looks[op] {
		m.changes++
		c.Change = m.changes
	}
	hook := m.fault.hook
	m.mu.Unlock()
	if hook != nil {
		if err := hook(c); err != nil {
			return m.wrap(op, name, m.refuse(err, half))
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.wrap(op, name, m.fault.around(c, whole, half))
}

func (m *FS) refuse(err error, half func(error)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if half != nil {
		half(err)
	}
	return err
}

func (m *FS) wrap(op, name string, err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return &fs.PathError{Op: op, Path: name, Err: err}
	}
	return err
}

// find returns what is under a name, without following a last link.
func (m *FS) find(name string) (*node, error) {
	at := m.root
	if strings.HasPrefix(name, "/") {
		name = strings.TrimPrefix(strings.TrimPrefix(name, Root), "/")
	}
	for _, part := range parts(name) {
		if at.mode&fs.ModeSymlink != 0 {
			return nil, &store.NotRegular{Name: name, Is: "reached over a symbolic link"}
		}
		if !at.mode.IsDir() {
			return nil, syscall.ENOTDIR
		}
		next := at.names[part]
		switch {
		case len(part) > 255:
			return nil, syscall.ENAMETOOLONG
		case next == nil:
			return nil, syscall.ENOENT
		}
		at = next
	}
	return at, nil
}

func parts(name string) []string {
	name = path.Clean(name)
	if name == "." {
		return nil
	}
	return strings.Split(name, "/")
}

// folder returns the folder that a name lies in.
func (m *FS) folder(name string) (*node, string, error) {
	dir, err := m.find(path.Dir(path.Clean(name)))
	if err == nil && dir.mode&fs.ModeSymlink != 0 {
		err = &store.NotRegular{Name: name, Is: "reached over a symbolic link"}
	}
	if err == nil && !dir.mode.IsDir() {
		err = syscall.ENOTDIR
	}
	return dir, path.Base(name), err
}

// folder returns why a node cannot be opened as a folder.
func (n *node) folder(name string) error {
	switch {
	case n.mode.IsDir():
		return nil
	case n.mode&fs.ModeSymlink != 0:
		return &store.NotRegular{Name: name, Is: store.Describe(n.mode)}
	}
	return syscall.ENOTDIR
}

var openOps = map[store.How]string{
	store.ForReading: "open", store.ForCreating: "create", store.ForAppending: "append",
	store.ForLocking: "lock", store.ForLockingExisting: "lock",
}

// Open implements store.FS.
func (m *FS) Open(name string, how store.How, perm fs.FileMode) (f store.File, err error) {
	err = m.call(openOps[how], name, func() error {
		n, err := m.open(name, how, perm)
		if err == nil {
			n.opened++
			f = &file{m: m, n: n, name: name}
		}
		return err
	}, nil)
	return f, err
}

func (m *FS) open(name string, how store.How, perm fs.FileMode) (*node, error) {
	dir, base, err := m.folder(name)
	if err != nil {
		return nil, err
	}
	n := dir.names[base]
	switch {
	case n == nil && (how == store.ForReading || how == store.ForLockingExisting):
		return nil, syscall.ENOENT
	case n == nil:
		n = m.node(perm.Perm() &^ 0o022)
		m.change(dir, map[string]*node{base: n})
		return n, nil
	case how == store.ForCreating:
		return nil, syscall.EEXIST
	case !n.mode.IsRegular():
		return nil, &store.NotRegular{Name: name, Is: store.Describe(n.mode)}
	case n.mode.Perm() == 0:
		return nil, syscall.EACCES
	}
	return n, nil
}

// Stat implements store.FS.
func (m *FS) Stat(name string) (info store.Info, err error) {
	err = m.call("stat", name, func() error {
		n, err := m.find(name)
		if err == nil {
			info = n.info(path.Base(name))
		}
		return err
	}, nil)
	return info, err
}

// List implements store.FS.
func (m *FS) List(dir string) (infos []store.Info, err error) {
	err = m.call("list", dir, func() error {
		n, err := m.find(dir)
		if err != nil {
			return err
		}
		if err := n.folder(dir); err != nil {
			return err
		}
		for name, n := range n.names {
			infos = append(infos, n.info(name))
		}
		slices.SortFunc(infos, func(a, b store.Info) int { return strings.Compare(a.Name, b.Name) })
		return nil
	}, nil)
	return infos, err
}

// Mkdir implements store.FS.
func (m *FS) Mkdir(name string) error {
	return m.call("mkdir", name, func() error {
		dir, base, err := m.folder(name)
		if err != nil {
			return err
		}
		if dir.names[base] != nil {
			return syscall.EEXIST
		}
		m.change(dir, map[string]*node{base: m.node(fs.ModeDir | 0o755)})
		return nil
	}, nil)
}

// Remove implements store.FS.
func (m *FS) Remove(name string) error {
	return m.call("remove", name, func() error {
		dir, base, err := m.folder(name)
		if err != nil {
			return err
		}
		n := dir.names[base]
		switch {
		case n == nil:
			return syscall.ENOENT
		case n.mode.IsDir():
			return syscall.EISDIR
		}
		m.change(dir, map[string]*node{base: nil})
		return nil
	}, nil)
}

var moveOps = map[store.Move]string{store.Replace: "rename", store.Exclusive: "exclusive", store.Exchange: "exchange"}

// Rename implements store.FS.
func (m *FS) Rename(from, to string, how store.Move) error {
	return m.call(moveOps[how], to, func() error { return m.rename(from, to, how) }, nil)
}

func (m *FS) rename(from, to string, how store.Move) error {
	source, old, err := m.folder(from)
	if err != nil {
		return err
	}
	target, base, err := m.folder(to)
	if err != nil {
		return err
	}
	moved, there := source.names[old], target.names[base]
	switch {
	case moved == nil, how == store.Exchange && there == nil:
		return syscall.ENOENT
	case how == store.Exclusive && there != nil:
		return syscall.EEXIST
	case how == store.Exchange && m.fault.noExchange:
		return errors.ErrUnsupported
	case how == store.Replace && there != nil && there.mode.IsDir():
		return syscall.EISDIR
	case moved == there:
		return nil
	}
	var left *node
	if how == store.Exchange {
		left = there
	}
	m.stamp(moved)
	if left != nil {
		m.stamp(left)
	}
	if source == target {
		m.change(source, map[string]*node{base: moved, old: left})
		return nil
	}
	m.change(target, map[string]*node{base: moved})
	m.change(source, map[string]*node{old: left})
	return nil
}

// SyncDir implements store.FS.
func (m *FS) SyncDir(name string) error {
	return m.call("syncdir", name, func() error {
		n, err := m.find(name)
		if err != nil {
			return err
		}
		if err := n.folder(name); err != nil {
			return err
		}
		n.syncNames()
		return nil
	}, func(err error) {
		if n, ferr := m.find(name); ferr == nil && errors.Is(err, syscall.EIO) {
			n.lose()
		}
	})
}

// SyncAll implements store.FS.
func (m *FS) SyncAll(name string) error {
	return m.call("syncall", name, func() error {
		if m.fault.noSyncAll {
			return errors.ErrUnsupported
		}
		m.root.each(func(n *node) {
			n.sync()
			n.syncNames()
		})
		return nil
	}, func(err error) {
		if errors.Is(err, syscall.EIO) {
			m.root.each((*node).lose)
		}
	})
}

// Touch implements store.FS.
func (m *FS) Touch(name string) (at time.Time, err error) {
	err = m.call("touch", name, func() error {
		n, err := m.open(name, store.ForAppending, 0o666)
		if err == nil {
			m.stamp(n)
			n.modified, at = n.changed, n.changed
		}
		return err
	}, nil)
	return at, err
}

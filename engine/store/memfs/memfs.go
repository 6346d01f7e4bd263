package memfs

import (
	"errors"
	iofs "io/fs"
	"path"
	"strings"
	"sync"
	"syscall"
	"time"

	"placet/engine/store/fs"
)

// ErrCrashed is the error of every call after the crash: like any other failure of a call it says
// nothing about the file, and nobody takes the file for absent.
var ErrCrashed error = &iofs.PathError{Op: "memfs", Path: ".", Err: errors.New("the machine has crashed")}

// Root is the absolute path that every FS of this package returns as its root.
const Root = "/workspace"

// tick is the tick of file times, as on ext4.
const tick = 4 * time.Millisecond

// Call describes one call to a hook.
type Call struct {
	// N counts the calls from 1.
	N int
	// Change counts, from 1, the calls that can change something; it is 0 for
	// the others.
	Change int
	// Op is the method: open, create, append, lock, stat, list, mkdir, rename,
	// exclusive, exchange, remove, syncdir, syncall, touch, read, write, fstat,
	// truncate, chown, chmod, sync, trylock.
	Op string
	// Name is the path; the target of a rename.
	Name string

	at   id // of a write
	data []byte
}

// FS is a file system in memory. It implements fs.FS.
type FS struct {
	mu    sync.Mutex
	now   func() time.Time
	shift time.Duration
	nodes []*node  // the root first
	epoch uint64   // of the nodes that belong to this file system alone
	free  []uint64 // inode numbers to use again, as ext4 does
	last  uint64
	calls int
	// changes counts the calls that can change something.
	changes int
	choice  uint64
	fault   fault
}

// looks reports whether a call changes nothing.
func looks(op string) bool {
	switch op {
	case "open", "stat", "list", "read", "fstat", "trylock":
		return true
	}
	return false
}

// New returns an empty file system whose times come from now; nil means
// time.Now.
func New(now func() time.Time) *FS {
	if now == nil {
		now = time.Now
	}
	m := &FS{now: now, epoch: epochs.Add(1)}
	m.own(m.node(iofs.ModeDir | 0o755)).links = 1
	return m
}

// SetClock makes the times of the file system come from another clock.
func (m *FS) SetClock(now func() time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = now
}

// Away implements fs.FS: the root always has its name.
func (m *FS) Away() string { return "" }

// Unwritten implements fs.FS.
func (m *FS) Unwritten() (int64, bool) { return 0, false }

// Root implements fs.FS.
func (m *FS) Root() string { return Root }

func (m *FS) call(op, name string, whole func() error, half func(error)) error {
	return m.make(Call{Op: op, Name: name}, whole, half)
}

// make counts a call, runs the hook, and then makes the call, unless a fault
// prevents it. It makes half instead if the call is to be torn.
func (m *FS) make(c Call, whole func() error, half func(error)) error {
	m.mu.Lock()
	m.calls++
	c.N = m.calls
	if !looks(c.Op) {
		m.changes++
		c.Change = m.changes
	}
	hook := m.fault.hook
	m.mu.Unlock()
	if hook != nil {
		if err := hook(c); err != nil {
			return m.wrap(c, m.refuse(err, half))
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.wrap(c, m.fault.around(c, whole, half))
}

func (m *FS) refuse(err error, half func(error)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if half != nil && !errors.Is(err, ErrCrashed) {
		half(err)
	}
	return err
}

func (m *FS) wrap(c Call, err error) error {
	if errno, is := err.(syscall.Errno); is {
		return &iofs.PathError{Op: c.Op, Path: c.Name, Err: errno}
	}
	return err
}

// find returns the node under a name, without following a link in the last
// part.
func (m *FS) find(name string) (id, error) {
	at := id(0)
	if strings.HasPrefix(name, "/") {
		name = strings.TrimPrefix(strings.TrimPrefix(name, Root), "/")
	}
	name = path.Clean(name)
	for part, rest := "", name; rest != "" && name != "."; {
		part, rest, _ = strings.Cut(rest, "/")
		n := m.nodes[at]
		if n.mode&iofs.ModeSymlink != 0 {
			return gone, &fs.NotRegular{Name: name, Is: "reached over a symbolic link"}
		}
		if !n.mode.IsDir() {
			return gone, syscall.ENOTDIR
		}
		next := n.names.get(part)
		switch {
		case len(part) > 255:
			return gone, syscall.ENAMETOOLONG
		case next == gone:
			return gone, syscall.ENOENT
		}
		at = next
	}
	return at, nil
}

// folder returns the folder of a name.
func (m *FS) folder(name string) (id, string, error) {
	name = path.Clean(name)
	dir, err := m.find(path.Dir(name))
	if err != nil {
		return gone, "", err
	}
	switch mode := m.nodes[dir].mode; {
	case mode&iofs.ModeSymlink != 0:
		err = &fs.NotRegular{Name: name, Is: "reached over a symbolic link"}
	case !mode.IsDir():
		err = syscall.ENOTDIR
	}
	return dir, path.Base(name), err
}

// folder returns why a node cannot be opened as a folder.
func (n *node) folder(name string) error {
	switch {
	case n.mode.IsDir():
		return nil
	case n.mode&iofs.ModeSymlink != 0:
		return &fs.NotRegular{Name: name, Is: fs.Describe(n.mode)}
	}
	return syscall.ENOTDIR
}

var openOps = [...]string{
	fs.ForReading: "open", fs.ForCreating: "create", fs.ForAppending: "append",
	fs.ForLocking: "lock", fs.ForLockingExisting: "lock",
}

// Open implements fs.FS.
func (m *FS) Open(name string, how fs.How, perm iofs.FileMode) (f fs.File, err error) {
	err = m.call(openOps[how], name, func() error {
		at, err := m.open(name, how, perm)
		if err == nil {
			m.own(at).opened++
			f = &file{m: m, at: at, name: name}
		}
		return err
	}, nil)
	return f, err
}

func (m *FS) open(name string, how fs.How, perm iofs.FileMode) (id, error) {
	dir, base, err := m.folder(name)
	if err != nil {
		return gone, err
	}
	at := m.nodes[dir].names.get(base)
	switch {
	case at == gone && (how == fs.ForReading || how == fs.ForLockingExisting):
		return gone, syscall.ENOENT
	case at == gone:
		at = m.node(perm.Perm() &^ 0o022)
		m.change(dir, change{{base, at}})
		return at, nil
	case how == fs.ForCreating:
		return gone, syscall.EEXIST
	}
	switch mode := m.nodes[at].mode; {
	case !mode.IsRegular():
		return gone, &fs.NotRegular{Name: name, Is: fs.Describe(mode)}
	case mode.Perm() == 0:
		return gone, syscall.EACCES
	}
	return at, nil
}

// Stat implements fs.FS.
func (m *FS) Stat(name string) (info fs.Info, err error) {
	err = m.call("stat", name, func() error {
		at, err := m.find(name)
		if err == nil {
			info = m.nodes[at].info(path.Base(name))
		}
		return err
	}, nil)
	return info, err
}

// List implements fs.FS.
func (m *FS) List(dir string) (list []fs.Name, err error) {
	err = m.call("list", dir, func() error {
		at, err := m.find(dir)
		if err != nil {
			return err
		}
		n := m.nodes[at]
		if err := n.folder(dir); err != nil {
			return err
		}
		list = make([]fs.Name, 0, len(n.names))
		for _, below := range n.names {
			list = append(list, fs.Name{Name: below.name, Mode: m.nodes[below.node].mode.Type()})
		}
		return nil
	}, nil)
	return list, err
}

// Mkdir implements fs.FS.
func (m *FS) Mkdir(name string, _ iofs.FileMode) error {
	return m.call("mkdir", name, func() error {
		dir, base, err := m.folder(name)
		if err != nil {
			return err
		}
		if m.nodes[dir].names.get(base) != gone {
			return syscall.EEXIST
		}
		m.change(dir, change{{base, m.node(iofs.ModeDir | 0o755)}})
		return nil
	}, nil)
}

// Remove implements fs.FS.
func (m *FS) Remove(name string) error {
	return m.call("remove", name, func() error {
		dir, base, err := m.folder(name)
		if err != nil {
			return err
		}
		at := m.nodes[dir].names.get(base)
		switch {
		case at == gone:
			return syscall.ENOENT
		case m.nodes[at].mode.IsDir():
			return syscall.EISDIR
		}
		m.change(dir, change{{base, gone}})
		return nil
	}, nil)
}

var moveOps = [...]string{fs.Replace: "rename", fs.Exclusive: "exclusive", fs.Exchange: "exchange"}

// Rename implements fs.FS.
func (m *FS) Rename(from, to string, how fs.Move) error {
	return m.call(moveOps[how], to, func() error { return m.rename(from, to, how) }, nil)
}

func (m *FS) rename(from, to string, how fs.Move) error {
	source, old, err := m.folder(from)
	if err != nil {
		return err
	}
	target, base, err := m.folder(to)
	if err != nil {
		return err
	}
	moved, there := m.nodes[source].names.get(old), m.nodes[target].names.get(base)
	switch {
	case moved == gone, how == fs.Exchange && there == gone:
		return syscall.ENOENT
	case how == fs.Exclusive && there != gone:
		return syscall.EEXIST
	case how == fs.Exchange && m.fault.noExchange:
		return errors.ErrUnsupported
	case how == fs.Replace && there != gone && m.nodes[there].mode.IsDir():
		return syscall.EISDIR
	case moved == there:
		return nil
	}
	m.stamp(moved)
	left := gone
	if how == fs.Exchange {
		left = there
		m.stamp(left)
	}
	if source == target {
		m.change(source, change{{base, moved}, {old, left}})
		return nil
	}
	m.change(target, change{{base, moved}})
	m.change(source, change{{old, left}})
	return nil
}

// SyncDir implements fs.FS.
func (m *FS) SyncDir(name string) error {
	return m.call("syncdir", name, func() error {
		at, err := m.find(name)
		if err != nil {
			return err
		}
		if err := m.nodes[at].folder(name); err != nil {
			return err
		}
		m.syncNames(at)
		return nil
	}, func(err error) {
		if at, ferr := m.find(name); ferr == nil && errors.Is(err, syscall.EIO) {
			m.lose(at)
		}
	})
}

// SyncAll implements fs.FS.
func (m *FS) SyncAll(name string) error {
	return m.call("syncall", name, func() error {
		if m.fault.noSyncAll {
			return errors.ErrUnsupported
		}
		m.each(0, func(at id) {
			m.sync(at)
			m.syncNames(at)
		})
		return nil
	}, func(err error) {
		if errors.Is(err, syscall.EIO) {
			m.each(0, m.lose)
		}
	})
}

// Touch implements fs.FS.
func (m *FS) Touch(name string) (at time.Time, err error) {
	err = m.call("touch", name, func() error {
		file, err := m.open(name, fs.ForAppending, 0o666)
		if err == nil {
			m.stamp(file)
			n := m.own(file)
			n.modified, at = n.changed, n.changed
		}
		return err
	}, nil)
	return at, err
}

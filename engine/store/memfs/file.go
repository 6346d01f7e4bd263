package memfs

import (
	"errors"
	"io"
	iofs "io/fs"

	"placet/engine/store/fs"
)

// file is an open file.
type file struct {
	m      *FS
	at     id
	name   string
	closed bool
}

func (f *file) node() *node { return f.m.nodes[f.at] }

func (f *file) ReadAt(p []byte, off int64) (n int, err error) {
	err = f.m.call("read", f.name, func() error {
		data := f.node().data
		if off >= int64(len(data)) {
			return io.EOF
		}
		n = copy(p, data[off:])
		if n < len(p) {
			return io.EOF
		}
		return nil
	}, nil)
	return n, err
}

func (f *file) Write(p []byte) (n int, err error) {
	write := func(p []byte) {
		f.m.add(f.at, p)
		n = len(p)
	}
	c := Call{Op: "write", Name: f.name, at: f.at, data: p}
	err = f.m.make(c, func() error {
		write(p)
		return nil
	}, func(error) { write(p[:len(p)/2]) })
	return n, err
}

func (f *file) Stat() (info fs.Info, err error) {
	err = f.m.call("fstat", f.name, func() error {
		info = f.node().info(f.name)
		return nil
	}, nil)
	return info, err
}

func (f *file) Truncate(size int64) error {
	return f.m.call("truncate", f.name, func() error {
		data := make([]byte, size)
		copy(data, f.node().data)
		f.m.set(f.at, data)
		return nil
	}, nil)
}

func (f *file) Chown(uid, gid uint32) error {
	return f.m.call("chown", f.name, func() error {
		n := f.m.own(f.at)
		n.uid, n.gid = uid, gid
		f.m.stamp(f.at)
		return nil
	}, nil)
}

func (f *file) Chmod(mode iofs.FileMode) error {
	return f.m.call("chmod", f.name, func() error {
		f.m.own(f.at).mode = mode.Perm()
		f.m.stamp(f.at)
		return nil
	}, nil)
}

func (f *file) Sync() error {
	return f.m.call("sync", f.name, func() error {
		f.m.sync(f.at)
		return nil
	}, func(err error) {
		if !errors.Is(err, ErrCrashed) { // a caller that is killed meanwhile sees no failure, and there was none
			f.m.lose(f.at)
		}
	})
}

func (f *file) TryLock() error {
	return f.m.call("trylock", f.name, func() error {
		n := f.m.own(f.at)
		if n.locked != nil && n.locked != f {
			return fs.ErrBusy
		}
		n.locked = f
		return nil
	}, nil)
}

// Close never fails and is not counted as a call, because a crash closes
// files, too.
func (f *file) Close() error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if f.closed {
		return nil
	}
	f.closed = true
	n := f.m.own(f.at)
	if n.locked == f {
		n.locked = nil
	}
	n.opened--
	f.m.release(f.at)
	return nil
}

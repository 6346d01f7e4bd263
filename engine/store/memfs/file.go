package memfs

import (
	"io"
	"io/fs"

	"placet/engine/store"
)

// file is an open file.
type file struct {
	m      *FS
	n      *node
	name   string
	closed bool
}

func (f *file) ReadAt(p []byte, off int64) (n int, err error) {
	err = f.m.call("read", f.name, func() error {
		if off >= int64(len(f.n.data)) {
			return io.EOF
		}
		n = copy(p, f.n.data[off:])
		if n < len(p) {
			return io.EOF
		}
		return nil
	}, nil)
	return n, err
}

func (f *file) Write(p []byte) (n int, err error) {
	write := func(p []byte) {
		f.m.set(f.n, append(f.n.data[:len(f.n.data):len(f.n.data)], p...))
		n = len(p)
	}
	err = f.m.call("write", f.name, func() error {
		write(p)
		return nil
	}, func(error) { write(p[:len(p)/2]) })
	return n, err
}

func (f *file) Stat() (info store.Info, err error) {
	err = f.m.call("fstat", f.name, func() error {
		info = f.n.info(f.name)
		return nil
	}, nil)
	return info, err
}

func (f *file) Truncate(size int64) error {
	return f.m.call("truncate", f.name, func() error {
		data := make([]byte, size)
		copy(data, f.n.data)
		f.m.set(f.n, data)
		return nil
	}, nil)
}

func (f *file) Chown(uid, gid uint32) error {
	return f.m.call("chown", f.name, func() error {
		f.n.uid, f.n.gid = uid, gid
		f.m.stamp(f.n)
		return nil
	}, nil)
}

func (f *file) Chmod(mode fs.FileMode) error {
	return f.m.call("chmod", f.name, func() error {
		f.n.mode = mode
		f.m.stamp(f.n)
		return nil
	}, nil)
}

func (f *file) Sync() error {
	return f.m.call("sync", f.name, func() error {
		f.n.sync()
		return nil
	}, func(error) { f.n.lose() })
}

func (f *file) TryLock() error {
	return f.m.call("trylock", f.name, func() error {
		if f.n.locked != nil && f.n.locked != f {
			return store.ErrBusy
		}
		f.n.locked = f
		return nil
	}, nil)
}

// Close is no call that can fail here: a crash closes files too.
func (f *file) Close() error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if f.closed {
		return nil
	}
	f.closed = true
	if f.n.locked == f {
		f.n.locked = nil
	}
	f.n.opened--
	f.m.release(f.n)
	return nil
}

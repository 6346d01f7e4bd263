//go:build unix

package fs

import (
	"errors"
	"io"
	iofs "io/fs"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// osFile is an open file of the machine. It holds a descriptor instead of an [os.File],
// because Go would first ask the kernel whether the file can be waited for, which no regular
// file can.
type osFile struct {
	// mu is held shared by each call, and exclusively by Close: the number of a closed
	// descriptor may belong to another file a moment later.
	mu      sync.RWMutex
	fd      int // -1 once the file is closed
	name    string
	locking bool // the file was opened to be locked
	// opened describes the file as it was opened, for the first Stat; nil afterwards.
	opened atomic.Pointer[Info]
}

// Close implements [File]. It releases the lock explicitly, because a process that is being
// started at this moment may still have the descriptor.
func (f *osFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fd < 0 {
		return f.failed("close", os.ErrClosed)
	}
	if f.locking {
		_ = retry(func() error { return unix.Flock(f.fd, unix.LOCK_UN) })
	}
	fd := f.fd
	f.fd = -1
	return f.failed("close", closeFD(fd))
}

// closeFD closes a descriptor. A descriptor whose close a signal interrupted is closed, too.
func closeFD(fd int) error {
	if err := unix.Close(fd); !errors.Is(err, unix.EINTR) {
		return err
	}
	return nil
}

func (f *osFile) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		got := 0
		err := f.call("read", func() (err error) {
			got, err = unix.Pread(f.fd, p[n:], off+int64(n))
			return err
		})
		switch {
		case err != nil:
			return n, err
		case got == 0:
			return n, io.EOF
		}
		n += got
	}
	return n, nil
}

func (f *osFile) Write(p []byte) (n int, err error) {
	for n < len(p) {
		put := 0
		err := f.call("write", func() (err error) {
			put, err = unix.Write(f.fd, p[n:])
			return err
		})
		switch {
		case err != nil:
			return n, err
		case put == 0:
			return n, f.failed("write", io.ErrUnexpectedEOF)
		}
		n += put
	}
	return n, nil
}

// Stat implements [File]. The first call returns what opening the file has shown.
func (f *osFile) Stat() (Info, error) {
	if opened := f.opened.Swap(nil); opened != nil {
		return *opened, nil
	}
	var st unix.Stat_t
	err := f.call("stat", func() error { return unix.Fstat(f.fd, &st) })
	return infoOf(f.name, &st), err
}

func (f *osFile) Truncate(size int64) error {
	return f.call("truncate", func() error { return unix.Ftruncate(f.fd, size) })
}

func (f *osFile) Chown(uid, gid uint32) error {
	return f.call("chown", func() error { return unix.Fchown(f.fd, int(uid), int(gid)) })
}

func (f *osFile) Chmod(mode iofs.FileMode) error {
	return f.call("chmod", func() error { return unix.Fchmod(f.fd, uint32(mode.Perm())) })
}

func (f *osFile) Sync() error {
	return f.call("sync", func() error { return fsync(f.fd) })
}

func (f *osFile) TryLock() error {
	err := f.call("lock", func() error { return unix.Flock(f.fd, unix.LOCK_EX|unix.LOCK_NB) })
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		return ErrBusy
	case errors.Is(err, unix.ENOLCK), errors.Is(err, unix.EINVAL), unsupported(err):
		return errors.ErrUnsupported
	}
	return err
}

// call makes a call on the file's descriptor.
func (f *osFile) call(op string, call func() error) error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.fd < 0 {
		return f.failed(op, os.ErrClosed)
	}
	return f.failed(op, retry(call))
}

// failed adds the name of the file to an error; it returns nil for nil.
func (f *osFile) failed(op string, err error) error {
	if err == nil {
		return nil
	}
	return &os.PathError{Op: op, Path: f.name, Err: err}
}

// unsupported reports whether an error says that the file system lacks a call.
func unsupported(err error) bool {
	return errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EOPNOTSUPP)
}

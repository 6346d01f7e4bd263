//go:build unix

package fs

import (
	"errors"
	"io"
	iofs "io/fs"

	"golang.org/x/sys/unix"
)

// osFile is an open file of the machine.
type osFile struct {
	fd   int
	name string
}

func (f osFile) fail(op string, err error) error {
	if err == nil {
		return nil
	}
	return &iofs.PathError{Op: op, Path: f.name, Err: err}
}

func (f osFile) ReadAt(p []byte, off int64) (int, error) {
	total := 0
	for total < len(p) {
		n, err := again(func() (int, error) { return unix.Pread(f.fd, p[total:], off+int64(total)) })
		if err != nil {
			return total, f.fail("read", err)
		}
		if n == 0 {
			return total, io.EOF
		}
		total += n
	}
	return total, nil
}

func (f osFile) Write(p []byte) (int, error) {
	total := 0
	for total < len(p) {
		n, err := again(func() (int, error) { return unix.Write(f.fd, p[total:]) })
		if err == nil && n == 0 {
			err = io.ErrShortWrite
		}
		if err != nil {
			return total, f.fail("write", err)
		}
		total += n
	}
	return total, nil
}

func (f osFile) Stat() (Info, error) {
	var st unix.Stat_t
	err := retry(func() error { return unix.Fstat(f.fd, &st) })
	return infoOf(f.name, &st), f.fail("stat", err)
}

func (f osFile) Truncate(size int64) error {
	return f.fail("truncate", retry(func() error { return unix.Ftruncate(f.fd, size) }))
}

func (f osFile) Chown(uid, gid uint32) error {
	return f.fail("chown", retry(func() error { return unix.Fchown(f.fd, int(uid), int(gid)) }))
}

func (f osFile) Chmod(mode iofs.FileMode) error {
	return f.fail("chmod", retry(func() error { return unix.Fchmod(f.fd, uint32(mode.Perm())) }))
}

func (f osFile) Sync() error {
	return f.fail("sync", retry(func() error { return flush(f.fd) }))
}

func (f osFile) TryLock() error {
	err := retry(func() error { return unix.Flock(f.fd, unix.LOCK_EX|unix.LOCK_NB) })
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		return ErrBusy
	case errors.Is(err, unix.ENOLCK), errors.Is(err, unix.EINVAL), unsupported(err):
		return errors.ErrUnsupported
	}
	return f.fail("lock", err)
}

func (f osFile) Close() error { return f.fail("close", unix.Close(f.fd)) }

// unsupported reports whether an error says that the file system lacks a call.
func unsupported(err error) bool {
	return errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EOPNOTSUPP)
}

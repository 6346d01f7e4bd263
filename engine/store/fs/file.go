//go:build unix

package fs

import (
	"errors"
	iofs "io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// osFile is an open file of the machine.
type osFile struct {
	*os.File
	locking bool // it was opened to be locked
}

// Close implements [File]. The lock is given up by itself: a process that is being started at
// this moment may still have the descriptor.
func (f osFile) Close() error {
	if f.locking {
		_ = f.control("unlock", func(fd int) error { return unix.Flock(fd, unix.LOCK_UN) })
	}
	return f.File.Close()
}

func (f osFile) Stat() (Info, error) {
	var st unix.Stat_t
	err := f.control("stat", func(fd int) error { return unix.Fstat(fd, &st) })
	return infoOf(f.Name(), &st), err
}

func (f osFile) Chown(uid, gid uint32) error { return f.File.Chown(int(uid), int(gid)) }

func (f osFile) Chmod(mode iofs.FileMode) error { return f.File.Chmod(mode.Perm()) }

func (f osFile) TryLock() error {
	err := f.control("lock", func(fd int) error { return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) })
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		return ErrBusy
	case errors.Is(err, unix.ENOLCK), errors.Is(err, unix.EINVAL), unsupported(err):
		return errors.ErrUnsupported
	}
	return err
}

// control makes a call on the file's descriptor.
func (f osFile) control(op string, call func(fd int) error) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	if cerr := conn.Control(func(fd uintptr) { err = retry(func() error { return call(int(fd)) }) }); cerr != nil {
		err = cerr
	}
	if err != nil {
		return &os.PathError{Op: op, Path: f.Name(), Err: err}
	}
	return nil
}

// unsupported reports whether an error says that the file system lacks a call.
func unsupported(err error) bool {
	return errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EOPNOTSUPP)
}

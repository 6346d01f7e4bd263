package fs

import (
	"errors"

	"golang.org/x/sys/unix"
)

// fsync makes the content of an open file, or the names in an open folder, durable. Only
// F_FULLFSYNC makes the drive write what it holds; file systems without it have fsync.
func fsync(fd int) error {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_FULLFSYNC, 0)
	if errors.Is(err, unix.ENOTSUP) {
		return unix.Fsync(fd)
	}
	return err
}

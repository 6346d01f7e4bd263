//go:build unix && !linux && !darwin

package fs

import "golang.org/x/sys/unix"

// fsync makes the content of an open file, or the names in an open folder, durable.
func fsync(fd int) error { return unix.Fsync(fd) }

//go:build unix

package fs

import (
	"errors"
	"path"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// walk opens a clean name part by part, so that no link is followed even if the
// kernel has no call for that. A clean name that leaves the root begins with
// "..".
func (o osFS) walk(name string, flags int, perm uint32) (int, error) {
	if name == ".." || strings.HasPrefix(name, "../") {
		return -1, unix.EXDEV
	}
	defer runtime.KeepAlive(o.home)
	home, root := o.at(".")
	dir, err := again(func() (int, error) { return unix.Openat(home, root, folderFlags|unix.O_CLOEXEC, 0) })
	if err != nil {
		return -1, err
	}
	defer func() { unix.Close(dir) }()
	parts := strings.Split(path.Dir(name), "/")
	for _, part := range parts {
		if part == "." {
			continue
		}
		next, err := again(func() (int, error) {
			return unix.Openat(dir, part, folderFlags|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		})
		if err != nil {
			return -1, linkInWay(dir, part, err)
		}
		unix.Close(dir)
		dir = next
	}
	base := path.Base(name)
	fd, err := again(func() (int, error) { return unix.Openat(dir, base, flags, perm) })
	return fd, linkInWay(dir, base, err)
}

// linkInWay turns ENOTDIR into ELOOP if a kernel returns it for a link that is
// opened as a folder.
func linkInWay(dir int, part string, err error) error {
	var st unix.Stat_t
	if errors.Is(err, unix.ENOTDIR) && unix.Fstatat(dir, part, &st, unix.AT_SYMLINK_NOFOLLOW) == nil &&
		uint32(st.Mode)&unix.S_IFMT == unix.S_IFLNK {
		return unix.ELOOP
	}
	return err
}

// moveWithout works without the kernel's exclusive rename: it makes a second
// name for the file, which must not exist, and removes the first. It cannot
// exchange names.
func moveWithout(fromDir int, from string, toDir int, to string, how Move) error {
	if how == Exchange {
		return unix.EOPNOTSUPP
	}
	err := unix.Linkat(fromDir, from, toDir, to, 0)
	if err == nil {
		return unix.Unlinkat(fromDir, from, 0)
	}
	if errors.Is(err, unix.EEXIST) {
		return err
	}
	var st unix.Stat_t
	switch serr := unix.Fstatat(toDir, to, &st, unix.AT_SYMLINK_NOFOLLOW); {
	case serr == nil:
		return unix.EEXIST
	case !errors.Is(serr, unix.ENOENT):
		return serr
	}
	return unix.Renameat(fromDir, from, toDir, to)
}

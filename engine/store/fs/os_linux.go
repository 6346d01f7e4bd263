package fs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// folderFlags open a folder for calls on names in it; they need no right to read the
// folder.
const folderFlags = unix.O_PATH | unix.O_DIRECTORY

// noOpenat2 is set once the kernel, or a filter around this process, has
// refused openat2.
var noOpenat2 atomic.Bool

// WithoutOpenat2 makes this package work without openat2, as on older kernels, until
// restore is called.
func WithoutOpenat2() (restore func()) {
	was := noOpenat2.Swap(true)
	return func() { noOpenat2.Store(was) }
}

// openBelow opens a clean name below the root. It follows no link in any part, and
// never leaves the root.
func (o osFS) openBelow(name string, flags int, perm uint32) (int, error) {
	if noOpenat2.Load() {
		return o.walk(name, flags, perm)
	}
	// O_NOFOLLOW would make a link in a folder's place ENOTDIR, not ELOOP.
	how := unix.OpenHow{Flags: uint64(flags &^ unix.O_NOFOLLOW), Resolve: unix.RESOLVE_NO_SYMLINKS}
	if flags&unix.O_CREAT != 0 {
		how.Mode = uint64(perm)
	}
	if flags&unix.O_PATH != 0 {
		how.Flags &^= unix.O_NONBLOCK | unix.O_NOCTTY // openat2 refuses them together
	}
	defer runtime.KeepAlive(o.home)
	dir, rel := o.at(name)
	if o.home != nil { // otherwise the name is a path from the file system's root
		how.Resolve |= unix.RESOLVE_BENEATH
	}
	fd, err := again(func() (int, error) { return unix.Openat2(dir, rel, &how) })
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) {
		if fd, werr := o.walk(name, flags, perm); !errors.Is(werr, unix.EPERM) {
			noOpenat2.Store(true) // the call is refused, not the file
			return fd, werr
		}
	}
	return fd, err
}

// hasNoLinks reports whether the kernel confirms that the path of a folder has no
// links.
func hasNoLinks(dir string) bool {
	how := unix.OpenHow{Flags: folderFlags | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	fd, err := again(func() (int, error) { return unix.Openat2(unix.AT_FDCWD, dir, &how) })
	if err != nil {
		return false
	}
	unix.Close(fd)
	return true
}

// move renames within or between two open folders.
func move(fromDir int, from string, toDir int, to string, how Move) error {
	if how == Replace {
		return unix.Renameat(fromDir, from, toDir, to)
	}
	flag := uint(unix.RENAME_NOREPLACE)
	if how == Exchange {
		flag = unix.RENAME_EXCHANGE
	}
	err := unix.Renameat2(fromDir, from, toDir, to, flag)
	if errors.Is(err, unix.EINVAL) || unsupported(err) {
		return moveWithout(fromDir, from, toDir, to, how)
	}
	return err
}

// buffers holds buffers for reading the names of folders.
var buffers = sync.Pool{New: func() any { return new([16 << 10]byte) }}

// namesIn reads the names in an open folder.
func namesIn(fd int) (names []Name, err error) {
	buf := buffers.Get().(*[16 << 10]byte)
	defer buffers.Put(buf)
	for {
		n, err := again(func() (int, error) { return unix.ReadDirent(fd, buf[:]) })
		if err != nil || n == 0 {
			return names, err
		}
		for left := buf[:n]; len(left) > 0; {
			var entry *unix.Dirent
			name := left[unsafe.Offsetof(entry.Name):]
			inode := binary.NativeEndian.Uint64(left[unsafe.Offsetof(entry.Ino):])
			typ := left[unsafe.Offsetof(entry.Type)]
			left = left[binary.NativeEndian.Uint16(left[unsafe.Offsetof(entry.Reclen):]):]
			name = name[:bytes.IndexByte(name, 0)]
			if inode == 0 || string(name) == "." || string(name) == ".." {
				continue
			}
			mode, err := typeOf(fd, string(name), typ)
			if errors.Is(err, unix.ENOENT) {
				continue
			}
			if err != nil {
				return nil, err
			}
			names = append(names, Name{Name: string(name), Inode: inode, Mode: mode})
		}
	}
}

// typeOf returns the type of a name in an open folder; the folder itself may not hold
// it.
func typeOf(fd int, name string, typ uint8) (iofs.FileMode, error) {
	if typ != unix.DT_UNKNOWN {
		return modeOf(uint32(typ) << 12), nil
	}
	var st unix.Stat_t
	err := retry(func() error { return unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	return modeOf(st.Mode & unix.S_IFMT), err
}

// touch sets both times of a name to the file system's present.
func touch(dir int, base string) error {
	now := []unix.Timespec{{Nsec: unix.UTIME_NOW}, {Nsec: unix.UTIME_NOW}}
	return unix.UtimesNanoAt(dir, base, now, unix.AT_SYMLINK_NOFOLLOW)
}

// fsync makes the content of an open file, or the names in an open folder, durable.
func fsync(fd int) error { return unix.Fsync(fd) }

// syncAll syncs the file system of an open folder. It supports those whose syncfs waits
// for the disk, on kernels that report the errors of syncfs (since 5.8).
func syncAll(fd int) error {
	var st unix.Statfs_t
	if err := retry(func() error { return unix.Fstatfs(fd, &st) }); err != nil {
		return err
	}
	switch int64(st.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.TMPFS_MAGIC:
	default:
		return errors.ErrUnsupported
	}
	if !syncfsTells() {
		return errors.ErrUnsupported
	}
	return retry(func() error { return unix.Syncfs(fd) })
}

// Unwritten implements FS.
func (o osFS) Unwritten() (bytes int64, known bool) {
	info, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(info)) {
		name, rest, _ := strings.Cut(line, ":")
		if name != "Dirty" && name != "Writeback" {
			continue
		}
		var kib int64
		if _, err := fmt.Sscanf(rest, "%d kB", &kib); err != nil {
			return 0, false
		}
		bytes, known = bytes+kib<<10, true
	}
	return bytes, known
}

// syncfsTells reports whether the kernel's syncfs returns errors.
var syncfsTells = sync.OnceValue(func() bool {
	var uts unix.Utsname
	if unix.Uname(&uts) != nil {
		return false
	}
	var major, minor int
	n, _ := fmt.Sscanf(unix.ByteSliceToString(uts.Release[:]), "%d.%d", &major, &minor)
	return n == 2 && (major > 5 || major == 5 && minor >= 8)
})

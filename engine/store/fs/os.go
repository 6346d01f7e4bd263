//go:build unix

package fs

import (
	"errors"
	iofs "io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// OS returns the file system of the machine, rooted at a folder. If the root is reached over
// links, they are resolved once, here; no link below it is followed.
//
// All names stay relative to the folder that the root is now, even if it is moved: a folder that
// takes its place is another folder, and is not touched.
func OS(root string) FS {
	abs, err := filepath.Abs(root)
	if err != nil {
		abs = root
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	}
	return osFS{root: abs, home: homeAt(abs)}
}

// RealPath returns the path of a folder without links. If no link leads to it, one call is
// enough.
func RealPath(dir string) (string, error) {
	if filepath.IsAbs(dir) && hasNoLinks(dir) {
		return filepath.Clean(dir), nil
	}
	return filepath.EvalSymlinks(dir)
}

// At returns the file system below an open folder, which must stay open while the file system is
// used.
func At(dir *os.File) (FS, error) {
	h := &home{fd: int(dir.Fd()), dir: dir}
	if err := h.identify(); err != nil {
		return nil, &iofs.PathError{Op: "stat", Path: dir.Name(), Err: err}
	}
	return osFS{root: dir.Name(), home: h}, nil
}

type osFS struct {
	root string
	home *home // nil if there was no such folder: names are paths then
}

// home is the folder that the root was at first, held open.
type home struct {
	fd            int
	dir           *os.File // the owner of fd; nil if home owns it
	device, inode uint64
}

// identify records which folder home is.
func (h *home) identify() error {
	var st unix.Stat_t
	err := retry(func() error { return unix.Fstat(h.fd, &st) })
	h.device, h.inode = uint64(st.Dev), uint64(st.Ino)
	return err
}

func homeAt(root string) *home {
	fd, err := again(func() (int, error) { return unix.Open(root, folderFlags|unix.O_CLOEXEC, 0) })
	if err != nil {
		return nil
	}
	h := &home{fd: fd}
	if h.identify() != nil {
		unix.Close(fd)
		return nil
	}
	runtime.AddCleanup(h, func(fd int) { unix.Close(fd) }, fd)
	return h
}

func (o osFS) Root() string { return o.root }

// at returns a clean relative name in the form for calls that take a folder. The home must be
// kept alive until the call has returned.
func (o osFS) at(name string) (dir int, rel string) {
	if o.home == nil {
		return unix.AT_FDCWD, filepath.Join(o.root, name)
	}
	return o.home.fd, name
}

// Away implements FS.
func (o osFS) Away() (why string) {
	if o.home == nil {
		return ""
	}
	var st unix.Stat_t
	err := retry(func() error { return unix.Lstat(o.root, &st) })
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR):
		return "there is no folder " + o.root
	case err == nil && (uint64(st.Dev) != o.home.device || uint64(st.Ino) != o.home.inode):
		return "another folder is at " + o.root
	}
	return ""
}

// noFollow are the flags of every opening: it must not block on a FIFO, make a terminal the
// controlling one, or follow a link.
const noFollow = unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC

func (h How) flags() int {
	switch h {
	case ForCreating:
		return unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL | unix.O_APPEND
	case ForAppending:
		return unix.O_RDWR | unix.O_CREAT | unix.O_APPEND
	case ForLocking:
		return unix.O_RDWR | unix.O_CREAT
	case ForLockingExisting:
		return unix.O_RDWR
	}
	return unix.O_RDONLY
}

func (o osFS) Open(name string, how How, perm iofs.FileMode) (File, error) {
	locking := how == ForLocking || how == ForLockingExisting
	fd, err := o.open(name, how.flags(), uint32(perm.Perm()))
	if locking && unreachable(err) {
		// flock needs no right to write, but some network file systems lock exclusively only a
		// file that is open for writing.
		fd, err = o.open(name, unix.O_RDONLY, 0)
	}
	if err != nil {
		return nil, o.explain("open", name, err)
	}
	f := &osFile{fd: fd, name: name, locking: locking}
	if how == ForCreating {
		return f, nil // it did not exist before, so it is a regular file
	}
	info, err := f.Stat()
	if err == nil {
		err = Irregular(name, info.Mode)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	f.opened.Store(&info)
	return f, nil
}

func unreachable(err error) bool {
	return errors.Is(err, iofs.ErrPermission) || errors.Is(err, unix.EROFS)
}

// open opens a name: a name below the root without following links, an absolute name like any
// program.
func (o osFS) open(name string, flags int, perm uint32) (int, error) {
	if strings.HasPrefix(name, "/") {
		return again(func() (int, error) { return unix.Open(name, flags|noFollow&^unix.O_NOFOLLOW, perm) })
	}
	return o.openBelow(path.Clean(name), flags|noFollow, perm)
}

// explain turns ELOOP, and the errors of opening a socket or a folder, into words.
func (o osFS) explain(op, name string, err error) error {
	switch {
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.EMLINK):
		return &NotRegular{Name: name, Is: o.link(name)}
	case errors.Is(err, unix.ENXIO), errors.Is(err, unix.EISDIR), errors.Is(err, unix.EOPNOTSUPP):
		if info, serr := o.Stat(name); serr == nil && !info.IsRegular() {
			return Irregular(name, info.Mode)
		}
	}
	return &iofs.PathError{Op: op, Path: name, Err: err}
}

// link says which part of a name is the link.
func (o osFS) link(name string) string {
	at := ""
	for _, part := range strings.Split(path.Dir(name), "/") {
		at = path.Join(at, part)
		if info, err := os.Lstat(filepath.Join(o.root, at)); err == nil && info.Mode()&iofs.ModeSymlink != 0 {
			return "reached over the symbolic link " + at
		}
	}
	return "a symbolic link"
}

// parent opens the folder of a name, for the calls that take one.
func (o osFS) parent(name string) (dir int, base string, err error) {
	name = path.Clean(name)
	dir, err = o.openBelow(path.Dir(name), folderFlags|noFollow, 0)
	return dir, path.Base(name), err
}

// in makes a call on a name in its folder.
func (o osFS) in(op, name string, call func(dir int, base string) error) error {
	dir, base, err := o.parent(name)
	if err == nil {
		err = retry(func() error { return call(dir, base) })
		unix.Close(dir)
	}
	if err != nil {
		return o.explain(op, name, err)
	}
	return nil
}

func (o osFS) Stat(name string) (Info, error) {
	var st unix.Stat_t
	defer runtime.KeepAlive(o.home)
	call := func() error {
		dir, rel := o.at(name)
		return unix.Fstatat(dir, rel, &st, unix.AT_SYMLINK_NOFOLLOW)
	}
	if strings.HasPrefix(name, "/") {
		call = func() error { return unix.Stat(name, &st) }
	}
	if err := retry(call); err != nil {
		return Info{}, &iofs.PathError{Op: "stat", Path: name, Err: err}
	}
	return infoOf(path.Base(name), &st), nil
}

func (o osFS) List(dir string) (names []Name, err error) {
	err = o.withDir("list", dir, func(fd int) error {
		names, err = namesIn(fd)
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(names, func(a, b Name) int { return strings.Compare(a.Name, b.Name) })
	return names, nil
}

func (o osFS) Mkdir(dir string, mode iofs.FileMode) error {
	return o.in("mkdir", dir, func(parent int, base string) error { return unix.Mkdirat(parent, base, uint32(mode.Perm())) })
}

func (o osFS) Remove(name string) error {
	return o.in("remove", name, func(dir int, base string) error { return unix.Unlinkat(dir, base, 0) })
}

func (o osFS) Rename(from, to string, how Move) error {
	return o.in("rename", to, func(dir int, base string) error {
		if path.Dir(path.Clean(from)) == path.Dir(path.Clean(to)) {
			return move(dir, path.Base(from), dir, base, how)
		}
		return o.in("rename", from, func(source int, name string) error { return move(source, name, dir, base, how) })
	})
}

func (o osFS) SyncDir(dir string) error {
	err := o.withDir("sync", dir, fsync)
	if errors.Is(err, unix.EINVAL) {
		return nil
	}
	return err
}

func (o osFS) SyncAll(dir string) error {
	return o.withDir("sync", dir, syncAll)
}

// withDir makes a call on an open folder.
func (o osFS) withDir(op, dir string, call func(fd int) error) error {
	fd, err := o.openBelow(path.Clean(dir), unix.O_RDONLY|unix.O_DIRECTORY|noFollow, 0)
	if err != nil {
		return o.explain(op, dir, err)
	}
	defer unix.Close(fd)
	if err := retry(func() error { return call(fd) }); err != nil {
		return &iofs.PathError{Op: op, Path: dir, Err: err}
	}
	return nil
}

func (o osFS) Touch(name string) (time.Time, error) {
	err := o.in("touch", name, touch)
	if errors.Is(err, iofs.ErrNotExist) {
		f, cerr := o.Open(name, ForAppending, 0o666)
		if cerr != nil {
			return time.Time{}, cerr
		}
		err = f.Close()
	}
	if err != nil {
		return time.Time{}, err
	}
	info, err := o.Stat(name)
	return info.Changed, err
}

// retry repeats a call that a signal interrupted.
func retry(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func again(call func() (int, error)) (n int, err error) {
	err = retry(func() error {
		n, err = call()
		return err
	})
	return n, err
}

func infoOf(name string, st *unix.Stat_t) Info {
	return Info{
		Name: name, Mode: modeOf(uint32(st.Mode)), Size: st.Size,
		Inode: uint64(st.Ino), Device: uint64(st.Dev), UID: st.Uid, GID: st.Gid,
		Modified: time.Unix(st.Mtim.Unix()), Changed: time.Unix(st.Ctim.Unix()),
	}
}

// modes maps the system's types of files to those of Go.
var modes = map[uint32]iofs.FileMode{
	unix.S_IFREG: 0, unix.S_IFDIR: iofs.ModeDir, unix.S_IFLNK: iofs.ModeSymlink, unix.S_IFIFO: iofs.ModeNamedPipe,
	unix.S_IFSOCK: iofs.ModeSocket, unix.S_IFBLK: iofs.ModeDevice, unix.S_IFCHR: iofs.ModeDevice,
}

func modeOf(m uint32) iofs.FileMode {
	mode, known := modes[m&unix.S_IFMT]
	if !known {
		mode = iofs.ModeIrregular
	}
	if m&unix.S_ISUID != 0 {
		mode |= iofs.ModeSetuid
	}
	if m&unix.S_ISGID != 0 {
		mode |= iofs.ModeSetgid
	}
	if m&unix.S_ISVTX != 0 {
		mode |= iofs.ModeSticky
	}
	return mode | iofs.FileMode(m&0o777)
}

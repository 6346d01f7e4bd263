//go:build unix && !linux

package fs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// folderFlags open a folder for calls on names in it.
const folderFlags = unix.O_RDONLY | unix.O_DIRECTORY

// WithoutOpenat2 changes nothing, because there is no openat2.
func WithoutOpenat2() (restore func()) { return func() {} }

func (o osFS) openBelow(name string, flags int, perm uint32) (int, error) {
	return o.walk(name, flags, perm)
}

// hasNoLinks returns false, because this system does not tell.
func hasNoLinks(string) bool { return false }

// move renames within or between two open folders.
func move(fromDir int, from string, toDir int, to string, how Move) error {
	if how == Replace {
		return unix.Renameat(fromDir, from, toDir, to)
	}
	return moveWithout(fromDir, from, toDir, to, how)
}

// namesIn reads the names in an open folder, without their inodes.
func namesIn(fd int) ([]Name, error) {
	own, err := unix.Dup(fd) // closed with the folder
	if err != nil {
		return nil, err
	}
	dir := os.NewFile(uintptr(own), ".")
	defer dir.Close()
	found, err := dir.ReadDir(-1)
	names := make([]Name, len(found))
	for i, e := range found {
		names[i] = Name{Name: e.Name(), Mode: e.Type()}
	}
	return names, err
}

func syncAll(int) error { return errors.ErrUnsupported }

// touch sets both times of a name to the file system's present, by writing to it.
func touch(dir int, base string) error {
	fd, err := unix.Openat(dir, base, unix.O_WRONLY|noFollow, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	_, err = unix.Pwrite(fd, []byte{'\n'}, 0)
	return err
}

// Unwritten implements FS.
func (o osFS) Unwritten() (bytes int64, known bool) { return 0, false }

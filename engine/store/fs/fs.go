// Package fs is every file system call that placet makes in a workspace: an interface, and
// the machine's own files behind it. Package memfs has another, in memory.
package fs

import (
	"fmt"
	iofs "io/fs"
	"time"

	"placet/templates"
)

// FS is every file system call that placet makes in a workspace. Names are
// relative to the workspace's root, with slashes; "." is the root itself. No
// call opens or changes anything over a symbolic link in any part of a name, and
// none blocks. Stat looks at the last part itself, but may look through a link
// above it: it is called often, and decides only whether to look. A name that begins with "/" is taken as it is, links followed; only Open for
// reading and Stat take one, because git's folder may lie outside.
//
// Errors are those of the operating system: errors.Is(err, iofs.ErrNotExist),
// errors.Is(err, syscall.ENOSPC) and so on hold. A name that is there but is
// no regular file, or whose way leads over a link, gives a [*NotRegular].
type FS interface {
	// Root is the absolute path of the workspace.
	Root() string
	// Away says why the root is not under its name any more, "" where it is.
	Away() (why string)
	// Unwritten is how many bytes wait to be written to any disk; it is false where
	// nobody can tell.
	Unwritten() (bytes int64, known bool)
	// Open opens a regular file.
	Open(name string, how How, perm iofs.FileMode) (File, error)
	// Stat describes what is under a name.
	Stat(name string) (Info, error)
	// List lists what is in a folder, sorted by name.
	List(dir string) ([]Name, error)
	// Mkdir makes one folder.
	Mkdir(dir string, mode iofs.FileMode) error
	// Rename moves a name.
	Rename(from, to string, how Move) error
	// Remove removes a name that is no folder.
	Remove(name string) error
	// SyncDir makes the names in a folder durable.
	SyncDir(dir string) error
	// SyncAll makes durable whatever was written so far to the file system
	// that a folder lies in. It returns errors.ErrUnsupported where that file
	// system, or the kernel, would not tell of what is lost.
	SyncAll(dir string) error
	// Touch sets a file's times to the file system's own present, creating
	// the file if it is missing, and returns that present.
	Touch(name string) (time.Time, error)
}

// File is an open regular file.
type File interface {
	// ReadAt reads as io.ReaderAt does.
	ReadAt(p []byte, off int64) (int, error)
	// Write adds at the end of the file.
	Write(p []byte) (int, error)
	// Stat describes the open file, whatever name it has by now.
	Stat() (Info, error)
	// Truncate cuts the file.
	Truncate(size int64) error
	// Chown sets the owner and group.
	Chown(uid, gid uint32) error
	// Chmod sets the permission bits and clears the set-id and sticky bits.
	Chmod(mode iofs.FileMode) error
	// Sync makes the content durable. It must not be repeated on the same
	// file after an error: the second call would say nothing about the first.
	Sync() error
	// TryLock takes the exclusive flock or returns ErrBusy at once. It
	// returns errors.ErrUnsupported where the file system has no flock.
	TryLock() error
	// Close closes the file and gives up its lock.
	Close() error
}

// How says what a file is opened for.
type How int

// The ways to open a file.
const (
	// ForReading opens an existing file.
	ForReading How = iota
	// ForCreating creates a file that must not exist.
	ForCreating
	// ForAppending opens a file for reading and adding at its end, creating
	// it if it is missing.
	ForAppending
	// ForLocking opens a file to lock it, creating it if it is missing.
	ForLocking
	// ForLockingExisting opens an existing file to lock it.
	ForLockingExisting
)

// Move says what a rename does with a name that exists.
type Move int

// The ways to rename.
const (
	// Replace replaces the target.
	Replace Move = iota
	// Exclusive refuses an existing target with iofs.ErrExist.
	Exclusive
	// Exchange swaps the two names in one step; both must exist. It returns
	// errors.ErrUnsupported where that cannot be had.
	Exchange
)

// Name is a name as its folder has it.
type Name struct {
	Name  string
	Inode uint64 // 0 where the folder does not tell
	// Mode holds the type bits alone.
	Mode iofs.FileMode
}

// Info describes a name or an open file.
type Info struct {
	Name string
	// Mode holds the type, permission, set-id and sticky bits.
	Mode     iofs.FileMode
	Size     int64
	Inode    uint64
	Device   uint64
	UID, GID uint32
	// Modified is the mtime, Changed the ctime, by the file system's clock.
	Modified, Changed time.Time
}

// IsRegular reports whether it is a regular file.
func (i Info) IsRegular() bool { return i.Mode.IsRegular() }

// NotRegular says that something other than a regular file is under a name.
type NotRegular struct {
	Name string
	// Is says what is there: "a folder", "a FIFO", …
	Is string
}

// Error says what is there and what was expected.
func (e *NotRegular) Error() string {
	return fmt.Sprintf("%s is %s; expected a regular file, which placet reads without following links", e.Name, e.Is)
}

// Irregular returns the error for what is there, nil for a regular file.
func Irregular(name string, mode iofs.FileMode) error {
	if mode.IsRegular() {
		return nil
	}
	return &NotRegular{Name: name, Is: Describe(mode)}
}

// Describe says in words what kind of file a mode means.
func Describe(mode iofs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "a regular file"
	case mode.IsDir():
		return "a folder"
	case mode&iofs.ModeSymlink != 0:
		return "a symbolic link"
	case mode&iofs.ModeNamedPipe != 0:
		return "a FIFO"
	case mode&iofs.ModeSocket != 0:
		return "a socket"
	case mode&iofs.ModeDevice != 0:
		return "a device"
	}
	return "no regular file"
}

// ErrBusy says that somebody else holds a lock.
var ErrBusy = templates.Errorf("store.locked")

// Package fs holds every file system call that placet makes in a workspace: an
// interface, and its implementation over the machine's own files. Package
// memfs implements it in memory.
package fs

import (
	"fmt"
	iofs "io/fs"
	"time"

	"placet/templates"
)

// FS holds every file system call that placet makes in a workspace. Names are
// relative to the workspace's root, with slashes; "." is the root itself. No
// call opens or changes anything over a symbolic link in any part of a name,
// and none blocks. Stat does not follow a link in the last part, but may
// follow a link above it: it is called often, and only decides whether to look
// further. A name that begins with "/" is used unchanged, and its links are
// followed; only Open for reading and Stat accept one, because git's folder
// may be outside the workspace.
//
// Errors are those of the operating system: errors.Is(err, iofs.ErrNotExist),
// errors.Is(err, syscall.ENOSPC) and so on hold. A name that exists but is not a
// regular file, or whose path leads over a link, gives a [*NotRegular].
type FS interface {
	// Root returns the absolute path of the workspace.
	Root() string
	// Away says why the root is no longer under its name, "" if it is.
	Away() (why string)
	// Unwritten returns how many bytes wait to be written to any disk; known
	// is false if that is unknown.
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
	// Remove removes a name that is not a folder.
	Remove(name string) error
	// SyncDir makes the names in a folder durable.
	SyncDir(dir string) error
	// SyncAll makes everything durable that was written so far to the file
	// system of a folder. It returns errors.ErrUnsupported if that file
	// system, or the kernel, would not report losses.
	SyncAll(dir string) error
	// Touch sets a file's times to the file system's present time, creates the
	// file if it is missing, and returns that time.
	Touch(name string) (time.Time, error)
}

// File is an open regular file.
type File interface {
	// ReadAt reads as io.ReaderAt does.
	ReadAt(p []byte, off int64) (int, error)
	// Write appends to the file.
	Write(p []byte) (int, error)
	// Stat describes the open file, even if its name has changed.
	Stat() (Info, error)
	// Truncate cuts the file.
	Truncate(size int64) error
	// Chown sets the owner and group.
	Chown(uid, gid uint32) error
	// Chmod sets the permission bits and clears the set-id and sticky bits.
	Chmod(mode iofs.FileMode) error
	// Sync makes the content durable. It must not be repeated on the same file
	// after an error, because the second call would not report what the first
	// has lost.
	Sync() error
	// TryLock takes the exclusive flock, or returns ErrBusy at once. It
	// returns errors.ErrUnsupported if the file system has no flock.
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
	// ForAppending opens a file for reading and appending, and creates it if
	// it is missing.
	ForAppending
	// ForLocking opens a file to lock it, and creates it if it is missing.
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
	// errors.ErrUnsupported if that is impossible.
	Exchange
)

// Name is one entry of a folder.
type Name struct {
	Name  string
	Inode uint64 // 0 if the folder does not hold it
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

// IsRegular reports whether Info describes a regular file.
func (i Info) IsRegular() bool { return i.Mode.IsRegular() }

// NotRegular says that something other than a regular file is under a name.
type NotRegular struct {
	Name string
	// Is names what is there: "a folder", "a FIFO", …
	Is string
}

// Error says what is there and what was expected.
func (e *NotRegular) Error() string {
	return fmt.Sprintf("%s is %s; expected a regular file, which placet reads without following links", e.Name, e.Is)
}

// Irregular returns the error for something that is not a regular file, nil
// for a regular file.
func Irregular(name string, mode iofs.FileMode) error {
	if mode.IsRegular() {
		return nil
	}
	return &NotRegular{Name: name, Is: Describe(mode)}
}

// Describe names the kind of file that a mode means.
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

package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"placet/layout"
	"placet/templates"
)

// beside lists the suffixes of the files that SQLite opens beside a database.
var beside = []string{"-journal", "-wal", "-shm"}

// errElsewhere says that the workspace is not the one that placet began with.
var errElsewhere = templates.Errorf("sqlite.moved")

// find describes the file under a database's name. errors.Is(err, fs.ErrNotExist)
// holds if there is none. SQLite opens by name, follows links and waits for pipes. So
// no part of the path may be a link, and the database and the files beside it must be
// regular files with that one name, and not too large.
func (d *Databases) find(name string) (fs.FileInfo, error) {
	if !layout.Safe(name) {
		return nil, templates.Errorf("sqlite.path", "file", strconv.Quote(name))
	}
	root, err := d.checkWorkspace()
	if err != nil {
		return nil, err
	}
	if err := checkFolders(root, path.Dir(name)); err != nil {
		return nil, err
	}
	for _, suffix := range beside {
		if _, err := statRegular(root, name+suffix, mostLog); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if err := checkJournal(root, name+"-journal"); err != nil {
		return nil, err
	}
	return statRegular(root, name, mostFile)
}

// superJournal ends a journal that is one of several. The name of a file precedes it,
// which may be anywhere on this machine: SQLite opens that file, even a pipe, reads
// all of it, and deletes it if it names only this journal.
const superJournal = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"

// checkJournal refuses a journal that is one of several.
func checkJournal(root *os.Root, name string) error {
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	end := make([]byte, len(superJournal))
	if _, err := file.ReadAt(end, info.Size()-int64(len(end))); err == nil && string(end) == superJournal {
		return &unfit{name + " belongs to a transaction over several databases: open the database with the program that wrote it, or delete both"}
	}
	return nil
}

// checkWorkspace returns the workspace, if it still has the name under which SQLite
// would find it.
func (d *Databases) checkWorkspace() (*os.Root, error) {
	root, err := d.openWorkspace()
	if err != nil {
		return nil, err
	}
	ours, err := root.Stat(".")
	if err != nil {
		return nil, err
	}
	now, err := os.Stat(d.root)
	if err != nil || !os.SameFile(ours, now) {
		return nil, errElsewhere
	}
	return root, nil
}

// openWorkspace returns the folder that was the workspace at first.
func (d *Databases) openWorkspace() (*os.Root, error) {
	if d.home == nil {
		root, err := os.OpenRoot(d.root)
		if err != nil {
			return nil, err
		}
		d.home = root
	}
	return d.home, nil
}

// checkFolders refuses a path with a part that is not a folder, or is a link.
func checkFolders(root *os.Root, dir string) error {
	if dir == "." {
		return nil
	}
	parts := strings.Split(dir, "/")
	for i := range parts {
		name := path.Join(parts[:i+1]...)
		info, err := root.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return &noFolder{name}
		case err != nil:
			return err
		case !info.IsDir():
			return unexpected(name, info, "a folder")
		}
	}
	return nil
}

// statRegular describes a regular file that has no other name and at most so many
// bytes.
func statRegular(root *os.Root, name string, most int64) (fs.FileInfo, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, unexpected(name, info, "a file of its own")
	}
	if st, is := info.Sys().(*syscall.Stat_t); is && st.Nlink > 1 {
		return nil, &unfit{fmt.Sprintf("%s has %d names: make a copy of it, and give that the name", name, st.Nlink)}
	}
	if info.Size() > most {
		return nil, &unfit{fmt.Sprintf("%s has %d bytes, expected at most %d: move it away, and a new one is made", name, info.Size(), most)}
	}
	return info, nil
}

// noFolder says that the folder of a database is missing.
type noFolder struct{ name string }

func (e *noFolder) Error() string { return "there is no folder " + e.name }

// Is makes a database in a missing folder count as missing.
func (e *noFolder) Is(target error) bool { return target == fs.ErrNotExist }

// unfit says why a file cannot be used.
type unfit struct{ what string }

func (e *unfit) Error() string { return e.what }

// unexpected returns the error for a file that is something else than expected.
func unexpected(name string, info fs.FileInfo, want string) error {
	is := "neither file nor folder"
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		is = "a link, and placet follows none"
	case mode.IsDir():
		is = "a folder"
	case mode.IsRegular():
		is = "a file"
	}
	return &unfit{fmt.Sprintf("%s is %s: expected %s", name, is, want)}
}

// abs returns the absolute name of a database.
func (d *Databases) abs(name string) string { return filepath.Join(d.root, filepath.FromSlash(name)) }

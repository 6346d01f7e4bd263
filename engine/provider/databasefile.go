package provider

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"placet/layout"
)

// beside are the files that SQLite opens beside a database, by name.
var beside = []string{"-journal", "-wal", "-shm"}

// errElsewhere says that the workspace is not the one that placet began with.
var errElsewhere = errors.New("the workspace was moved away: what has its name now is another one")

// errReplaced says that what was written went into a file that has lost its
// name.
var errReplaced = errors.New("was replaced while it was written")

// find returns what is under a database's name, with an error for which
// errors.Is(err, fs.ErrNotExist) holds where there is nothing. SQLite opens by
// name, follows links and waits for pipes: so nothing on the way may be a link,
// and neither the database nor what stands beside it anything but a file.
func (d *Databases) find(name string) (fs.FileInfo, error) {
	if !layout.Safe(name) {
		return nil, fmt.Errorf("%q is no path of a file in the workspace", name)
	}
	root, err := d.workspace()
	if err != nil {
		return nil, err
	}
	if err := foldersTo(root, path.Dir(name)); err != nil {
		return nil, err
	}
	for _, suffix := range beside {
		if _, err := regular(root, name+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return regular(root, name)
}

// workspace returns the workspace, if it still has the name by which SQLite would
// find it.
func (d *Databases) workspace() (*os.Root, error) {
	root, err := d.opened()
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

// opened returns the workspace that was there at first.
func (d *Databases) opened() (*os.Root, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.home == nil {
		root, err := os.OpenRoot(d.root)
		if err != nil {
			return nil, err
		}
		d.home = root
	}
	return d.home, nil
}

// foldersTo says whether all of a path are folders, and none a link.
func foldersTo(root *os.Root, dir string) error {
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
			return unfit(name, info, "a folder")
		}
	}
	return nil
}

// regular returns what is under a name if it is a regular file.
func regular(root *os.Root, name string) (fs.FileInfo, error) {
	info, err := root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = unfit(name, info, "a file of its own")
	}
	return info, err
}

// noFolder says that the folder of a database is missing.
type noFolder struct{ name string }

func (e *noFolder) Error() string { return "there is no folder " + e.name }

// Is makes a database in a folder that is missing a missing one.
func (e *noFolder) Is(target error) bool { return target == fs.ErrNotExist }

// unfit says that there is something else than what was expected.
func unfit(name string, info fs.FileInfo, want string) error {
	is := "neither file nor folder"
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		is = "a link, and placet follows none"
	case mode.IsDir():
		is = "a folder"
	case mode.IsRegular():
		is = "a file"
	}
	return fmt.Errorf("%s is %s: expected %s", name, is, want)
}

// abs is the name by which SQLite opens a database.
func (d *Databases) abs(name string) string { return filepath.Join(d.root, filepath.FromSlash(name)) }

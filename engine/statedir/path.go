package statedir

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"placet/templates"
)

// The state folder of a workspace changes as soon as the workspace's root or git repository
// does, and anybody who can write in the workspace can cause that. So the path alone has a
// second folder, which holds what makes placet stricter.

const (
	workspacesDir = "workspaces"
	pathsDir      = "paths"
)

// pathID returns the name of the folder of a path.
func pathID(root string) (string, error) {
	sum := sha256.Sum256([]byte("placet path\n" + strconv.Quote(root)))
	return hex.EncodeToString(sum[:16]), nil
}

// OpenPath opens the folder of a workspace's path to read it. Its errors are those of
// [Open].
func OpenPath(stateHome, workspace string) (*Dir, error) {
	path, err := place(stateHome, workspace, pathsDir, pathID)
	if err != nil {
		return nil, err
	}
	return open(path)
}

// CreatePath opens the folder of a workspace's path, and makes it if there is none.
func CreatePath(stateHome, workspace string) (*Dir, error) {
	path, err := place(stateHome, workspace, pathsDir, pathID)
	if err != nil {
		return nil, err
	}
	return create(path)
}

// OpenSpelled opens the folder of a path exactly as spelled, to read what makes placet
// stricter, whatever is at the path now: a link may have replaced the folder, or it may be
// gone. Its errors are those of [Open].
func OpenSpelled(stateHome, path string) (*Dir, error) {
	if !filepath.IsAbs(stateHome) {
		return nil, fs.ErrNotExist
	}
	called, err := pathID(filepath.Clean(path))
	if err != nil {
		return nil, err
	}
	at := filepath.Join(resolve(stateHome), "placet", pathsDir, called)
	if err := private(at); err != nil {
		return nil, err
	}
	return open(at)
}

// mostWorkspaces is how many state folders are listed at most.
const mostWorkspaces = 100_000

// Workspaces opens the folder above the state folders of all workspaces, and lists their
// names. The error wraps fs.ErrNotExist if there is none.
func Workspaces(stateHome string) (*Dir, []string, error) {
	path := filepath.Join(resolve(stateHome), "placet", workspacesDir)
	all, err := open(path)
	if err != nil {
		return nil, nil, err
	}
	names, err := all.names()
	if err != nil {
		return nil, nil, errors.Join(err, all.Close())
	}
	return all, names, nil
}

// names lists what is in the folder.
func (d *Dir) names() ([]string, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(mostWorkspaces + 1)
	switch {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, err
	case len(names) > mostWorkspaces:
		return nil, templates.Errorf("statedir.many", "folder", d.path, "most", mostWorkspaces)
	}
	return names, nil
}

// Sub opens one of the state folders below d. The error is [*Unusable] if others could have
// written in it.
func (d *Dir) Sub(name string) (*Dir, error) {
	path := filepath.Join(d.path, name)
	if err := private(path); err != nil {
		return nil, err
	}
	return open(path)
}

// IsForeign reports whether a folder below d belongs to another user: this user has agreed
// to nothing in it.
func (d *Dir) IsForeign(name string) bool {
	info, err := d.root.Lstat(name)
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Uid != uint32(os.Geteuid())
}

// OpenExposed opens the folder in spite of the problem. Others could have written what is in
// it, so it may make placet stricter but never looser.
func (e *Unusable) OpenExposed() (*Dir, error) {
	if e.Path == "" {
		return nil, e
	}
	return open(e.Path)
}

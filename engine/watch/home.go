package watch

import (
	"io/fs"
	"os"
	"path/filepath"
)

// home is the workspace's folder, held open: a folder that later gets the same name is
// another one, in which nothing is watched and nothing is made.
type home struct {
	path string
	root *os.Root // nil until the folder exists
	is   fs.FileInfo
}

// here reports whether the workspace is under its name.
func (h *home) here() bool {
	info, err := os.Lstat(h.path)
	if err != nil || !info.IsDir() {
		return false
	}
	if h.root == nil {
		h.open()
	}
	return h.root == nil || os.SameFile(info, h.is)
}

// open takes the folder under the name as the workspace. If it cannot be opened, only the
// name identifies it.
func (h *home) open() {
	root, err := os.OpenRoot(h.path)
	if err != nil {
		return
	}
	if h.is, err = root.Stat("."); err != nil {
		root.Close()
		return
	}
	h.root = root
}

// touch makes a file in a workspace and removes it at once.
func touch(root *os.Root, name string) (made bool, err error) {
	if root == nil {
		return false, fs.ErrNotExist
	}
	name = filepath.FromSlash(name)
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return false, err
	}
	_ = f.Close()
	return true, root.Remove(name)
}

func (h *home) close() {
	if h.root != nil {
		h.root.Close()
	}
}

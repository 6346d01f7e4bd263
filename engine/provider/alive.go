package provider

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// Alive returns the IDs of the actions whose command runs at this moment, as
// far as what their placet noted below .placet/ tells: each process is known by
// its id and start time. It is for those who only look, beside a daemon or
// without one; it touches nothing, and what it cannot read it leaves out. Where
// the system does not say when a process started it knows of none.
func Alive(root string) map[string]bool {
	alive := map[string]bool{}
	if _, err := os.Lstat(filepath.Join(root, actionsDir)); errors.Is(err, fs.ErrNotExist) {
		return alive // as in most workspaces, and this is asked for every look
	}
	dir, err := os.OpenRoot(root)
	if err != nil {
		return alive
	}
	defer dir.Close()
	names, _ := folders(dir) // those that were listed count
	for _, name := range names {
		if rec, err := readRecord(dir, path.Join(actionsDir, name)); err == nil && rec.runs() == nil {
			alive[rec.ID] = true
		}
	}
	return alive
}

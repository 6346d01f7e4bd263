package provider

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"placet/engine"
)

// Alive returns the IDs of the actions whose command runs at this moment, as
// far as what their placet noted below .placet/ tells: each process is known by
// its id and start time. It is for those who only look, beside a daemon or
// without one; it touches nothing, and what it cannot read it leaves out. Where
// the system does not say when a process started it knows of none.
func Alive(root string) map[string]bool {
	alive := map[string]bool{}
	records(root, func(rec record) {
		if rec.runs() == nil {
			alive[rec.ID] = true
		}
	})
	return alive
}

// Stopped returns the actions that an orderly stop ended and that begin again with
// the next placet, for those who only look; see [Alive].
func Stopped(root string) map[string]engine.Ended {
	ended := map[string]engine.Ended{}
	records(root, func(rec record) {
		if rec.Stopped && rec.Outcome == "" {
			ended[rec.ID] = rec.ended(rec.Started)
		}
	})
	return ended
}

// records reads what is noted below .placet/, as far as it can be read.
func records(root string, each func(record)) {
	if _, err := os.Lstat(filepath.Join(root, actionsDir)); errors.Is(err, fs.ErrNotExist) {
		return // as in most workspaces, and this is asked for every look
	}
	dir, err := os.OpenRoot(root)
	if err != nil {
		return
	}
	defer dir.Close()
	names, _ := folders(dir) // those that were listed count
	for _, name := range names {
		if rec, err := readRecord(dir, path.Join(actionsDir, name)); err == nil {
			each(rec)
		}
	}
}

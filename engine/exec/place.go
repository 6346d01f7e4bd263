package exec

import (
	"fmt"
	"os"
	"path"

	"placet/engine"
	"placet/layout"
)

// place is where a command runs, relative to the workspace: the folder that it
// prefers where there is such a folder, else the one that it names.
func place(root *os.Root, c engine.Command) (string, error) {
	if c.Prefer != "" {
		if dir, err := workingDir(root, c.Prefer); err == nil {
			return dir, nil
		}
	}
	return workingDir(root, c.Dir)
}

// place is the folder that the outcome of a command names which never ran, or
// of which nobody knows where it did: where it would run now.
func (r *Runner) place(c engine.Command) string {
	if root, err := r.open(); err == nil {
		if dir, err := place(root, c); err == nil {
			return dir
		}
	}
	return path.Clean(c.Dir) // "." for ""
}

// workingDir is a folder of the workspace, reached without a link that leads
// out.
func workingDir(root *os.Root, dir string) (string, error) {
	if dir == "" || dir == "." {
		return ".", nil
	}
	if !layout.Safe(dir) {
		return "", fmt.Errorf("cannot run in %q: it is not a folder of the workspace", dir)
	}
	info, err := root.Stat(dir)
	if err != nil {
		return "", fmt.Errorf("cannot run in %q: %v", dir, err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("cannot run in %q: it is not a folder", dir)
	}
	return path.Clean(dir), nil
}

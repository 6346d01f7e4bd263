package config

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"placet/cmd/placet/console"
	"placet/engine/exec"
	"placet/engine/statedir"
	"placet/templates"
)

// marks are what makes a folder a workspace, in any order.
var marks = []string{"placet.toml", ".placet", ".git"}

// findWorkspace returns the workspace: the named folder, else the nearest
// parent of from that is one, else from itself. The path is absolute and
// without links, so that one workspace has one name.
func findWorkspace(stateHome, named, from string) (string, error) {
	if named != "" {
		if !filepath.IsAbs(named) {
			named = filepath.Join(from, named)
		}
		return folder(named)
	}
	dir, err := folder(from)
	if err != nil {
		return "", err
	}
	for _, at := range atAndAbove(dir) {
		if IsWorkspace(stateHome, at) {
			return at, nil
		}
	}
	return dir, nil
}

// mostWorkspaces is how many workspaces may have a word about one call of a tool.
const mostWorkspaces = 32

// WorkspacesAbove returns the workspaces at and above some folders, those of the first folder first
// and of each the nearest first. None ends the search: whoever can make a folder could otherwise
// choose by a mark in it which settings hold there. A folder that is gone is where it was. Both how
// a folder is spelled and where its links lead count; a workspace for which something was agreed to
// under a name that is a link now is returned by that name.
func WorkspacesAbove(stateHome string, dirs ...string) (roots []string, err error) {
	for _, dir := range dirs {
		for _, from := range []string{dir, existing(dir)} {
			for _, at := range atAndAbove(from) {
				if root, err := filepath.EvalSymlinks(at); err == nil && IsMarked(at) && !slices.Contains(roots, root) {
					roots = append(roots, root)
				}
				if !slices.Contains(roots, at) && isAgreed(stateHome, at) {
					roots = append(roots, at)
				}
			}
		}
	}
	if len(roots) > mostWorkspaces {
		return nil, console.Usage("config.root.many", "folder", strconv.Quote(dirs[0]), "n", len(roots), "most", mostWorkspaces)
	}
	return roots, nil
}

// atAndAbove are a folder and those above it, the nearest first.
func atAndAbove(dir string) (folders []string) {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if folders = append(folders, at); at == filepath.Dir(at) {
			return folders
		}
	}
}

// existing is a folder, or the nearest above it that exists, without links.
func existing(dir string) string {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil || at == filepath.Dir(at) {
			return real
		}
	}
}

// IsMarked reports whether a folder has a mark of a workspace.
func IsMarked(dir string) bool {
	return slices.ContainsFunc(marks, func(mark string) bool {
		_, err := os.Lstat(filepath.Join(dir, mark))
		return err == nil
	})
}

// IsWorkspace reports whether a folder has a mark of a workspace, or something that makes placet
// stricter was agreed to for it: whoever takes its marks away takes no gate and no rule with them.
func IsWorkspace(stateHome, dir string) bool { return IsMarked(dir) || isAgreed(stateHome, dir) }

// isAgreed reports whether something that makes placet stricter was agreed to under a path. Where
// that cannot be told it may have been.
func isAgreed(stateHome, path string) bool {
	agreed, err := agreedUnder(stateHome, path)
	return len(agreed) > 0 || err != nil
}

// NoWorkspace is the error of a verb in a folder that has no mark and no runs: what it
// would say is nothing, and wrong where the workspace is another folder.
func NoWorkspace(named, root string) error {
	if named != "" {
		return console.Usage("config.root.none", "folder", strconv.Quote(root)).
			Try("config.root.none.try", "command", templates.CommandLine("placet -C", []string{console.OneLine(root)}, "init"))
	}
	return console.Usage("config.root.nowhere", "folder", strconv.Quote(root)).Try("config.root.nowhere.try")
}

// folder resolves links and insists on a folder.
func folder(p string) (string, error) {
	resolved, err := filepath.EvalSymlinks(p)
	if errors.Is(err, fs.ErrNotExist) {
		return "", console.Usage("config.root.missing", "folder", strconv.Quote(p))
	}
	if err != nil {
		return "", console.Usage("config.root.bad", "folder", strconv.Quote(p), "error", err)
	}
	info, err := os.Stat(resolved)
	if err != nil {
		return "", console.Usage("config.root.bad", "folder", strconv.Quote(p), "error", err)
	}
	if !info.IsDir() {
		return "", console.Usage("config.root.file", "folder", strconv.Quote(p)).Try("config.root.file.try")
	}
	return resolved, nil
}

// inside reports whether p is dir or lies below it; both are absolute and
// without links.
func inside(p, dir string) bool {
	rel, err := filepath.Rel(dir, p)
	return err == nil && rel != ".." && !filepath.IsAbs(rel) && (len(rel) < 3 || rel[:3] != ".."+string(filepath.Separator))
}

// FindRoot returns the workspace.
func FindRoot(w *console.Env) (string, error) {
	return findWorkspace(w.StateHome(), w.Flags.Workspace, w.Cwd)
}

// foldersAbove are the folders above a workspace, and those at and above the folder under whose
// name it was called: a link may stand where it was agreed to something.
func foldersAbove(w *console.Env, root string) (folders []string) {
	called := cmp.Or(w.Flags.Workspace, w.Cwd)
	if !filepath.IsAbs(called) {
		called = filepath.Join(w.Cwd, called)
	}
	for _, at := range append(atAndAbove(root), atAndAbove(called)...) {
		if at != root && !slices.Contains(folders, at) {
			folders = append(folders, at)
		}
	}
	return folders
}

// StateDir opens the state folder of a workspace, and makes it where create says so.
// Without one it is nil, and the error says why; where none was made yet, that is no
// error.
func StateDir(w *console.Env, root string, create bool) (*statedir.Dir, error) {
	open := statedir.Open
	if create {
		open = statedir.Create
	}
	dir, err := open(w.StateHome(), root)
	if errors.Is(err, fs.ErrNotExist) && !create {
		return nil, nil
	}
	return dir, err
}

// PathDir opens the folder of a workspace's path to read in it what makes placet stricter, also
// where others could have written it. It is nil where none can be read.
func PathDir(w *console.Env, root string) *statedir.Dir {
	dir, err := statedir.OpenPath(w.StateHome(), root)
	if unusable := (*statedir.Unusable)(nil); errors.As(err, &unusable) {
		dir, _ = unusable.OpenExposed()
	}
	return dir
}

// SourcesOf are where the settings of a workspace come from.
func SourcesOf(w *console.Env, root string) Sources {
	s := Sources{Workspace: root, Above: foldersAbove(w, root), StateHome: w.StateHome(), Contents: exec.NewContents(root).WithEnv(w.Getenv), Getenv: w.Getenv, Lang: w.Flags.Lang}
	switch config := w.XDG("XDG_CONFIG_HOME", ".config"); {
	case w.Flags.Config != "":
		s.User, s.named = w.Path(w.Flags.Config), true
	case config != "":
		s.User = filepath.Join(config, "placet", "placet.toml")
	}
	return s
}

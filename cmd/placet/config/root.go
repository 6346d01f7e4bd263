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

// marks are the files that make a folder a workspace, in any order.
var marks = []string{"placet.toml", ".placet", ".git"}

// findWorkspace returns the workspace: the named folder, otherwise the nearest workspace at or
// above from, otherwise from itself. The path is absolute and without links, so that one workspace
// has one name.
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

// mostWorkspaces is how many workspaces may judge one call of a tool.
const mostWorkspaces = 32

// WorkspacesAbove returns the workspaces at and above some folders: those of the first folder
// first, and for each the nearest first. The search never stops at a workspace: otherwise anybody
// who can make a folder could choose by a mark in it which settings hold there. A removed folder
// counts at its old place. Both the spelling of a folder and the target of its links count; a
// workspace with an agreement under a name that is a link now is returned by that name.
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

// atAndAbove returns a folder and those above it, the nearest first.
func atAndAbove(dir string) (folders []string) {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if folders = append(folders, at); at == filepath.Dir(at) {
			return folders
		}
	}
}

// existing returns a folder without links, or the nearest one above it that exists.
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

// IsWorkspace reports whether a folder has a mark of a workspace, or an agreement that makes placet
// stricter: removing the marks removes no gate and no rule.
func IsWorkspace(stateHome, dir string) bool { return IsMarked(dir) || isAgreed(stateHome, dir) }

// isAgreed reports whether an agreement under a path makes placet stricter. It returns true if that
// is unknown.
func isAgreed(stateHome, path string) bool {
	agreed, err := agreedUnder(stateHome, path)
	return len(agreed) > 0 || err != nil
}

// NoWorkspace returns the error of a verb in a folder that has no mark and no runs. The verb would
// print nothing, which would be wrong if the workspace is another folder.
func NoWorkspace(named, root string) error {
	if named != "" {
		return console.Usage("config.root.none", "folder", strconv.Quote(root)).
			Try("config.root.none.try", "command", templates.CommandLine("placet -C", []string{console.OneLine(root)}, "init"))
	}
	return console.Usage("config.root.nowhere", "folder", strconv.Quote(root)).Try("config.root.nowhere.try")
}

// folder resolves links and refuses a path that is no folder.
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

// inside reports whether p is dir or lies below it; both are absolute and without links.
func inside(p, dir string) bool {
	rel, err := filepath.Rel(dir, p)
	return err == nil && rel != ".." && !filepath.IsAbs(rel) && (len(rel) < 3 || rel[:3] != ".."+string(filepath.Separator))
}

// FindRoot returns the workspace.
func FindRoot(w *console.Env) (string, error) {
	return findWorkspace(w.StateHome(), w.Flags.Workspace, w.Cwd)
}

// foldersAbove returns the folders above a workspace, and those at and above the folder by whose
// name it was called, because that name may be a link now.
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

// StateDir opens the state folder of a workspace, and creates it if create is set. It returns nil
// without a folder, and an error that says why; a folder that was never created is no error.
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

// PathDir opens the folder for a workspace's path to read the agreements in it that make placet
// stricter, even if others could have written it. It returns nil if it cannot read one.
func PathDir(w *console.Env, root string) *statedir.Dir {
	dir, err := statedir.OpenPath(w.StateHome(), root)
	if unusable := (*statedir.Unusable)(nil); errors.As(err, &unusable) {
		dir, _ = unusable.OpenExposed()
	}
	return dir
}

// SourcesOf returns the sources of the settings of a workspace.
func SourcesOf(w *console.Env, root string) Sources {
	s := Sources{Workspace: root, Above: foldersAbove(w, root), StateHome: w.StateHome(), Contents: exec.NewContents(root).WithEnv(w.Getenv), Getenv: w.Getenv, Lang: w.Flags.Lang, spares: w.Spares}
	switch config := w.XDG("XDG_CONFIG_HOME", ".config"); {
	case w.Flags.Config != "":
		s.User, s.named = w.Path(w.Flags.Config), true
	case config != "":
		s.User = filepath.Join(config, "placet", "placet.toml")
	}
	return s
}

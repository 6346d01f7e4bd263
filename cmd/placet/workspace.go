package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"placet/templates"
)

// marks are what makes a folder a workspace, in any order.
var marks = []string{"placet.toml", ".placet", ".git"}

// findWorkspace returns the workspace: the named folder, else the nearest
// parent of from that has a mark, else from itself. The path is absolute and
// without links, so that one workspace has one name.
func findWorkspace(named, from string) (string, error) {
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
	for at := dir; ; at = filepath.Dir(at) {
		if isMarked(at) {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return dir, nil
		}
	}
}

// isMarked reports whether a folder has a mark of a workspace.
func isMarked(dir string) bool {
	return slices.ContainsFunc(marks, func(mark string) bool {
		_, err := os.Lstat(filepath.Join(dir, mark))
		return err == nil
	})
}

// noWorkspace is the error of a verb in a folder that has no mark and no runs: what it
// would say is nothing, and wrong where the workspace is another folder.
func noWorkspace(named, root string) error {
	if named != "" {
		return usage("cannot find a workspace in %q: it has no placet.toml, .placet or .git, and no runs", root).
			try("%s makes it one", templates.CommandLine("placet -C", []string{line(root)}, "init"))
	}
	return usage("cannot find a workspace: neither %q nor a folder above it has placet.toml, .placet or .git", root).
		try("placet init makes this folder one; placet -C FOLDER names another")
}

// folder resolves links and insists on a folder.
func folder(p string) (string, error) {
	resolved, err := filepath.EvalSymlinks(p)
	if errors.Is(err, fs.ErrNotExist) {
		return "", usage("cannot use %q as the workspace: there is no such folder", p)
	}
	if err != nil {
		return "", usage("cannot use %q as the workspace: %v", p, err)
	}
	info, err := os.Stat(resolved)
	if err != nil {
		return "", usage("cannot use %q as the workspace: %v", p, err)
	}
	if !info.IsDir() {
		return "", usage("cannot use %q as the workspace: it is not a folder", p).try("-C takes the folder that holds .fractary and the like")
	}
	return resolved, nil
}

// inside reports whether p is dir or lies below it; both are absolute and
// without links.
func inside(p, dir string) bool {
	rel, err := filepath.Rel(dir, p)
	return err == nil && rel != ".." && !filepath.IsAbs(rel) && (len(rel) < 3 || rel[:3] != ".."+string(filepath.Separator))
}

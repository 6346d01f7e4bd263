package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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
		for _, mark := range marks {
			if _, err := os.Lstat(filepath.Join(at, mark)); err == nil {
				return at, nil
			}
		}
		if at == filepath.Dir(at) {
			return dir, nil
		}
	}
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
	if info, err := os.Stat(resolved); err != nil || !info.IsDir() {
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

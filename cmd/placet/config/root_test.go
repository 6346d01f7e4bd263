package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"placet/cmd/placet/console"
)

func TestTheWorkspaceIsTheNearestParentWithAMark(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"git/.git", "git/sub/deep", "placet/.placet", "placet/x", "toml/x", "plain/x", "git/inner/y"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put(t, top, "toml/placet.toml", "")
	put(t, top, "git/inner/placet.toml", "")
	put(t, top, "worktree/.git", "gitdir: elsewhere\n")
	if err := os.Symlink(filepath.Join(top, "git/sub"), filepath.Join(top, "link")); err != nil {
		t.Fatal(err)
	}
	for from, want := range map[string]string{
		"git/sub/deep": "git", "placet/x": "placet", "toml/x": "toml", "git/inner/y": "git/inner", "worktree": "worktree", "link": "git",
	} {
		got, err := findWorkspace("", "", filepath.Join(top, from))
		if err != nil || got != filepath.Join(top, want) {
			t.Errorf("from %s: %q, %v; want %s", from, got, err, want)
		}
		named, err := findWorkspace("", filepath.Join(top, from), "/")
		if err != nil || named != mustResolve(t, filepath.Join(top, from)) {
			t.Errorf("-C %s: %q, %v", from, named, err)
		}
	}
	if got, err := findWorkspace("", "sub", filepath.Join(top, "git")); err != nil || got != filepath.Join(top, "git/sub") {
		t.Errorf("-C sub: %q, %v", got, err)
	}
	for _, bad := range []string{"missing", "toml/placet.toml"} {
		if _, err := findWorkspace("", filepath.Join(top, bad), "/"); err == nil || err.(*console.Problem).Code != console.ExitUsage {
			t.Errorf("-C %s: %v", bad, err)
		}
	}
}

// For hooks no mark ends the search, and a mark that no person made hides no other.
func TestWorkspacesAboveAreAllThatHaveAMark(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"outer/sub/inner/.git", "outer/.placet", "other/.git", "other/far"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put(t, top, "outer/sub/placet.toml", "")
	if err := os.Symlink(filepath.Join(top, "other/far"), filepath.Join(top, "outer/sub/inner/link")); err != nil {
		t.Fatal(err)
	}
	for from, want := range map[string]string{
		"outer/sub/inner": "outer/sub/inner outer/sub outer", "outer/sub/inner/gone/x": "outer/sub/inner outer/sub outer", "outer": "outer", "other/far": "other",
		"outer/sub/inner/link": "outer/sub/inner outer/sub outer other",
		"outer other/far":      "outer other", "outer/sub outer": "outer/sub outer",
	} {
		var dirs []string
		for _, dir := range strings.Fields(from) {
			dirs = append(dirs, filepath.Join(top, dir))
		}
		got, err := WorkspacesAbove("", dirs...)
		for i := range got {
			got[i], _ = filepath.Rel(top, got[i])
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("from %s: %q, %v; want %s", from, got, err, want)
		}
	}
	if err := os.MkdirAll(filepath.Join(top, strings.Repeat(".placet/x/", mostWorkspaces+1)), 0o755); err != nil {
		t.Fatal(err)
	}
	if got, err := WorkspacesAbove("", filepath.Join(top, strings.Repeat(".placet/x/", mostWorkspaces+1))); err == nil {
		t.Errorf("there are no bounds: %d", len(got))
	}
}

func mustResolve(t *testing.T, path string) string {
	t.Helper()
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

func TestInsideIsByParts(t *testing.T) {
	for path, want := range map[string]bool{"/a/b": true, "/a/b/c": true, "/a/bc": false, "/a": false, "/": false, "/a/b/..c": true, "/x": false} {
		if got := inside(path, "/a/b"); got != want {
			t.Errorf("inside(%q) = %v", path, got)
		}
	}
}

func TestRelativeXDGFoldersAreIgnored(t *testing.T) {
	root, state := t.TempDir(), t.TempDir()
	env := map[string]string{"HOME": "/home/kim", "XDG_CONFIG_HOME": "relative", "XDG_STATE_HOME": state}
	w := &console.Env{Getenv: func(name string) string { return env[name] }, Cwd: "/cwd"}
	s := SourcesOf(w, root)
	if s.User != "/home/kim/.config/placet/placet.toml" || s.StateHome != state || s.named {
		t.Errorf("%+v", s)
	}
	w.Flags.Config = "mine.toml"
	if s := SourcesOf(w, root); s.User != "/cwd/mine.toml" || !s.named {
		t.Errorf("%+v", s)
	}
	env = nil
	w.Flags.Config = ""
	if s := SourcesOf(w, root); s.User != "" || s.StateHome != "" {
		t.Errorf("without a home: %+v", s)
	}
}

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMakeModuleRenames renames a copy of the module as make module PATH=… does: every package
// and every test of it finds what it imports, none under the old path, and the floors hold.
func TestMakeModuleRenames(t *testing.T) {
	copied := copyOfModule(t)
	const to = "example.org/someone/clerk"
	run(t, copied, "make", "module", "PATH="+to)
	run(t, copied, "go", "test", "-vet=off", "-count=1", "-run", "^Test(ImportsOnlyGoDown|ThePolicy|TheFloors)", ".")
	run(t, copied, "go", "build", "-o", t.TempDir(), "./internal/module")
	packages := strings.Fields(run(t, copied, "go", "list", "-test", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "./..."))
	own := 0
	for _, name := range packages {
		if strings.HasPrefix(name, "placet/") {
			t.Errorf("%s has the old path", name)
		}
		if strings.HasPrefix(name, to+"/") {
			own++
		}
	}
	if own < 80 {
		t.Errorf("%d packages have the new path", own)
	}
	if nested := readFile(t, filepath.Join(copied, "internal/release/go.mod")); !strings.Contains(nested, "\nmodule "+to+"/internal/release\n") {
		t.Errorf("the module of the release tool begins with\n%.80s", nested)
	}
	if unformatted := run(t, copied, "gofmt", "-l", "cmd/placet/cli", "engine/run", "internal/wordcheck"); unformatted != "" {
		t.Errorf("not formatted any more:\n%s", unformatted)
	}
	if out, err := exec.Command("make", "-C", copied, "module", "PATH=example.org/../x").CombinedOutput(); err == nil || !strings.Contains(string(out), "cannot be the path of a module") {
		t.Errorf("%v\n%s", err, out)
	}
}

// copyOfModule returns a folder with the files that git knows.
func copyOfModule(t *testing.T) string {
	t.Helper()
	root := strings.TrimSpace(run(t, ".", "git", "rev-parse", "--show-toplevel"))
	dir := t.TempDir()
	for _, name := range strings.Split(strings.TrimSuffix(run(t, root, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"), "\x00"), "\x00") {
		if strings.HasPrefix(name, "testdata/") || strings.Contains(name, "/testdata/") {
			continue
		}
		body, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), body, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// run returns what a program prints, and fails the test if it fails.
func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	body, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

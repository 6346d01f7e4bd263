package exec

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
)

func putAt(t *testing.T, root, name, body string) {
	t.Helper()
	full := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(body), 0o644); err != nil {
		t.Fatal(err)
	}
}

// contentsOf is a workspace with a few files, and another folder beside it.
func contentsOf(t *testing.T) (c *Contents, root string) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root = filepath.Join(dir, "ws")
	putAt(t, root, "check.sh", "check")
	putAt(t, root, "a b.sh", "blank")
	putAt(t, root, "sub/run.sh", "run")
	putAt(t, root, "out.log", "log")
	putAt(t, dir, "outside", "outside")
	for name, to := range map[string]string{"to-check": "check.sh", "to-outside": "../outside", "to-sub": "sub", "to-nothing": "gone"} {
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	return NewContents(root), root
}

func TestEveryFileThatACommandNamesIsFound(t *testing.T) {
	c, root := contentsOf(t)
	sum := func(s string) string { return string(engine.Sum([]byte(s))) }
	check := map[string]string{"check.sh": sum("check")}
	for name, test := range map[string]struct {
		argv []string
		want map[string]string
	}{
		"nothing":             {[]string{"npm", "test", "--", "--grep", "Coupon"}, map[string]string{}},
		"a word":              {[]string{"sh", "check.sh"}, check},
		"twice":               {[]string{"sh", "./check.sh", "check.sh"}, check},
		"the program":         {[]string{"./check.sh"}, check},
		"absolute":            {[]string{root + "/check.sh"}, map[string]string{root + "/check.sh": sum("check")}},
		"a flag":              {[]string{"x", "--script=check.sh"}, check},
		"a file of arguments": {[]string{"x", "@check.sh"}, check},
		"a shell's text":      {[]string{"sh", "-c", "cd . && (sh check.sh; true)|cat"}, check},
		"quotes":              {[]string{"sh", "-c", `sh "a b.sh"`}, map[string]string{"a b.sh": sum("blank")}},
		"a shell in a shell":  {[]string{"sh", "-c", `bash -c 'sh "a b.sh"; sh check.sh'`}, map[string]string{"a b.sh": sum("blank"), "check.sh": sum("check")}},
		"a variable":          {[]string{"sh", "-c", "sh $PWD/check.sh ${HOME}/x"}, check},
		"another folder":      {[]string{"sh", "-c", "cd sub && ./run.sh"}, map[string]string{"sub": "folder", "sub/run.sh": sum("run")}},
		"what is written":     {[]string{"sh", "-c", "x >out.log 2> out.log"}, map[string]string{}},
		"written, then run":   {[]string{"sh", "-c", "x > out.log; sh out.log"}, map[string]string{"out.log": sum("log")}},
		"links": {[]string{"to-check", "to-outside", "to-sub", "to-nothing", "to-sub/run.sh"}, map[string]string{
			"to-check": "link to " + sum("check"), "to-outside": "link to " + filepath.Dir(root) + "/outside", "to-sub": "link to a folder",
			"to-nothing": "link to nothing", "to-sub/run.sh": "link to " + sum("run"),
		}},
		"outside the workspace": {[]string{"../outside", filepath.Dir(root) + "/outside", "..", "/"}, map[string]string{}},
		"no name":               {[]string{"", "check.sh/below", strings.Repeat("x", 5000), strings.Repeat("y", 300), "a\x00b"}, check},
	} {
		want := test.want
		if name == "no name" {
			want = map[string]string{}
		}
		if diff := cmp.Diff(want, c.Of(".", test.argv)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if diff := cmp.Diff(map[string]string{"run.sh": sum("run"), "../check.sh": sum("check")}, c.Of("sub", []string{"sh", "run.sh", "../check.sh"})); diff != "" {
		t.Errorf("in another folder:\n%s", diff)
	}
}

func TestAFileThatChangesIsAnother(t *testing.T) {
	c, root := contentsOf(t)
	argv := []string{"sh", "check.sh"}
	old := time.Now().Add(-time.Hour)
	seen := map[string]bool{}
	for _, body := range []string{"check", "chick", "longer"} {
		putAt(t, root, "check.sh", body)
		// The times are set back, as somebody who hides a change would do.
		if err := os.Chtimes(filepath.Join(root, "check.sh"), old, old); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got, want := c.Of(".", argv)["check.sh"], string(engine.Sum([]byte(body))); got != want {
				t.Errorf("%q: %s, want %s", body, got, want)
			}
		}
	}
	for _, make := range []func(path string) error{
		func(path string) error { return os.Remove(path) },
		func(path string) error { return os.Mkdir(path, 0o755) },
		func(path string) error { return os.Remove(path) },
		func(path string) error {
			if err := os.WriteFile(path, nil, 0o644); err != nil {
				return err
			}
			return os.Truncate(path, largestContent+1)
		},
		func(path string) error { return os.Truncate(path, largestContent+2) },
	} {
		if err := make(filepath.Join(root, "check.sh")); err != nil {
			t.Fatal(err)
		}
		seen[c.Of(".", argv)["check.sh"]] = true
	}
	if len(seen) != 4 {
		t.Errorf("absent, a folder and two that are too large are %v", seen)
	}
}

func TestACommandRunsInTheFolderThatItPrefers(t *testing.T) {
	c, root := contentsOf(t)
	putAt(t, root, "trees/b/x", "")
	putAt(t, root, "trees/a/x", "")
	putAt(t, root, "trees/file", "")
	for prefer, want := range map[string]string{"": ".", "trees/a": "trees/a", "trees/gone": ".", "trees/file": "."} {
		if got := c.Where(prefer); got != want {
			t.Errorf("%q: %q, want %q", prefer, got, want)
		}
	}
	if diff := cmp.Diff([]string{"trees/a", "trees/b"}, c.Folders("trees")); diff != "" {
		t.Error(diff)
	}
	if got := c.Folders("gone"); len(got) > 0 {
		t.Errorf("%v", got)
	}
}

package cli

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"placet/cmd/placet/answer"
	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine/loop"
	"placet/internal/badinput"
	"placet/layout"
)

// FuzzLookup looks up runs and requests by any words, as every verb does. A result has a name,
// a message can be shown and stays short, and nothing outside the workspace's runs is even
// read.
func FuzzLookup(f *testing.F) {
	b, found := lookedAt(f)
	for _, arg := range []string{
		"", "faber", "afl", "afl/receipts", "receipts", "rece", "#123", "a783", "fr-20261120-4a8880", "faber:fr-20261120-4a8880", "..", "../../etc/passwd", "/etc/passwd",
		"afl/../afl/receipts", "a/b", "a:b:c", "\x00", "\n", "\u202ea783", "'; rm -rf /", `"`, "--", strings.Repeat("a", 300), strings.Repeat("../", 100), "requests/x:y",
	} {
		f.Add(arg, arg)
	}
	f.Fuzz(func(t *testing.T, arg, request string) {
		for _, fit := range view.Fits(b, found, arg) {
			id := fit.Run.ID
			if !strings.HasPrefix(arg, "#") && arg != fit.Run.Family && !strings.HasPrefix(id, arg) && !strings.HasPrefix(fit.Key().String(), arg) && !strings.Contains(id, arg) {
				t.Fatalf("%q names %s", arg, fit.Key())
			}
		}
		for _, run := range found {
			if view.HasRequest(b, run, request) && !layout.IsRequestID(request) {
				t.Fatalf("%q is a request of %s", request, run.Key())
			}
		}
		_, runErr := view.OneRun(b, arg)
		_, requestErr := answer.Find(b, arg+":"+request)
		for _, err := range []error{runErr, requestErr} {
			checkSaid(t, err, len(arg)+len(request))
		}
	})
}

// checkSaid asserts that an error can be shown.
func checkSaid(t *testing.T, err error, given int) {
	t.Helper()
	if err == nil {
		return
	}
	text := err.Error()
	if p := (*console.Problem)(nil); errors.As(err, &p) {
		text += p.Hint("en") + strings.Join(p.Fits, "")
	}
	if i := strings.IndexFunc(text, badinput.Unseen); i >= 0 || strings.Contains(err.Error(), "\n") {
		t.Fatalf("what is said cannot be shown: %q", text)
	}
	if len(text) > 4000+20*given {
		t.Fatalf("what is said has %d bytes: %q", len(text), text)
	}
}

// lookedAt makes a settled workspace of both families.
func lookedAt(t testing.TB) (*workspace.Workspace, []loop.Found) {
	root := t.TempDir()
	tree := demoTree(t, 3)
	tree["placet.toml"] = ""
	for p, body := range tree {
		name := filepath.Join(root, p)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(body), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	past := time.Now().Add(-time.Hour)
	err := filepath.WalkDir(root, func(p string, _ fs.DirEntry, err error) error { return errors.Join(err, os.Chtimes(p, past, past)) })
	if err != nil {
		t.Fatal(err)
	}
	w := &console.Env{In: strings.NewReader(""), Out: &bytes.Buffer{}, Err: &bytes.Buffer{}, Getenv: func(string) string { return "" }, Cwd: root, Now: time.Now}
	w.Flags.Workspace = root
	b, err := workspace.Open(w, workspace.Setup{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Loop.Once(context.Background()); err != nil {
		t.Fatal(err)
	}
	found := b.Runs()
	if len(found) != 2 {
		t.Fatalf("runs %+v", found)
	}
	return b, found
}

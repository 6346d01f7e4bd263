package main

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

	"placet/engine/reconcile"
	"placet/internal/badinput"
	"placet/layout"
)

// FuzzLookup looks up runs and requests by any words, as every verb does. What is
// found has been named, what is said can be shown and stays short, and nothing
// outside the workspace's runs is so much as looked at.
func FuzzLookup(f *testing.F) {
	b, found := lookedAt(f)
	for _, arg := range []string{
		"", "faber", "afl", "afl/receipts", "receipts", "rece", "#123", "a783", "fr-20261120-4a8880", "faber:fr-20261120-4a8880", "..", "../../etc/passwd", "/etc/passwd",
		"afl/../afl/receipts", "a/b", "a:b:c", "\x00", "\n", "\u202ea783", "'; rm -rf /", `"`, "--", strings.Repeat("a", 300), strings.Repeat("../", 100), "requests/x:y",
	} {
		f.Add(arg, arg)
	}
	f.Fuzz(func(t *testing.T, arg, request string) {
		for _, fit := range b.fits(found, arg) {
			id := fit.Run.ID
			if !strings.HasPrefix(arg, "#") && arg != fit.Run.Family && !strings.HasPrefix(id, arg) && !strings.HasPrefix(fit.Key().String(), arg) && !strings.Contains(id, arg) {
				t.Fatalf("%q names %s", arg, fit.Key())
			}
		}
		for _, run := range found {
			if b.has(run, request) && !layout.IsRequestID(request) {
				t.Fatalf("%q is a request of %s", request, run.Key())
			}
		}
		_, runErr := b.oneRun(arg)
		_, requestErr := b.oneRequest(arg + ":" + request)
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
	if p := (*problem)(nil); errors.As(err, &p) {
		text += p.hint + strings.Join(p.fits, "")
	}
	if i := strings.IndexFunc(text, badinput.Unseen); i >= 0 || strings.Contains(err.Error(), "\n") {
		t.Fatalf("what is said cannot be shown: %q", text)
	}
	if len(text) > 4000+20*given {
		t.Fatalf("what is said has %d bytes: %q", len(text), text)
	}
}

// lookedAt is a settled workspace of both families.
func lookedAt(t testing.TB) (*bench, []reconcile.Found) {
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
	w := &world{in: strings.NewReader(""), out: &bytes.Buffer{}, err: &bytes.Buffer{}, getenv: func(string) string { return "" }, cwd: root, now: time.Now}
	w.flags.workspace = root
	b, err := w.open(setup{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.loop.Once(context.Background()); err != nil {
		t.Fatal(err)
	}
	found := b.runs()
	if len(found) != 2 {
		t.Fatalf("runs %+v", found)
	}
	return b, found
}

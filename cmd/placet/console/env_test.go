package console

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A program in the present folder, which may be a stranger's workspace, is never started
// instead of one on PATH.
func TestAProgramIsFoundInAbsoluteFoldersOfPATHAlone(t *testing.T) {
	here, bin := t.TempDir(), t.TempDir()
	t.Chdir(here)
	for _, name := range []string{filepath.Join(here, "git"), filepath.Join(here, "tools", "git"), filepath.Join(bin, "git")} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte("#!/bin/sh\n"), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct{ path, want string }{
		{":.:tools:" + bin, filepath.Join(bin, "git")},
		{":.:tools", ""},
		{"", ""},
	} {
		w := &Env{Getenv: func(string) string { return test.path }}
		got, err := w.LookPath("git")
		if got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("with PATH=%q it is %q, %v; want %q", test.path, got, err, test.want)
		}
		if err := w.Command(t.Context(), "", "git").Run(); test.want == "" && !errors.Is(err, exec.ErrNotFound) || test.want != "" && err != nil {
			t.Errorf("with PATH=%q it ends with %v", test.path, err)
		}
	}
}

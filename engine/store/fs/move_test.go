//go:build unix

package fs

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestRenamingWithoutTheKernelsHelp(t *testing.T) {
	root := t.TempDir()
	for name, body := range map[string]string{"a": "A", "b": "B"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := unix.Open(root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(dir)
	for _, c := range []struct {
		from, to string
		how      Move
		want     error
	}{
		{"a", "b", Exclusive, os.ErrExist},
		{"a", "c", Exclusive, nil},
		{"b", "c", Exchange, errors.ErrUnsupported},
		{"none", "d", Exclusive, os.ErrNotExist},
	} {
		if err := moveWithout(dir, c.from, dir, c.to, c.how); !errors.Is(err, c.want) {
			t.Errorf("%s to %s: %v, want %v", c.from, c.to, err, c.want)
		}
	}
	for name, want := range map[string]string{"b": "B", "c": "A"} {
		if body, err := os.ReadFile(filepath.Join(root, name)); string(body) != want {
			t.Errorf("%s holds %q, %v", name, body, err)
		}
	}
}

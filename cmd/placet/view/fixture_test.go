package view

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"placet/cmd/placet/config"
	"placet/engine/exec"
)

// noon is a moment.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// put writes a file and returns its path.
func put(t *testing.T, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// places makes a workspace and, outside of it, a user's folder.
func places(t *testing.T) config.Sources {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"ws", "home"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return config.Sources{
		Workspace: filepath.Join(dir, "ws"), User: filepath.Join(dir, "home/placet.toml"),
		StateHome: filepath.Join(dir, "home/state"), Contents: exec.NewContents(filepath.Join(dir, "ws")),
	}
}

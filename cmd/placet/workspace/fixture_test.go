package workspace

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"placet/cmd/placet/config"
	"placet/engine/exec"
	"placet/engine/statedir"
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

func mustLoad(t *testing.T, from config.Sources) config.Settings {
	t.Helper()
	s, err := config.Load(from)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// agree makes these things all that is agreed to in a workspace.
func agree(t *testing.T, from config.Sources, things ...config.UntrustedLine) {
	t.Helper()
	dir, err := statedir.Create(from.StateHome, from.Workspace)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	file := config.TrustFile{SchemaVersion: 1}
	file.Agree(noon, things...)
	if err := file.Write(dir); err != nil {
		t.Fatal(err)
	}
}

// waitingSetting is a setting as trust lists it.
func waitingSetting(s config.Setting) config.UntrustedLine {
	return config.UntrustedLine{Name: s.Name(), Digest: s.Sealed, Text: s.Text, Files: s.Files, Of: s.Digest}
}

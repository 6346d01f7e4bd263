package cli

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"placet/cmd/placet/config"
	"placet/cmd/placet/workspace"
	"placet/engine"
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

func mustLoad(t *testing.T, from config.Sources) config.Settings {
	t.Helper()
	s, err := config.Load(from)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustResolve(t *testing.T, path string) string {
	t.Helper()
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

// level is a request whose option may be left out, with items to select.
func level() workspace.Request {
	return workspace.Request{OpenRequest: engine.OpenRequest{
		Request: "hitl-3f9a12c4", Run: engine.Key{Family: "optimizer", ID: "20260302-msowd-sop-masking"}, Type: "hitl", Where: "awaiting_human",
		Prompt: "Was the Automation Level appropriate?",
		Options: []engine.RequestOption{
			{ID: "appropriate", Description: "적절", Words: []string{"적절"}}, {ID: "raise", Words: []string{"상향", "상향 권장"}}, {ID: "lower"},
		},
		Items:    []engine.RequestItem{{ID: "s1", Label: "one"}, {ID: "s2", Label: "two"}, {ID: "s3", Label: "three"}},
		Default:  "appropriate",
		NoReject: "placet respond hitl-3f9a12c4 lower",
	}}
}

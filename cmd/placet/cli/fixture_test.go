package cli

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"placet/cmd/placet/view"
	"placet/engine"
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

func mustResolve(t *testing.T, path string) string {
	t.Helper()
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

// level is a request whose option may be left out, with items to select.
func level() view.Request {
	return view.Request{OpenRequest: engine.OpenRequest{
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

package setup

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"placet/cmd/placet/console"
	"placet/layout"
)

// The databases that init makes git ignore are those of the optimizer's runs, in each root,
// also if the workspace is a folder of a larger work tree.
func TestGitIgnoresTheAuditDatabasesOfEachRoot(t *testing.T) {
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	tree := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", tree).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	e := &examination{w: &console.Env{Getenv: os.Getenv}, root: tree}
	if _, err := Exclude(e.w, tree, excluded); err != nil {
		t.Fatal(err)
	}
	for _, root := range layout.OptimizerRoots {
		for _, place := range []string{"active", "archive/2026-03"} {
			run := filepath.Join(root, place, "20260302-msowd-logs", "optimizer")
			database := layout.OptimizerDatabase(run, "")
			for _, beside := range []string{"", "-wal", "-shm", "-journal"} {
				for _, workspace := range []string{"", "below/"} {
					if path := workspace + database + beside; !e.ignores([]string{path}) {
						t.Errorf("git sees %s", path)
					}
				}
			}
			if path := run + "/state.json"; e.ignores([]string{path}) {
				t.Errorf("git does not see %s", path)
			}
		}
	}
}

package watch

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// A folder that takes the workspace's name is another folder: nothing is watched or made in
// it until the workspace is back.
func TestAnotherFolderInTheWorkspacesPlaceIsLeftAlone(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h := &harness{t: t, root: filepath.Join(root, "ws")}
		h.mkdir("runs/a")
		h.start()
		h.Structure([]string{"runs"})
		h.follow("A", "runs/a")
		h.next()
		away, long := filepath.Join(root, "away"), time.Unix(1_000_000_000, 0)
		for _, err := range []error{os.Rename(h.root, away), os.MkdirAll(filepath.Join(h.root, "runs"), 0o755), os.Chtimes(h.root, long, long), os.Chtimes(filepath.Join(h.root, "runs"), long, long)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		h.entry(".")
		h.next()
		time.Sleep(2 * cookieAgain)
		synctest.Wait()
		h.Structure([]string{"runs"})
		h.wantWatches()
		for _, name := range []string{h.root, filepath.Join(h.root, "runs")} {
			if info, err := os.Stat(name); err != nil || !info.ModTime().Equal(long) {
				t.Errorf("something was made in %s: %v, %v", name, info.ModTime(), err)
			}
		}
		for _, err := range []error{os.RemoveAll(h.root), os.Rename(away, h.root)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(rootAfter)
		synctest.Wait()
		if b := h.next(); !b.Rescan || len(b.Owners) != 1 {
			t.Errorf("it is back, and nobody is woken: %+v", b)
		}
		h.wantWatches(".", "runs", "runs/a")
		_ = h.Close()
	})
}

package watch

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"placet/layout"
)

func TestRootWithoutTheCookiesEventIsBlindUntilItComes(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h := &harness{t: t, root: root}
		h.mkdir("runs/a", "other")
		h.start()
		h.Structure([]string{"runs", "runs/a", "other"})
		h.follow("A", "runs/a")
		h.next()
		if got := h.Blind(); got != nil {
			t.Errorf("blind before the second is over: %q", got)
		}
		h.entry(filepath.Join("other", h.cookies["other"].name))
		time.Sleep(cookieWait)
		synctest.Wait()
		if got := h.Blind(); !slices.Equal(got, []string{"runs"}) {
			t.Errorf("blind: %q, want the root whose event did not come and no folder below it", got)
		}
		if got := h.Lacks(); got != (Lacks{Folders: true}) {
			t.Errorf("lacks %+v", got)
		}
		h.want(Batch{Owners: []string{"A"}, Lost: true, Rescan: true, Dirs: []string{"."}})
		h.want(Batch{})

		h.Structure([]string{"runs", "runs/a", "other"})
		first := h.cookies["runs"].name
		time.Sleep(cookieAgain)
		h.Structure([]string{"runs", "runs/a", "other"})
		if h.cookies["runs"].name == first || len(h.Blind()) != 1 {
			t.Error("a blind root must be tested again and stay blind meanwhile")
		}
		h.entry("runs/" + first)
		if len(h.Blind()) != 1 {
			t.Error("the event of an earlier test counts")
		}
		h.next()
		time.Sleep(cookieWait)
		h.entry("runs/" + h.cookies["runs"].name)
		if got := h.Blind(); got != nil {
			t.Errorf("blind after its event came late: %q", got)
		}
		h.want(Batch{Owners: []string{"A"}, Lost: true, Rescan: true, Dirs: []string{"."}})
		if n := strings.Count(h.log.String(), "no file events come"); n != 1 {
			t.Errorf("said %d times, want once:\n%s", n, h.log)
		}
		_ = h.Close()
	})
}

// A root that does not exist yet may be on a file system without events.
func TestWayToAMissingRootIsTested(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h := &harness{t: t, root: root}
		h.mkdir("deep")
		h.start()
		h.Structure([]string{"deep/down/runs", "deep/runs"})
		time.Sleep(cookieWait)
		synctest.Wait()
		if got := h.Blind(); !slices.Equal(got, []string{"deep"}) {
			t.Errorf("blind: %q", got)
		}
		h.mkdir("deep/down/runs", "deep/runs")
		h.Structure([]string{"deep/down/runs", "deep/runs"})
		h.entry("deep/runs")
		h.entry("deep/down")
		h.Structure([]string{"deep/down/runs", "deep/runs"})
		for _, r := range []string{"deep/down/runs", "deep/runs"} {
			if h.cookies[r] == nil {
				t.Errorf("%s is not tested: %v", r, h.cookies)
				continue
			}
			h.entry(r + "/" + h.cookies[r].name)
		}
		if got := h.Blind(); got != nil {
			t.Errorf("blind: %q", got)
		}
		_ = h.Close()
	})
}

func TestCookieLeavesNothingBehind(t *testing.T) {
	h := newHarness(t, "runs")
	h.Structure([]string{"runs"})
	if !layout.IsTemp(h.cookies["runs"].name) || !layout.Noise(h.cookies["runs"].name) {
		t.Errorf("the cookie %q is no name that everybody ignores", h.cookies["runs"].name)
	}
	entries, err := os.ReadDir(filepath.Join(h.root, "runs"))
	if err != nil || len(entries) != 0 {
		t.Errorf("left in the root: %v, %v", entries, err)
	}
}

func TestRootThatComesBackIsTestedAgain(t *testing.T) {
	h := newHarness(t, "runs")
	h.Structure([]string{"runs"})
	first := h.cookies["runs"].name
	h.entry("runs/" + first)
	h.Structure([]string{"runs"})
	if h.cookies["runs"].name != first {
		t.Error("a root that passed is tested again for nothing")
	}
	h.rename("runs", "away")
	h.entry("runs")
	h.rename("away", "runs")
	h.entry("runs")
	h.Structure([]string{"runs"})
	if h.cookies["runs"] == nil || h.cookies["runs"].name == first {
		t.Error("a root that was replaced is not tested again")
	}
}

func TestRootThatCannotBeTestedIsBelieved(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h := &harness{t: t, root: root}
		h.mkdir("runs")
		h.start()
		h.Guard("runs")
		tests := h.untested()
		if len(tests) != 1 {
			t.Fatalf("%d tests, want 1", len(tests))
		}
		tests[0].name = "no/such/folder" // stands for a read-only file system
		h.bake(tests[0])
		time.Sleep(2 * cookieWait)
		synctest.Wait()
		if got := h.Blind(); got != nil {
			t.Errorf("blind: %q", got)
		}
		_ = h.Close()
	})
}

func TestRemoteFileSystemIsBlindWhateverItTells(t *testing.T) {
	h := newHarness(t, "runs")
	h.remote = func(string) bool { return true }
	h.Structure([]string{"runs"})
	h.Structure([]string{"runs"})
	h.entry("runs/" + h.cookies["runs"].name)
	if got := h.Blind(); !slices.Equal(got, []string{"runs"}) {
		t.Errorf("blind: %q", got)
	}
	if n := strings.Count(h.log.String(), "others can change"); n != 1 {
		t.Errorf("said %d times, want once:\n%s", n, h.log)
	}
	if remoteFS("/no/such/folder") {
		t.Error("a folder that does not exist lies on a remote file system")
	}
	if remoteFS("/proc") {
		t.Error("/proc is no remote file system")
	}
}

func TestUntouchedIsWhatChangedBefore(t *testing.T) {
	h := newHarness(t, "d")
	file := filepath.Join(h.root, "d/f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	// Its modification time is old, but it was made now.
	if err := os.Chtimes(file, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if !h.Untouched(time.Now().Add(time.Hour), "d", "d/f") || h.Untouched(time.Now().Add(-time.Hour), "d/f") || h.Untouched(time.Now().Add(-time.Hour), "d") {
		t.Error("what was made now is not told from what was made before")
	}
	if h.Untouched(time.Now().Add(time.Hour), "d", "d/none") {
		t.Error("a file that is not there is untouched")
	}
}

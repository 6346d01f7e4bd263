package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestEventMakesOwnersOfItsFolderDirty(t *testing.T) {
	h := newHarness(t, "runs/a", "runs/b", "specs")
	h.follow("A", "runs/a", "specs")
	h.follow("B", "runs/b", "specs")

	h.write("runs/a/state.json")
	h.want(Batch{Owners: []string{"A"}, Edits: []Edit{{"A", "runs/a/state.json"}}})
	h.entry("specs/plan.md")
	h.want(Batch{Owners: []string{"A", "B"}})
	h.entry("elsewhere/x")
	h.want(Batch{})
}

// A batch names the changed folders of each owner, unless there are many or they are
// unknown.
func TestFoldersAreNamedByOwner(t *testing.T) {
	h := newHarness(t, "runs/a", "runs/a/w", "specs")
	h.follow("A", "runs/a", "runs/a/w", "specs")
	h.follow("B", "specs")
	h.entry("runs/a/w/1.json")
	h.entry("runs/a/w/2.json")
	h.entry("specs/plan.md")
	h.want(Batch{Owners: []string{"A", "B"}, Heard: map[string][]string{"A": {"runs/a/w", "specs"}, "B": {"specs"}}})
	h.write("runs/a/state.json")
	h.want(Batch{Owners: []string{"A"}, Heard: map[string][]string{"A": {"runs/a"}}, Edits: []Edit{{"A", "runs/a/state.json"}}})
	var dirs []string
	for i := range maxHeard + 1 {
		dirs = append(dirs, fmt.Sprintf("runs/a/%d", i))
	}
	h.follow("A", dirs...)
	h.next()
	for _, d := range dirs {
		h.entry(d + "/x")
	}
	h.want(Batch{Owners: []string{"A"}, Heard: map[string][]string{}})
}

// A change in place does not show in the folder, so the batch names the file, unless there
// are too many.
func TestEditsAreNamedAndBounded(t *testing.T) {
	h := newHarness(t, "runs/a")
	h.follow("A", "runs/a")
	h.follow("B", "runs/a")
	for range 2 {
		h.write("runs/a/1.json")
	}
	h.entry("runs/a/2.json")
	h.write("runs/a/3.json.tmp")
	h.want(Batch{Owners: []string{"A", "B"}, Edits: []Edit{{"A", "runs/a/1.json"}, {"B", "runs/a/1.json"}}})
	for i := range maxEdits {
		h.write(fmt.Sprintf("runs/a/%d.json", i))
	}
	if b := h.next(); !b.Lost || len(b.Edits) > maxEdits {
		t.Errorf("%d edits, more: %t", len(b.Edits), b.Lost)
	}
	h.want(Batch{})
}

func TestStructureAsksForRescanOnlyWhenANameComesOrGoes(t *testing.T) {
	h := newHarness(t, "runs/a")
	h.Structure([]string{"runs"})
	h.next()

	h.write("runs/state.json")
	h.want(Batch{})
	h.entry("runs/b")
	h.want(Batch{Rescan: true, Dirs: []string{"runs/b"}})
}

func TestNoiseWakesNobodyExceptFolders(t *testing.T) {
	names := []string{".placet-0123.tmp", "state.json.lock", ".state.json.swp", "4913", "form.md~", "response.json.tmp", "state.json.tmp.12.0a"}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, "runs/a")
			h.follow("A", "runs/a")
			h.entry("runs/a/" + name)
			h.write("runs/a/" + name)
			h.want(Batch{})
		})
	}
	t.Run("folder with a noise name", func(t *testing.T) {
		h := newHarness(t, "runs/x.tmp")
		h.Structure([]string{"runs"})
		h.next()
		h.entry("runs/x.tmp")
		h.want(Batch{Rescan: true, Dirs: []string{"runs/x.tmp"}})
	})
	t.Run("a second answer is no noise", func(t *testing.T) {
		h := newHarness(t, "runs/a")
		h.follow("A", "runs/a")
		h.entry("runs/a/.response.sync-conflict-20250101-101010-ABC.json")
		h.want(Batch{Owners: []string{"A"}})
	})
}

func TestRunWithOneOpenRequestHasTwoWatches(t *testing.T) {
	h := newHarness(t, "runs/a/requests/r1")
	h.Structure([]string{"runs"})
	h.wantWatches(".", "runs")
	h.follow("A", "runs/a")
	h.follow("A", "runs/a", "runs/a/requests/r1")
	h.wantWatches(".", "runs", "runs/a", "runs/a/requests/r1")
	h.Forget("A")
	h.wantWatches(".", "runs")
	h.Structure(nil)
	h.wantWatches()
	if len(h.Watcher.watches.nodes) != 0 || len(h.follows) != 0 || len(h.structure) != 0 || len(h.cookies) != 0 {
		t.Errorf("something is kept of what nobody follows: %v %v %v %v", h.Watcher.watches.nodes, h.follows, h.structure, h.cookies)
	}
}

func TestWatchesAreCountedPerFolder(t *testing.T) {
	h := newHarness(t, "runs/a", "runs/b", "specs/deep")
	h.follow("A", "runs/a", "specs/deep")
	h.follow("B", "runs/b", "specs/deep")
	h.Forget("A")
	h.wantWatches(".", "runs", "runs/b", "specs", "specs/deep")
	h.follow("B", "runs/b")
	h.wantWatches(".", "runs", "runs/b")
	h.write("specs/deep/x.md")
	h.want(Batch{})
}

func TestFolderBecomingUnwantedLeavesWhatIsBelowItSeen(t *testing.T) {
	h := newHarness(t, "runs/a/requests/r1")
	h.follow("A", "runs/a", "runs/a/requests/r1")
	h.follow("A", "runs/a/requests/r1")
	h.wantWatches(".", "runs", "runs/a", "runs/a/requests", "runs/a/requests/r1")
}

func TestMissingFolderIsAwaited(t *testing.T) {
	h := newHarness(t)
	h.follow("A", "specs/deep/down")
	h.wantWatches(".")
	h.mkdir("specs/deep/down")
	h.entry("specs")
	h.want(Batch{Owners: []string{"A"}})
	h.wantWatches(".", "specs", "specs/deep", "specs/deep/down")
}

func TestMissingRequestFolderIsAwaitedAndThenCostsNoMore(t *testing.T) {
	h := newHarness(t, "runs/a/requests")
	h.follow("A", "runs/a", "runs/a/requests/r1")
	h.wantWatches(".", "runs", "runs/a", "runs/a/requests")
	h.mkdir("runs/a/requests/r1")
	h.entry("runs/a/requests/r1")
	h.want(Batch{Owners: []string{"A"}})
	h.wantWatches(".", "runs", "runs/a", "runs/a/requests/r1")
	h.follow("A", "runs/a", "runs/a/requests/r2")
	h.follow("A", "runs/a")
	h.wantWatches(".", "runs", "runs/a")
}

func TestFileInAFoldersPlaceIsNotWatched(t *testing.T) {
	h := newHarness(t)
	if err := os.WriteFile(filepath.Join(h.root, "specs"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/", filepath.Join(h.root, "link")); err != nil {
		t.Fatal(err)
	}
	h.follow("A", "specs", "link", "specs/deep")
	h.wantWatches(".")
}

func TestPathsOutOfTheWorkspaceAreNotFollowed(t *testing.T) {
	h := newHarness(t, "a")
	h.follow("A", "../x", "/etc", "a/../../x", "a", "a/")
	h.wantWatches(".", "a")
}

// The folder that comes back may be another one: its watch must be a new one.
func TestRenamedFolderIsDroppedAndAddedAgainWithItsSubtree(t *testing.T) {
	h := newHarness(t, "runs/org/p/a", "runs/org/p/b")
	h.Structure([]string{"runs", "runs/org", "runs/org/p"})
	h.follow("A", "runs/org/p/a")
	h.follow("B", "runs/org/p/b")
	h.next()
	all := []string{".", "runs", "runs/org", "runs/org/p", "runs/org/p/a", "runs/org/p/b"}
	h.wantWatches(all...)

	h.rename("runs/org", "gone")
	h.entry("runs/org")
	h.want(Batch{Owners: []string{"A", "B"}, Rescan: true, Dirs: []string{"runs/org", "runs/org/p"}})
	h.wantWatches(".", "runs")

	before := h.src().tries()
	h.rename("gone", "runs/org")
	h.entry("runs/org")
	h.want(Batch{Owners: []string{"A", "B"}, Rescan: true, Dirs: []string{"runs/org", "runs/org/p"}})
	h.wantWatches(all...)
	if got := h.src().tries() - before; got != 4 {
		t.Errorf("%d watches were added for the folder that came back, want 4", got)
	}
}

func TestOverflowMakesAllWatchesAnewAndMarksAll(t *testing.T) {
	h := newHarness(t, "runs/a", "runs/b")
	h.Structure([]string{"runs"})
	h.follow("A", "runs/a")
	h.follow("B", "runs/b")
	h.next()
	old := h.src()

	old.sink.Broken(errors.New("queue overflow"))
	h.want(Batch{Owners: []string{"A", "B"}, Lost: true, Rescan: true, Dirs: []string{"."}})
	if !old.closed || h.opened() != 2 {
		t.Fatalf("the old source is closed: %v, sources: %d; want a new one", old.closed, h.opened())
	}
	h.wantWatches(".", "runs", "runs/a", "runs/b")
	old.sink.Event(Event{filepath.Join(h.root, "runs/a/x"), true})
	h.want(Batch{})
}

func TestOverflowAllTheTimeMakesWatchesAnewOnceASecond(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h := &harness{t: t, root: root}
		h.start()
		h.follow("A", "runs")
		for range 100 {
			h.src().sink.Broken(errors.New("queue overflow"))
			if b := h.next(); !slices.Equal(b.Owners, []string{"A"}) || !b.Rescan {
				t.Fatalf("after an overflow %+v, want all and a rescan", b)
			}
		}
		if h.opened() != 2 {
			t.Errorf("%d sources were opened at once, want 2", h.opened())
		}
		time.Sleep(resetAfter)
		synctest.Wait()
		if h.opened() != 3 {
			t.Errorf("%d sources after a second, want 3: the last overflow must be answered", h.opened())
		}
		if b := h.next(); !b.Rescan {
			t.Error("the late round asks for no rescan")
		}
		if b := h.next(); !cmp.Equal(b, Batch{}) {
			t.Errorf("something is pending with nothing happening: %+v", b)
		}
		_ = h.Close()
	})
}

func TestFortyThousandEventsCollapse(t *testing.T) {
	h := newHarness(t, "runs")
	var owners []string
	for i := range 100 {
		dir := fmt.Sprintf("runs/%02d", i)
		h.mkdir(dir)
		h.follow(dir, dir)
		owners = append(owners, dir)
	}
	for i := range 40_000 {
		h.entry(fmt.Sprintf("runs/%02d/file-%d.json", i%100, i))
	}
	h.want(Batch{Owners: owners})
	h.want(Batch{})
}

func TestChangedFoldersCollapseToTheWorkspace(t *testing.T) {
	h := newHarness(t, "runs")
	h.Structure([]string{"runs"})
	h.next()
	for i := range maxDirs + 2 {
		h.entry(fmt.Sprintf("runs/%d", i))
	}
	h.want(Batch{Rescan: true, Dirs: []string{"."}})
}

func TestRefusedWatchIsBlindSaidOnceAndTriedAgain(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h := &harness{t: t, root: root}
		h.mkdir("runs/a", "runs/b", "runs/c")
		h.start()
		full := func(dir string) error {
			if strings.HasSuffix(dir, "b") || strings.HasSuffix(dir, "c") {
				return syscall.ENOSPC
			}
			return nil
		}
		h.src().set(full)
		h.follow("A", "runs/a")
		for _, o := range []string{"b", "c"} {
			if err := h.Follow(o, []string{"runs/" + o}); err == nil || !strings.Contains(err.Error(), "runs/"+o) {
				t.Errorf("following a refused folder: %v, want an error that names it", err)
			}
		}
		if got := h.Blind(); !slices.Equal(got, []string{"runs/b", "runs/c"}) {
			t.Errorf("blind: %q", got)
		}
		if got := h.Lacks(); got != (Lacks{Watches: true, Folders: true}) {
			t.Errorf("lacks %+v", got)
		}
		if n := strings.Count(h.log.String(), "cannot watch"); n != 1 {
			t.Errorf("said %d times, want once:\n%s", n, h.log)
		}
		adds := h.src().tries()
		time.Sleep(retryAfter)
		synctest.Wait()
		if got := h.src().tries() - adds; got != 1 {
			t.Errorf("%d tries while there is no room for any, want 1", got)
		}
		h.src().set(nil)
		time.Sleep(retryAfter)
		synctest.Wait()
		if got := h.Blind(); got != nil || h.Lacks() != (Lacks{}) {
			t.Errorf("still blind: %q, lacks %+v", got, h.Lacks())
		}
		if diff := cmp.Diff(Batch{Owners: []string{"b", "c"}, Heard: map[string][]string{"b": {"runs/b"}, "c": {"runs/c"}}}, h.next()); diff != "" {
			t.Errorf("what is seen again must be looked at:\n%s", diff)
		}
		_ = h.Close()
	})
}

func TestFolderMadeReadableIsWatchedAtOnce(t *testing.T) {
	h := newHarness(t, "runs/a")
	h.src().set(func(dir string) error {
		if strings.HasSuffix(dir, "a") {
			return syscall.EACCES
		}
		return nil
	})
	_ = h.Follow("A", []string{"runs/a"})
	h.src().set(nil)
	h.write("runs/a") // a change of its mode
	h.want(Batch{Owners: []string{"A"}})
	if got := h.Blind(); got != nil {
		t.Errorf("blind: %q", got)
	}
}

func TestRefusalForOneFolderDoesNotKeepOthersFromBeingTried(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h := &harness{t: t, root: root}
		h.mkdir("runs/a", "runs/b")
		h.start()
		h.src().set(func(string) error { return errors.New("no") })
		_ = h.Follow("A", []string{"runs/a"})
		_ = h.Follow("B", []string{"runs/b"})
		h.src().set(func(dir string) error {
			if strings.HasSuffix(dir, "a") {
				return syscall.EACCES
			}
			return nil
		})
		time.Sleep(retryAfter)
		synctest.Wait()
		if got := h.Blind(); !slices.Equal(got, []string{"runs/a"}) {
			t.Errorf("blind: %q", got)
		}
		h.want(Batch{Owners: []string{"B"}})
		_ = h.Close()
	})
}

func TestBlindFolderForgottenIsNotBlind(t *testing.T) {
	h := newHarness(t, "runs/a")
	h.src().set(func(dir string) error {
		if strings.HasSuffix(dir, "a") {
			return syscall.EACCES
		}
		return nil
	})
	_ = h.Follow("A", []string{"runs/a", "runs/a/deep"})
	if got := h.Blind(); !slices.Equal(got, []string{"runs/a"}) {
		t.Errorf("blind: %q, want the topmost alone", got)
	}
	h.Forget("A")
	if got := h.Blind(); got != nil || h.Watcher.watches.blind != 0 {
		t.Errorf("blind: %q (%d)", got, h.Watcher.watches.blind)
	}
}

func TestNoInstanceLeavesAllBlindUntilThereIsOne(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h := &harness{t: t, root: root, deny: syscall.EMFILE}
		h.mkdir("runs/a")
		h.start()
		h.Structure([]string{"runs"})
		_ = h.Follow("A", []string{"runs/a", "specs"})
		if got := h.Blind(); !slices.Equal(got, []string{"runs", "specs"}) {
			t.Errorf("blind: %q, want the topmost of each branch", got)
		}
		if got := h.Lacks(); got != (Lacks{Events: true, Folders: true}) {
			t.Errorf("lacks %+v", got)
		}
		time.Sleep(3 * retryAfter)
		if n := strings.Count(h.log.String(), "no file events"); n != 1 {
			t.Errorf("said %d times, want once:\n%s", n, h.log)
		}
		h.next()
		h.denyAll(nil)
		time.Sleep(retryAfter)
		synctest.Wait()
		if got := h.Blind(); got != nil {
			t.Errorf("blind: %q", got)
		}
		h.want(Batch{Owners: []string{"A"}, Lost: true, Rescan: true, Dirs: []string{"."}})
		_ = h.Close()
	})
}

func TestVanishedWorkspaceIsLookedFor(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h := &harness{t: t, root: filepath.Join(root, "ws")}
		h.mkdir("runs/a")
		h.start()
		h.Structure([]string{"runs"})
		h.follow("A", "runs/a")
		h.next()
		away := filepath.Join(root, "away")
		if err := os.Rename(h.root, away); err != nil {
			t.Fatal(err)
		}
		h.entry(".")
		h.want(Batch{Owners: []string{"A"}, Rescan: true, Dirs: []string{"runs"}})
		h.wantWatches()
		time.Sleep(10 * rootAfter)
		synctest.Wait()
		h.want(Batch{})
		if err := os.Rename(away, h.root); err != nil {
			t.Fatal(err)
		}
		time.Sleep(rootAfter)
		synctest.Wait()
		h.want(Batch{Owners: []string{"A"}, Lost: true, Rescan: true, Dirs: []string{"."}})
		h.wantWatches(".", "runs", "runs/a")
		_ = h.Close()
	})
}

func TestWatchesThatTheSourceLostAreMadeAgain(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h := &harness{t: t, root: root}
		h.mkdir("runs/a")
		h.start()
		h.Structure([]string{"runs"})
		h.follow("A", "runs/a")
		_ = h.src().Remove(filepath.Join(root, "runs/a"))
		h.Structure([]string{"runs"})
		h.wantWatches(".", "runs")
		time.Sleep(repairAfter)
		h.next()
		h.Structure([]string{"runs"})
		h.wantWatches(".", "runs", "runs/a")
		h.want(Batch{Owners: []string{"A"}})
		_ = h.Close()
	})
}

func TestNextEndsWithItsContextAndWithClose(t *testing.T) {
	h := newHarness(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Next with a cancelled context: %v", err)
	}
	got := make(chan error)
	go func() { _, err := h.Next(t.Context()); got <- err }()
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-got; !errors.Is(err, ErrClosed) {
		t.Errorf("Next of a closed watcher: %v", err)
	}
	if err := h.Follow("A", []string{"."}); !errors.Is(err, ErrClosed) {
		t.Errorf("Follow of a closed watcher: %v", err)
	}
	h.Structure([]string{"runs"})
	h.Guard("runs")
	h.entry("runs")
	if err := h.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
}

func TestManyOwnersOfOneFolder(t *testing.T) {
	h := newHarness(t, "shared")
	var want []string
	for i := range 24 {
		o := fmt.Sprintf("%02d", i)
		h.follow(o, "shared")
		h.follow(o, "shared")
		want = append(want, o)
	}
	h.entry("shared/definition.json")
	h.want(Batch{Owners: want})
	for _, o := range want[1:] {
		h.Forget(o)
	}
	h.entry("shared/definition.json")
	h.want(Batch{Owners: want[:1]})
	h.Forget(want[0])
	h.wantWatches()
}

// A change of a volatile file wakes nobody; the batch names the file once, and the number
// of names is limited.
func TestVolatileFilesAreHandedOn(t *testing.T) {
	h := newHarness(t, "runs/a/w")
	h.Volatile(func(p string) bool { return filepath.Base(p) == "progress.json" })
	h.follow("A", "runs/a", "runs/a/w")
	for range 3 {
		h.entry("runs/a/w/progress.json.tmp")
		h.write("runs/a/w/progress.json.tmp")
		h.entry("runs/a/w/progress.json")
		h.write("runs/a/w/progress.json")
	}
	h.entry("elsewhere/progress.json")
	h.want(Batch{Volatile: []string{"runs/a/w/progress.json"}})
	h.entry("runs/a/w/progress.json")
	h.entry("runs/a/w/result.json")
	h.want(Batch{Owners: []string{"A"}, Volatile: []string{"runs/a/w/progress.json"}})
	h.Volatile(func(string) bool { return true })
	for i := range maxVolatile + 1 {
		h.write(fmt.Sprintf("runs/a/w/%d", i))
	}
	if b := h.next(); !b.Lost || len(b.Volatile) > maxVolatile || len(b.Owners) > 0 {
		t.Errorf("%d files, more: %t, owners %q", len(b.Volatile), b.Lost, b.Owners)
	}
	h.want(Batch{})
}

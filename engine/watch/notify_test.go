package watch

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"placet/internal/await"
)

// real returns a watcher of the operating system's events.
func real(t *testing.T, dirs ...string) (*Watcher, string) {
	t.Helper()
	root := t.TempDir()
	for _, d := range dirs {
		mkdir(t, root, d)
	}
	w, err := New(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w, root
}

func mkdir(t *testing.T, root, dir string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, root, file string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(root, file), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func move(t *testing.T, root, from, to string) {
	t.Helper()
	if err := os.Rename(filepath.Join(root, from), filepath.Join(root, to)); err != nil {
		t.Fatal(err)
	}
}

func owns(owner string) func(Batch) bool {
	return func(b Batch) bool { return slices.Contains(b.Owners, owner) }
}

func rescans(b Batch) bool { return b.Rescan }

func follow(t *testing.T, w *Watcher, owner string, dirs ...string) {
	t.Helper()
	if err := w.Follow(owner, dirs); err != nil {
		t.Fatal(err)
	}
}

func TestEveryWayOfChangingAFileIsSeen(t *testing.T) {
	ways := map[string]func(name string) error{
		"made":     func(n string) error { return os.WriteFile(n+".new", []byte("1"), 0o600) },
		"in place": func(n string) error { return os.WriteFile(n, []byte("two"), 0o600) },
		"renamed over": func(n string) error {
			if err := os.WriteFile(n+".tmp", []byte("three"), 0o600); err != nil {
				return err
			}
			return os.Rename(n+".tmp", n)
		},
		"removed":    os.Remove,
		"made legal": func(n string) error { return os.Chmod(n, 0o640) },
		"appended": func(n string) error {
			f, err := os.OpenFile(n, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteString("more")
			return err
		},
	}
	for name, change := range ways {
		t.Run(name, func(t *testing.T) {
			w, root := real(t, "runs/a")
			put(t, root, "runs/a/state.json")
			follow(t, w, "A", "runs/a")
			if err := change(filepath.Join(root, "runs/a/state.json")); err != nil {
				t.Fatal(err)
			}
			collect(t, w, owns("A"))
		})
	}
}

func TestFolderRenamedAwayAndBackIsSeenAgain(t *testing.T) {
	for _, dir := range []string{"runs", "runs/org", "runs/org/a", "runs/org/a/requests", "runs/org/a/requests/r1"} {
		t.Run(dir, func(t *testing.T) {
			w, root := real(t, "runs/org/a/requests/r1")
			w.Structure([]string{"runs", "runs/org"})
			follow(t, w, "A", "runs/org/a", "runs/org/a/requests/r1")
			move(t, root, dir, "away")
			collect(t, w, owns("A"))
			move(t, root, "away", dir)
			collect(t, w, owns("A"))
			put(t, root, "runs/org/a/requests/r1/response.json")
			collect(t, w, owns("A"))
		})
	}
}

// If another folder takes the same place, that one must be watched.
func TestFolderPutInAnothersPlaceIsWatched(t *testing.T) {
	w, root := real(t, "runs/org/a", "other/a")
	w.Structure([]string{"runs", "runs/org"})
	follow(t, w, "A", "runs/org/a")
	for range 3 {
		move(t, root, "runs/org", "tmp")
		move(t, root, "other", "runs/org")
		move(t, root, "tmp", "other")
	}
	collect(t, w, rescans)
	settled(t, w, root)
	put(t, root, "runs/org/a/response.json")
	collect(t, w, owns("A"))
}

// settled waits until all events so far were heard: the last of them is that of a file made
// for this purpose in a folder of its own.
func settled(t *testing.T, w *Watcher, root string) {
	t.Helper()
	mkdir(t, root, "last")
	follow(t, w, "last", "last")
	put(t, root, "last/one")
	collect(t, w, owns("last"))
	w.Forget("last")
}

func TestWorkspaceRenamedAwayAndBackIsSeenAgain(t *testing.T) {
	parent := t.TempDir()
	root := filepath.Join(parent, "ws")
	mkdir(t, root, "runs/a")
	w, err := New(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	w.Structure([]string{"runs"})
	follow(t, w, "A", "runs/a")
	move(t, parent, "ws", "away")
	collect(t, w, rescans)
	move(t, parent, "away", "ws")
	collect(t, w, rescans)
	put(t, root, "runs/a/response.json")
	collect(t, w, owns("A"))
}

// A file that is made in a new folder before the watch exists is in the listing that
// follows; a file made after it raises an event. None is missed.
func TestWatchFirstThenListMissesNothing(t *testing.T) {
	w, root := real(t, "runs")
	w.Guard("runs")
	const n = 200
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range n {
			dir := fmt.Sprintf("runs/%03d", i)
			mkdir(t, root, dir)
			put(t, root, dir+"/state.json")
		}
	})
	seen := map[string]bool{}
	collect(t, w, func(b Batch) bool {
		entries, err := os.ReadDir(filepath.Join(root, "runs"))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			dir := "runs/" + e.Name()
			follow(t, w, dir, dir) // the watch, then the look
			if _, err := os.Stat(filepath.Join(root, dir, "state.json")); err == nil {
				seen[dir] = true
			}
		}
		for _, owner := range b.Owners {
			if _, err := os.Stat(filepath.Join(root, owner, "state.json")); err == nil {
				seen[owner] = true
			}
		}
		return len(seen) == n
	})
	wg.Wait()
}

func TestNestedFoldersMadeInAStormAreReached(t *testing.T) {
	w, root := real(t, "runs")
	deep := "specs/a/b/c/d/e/f"
	follow(t, w, "A", deep)
	for range 50 {
		mkdir(t, root, deep)
		if err := os.RemoveAll(filepath.Join(root, "specs")); err != nil {
			t.Fatal(err)
		}
	}
	mkdir(t, root, deep)
	settled(t, w, root)
	put(t, root, deep+"/plan.md")
	collect(t, w, owns("A"))
}

func TestCookieComesOnARealFileSystem(t *testing.T) {
	var log strings.Builder
	root := t.TempDir()
	mkdir(t, root, "runs")
	w, err := New(root, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	w.remote = func(string) bool { return false }
	w.Structure([]string{"runs"})
	settled(t, w, root) // the cookie's event came before
	w.mu.Lock()
	defer w.mu.Unlock()
	if c := w.cookies["runs"]; c == nil || c.blind || c.timer.Stop() {
		t.Errorf("the cookie is still waited for: %+v\n%s", c, log.String())
	}
}

func TestCloseLeavesNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	for i := range 20 {
		root := t.TempDir()
		w, err := New(root, nil)
		if err != nil {
			t.Fatal(err)
		}
		w.Structure([]string{"."})
		follow(t, w, "A", ".")
		for j := range 50 {
			put(t, root, fmt.Sprintf("f%d", j))
		}
		if i%2 == 0 {
			w.overflow(nil)
			w.take()
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	await.Until(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= before })
}

func BenchmarkEventForKnownFolder(b *testing.B) {
	root := b.TempDir()
	w, err := NewFrom(root, nil, func(s Sink) (Source, error) { return &fake{sink: s, dirs: map[string]bool{}}, nil })
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	if err := w.Follow("A", []string{"."}); err != nil {
		b.Fatal(err)
	}
	e := Event{filepath.Join(root, "response.json"), true}
	b.ReportAllocs()
	for b.Loop() {
		w.hear(w.round, e)
	}
}

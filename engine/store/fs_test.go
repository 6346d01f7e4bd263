package store_test

import (
	"errors"
	"io"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/engine/store/fs"
)

// conform runs a test against every implementation of fs.FS.
func conform(t *testing.T, test func(t *testing.T, w world)) {
	worlds(t, test)
	t.Run("machine without openat2", func(t *testing.T) {
		defer fs.WithoutOpenat2()()
		test(t, machine(t))
	})
}

func write(t *testing.T, fsys fs.FS, name, body string, how fs.How) {
	t.Helper()
	f, err := fsys.Open(name, how, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if n, err := f.Write([]byte(body)); err != nil || n != len(body) {
		t.Fatal(n, err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
}

func TestOpeningForCreatingRefusesWhatExists(t *testing.T) {
	conform(t, func(t *testing.T, w world) {
		write(t, w.fs, "a", "one", fs.ForCreating)
		if _, err := w.fs.Open("a", fs.ForCreating, 0o644); !errors.Is(err, iofs.ErrExist) {
			t.Errorf("got %v", err)
		}
		write(t, w.fs, "a", " two", fs.ForAppending)
		if got, _ := w.get("a"); got != "one two" {
			t.Errorf("got %q", got)
		}
	})
}

func TestWhatDoesNotExistIsNotCreatedByReadingOrLocking(t *testing.T) {
	conform(t, func(t *testing.T, w world) {
		for _, how := range []fs.How{fs.ForReading, fs.ForLockingExisting} {
			if _, err := w.fs.Open("a", how, 0o644); !errors.Is(err, iofs.ErrNotExist) {
				t.Errorf("got %v", err)
			}
		}
		for _, call := range []func() error{
			func() error { _, err := w.fs.Stat("a"); return err },
			func() error { _, err := w.fs.List("a"); return err },
			func() error { return w.fs.Remove("a") },
			func() error { return w.fs.Mkdir("a/b", 0o777) },
			func() error { return w.fs.SyncDir("a") },
			func() error { return w.fs.Rename("a", "b", fs.Replace) },
			func() error { return w.fs.Rename("a", "b", fs.Exchange) },
		} {
			if err := call(); !errors.Is(err, iofs.ErrNotExist) {
				t.Errorf("got %v", err)
			}
		}
	})
}

func TestReadingPastTheEndSaysSo(t *testing.T) {
	conform(t, func(t *testing.T, w world) {
		w.put("a", "hello")
		f, err := w.fs.Open("a", fs.ForReading, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		buf := make([]byte, 4)
		if n, err := f.ReadAt(buf, 1); n != 4 || err != nil || string(buf) != "ello" {
			t.Error(n, err, string(buf))
		}
		if n, err := f.ReadAt(buf, 3); n != 2 || !errors.Is(err, io.EOF) {
			t.Error(n, err)
		}
		if n, err := f.ReadAt(buf, 9); n != 0 || !errors.Is(err, io.EOF) {
			t.Error(n, err)
		}
	})
}

func TestRenames(t *testing.T) {
	conform(t, func(t *testing.T, w world) {
		w.put("d/a", "A")
		w.put("d/b", "B")
		if err := w.fs.Rename("d/a", "d/b", fs.Exclusive); !errors.Is(err, iofs.ErrExist) {
			t.Errorf("exclusive: %v", err)
		}
		if err := w.fs.Rename("d/a", "d/b", fs.Exchange); err != nil {
			t.Fatal(err)
		}
		check(t, w, map[string]string{"d/a": "B", "d/b": "A"})
		if err := w.fs.Rename("d/a", "d/c", fs.Exclusive); err != nil {
			t.Fatal(err)
		}
		w.dir("e")
		if err := w.fs.Rename("d/b", "e/b", fs.Replace); err != nil {
			t.Fatal(err)
		}
		check(t, w, map[string]string{"d/a": "", "d/c": "B", "d/b": "", "e/b": "A"})
		if err := w.fs.Rename("d/c", "e/b", fs.Replace); err != nil {
			t.Fatal(err)
		}
		check(t, w, map[string]string{"d/c": "", "e/b": "B"})
	})
}

// check compares files; "" means that there is no file.
func check(t *testing.T, w world, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	for name := range want {
		got[name], _ = w.get(name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestListIsSortedAndSaysWhatIsThere(t *testing.T) {
	conform(t, func(t *testing.T, w world) {
		w.put("d/b", "12345")
		w.dir("d/c")
		w.odd("d/a", iofs.ModeNamedPipe)
		w.odd("d/l", iofs.ModeSymlink)
		infos, err := w.fs.List("d")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, i := range infos {
			got = append(got, i.Name+": "+fs.Describe(i.Mode))
		}
		want := []string{"a: a FIFO", "b: a regular file", "c: a folder", "l: a symbolic link"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if b, err := w.fs.Stat("d/b"); err != nil || b.Size != 5 || infos[1].Inode != 0 && infos[1].Inode != b.Inode {
			t.Errorf("%+v, %v; in its folder %+v", b, err, infos[1])
		}
	})
}

func TestOpeningAnythingButARegularFileSaysWhatItIs(t *testing.T) {
	for what, mode := range map[string]iofs.FileMode{
		"a FIFO": iofs.ModeNamedPipe, "a symbolic link": iofs.ModeSymlink, "a folder": iofs.ModeDir, "a socket": iofs.ModeSocket,
	} {
		t.Run(what, func(t *testing.T) {
			conform(t, func(t *testing.T, w world) {
				w.odd("x", mode)
				for _, how := range []fs.How{fs.ForReading, fs.ForAppending, fs.ForLocking} {
					_, err := w.fs.Open("x", how, 0o644)
					var other *fs.NotRegular
					if !errors.As(err, &other) || other.Is != what {
						t.Errorf("got %v", err)
					}
				}
			})
		})
	}
}

func TestNothingIsReachedOverALink(t *testing.T) {
	test := func(t *testing.T) {
		outside := t.TempDir()
		w := machine(t)
		root := w.fs.Root()
		if err := os.WriteFile(filepath.Join(outside, "f"), []byte("secret"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(root, "real"), 0o755); err != nil {
			t.Fatal(err)
		}
		for link, target := range map[string]string{"out": outside, "in": "real", "loop": "loop", "file": outside + "/f"} {
			if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
				t.Fatal(err)
			}
		}
		for name, call := range map[string]func() error{
			"open":       func() error { _, err := w.fs.Open("out/f", fs.ForReading, 0); return err },
			"open inner": func() error { _, err := w.fs.Open("in/f", fs.ForCreating, 0o644); return err },
			"open last":  func() error { _, err := w.fs.Open("file", fs.ForReading, 0); return err },
			"open loop":  func() error { _, err := w.fs.Open("loop", fs.ForReading, 0); return err },
			"list":       func() error { _, err := w.fs.List("out"); return err },
			"mkdir":      func() error { return w.fs.Mkdir("out/d", 0o777) },
			"remove":     func() error { return w.fs.Remove("out/f") },
			"rename":     func() error { return w.fs.Rename("out/f", "out/g", fs.Replace) },
			"rename to":  func() error { return w.fs.Rename("real", "out/g", fs.Replace) },
			"sync":       func() error { return w.fs.SyncDir("out") },
			"touch":      func() error { _, err := w.fs.Touch("out/f"); return err },
		} {
			var other *fs.NotRegular
			if err := call(); !errors.As(err, &other) || !strings.Contains(err.Error(), "link") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if body, _ := os.ReadFile(filepath.Join(outside, "f")); string(body) != "secret" {
			t.Errorf("the file outside is now %q", body)
		}
	}
	t.Run("openat2", test)
	t.Run("walk", func(t *testing.T) {
		defer fs.WithoutOpenat2()()
		test(t)
	})
}

func TestALockIsExclusiveUntilItsFileIsClosed(t *testing.T) {
	conform(t, func(t *testing.T, w world) {
		first, err := w.fs.Open("lock", fs.ForLocking, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		second, err := w.fs.Open("lock", fs.ForLockingExisting, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		defer second.Close()
		if err := first.TryLock(); err != nil {
			t.Fatal(err)
		}
		if err := second.TryLock(); !errors.Is(err, fs.ErrBusy) {
			t.Errorf("got %v", err)
		}
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		if err := second.TryLock(); err != nil {
			t.Errorf("got %v", err)
		}
	})
}

func TestModesAndSizesCanBeSet(t *testing.T) {
	conform(t, func(t *testing.T, w world) {
		f, err := w.fs.Open("a", fs.ForAppending, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.Write([]byte("12345")); err != nil {
			t.Fatal(err)
		}
		before, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{f.Chmod(0o640 | iofs.ModeSetgid | iofs.ModeSetuid), f.Chown(before.UID, before.GID), f.Truncate(2)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		after, err := w.fs.Stat("a")
		if err != nil {
			t.Fatal(err)
		}
		if after.Size != 2 || after.Mode != 0o640 || after.Inode != before.Inode || after.Modified.Before(before.Modified) {
			t.Errorf("got %+v", after)
		}
	})
}

func TestTouchTellsTheFileSystemsOwnTime(t *testing.T) {
	conform(t, func(t *testing.T, w world) {
		first, err := w.fs.Touch("now")
		if err != nil {
			t.Fatal(err)
		}
		w.later(60e9)
		second, err := w.fs.Touch("now")
		if err != nil {
			t.Fatal(err)
		}
		if passed := second.Sub(first); passed < 60e9 || passed > 120e9 {
			t.Errorf("%v passed", passed)
		}
	})
}

func TestAnAbsoluteNameIsTakenAsItIs(t *testing.T) {
	w := machine(t)
	outside := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(outside, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if info, err := w.fs.Stat(outside); err != nil || info.Size != 1 {
		t.Error(info, err)
	}
	f, err := w.fs.Open(outside, fs.ForReading, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}

func TestARootBehindALinkIsResolvedOnce(t *testing.T) {
	real := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	write(t, fs.OS(link), "a", "x", fs.ForCreating)
	if _, err := os.Stat(filepath.Join(real, "a")); err != nil {
		t.Error(err)
	}
}

// A name that leads out of the root is refused in every call.
func TestNoNameLeavesTheRoot(t *testing.T) {
	for name, without := range map[string]bool{"openat2": false, "part by part": true} {
		t.Run(name, func(t *testing.T) {
			if without {
				defer fs.WithoutOpenat2()()
			}
			dir := t.TempDir()
			if err := errors.Join(os.Mkdir(filepath.Join(dir, "root"), 0o755), os.WriteFile(filepath.Join(dir, "out"), []byte("o"), 0o644)); err != nil {
				t.Fatal(err)
			}
			fsys := fs.OS(filepath.Join(dir, "root"))
			for _, how := range []fs.How{fs.ForReading, fs.ForCreating, fs.ForAppending} {
				if f, err := fsys.Open("../out", how, 0o644); err == nil {
					f.Close()
					t.Errorf("opened %d", how)
				}
			}
			if fsys.Remove("../out") == nil || fsys.Mkdir("../new", 0o777) == nil || fsys.Rename("../out", "in", fs.Replace) == nil {
				t.Error("a name outside was changed")
			}
			if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
				t.Errorf("%v %v", entries, err)
			}
		})
	}
}

//go:build linux

package store_test

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"placet/engine"
	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/layout"
)

func TestAStateDocumentIsReplacedWithoutExchange(t *testing.T) {
	w := machine(t)
	w.put(in("state.json"), "S0")
	s := store.New(noExchange{w.fs, w}, store.Options{Now: w.clock.now})
	commit(t, s, engine.Plan{Writes: []engine.Document{stateDoc("S1", "S0")}})
	check(t, w, map[string]string{in("state.json"): "S1"})
	// Compare, rename, compare: the store notices others that write over its
	// file at once.
	err := s.Commit(aRun(), layout.Faber{}, engine.Plan{Writes: []engine.Document{stateDoc("overwrite me", "S1")}})
	if !errors.Is(err, store.ErrConflict) {
		t.Errorf("got %v", err)
	}
	check(t, w, map[string]string{in("state.json"): foreign})
}

// noExchange cannot exchange names; others overwrite a state document at each
// try.
type noExchange struct {
	fs.FS
	w world
}

func (f noExchange) Rename(from, to string, how fs.Move) error {
	if how == fs.Exchange {
		return errors.ErrUnsupported
	}
	err := f.FS.Rename(from, to, how)
	if body, _ := f.w.get(to); how == fs.Replace && body == "overwrite me" && filepath.Base(to) == "state.json" {
		f.w.put(to, foreign)
	}
	return err
}

// tiny mounts a file system of 64 KiB, or says why it cannot.
func tiny(t *testing.T, options string) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root may mount a small file system to fill")
	}
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("cannot mount a small file system to fill: %v", err)
	}
	t.Cleanup(func() {
		// A store keeps its root open until it is collected.
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Errorf("cannot unmount: %v", err)
		}
	})
	return dir
}

func TestAFullDiskDamagesNothingAndPasses(t *testing.T) {
	for _, options := range []string{"size=64k", "nr_inodes=20"} {
		t.Run(options, func(t *testing.T) {
			root := tiny(t, options)
			s := store.New(fs.OS(root), store.Options{})
			commit(t, s, engine.Plan{Writes: []engine.Document{stateDoc("S0", "")}})
			var fill []string
			for i := 0; ; i++ {
				name := filepath.Join(root, fmt.Sprintf("fill%d", i))
				err := os.WriteFile(name, make([]byte, 4096), 0o644)
				if _, serr := os.Stat(name); serr == nil {
					fill = append(fill, name)
				}
				if errors.Is(err, syscall.ENOSPC) {
					break
				}
			}
			p := engine.Plan{Writes: []engine.Document{newDoc("metadata.json", strings.Repeat("x", 9000)), stateDoc("S1", "S0")}}
			for range 4 {
				if err := s.Commit(aRun(), layout.Faber{}, p); !errors.Is(err, syscall.ENOSPC) {
					t.Fatalf("got %v", err)
				}
			}
			infos, err := fs.OS(root).List(aRun().Dir)
			if err != nil || len(infos) != 1 {
				t.Errorf("left behind: %v %v", infos, err)
			}
			for _, name := range fill {
				if err := os.Remove(name); err != nil {
					t.Fatal(err)
				}
			}
			commit(t, s, p)
			if got, _ := os.ReadFile(filepath.Join(root, aRun().State)); string(got) != "S1" {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestAReadOnlyFileSystemIsSaidAndRead(t *testing.T) {
	root := tiny(t, "size=64k")
	w := fs.OS(root)
	commit(t, store.New(w, store.Options{}), engine.Plan{Writes: []engine.Document{stateDoc("{}", "")}})
	if err := unix.Mount("", root, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Skipf("cannot remount: %v", err)
	}
	s := store.New(w, store.Options{})
	if err := s.Commit(aRun(), layout.Faber{}, engine.Plan{Writes: []engine.Document{stateDoc("S1", "{}")}}); !errors.Is(err, syscall.EROFS) {
		t.Errorf("got %v", err)
	}
	if d := doc(load(t, s), "state.json"); d.Err != nil && !d.Unsettled() {
		t.Errorf("got %v", d.Err)
	}
}

func TestWithoutDescriptorsNothingIsAbsentAndItPasses(t *testing.T) {
	w := machine(t)
	w.put(in("state.json"), "{}")
	w.later(3e9)
	s := w.store()
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	few := limit
	few.Cur = 3
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &few); err != nil {
		t.Skipf("cannot lower the limit: %v", err)
	}
	_, lerr := s.Load(aRun(), layout.Faber{}, nil)
	d := s.Read(aRun().State, layout.File{Kind: engine.KindState, Limit: layout.LimitState})
	cerr := s.Commit(aRun(), layout.Faber{}, engine.Plan{Writes: []engine.Document{stateDoc("S1", "{}")}})
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{"load": lerr, "read": d.Err, "commit": cerr} {
		if !errors.Is(err, syscall.EMFILE) {
			t.Errorf("%s: got %v", what, err)
		}
	}
	commit(t, s, engine.Plan{Writes: []engine.Document{stateDoc("S1", "{}")}})
}

func TestDescriptorsAreNotLeaked(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("descriptors cannot be counted here")
	}
	w := machine(t)
	w.put(in("state.json"), "0")
	w.odd(in("metadata.json"), iofs.ModeNamedPipe)
	w.odd(in("cancel.json"), iofs.ModeSymlink)
	s := w.store()
	open := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	start := 0
	for i := range 50 {
		load(t, s, "specs/*.md", "still:a.md")
		commit(t, s, engine.Plan{Writes: []engine.Document{stateDoc(fmt.Sprint(i+1), fmt.Sprint(i))}, Lines: lines("x").Lines})
		lock(t, s)()
		_, _ = s.Sweep(aRun().Dir)
		s.Paused()
		if i == 5 {
			start = open()
		}
	}
	if end := open(); end > start {
		t.Errorf("%d descriptors, then %d", start, end)
	}
}

func TestLongAndStrangeNamesAreJustNames(t *testing.T) {
	w := machine(t)
	for _, name := range []string{"a b", "ü", "'q\"", "new\nline", strings.Repeat("x", 255), "-rf", "*"} {
		write(t, w.fs, name, name, fs.ForCreating)
		if got, _ := w.get(name); got != name {
			t.Errorf("%q holds %q", name, got)
		}
	}
	deep := strings.TrimSuffix(strings.Repeat("d/", 3000), "/")
	if _, err := w.fs.Stat(deep); err == nil {
		t.Error("a path that is too long was found")
	}
	infos, err := w.fs.List(".")
	if err != nil {
		t.Fatal(err)
	}
	if len(infos) != 7 {
		t.Errorf("got %d names", len(infos))
	}
}

func TestEveryKindOfFileHasAName(t *testing.T) {
	got := map[string]string{}
	for _, mode := range []iofs.FileMode{0, iofs.ModeDir, iofs.ModeSymlink, iofs.ModeNamedPipe, iofs.ModeSocket, iofs.ModeDevice, iofs.ModeIrregular} {
		got[mode.Type().String()] = fs.Describe(mode)
	}
	want := map[string]string{
		"----------": "a regular file", "d---------": "a folder", "L---------": "a symbolic link", "p---------": "a FIFO",
		"S---------": "a socket", "D---------": "a device", "?---------": "no regular file",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	info, err := fs.OS("/").Stat("dev/null")
	if err != nil || fs.Describe(info.Mode) != "a device" {
		t.Errorf("got %v %v", info.Mode, err)
	}
}

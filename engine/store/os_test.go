//go:build linux

package store_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"placet/engine"
	"placet/engine/store"
	"placet/layout"
)

// openDir opens a folder for the calls that take one.
func openDir(t *testing.T, dir string) int {
	t.Helper()
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	return fd
}

func TestRenamingWithoutTheKernelsHelp(t *testing.T) {
	w := machine(t)
	w.put("a", "A")
	w.put("b", "B")
	dir := openDir(t, w.fs.Root())
	if err := store.MoveWithout(dir, "a", dir, "b", store.Exclusive); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v", err)
	}
	if err := store.MoveWithout(dir, "a", dir, "c", store.Exclusive); err != nil {
		t.Error(err)
	}
	check(t, w, map[string]string{"a": "", "b": "B", "c": "A"})
	if err := store.MoveWithout(dir, "b", dir, "c", store.Exchange); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
	if err := store.MoveWithout(dir, "none", dir, "d", store.Exclusive); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestAStateDocumentIsReplacedWithoutExchange(t *testing.T) {
	w := machine(t)
	w.put(in("state.json"), "S0")
	s := store.New(noExchange{w.fs, w}, store.Options{Now: w.clock.now})
	commit(t, s, engine.Plan{Writes: []engine.Document{stateDoc("S1", "S0")}})
	check(t, w, map[string]string{in("state.json"): "S1"})
	// Compare, rename, compare: who writes over ours at once is noticed.
	err := s.Commit(aRun(), layout.Faber{}, engine.Plan{Writes: []engine.Document{stateDoc("overwrite me", "S1")}})
	if !errors.Is(err, store.ErrMoved) {
		t.Errorf("got %v", err)
	}
	check(t, w, map[string]string{in("state.json"): foreign})
}

// noExchange cannot exchange names; others overwrite a state document that asks
// for it.
type noExchange struct {
	store.FS
	w world
}

func (f noExchange) Rename(from, to string, how store.Move) error {
	if how == store.Exchange {
		return errors.ErrUnsupported
	}
	err := f.FS.Rename(from, to, how)
	if body, _ := f.w.get(to); how == store.Replace && body == "overwrite me" && filepath.Base(to) == "state.json" {
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
			s := store.New(store.OS(root), store.Options{})
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
			infos, err := store.OS(root).List(aRun().Dir)
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
	w := store.OS(root)
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
	w.odd(in("metadata.json"), fs.ModeNamedPipe)
	w.odd(in("cancel.json"), fs.ModeSymlink)
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
		s.Hold()
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
		write(t, w.fs, name, name, store.ForCreating)
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
	for _, mode := range []fs.FileMode{0, fs.ModeDir, fs.ModeSymlink, fs.ModeNamedPipe, fs.ModeSocket, fs.ModeDevice, fs.ModeIrregular} {
		got[mode.Type().String()] = store.Describe(mode)
	}
	want := map[string]string{
		"----------": "a regular file", "d---------": "a folder", "L---------": "a symbolic link", "p---------": "a FIFO",
		"S---------": "a socket", "D---------": "a device", "?---------": "no regular file",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	info, err := store.OS("/").Stat("dev/null")
	if err != nil || store.Describe(info.Mode) != "a device" {
		t.Errorf("got %v %v", info.Mode, err)
	}
}

package memfs_test

import (
	"errors"
	"io"
	iofs "io/fs"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine/store/fs"
	"placet/engine/store/memfs"
)

// fixed is a clock that does not move.
func fixed() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 8_000_000, time.UTC) }

func create(t *testing.T, m *memfs.FS, name, body string, sync bool) {
	t.Helper()
	f, err := m.Open(name, fs.ForCreating, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write([]byte(body)); err != nil {
		t.Fatal(err)
	}
	if sync {
		if err := f.Sync(); err != nil {
			t.Fatal(err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// outcomes collects what a file may hold after a power cut, over many seeds.
func outcomes(m *memfs.FS, name string) map[string]bool {
	seen := map[string]bool{}
	for seed := range uint64(200) {
		body, there := m.CrashClone(seed).Get(name)
		if !there {
			body = "absent"
		}
		seen[body] = true
	}
	return seen
}

func TestWhatIsSyncedSurvives(t *testing.T) {
	m := memfs.New(fixed)
	create(t, m, "a", "body", true)
	if got := outcomes(m, "a"); !got["absent"] || !got["body"] || len(got) != 2 {
		t.Errorf("a name that was not synced: %v", got)
	}
	must(t, m.SyncDir("."))
	if got := outcomes(m, "a"); !got["body"] || len(got) != 1 {
		t.Errorf("a name that was synced: %v", got)
	}
}

func TestWhatIsNotSyncedMayBeTornLostOrBlank(t *testing.T) {
	m := memfs.New(fixed)
	create(t, m, "a", "12345678", false)
	must(t, m.SyncDir("."))
	got := outcomes(m, "a")
	for _, want := range []string{"", "12345678", "1234", "1234\x00\x00\x00\x00"} {
		if !got[want] {
			t.Errorf("%q never came out", want)
		}
	}
	if first, _ := m.CrashClone(0).Get("a"); first != "" {
		t.Errorf("seed 0 has kept %q", first)
	}
}

func TestWhatIsDurableAndUnchangedIsNeverLost(t *testing.T) {
	m := memfs.New(fixed)
	m.Put("log", "one\n")
	f, err := m.Open("log", fs.ForAppending, 0o644)
	must(t, err)
	_, err = f.Write([]byte("two\n"))
	must(t, err)
	for body := range outcomes(m, "log") {
		if !strings.HasPrefix(body, "one\n") {
			t.Errorf("the log came out as %q", body)
		}
	}
}

func TestARenameIsKeptWholeOrNotAtAll(t *testing.T) {
	m := memfs.New(fixed)
	m.Put("d/a", "A")
	m.Put("d/b", "B")
	must(t, m.Rename("d/a", "d/b", fs.Exchange))
	seen := map[string]bool{}
	for seed := range uint64(100) {
		c := m.CrashClone(seed)
		a, _ := c.Get("d/a")
		b, _ := c.Get("d/b")
		seen[a+b] = true
	}
	if diff := cmp.Diff(map[string]bool{"AB": true, "BA": true}, seen); diff != "" {
		t.Error(diff)
	}
}

func TestOneSeedIsOneCrash(t *testing.T) {
	m := memfs.New(fixed)
	for _, name := range []string{"a", "b", "c", "d"} {
		create(t, m, name, strings.Repeat(name, 50), false)
	}
	for seed := range uint64(20) {
		if diff := cmp.Diff(m.CrashClone(seed).Tree(), m.CrashClone(seed).Tree()); diff != "" {
			t.Error(diff)
		}
	}
}

func TestAfterAKillEverythingVisibleIsThereAndLocksAreGone(t *testing.T) {
	m := memfs.New(fixed)
	create(t, m, "a", "body", false)
	f, err := m.Open("a", fs.ForLocking, 0o644)
	must(t, err)
	must(t, f.TryLock())
	c := m.KillClone()
	if diff := cmp.Diff(map[string]string{"a": "body"}, c.Tree()); diff != "" {
		t.Error(diff)
	}
	g, err := c.Open("a", fs.ForLocking, 0o644)
	must(t, err)
	must(t, g.TryLock())
}

func TestACrashEndsEveryLaterCall(t *testing.T) {
	for when, want := range map[memfs.When]string{memfs.Before: "", memfs.After: "12345678", memfs.Torn: "1234"} {
		m := memfs.New(fixed)
		f, err := m.Open("a", fs.ForCreating, 0o644)
		must(t, err)
		m.CrashAt(1, when)
		if _, err := f.Write([]byte("12345678")); !errors.Is(err, memfs.ErrCrashed) {
			t.Errorf("got %v", err)
		}
		if _, err := m.Stat("a"); !errors.Is(err, memfs.ErrCrashed) || !m.Crashed() {
			t.Errorf("got %v", err)
		}
		if got, _ := m.Get("a"); got != want {
			t.Errorf("%d: %q", when, got)
		}
		if _, err := m.KillClone().Stat("a"); err != nil {
			t.Errorf("the crash goes on after a restart: %v", err)
		}
	}
}

func TestACrashCanBeCountedByWhatChanges(t *testing.T) {
	m := memfs.New(fixed)
	must(t, m.Mkdir("before", 0o777))
	m.CrashAtChange(2, memfs.After)
	for range 3 {
		if _, err := m.List("."); err != nil {
			t.Fatal(err)
		}
	}
	must(t, m.Mkdir("a", 0o777))
	if _, err := m.Stat("a"); err != nil {
		t.Error(err)
	}
	if err := m.Mkdir("b", 0o777); !errors.Is(err, memfs.ErrCrashed) {
		t.Errorf("got %v", err)
	}
	if _, err := m.KillClone().Stat("b"); err != nil {
		t.Error(err)
	}
}

func TestAnErrorTakesThePlaceOfOneCall(t *testing.T) {
	m := memfs.New(fixed)
	m.FailAt(2, syscall.ENOSPC)
	must(t, m.Mkdir("a", 0o777))
	if err := m.Mkdir("b", 0o777); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v", err)
	}
	must(t, m.Mkdir("b", 0o777))
	if m.Calls() != 3 {
		t.Errorf("%d calls", m.Calls())
	}
}

func TestAnFsyncThatFailedNeverKeepsWhatItDropped(t *testing.T) {
	m := memfs.New(fixed)
	f, err := m.Open("a", fs.ForCreating, 0o644)
	must(t, err)
	must(t, m.SyncDir("."))
	_, err = f.Write([]byte("body"))
	must(t, err)
	m.FailAt(1, syscall.EIO)
	if err := f.Sync(); !errors.Is(err, syscall.EIO) {
		t.Errorf("got %v", err)
	}
	must(t, f.Sync()) // it says nothing, and does nothing
	if got := outcomes(m, "a"); len(got) == 1 {
		t.Errorf("the second sync has made it durable: %v", got)
	}
}

func TestAFolderWhoseSyncFailedIsWrittenWithItsNextChange(t *testing.T) {
	for _, sync := range []func(m *memfs.FS) error{
		func(m *memfs.FS) error { return m.SyncDir("d") },
		func(m *memfs.FS) error { return m.SyncAll("d") },
	} {
		m := memfs.New(fixed)
		m.PutDir("d")
		create(t, m, "d/a", "body", true)
		m.FailAt(1, syscall.EIO)
		if err := sync(m); !errors.Is(err, syscall.EIO) {
			t.Errorf("got %v", err)
		}
		must(t, sync(m))
		if got := outcomes(m, "d/a"); got["body"] {
			t.Error("the name came through by itself")
		}
		must(t, m.Mkdir("d/b", 0o777))
		must(t, sync(m))
		if got := outcomes(m, "d/a"); len(got) != 1 || !got["body"] {
			t.Errorf("with the next change: %v", got)
		}
	}
}

func TestAFolderThatCouldNotBeOpenedHasLostNothing(t *testing.T) {
	m := memfs.New(fixed)
	create(t, m, "a", "body", true)
	m.FailAt(1, syscall.EMFILE)
	if err := m.SyncDir("."); !errors.Is(err, syscall.EMFILE) {
		t.Errorf("got %v", err)
	}
	must(t, m.SyncDir("."))
	if got := outcomes(m, "a"); len(got) != 1 {
		t.Errorf("got %v", got)
	}
}

func TestASyncOfEverythingIsOneCall(t *testing.T) {
	m := memfs.New(fixed)
	must(t, m.Mkdir("d", 0o777))
	create(t, m, "d/a", "A", false)
	create(t, m, "b", "B", false)
	calls := m.Calls()
	must(t, m.SyncAll("d"))
	if m.Calls() != calls+1 {
		t.Errorf("%d calls", m.Calls()-calls)
	}
	for _, name := range []string{"d/a", "b"} {
		if got := outcomes(m, name); len(got) != 1 {
			t.Errorf("%s: %v", name, got)
		}
	}
	m.NoSyncAll()
	if err := m.SyncAll("d"); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}

func TestTimesAndInodesAreLikeThoseOfExt4(t *testing.T) {
	now := fixed()
	m := memfs.New(func() time.Time { return now })
	m.Put("a", "A")
	first := m.Info("a")
	now = now.Add(time.Second)
	must(t, m.Rename("a", "b", fs.Replace))
	renamed := m.Info("b")
	if renamed.Inode != first.Inode || !renamed.Modified.Equal(first.Modified) || !renamed.Changed.Equal(now) {
		t.Errorf("a rename: %+v, then %+v", first, renamed)
	}
	now = now.Add(3 * time.Millisecond) // less than a tick
	m.Rewrite("b", "B")
	if written := m.Info("b"); !written.Changed.Equal(renamed.Changed) || !written.Modified.Equal(renamed.Changed) {
		t.Errorf("within one tick: %+v", written)
	}
	m.Delete("b")
	m.Put("c", "C")
	if again := m.Info("c"); again.Inode != first.Inode {
		t.Errorf("the number %d is not used again, but %d", first.Inode, again.Inode)
	}
	m.Later(time.Hour)
	at, err := m.Touch("now")
	must(t, err)
	if passed := at.Sub(now); passed < time.Hour-4*time.Millisecond || passed > time.Hour {
		t.Errorf("%v passed", passed)
	}
}

func TestAnInodeInUseIsNotFree(t *testing.T) {
	m := memfs.New(nil)
	m.Put("a", "A")
	f, err := m.Open("a", fs.ForReading, 0)
	must(t, err)
	old := m.Info("a").Inode
	m.Delete("a")
	m.Put("b", "B")
	if m.Info("b").Inode == old {
		t.Error("the number of an open file is used again")
	}
	buf := make([]byte, 1)
	if _, err := f.ReadAt(buf, 0); err != nil || string(buf) != "A" {
		t.Errorf("an open file lost its content: %q %v", buf, err)
	}
	must(t, f.Close())
	must(t, f.Close())
	m.Put("c", "C")
	if m.Info("c").Inode != old {
		t.Error("the number is never used again")
	}
}

func TestErrorsAreThoseOfTheSystem(t *testing.T) {
	m := memfs.New(fixed)
	m.Put("f", "x")
	m.PutDir("d")
	m.PutOdd("link", iofs.ModeSymlink)
	m.PutOdd("fifo", iofs.ModeNamedPipe)
	m.Chmod("f", 0, 7, 8)
	open := func(name string, how fs.How) func() error {
		return func() error { _, err := m.Open(name, how, 0); return err }
	}
	for name, c := range map[string]struct {
		call func() error
		want error
	}{
		"open none":           {open("none", fs.ForReading), syscall.ENOENT},
		"open below a file":   {open("f/x", fs.ForReading), syscall.ENOTDIR},
		"open forbidden":      {open("f", fs.ForReading), syscall.EACCES},
		"create existing":     {open("f", fs.ForCreating), syscall.EEXIST},
		"long name":           {open(strings.Repeat("x", 256)+"/a", fs.ForReading), syscall.ENAMETOOLONG},
		"mkdir existing":      {func() error { return m.Mkdir("d", 0o777) }, syscall.EEXIST},
		"mkdir nowhere":       {func() error { return m.Mkdir("none/d", 0o777) }, syscall.ENOENT},
		"remove folder":       {func() error { return m.Remove("d") }, syscall.EISDIR},
		"remove none":         {func() error { return m.Remove("none") }, syscall.ENOENT},
		"remove nowhere":      {func() error { return m.Remove("none/x") }, syscall.ENOENT},
		"exclusive":           {func() error { return m.Rename("fifo", "f", fs.Exclusive) }, syscall.EEXIST},
		"exchange with none":  {func() error { return m.Rename("f", "none", fs.Exchange) }, syscall.ENOENT},
		"rename from nowhere": {func() error { return m.Rename("none/x", "f", fs.Replace) }, syscall.ENOENT},
		"rename to nowhere":   {func() error { return m.Rename("f", "none/x", fs.Replace) }, syscall.ENOENT},
		"rename over folder":  {func() error { return m.Rename("f", "d", fs.Replace) }, syscall.EISDIR},
		"sync none":           {func() error { return m.SyncDir("none") }, syscall.ENOENT},
		"list none":           {func() error { _, err := m.List("none"); return err }, syscall.ENOENT},
		"stat none":           {func() error { _, err := m.Stat("/workspace/none"); return err }, syscall.ENOENT},
		"list file":           {func() error { _, err := m.List("f"); return err }, syscall.ENOTDIR},
		"sync file":           {func() error { return m.SyncDir("f") }, syscall.ENOTDIR},
		"touch nowhere":       {func() error { _, err := m.Touch("none/x"); return err }, syscall.ENOENT},
	} {
		if err := c.call(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, call := range map[string]func() error{
		"open link":  open("link", fs.ForReading),
		"over link":  open("link/x", fs.ForReading),
		"open fifo":  open("fifo", fs.ForAppending),
		"list link":  func() error { _, err := m.List("link"); return err },
		"below link": func() error { return m.SyncDir("link/a/b") },
	} {
		var other *fs.NotRegular
		if err := call(); !errors.As(err, &other) {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, m.Rename("f", "f", fs.Replace))
	if _, there := m.Get("d"); there {
		t.Error("a folder has a content")
	}
	if m.Root() != memfs.Root {
		t.Error(m.Root())
	}
}

func TestOpenFilesCanBeChanged(t *testing.T) {
	m := memfs.New(fixed)
	m.Put("a", "12345")
	f, err := m.Open("a", fs.ForAppending, 0)
	must(t, err)
	defer f.Close()
	must(t, f.Truncate(2))
	must(t, f.Chown(7, 8))
	must(t, f.Chmod(0o600))
	info, err := f.Stat()
	must(t, err)
	if info != m.Info("a") && info.Size != 2 || info.UID != 7 || info.GID != 8 || info.Mode != 0o600 {
		t.Errorf("got %+v", info)
	}
	if _, err := f.ReadAt(make([]byte, 1), 2); !errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	}
	g, err := m.Open("a", fs.ForLockingExisting, 0)
	must(t, err)
	must(t, f.TryLock())
	if err := g.TryLock(); !errors.Is(err, fs.ErrBusy) {
		t.Errorf("got %v", err)
	}
	infos, err := m.List(".")
	must(t, err)
	if len(infos) != 1 || infos[0].Name != "a" || !infos[0].Mode.IsRegular() {
		t.Errorf("got %+v", infos)
	}
	must(t, m.Remove("a"))
}

func TestAMistakeOfTheTestIsAPanic(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	memfs.New(nil).Rewrite("none", "")
}

func TestNoExchangeIsUnsupported(t *testing.T) {
	m := memfs.New(fixed)
	m.Put("a", "A")
	m.Put("b", "B")
	m.NoExchange()
	if err := m.Rename("a", "b", fs.Exchange); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}

func TestAHookSeesEveryCallAndMayActOnTheFiles(t *testing.T) {
	m := memfs.New(fixed)
	var ops []string
	m.Hook(func(c memfs.Call) error {
		ops = append(ops, c.Op+" "+c.Name)
		if c.Op == "sync" {
			m.Put("other", "written by the hook")
		}
		if c.Op == "remove" {
			return syscall.EPERM
		}
		return nil
	})
	create(t, m, "a", "A", true)
	if err := m.Remove("a"); !errors.Is(err, syscall.EPERM) {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff([]string{"create a", "write a", "sync a", "remove a"}, ops); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"a": "A", "other": "written by the hook"}, m.Tree()); diff != "" {
		t.Error(diff)
	}
}

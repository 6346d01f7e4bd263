package store_test

import (
	iofs "io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"placet/engine"
	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/engine/store/memfs"
	"placet/layout"
)

// clock is a clock that a test moves.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// world is a workspace with functions that change it like other programs.
type world struct {
	fs      fs.FS
	clock   *clock
	put     func(name, body string) // by rename, as good editors do
	rewrite func(name, body string) // in place
	delete  func(name string)
	dir     func(name string)
	odd     func(name string, mode iofs.FileMode)
	get     func(name string) (string, bool)
	// later sets the file system's clock, and ours, forward.
	later func(d time.Duration)
}

// worlds runs a test with the machine's files and with those in memory.
func worlds(t *testing.T, test func(t *testing.T, w world)) {
	t.Run("machine", func(t *testing.T) { test(t, machine(t)) })
	t.Run("memory", func(t *testing.T) { test(t, inMemory()) })
}

func inMemory() world {
	c := &clock{at: time.Date(2026, 3, 1, 12, 0, 0, 124_000_000, time.UTC)}
	m := memfs.New(c.now)
	return world{
		fs: m, clock: c, put: m.Put, rewrite: m.Rewrite, delete: m.Delete, dir: m.PutDir, odd: m.PutOdd, get: m.Get,
		later: c.add,
	}
}

// ahead is a file system whose clock is ahead.
type ahead struct {
	fs.FS
	mu *sync.Mutex
	by *time.Duration
}

func (a ahead) Touch(name string) (time.Time, error) {
	at, err := a.FS.Touch(name)
	a.mu.Lock()
	defer a.mu.Unlock()
	return at.Add(*a.by), err
}

func machine(t testing.TB) world {
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	c := &clock{at: time.Now()}
	a := ahead{fs.OS(root), &sync.Mutex{}, new(time.Duration)}
	w := world{fs: a, clock: c}
	w.dir = func(name string) { must(os.MkdirAll(at(name), 0o755)) }
	w.put = func(name, body string) {
		w.dir(path.Dir(name))
		temp := at(path.Dir(name)) + "/.foreign"
		must(os.WriteFile(temp, []byte(body), 0o644))
		must(os.Rename(temp, at(name)))
	}
	w.rewrite = func(name, body string) {
		f, err := os.OpenFile(at(name), os.O_WRONLY|os.O_TRUNC, 0)
		must(err)
		_, err = f.WriteString(body)
		must(err)
		must(f.Close())
	}
	w.delete = func(name string) { must(os.Remove(at(name))) }
	w.get = func(name string) (string, bool) {
		body, err := os.ReadFile(at(name))
		return string(body), err == nil
	}
	w.odd = func(name string, mode iofs.FileMode) {
		w.dir(path.Dir(name))
		switch {
		case mode&iofs.ModeSymlink != 0:
			must(os.Symlink("/etc/hostname", at(name)))
		case mode&iofs.ModeNamedPipe != 0:
			must(syscall.Mkfifo(at(name), 0o644))
		case mode&iofs.ModeSocket != 0:
			fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
			must(err)
			t.Cleanup(func() { syscall.Close(fd) })
			t.Chdir(root) // the names of sockets must be short
			must(syscall.Bind(fd, &syscall.SockaddrUnix{Name: name}))
		case mode.IsDir():
			w.dir(name)
		default:
			t.Fatalf("no hand for %v", mode)
		}
	}
	w.later = func(d time.Duration) {
		c.add(d)
		a.mu.Lock()
		defer a.mu.Unlock()
		*a.by += d
	}
	return w
}

func (w world) store() *store.Store {
	return store.New(w.fs, store.Options{Now: w.clock.now, Parallel: 1})
}

const runID = "acme/site/00000000-0000-0000-0000-000000000001"

// aRun returns a FABER run.
func aRun() layout.Run {
	run, ok := layout.Faber{}.At(".fractary/faber/runs/" + runID)
	if !ok {
		panic("no run")
	}
	return run
}

// load reads a run.
func load(t testing.TB, s *store.Store, needs ...string) store.Loaded {
	t.Helper()
	loaded, err := s.Load(aRun(), layout.Faber{}, needs)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// doc returns a loaded document, by its path in the run's folder or in the
// workspace.
func doc(l store.Loaded, name string) engine.Document {
	for _, d := range l.Docs {
		if d.Path == name || d.Path == path.Join(aRun().Dir, name) {
			return d
		}
	}
	return engine.Document{Path: name, Err: engine.ErrAbsent}
}

// in returns the path of a name in the run's folder.
func in(name string) string { return path.Join(aRun().Dir, name) }

func stateDoc(body, over string) engine.Document {
	d := engine.Document{Path: aRun().State, Kind: engine.KindState, Body: []byte(body)}
	if over != "" {
		d.Over = engine.Sum([]byte(over))
	}
	return d
}

func newDoc(name, body string) engine.Document {
	return engine.Document{Path: in(name), Kind: "any", Body: []byte(body)}
}

// patiently waits for a lock that another program holds.
func patiently(wait func()) { wait() }

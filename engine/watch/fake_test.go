package watch

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/internal/await"
)

// fake is a source that reports only what a test tells it to.
type fake struct {
	sink   Sink
	mu     sync.Mutex
	dirs   map[string]bool
	adds   int
	refuse func(dir string) error
	closed bool
}

func (f *fake) Add(dir string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.adds++
	if f.refuse != nil {
		if err := f.refuse(dir); err != nil {
			return err
		}
	}
	if _, err := os.Lstat(dir); err != nil {
		return err
	}
	f.dirs[dir] = true
	return nil
}

func (f *fake) Remove(dir string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.dirs[dir] {
		return errors.New("no such watch")
	}
	delete(f.dirs, dir)
	return nil
}

func (f *fake) List() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []string
	for d := range f.dirs {
		out = append(out, d)
	}
	return out
}

func (f *fake) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	return nil
}

// set changes what the source refuses.
func (f *fake) set(refuse func(dir string) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refuse = refuse
}

// harness is a watcher over fake sources in a folder of the test's own.
type harness struct {
	*Watcher
	t    *testing.T
	root string
	log  *bytes.Buffer
	lock sync.Mutex
	// fakes are the sources opened so far; deny refuses to open another.
	fakes []*fake
	deny  error
}

func newHarness(t *testing.T, dirs ...string) *harness {
	h := &harness{t: t, root: t.TempDir()}
	h.mkdir(dirs...)
	h.start()
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// start begins to watch; the caller closes.
func (h *harness) start() {
	h.log = &bytes.Buffer{}
	w, err := NewFrom(h.root, slog.New(slog.NewTextHandler(h.log, nil)), func(s Sink) (Source, error) {
		h.lock.Lock()
		defer h.lock.Unlock()
		if h.deny != nil {
			return nil, h.deny
		}
		f := &fake{sink: s, dirs: map[string]bool{}}
		h.fakes = append(h.fakes, f)
		return f, nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
	w.remote = func(string) bool { return false }
	h.Watcher = w
}

func (h *harness) src() *fake {
	h.lock.Lock()
	defer h.lock.Unlock()
	return h.fakes[len(h.fakes)-1]
}

// opened is the number of sources so far.
func (h *harness) opened() int {
	h.lock.Lock()
	defer h.lock.Unlock()
	return len(h.fakes)
}

// denyAll makes opening a source fail; nil lets it succeed again.
func (h *harness) denyAll(err error) {
	h.lock.Lock()
	defer h.lock.Unlock()
	h.deny = err
}

// tries returns the number of watches asked for so far.
func (f *fake) tries() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.adds
}

func (h *harness) mkdir(dirs ...string) {
	for _, d := range dirs {
		if err := os.MkdirAll(filepath.Join(h.root, d), 0o755); err != nil {
			h.t.Fatal(err)
		}
	}
}

func (h *harness) rename(from, to string) {
	if err := os.Rename(filepath.Join(h.root, from), filepath.Join(h.root, to)); err != nil {
		h.t.Fatal(err)
	}
}

// entry reports that a name appeared or vanished, write that a file changed.
func (h *harness) entry(p string) { h.src().sink.Event(Event{filepath.Join(h.root, p), true}) }
func (h *harness) write(p string) { h.src().sink.Event(Event{filepath.Join(h.root, p), false}) }

// watches returns the folders watched now, relative to the workspace.
func (h *harness) watches() []string {
	var out []string
	for _, abs := range h.src().List() {
		rel, _ := filepath.Rel(h.root, abs)
		out = append(out, rel)
	}
	slices.Sort(out)
	return out
}

func (h *harness) wantWatches(want ...string) {
	h.t.Helper()
	if diff := cmp.Diff(want, h.watches()); diff != "" {
		h.t.Errorf("watches (-want +got):\n%s", diff)
	}
}

// next returns what is pending; the zero Batch if nothing is.
func (h *harness) next() Batch {
	b, _ := h.take()
	return b
}

func (h *harness) want(want Batch) {
	h.t.Helper()
	got := h.next()
	if want.Heard == nil {
		got.Heard = nil // other tests check this
	}
	if diff := cmp.Diff(want, got); diff != "" {
		h.t.Errorf("batch (-want +got):\n%s", diff)
	}
}

func (h *harness) follow(owner string, dirs ...string) {
	h.t.Helper()
	if err := h.Follow(owner, dirs); err != nil {
		h.t.Fatal(err)
	}
}

// collect takes batches until enough returns true.
func collect(t *testing.T, w *Watcher, enough func(Batch) bool) {
	t.Helper()
	ctx := await.Context(t)
	for {
		b, err := w.Next(ctx)
		if err != nil {
			t.Fatalf("waiting for an event: %v", err)
		}
		if enough(b) {
			return
		}
	}
}

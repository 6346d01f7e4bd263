package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// ErrClosed is returned by [Watcher.Next] after [Watcher.Close].
var ErrClosed = errors.New("the watcher is closed")

const (
	// retryAfter is how long refused watches rest before they are tried again.
	retryAfter = 10 * time.Second
	// resetAfter is the least time between two rounds of making all watches
	// anew: a source that overflows all the time must not eat the processor.
	resetAfter = time.Second
	// repairAfter is the least time between two comparisons of the watches
	// that ought to stand with those that do.
	repairAfter = 30 * time.Second
	// rootAfter is how often a workspace is looked for that is not there.
	rootAfter = 500 * time.Millisecond
	// maxEdits is the number of edits from which a batch says that there were more.
	maxEdits = 4096
	// maxDirs is the number of changed folders from which a batch names the
	// workspace instead.
	maxDirs = 4096
)

// Batch is what happened since the last one.
type Batch struct {
	// Owners are those to whom something happened, sorted.
	Owners []string
	// Rescan is true where runs may have appeared or vanished.
	Rescan bool
	// Edits are the files in followed folders to which something happened in
	// their place: their folder does not show it.
	Edits []Edit
	// Lost is true where there may have been more of everything.
	Lost bool
	// Dirs are the names in structure folders that appeared, vanished or were
	// replaced, relative to the workspace, sorted; "." where it may be any.
	// They only say where a rescan must look twice.
	Dirs []string
}

// Edit is a file that changed in its place, relative to the workspace, and one
// that follows its folder.
type Edit struct{ Owner, Path string }

func (e Edit) compare(other Edit) int {
	return cmp.Or(strings.Compare(e.Path, other.Path), strings.Compare(e.Owner, other.Owner))
}

// Watcher follows folders of one workspace. Its methods may be called from any
// goroutine. All paths are relative to the workspace, with slashes.
type Watcher struct {
	root   string // absolute
	prefix string // the root and a separator
	log    *slog.Logger
	open   Open
	home   home
	// remote reports whether others can change a folder without any event.
	remote func(abs string) bool

	wake   chan struct{} // holds a token while there is something for Next
	ended  chan struct{}
	broken atomic.Bool // the source has lost events since the last look

	mu      sync.Mutex
	closed  bool
	source  Source // nil while there is none
	round   int    // counts the sources: what an older one tells is dropped
	resetAt time.Time
	due     bool // the watches are to be made anew when the timer fires
	retry   *time.Timer
	retryAt time.Time
	nodes   tree
	follows map[string][]string // owner → folders
	// structure holds the structure nodes, by path.
	structure map[string]*node
	repairAt  time.Time
	full      bool // the last watch asked for was refused for all
	blind     int  // nodes that are refused
	short     bool // some of them because no watch can be had
	budget    budget
	secondary map[string]struct{} // owners that others come before
	kept      kept
	blindDirs []string           // the refused ones, nil where they are to be found anew
	cookies   map[string]*cookie // structure root → its test
	said      map[string]bool

	dirty  map[string]struct{}
	edits  map[Edit]struct{}
	dirs   map[string]struct{}
	rescan bool
	missed bool // events were lost
}

// New returns a watcher of the workspace at root, over the operating system's
// file events. Where there are none to be had, all of it is blind and the
// watcher works all the same. It must be closed.
func New(root string, log *slog.Logger) (*Watcher, error) { return NewFrom(root, log, Notify) }

// NewFrom is [New] over another source of events.
func NewFrom(root string, log *slog.Logger, open Open) (*Watcher, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("cannot watch %q: %w", root, err)
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	w := &Watcher{
		root: abs, home: home{path: abs}, prefix: strings.TrimSuffix(abs, string(filepath.Separator)) + string(filepath.Separator), log: log, open: open, remote: remoteFS,
		wake: make(chan struct{}, 1), ended: make(chan struct{}),
		nodes: tree{}, follows: map[string][]string{}, structure: map[string]*node{}, cookies: map[string]*cookie{},
		budget: budget{most: defaultBudget()}, secondary: map[string]struct{}{},
		said: map[string]bool{}, dirty: map[string]struct{}{}, edits: map[Edit]struct{}{}, dirs: map[string]struct{}{},
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.home.here()
	w.begin()
	return w, nil
}

// begin opens the source. The caller holds the lock.
func (w *Watcher) begin() {
	w.round++
	round := w.round
	src, err := w.open(Sink{
		Event:  func(e Event) { w.hear(round, e) },
		Broken: w.overflow,
	})
	if err != nil {
		w.source = nil
		w.say("no file events can be had; looking every 2 s instead", err)
		w.retryLater(retryAfter)
		return
	}
	w.source = src
}

// Close ends all watches. Next returns [ErrClosed] from then on.
func (w *Watcher) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	close(w.ended)
	if w.retry != nil {
		w.retry.Stop()
	}
	for _, c := range w.cookies {
		c.stop()
	}
	w.home.close()
	if w.source == nil {
		return nil
	}
	return w.source.Close()
}

// Next waits until something happened and returns all of it. It ends with the
// context's error, or with [ErrClosed].
func (w *Watcher) Next(ctx context.Context) (Batch, error) {
	for {
		if b, ok := w.take(); ok {
			return b, nil
		}
		select {
		case <-ctx.Done():
			return Batch{}, ctx.Err()
		case <-w.ended:
			return Batch{}, ErrClosed
		case <-w.wake:
		}
	}
}

// take returns what is pending. Where events were lost, all watches are made
// anew first, so that the caller looks after they stand.
func (w *Watcher) take() (Batch, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return Batch{}, false
	}
	if w.broken.Swap(false) {
		w.lost()
	}
	if len(w.dirty) == 0 && !w.rescan {
		return Batch{}, false
	}
	b := Batch{
		Owners: slices.Sorted(maps.Keys(w.dirty)), Edits: slices.SortedFunc(maps.Keys(w.edits), Edit.compare), Lost: w.missed,
		Rescan: w.rescan, Dirs: slices.Sorted(maps.Keys(w.dirs)),
	}
	w.dirty, w.edits, w.dirs = map[string]struct{}{}, map[Edit]struct{}{}, map[string]struct{}{}
	w.rescan, w.missed = false, false
	return b, true
}

// overflow takes note that events were lost. It must not block or lock: the
// source may call it while it holds what we wait for.
func (w *Watcher) overflow(error) {
	w.broken.Store(true)
	w.signal()
}

func (w *Watcher) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

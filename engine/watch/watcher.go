package watch

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"placet/templates"
)

// ErrClosed is returned by [Watcher.Next] after [Watcher.Close].
var ErrClosed = errors.New("the watcher is closed")

const (
	// retryAfter is after how long refused watches are tried again.
	retryAfter = 10 * time.Second
	// resetAfter is the least time between two renewals of all watches, so that a source
	// that overflows all the time does not use up the processor.
	resetAfter = time.Second
	// repairAfter is the least time between two comparisons of the expected watches with
	// the existing ones.
	repairAfter = 30 * time.Second
	// rootAfter is how often a missing workspace is looked for.
	rootAfter = 500 * time.Millisecond
)

// Batch is what happened since the last one.
type Batch struct {
	// Owners are the owners to whom something happened, sorted. Heard holds the changed
	// folders of those owners for which they are known completely.
	Owners []string
	Heard  map[string][]string
	// Rescan is true if runs may have appeared or vanished.
	Rescan bool
	// Edits are the files in followed folders that changed in place, which does not change
	// their folder.
	Edits []Edit
	// Volatile are the volatile files in followed folders that changed, appeared or
	// vanished, sorted; see [Watcher.Volatile]. They belong to no owner.
	Volatile []string
	// Lost is true if there may have been more of everything.
	Lost bool
	// Dirs are the names in structure folders that appeared, vanished or were replaced,
	// relative to the workspace, sorted; "." if it may be any. They only say where a rescan
	// must look twice.
	Dirs []string
}

// Edit is a file that changed in place, relative to the workspace, and an owner that
// follows its folder.
type Edit struct{ Owner, Path string }

func (e Edit) compare(other Edit) int {
	return cmp.Or(strings.Compare(e.Path, other.Path), strings.Compare(e.Owner, other.Owner))
}

// Watcher follows folders of one workspace. Its methods may be called from any
// goroutine. All paths are relative to the workspace, with slashes.
type Watcher struct {
	log  *slog.Logger
	open Open
	home home
	// remote reports whether others can change a folder without any event.
	remote func(abs string) bool

	ended  chan struct{}
	broken atomic.Bool // the source has lost events since the last call of take

	mu      sync.Mutex
	closed  bool
	round   int // counts the sources: events of older ones are ignored
	resetAt time.Time
	due     bool // the watches must be renewed when the timer fires
	retry   retry
	watches watches
	follows map[string][]string // owner → folders
	// structure holds the structure nodes, by path.
	structure map[string]*node
	repairAt  time.Time
	cookies   map[string]*cookie // structure root → its test
	said      map[string]bool
	volatile  func(path string) bool // nil: no file is
	pending   pending
}

// New returns a watcher of the workspace at root that uses the operating system's file
// events. If these are not available, the whole workspace is blind and the watcher still
// works. It must be closed.
func New(root string, log *slog.Logger) (*Watcher, error) { return NewFrom(root, log, Notify) }

// NewFrom is [New] with another source of events.
func NewFrom(root string, log *slog.Logger, open Open) (*Watcher, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, templates.Errorf("watch.folder", "file", strconv.Quote(root), "error", err)
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	w := &Watcher{
		home: home{path: abs}, log: log, open: open, remote: remoteFS, ended: make(chan struct{}),
		follows: map[string][]string{}, structure: map[string]*node{}, cookies: map[string]*cookie{},
		said: map[string]bool{}, pending: newPending(),
	}
	w.retry.try = w.tryAgain
	w.watches = watches{
		w: w, paths: paths{abs, strings.TrimSuffix(abs, string(filepath.Separator)) + string(filepath.Separator)},
		nodes: tree{}, budget: budget{most: defaultBudget()}, ranks: ranks{of: map[string]class{}},
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
		w.watches.source = nil
		w.say("no file events can be had; looking every 2 s instead", err)
		w.retry.later(retryAfter)
		return
	}
	w.watches.source = src
}

// Volatile sets which files are volatile: changes of them make no owner dirty, and [Batch]
// names them instead. The function is called with the watcher's lock held.
func (w *Watcher) Volatile(is func(path string) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.volatile = is
}

// Close ends all watches. From then on Next returns [ErrClosed].
func (w *Watcher) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	close(w.ended)
	w.retry.close()
	for _, c := range w.cookies {
		c.stop()
	}
	w.home.close()
	if w.watches.source == nil {
		return nil
	}
	return w.watches.source.Close()
}

// Next waits until something has happened and returns all of it. It returns an error when
// the context ends, or [ErrClosed].
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
		case <-w.pending.wake:
		}
	}
}

// take returns what is pending. If events were lost, it first renews all watches, so that
// the caller looks after they exist.
func (w *Watcher) take() (Batch, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return Batch{}, false
	}
	if w.broken.Swap(false) {
		w.lost()
	}
	return w.pending.take()
}

// overflow records that events were lost. It must not block or lock: the source may call it
// while it holds what we wait for.
func (w *Watcher) overflow(error) {
	w.broken.Store(true)
	w.pending.signal()
}

// Lacks says why file events cannot be relied on.
type Lacks struct {
	// Events is true if there are none at all, because the system provides no source.
	Events bool
	// Watches is true if the system refuses further watches.
	Watches bool
	// Folders is true if some folders are blind; see [Watcher.Blind].
	Folders bool
}

// Lacks returns what the watcher lacks at this moment. It goes through all roots.
func (w *Watcher) Lacks() Lacks {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := Lacks{Events: w.watches.source == nil && !w.closed, Watches: w.watches.short, Folders: w.watches.blind > 0}
	for _, c := range w.cookies {
		l.Folders = l.Folders || c.blind
	}
	return l
}

// Blind returns the folders in and below which file events cannot be relied on, sorted, the
// topmost of each branch: those whose watch was refused, and the roots in which a test
// raised no event. It returns nil if there are none. The caller must not change the list.
func (w *Watcher) Blind() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var blind []string
	for p, c := range w.cookies {
		if c.blind {
			blind = append(blind, p)
		}
	}
	if len(blind) == 0 {
		return w.watches.refusedDirs()
	}
	blind = append(blind, w.watches.refusedDirs()...)
	slices.Sort(blind)
	return slices.Compact(blind)
}

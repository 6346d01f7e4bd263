package store

import (
	"errors"
	"hash/maphash"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"placet/engine/store/fs"
	"placet/engine/store/statcache"
	"placet/layout"
)

// Options are what a store is told once.
type Options struct {
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Log takes what a person should know and no caller returns; nil drops it.
	Log *slog.Logger
	// Parallel is how many file system calls of one round run side by side;
	// 0 means 64. With 1 the order of calls is always the same.
	Parallel int
	// Many is from how many files or folders on a round of fsync is one sync of
	// their whole file system; 0 means 64.
	Many int
	// Random gives the digits of temporary names; nil means chance.
	Random func() uint64
	// Record remembers what is written; nil remembers nothing.
	Record Record
}

// What the store's calls return besides the operating system's errors.
var (
	// ErrMoved says that the workspace is no longer what the plan was made
	// over: look again.
	ErrMoved = errors.New("changed since it was read")
	// ErrStopped says that three rounds of fsync in a row failed: what is
	// written may be lost, so nothing more is decided.
	ErrStopped = errors.New("three rounds of fsync in a row failed; nothing more is written")
)

// Store reads and writes the documents of one workspace. All methods may be
// called at the same time.
type Store struct {
	fs       fs.FS
	now      func() time.Time
	log      *slog.Logger
	parallel int
	many     int // from how many files on a round is one sync of everything
	random   func() uint64
	record   Record

	began    time.Time
	cache    *statcache.Cache
	states   states
	watching atomic.Bool
	clock    clock
	queue    queue
	temps    temps
	owners   owners
	git      gitSigns

	// failures counts the rounds of fsync that failed in a row, those of
	// contents and those of names.
	failures  [2]atomic.Int32
	stopped   atomic.Bool
	inherited inherited
	suspects  sync.Map    // files that an fsync refused and that were not written anew since
	asides    sync.Map    // state document → *put that holds what others wrote
	held      atomic.Bool // .placet/lock is ours
	lock      atomic.Pointer[fs.File]
	heldSince time.Time // by the file system's clock; zero where that is not known
	saidOnce  sync.Map
}

// New returns a store on a file system.
func New(fsys fs.FS, o Options) *Store {
	s := &Store{fs: fsys, now: o.Now, log: o.Log, parallel: o.Parallel, many: o.Many, random: o.Random, record: o.Record}
	if s.now == nil {
		s.now = time.Now
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.parallel <= 0 {
		s.parallel = 64
	}
	if s.many <= 0 {
		s.many = manyFiles
	}
	if s.random == nil {
		s.random = rand.Uint64
	}
	s.began = s.now()
	s.cache, s.states = statcache.New(), states{seed: maphash.MakeSeed(), seen: map[uint64]bool{}}
	s.queue.journals, s.queue.folders = map[string]map[string]bool{}, map[string]bool{}
	return s
}

// Stopped reports whether nothing more is written, as [ErrStopped] says.
func (s *Store) Stopped() bool { return s.stopped.Load() }

// List lists a folder, sorted by name; it is a layout.Lister. A folder that
// does not exist is empty; so is one that is in truth a file or a link.
func (s *Store) List(dir string) ([]layout.Entry, error) {
	names, err := s.list(dir)
	if err != nil {
		return nil, err
	}
	entries := make([]layout.Entry, len(names))
	for i, name := range names {
		entries[i] = layout.Entry{Name: name.Name, Dir: name.Mode.IsDir(), Link: !name.Mode.IsDir() && !name.Mode.IsRegular()}
	}
	return entries, nil
}

// once says something in the log the first time only.
func (s *Store) once(key, msg string, args ...any) {
	if _, said := s.saidOnce.LoadOrStore(key, true); !said {
		s.log.Warn(msg, args...)
	}
}

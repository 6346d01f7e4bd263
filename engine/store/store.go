package store

import (
	"log/slog"
	"math/rand/v2"
	"os"
	"time"

	"placet/engine/store/disk"
	"placet/engine/store/fs"
	"placet/engine/store/lock"
	"placet/engine/store/read"
	"placet/layout"
	"placet/templates"
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

// What a look at a run returns, and what remembers what this machine wrote.
type (
	Loaded = read.Loaded
	Part   = read.Part
	Record = read.Record
)

// PrivateDir holds what placet can lose at any moment.
const PrivateDir = disk.PrivateDir

// Gone is what the reason of [Store.Paused] begins with where the workspace is not under its
// name any more.
const Gone = lock.Gone

// What the store's calls return besides the operating system's errors.
var (
	// ErrConflict says that the workspace is no longer what the plan was made
	// over: look again.
	ErrConflict = templates.Errorf("store.changed")
	// ErrStopped says that three rounds of fsync in a row failed: what is
	// written may be lost, so nothing more is decided.
	ErrStopped = templates.Errorf("store.failing")
)

// Store reads and writes the documents of one workspace. All methods may be
// called at the same time. Each of its parts knows those before it alone, and
// what a commit does to the disk, in its order, is [committer.rounds].
type Store struct {
	disk         *disk.Disk
	*read.Reader            // the documents of runs
	seen         *read.Seen // by looks and by commits
	syncer       *syncer    // fsync
	swapper      *swapper   // the exchange of state documents
	committer    *committer // plans
	*lock.Locks
	*lock.Git
}

// New returns a store on a file system.
func New(fsys fs.FS, o Options) *Store {
	d := disk.New(fsys, o.Now, o.Log, o.Parallel)
	seen := read.NewSeen()
	t := &temps{disk: d, random: o.Random, pid: os.Getpid()}
	if t.random == nil {
		t.random = rand.Uint64
	}
	y := &syncer{disk: d, temps: t, many: o.Many, pendingJournals: map[string]map[string]bool{}, pendingDirs: map[string]bool{}}
	if y.many <= 0 {
		y.many = manyFiles
	}
	w := &swapper{disk: d, temps: t, syncer: y}
	c := &committer{disk: d, seen: seen, record: o.Record, temps: t, syncer: y, swapper: w, queue: newQueue()}
	return &Store{disk: d, Reader: read.New(d, seen, o.Record), seen: seen, syncer: y, swapper: w, committer: c, Locks: lock.New(d), Git: lock.NewGit(d)}
}

// Stopped reports whether nothing more is written, as [ErrStopped] says.
func (s *Store) Stopped() bool { return s.syncer.stopped.Load() }

// Sweep removes placet's own temporary names that a crash has left in a folder.
// One that holds a state document which others wrote is put back in its place. left is true
// where there is more to remove, which another process may be using, or which cannot be removed
// now.
func (s *Store) Sweep(dir string) (left bool, err error) { return s.swapper.sweepFolder(dir) }

// Exists reports whether anything is under a name. What cannot be told is there.
func (s *Store) Exists(name string) bool { return s.disk.Exists(name) }

// List lists a folder, sorted by name; it is a layout.Lister. A folder that
// does not exist is empty; so is one that is in truth a file or a link.
func (s *Store) List(dir string) ([]layout.Entry, error) {
	names, err := s.disk.List(dir)
	if err != nil {
		return nil, err
	}
	entries := make([]layout.Entry, len(names))
	for i, name := range names {
		entries[i] = layout.Entry{Name: name.Name, Dir: name.Mode.IsDir(), Link: !name.Mode.IsDir() && !name.Mode.IsRegular()}
	}
	return entries, nil
}

// DiskNow is the file system's present, as far as it can be had; else ours, and
// false.
func (s *Store) DiskNow() (time.Time, bool) {
	now, known := s.disk.DiskNow(disk.FreshClock)
	if !known {
		now = s.disk.Now()
	}
	return now, known
}

// IsFile reports whether a regular file is under a name.
func (s *Store) IsFile(name string) bool {
	info, err := s.disk.FS.Stat(name)
	return err == nil && info.IsRegular()
}

// Changed is when what is under a name was changed last; the zero time if nothing is.
func (s *Store) Changed(name string) time.Time {
	info, err := s.disk.FS.Stat(name)
	if err != nil {
		return time.Time{}
	}
	return disk.Latest(info)
}

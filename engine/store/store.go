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

// Options configure a store.
type Options struct {
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Log receives what a person should know and no caller returns; nil drops it.
	Log *slog.Logger
	// Parallel is how many file system calls of one round run in parallel; 0 means 64. With
	// 1 the order of calls is always the same.
	Parallel int
	// Many is the number of files or folders from which on a round of fsync is one sync of
	// their whole file system; 0 means 64.
	Many int
	// Random returns the digits of temporary names; nil means random ones.
	Random func() uint64
	// Record remembers what is written; nil remembers nothing.
	Record Record
}

// The results of a look at a run, and the record of what this machine wrote.
type (
	Loaded = read.Loaded
	Part   = read.Part
	Record = read.Record
)

// PrivateDir is the folder for files that placet can lose at any moment.
const PrivateDir = disk.PrivateDir

// Gone begins the reason that [Store.Paused] returns if the workspace is no longer under
// its name.
const Gone = lock.Gone

// The errors that the store returns besides those of the operating system.
var (
	// ErrConflict says that the workspace is no longer what the plan was made
	// over: look again.
	ErrConflict = templates.Errorf("store.changed")
	// ErrStopped says that three rounds of fsync in a row failed: written files may be
	// lost, so nothing more is decided.
	ErrStopped = templates.Errorf("store.failing")
)

// Store reads and writes the documents of one workspace. Its methods are safe for
// concurrent use. Each of its parts knows only those before it, and [committer.rounds]
// shows what a commit does to the disk, in order.
type Store struct {
	disk         *disk.Disk
	*read.Reader            // the documents of runs
	seen         *read.Seen // what looks and commits have seen
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

// Sweep removes placet's own temporary names that a crash has left in a folder. If one
// holds a state document that others wrote, Sweep puts it back. left is true if more
// remains to be removed, which another process may be using or which cannot be removed now.
func (s *Store) Sweep(dir string) (left bool, err error) { return s.swapper.sweepFolder(dir) }

// Exists reports whether anything is under a name. It returns true if that is unknown.
func (s *Store) Exists(name string) bool { return s.disk.Exists(name) }

// List lists a folder, sorted by name; it is a layout.Lister. It returns nothing for a
// folder that does not exist, and for a file or a link in a folder's place.
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

// DiskNow returns the file system's present time. If that is unknown, it returns the time
// of this machine, and false.
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

// Changed returns when the file under a name last changed, the zero time if there is none.
func (s *Store) Changed(name string) time.Time {
	info, err := s.disk.FS.Stat(name)
	if err != nil {
		return time.Time{}
	}
	return disk.Latest(info)
}

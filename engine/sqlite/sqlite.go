package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"sync"
	"sync/atomic"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"placet/engine"
)

// The words for how a row for a database, or a look into one, ended; see
// [engine.Ended].
const (
	rowDone    = "done"
	rowPresent = "present"
	rowRefused = "refused"
	rowFailed  = "failed" // it may be tried again
	noDatabase = "absent"
)

const (
	// busyTimeout is how long a lock of another program is waited for.
	busyTimeout = 5 * time.Second
	// patience is how long one row may take with all that it waits for.
	patience = 30 * time.Second
)

// Databases does what actions want of a workspace's SQLite databases. Its methods
// may be called from several goroutines; what one file is asked for is done one
// after the other. It costs nothing until it is asked.
//
// SQLite's locks belong to the process, and closing any descriptor of a file
// lets go of them all: nothing else in placet may open a database.
type Databases struct {
	root                 string // absolute
	busy, patience, work time.Duration

	mu   sync.Mutex
	home *os.Root                 // the workspace, once it was opened
	in   map[string]*databaseFile // those that may be open, by path
}

// databaseFile is a file that somebody asks something of.
type databaseFile struct {
	mu   sync.Mutex
	conn *connection // nil until a row needs it
	gone bool        // it was released: the next one has an entry of its own
}

// New returns what opens the databases of the workspace at root, which
// is absolute.
func New(root string) *Databases {
	return &Databases{root: root, busy: busyTimeout, patience: patience, work: workTime, in: map[string]*databaseFile{}}
}

// Do carries out one look or one row and says how it ended; the times are its
// caller's to add. Until [Databases.Release] the file may stay open for the next row.
func (d *Databases) Do(q engine.Database) engine.Ended {
	q.Path = path.Clean(q.Path)
	f := d.acquire(q.Path)
	defer f.mu.Unlock()
	heap.RLock()
	begun, alone := heap.begun.Add(1), heap.working.Add(1) == 1
	e, err := d.execute(f, q)
	heap.working.Add(-1)
	alone = alone && heap.begun.Load() == begun
	heap.RUnlock()
	if sqliteCode(err) == sqlite3.SQLITE_NOMEM && !alone {
		heap.Lock()
		defer heap.Unlock()
		e, _ = d.execute(f, q)
	}
	return e
}

// heap is held by whoever works on a database. SQLite's memory is that of all of them:
// who had too little of it while others worked begins again alone, since what one
// database costs is no reason for another one to fail.
var heap struct {
	sync.RWMutex
	begun, working atomic.Int64
}

// Release says that nothing more waits for a database: its file is closed, and what
// takes its name afterwards is the database.
func (d *Databases) Release(name string) {
	d.mu.Lock()
	f := d.in[name]
	delete(d.in, name)
	d.mu.Unlock()
	if f != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.gone = true
		d.closeFile(f, name)
	}
}

// acquire returns a file with its lock held.
func (d *Databases) acquire(name string) *databaseFile {
	for {
		f := d.fileEntry(name)
		if f.mu.Lock(); !f.gone {
			return f
		}
		f.mu.Unlock()
	}
}

func (d *Databases) fileEntry(name string) *databaseFile {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.in[name]
	if f == nil {
		f = &databaseFile{}
		d.in[name] = f
	}
	return f
}

// closeFile closes a file. Where it has lost its name, what was committed goes into it and
// out of the log beside it first: the log keeps its name, and would be taken for that
// of the database that has the name now.
func (d *Databases) closeFile(f *databaseFile, name string) {
	if f.conn == nil {
		return
	}
	if d.checkIdentity(name, f.conn) != nil {
		ctx, cancel := f.conn.workLimit(context.Background())
		defer cancel()
		_ = f.conn.exec(ctx, harmless+"PRAGMA wal_checkpoint(TRUNCATE)")
	}
	f.conn.close()
	f.conn = nil
}

// execute does what is asked of a file, with its lock held. A connection on which
// something did not work is not used again.
func (d *Databases) execute(f *databaseFile, q engine.Database) (engine.Ended, error) {
	ctx, cancel := context.WithTimeout(context.Background(), d.patience)
	defer cancel()
	e := engine.Ended{Result: rowDone}
	var err error
	if q.Insert != nil {
		e.Result, e.Reason, err = d.insert(ctx, f, q)
	} else {
		e.Output, err = d.look(ctx, q)
	}
	var no refusal
	switch {
	case err == nil:
		return e, nil
	case q.Insert == nil && errors.Is(err, fs.ErrNotExist):
		return engine.Ended{Result: noDatabase}, nil
	case errors.As(err, &no):
		return engine.Ended{Result: rowRefused, Reason: no.Error()}, nil
	}
	d.closeFile(f, q.Path)
	return engine.Ended{Result: rowFailed, Reason: d.explain(q.Path, err)}, err
}

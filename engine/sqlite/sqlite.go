package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"sync"
	"time"

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
// may be called from several goroutines; what is asked is done one after the other. It
// costs nothing until it is asked.
//
// SQLite's locks belong to the process, and closing any descriptor of a file
// lets go of them all: nothing else in placet may open a database.
type Databases struct {
	root                 string // absolute
	busy, patience, work time.Duration

	home     *os.Root               // the workspace, once it was opened
	open     map[string]*connection // those to which rows went, by path
	upstream map[string]*upstream   // what may stand in a database, by its schema
}

// working is held by whoever works on a database. SQLite counts its memory for the whole
// process: what one database costs is no reason for another one to fail.
var working sync.Mutex

// New returns what opens the databases of the workspace at root, which
// is absolute.
func New(root string) *Databases {
	return &Databases{root: root, busy: busyTimeout, patience: patience, work: workTime, open: map[string]*connection{}, upstream: map[string]*upstream{}}
}

// Do carries out one look or one row and says how it ended; the times are its
// caller's to add. Until [Databases.Release] the file may stay open for the next row.
func (d *Databases) Do(q engine.Database) engine.Ended {
	q.Path = path.Clean(q.Path)
	working.Lock()
	defer working.Unlock()
	return d.execute(q)
}

// Release says that nothing more waits for a database: its file is closed, and what
// takes its name afterwards is the database.
func (d *Databases) Release(name string) {
	working.Lock()
	defer working.Unlock()
	d.closeFile(name)
}

// closeFile closes a file. Where it has lost its name, what was committed goes into it and
// out of the log beside it first: the log keeps its name, and would be taken for that
// of the database that has the name now.
func (d *Databases) closeFile(name string) {
	c := d.open[name]
	if c == nil {
		return
	}
	if d.checkIdentity(name, c) != nil {
		ctx, cancel := c.workLimit(context.Background())
		defer cancel()
		_ = c.exec(ctx, harmless+"PRAGMA wal_checkpoint(TRUNCATE)")
	}
	c.close()
	delete(d.open, name)
}

// execute does what is asked of a file. A connection on which something did not work is
// not used again.
func (d *Databases) execute(q engine.Database) engine.Ended {
	ctx, cancel := context.WithTimeout(context.Background(), d.patience)
	defer cancel()
	e := engine.Ended{Result: rowDone}
	var err error
	if q.Insert != nil {
		e.Result, e.Reason, err = d.insert(ctx, q)
	} else {
		e.Output, err = d.look(ctx, q)
	}
	var no refusal
	switch {
	case err == nil:
		return e
	case q.Insert == nil && errors.Is(err, fs.ErrNotExist):
		return engine.Ended{Result: noDatabase}
	case errors.As(err, &no):
		return engine.Ended{Result: rowRefused, Reason: no.Error()}
	}
	d.closeFile(q.Path)
	return engine.Ended{Result: rowFailed, Reason: d.explain(q, err)}
}

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

// The results of a row or a query; see [engine.Ended].
const (
	rowDone    = "done"
	rowPresent = "present"
	rowRefused = "refused"
	rowFailed  = "failed" // it may be tried again
	noDatabase = "absent"
)

const (
	// busyTimeout is how long SQLite waits for a lock of another program.
	busyTimeout = 5 * time.Second
	// patience is how long one row may take, including all waiting.
	patience = 30 * time.Second
)

// Databases carries out what actions ask of a workspace's SQLite databases. Its methods
// may be called from several goroutines, and run one after the other. It costs nothing
// until it is used.
//
// SQLite's locks belong to the process, and closing any descriptor of a file releases
// all of them: nothing else in placet may open a database.
type Databases struct {
	root                 string // absolute
	busy, patience, work time.Duration

	home     *os.Root               // the workspace, once it was opened
	open     map[string]*connection // those into which rows were inserted, by path
	upstream map[string]*upstream   // what a database may contain, by its schema
}

// working is held during all work on a database. SQLite counts its memory for the whole
// process: the cost of one database must not make another one fail.
var working sync.Mutex

// New returns the Databases of the workspace at root, which is an absolute path.
func New(root string) *Databases {
	return &Databases{root: root, busy: busyTimeout, patience: patience, work: workTime, open: map[string]*connection{}, upstream: map[string]*upstream{}}
}

// Do carries out one query or one row and says how it ended; the caller must add the
// times. The file may stay open for the next row until [Databases.Release].
func (d *Databases) Do(q engine.Database) engine.Ended {
	q.Path = path.Clean(q.Path)
	working.Lock()
	defer working.Unlock()
	return d.execute(q)
}

// Release says that nothing more waits for a database: its file is closed, and a file
// that takes its name afterwards is the database.
func (d *Databases) Release(name string) {
	working.Lock()
	defer working.Unlock()
	d.closeFile(name)
}

// closeFile closes a file. If the file has lost its name, closeFile first moves what was
// committed from the log beside it into the file: the log keeps its name, and would be
// taken for the log of the database that has the name now.
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

// execute carries out a query or a row. A connection on which something failed is not
// used again.
func (d *Databases) execute(q engine.Database) engine.Ended {
	e := engine.Ended{Result: rowDone}
	_, err := d.upstreamOf(q.Schema) // its time is not the database's
	ctx, cancel := context.WithTimeout(context.Background(), d.patience)
	defer cancel()
	switch {
	case err != nil:
	case q.Insert != nil:
		e.Result, e.Reason, err = d.insert(ctx, q)
	default:
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

package sqlite

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"modernc.org/libc"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// A database is the work of others: what one look or one row may cost has limits that
// no content of the file can move.
const (
	// workTime is how long a look may take in all, the waiting for locks included.
	// Somebody waits for it.
	workTime = time.Second
	// rowWork is how many times as long placet may work at a stretch for a row, for
	// which nobody waits: a busy disk takes its time to sync.
	rowWork = 5
	// mostHeap is what SQLite may hold of memory, in bytes. SQLite counts by process:
	// all databases that are open share it.
	mostHeap = 32 << 20
	// mostFile is how large a database may be, mostLog a log or a journal beside it:
	// SQLite reads those through before anything else, and cannot be interrupted then.
	mostFile = 256 << 20
	mostLog  = 64 << 20
	// mostObjects is how many tables, indexes, views and triggers a database may have.
	mostObjects = 1000
)

// sqliteLimits are SQLite's own, for every connection: what one value, one statement or one
// row of a hostile file may be.
var sqliteLimits = map[int]int{
	sqlite3.SQLITE_LIMIT_LENGTH:              4 << 20,
	sqlite3.SQLITE_LIMIT_SQL_LENGTH:          64 << 10,
	sqlite3.SQLITE_LIMIT_COLUMN:              200,
	sqlite3.SQLITE_LIMIT_EXPR_DEPTH:          100,
	sqlite3.SQLITE_LIMIT_COMPOUND_SELECT:     10,
	sqlite3.SQLITE_LIMIT_VDBE_OP:             100_000,
	sqlite3.SQLITE_LIMIT_ATTACHED:            0,
	sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 100,
	sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH:       5,
	sqlite3.SQLITE_LIMIT_WORKER_THREADS:      0,
}

// uncounted is why SQLite does not count its memory, nil where it does.
var uncounted error

// The driver has SQLite built so that it does not count what memory it holds, and a
// limit would mean nothing. It takes another setting before its first use only.
func init() {
	tls := libc.NewTLS()
	defer tls.Close()
	at := tls.Alloc(8)
	defer tls.Free(8)
	if rc := sqlite3.Xsqlite3_config(tls, sqlite3.SQLITE_CONFIG_MEMSTATUS, libc.VaList(at, int32(1))); rc != sqlite3.SQLITE_OK {
		uncounted = fmt.Errorf("SQLite does not count its memory (%d)", rc)
	}
}

// limit sets the limits of a connection that has read nothing yet.
func (c *connection) limit() error {
	if uncounted != nil {
		return uncounted
	}
	for id, most := range sqliteLimits {
		if _, err := sqlite.Limit(c.Conn, id, most); err != nil {
			return err
		}
	}
	return nil
}

// workLimit bounds what is done while nothing is waited for.
func (c *connection) workLimit(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, c.work)
}

// schemaLimit bounds how long a schema may take to be read. An honest one takes a hundredth
// of that; what SQLite has made of a large one takes as long again to be given up.
func (c *connection) schemaLimit(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, c.work/2)
}

// harmless is a statement that reads nothing. The driver prepares the first of a script
// where nothing interrupts it, and to prepare one may be to read the whole schema.
const harmless = "PRAGMA query_only; "

// load has SQLite read the schema, which is judged before anything of it is used. The
// file's header sets the size of the cache until then.
func (c *connection) load(ctx context.Context) error {
	var page int
	if err := c.QueryRowContext(ctx, "PRAGMA page_size").Scan(&page); err != nil {
		return err
	}
	return c.exec(ctx, harmless+"PRAGMA cache_size=-2000; PRAGMA max_page_count="+strconv.Itoa(mostFile/max(page, 512)))
}

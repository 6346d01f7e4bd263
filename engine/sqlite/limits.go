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

// A database is the work of others, so the cost of one query or one row has limits that no
// content of the file can change.
const (
	// workTime is how long SQLite may work on a row without a pause, and how long a query may
	// take in all, including the time of waiting for locks. An honest one takes a hundredth of
	// that; the rest is for a busy machine.
	workTime = 5 * time.Second
	// mostHeap is how much memory SQLite may hold, in bytes. SQLite counts by process, so
	// all open databases share it.
	mostHeap = 32 << 20
	// mostFile is how large a database may be, mostLog a log or a journal beside it: SQLite
	// reads those completely before anything else, and cannot be interrupted meanwhile.
	mostFile = 256 << 20
	mostLog  = 64 << 20
	// mostObjects is how many tables, indexes, views and triggers a database may have.
	mostObjects = 1000
)

// sqliteLimits are SQLite's own limits for every connection: they bound one value, one
// statement and one row of a hostile file.
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

// uncounted says why SQLite does not count its memory, nil if it does.
var uncounted error

// The driver builds SQLite so that it does not count its memory, and a limit would mean
// nothing. SQLite accepts another setting only before its first use.
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

// workLimit bounds the time of work that waits for nothing.
func (c *connection) workLimit(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, c.work)
}

// schemaLimit bounds how long reading a schema may take. An honest one takes a hundredth of
// that; releasing the memory of a large one takes SQLite as long again.
func (c *connection) schemaLimit(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, c.work/2)
}

// harmless is a statement that reads nothing. The driver prepares the first statement of a
// script where nothing interrupts it, and preparing a statement may read the whole schema.
const harmless = "PRAGMA query_only; "

// load makes SQLite read the schema, which is judged before anything in it is used. Until
// then the file's header sets the size of the cache.
func (c *connection) load(ctx context.Context) error {
	var page int
	if err := c.QueryRowContext(ctx, "PRAGMA page_size").Scan(&page); err != nil {
		return err
	}
	return c.exec(ctx, harmless+"PRAGMA cache_size=-2000; PRAGMA max_page_count="+strconv.Itoa(mostFile/max(page, 512)))
}

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"modernc.org/sqlite"

	"placet/engine"
	"placet/schemas"
)

// pragmas are set for every connection. All but the first two keep the content of
// somebody else's database from doing more, or costing more, than intended.
var pragmas = []string{
	"foreign_keys(ON)", "recursive_triggers(OFF)", "trusted_schema(OFF)", "cell_size_check(ON)",
	"mmap_size(0)", "temp_store(MEMORY)", "hard_heap_limit(" + strconv.Itoa(mostHeap) + ")",
}

// connection is one open database.
type connection struct {
	*sql.Conn
	pool    *sql.DB     // holds this connection alone
	folder  *openFolder // nil if it was opened by its name alone
	file    fs.FileInfo // had the name before it was opened, and is open
	allowed *upstream   // what the database may contain
	// unjudged says why it is not known what SQLite computes for a row, nil if it is known.
	unjudged error
	work     time.Duration // how long SQLite may work without a pause
}

// connect opens a database by its absolute name, with further parameters; it never
// makes one. It does not read anything yet.
func connect(ctx context.Context, name string, parameters url.Values, busy time.Duration) (*connection, error) {
	query := url.Values{
		"mode": {"rw"}, "_busy_timeout": {strconv.FormatInt(busy.Milliseconds(), 10)},
		"_pragma": pragmas, "_defensive": {"1"}, "_error_rc": {"1"},
	}
	maps.Copy(query, parameters)
	at := url.URL{Scheme: "file", Path: filepath.ToSlash(name), RawQuery: query.Encode()}
	connector, err := sqlite.NewConnector(at.String())
	if err != nil {
		return nil, err
	}
	pool := sql.OpenDB(connector)
	conn, err := pool.Conn(ctx)
	if err != nil {
		pool.Close()
		return nil, err
	}
	c := &connection{Conn: conn, pool: pool, allowed: &upstream{sound: map[string]bool{}}, work: workTime}
	if err := c.limit(); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// connect connects to the database that was found under a name, and to no other file.
// It does not read anything yet.
func (d *Databases) connect(ctx context.Context, q engine.Database, found fs.FileInfo, busy time.Duration) (*connection, error) {
	if err := registerVFS(); err != nil {
		return nil, err
	}
	allowed, err := d.upstreamOf(q.Schema)
	if err != nil {
		return nil, err
	}
	folder, err := d.openFolder(q.Path)
	if err != nil {
		return nil, err
	}
	folder.file = found
	name, parameters := folder.name(filepath.Dir(d.abs(q.Path)))
	c, err := connect(ctx, name, parameters, busy)
	if err != nil {
		folder.close()
		return nil, err
	}
	c.folder, c.file, c.allowed, c.work = folder, found, allowed, d.work
	return c, nil
}

func (c *connection) close() {
	c.Conn.Close()
	c.pool.Close()
	if c.folder != nil {
		c.folder.close()
	}
}

func (c *connection) rollback() { _ = c.exec(context.Background(), "ROLLBACK") }

// transact calls do in a transaction that may write.
func (c *connection) transact(ctx context.Context, do func() error) error {
	err := c.exec(ctx, "BEGIN IMMEDIATE")
	if err != nil {
		return err
	}
	if err = do(); err == nil {
		err = c.exec(ctx, "COMMIT")
	}
	if err != nil {
		c.rollback()
	}
	return err
}

func (c *connection) exec(ctx context.Context, script string, args ...any) error {
	_, err := c.ExecContext(ctx, script, args...)
	return err
}

// each calls a function for each row that a query finds.
func (c *connection) each(ctx context.Context, query string, args []any, do func(*sql.Rows) error) error {
	rows, err := c.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := do(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// beginRead begins a transaction that reads, if the name still leads to the open
// file, and returns how many objects the database has. It returns an error if one of
// them is not as it must be.
func (d *Databases) beginRead(ctx context.Context, name string, c *connection) (objects int, err error) {
	// This waits for the lock and reads nothing that others have made.
	if err := c.exec(ctx, "BEGIN; PRAGMA user_version"); err != nil {
		return 0, err
	}
	if err := d.checkIdentity(name, c); err != nil {
		return 0, err
	}
	return c.checkSchema(ctx)
}

// writable returns a connection to the database that is under the name now, and makes
// the database if there is none.
func (d *Databases) writable(ctx context.Context, q engine.Database) (*connection, error) {
	there, err := d.find(q.Path)
	if c := d.open[q.Path]; err == nil && c != nil && os.SameFile(there, c.file) {
		return c, nil
	}
	d.closeFile(q.Path)
	if errors.Is(err, fs.ErrNotExist) {
		there, err = d.createFile(q, err)
	}
	if err != nil {
		return nil, err
	}
	c, err := d.connect(ctx, q, there, d.busy)
	if err != nil {
		return nil, err
	}
	d.open[q.Path] = c
	objects, err := d.beginRead(ctx, q.Path, c)
	c.rollback()
	if err == nil && objects == 0 && q.Schema != "" {
		err = d.createTables(ctx, c, q)
	}
	return c, err
}

// createFile makes the empty file that becomes a database. SQLite is not used for
// that, because it would follow a link that appeared meanwhile.
func (d *Databases) createFile(q engine.Database, missing error) (fs.FileInfo, error) {
	var folder *noFolder
	if errors.As(missing, &folder) || q.Schema == "" {
		return nil, condition("cannot be made: " + driverText(missing))
	}
	in, err := d.openFolder(q.Path)
	if err != nil {
		return nil, err
	}
	defer in.close()
	file, err := in.OpenFile(in.base, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err == nil {
		file.Close()
	} else if !errors.Is(err, fs.ErrExist) {
		return nil, condition("cannot be made: " + driverText(err))
	}
	return d.find(q.Path)
}

// createTables makes the database's tables if it holds nothing at all: it was absent,
// or somebody opened it and left it empty, or died while making it.
func (d *Databases) createTables(ctx context.Context, c *connection, q engine.Database) error {
	// SQLite does not wait for a lock to change this. Another program that has the
	// lock usually makes the database, and nothing is left to do.
	log := c.exec(ctx, "PRAGMA journal_mode=WAL")
	if log != nil && !isLocked(log) {
		return log
	}
	err := c.transact(ctx, func() error { return c.createTables(ctx, schemas.SQL(q.Schema), log) })
	if err != nil {
		return err
	}
	return c.folder.self.Sync() // its rows are soon recorded as inserted
}

// createTables runs the script, if the database is still empty and has got its log.
func (c *connection) createTables(ctx context.Context, script string, log error) error {
	work, cancel := c.workLimit(ctx)
	defer cancel()
	objects, err := c.checkSchema(work)
	if err == nil && objects == 0 {
		err = log
	}
	if err == nil && objects == 0 {
		err = c.exec(work, script)
	}
	return err
}

package provider

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"modernc.org/sqlite"

	"placet/engine"
	"placet/schemas"
)

// pragmas hold for every connection. The last two keep what stands in a database
// of others from doing more than it is there for.
var pragmas = []string{"foreign_keys(ON)", "recursive_triggers(OFF)", "trusted_schema(OFF)", "cell_size_check(ON)"}

// connection is one open database.
type connection struct {
	*sql.Conn
	pool *sql.DB     // of this one connection
	file fs.FileInfo // what had the name when it was opened
}

// connect opens a database by its absolute name; it makes none. Nothing of it is read
// yet.
func connect(ctx context.Context, name string, busy time.Duration) (*connection, error) {
	query := url.Values{
		"mode": {"rw"}, "_busy_timeout": {strconv.FormatInt(busy.Milliseconds(), 10)},
		"_pragma": pragmas, "_defensive": {"1"}, "_error_rc": {"1"},
	}
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
	return &connection{Conn: conn, pool: pool}, nil
}

func (c *connection) close() {
	c.Conn.Close()
	c.pool.Close()
}

// begin begins a transaction that may write, and undo gives it up.
func (c *connection) begin(ctx context.Context) error { return c.exec(ctx, "BEGIN IMMEDIATE") }
func (c *connection) undo()                           { _ = c.exec(context.Background(), "ROLLBACK") }

func (c *connection) exec(ctx context.Context, script string, args ...any) error {
	_, err := c.ExecContext(ctx, script, args...)
	return err
}

// holds reports whether anything was ever made in the database.
func (c *connection) holds(ctx context.Context) (bool, error) {
	var n int
	err := c.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&n)
	return n > 0, err
}

// writable returns a connection to the database that is under the name now, and
// makes the database where there is none.
func (d *Databases) writable(ctx context.Context, f *databaseFile, q engine.Database) (*connection, error) {
	there, err := d.find(q.Path)
	if err == nil && f.conn != nil && os.SameFile(there, f.conn.file) {
		return f.conn, nil
	}
	d.end(ctx, f, q.Path)
	if errors.Is(err, fs.ErrNotExist) {
		there, err = d.create(q, err)
	}
	if err != nil {
		return nil, err
	}
	if f.conn, err = connect(ctx, d.abs(q.Path), d.busy); err != nil {
		return nil, err
	}
	f.conn.file = there
	if err := d.same(q.Path, f.conn); err != nil {
		return nil, err
	}
	return f.conn, d.filled(ctx, f.conn, q)
}

// create makes the empty file that becomes a database. SQLite would follow a link
// that came there meanwhile.
func (d *Databases) create(q engine.Database, missing error) (fs.FileInfo, error) {
	var folder *noFolder
	if errors.As(missing, &folder) || q.Schema == "" {
		return nil, &unmade{missing}
	}
	root, err := d.workspace()
	if err != nil {
		return nil, err
	}
	file, err := root.OpenFile(q.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err == nil {
		file.Close()
	} else if !errors.Is(err, fs.ErrExist) {
		return nil, &unmade{err}
	}
	return d.find(q.Path)
}

// filled makes the database's tables where it holds nothing at all: it was
// absent, or somebody opened it and left it, or died when it was being made.
func (d *Databases) filled(ctx context.Context, c *connection, q engine.Database) error {
	holds, err := c.holds(ctx)
	if err != nil || holds || q.Schema == "" {
		return err
	}
	// SQLite does not wait for a lock to change this: whoever has it makes the
	// database, as a rule, and nothing is left to do.
	log := c.exec(ctx, "PRAGMA journal_mode=WAL")
	if log != nil && !isLocked(log) {
		return log
	}
	if err := c.begin(ctx); err != nil {
		return err
	}
	if err := c.fill(ctx, schemas.SQL(q.Schema), log); err != nil {
		c.undo()
		return err
	}
	return d.keepName(q.Path)
}

// fill carries out the script and commits, if still nobody else made anything and
// the database has got its log.
func (c *connection) fill(ctx context.Context, script string, log error) error {
	holds, err := c.holds(ctx)
	if err == nil && !holds {
		err = log
	}
	if err == nil && !holds {
		err = c.exec(ctx, script)
	}
	if err == nil {
		err = c.exec(ctx, "COMMIT")
	}
	return err
}

// keepName makes the name of a new database durable: its rows are recorded as
// inserted soon.
func (d *Databases) keepName(name string) error {
	dir, err := os.Open(filepath.Dir(d.abs(name)))
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

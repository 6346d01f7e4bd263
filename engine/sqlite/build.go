package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"placet/engine"
	"placet/schemas"
	"placet/templates"
)

// mostBuilt is how large a database that Build makes may become, in bytes.
const mostBuilt = 256 << 20

// serializer is a driver's connection that returns its database in the form of a
// file.
type serializer interface{ Serialize() ([]byte, error) }

// Build makes a database with the schema, which names an embedded script, and with
// rows, and returns the content of the file. It makes the database in memory: SQLite
// opens no file, so it never follows a link that takes the file's name meanwhile.
func Build(schema string, rows []engine.Row) (body []byte, err error) {
	working.Lock()
	defer working.Unlock()
	ctx := context.Background()
	pool, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	c, err := pool.Conn(ctx) // each further connection would be a database of its own
	if err != nil {
		return nil, err
	}
	defer c.Close()
	const page = 4096
	pragmas := "PRAGMA page_size=" + strconv.Itoa(page) + "; PRAGMA max_page_count=" + strconv.Itoa(mostBuilt/page) + "; PRAGMA foreign_keys=ON; "
	if _, err := c.ExecContext(ctx, pragmas+schemas.SQL(schema)); err != nil {
		return nil, err
	}
	if err := insertAll(ctx, c, rows); err != nil {
		return nil, err
	}
	err = c.Raw(func(driver any) (err error) {
		s, ok := driver.(serializer)
		if !ok {
			return errors.New("the driver does not return what it made")
		}
		body, err = s.Serialize()
		return err
	})
	return body, err
}

// insertAll inserts rows in their order, all of them or none.
func insertAll(ctx context.Context, c *sql.Conn, rows []engine.Row) error {
	tx, err := c.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, row := range rows {
		names, marks, values := make([]string, len(row.Values)), make([]string, len(row.Values)), make([]any, len(row.Values))
		for i, v := range row.Values {
			names[i], marks[i], values[i] = quoted(v.Name), "?", v.Value
		}
		script := fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", quoted(row.Table), strings.Join(names, ", "), strings.Join(marks, ", "))
		if _, err := tx.ExecContext(ctx, script, values...); err != nil {
			return templates.Errorf("sqlite.row", "row", row.ID, "table", row.Table, "error", err)
		}
	}
	return tx.Commit()
}

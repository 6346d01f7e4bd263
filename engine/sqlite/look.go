package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"io/fs"
	"math"
	"strings"
	"unicode/utf8"

	"placet/engine"
	"placet/layout"
	"placet/templates"
)

// look answers several queries at one moment. It makes and
// changes nothing. errors.Is(err, fs.ErrNotExist) holds if
// there is no database.
//
// The connection could nevertheless write. One that cannot write leaves files beside
// a database in WAL mode, and cannot read at all if a program died in the middle of
// a transaction, because every reader must roll that back.
func (d *Databases) look(ctx context.Context, q engine.Database) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, d.work)
	defer cancel()
	there, err := d.find(q.Path)
	if err != nil {
		return nil, err
	}
	answer, err := d.readAnswer(ctx, q, there)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(answer)
	if err == nil && len(body) > layout.LimitJSON {
		err = templates.Errorf("sqlite.large", "n", len(body), "most", layout.LimitJSON)
	}
	return body, err
}

// rowsByQuery holds the rows that were found, by the name of the query.
type rowsByQuery map[string][]map[string]any

func (d *Databases) readAnswer(ctx context.Context, q engine.Database, there fs.FileInfo) (rowsByQuery, error) {
	c, err := d.connect(ctx, q, there, min(d.busy, d.work/2)) // a caller that waits longer cannot say for what
	if err != nil {
		return nil, err
	}
	defer c.close()
	if err := c.exec(ctx, "PRAGMA query_only=ON"); err != nil {
		return nil, err
	}
	defer c.rollback()
	if objects, err := d.beginRead(ctx, q.Path, c); err != nil {
		return nil, err
	} else if objects == 0 { // a row would make it
		return nil, fs.ErrNotExist
	}
	if err := c.checkColumns(ctx, q.Columns, q.Hint); err != nil {
		return nil, err
	}
	found, left := rowsByQuery{}, layout.LimitJSON
	for _, query := range q.Select {
		if found[query.Name], err = c.query(ctx, query, &left); err != nil {
			return nil, templates.Errorf("sqlite.query", "name", query.Name, "error", err)
		}
	}
	return found, nil
}

// query answers one query, and subtracts the size of what it reads from left.
func (c *connection) query(ctx context.Context, query engine.Query, left *int) ([]map[string]any, error) {
	text, err := c.untypedQuery(ctx, query)
	if err != nil {
		return nil, err
	}
	found := []map[string]any{}
	err = c.each(ctx, text, query.Args, func(rows *sql.Rows) error {
		row, err := readRow(rows, left)
		found = append(found, row)
		return err
	})
	return found, err
}

// untypedQuery returns a query whose columns have no type: otherwise the driver
// would return the column of a date as a time, not as the text in the database.
func (c *connection) untypedQuery(ctx context.Context, query engine.Query) (string, error) {
	rows, err := c.QueryContext(ctx, "SELECT * FROM ("+query.SQL+") LIMIT 0", query.Args...)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return "", err
	}
	columns := make([]string, len(names))
	for i, name := range names {
		columns[i] = "+" + quoted(name) + " AS " + quoted(name)
	}
	return "SELECT " + strings.Join(columns, ", ") + " FROM (" + query.SQL + ")", rows.Err()
}

// readRow returns one row by column.
func readRow(rows *sql.Rows, left *int) (map[string]any, error) {
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	values, into := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	if err := rows.Scan(into...); err != nil {
		return nil, err
	}
	row := make(map[string]any, len(names))
	for i, name := range names {
		v, size := asJSON(values[i])
		if *left -= size; *left < 0 {
			return nil, templates.Errorf("sqlite.rows", "n", layout.LimitJSON)
		}
		row[name] = v
	}
	return row, nil
}

// asJSON returns a value that JSON can hold: bytes as text, and nil for a number
// that JSON cannot express. size is about how many bytes it takes.
func asJSON(v any) (value any, size int) {
	switch v := v.(type) {
	case []byte:
		return strings.ToValidUTF8(string(v), string(utf8.RuneError)), len(v)
	case string:
		return strings.ToValidUTF8(v, string(utf8.RuneError)), len(v)
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return nil, 4
		}
	}
	return v, 8
}

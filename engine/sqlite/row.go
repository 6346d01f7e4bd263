package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"placet/engine"
)

// insert inserts one row into a database, and says which columns of the row the table
// lacks. It compares a row that is already there before and, if the database refuses
// ours, once more, because another process may have inserted it meanwhile.
func (d *Databases) insert(ctx context.Context, q engine.Database) (result, lacks string, err error) {
	if len(q.Insert.Values) == 0 {
		return "", "", errors.New("a row without values: expected its id first")
	}
	c, err := d.writable(ctx, q)
	if err != nil {
		return "", "", err
	}
	found, lacks, err := d.findRow(ctx, c, &q)
	if found || err != nil {
		return rowPresent, lacks, err
	}
	no := c.addRow(ctx, *q.Insert)
	if isOrphan(no) && q.First != nil && c.addRow(ctx, *q.First) == nil {
		no = c.addRow(ctx, *q.Insert)
	}
	if !isRefused(no) {
		if no == nil {
			no = d.checkIdentity(q.Path, c)
		}
		return rowDone, lacks, no
	}
	if found, lacks, err = d.findRow(ctx, c, &q); found || err != nil {
		return rowPresent, lacks, err
	}
	return "", "", refusal(fmt.Sprintf("row %s of %s: the rules of %s forbid it: %s", q.Insert.ID, q.Insert.Table, q.Path, driverText(no)))
}

// findRow reports whether our row is in a database, which must be as expected. It
// removes from the rows of q the columns that their tables may lack; lacks names those
// of the row to insert.
func (d *Databases) findRow(ctx context.Context, c *connection, q *engine.Database) (found bool, lacks string, err error) {
	defer c.rollback()
	if _, err := d.beginRead(ctx, q.Path, c); err != nil {
		return false, "", err
	}
	work, cancel := c.workLimit(ctx)
	defer cancel()
	if lacks, err = c.fit(work, q); err != nil {
		return false, "", err
	}
	found, err = c.compareRow(work, *q.Insert)
	return found, lacks, err
}

// checkIdentity returns an error unless the name still leads to the open database.
func (d *Databases) checkIdentity(name string, c *connection) error {
	there, err := d.find(name)
	var no *unfit
	if errors.As(err, &no) {
		return err
	}
	if err == nil && os.SameFile(there, c.file) {
		return nil
	}
	return errReplaced
}

// refusal says why the database will never accept a row as it is.
type refusal string

func (r refusal) Error() string { return string(r) }

// addRow inserts a row in a transaction of its own. Others may have changed the schema
// since it was judged, so it is judged again under the lock.
func (c *connection) addRow(ctx context.Context, r engine.Row) error {
	return c.transact(ctx, func() error {
		if _, err := c.checkSchema(ctx); err != nil {
			return err
		}
		if c.unjudged != nil {
			return c.unjudged
		}
		return c.withAuthorizer(r.Table, func() error { return c.insertRow(ctx, r) })
	})
}

func (c *connection) insertRow(ctx context.Context, r engine.Row) error {
	ctx, cancel := c.workLimit(ctx)
	defer cancel()
	names, marks, args := make([]string, len(r.Values)), make([]string, len(r.Values)), make([]any, len(r.Values))
	for i, v := range r.Values {
		names[i], marks[i], args[i] = quoted(v.Name), "?", v.Value
	}
	return c.exec(ctx, fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)",
		quoted(r.Table), strings.Join(names, ", "), strings.Join(marks, ", ")), args...)
}

// compareRow looks for a row with our id. It reports found if all our values are in
// it, by SQLite's own comparison, which applies a column's type to both sides; a row
// with other values is a refusal that names them.
func (c *connection) compareRow(ctx context.Context, r engine.Row) (found bool, err error) {
	columns, args := make([]string, len(r.Values)), make([]any, len(r.Values), len(r.Values)+1)
	for i, v := range r.Values {
		columns[i], args[i] = quoted(v.Name)+" IS ?", v.Value
	}
	var others []string
	err = c.each(ctx, fmt.Sprintf("SELECT %s FROM %s WHERE %s = ?", strings.Join(columns, ", "), quoted(r.Table), quoted(r.Values[0].Name)),
		append(args, r.ID), func(rows *sql.Rows) (err error) {
			if !found {
				others, err = differing(rows.Scan, r)
				found = err == nil && len(others) == 0
			}
			return err
		})
	if err == nil && !found && others != nil {
		err = refusal(fmt.Sprintf("row %s of %s stands with other values: %s", r.ID, r.Table, strings.Join(others, ", ")))
	}
	return found && err == nil, err
}

// differing returns the columns of a row whose values are not ours.
func differing(scan func(...any) error, r engine.Row) ([]string, error) {
	alike, into := make([]bool, len(r.Values)), make([]any, len(r.Values))
	for i := range alike {
		into[i] = &alike[i]
	}
	if err := scan(into...); err != nil {
		return nil, err
	}
	var others []string
	for i, v := range r.Values {
		if !alike[i] {
			others = append(others, v.Name)
		}
	}
	return others, nil
}

// fit checks that the required columns exist, and removes from the rows those that a
// table lacks and may lack. lacks names those of the row to insert.
func (c *connection) fit(ctx context.Context, q *engine.Database) (lacks string, err error) {
	for _, row := range []**engine.Row{&q.Insert, &q.First} {
		if *row == nil {
			continue
		}
		fitted, without, err := c.fitRow(ctx, *q, **row)
		if err != nil {
			return "", err
		}
		*row = &fitted
		if row == &q.Insert && len(without) > 0 {
			lacks = fmt.Sprintf("%s lacks the columns %s: the row stands there without them; %s", fitted.Table, strings.Join(without, ", "), q.Hint)
		}
	}
	return lacks, nil
}

// fitRow returns a row as its table can hold it, and the columns that it lost.
func (c *connection) fitRow(ctx context.Context, q engine.Database, row engine.Row) (fitted engine.Row, without []string, err error) {
	present, err := c.columns(ctx, row.Table)
	if err != nil {
		return row, nil, err
	}
	needed := maps.Clone(q.Columns)
	if needed == nil {
		needed = map[string][]string{}
	}
	fitted = engine.Row{Table: row.Table, ID: row.ID}
	for _, v := range row.Values {
		if !named(present, v.Name) && named(q.Optional[row.Table], v.Name) {
			without = append(without, v.Name)
			continue
		}
		fitted.Values = append(fitted.Values, v)
		needed[row.Table] = append(slices.Clip(needed[row.Table]), v.Name)
	}
	return fitted, without, c.checkColumns(ctx, needed, q.Hint)
}

// named reports whether a column is among some, comparing names as SQLite does.
func named(columns []string, name string) bool {
	return slices.ContainsFunc(columns, func(s string) bool { return strings.EqualFold(s, name) })
}

// checkColumns returns an error for the first missing table or column, in the order of
// their names.
func (c *connection) checkColumns(ctx context.Context, needed map[string][]string, hint string) error {
	for _, table := range slices.Sorted(maps.Keys(needed)) {
		there, err := c.columns(ctx, table)
		if err != nil {
			return err
		}
		if len(there) == 0 && len(needed[table]) > 0 {
			return missing("table "+table, hint)
		}
		for _, name := range needed[table] {
			if !named(there, name) {
				return missing("column "+name, hint)
			}
		}
	}
	return nil
}

// columns returns the names of a table's columns, none if it is missing.
func (c *connection) columns(ctx context.Context, table string) ([]string, error) {
	var names []string
	err := c.each(ctx, "SELECT name FROM pragma_table_info(?)", []any{table}, func(rows *sql.Rows) error {
		names = append(names, "")
		return rows.Scan(&names[len(names)-1])
	})
	return names, err
}

// missing returns the error for something that a database lacks, with what to do about
// it.
func missing(what, hint string) error {
	if hint != "" {
		hint = ": " + hint
	}
	return errors.New(what + " is missing" + hint)
}

// quoted returns a name in quotation marks for SQL.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

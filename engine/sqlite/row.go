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

// insert puts one row into a database, and says what its table lacks of the row. A row
// that is there already is compared before and, where the database refuses ours, once
// more: another process may have been as fast.
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

// findRow says whether our row is in a database that is as it must be. The rows of q
// lose the columns that their tables may lack; lacks names those of the row to insert.
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

// checkIdentity says whether the name still leads to the database that is open.
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

// refusal says why a row will never get into the database as it is.
type refusal string

func (r refusal) Error() string { return string(r) }

// addRow inserts a row in a transaction of its own. Others may have changed the schema
// since it was judged: with the lock it is judged again.
func (c *connection) addRow(ctx context.Context, r engine.Row) error {
	return c.transact(ctx, func() error {
		if _, err := c.checkSchema(ctx); err != nil {
			return err
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

// compareRow looks for a row with our id. It is found where all that we give is as
// we give it, by SQLite's own comparison, so that a column's type counts alike
// on both sides; a row with other values is a refusal that names them.
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

// differing returns the columns of one row whose values are not ours.
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

// fit says whether the columns are there that must be, and takes those out of the rows
// that a table lacks and may lack. lacks names those of the row to insert.
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

// named reports whether a column is among some, by its name as SQLite compares it.
func named(columns []string, name string) bool {
	return slices.ContainsFunc(columns, func(s string) bool { return strings.EqualFold(s, name) })
}

// checkColumns says which table or column is missing, in the order of their names.
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

// columns returns the names of a table's columns, none where it is missing.
func (c *connection) columns(ctx context.Context, table string) ([]string, error) {
	var names []string
	err := c.each(ctx, "SELECT name FROM pragma_table_info(?)", []any{table}, func(rows *sql.Rows) error {
		names = append(names, "")
		return rows.Scan(&names[len(names)-1])
	})
	return names, err
}

// missing says what a database lacks, and what to do about it.
func missing(what, hint string) error {
	if hint != "" {
		hint = ": " + hint
	}
	return errors.New(what + " is missing" + hint)
}

// quoted is a name in SQL.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

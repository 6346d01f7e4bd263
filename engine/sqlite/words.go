package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"placet/engine"
)

// sqliteCode returns SQLite's extended result code of an error; 0 if the error is not
// SQLite's.
func sqliteCode(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

// isRefused reports whether an error is about the row: trying again would not help.
func isRefused(err error) bool {
	switch sqliteCode(err) & 0xff {
	case sqlite3.SQLITE_CONSTRAINT:
		return !isIndex(err)
	case sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_TOOBIG:
		return true
	}
	return false
}

// isOrphan reports whether the database has no row with an id to which a row refers.
func isOrphan(err error) bool { return sqliteCode(err) == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY }

// isLocked reports whether a lock of another program is in the way.
func isLocked(err error) bool {
	n := sqliteCode(err) & 0xff
	return n == sqlite3.SQLITE_BUSY || n == sqlite3.SQLITE_LOCKED
}

// isIndex reports whether a full-text index refused a row. Either the index says so, or
// one of its own tables violates a constraint that the error does not name.
func isIndex(err error) bool {
	n := sqliteCode(err)
	return n == sqlite3.SQLITE_CORRUPT_VTAB || n&0xff == sqlite3.SQLITE_CONSTRAINT && driverText(err) == "constraint failed"
}

// condition is an error that says what a database is or cannot be; its name comes
// before.
type condition string

func (c condition) Error() string { return string(c) }

// errReplaced says that the open file has lost its name, and that what was written went
// into that file.
const errReplaced condition = "was replaced while it was open"

// advice says what helps if a database cannot be used as it is.
const advice = "move the file away, and a new one is made"

// unsound returns the error for something in a database that placet does not work with.
func unsound(what string) error {
	return condition("is not used as it is: it has " + what + "; drop that, or " + advice)
}

// explanations say what SQLite's results mean for the database called %[1]s, and what to
// do; %[2]s is SQLite's message.
var explanations = map[int]string{
	sqlite3.SQLITE_BUSY:     "the database %[1]s is locked by another program: let it end its transaction, or close it",
	sqlite3.SQLITE_LOCKED:   "the database %[1]s is locked by another program: let it end its transaction, or close it",
	sqlite3.SQLITE_READONLY: "the database %[1]s is read-only: allow placet to write the file and into its folder",
	sqlite3.SQLITE_PERM:     "the database %[1]s is read-only: allow placet to write the file and into its folder",
	sqlite3.SQLITE_NOTADB:   "%[1]s is not a database: expected one of SQLite; " + advice,
	sqlite3.SQLITE_CORRUPT:  "the database %[1]s is damaged: %[2]s; put back a copy, or move it away, and a new one is made",
	sqlite3.SQLITE_FULL: "the database %[1]s cannot be written: the disk is full, or the file has " + strconv.Itoa(mostFile) +
		" bytes, which is the most",
	sqlite3.SQLITE_NOMEM:    "the database %[1]s has SQLite take more than " + strconv.Itoa(mostHeap) + " bytes of memory: " + advice,
	sqlite3.SQLITE_CANTOPEN: "the database %[1]s cannot be opened: allow placet to read and write the file and its folder",
}

// explain says what is wrong with a database, and what to do about it.
func (d *Databases) explain(q engine.Database, err error) string {
	name := q.Path
	var is condition
	code := sqliteCode(err)
	switch {
	case errors.Is(err, context.DeadlineExceeded), code&0xff == sqlite3.SQLITE_INTERRUPT:
		return fmt.Sprintf("the database %s keeps SQLite at work for longer than it may, %s at a stretch: %s", name, d.work, advice)
	case errors.As(err, &is):
		return fmt.Sprintf("the database %s %s", name, is)
	case code == sqlite3.SQLITE_READONLY_DBMOVED:
		return fmt.Sprintf("the database %s %s", name, errReplaced)
	case isIndex(err):
		return fmt.Sprintf("the full-text index of the database %s does not fit its rows: have SQLite make it anew "+
			"(INSERT INTO <table>_fts (<table>_fts) VALUES ('rebuild'))", name)
	}
	if format, known := explanations[code&0xff]; known {
		return fmt.Sprintf(format, name, driverText(err))
	}
	return fmt.Sprintf("the database %s: %s", name, driverText(err))
}

// longestInner is how much of SQLite's message is repeated, in bytes: the message quotes
// what others wrote into the database.
const longestInner = 300

// driverText returns SQLite's message, in one line, without its code.
func driverText(err error) string {
	text := err.Error()
	if n := sqliteCode(err); n != 0 {
		text = strings.TrimSuffix(text, fmt.Sprintf(" (%d)", n))
	}
	text = strings.TrimPrefix(text, "constraint failed: ")
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }), " ")
	if len(text) > longestInner {
		text = strings.ToValidUTF8(text[:longestInner], "") + " …"
	}
	return text
}

package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"modernc.org/sqlite"
)

// SQLite's result codes, as far as they are told apart.
const (
	sqlitePerm       = 3
	sqliteBusy       = 5
	sqliteLocked     = 6
	sqliteNoMem      = 7
	sqliteReadonly   = 8
	sqliteInterrupt  = 9
	sqliteCorrupt    = 11
	sqliteFull       = 13
	sqliteCantopen   = 14
	sqliteTooBig     = 18
	sqliteConstraint = 19
	sqliteMismatch   = 20
	sqliteNotADB     = 26

	sqliteCorruptIndex  = sqliteCorrupt | 1<<8
	sqliteForeignKey    = sqliteConstraint | 3<<8
	sqliteReadonlyMoved = sqliteReadonly | 4<<8
)

// sqliteCode is SQLite's result code of an error, with what it adds to it; 0 where
// the error is none of SQLite's.
func sqliteCode(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

// isRefused reports whether an error lies in the row: trying again would not
// help.
func isRefused(err error) bool {
	switch sqliteCode(err) & 0xff {
	case sqliteConstraint:
		return !isIndex(err)
	case sqliteMismatch, sqliteTooBig:
		return true
	}
	return false
}

// isOrphan reports whether the database has no row of an id that a row names.
func isOrphan(err error) bool { return sqliteCode(err) == sqliteForeignKey }

// isLocked reports whether another program is in the way.
func isLocked(err error) bool {
	n := sqliteCode(err) & 0xff
	return n == sqliteBusy || n == sqliteLocked
}

// isIndex reports whether a full-text index stopped a row: it says so itself, or the
// tables in which it keeps itself forbid something, of which no name is told.
func isIndex(err error) bool {
	n := sqliteCode(err)
	return n == sqliteCorruptIndex || n&0xff == sqliteConstraint && inner(err) == "constraint failed"
}

// unmade says why a database that is missing was not made.
type unmade struct{ why error }

func (u *unmade) Error() string { return "cannot be made: " + inner(u.why) }
func (u *unmade) Unwrap() error { return u.why }

// inWords says what is wrong with a database, and what to do about it.
func (d *Databases) inWords(name string, err error) string {
	var lack *missing
	var no *unmade
	var bad unsound
	switch {
	case errors.Is(err, context.DeadlineExceeded), sqliteCode(err)&0xff == sqliteInterrupt:
		return fmt.Sprintf("the database %s keeps SQLite at work for longer than it may, %s in all: %s", name, d.work, another)
	case errors.As(err, &bad):
		return fmt.Sprintf("the database %s is not used as it is: it has %s; drop that, or %s", name, bad, another)
	case errors.As(err, &lack):
		return fmt.Sprintf("the database %s: %s", name, lack)
	case errors.As(err, &no):
		return fmt.Sprintf("the database %s %s", name, no)
	case errors.Is(err, errReplaced), sqliteCode(err) == sqliteReadonlyMoved:
		return fmt.Sprintf("the database %s %s", name, errReplaced)
	}
	return byCode(name, err)
}

// another is what helps where a database cannot be used as it is.
const another = "move the file away, and a new one is made"

// byCode is inWords for what SQLite found.
func byCode(name string, err error) string {
	if isIndex(err) {
		return fmt.Sprintf("the full-text index of the database %s does not fit its rows: have SQLite make it anew "+
			"(INSERT INTO <table>_fts (<table>_fts) VALUES ('rebuild'))", name)
	}
	switch sqliteCode(err) & 0xff {
	case sqliteBusy, sqliteLocked:
		return fmt.Sprintf("the database %s is locked by another program: let it end its transaction, or close it", name)
	case sqliteReadonly, sqlitePerm:
		return fmt.Sprintf("the database %s is read-only: allow placet to write the file and into its folder", name)
	case sqliteNotADB:
		return fmt.Sprintf("%s is not a database: expected one of SQLite; move the file away, and a new one is made", name)
	case sqliteCorrupt:
		return fmt.Sprintf("the database %s is damaged: %s; put back a copy, or move it away, and a new one is made", name, inner(err))
	case sqliteFull:
		return fmt.Sprintf("the database %s cannot be written: the disk is full, or the file has %d bytes, which is the most", name, mostFile)
	case sqliteNoMem:
		return fmt.Sprintf("the database %s has SQLite take more than %d bytes of memory: %s", name, mostHeap, another)
	case sqliteCantopen:
		return fmt.Sprintf("the database %s cannot be opened: allow placet to read and write the file and its folder", name)
	}
	return fmt.Sprintf("the database %s: %s", name, inner(err))
}

// longestInner is how much is told of what SQLite says, in bytes: it quotes
// what others wrote into the database.
const longestInner = 300

// inner is what SQLite says, in one line, without its code.
func inner(err error) string {
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

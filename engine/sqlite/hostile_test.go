package sqlite

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"placet/engine"
)

// hostile makes a database with a row, as placet does, and then runs an attacker's
// script on it, without any limits.
func (l *mirror) hostile(script string) {
	l.t.Helper()
	l.must("done", task(7))
	l.Release(audit)
	raw, err := sql.Open("sqlite", l.path(audit))
	if err != nil {
		l.t.Fatal(err)
	}
	defer raw.Close()
	raw.SetMaxOpenConns(1)
	if _, err := raw.Exec("PRAGMA writable_schema=ON;" + script); err != nil {
		l.t.Fatalf("%s: %v", script, err)
	}
}

// reworded changes the SQL of an object in SQLite's own table.
func reworded(name, old, now string) string {
	text := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	return "UPDATE sqlite_schema SET sql = replace(sql, " + text(old) + ", " + text(now) + ") WHERE name = " + text(name) +
		"; SELECT CASE WHEN changes() = 1 THEN 1 ELSE abs(-9223372036854775808) END"
}

// forever is an expression that SQLite computes in one step, which nothing interrupts.
const forever = "instr(hex(zeroblob(400000)), hex(zeroblob(200000)) || '1')"

const again = "DROP TRIGGER user_feedback_ai; CREATE TRIGGER user_feedback_ai AFTER INSERT ON user_feedback BEGIN "

var hostileSchemas = []struct{ name, script, want string }{
	{"a view", "CREATE VIEW v_mine AS SELECT 1", `it has the view "v_mine", which upstream's schema does not have`},
	{"a view for a table", "DROP TRIGGER user_feedback_ai; DROP TRIGGER user_feedback_update_timestamp; DROP TABLE user_feedback; CREATE VIEW user_feedback AS SELECT * FROM decisions",
		`it has the view "user_feedback"`},
	{"a trigger", "CREATE TRIGGER mine AFTER INSERT ON user_feedback BEGIN DELETE FROM audit_logs; END", `it has the trigger "mine", which upstream's`},
	{"a trigger with a name that hides", "CREATE TRIGGER \"user_feedback_ai\u200b\" AFTER INSERT ON user_feedback BEGIN DELETE FROM audit_logs; END", `the trigger "user_feedback_ai\u200b"`},
	{"a trigger that is said to be a table", "INSERT INTO sqlite_schema VALUES ('table', 'other', 'other', 0, 'CREATE TRIGGER other AFTER INSERT ON user_feedback BEGIN DELETE FROM audit_logs; END')",
		"malformed database schema (other)"},
	{"a trigger's name elsewhere", "DROP TRIGGER decisions_ad; CREATE TRIGGER decisions_ad AFTER INSERT ON user_feedback BEGIN DELETE FROM tags; END", `it has the trigger "decisions_ad"`},
	{"a trigger that deletes", again + "DELETE FROM audit_logs; END", `it has the trigger "user_feedback_ai", which changes "audit_logs"`},
	{"a trigger that changes", again + "UPDATE audit_logs SET notes = 'x'; END", `it has the trigger "user_feedback_ai", which changes "audit_logs"`},
	{"a trigger that writes elsewhere", again + "INSERT INTO tags (name) VALUES (NEW.id); END", `the trigger "user_feedback_ai", which writes into "tags"`},
	{"a trigger that reads elsewhere", "CREATE TABLE mine (x, y AS (" + forever + "));" + again + "INSERT INTO evidence (decision_id, type, ref_path) SELECT y, y, y FROM mine; END",
		`the trigger "user_feedback_ai", which reads "mine"`},
	{"a trigger that calls", again + "INSERT INTO evidence (decision_id, type, ref_path) VALUES (randomblob(1000000000), 'a', 'b'); END", `the trigger "user_feedback_ai", which calls "randomblob"`},
	{"a trigger that calls in its condition", "DROP TRIGGER user_feedback_ai; CREATE TRIGGER user_feedback_ai AFTER INSERT ON user_feedback WHEN " + forever + " BEGIN SELECT 1; END",
		`the trigger "user_feedback_ai", which calls "`},
	{"a trigger that does not end", again + "INSERT INTO evidence (decision_id, type, ref_path) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, i, i FROM n; END",
		`a trigger that uses "n", which does what upstream's schema does not`},
	{"a query without a name", again + `INSERT INTO evidence (decision_id, type, ref_path) WITH "" AS (SELECT ` + forever + ` AS i) SELECT i, i, i FROM ""; END`, `a trigger that calls "instr"`},
	{"a trigger whose constants SQLite computes when it prepares a statement",
		"INSERT INTO audit_logs (id, date, task_name, mode, action) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 200) SELECT 'TASK-9' || i, i, 't', 'm', 'a' FROM n; ANALYZE;" +
			again + "INSERT INTO evidence (decision_id, type, ref_path) SELECT id, id, id FROM audit_logs WHERE date > instr(hex(zeroblob(400000)), concat(hex(zeroblob(200000)), '1')); END",
		`the trigger "user_feedback_ai", which calls "`},
	{"a view in a trigger", "DROP VIEW v_open_followups; CREATE VIEW v_open_followups AS SELECT " + forever + " AS id;" + again + "INSERT INTO evidence (decision_id, type, ref_path) SELECT id, id, id FROM v_open_followups; END",
		`a trigger that uses "v_open_followups", which calls "instr"`},
	{"a generated column", "ALTER TABLE user_feedback ADD COLUMN mine AS (" + forever + ")", `the table "user_feedback", which computes the column "mine"`},
	{"a generated column in full", "ALTER TABLE audit_logs ADD COLUMN mine INTEGER GENERATED ALWAYS AS (1) VIRTUAL", `the table "audit_logs", which computes the column "mine"`},
	{"a rule that computes", reworded("user_feedback", "user_id TEXT", "user_id TEXT CHECK ("+forever+" = 0)"), `the table "user_feedback", which calls "zeroblob(1)"`},
	{"a quoted call", reworded("user_feedback", "user_id TEXT", `user_id TEXT CHECK ("instr"(1, 2) = 0)`), `the table "user_feedback", which calls "instr(2)"`},
	{"a call behind a comment", reworded("user_feedback", "user_id TEXT", "user_id TEXT CHECK (instr/**/ -- (\n(1, 2) = 0)"), `the table "user_feedback", which calls "instr(2)"`},
	{"trim of two", reworded("user_feedback", "trim(feedback_text)", "trim(feedback_text, 'x')"), `the table "user_feedback", which calls "trim(2)"`},
	{"a rule that joins", reworded("user_feedback", "user_id TEXT", "user_id TEXT CHECK (user_id || user_id IS NULL)"), `the table "user_feedback", which calls "||"`},
	{"a pattern", reworded("user_feedback", "user_id TEXT", "user_id TEXT CHECK (user_id GLOB '*a*b')"), `which calls "glob(2)"`},
	{"an operator that calls", reworded("user_feedback", "user_id TEXT", "user_id TEXT CHECK (user_id -> '$' IS NULL)"), `the table "user_feedback", which calls "->`},
	{"a default that computes", reworded("evidence", "description TEXT", "description TEXT DEFAULT ("+forever+")"), `the table "evidence", which calls "zeroblob(1)"`},
	{"a table by another beginning", reworded("user_feedback", "CREATE TABLE user_feedback", "CREATE TABLE IF NOT EXISTS user_feedback"), `an object that placet cannot read, made by "CREATE TABLE IF NOT`},
	{"a rule in the tables of an index", reworded("audit_logs_fts_data", "block BLOB", "block BLOB CHECK ("+forever+" = 0)"), `the table "audit_logs_fts_data", which is not as SQLite makes it`},
	{"an index that computes", "CREATE INDEX mine ON audit_logs (hex(notes))", `the index "mine", which computes something`},
	{"an index over some", "CREATE INDEX mine ON audit_logs (date) WHERE " + "notes LIKE 'a%'", `the index "mine", which computes something`},
	{"a virtual table", "CREATE VIRTUAL TABLE mine USING rtree (id, a, b)", `the virtual table "mine"`},
	{"a full-text index of fewer columns over another table", "DROP TABLE decisions_fts; CREATE VIRTUAL TABLE decisions_fts USING fts5 (id, content='evidence', content_rowid='rowid')",
		`the virtual table "decisions_fts", which upstream's schema does not have in that way`},
	{"a full-text index of another kind", "DROP TABLE decisions_fts; CREATE VIRTUAL TABLE decisions_fts USING fts5 (id, title, context, decision_content, content='decisions', content_rowid='rowid', tokenize='trigram')",
		`the virtual table "decisions_fts", which upstream's schema does not have in that way`},
	{"too many tables", many(1100, "x"), "it has more than 1000 tables, indexes, views and triggers"},
	{"SQL that is too long", "CREATE TABLE mine (x /* " + strings.Repeat("x", 70_000) + " */)", "malformed database schema (mine)"},
	{"a hundred thousand tables", many(100_000, "a, b, c, d, e, f, g, h"), ""},
	{"tables of long columns", many(900, wide), ""},
}

// many makes tables that cost only reading: they share their only page.
func many(n int, columns string) string {
	return fmt.Sprintf("INSERT INTO sqlite_schema WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT %d) "+
		"SELECT 'table', 't' || i, 't' || i, 2, 'CREATE TABLE t' || i || ' (%s)' FROM n", n, columns)
}

// wide lists a hundred columns whose names take 50 kB.
var wide = func() string {
	columns := make([]string, 100)
	for i := range columns {
		columns[i] = fmt.Sprintf("c%03d%s", i, strings.Repeat("x", 500))
	}
	return strings.Join(columns, ", ")
}()

// highest returns the most memory that SQLite has held since the last call.
func highest() int64 {
	tls := libc.NewTLS()
	defer tls.Close()
	return sqlite3.Xsqlite3_memory_highwater(tls, 1)
}

func TestNothingOfAHostileSchemaIsUsed(t *testing.T) {
	if testing.Short() {
		t.Skip("one call after the other: there is nothing for the race detector")
	}
	for _, tt := range hostileSchemas {
		t.Run(tt.name, func(t *testing.T) {
			l := newMirror(t)
			l.hostile(tt.script)
			before := l.bytes()
			highest()
			e := l.insertRow(answer(1, nil))
			l.Release(audit)
			if most := highest(); most > mostHeap {
				t.Errorf("SQLite held %d bytes", most)
			}
			if e.Result != "failed" || !strings.Contains(e.Reason, tt.want) || len(e.Reason) > 600 {
				t.Errorf("%s, %q, want %q", e.Result, e.Reason, tt.want)
			}
			if !bytes.Equal(before, l.bytes()) {
				t.Error("the file was changed")
			}
			seen := l.query("SELECT id FROM audit_logs")
			if upstreams := strings.Contains(tt.script, "TRIGGER user_feedback_ai AFTER INSERT ON user_feedback"); (seen.Result == "done") != upstreams || !upstreams && !strings.Contains(seen.Reason, tt.want) {
				t.Errorf("a look: %s, %q", seen.Result, seen.Reason)
			}
			if err := os.Rename(l.path(audit), l.path("away.db")); err != nil {
				t.Fatal(err)
			}
			l.must("done", task(1))
			l.must("done", answer(1, task(1).ID))
		})
	}
}

// If SQLite cannot prepare an insert into a table, the table is not judged: no row goes into the
// database, and a query, which computes none of that, is answered.
func TestATableThatCannotBeJudgedTakesNoRow(t *testing.T) {
	l := newMirror(t)
	l.hostile(reworded("user_feedback", "id TEXT PRIMARY KEY", "id TEXT DEFAULT (nosuch()) PRIMARY KEY") + ";" +
		reworded("user_feedback", "user_id TEXT", "user_id TEXT CHECK ("+forever+" = 0)"))
	before := l.bytes()
	if e := l.insertRow(answer(1, nil)); e.Result != "failed" || !strings.Contains(e.Reason, `the table "user_feedback", into which no row goes: `) {
		t.Errorf("%s, %q", e.Result, e.Reason)
	}
	l.Release(audit)
	if !bytes.Equal(before, l.bytes()) {
		t.Error("the file was changed")
	}
	if seen := l.query("SELECT id FROM audit_logs"); seen.Result != "done" {
		t.Errorf("a look: %s, %q", seen.Result, seen.Reason)
	}
}

// Objects of others that no row touches are allowed.
func TestWhatNoRowTouchesMayStand(t *testing.T) {
	l := newMirror(t)
	l.hostile("CREATE TABLE mine (a TEXT DEFAULT (lower('X')) CHECK (substr(a, 1) <> ''), b AS (a || a)); CREATE INDEX mine_a ON mine (lower(a)) WHERE a > 0;" +
		"CREATE UNIQUE INDEX more ON audit_logs (id COLLATE nocase DESC, \"date\"); CREATE INDEX more_still ON user_feedback (impact_summary)")
	l.must("done", task(1))
	l.must("done", answer(1, task(1).ID))
}

func TestWhatStandsBesideADatabaseIsItsOwn(t *testing.T) {
	const alone = " has 2 names: make a copy of it, and give that the name"
	for name, tt := range map[string]struct {
		make func(l *mirror, victim string) error
		want string
	}{
		"a second name":                      {func(l *mirror, victim string) error { return os.Link(l.path(audit), l.path("second.db")) }, audit + alone},
		"another's file as log":              {func(l *mirror, victim string) error { return os.Link(victim, l.path(audit+"-wal")) }, audit + "-wal" + alone},
		"another's file as index of the log": {func(l *mirror, victim string) error { return os.Link(victim, l.path(audit+"-shm")) }, audit + "-shm" + alone},
		"another's file as journal":          {func(l *mirror, victim string) error { return os.Link(victim, l.path(audit+"-journal")) }, audit + "-journal" + alone},
		"ten gigabytes":                      {func(l *mirror, victim string) error { return os.Truncate(l.path(audit), 10<<30) }, audit + " has 10737418240 bytes, expected at most 268435456"},
		"a log of ten gigabytes": {func(l *mirror, victim string) error {
			if err := os.WriteFile(l.path(audit+"-wal"), nil, 0o666); err != nil {
				return err
			}
			return os.Truncate(l.path(audit+"-wal"), 10<<30)
		}, audit + "-wal has 10737418240 bytes"},
		"a folder of many": {func(l *mirror, victim string) error {
			if err := os.Rename(l.path(".mso-context"), l.path("real")); err != nil {
				return err
			}
			return os.Symlink("real", l.path(".mso-context"))
		}, ".mso-context is a link, and placet follows none"},
		"a journal that names another's file": {(*mirror).journal, audit + "-journal belongs to a transaction over several databases"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newMirror(t)
			l.must("done", task(7))
			l.Release(audit)
			victim, precious := filepath.Join(l.root, "precious-mj000000900"), l.path(audit+"-journal")+"\x00"
			if err := os.WriteFile(victim, []byte(precious), 0o666); err != nil {
				t.Fatal(err)
			}
			if err := tt.make(l, victim); err != nil {
				t.Fatal(err)
			}
			for _, e := range []engine.Ended{l.query("SELECT id FROM audit_logs"), l.insertRow(task(1))} {
				if e.Result != "failed" || !strings.Contains(e.Reason, tt.want) {
					t.Errorf("%s, %q, want %q", e.Result, e.Reason, tt.want)
				}
			}
			if body, err := os.ReadFile(victim); err != nil || string(body) != precious {
				t.Errorf("the other's file: %q, %v", body, err)
			}
			for _, suffix := range append([]string{""}, beside...) {
				_ = os.Remove(l.path(audit + suffix))
			}
			_ = os.Rename(l.path("real"), l.path("gone"))
			_ = os.Remove(l.path(".mso-context"))
			_ = os.Mkdir(l.path(".mso-context"), 0o777)
			l.must("done", task(1))
		})
	}
}

// journal leaves the journal of a killed program, as one of several: a program that
// rolls it back deletes the file named in it.
func (l *mirror) journal(victim string) error {
	o := l.other()
	o.must("PRAGMA journal_mode=DELETE", "PRAGMA cache_size=1", "BEGIN IMMEDIATE")
	for n := range 40 {
		o.must(fmt.Sprintf("INSERT INTO tags (name) VALUES ('%d%s')", n, strings.Repeat("x", 2000)))
	}
	o.kill()
	file, err := os.OpenFile(l.path(audit+"-journal"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	var sum uint32
	for _, c := range []byte(victim) {
		sum += uint32(c)
	}
	end := append(binary.BigEndian.AppendUint32(nil, 0x40000000/4096+1), victim...)
	end = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(end, uint32(len(victim))), sum)
	_, err = file.Write(append(end, superJournal...))
	return err
}

// The cost of one database must not make another one fail.
func TestADatabaseThatTakesAllMemoryLeavesTheOthers(t *testing.T) {
	if testing.Short() {
		t.Skip("one call after the other: there is nothing for the race detector")
	}
	hungry, l := newMirror(t), newMirror(t)
	hungry.hostile(many(900, wide))
	hungry.work = 20 * time.Second // its memory ends before its time
	hungry.patience = hungry.work
	ends := make(chan engine.Ended, 1)
	go func() { ends <- hungry.insertRow(task(1)) }()
	for n := range 200 {
		l.must("done", task(n))
	}
	if e := <-ends; e.Result != "failed" || !strings.Contains(e.Reason, "has SQLite take more than 33554432 bytes of memory") {
		t.Errorf("%s, %q", e.Result, e.Reason)
	}
}

func TestAnOlderFullTextIndexLacksColumnsAlone(t *testing.T) {
	const ours = "CREATE VIRTUAL TABLE x_fts USING fts5(\n  id, name, notes, content='x', content_rowid='rowid')"
	for theirs, want := range map[string]bool{
		ours: true,
		"CREATE VIRTUAL TABLE x_fts USING fts5( id,notes , content='x', content_rowid='rowid' )":                     true,
		"CREATE VIRTUAL TABLE x_fts USING fts5(name, id, notes, content='x', content_rowid='rowid')":                 false,
		"CREATE VIRTUAL TABLE x_fts USING fts5(id, name, notes, more, content='x', content_rowid='rowid')":           false,
		"CREATE VIRTUAL TABLE x_fts USING fts5(id, name, notes, content='x')":                                        false,
		"CREATE VIRTUAL TABLE x_fts USING fts5(id, name, notes, content_rowid='rowid')":                              false,
		"CREATE VIRTUAL TABLE x_fts USING fts5(id, name, notes, content='y', content_rowid='rowid')":                 false,
		"CREATE VIRTUAL TABLE x_fts USING fts4(id, name, notes, content='x', content_rowid='rowid')":                 false,
		"CREATE VIRTUAL TABLE x_fts USING fts5(id, name, notes, content='x', content_rowid='rowid', prefix='1 2')":   false,
		"CREATE VIRTUAL TABLE x_fts USING fts5(id, /* ) */ name, notes, content='x', content_rowid='rowid') -- more": false,
	} {
		if got := isOlderIndex(ours, theirs); got != want {
			t.Errorf("%s: %v, want %v", theirs, got, want)
		}
	}
}

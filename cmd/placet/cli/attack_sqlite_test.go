package cli_test

import (
	bytes4 "encoding/binary" // the package has a variable of that name
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// sqliteAttacks are audit databases that come with a repository. Each is made so that placet
// would do something for it, or pay for it. Another cycle's database is sound each time, and a
// bad database does not delay that cycle.
var sqliteAttacks = []attack{
	{"sqlite-trigger", "A trigger of the database deletes rows with placet's own connection when placet inserts one.",
		hostileDatabase("CREATE TRIGGER mine AFTER INSERT ON user_feedback BEGIN DELETE FROM audit_logs; END", `the trigger "mine"`)},
	{"sqlite-trigger-name", "A trigger has the name of one of upstream's and another body, which does not end.",
		hostileDatabase("DROP TRIGGER user_feedback_ai; CREATE TRIGGER user_feedback_ai AFTER INSERT ON user_feedback "+endless+"CREATE TRIGGER audit_logs_ai AFTER INSERT ON audit_logs "+endless,
			"which does what upstream's schema does not")},
	{"sqlite-view", "A view that does not end stands where a table is expected.",
		hostileDatabase("DROP TRIGGER user_feedback_ai; ALTER TABLE user_feedback RENAME TO away; CREATE VIEW user_feedback AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT away.* FROM n, away", `the view "user_feedback"`)},
	{"sqlite-generated", "A generated column computes for hours, in one step that nothing interrupts.",
		hostileDatabase("ALTER TABLE user_feedback ADD COLUMN mine AS ("+forHours+")", `the table "user_feedback", which computes the column "mine"`)},
	{"sqlite-rule", "A rule of a column does the same.",
		hostileDatabase("ALTER TABLE user_feedback ADD COLUMN mine CHECK (mine IS NULL OR "+forHours+" = 0) DEFAULT ('x')", `the table "user_feedback", which calls "zeroblob(1)"`)},
	{"sqlite-index", "An index over an expression does the same.",
		hostileDatabase("CREATE INDEX mine ON user_feedback (CASE WHEN id > '' THEN "+forHours+" END)", `the index "mine"`)},
	{"sqlite-virtual", "A virtual table runs code that upstream has no use for.",
		hostileDatabase("CREATE VIRTUAL TABLE mine USING fts5 (a, tokenize = 'trigram')", `the virtual table "mine"`)},
	{"sqlite-schema", "A schema of a hundred thousand tables takes all time and memory before the first query.",
		hostileDatabase(`PRAGMA writable_schema=ON; INSERT INTO sqlite_schema WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100000)
			SELECT 'table', 't' || i, 't' || i, 2, 'CREATE TABLE t' || i || ' (a, b, c, d, e, f, g, h)' FROM n`, "keeps SQLite at work for longer than it may")},
	{"sqlite-size", "A sparse file of ten gigabytes says that it is a database.",
		hostileFile(func(p *place, db, _ string) error { return os.Truncate(db, 10<<30) }, "has 10737418240 bytes, expected at most")},
	{"sqlite-link", "The database is a second name of another one.",
		hostileFile(func(p *place, db, _ string) error { return os.Link(db, db+".second") }, "has 2 names")},
	{"sqlite-log", "The log beside the database is a second name of somebody's file.",
		hostileFile(func(p *place, db, precious string) error { return os.Link(precious, db+"-wal") }, "audit_global.db-wal has 2 names")},
	{"sqlite-log-link", "The log beside the database is a link to somebody's file.",
		hostileFile(func(p *place, db, precious string) error { return os.Symlink(precious, db+"-wal") }, "audit_global.db-wal is a link")},
	{"sqlite-journal", "The journal beside the database has SQLite open a pipe, and wait there for ever.",
		hostileFile(func(p *place, db, _ string) error {
			at := filepath.Join(p.root, "x-mj000000900")
			if err := syscall.Mkfifo(at, 0o666); err != nil {
				return err
			}
			return os.WriteFile(db+"-journal", journalOf(at), 0o666)
		}, "audit_global.db-journal belongs to a transaction over several databases")},
}

// endless is the body of a trigger.
const endless = "BEGIN INSERT INTO evidence (decision_id, type, ref_path) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, i, i FROM n; END;"

// forHours is what SQLite computes in one step, which nothing interrupts.
const forHours = "instr(hex(zeroblob(400000000)), hex(zeroblob(200000000)) || '1')"

// hostileDatabase attacks with a database as upstream makes it, and more.
func hostileDatabase(script, want string) func(*testing.T, *place) {
	return hostileFile(func(p *place, _, _ string) error {
		db := p.database(nearRoot + "/audit_global.db")
		defer db.Close()
		_, err := db.Exec(script)
		return err
	}, want)
}

const (
	nearNext = nearRoot + "/active/20260303-msowd-near/optimizer/"
	farNext  = farRoot + "/active/20260303-msowd-far/optimizer/"
)

// hostileFile attacks with changes of such a database, and files beside it, while a cycle waits
// for its answer. precious is somebody's file.
func hostileFile(attack func(p *place, db, precious string) error, want string) func(*testing.T, *place) {
	return func(t *testing.T, p *place) {
		const near, far = nearRoot + "/audit_global.db", farRoot + "/audit_global.db"
		p.write("placet.toml", "")
		p.tables(near)
		p.newCycle(nearRun)
		p.trigger(nearRun, "near")
		p.bounded("once")
		folder, id := p.asked(nearRun)

		p.write("precious", "somebody's file")
		if err := attack(p, filepath.Join(p.root, near), filepath.Join(p.root, "precious")); err != nil {
			t.Fatal(err)
		}
		before := p.few(near)
		p.answer(folder, id, judgements[byFile])
		for dir, workflow := range map[string]string{nearNext: "next", farNext: "far"} {
			p.newCycle(dir)
			p.trigger(dir, workflow)
		}
		p.bounded("once") // looks into both for the cycles that begin, and a row
		p.until("the row was tried", func() bool {
			return p.row(nearRun, "user_feedback").Tries > 0 || p.bounded("once") == "-"
		})
		if row := p.row(nearRun, "user_feedback"); row.Settled() || !strings.Contains(string(row.LastError), want) {
			t.Errorf("the row is %s: %q, want %q", row.Outcome, row.LastError, want)
		}
		if row := p.row(farNext, "audit_logs"); row.Outcome != "inserted" {
			t.Errorf("the row for the sound database is %s: %s", row.Outcome, row.LastError)
		}
		if out := p.bounded("explain", "20260302-msowd-near"); !strings.Contains(out, want) {
			t.Errorf("explain does not say why:\n%s", out)
		}
		if p.few(near) != before || p.read("precious") != "somebody's file" {
			t.Error("something of the attacker's ran")
		}

		for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
			if err := os.Remove(filepath.Join(p.root, near+suffix)); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
		}
		p.until("all rows are in", func() bool {
			return p.settled(nearRun) && p.row(nearNext, "audit_logs").Settled() || p.bounded("once") == "-"
		})
		p.verifyDatabase(near, []string{nearRun, nearNext})
		p.verifyDatabase(far, []string{farNext})
	}
}

// journalOf returns a journal for a transaction that also concerns another file.
func journalOf(name string) []byte {
	body := append([]byte("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"), make([]byte, 504)...)
	bytes4.BigEndian.PutUint32(body[16:], 100) // pages, of a sector and a size
	bytes4.BigEndian.PutUint32(body[20:], 512)
	bytes4.BigEndian.PutUint32(body[24:], 4096)
	var sum uint32
	for _, c := range []byte(name) {
		sum += uint32(c)
	}
	body = append(bytes4.BigEndian.AppendUint32(body, 0x40000000/4096+1), name...)
	body = bytes4.BigEndian.AppendUint32(bytes4.BigEndian.AppendUint32(body, uint32(len(name))), sum)
	return append(body, body[:8]...)
}

// bounded runs placet, which must end, with at most half a gigabyte of memory.
func (p *place) bounded(args ...string) string {
	p.t.Helper()
	limited := []string{"-c", `ulimit -d 524288; exec "$0" "$@"`, placetBinary(p.t), "-C", p.root}
	cmd := command(p.t, "sh", append(limited, args...)...)
	cmd.Env = p.env()
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || !slices.Contains([]int{0, 1, 3}, cmd.ProcessState.ExitCode()) {
		p.t.Fatalf("placet %v: %v: %s", args, err, out)
	}
	return string(out)
}

// few are a file's size and its first bytes.
func (p *place) few(name string) string {
	p.t.Helper()
	file, err := os.Open(filepath.Join(p.root, name))
	if err != nil {
		p.t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		p.t.Fatal(err)
	}
	first := make([]byte, min(info.Size(), 1<<20))
	if _, err := file.ReadAt(first, 0); err != nil {
		p.t.Fatal(err)
	}
	return fmt.Sprint(info.Size(), string(first))
}

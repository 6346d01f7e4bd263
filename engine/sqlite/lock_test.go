package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"placet/engine"
)

// locked is the message about a database that another program has locked.
const locked = "the database " + audit + " is locked by another program: let it end its transaction, or close it"

func TestALockedDatabaseKeepsTheRowUntilItIsFree(t *testing.T) {
	for mode, readable := range map[string]bool{"WAL": true, "DELETE": false} {
		t.Run(mode, func(t *testing.T) {
			l := newMirror(t)
			l.must("done", task(1))
			l.Release(audit)
			o := l.other()
			o.must("PRAGMA journal_mode="+mode, "BEGIN EXCLUSIVE")
			if reason := l.must("failed", task(2)); reason != locked {
				t.Errorf("reason %q", reason)
			}
			if l.open[audit] != nil {
				t.Error("a connection that did not work is kept")
			}
			if readable {
				l.must("present", task(1)) // nothing is to be written
			}
			if e := l.query("SELECT count(*) AS n FROM audit_logs"); readable != (string(e.Output) == `{"q":[{"n":1}]}`) || readable != (e.Result == "done") || !readable && e.Reason != locked {
				t.Errorf("a look: %s, %q, %s", e.Result, e.Reason, e.Output)
			}
			o.must("COMMIT")
			l.must("done", task(2))
			l.must("present", task(2))
		})
	}
}

// Waiting for a lock ends when the lock does: the other process's next statement
// runs while the row waits.
func TestARowWaitsForALock(t *testing.T) {
	l := newMirror(t)
	l.busy = busyTimeout
	l.must("done", task(1))
	o := l.other()
	o.must("BEGIN IMMEDIATE")
	ends := make(chan engine.Ended)
	go func() { ends <- l.insertRow(task(2)) }()
	o.must("DELETE FROM tags", "COMMIT")
	if e := <-ends; e.Result != "done" {
		t.Errorf("%s, %q", e.Result, e.Reason)
	}
}

// A program that is killed in the middle of a transaction leaves a database that
// holds what was committed before, for queries and for rows.
func TestWhatAKilledProgramLeftIsTakenBack(t *testing.T) {
	for _, mode := range []string{"WAL", "DELETE"} {
		t.Run(mode, func(t *testing.T) {
			l := newMirror(t)
			l.must("done", task(1))
			l.Release(audit)
			o := l.other()
			o.must("PRAGMA journal_mode="+mode, "PRAGMA cache_size=1", "UPDATE audit_logs SET intent = 'kept'", "BEGIN IMMEDIATE")
			for n := range 40 { // more than the cache holds: pages go to the disk uncommitted
				o.must(fmt.Sprintf("INSERT INTO tags (name) VALUES ('%d%s')", n, strings.Repeat("x", 2000)))
			}
			o.kill()
			if n := l.count("SELECT (SELECT count(*) FROM tags) + (SELECT count(*) FROM audit_logs WHERE intent = 'kept')"); n != 1 {
				t.Errorf("a look sees %d rows, want the committed one", n)
			}
			l.must("done", task(2))
			if got := l.rows("SELECT integrity_check AS c FROM pragma_integrity_check"); got[0]["c"] != "ok" {
				t.Errorf("integrity: %v", got)
			}
		})
	}
}

// Two processes insert rows into one database that neither has made yet.
func TestTwoProcessesWriteSideBySide(t *testing.T) {
	l := newMirror(t)
	l.busy = busyTimeout
	const each = 40
	var others []chan map[string]int
	for p := range 2 {
		ends := make(chan map[string]int)
		others = append(others, ends)
		w := l.writer(p*each, each)
		go func() {
			words := map[string]int{}
			for range each {
				words[w.line()]++
			}
			ends <- words
		}()
	}
	for p, ends := range others {
		if words := <-ends; words["done"] != each {
			t.Errorf("process %d: %v", p, words)
		}
	}
	if n := l.count("SELECT count(*) FROM audit_logs"); n != 2*each {
		t.Errorf("%d rows, want %d", n, 2*each)
	}
	for n := range 2 * each {
		l.must("present", task(n))
	}
}

// placet dies after it inserted a row and before it reported that: the row is
// present when it is inserted again.
func TestARowThatNobodyWasToldOfIsPresent(t *testing.T) {
	l := newMirror(t)
	w := l.writer(0, 1<<20)
	for range 3 {
		if said := w.line(); said != "done" {
			t.Fatal(said)
		}
	}
	w.kill()
	for n := range 3 {
		l.must("present", task(n))
	}
	n := l.count("SELECT count(*) FROM audit_logs")
	l.must("present", task(n-1))
	l.must("done", task(n))
}

// writer starts another placet that inserts tasks from a number on and reports how
// each ended.
func (l *mirror) writer(from, count int) *other {
	l.t.Helper()
	return l.program("writer", fmt.Sprintf("FROM=%d", from), fmt.Sprintf("COUNT=%d", count))
}

func (o *other) line() string {
	if !o.out.Scan() {
		return "the other process is gone"
	}
	return o.out.Text()
}

// playWriter is that placet. It tries again if a row failed, like a machine.
func playWriter() {
	d := New(os.Getenv("ROOT"))
	var from, count int
	if _, err := fmt.Sscan(os.Getenv("FROM")+" "+os.Getenv("COUNT"), &from, &count); err != nil {
		panic(err)
	}
	for n := from; n < from+count; n++ {
		row := task(n)
		e := engine.Ended{Result: rowFailed}
		for tries := 0; e.Result == rowFailed && tries < 5; tries++ {
			e = d.Do(engine.Database{Path: audit, Schema: "optimizer/audit", Columns: auditColumns, Insert: &row})
		}
		fmt.Println(strings.TrimSpace(e.Result + " " + e.Reason))
	}
	d.Release(audit)
}

// The file that has the name now is the database, whatever had it before.
func TestAReplacedDatabaseGetsTheNextRow(t *testing.T) {
	l := newMirror(t)
	l.must("done", task(1))
	if err := os.Rename(l.path(audit), l.path("away.db")); err != nil {
		t.Fatal(err)
	}
	l.must("done", task(2)) // made anew
	if n := l.count("SELECT count(*) FROM audit_logs"); n != 1 {
		t.Errorf("%d rows in the new one, want 1", n)
	}
	if err := os.Remove(l.path(audit)); err != nil {
		t.Fatal(err)
	}
	l.must("done", task(3))
	for _, suffix := range beside { // gone with their database, else they are another's
		if err := os.Remove(l.path(audit + suffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	if err := os.Rename(l.path("away.db"), l.path(audit)); err != nil {
		t.Fatal(err)
	}
	l.must("done", task(4))
	l.Release(audit)
	if got := l.rows("SELECT integrity_check AS c FROM pragma_integrity_check"); got[0]["c"] != "ok" {
		t.Errorf("integrity: %v", got)
	}
}

// A row was not inserted if the database lost its name meanwhile.
func TestARowInAFileWithoutANameHasFailed(t *testing.T) {
	for _, mode := range []string{"WAL", "DELETE"} {
		t.Run(mode, func(t *testing.T) {
			l := newMirror(t)
			l.must("done", task(1))
			l.Release(audit)
			l.script("PRAGMA journal_mode=" + mode)
			c, err := l.writable(t.Context(), engine.Database{Path: audit, Schema: "optimizer/audit"})
			if err != nil {
				t.Fatal(err)
			}
			if err := l.checkIdentity(audit, c); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(l.path(audit), l.path("away.db")); err != nil {
				t.Fatal(err)
			}
			err = c.addRow(t.Context(), task(2)) // without a log SQLite sees it itself
			if err == nil {
				err = l.checkIdentity(audit, c)
			}
			if got, want := l.explain(engine.Database{Path: audit}, err), "the database "+audit+" was replaced while it was open"; got != want {
				t.Errorf("%q, want %q", got, want)
			}
			l.closeFile(audit)
		})
	}
}

func TestATriggerThatDoesNotEndIsGivenUp(t *testing.T) {
	l := newMirror(t)
	l.must("done", task(1))
	l.script(`INSERT INTO tags (name) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 500) SELECT i FROM n;
		DROP TRIGGER user_feedback_ai;
		CREATE TRIGGER user_feedback_ai AFTER INSERT ON user_feedback BEGIN
			INSERT INTO evidence (decision_id, type, ref_path) SELECT 'DEC-1', 'x', '' FROM tags AS a, tags AS b, tags AS c, tags AS d WHERE a.id + b.id + c.id + d.id < 0;
		END`)
	l.work = time.Second
	l.Release(audit)
	if reason := l.must("failed", answer(1, nil)); !strings.Contains(reason, "keeps SQLite at work for longer than it may, 1s at a stretch: move the file away") {
		t.Errorf("reason %q", reason)
	}
	if n := l.count("SELECT count(*) FROM user_feedback"); n != 0 {
		t.Errorf("%d rows", n)
	}
	l.must("done", task(2)) // which no such trigger follows
}

// Another database is put over ours while ours is open. Ours keeps its rows under
// its other name, and its log is not taken for the log of the new one.
func TestADatabasePutOverOursIsNotMixedWithIt(t *testing.T) {
	for name, next := range map[string]bool{"then a row": true, "then nothing": false} {
		t.Run(name, func(t *testing.T) {
			l := newMirror(t)
			l.must("done", task(100))
			l.script("INSERT INTO tags (name) VALUES ('other')")
			l.Release(audit)
			if err := os.Rename(l.path(audit), l.path("other.db")); err != nil {
				t.Fatal(err)
			}
			l.must("done", task(1))
			l.must("done", task(2)) // both in the log alone
			if err := os.Link(l.path(audit), l.path("ours.db")); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(l.path("other.db"), l.path(audit)); err != nil {
				t.Fatal(err)
			}
			now := "TASK-20260302-00000064 other ok"
			if next {
				l.must("done", task(3))
				now = "TASK-20260302-00000003," + now
			}
			l.Release(audit)
			for name, want := range map[string]string{audit: now, "ours.db": "TASK-20260302-00000001,TASK-20260302-00000002 none ok"} {
				e := l.Do(engine.Database{Path: name, Schema: "optimizer/audit", Select: []engine.Query{{Name: "q", SQL: `SELECT (SELECT group_concat(id) FROM (SELECT id FROM audit_logs ORDER BY id))
				|| ' ' || ifnull((SELECT name FROM tags), 'none') || ' ' || (SELECT integrity_check FROM pragma_integrity_check) AS c`}}})
				if got := string(e.Output); got != `{"q":[{"c":"`+want+`"}]}` {
					t.Errorf("%s: %s, %q, %s", name, e.Result, e.Reason, got)
				}
				l.Release(name)
			}
		})
	}
}

// A row that another process inserts while ours waits for its lock counts as ours
// if it is equal.
func TestARowOfAnotherProcessIsPresentOrRefused(t *testing.T) {
	l := newMirror(t)
	l.busy = busyTimeout
	l.must("done", task(0))
	o := l.other()
	const insert = "INSERT INTO audit_logs (id, date, task_name, mode, action) VALUES ('TASK-%d', 'd', 't', 'm', 'a')"
	for n := range 10 {
		row := engine.Row{Table: "audit_logs", ID: fmt.Sprintf("TASK-%d", n), Values: []engine.Field{
			{Name: "id", Value: fmt.Sprintf("TASK-%d", n)}, {Name: "date", Value: "d"}, {Name: "task_name", Value: "t"},
			{Name: "mode", Value: "m"}, {Name: "action", Value: []string{"a", "b"}[n%2]},
		}}
		o.must("BEGIN IMMEDIATE", fmt.Sprintf(insert, n))
		ends := make(chan engine.Ended)
		go func() { ends <- l.insertRow(row) }()
		for i := range 20 {
			o.must(fmt.Sprintf("INSERT INTO tags (name) VALUES ('%d of %d')", i, n))
		}
		o.must("COMMIT")
		e := <-ends
		if n%2 == 0 && e.Result != "present" || n%2 == 1 && (e.Result != "refused" || !strings.HasSuffix(e.Reason, " stands with other values: action")) {
			t.Errorf("row %d: %s, %q", n, e.Result, e.Reason)
		}
	}
}

// Another program may make the database in its own way between the look and the
// lock: placet then does not change it.
func TestADatabaseMadeMeanwhileIsNotFilled(t *testing.T) {
	l := newMirror(t)
	l.script("CREATE TABLE other (x)")
	c, err := connect(t.Context(), l.path(audit), nil, busyTimeout)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	if err := c.transact(t.Context(), func() error { return c.createTables(t.Context(), "CREATE TABLE ours (x)", nil) }); err != nil {
		t.Fatal(err)
	}
	if names := l.names("table"); len(names) != 1 || names[0] != "other" {
		t.Errorf("tables %v", names)
	}
}

// A link that takes the name before the database is made is not followed.
func TestALinkThatComesMeanwhileIsNotFollowed(t *testing.T) {
	l := newMirror(t)
	if err := os.Symlink("target.db", l.path(audit)); err != nil {
		t.Fatal(err)
	}
	_, err := l.createFile(engine.Database{Path: audit, Schema: "optimizer/audit"}, fs.ErrNotExist)
	if err == nil || !strings.Contains(err.Error(), "is a link") {
		t.Errorf("error %v", err)
	}
	if files := l.files(); len(files) != 1 {
		t.Errorf("files %v", files)
	}
}

// placet waits for a database that another program is making.
func TestADatabaseThatIsBeingMadeIsWaitedFor(t *testing.T) {
	l := newMirror(t)
	l.busy = busyTimeout
	o := l.other()
	o.must("BEGIN IMMEDIATE", "CREATE TABLE other (x)")
	ends := make(chan engine.Ended)
	go func() { ends <- l.insertRow(task(1)) }()
	for range 40 {
		o.must("INSERT INTO other VALUES (1)")
	}
	o.must("COMMIT")
	if e := <-ends; e.Result != "failed" || !strings.HasSuffix(e.Reason, ": table audit_logs is missing: "+migrate) {
		t.Errorf("%s, %q", e.Result, e.Reason)
	}
}

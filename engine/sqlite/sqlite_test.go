package sqlite

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
)

func TestARowMakesTheDatabase(t *testing.T) {
	l := newMirror(t)
	e := l.insertRow(task(1))
	want := engine.Ended{Result: "done"}
	if diff := cmp.Diff(want, e); diff != "" {
		t.Errorf("end (-want +got):\n%s", diff)
	}
	got := l.rows("SELECT id, date, status, notes, duration_sec, transition_decision, transition_reuse, created_at, context_for_next FROM audit_logs")
	row := map[string]any{
		"id": "TASK-20260302-00000001", "date": "2026-03-02", "status": "success", "notes": nil, "duration_sec": 127.25,
		"transition_decision": 1.0, "transition_reuse": 0.0, "created_at": "2026-03-02 09:14:05", "context_for_next": `{"rationale":["Signal A: …"]}`,
	}
	if diff := cmp.Diff([]map[string]any{row}, got); diff != "" {
		t.Errorf("row (-want +got):\n%s", diff)
	}
	if mode := l.rows("SELECT journal_mode FROM pragma_journal_mode")[0]["journal_mode"]; mode != "wal" {
		t.Errorf("journal_mode %v, want wal", mode)
	}
	l.Release(audit)
	if diff := cmp.Diff([]string{"audit_global.db"}, l.files()); diff != "" {
		t.Errorf("files when nobody uses it (-want +got):\n%s", diff)
	}
}

// files returns the names in the database's folder.
func (l *mirror) files() []string {
	l.t.Helper()
	entries, err := os.ReadDir(l.path(".mso-context"))
	if err != nil {
		l.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestTheSameRowAgainIsPresent(t *testing.T) {
	l := newMirror(t)
	l.must("done", task(1))
	l.must("present", task(1))
	// Others may have changed values that we do not give, because they work with the
	// row.
	o := l.other()
	o.must("UPDATE audit_logs SET notes = 'seen', updated_at = updated_at", "UPDATE audit_logs SET updated_at = '2026-03-02 09:14:05'")
	o.leave()
	l.must("present", task(1))
	reason := l.must("refused", with(with(task(1), "status", "fail"), "duration_sec", 1.5))
	if want := "row TASK-20260302-00000001 of audit_logs stands with other values: status, duration_sec"; reason != want {
		t.Errorf("reason %q, want %q", reason, want)
	}
	l.must("refused", with(task(1), "output_path", "x.md")) // a value where ours was null
	if n := l.count("SELECT count(*) FROM audit_logs WHERE status = 'success' AND notes = 'seen'"); n != 1 {
		t.Errorf("%d rows as they were, want 1", n)
	}
}

func TestWhatTheRulesForbidIsRefused(t *testing.T) {
	l := newMirror(t)
	l.must("done", task(1))
	for name, tt := range map[string]struct {
		row  engine.Row
		want string
	}{
		"CHECK":      {with(task(2), "work_type", "workflow_optimization"), "CHECK constraint failed: work_type"},
		"blank":      {with(task(2), "task_name", "  "), "CHECK constraint failed: length(trim(task_name)) > 0"},
		"id":         {engine.Row{Table: "audit_logs", ID: "X-1", Values: with(task(2), "id", "X-1").Values}, "CHECK constraint failed: id LIKE"},
		"NOT NULL":   {with(task(2), "date", nil), "NOT NULL constraint failed: audit_logs.date"},
		"FK":         {answer(1, "TASK-none"), "FOREIGN KEY constraint failed"},
		"of a child": {answer(1, "TASK-20260302-00000002"), "FOREIGN KEY constraint failed"},
	} {
		reason := l.must("refused", tt.row)
		if !strings.Contains(reason, tt.want) || !strings.HasPrefix(reason, "row "+tt.row.ID+" of "+tt.row.Table+": the rules of "+audit+" forbid it: ") {
			t.Errorf("%s: reason %q, want …%s…", name, reason, tt.want)
		}
	}
	if n := l.count("SELECT (SELECT count(*) FROM audit_logs) + (SELECT count(*) FROM user_feedback) + (SELECT count(*) FROM decisions)"); n != 1 {
		t.Errorf("%d rows, want the first alone", n)
	}
	l.must("done", answer(1, "TASK-20260302-00000001"))
}

func TestALookMakesNothing(t *testing.T) {
	l := newMirror(t)
	if e := l.query("SELECT 1 AS n"); e.Result != "absent" || e.Reason != "" || e.Output != nil {
		t.Errorf("no file: %+v", e)
	}
	if files := l.files(); len(files) != 0 {
		t.Errorf("files %v", files)
	}
	if err := os.Remove(l.path(".mso-context")); err != nil {
		t.Fatal(err)
	}
	if e := l.query("SELECT 1 AS n"); e.Result != "absent" {
		t.Errorf("no folder: %+v", e)
	}
	e := l.insertRow(task(1))
	if want := "the database .mso-context/audit_global.db cannot be made: there is no folder .mso-context"; e.Result != "failed" || e.Reason != want {
		t.Errorf("a row without a folder: %s, %q, want %q", e.Result, e.Reason, want)
	}
}

func TestALookAnswersEveryQueryByName(t *testing.T) {
	l := newMirror(t)
	l.must("done", task(1))
	l.must("done", task(2))
	e := l.Do(engine.Database{Path: audit, Schema: "optimizer/audit", Columns: auditColumns, Select: []engine.Query{
		{Name: "newest", SQL: "SELECT id, date FROM audit_logs WHERE instr(task_name, ?) ORDER BY id DESC LIMIT ?", Args: []any{"masking", 1}},
		{Name: "none", SQL: "SELECT * FROM user_feedback"},
		{Name: "kinds", SQL: "SELECT x'ff41' AS b, 9e999 AS inf, 1 AS i, 0.5 AS f, NULL AS n, created_at FROM audit_logs WHERE id = ?", Args: []any{task(1).ID}},
	}})
	want := `{"kinds":[{"b":"` + "\uFFFD" + `A","created_at":"2026-03-02 09:14:05","f":0.5,"i":1,"inf":null,"n":null}],` +
		`"newest":[{"date":"2026-03-02","id":"TASK-20260302-00000002"}],"none":[]}`
	if e.Result != "done" || string(e.Output) != want {
		t.Errorf("%s, %q\n%s\nwant\n%s", e.Result, e.Reason, e.Output, want)
	}
	for text, want := range map[string]string{
		"SELECT nosuch FROM audit_logs":               "the database " + audit + ": query q: SQL logic error: no such column: nosuch",
		"SELECT zeroblob(2 * 1024 * 1024) AS b":       "the database " + audit + ": query q: the rows are larger than 1048576 bytes together",
		"INSERT INTO tags (name) VALUES ('x')":        "the database " + audit + ": query q: SQL logic error: near \"INSERT\": syntax error",
		"SELECT 1 FROM nosuch":                        "the database " + audit + ": query q: SQL logic error: no such table: nosuch",
		"SELECT abs(-9223372036854775807 - 1) AS sum": "the database " + audit + ": query q: SQL logic error: integer overflow",
	} {
		if e := l.query(text); e.Result != "failed" || !strings.HasPrefix(e.Reason, want) {
			t.Errorf("%s: %s, %q, want %q", text, e.Result, e.Reason, want)
		}
	}
}

func TestEveryConnectionHasItsPragmas(t *testing.T) {
	l := newMirror(t)
	l.touch()
	c, err := connect(t.Context(), l.path(audit), nil, busyTimeout)
	if err != nil {
		t.Fatal(err)
	}
	for pragma, want := range map[string]int{"foreign_keys": 1, "recursive_triggers": 0, "busy_timeout": 5000, "trusted_schema": 0, "synchronous": 2} {
		var got int
		if err := c.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %d, want %d, error %v", pragma, got, want, err)
		}
	}
	c.close()
}

// A database that somebody else made accepts our rows and is not altered.
func TestAnotherToolsDatabaseTakesTheRowsAndIsNotAltered(t *testing.T) {
	l := newMirror(t)
	l.run(t, "testdata/pagealone.sql")
	schema := l.rows("SELECT type, name, sql FROM sqlite_schema ORDER BY name")
	l.must("done", task(1))
	l.must("done", answer(1, task(1).ID))
	l.must("present", answer(1, task(1).ID))
	l.must("refused", with(task(2), "status", "completed"))
	if diff := cmp.Diff(schema, l.rows("SELECT type, name, sql FROM sqlite_schema ORDER BY name")); diff != "" {
		t.Errorf("schema (-before +after):\n%s", diff)
	}
	if mode := l.rows("SELECT journal_mode FROM pragma_journal_mode")[0]["journal_mode"]; mode != "delete" {
		t.Errorf("journal_mode %v, want delete as before", mode)
	}
	if n := l.count("SELECT (SELECT count(*) FROM evidence) + (SELECT count(*) FROM impacts)"); n != 2 {
		t.Errorf("%d rows made by the trigger, want 2", n)
	}
}

// run makes the database from a script of the tests.
func (l *mirror) run(t *testing.T, name string) {
	t.Helper()
	script, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Fatal(err)
	}
	l.script(string(script))
}

// script runs SQL on a connection of its own.
func (l *mirror) script(text string) {
	l.t.Helper()
	l.touch()
	c, err := connect(l.t.Context(), l.path(audit), nil, busyTimeout)
	if err != nil {
		l.t.Fatal(err)
	}
	defer c.close()
	if err := c.exec(l.t.Context(), text); err != nil {
		l.t.Fatal(err)
	}
}

func TestAMissingColumnIsNamed(t *testing.T) {
	l := newMirror(t)
	l.script("CREATE TABLE audit_logs (id TEXT PRIMARY KEY, date DATE, Task_Name TEXT, status TEXT); CREATE TABLE other (x)")
	for _, e := range []engine.Ended{
		l.insertRow(task(1)),
		l.Do(engine.Database{Path: audit, Schema: "optimizer/audit", Columns: auditColumns, Hint: migrate, Select: []engine.Query{{Name: "q", SQL: "SELECT 1"}}}),
	} {
		if want := "the database " + audit + ": column work_type is missing: migrate with upstream's init_db"; e.Result != "failed" || e.Reason != want {
			t.Errorf("%s, %q, want %q", e.Result, e.Reason, want)
		}
	}
	l.script("ALTER TABLE audit_logs ADD COLUMN work_type TEXT; DROP TABLE other")
	if e := l.insertRow(answer(1, nil)); !strings.HasSuffix(e.Reason, ": column mode is missing: migrate with upstream's init_db") && !strings.HasSuffix(e.Reason, ": table user_feedback is missing: migrate with upstream's init_db") {
		t.Errorf("%s, %q", e.Result, e.Reason)
	}
	l.script("DROP TABLE audit_logs; CREATE TABLE other (x)")
	if e := l.insertRow(task(1)); e.Result != "failed" || !strings.HasSuffix(e.Reason, ": table audit_logs is missing: migrate with upstream's init_db") {
		t.Errorf("%s, %q", e.Result, e.Reason)
	}
}

// A file stays open for the next row, and is closed when it is released.
func TestNothingIsLeftOpenOnceAFileRests(t *testing.T) {
	l := newMirror(t)
	before := runtime.NumGoroutine()
	l.must("done", task(0))
	conn := l.open[audit]
	ends := make(chan engine.Ended)
	const many = 200
	for n := range many {
		go func() { ends <- l.insertRow(task(n)) }()
	}
	words := map[string]int{}
	for range many {
		e := <-ends
		words[e.Result+e.Reason]++
	}
	if words["done"] != many-1 || words["present"] != 1 {
		t.Errorf("ends %v, want %d done, 1 present", words, many-1)
	}
	if l.open[audit] != conn {
		t.Error("the file was opened again for the next row")
	}
	if n := l.count("SELECT count(*) FROM audit_logs"); n != many {
		t.Errorf("%d rows, want %d", n, many)
	}
	l.Release(audit)
	if len(l.open) != 0 {
		t.Errorf("%d files in use", len(l.open))
	}
	for runtime.NumGoroutine() > before { // the pools' own end when they are closed
		runtime.Gosched()
	}
	if diff := cmp.Diff([]string{"audit_global.db"}, l.files()); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// Rows that arrive while a file is being released use the open file, or open it
// again.
func TestRestingBetweenRowsLosesNothing(t *testing.T) {
	l := newMirror(t)
	ends := make(chan engine.Ended)
	const many = 40
	for n := range many {
		go func() {
			e := l.insertRow(task(n))
			l.Release(audit)
			ends <- e
		}()
	}
	for range many {
		if e := <-ends; e.Result != "done" {
			t.Errorf("%s, %q", e.Result, e.Reason)
		}
	}
	if n := l.count("SELECT count(*) FROM audit_logs"); n != many {
		t.Errorf("%d rows, want %d", n, many)
	}
	l.Release(audit)
	if diff := cmp.Diff([]string{"audit_global.db"}, l.files()); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// A database that replaced another one lacks the row to which the next row refers.
// That row is inserted again, and only then.
func TestARowThatAnotherNamesGoesInBeforeItWhereItIsLost(t *testing.T) {
	l := newMirror(t)
	first, row := task(1), answer(1, task(1).ID)
	q := engine.Database{Path: audit, Schema: "optimizer/audit", Columns: auditColumns, Hint: migrate, Insert: &row, First: &first}
	for _, want := range []string{"done", "present"} {
		if e := l.Do(q); e.Result != want {
			t.Fatalf("%s, %q, want %s", e.Result, e.Reason, want)
		}
	}
	if n := l.count("SELECT count(*) FROM user_feedback JOIN audit_logs ON audit_logs.id = related_audit_id"); n != 1 {
		t.Errorf("%d rows that name theirs", n)
	}
	bad, other := with(task(2), "status", "nonsense"), answer(2, task(2).ID)
	q.First, q.Insert = &bad, &other
	if e := l.Do(q); e.Result != "refused" || !strings.Contains(e.Reason, "FOREIGN KEY") {
		t.Errorf("%s, %q: a row whose own is forbidden", e.Result, e.Reason)
	}
	if n := l.count("SELECT (SELECT count(*) FROM audit_logs) + (SELECT count(*) FROM user_feedback)"); n != 2 {
		t.Errorf("%d rows", n)
	}
}

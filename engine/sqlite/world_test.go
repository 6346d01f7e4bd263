package sqlite

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"placet/engine"
)

// audit is the path of the database in these tests.
const audit = ".mso-context/audit_global.db"

// auditColumns are the columns that a family needs in the database, as far as
// these tests use them.
var auditColumns = map[string][]string{
	"audit_logs":    {"id", "date", "task_name", "status", "work_type"},
	"user_feedback": {"id", "feedback_text", "related_audit_id"},
}

const migrate = "migrate with upstream's init_db"

// mirror is a workspace with the folder of a database, and the Databases that
// opens it.
type mirror struct {
	t    testing.TB
	root string
	*Databases
}

func newMirror(t testing.TB) *mirror {
	t.Helper()
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, ".mso-context"), 0o777); err != nil {
		t.Fatal(err)
	}
	d := New(root)
	t.Cleanup(func() {
		d.Release(audit)
		if d.home != nil {
			d.home.Close()
		}
	})
	d.busy = 20 * time.Millisecond
	return &mirror{t: t, root: root, Databases: d}
}

// path returns a file's name for other programs.
func (l *mirror) path(name string) string { return filepath.Join(l.root, filepath.FromSlash(name)) }

// insertRow inserts a row and returns how that ended.
func (l *mirror) insertRow(row engine.Row) engine.Ended {
	return l.Do(engine.Database{
		Path: audit, Schema: "optimizer/audit", Columns: auditColumns, Hint: migrate, Insert: &row,
	})
}

// must inserts a row that must end with a result.
func (l *mirror) must(word string, row engine.Row) string {
	l.t.Helper()
	e := l.insertRow(row)
	if e.Result != word || (e.Reason == "") != (word == rowDone || word == rowPresent) {
		l.t.Fatalf("row %s: %s, %q, want %s", row.ID, e.Result, e.Reason, word)
	}
	return e.Reason
}

// query makes a look with one query.
func (l *mirror) query(text string, args ...any) engine.Ended {
	return l.Do(engine.Database{Path: audit, Schema: "optimizer/audit", Select: []engine.Query{{Name: "q", SQL: text, Args: args}}})
}

// rows returns the rows that a look with one query finds.
func (l *mirror) rows(text string, args ...any) []map[string]any {
	l.t.Helper()
	e := l.query(text, args...)
	var found map[string][]map[string]any
	if e.Result != rowDone {
		l.t.Fatalf("%s: %s, %q", text, e.Result, e.Reason)
	} else if err := json.Unmarshal(e.Output, &found); err != nil {
		l.t.Fatal(err)
	}
	return found["q"]
}

// count returns the number that a query finds.
func (l *mirror) count(text string, args ...any) int {
	l.t.Helper()
	return int(l.rows("SELECT ("+text+") AS n", args...)[0]["n"].(float64))
}

// task returns the row of a reported cycle, numbered.
func task(n int) engine.Row {
	id := fmt.Sprintf("TASK-20260302-%08X", n)
	return engine.Row{Table: "audit_logs", ID: id, Values: []engine.Field{
		{Name: "id", Value: id}, {Name: "date", Value: "2026-03-02"}, {Name: "task_name", Value: "optimizer/sop-masking-engine"},
		{Name: "mode", Value: "workflow_optimization"}, {Name: "action", Value: "level20_report"}, {Name: "output_path", Value: nil},
		{Name: "status", Value: "success"}, {Name: "context_for_next", Value: `{"rationale":["Signal A: …"]}`},
		{Name: "work_type", Value: "review"}, {Name: "triggered_by", Value: "user_request"}, {Name: "duration_sec", Value: 127.25},
		{Name: "transition_decision", Value: 1},
		{Name: "created_at", Value: "2026-03-02 09:14:05"}, {Name: "updated_at", Value: "2026-03-02 09:14:05"},
	}}
}

// answer returns the row of an answered request, which refers to a task's row.
func answer(n int, of any) engine.Row {
	id := fmt.Sprintf("FB-20260302-%08X", n)
	return engine.Row{Table: "user_feedback", ID: id, Values: []engine.Field{
		{Name: "id", Value: id}, {Name: "date", Value: "2026-03-02"}, {Name: "user_id", Value: nil},
		{Name: "feedback_text", Value: `{"free_text":"희귀 라벨"}`}, {Name: "source_ref_path", Value: nil},
		{Name: "impact_domain", Value: "workflow_optimization"}, {Name: "impact_summary", Value: "Level 20 → 30, 1건 제안 수렴"},
		{Name: "reversibility", Value: "High"}, {Name: "related_audit_id", Value: of},
	}}
}

// with returns a row with another value in a column.
func with(r engine.Row, name string, value any) engine.Row {
	values := append([]engine.Field(nil), r.Values...)
	for i := range values {
		if values[i].Name == name {
			values[i].Value = value
			return engine.Row{Table: r.Table, ID: r.ID, Values: values}
		}
	}
	values = append(values, engine.Field{Name: name, Value: value})
	return engine.Row{Table: r.Table, ID: r.ID, Values: values}
}

// other is another process with a connection to the same database.
type other struct {
	t   testing.TB
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// other starts a process that opens the database; it makes the file if there is
// none.
func (l *mirror) other() *other {
	l.t.Helper()
	l.touch()
	return l.program("database", "DATABASE="+l.path(audit))
}

// touch makes the empty file of a database where there is none.
func (l *mirror) touch() {
	l.t.Helper()
	if _, err := os.Lstat(l.path(audit)); err == nil {
		return // closing it would let go of the locks that this process has
	}
	file, err := os.OpenFile(l.path(audit), os.O_CREATE, 0o666)
	if err != nil {
		l.t.Fatal(err)
	}
	file.Close()
}

// program starts the test program in another role.
func (l *mirror) program(name string, env ...string) *other {
	l.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), "PLACET_TEST_PROGRAM="+name, "ROOT="+l.root), env...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		l.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		l.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		l.t.Fatal(err)
	}
	o := &other{t: l.t, cmd: cmd, in: in, out: bufio.NewScanner(out)}
	l.t.Cleanup(o.leave)
	return o
}

// say makes the other process run one statement, and returns its error.
func (o *other) say(statement string) string {
	o.t.Helper()
	if _, err := fmt.Fprintln(o.in, strings.Join(strings.Fields(statement), " ")); err != nil || !o.out.Scan() {
		o.t.Fatalf("%s: the other process is gone: %v, %v", statement, err, o.out.Err())
	}
	return o.out.Text()
}

// must makes the other process run statements without an error.
func (o *other) must(statements ...string) {
	o.t.Helper()
	for _, s := range statements {
		if said := o.say(s); said != "ok" {
			o.t.Fatalf("%s: %s", s, said)
		}
	}
}

// leave ends the other process, which closes its connection.
func (o *other) leave() {
	o.in.Close()
	_ = o.cmd.Wait()
}

// kill ends the other process in the middle of what it does.
func (o *other) kill() {
	_ = o.cmd.Process.Kill()
	_ = o.cmd.Wait()
}

// playDatabase carries out one statement per line of its input.
func playDatabase() {
	ctx := context.Background()
	c, err := connect(ctx, os.Getenv("DATABASE"), nil, busyTimeout)
	if err != nil {
		panic(err)
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		said := "ok"
		if err := c.exec(ctx, lines.Text()); err != nil {
			said = driverText(err)
		}
		fmt.Println(said)
	}
	c.close()
}

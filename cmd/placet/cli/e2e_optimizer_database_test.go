package cli

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"placet/cmd/placet/console"
	"placet/engine"
	"placet/engine/sqlite"
)

const (
	cycleRun  = "20260302-msowd-sop-masking"
	cycleNext = "20260303-msowd-sop-masking"
	auditFile = ".mso-context/audit_global.db"
)

// cycles is a workspace in which optimisation cycles run on the real program and the real
// database.
type cycles struct {
	t     *testing.T
	root  string
	ahead time.Duration // of the clock
}

func newCycles(t *testing.T) *cycles {
	t.Helper()
	if testing.Short() {
		t.Skip("one call after the other: there is nothing for the race detector, and SQLite is slow under it")
	}
	root := mustResolve(t, t.TempDir())
	put(t, root, "placet.toml", "")
	return &cycles{t: t, root: root}
}

// write puts a file of a run into place.
func (c *cycles) write(run, rel, body string) {
	put(c.t, c.root, filepath.Join(".mso-context/active", run, "optimizer", rel), body)
}

func (c *cycles) read(run, rel string) string {
	c.t.Helper()
	body, err := os.ReadFile(filepath.Join(c.root, ".mso-context/active", run, "optimizer", rel))
	if err != nil {
		c.t.Fatal(err)
	}
	return string(body)
}

// once runs placet watch --once. The scenario checks its exit code.
func (c *cycles) once() string {
	c.t.Helper()
	var out, errs bytes.Buffer
	env := map[string]string{"HOME": c.root, "PATH": os.Getenv("PATH")}
	w := &console.Env{
		In: strings.NewReader(""), Out: &out, Err: &errs, Cwd: c.root, Getenv: func(name string) string { return env[name] },
		Now: func() time.Time { return time.Now().Add(c.ahead) },
	}
	if code := run(context.Background(), w, []string{"once"}); code != console.ExitFine && code != console.ExitOpen {
		c.t.Fatalf("placet watch --once ends with %d: %s%s", code, out.String(), errs.String())
	}
	return out.String()
}

// ask asks the database.
func (c *cycles) ask(sql string, args ...any) []map[string]any {
	c.t.Helper()
	e := c.do(engine.Database{Path: auditFile, Schema: "optimizer/audit", Select: []engine.Query{{Name: "rows", SQL: sql, Args: args}}})
	var found struct{ Rows []map[string]any }
	if err := json.Unmarshal(e.Output, &found); e.Result != "done" || err != nil {
		c.t.Fatalf("%s: %+v, %v", sql, e, err)
	}
	return found.Rows
}

func (c *cycles) do(q engine.Database) engine.Ended {
	d := sqlite.New(c.root)
	defer d.Release(q.Path)
	return d.Do(q)
}

// others inserts a row as another tool does.
func (c *cycles) others(table string, values ...engine.Field) {
	c.t.Helper()
	id, _ := values[0].Value.(string)
	if e := c.do(engine.Database{Path: auditFile, Schema: "optimizer/audit", Insert: &engine.Row{Table: table, ID: id, Values: values}}); e.Result != "done" {
		c.t.Fatalf("%s: %+v", id, e)
	}
}

// inputs writes what a cycle of level 20 needs.
func (c *cycles) inputs(run string, fields ...string) {
	c.write(run, "inputs/assets.json", `{"analysis_script": "a.py"}`)
	c.write(run, "retrieved.jsonl", `{"record_id": "r1", "metric": "m", "value": 7}`+"\n")
	c.write(run, "suggestions.json", `{"suggestions": [{"text": "규칙 정리"}]}`)
	c.write(run, "trigger.json", "{"+strings.Join(append([]string{`"workflow_name": "sop"`}, fields...), ", ")+"}")
}

// respond answers the run's request.
func (c *cycles) respond(run, word string) {
	c.t.Helper()
	found, err := filepath.Glob(filepath.Join(c.root, ".mso-context/active", run, "optimizer/requests/hitl-*"))
	if err != nil || len(found) != 1 {
		c.t.Fatalf("the requests are %q, %v", found, err)
	}
	id := filepath.Base(found[0])
	c.write(run, "requests/"+id+"/response.json", fmt.Sprintf(`{"request_id": %q, "response": %q, "selected": ["s1"], "comment": "말", "provided_by": {"user": "kim", "source": "file"}}`, id, word))
}

// The database is made with its first row. An answer's row becomes a decision with evidence and
// impact. The next cycle reads it, and upstream's rows, from the database alone. A row that is
// there already is present.
func TestScenario12ACycleAndTheRealDatabase(t *testing.T) {
	t.Parallel()
	c := newCycles(t)
	c.inputs(cycleRun)
	c.once()
	if rows := c.ask("SELECT id, date, task_name, status, work_type, duration_sec, notes, sprint FROM audit_logs"); len(rows) != 1 || rows[0]["task_name"] != "optimizer/sop" || rows[0]["status"] != "success" || rows[0]["notes"] != nil {
		t.Errorf("the rows are %v", rows)
	}
	c.respond(cycleRun, "raise")
	c.once()
	joined := c.ask(`SELECT f.id AS id, f.impact_summary AS summary, d.id AS decision, e.type AS evidence, i.domain AS domain FROM user_feedback f
		JOIN audit_logs a ON a.id = f.related_audit_id JOIN decisions d ON d.id = 'DEC-' || f.id JOIN evidence e ON e.decision_id = d.id JOIN impacts i ON i.decision_id = d.id`)
	if len(joined) != 1 || joined[0]["summary"] != "Level 20 → 30, 1건 제안 수렴" || joined[0]["domain"] != "workflow_optimization" {
		t.Errorf("the feedback is %v", joined)
	}

	// The rows of others are one that counts, one that is no JSON, one without levels, and one
	// of another workflow, and a task that only its path connects with the next run.
	feedback := func(id, text string) {
		c.others("user_feedback", engine.Field{Name: "id", Value: id}, engine.Field{Name: "date", Value: "2030-01-01"},
			engine.Field{Name: "feedback_text", Value: text}, engine.Field{Name: "impact_domain", Value: "workflow_optimization"})
	}
	feedback("FB-9001", `{"workflow_name": "sop", "level_before": 20, "level_after": 10}`)
	feedback("FB-9002", `no JSON at all {`)
	for i := range 5 {
		feedback(fmt.Sprint("FB-95", i), `{"workflow_name": "sop"}`)
	}
	feedback("FB-9004", `{"workflow_name": "other", "level_before": 20, "level_after": 30}`)
	c.others("audit_logs", engine.Field{Name: "id", Value: "TASK-upstream"}, engine.Field{Name: "date", Value: "2030-01-01"}, engine.Field{Name: "task_name", Value: "msowd"},
		engine.Field{Name: "mode", Value: "m"}, engine.Field{Name: "action", Value: "a"}, engine.Field{Name: "output_path", Value: "x/" + cycleNext + "/y"}, engine.Field{Name: "status", Value: "fail"})
	if err := os.RemoveAll(filepath.Join(c.root, ".mso-context/active", cycleRun)); err != nil { // only the database knows of it
		t.Fatal(err)
	}
	c.inputs(cycleNext)
	c.once()
	var found struct {
		Audit struct {
			Available bool
			Rows      []struct{ ID, Status string }
		}
		Feedback []struct {
			ID    string
			After int `json:"level_after"`
		}
	}
	if err := json.Unmarshal([]byte(c.read(cycleNext, "context.json")), &found); err != nil {
		t.Fatal(err)
	}
	if len(found.Feedback) != 2 || found.Feedback[0].ID != "FB-9001" || found.Feedback[1].After != 30 {
		t.Errorf("the feedback is %+v", found.Feedback)
	}
	if !found.Audit.Available || len(found.Audit.Rows) != 2 || found.Audit.Rows[0].ID != "TASK-upstream" || found.Audit.Rows[0].Status != "fail" {
		t.Errorf("the audit rows are %+v", found.Audit)
	}

	// This is as if placet had been killed between the row and its record.
	if err := os.Remove(filepath.Join(c.root, ".mso-context/active", cycleNext, "optimizer/audit.json")); err != nil {
		t.Fatal(err)
	}
	c.once()
	if body := c.read(cycleNext, "audit.json"); !strings.Contains(body, `"outcome": "present"`) {
		t.Errorf("audit.json says %s", body)
	}
	if rows := c.ask("SELECT count(*) AS n FROM audit_logs"); fmt.Sprint(rows[0]["n"]) != "3" {
		t.Errorf("there are %v rows", rows[0]["n"])
	}
}

// Without a database the cycle goes on, the row waits, and is inserted once it can be.
func TestScenario11ATextFileAsDatabase(t *testing.T) {
	t.Parallel()
	c := newCycles(t)
	put(t, c.root, auditFile, "these are notes, not a database\n")
	c.inputs(cycleRun)
	pending := filepath.Join(c.root, ".mso-context/active", cycleRun, "optimizer/audit-pending.jsonl")
	for range 12 {
		c.once()
		if _, err := os.Stat(pending); err == nil {
			break
		}
		c.ahead += 2 * time.Minute
	}
	c.once()
	if body := c.read(cycleRun, "context.json"); !strings.Contains(body, `"available": false`) || !strings.Contains(body, "is not a database") {
		t.Errorf("context.json says %s", body)
	}
	if body := c.read(cycleRun, "state.json"); !strings.Contains(body, `"status": "awaiting_human"`) {
		t.Fatalf("the cycle stands still: %s", body)
	}
	if body := c.read(cycleRun, "audit-pending.jsonl"); strings.Count(body, "\n") != 1 || !strings.Contains(body, "is not a database") {
		t.Errorf("what waits is %s", body)
	}
	if body, err := os.ReadFile(filepath.Join(c.root, auditFile)); err != nil || string(body) != "these are notes, not a database\n" {
		t.Errorf("the file became %q, %v", body, err)
	}
	if err := os.Remove(filepath.Join(c.root, auditFile)); err != nil {
		t.Fatal(err)
	}
	c.ahead += time.Minute // before the time of the next try: a person who runs once asks for one
	c.once()
	if _, err := os.Stat(pending); !os.IsNotExist(err) {
		t.Errorf("it still waits: %v", err)
	}
	if rows := c.ask("SELECT id FROM audit_logs"); len(rows) != 1 {
		t.Errorf("the rows are %v", rows)
	}
}

// While a person thinks, the database is moved away, as its note advises for a damaged one: the
// answer's row brings the cycle's own row into the new database.
func TestAnAnswersRowGoesIntoADatabaseThatIsNew(t *testing.T) {
	c := newCycles(t)
	c.inputs(cycleRun)
	c.once()
	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.RemoveAll(filepath.Join(c.root, auditFile+end)); err != nil {
			t.Fatal(err)
		}
	}
	c.respond(cycleRun, "raise")
	c.once()
	if rows := c.ask("SELECT status FROM audit_logs JOIN user_feedback ON related_audit_id = audit_logs.id"); len(rows) != 1 || rows[0]["status"] != "success" {
		t.Errorf("the rows are %v\n%s", rows, c.read(cycleRun, "audit.json"))
	}
}

// oldSchema turns a database into one of upstream's version 1.3: audit_logs and its full-text
// index lack the columns of 1.5, and later tables do not exist.
const oldSchema = `
DROP VIEW v_work_type_distribution; DROP VIEW v_pattern_candidates; DROP VIEW v_file_hotspots; DROP VIEW v_snapshot_lineage;
DROP TABLE suggestion_history; DROP TABLE node_snapshots_fts; DROP TABLE node_snapshots;
DROP INDEX idx_audit_logs_work_type; DROP INDEX idx_audit_logs_session_id; DROP INDEX idx_audit_logs_sprint; DROP INDEX idx_audit_logs_pattern_tag;
DROP TRIGGER audit_logs_ai; DROP TRIGGER audit_logs_ad; DROP TRIGGER audit_logs_au; DROP TABLE audit_logs_fts;
ALTER TABLE audit_logs DROP COLUMN work_type; ALTER TABLE audit_logs DROP COLUMN triggered_by; ALTER TABLE audit_logs DROP COLUMN duration_sec;
ALTER TABLE audit_logs DROP COLUMN files_affected; ALTER TABLE audit_logs DROP COLUMN sprint; ALTER TABLE audit_logs DROP COLUMN pattern_tag;
ALTER TABLE audit_logs DROP COLUMN session_id; ALTER TABLE audit_logs DROP COLUMN intent;
CREATE VIRTUAL TABLE audit_logs_fts USING fts5(
    id, task_name, action, notes,
    content='audit_logs',
    content_rowid='rowid'
);
CREATE TRIGGER audit_logs_ai AFTER INSERT ON audit_logs BEGIN
  INSERT INTO audit_logs_fts(rowid, id, task_name, action, notes) VALUES (NEW.rowid, NEW.id, NEW.task_name, NEW.action, NEW.notes);
END;
CREATE TRIGGER audit_logs_ad AFTER DELETE ON audit_logs BEGIN
  INSERT INTO audit_logs_fts(audit_logs_fts, rowid, id, task_name, action, notes) VALUES ('delete', OLD.rowid, OLD.id, OLD.task_name, OLD.action, OLD.notes);
END;
UPDATE _skill_meta SET v = '1.3.0' WHERE k = 'schema_version'`

// A database of upstream's version 1.3 or 1.4 gets its rows, in the columns that it has.
// audit.json and check say what was left out, and which migration helps, because upstream's
// init_db stops at such a database.
func TestAnOlderDatabaseGetsItsRowsInTheColumnsThatItHas(t *testing.T) {
	t.Parallel()
	c := newCycles(t)
	c.inputs(cycleRun)
	c.once()
	c.sql(oldSchema)
	c.inputs(cycleNext)
	c.once()
	c.respond(cycleNext, "raise")
	c.once()
	if rows := c.ask("SELECT id, task_name, mode FROM audit_logs WHERE output_path LIKE '%" + cycleNext + "%'"); len(rows) != 1 || rows[0]["mode"] != "workflow_optimization" {
		t.Fatalf("the rows are %v, %s", rows, c.read(cycleNext, "audit.json"))
	}
	if rows := c.ask("SELECT f.related_audit_id, d.id FROM user_feedback f JOIN decisions d ON d.id = 'DEC-' || f.id"); len(rows) != 1 || rows[0]["related_audit_id"] == nil {
		t.Errorf("the answers are %v", rows)
	}
	const lacks = "audit_logs lacks the columns work_type, triggered_by, duration_sec, files_affected, pattern_tag, session_id, intent: " +
		"the row stands there without them; "
	const helps = "schema/migrate_v1_4_to_v1_5.sql"
	ledger := c.read(cycleNext, "audit.json")
	if !strings.Contains(ledger, `"outcome": "inserted"`) || !strings.Contains(ledger, lacks) || !strings.Contains(ledger, helps) || !strings.Contains(ledger, `"work_type": "review"`) {
		t.Errorf("audit.json says\n%s", ledger)
	}
	if _, err := os.Stat(filepath.Join(c.root, ".mso-context/active", cycleNext, "optimizer/audit-pending.jsonl")); err == nil {
		t.Error("a row is pending")
	}
	if said := c.check(); !strings.Contains(said, lacks) || !strings.Contains(said, helps) {
		t.Errorf("check says\n%s", said)
	}
	if found := c.read(cycleNext, "context.json"); !strings.Contains(found, `"available": true`) {
		t.Errorf("context.json says\n%s", found)
	}
}

// migration does what the script does that the hint names.
const migration = `
ALTER TABLE audit_logs ADD COLUMN work_type TEXT CHECK (work_type IS NULL OR work_type IN ('execution','modification','structure','document','skill','error','review'));
ALTER TABLE audit_logs ADD COLUMN triggered_by TEXT CHECK (triggered_by IS NULL OR triggered_by IN ('user_request','auto','hook'));
ALTER TABLE audit_logs ADD COLUMN duration_sec REAL; ALTER TABLE audit_logs ADD COLUMN files_affected TEXT; ALTER TABLE audit_logs ADD COLUMN sprint TEXT;
ALTER TABLE audit_logs ADD COLUMN pattern_tag TEXT; ALTER TABLE audit_logs ADD COLUMN session_id TEXT; ALTER TABLE audit_logs ADD COLUMN intent TEXT;
CREATE INDEX IF NOT EXISTS idx_audit_logs_work_type ON audit_logs(work_type);
DROP TABLE IF EXISTS audit_logs_fts;
CREATE VIRTUAL TABLE audit_logs_fts USING fts5(id, task_name, action, notes, work_type, intent, content='audit_logs', content_rowid='rowid');
INSERT INTO audit_logs_fts(rowid, id, task_name, action, notes, work_type, intent) SELECT rowid, id, task_name, action, notes, work_type, intent FROM audit_logs;
DROP TRIGGER IF EXISTS audit_logs_ai;
CREATE TRIGGER audit_logs_ai AFTER INSERT ON audit_logs BEGIN
  INSERT INTO audit_logs_fts(rowid, id, task_name, action, notes, work_type, intent) VALUES (NEW.rowid, NEW.id, NEW.task_name, NEW.action, NEW.notes, NEW.work_type, NEW.intent);
END`

// After an older database was migrated, a row is inserted whole.
func TestAMigratedDatabaseGetsWholeRows(t *testing.T) {
	t.Parallel()
	c := newCycles(t)
	c.inputs(cycleRun)
	c.once()
	c.sql(oldSchema)
	if _, err := c.sqlError("CREATE INDEX IF NOT EXISTS idx_audit_logs_work_type ON audit_logs(work_type)"); err == nil {
		t.Fatal("what init_db does first is done: the hint may name it alone")
	}
	c.sql(migration)
	c.inputs(cycleNext)
	c.once()
	if rows := c.ask("SELECT work_type, session_id FROM audit_logs WHERE output_path LIKE '%" + cycleNext + "%'"); len(rows) != 1 || rows[0]["work_type"] != "review" || rows[0]["session_id"] != cycleNext {
		t.Errorf("the rows are %v, %s", rows, c.read(cycleNext, "audit.json"))
	}
	if ledger := c.read(cycleNext, "audit.json"); !strings.Contains(ledger, `"last_error": null`) {
		t.Errorf("audit.json says\n%s", ledger)
	}
}

// A row waits for a database without a column that every version has, and placet says how to
// migrate.
func TestADatabaseThatLacksMoreSaysWhichMigrationHelps(t *testing.T) {
	c := newCycles(t)
	put(t, c.root, "placet.toml", "[optimizer]\nlanguage = \"en\"\n")
	c.inputs(cycleRun)
	c.once()
	c.sql(oldSchema + "; DROP TABLE user_feedback")
	c.respond(cycleRun, "raise")
	c.once()
	const want = "table user_feedback is missing: migrate with sqlite3 and upstream's mso-agent-audit-log/schema/migrate_v1_4_to_v1_5.sql"
	if ledger := c.read(cycleRun, "audit.json"); !strings.Contains(ledger, want) {
		t.Errorf("audit.json says\n%s", ledger)
	}
}

// sql carries out SQL on the audit database as another tool does.
func (c *cycles) sql(text string) {
	c.t.Helper()
	if _, err := c.sqlError(text); err != nil {
		c.t.Fatal(err)
	}
}

func (c *cycles) sqlError(text string) (sql.Result, error) {
	db, err := sql.Open("sqlite", filepath.Join(c.root, auditFile))
	if err != nil {
		return nil, err
	}
	defer db.Close()
	return db.Exec(text)
}

// check is what placet doctor says.
func (c *cycles) check() string {
	var out bytes.Buffer
	w := &console.Env{In: strings.NewReader(""), Out: &out, Err: &out, Cwd: c.root, Getenv: func(string) string { return "" }, Now: time.Now}
	run(context.Background(), w, []string{"check"})
	return out.String()
}

// A ticket gets the number that upstream would give it, so that upstream's next one is the
// number after ours.
func TestUpstreamsNextTicketFollowsOurs(t *testing.T) {
	t.Parallel()
	c := newCycles(t)
	tickets := filepath.Join(".mso-context/active", cycleRun, "40_collaboration/task-context/tickets")
	put(t, c.root, filepath.Join(tickets, "TKT-0001-first.md"), "---\nid: TKT-0001\n---\n")
	put(t, c.root, filepath.Join(tickets, "TKT-0003-third.md"), "---\nid: TKT-0003\n---\n")
	c.inputs(cycleRun)
	c.once()
	c.respond(cycleRun, "raise")
	c.once()
	var names []string
	found, err := os.ReadDir(filepath.Join(c.root, tickets))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range found {
		names = append(names, e.Name())
	}
	if want := []string{"TKT-0001-first.md", "TKT-0003-third.md", "TKT-0004-규칙-정리.md"}; !slices.Equal(names, want) {
		t.Errorf("the tickets are %q, want %q", names, want)
	}
	if ours := c.read(cycleRun, "tickets.json"); !strings.Contains(ours, `"ticket_id": "TKT-0004"`) {
		t.Errorf("tickets.json says %s", ours)
	}
	if err := os.Remove(filepath.Join(c.root, tickets, "TKT-0004-규칙-정리.md")); err != nil {
		t.Fatal(err)
	}
	c.once()
	if again, err := os.ReadDir(filepath.Join(c.root, tickets)); err != nil || len(again) != 2 {
		t.Errorf("a ticket that upstream closed and deleted was made again: %v, %v", again, err)
	}
}

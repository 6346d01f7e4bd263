package cli_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	_ "modernc.org/sqlite" // the databases are read as others read them

	"github.com/google/go-cmp/cmp"

	"placet/engine/optimizer"
)

// These functions check what an audit database must contain, read as another program reads it.

// database opens an existing database.
func (p *place) database(name string) *sql.DB {
	p.t.Helper()
	at := url.URL{Scheme: "file", Path: filepath.Join(p.root, name), RawQuery: "mode=rw&_pragma=busy_timeout(3000)&_pragma=foreign_keys(ON)"}
	db, err := sql.Open("sqlite", at.String())
	if err != nil {
		p.t.Fatal(err)
	}
	db.SetMaxOpenConns(1) // a transaction and its statements need one connection
	return db
}

// ask returns the rows of a query, every value as text.
func (p *place) ask(db *sql.DB, query string, args ...any) (found [][]string) {
	p.t.Helper()
	rows, err := db.Query(query, args...)
	if err != nil {
		p.t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		p.t.Fatal(err)
	}
	for rows.Next() {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			p.t.Fatal(err)
		}
		texts := make([]string, len(values))
		for i, v := range values {
			texts[i] = fmt.Sprint(v)
		}
		found = append(found, texts)
	}
	if err := rows.Err(); err != nil {
		p.t.Fatalf("%s: %v", query, err)
	}
	return found
}

// audit returns the rows that a cycle must insert, as audit.json has them.
func (p *place) audit(dir string) []optimizer.Row {
	a, err := optimizer.ReadAudit([]byte(p.read(dir + "audit.json")))
	if err != nil {
		return nil
	}
	return a.Rows
}

// verifyDatabase checks that a database is sound, and has the rows of the cycles in some
// folders, each once, and no others in these tables.
func (p *place) verifyDatabase(name string, dirs []string) {
	p.t.Helper()
	db := p.database(name)
	defer db.Close()
	if got := p.ask(db, "PRAGMA integrity_check"); len(got) != 1 || got[0][0] != "ok" {
		p.t.Errorf("%s: integrity: %v", name, got)
	}
	if got := p.ask(db, "PRAGMA foreign_key_check"); len(got) != 0 {
		p.t.Errorf("%s: foreign keys: %v", name, got)
	}
	want := map[string][]string{}
	for _, dir := range dirs {
		for _, row := range p.audit(dir) {
			want[row.Table] = append(want[row.Table], row.ID)
			p.verifyRow(db, dir, row)
			if row.Table == "user_feedback" {
				want["decisions"] = append(want["decisions"], "DEC-"+row.ID)
				p.verifyFanOut(db, row)
			}
		}
	}
	for _, table := range []string{"audit_logs", "user_feedback", "decisions"} {
		slices.Sort(want[table])
		var got []string
		for _, row := range p.ask(db, "SELECT id FROM "+table+" ORDER BY id") {
			got = append(got, row[0])
		}
		if diff := cmp.Diff(want[table], got); diff != "" {
			p.t.Errorf("%s: ids in %s (-want +got):\n%s", name, table, diff)
		}
	}
}

// verifyRow checks that a row is in the database as audit.json has it.
func (p *place) verifyRow(db *sql.DB, dir string, row optimizer.Row) {
	p.t.Helper()
	if row.Outcome != "inserted" && row.Outcome != "present" {
		p.t.Errorf("%saudit.json: %s is %s: %s", dir, row.ID, row.Outcome, row.LastError)
	}
	var columns, want []string
	for _, m := range row.Row {
		var v any
		if err := json.Unmarshal([]byte(fmt.Sprintf("%s", m.Value)), &v); err != nil {
			p.t.Fatalf("%saudit.json: %s: %v", dir, m.Name, err)
		}
		columns, want = append(columns, "+"+m.Name), append(want, fmt.Sprint(v)) // + keeps the driver from reading dates
	}
	got := p.ask(db, "SELECT "+strings.Join(columns, ", ")+" FROM "+row.Table+" WHERE id = ?", row.ID)
	if diff := cmp.Diff([][]string{want}, got); diff != "" {
		p.t.Errorf("%s of %s (-audit.json +database):\n%s", row.ID, row.Table, diff)
	}
}

// verifyFanOut checks the consequences of a row of user_feedback, each once.
func (p *place) verifyFanOut(db *sql.DB, row optimizer.Row) {
	p.t.Helper()
	got := p.ask(db, `SELECT (SELECT count(*) FROM decisions WHERE id = d.id), (SELECT count(*) FROM evidence WHERE decision_id = d.id),
		(SELECT count(*) FROM impacts WHERE decision_id = d.id), f.related_audit_id = d.related_audit_id
		FROM decisions d, user_feedback f WHERE d.id = 'DEC-' || ?1 AND f.id = ?1`, row.ID)
	if diff := cmp.Diff([][]string{{"1", "1", "1", "1"}}, got); diff != "" {
		p.t.Errorf("what follows from %s (-want +got):\n%s", row.ID, diff)
	}
}

package cli

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/engine/pal"
	"placet/schemas"
)

// databaseOf returns a database in memory that a script has made.
func databaseOf(t *testing.T, script string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1) // another connection would have another database
	if _, err := db.Exec(script); err != nil {
		t.Fatal(err)
	}
	return db
}

// rowsOf returns the rows of a query, each as one text.
func rowsOf(t *testing.T, db *sql.DB, query string) (list []string) {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	names, _ := rows.Columns()
	for rows.Next() {
		into := make([]any, len(names))
		for i := range into {
			into[i] = new(any)
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		var words []string
		for i, name := range names {
			words = append(words, fmt.Sprintf("%s=%v", name, *into[i].(*any)))
		}
		list = append(list, strings.Join(words, " "))
	}
	return list
}

// An export has the seed's tables: every column has the seed's name, place, type, default and
// keys, and every reference leads where the seed's does.
func TestAnExportHasTheSeedsTables(t *testing.T) {
	script, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "seeds", "pal.sql"))
	if err != nil {
		t.Fatal(err)
	}
	seed, ours := databaseOf(t, string(script)), databaseOf(t, schemas.SQL(pal.ExportSchema))
	for _, table := range []string{"direct_channels", "direct_messages"} {
		for _, pragma := range []string{"table_info", "foreign_key_list"} {
			want, have := rowsOf(t, seed, fmt.Sprintf("PRAGMA %s(%s)", pragma, table)), rowsOf(t, ours, fmt.Sprintf("PRAGMA %s(%s)", pragma, table))
			if len(want) == 0 {
				t.Fatalf("the seed has no %s of %s", pragma, table)
			}
			if diff := cmp.Diff(want, have); diff != "" {
				t.Errorf("%s of %s (-seed +export):\n%s", pragma, table, diff)
			}
		}
	}
	// The seed lists the members of an escalation, and no table.
	var columns []string
	for _, row := range rowsOf(t, ours, "SELECT name FROM pragma_table_info('escalations')") {
		columns = append(columns, strings.TrimPrefix(row, "name="))
	}
	for _, member := range []string{
		"id", "session_id", "port_id", "type", "severity", "title", "description", "context", "suggested_actions", "resolved_by", "resolved_at", "created_at",
	} {
		if !slices.Contains(columns, member) {
			t.Errorf("escalations lacks the seed's %s; it has %q", member, columns)
		}
	}
}

// The rows of an export fit into the seed's own tables as they are.
func TestAnExportLoadsIntoTheSeedsTables(t *testing.T) {
	script, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "seeds", "pal.sql"))
	if err != nil {
		t.Fatal(err)
	}
	root := mustResolve(t, t.TempDir()) + "/ws"
	put(t, root, "placet.toml", "")
	put(t, root, palShop+"orchestration.json", `{"title": "Shop", "max_retries": 1, "ports": [{"port_id": "A"}]}`)
	placetIn(t, root, "", "once")
	put(t, root, palShop+"sessions/build/A/impl/result-1.json", `{"status": "ready", "summary": "done", "changed_files": []}`)
	put(t, root, palShop+"sessions/build/A/test/feedback-1.json", `{"success": false}`)
	placetIn(t, root, "", "once")
	if _, code := placetIn(t, root, "", "pal", "export", "shop", "--sqlite", "out.db"); code != 0 {
		t.Fatal("no export")
	}
	seed := databaseOf(t, "CREATE TABLE sessions (id TEXT PRIMARY KEY);\nPRAGMA foreign_keys = ON;\n"+string(script))
	if _, err := seed.Exec("ATTACH ? AS export", filepath.Join(root, "out.db")); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"sessions(id)", "direct_channels", "direct_messages"} {
		name, _, _ := strings.Cut(table, "(")
		columns := "*"
		if name == "sessions" {
			columns = "id"
		}
		if _, err := seed.Exec(fmt.Sprintf("INSERT INTO main.%s SELECT %s FROM export.%s", table, columns, name)); err != nil {
			t.Fatalf("%s: %v", table, err)
		}
		n := rowsOf(t, seed, "SELECT count(*) AS n FROM main."+name)
		if m := rowsOf(t, seed, "SELECT count(*) AS n FROM export."+name); !slices.Equal(n, m) || n[0] == "n=0" {
			t.Errorf("%s: %q of %q", name, n, m)
		}
	}
}

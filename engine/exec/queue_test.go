package exec

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/engine/sqlite"
)

// The Runner carries out rows and queries in their order, and releases the file
// before the last of them has ended.
func TestTheRunnerMirrorsRowsAndLetsTheFileRest(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, ".mso-context"), 0o777); err != nil {
		t.Fatal(err)
	}
	const audit = ".mso-context/audit_global.db"
	databases := sqlite.New(root)
	rested := make(chan []string, 1)
	b := benchAt(t, root, RunnerOptions{OnIdle: func(name string) {
		databases.Release(name)
		rested <- fileNames(t, filepath.Join(root, ".mso-context"))
	}})
	wait := make(chan struct{})
	b.o.Database = func(q engine.Database) engine.Ended {
		<-wait // until all have begun
		return databases.Do(q)
	}
	const many = 30
	id := func(n int) string { return fmt.Sprintf("TASK-20260302-%08X", n) }
	for n := range many {
		row := engine.Row{Table: "audit_logs", ID: id(n), Values: []engine.Field{
			{Name: "id", Value: id(n)}, {Name: "date", Value: "2026-03-02"}, {Name: "task_name", Value: "optimizer/sop-masking-engine"},
			{Name: "mode", Value: "workflow_optimization"}, {Name: "action", Value: "level20_report"}, {Name: "status", Value: "success"},
			{Name: "context_for_next", Value: "{}"}, {Name: "work_type", Value: "review"}, {Name: "triggered_by", Value: "user_request"},
		}}
		b.Begin(engine.Action{ID: row.ID, Database: &engine.Database{
			Path: "./" + audit, Schema: "optimizer/audit", Insert: &row,
		}})
	}
	b.Begin(engine.Action{ID: "look", Database: &engine.Database{Path: audit, Schema: "optimizer/audit", Select: []engine.Query{{Name: "n", SQL: "SELECT count(*) AS n FROM audit_logs"}}}})
	close(wait)
	if err := b.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"audit_global.db"}, <-rested); diff != "" {
		t.Errorf("files when it rests (-want +got):\n%s", diff)
	}
	if len(rested) != 0 {
		t.Error("it rested more than once")
	}
	ends := b.Ended()
	for n := range many {
		if e := ends[id(n)]; e.Result != "done" || e.Began.IsZero() || e.At.Before(e.Began) {
			t.Errorf("row %d: %+v", n, e)
		}
	}
	if got, want := string(ends["look"].Output), fmt.Sprintf(`{"n":[{"n":%d}]}`, many); got != want {
		t.Errorf("look: %s, want %s", got, want)
	}
}

// fileNames are the names in a folder, sorted.
func fileNames(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

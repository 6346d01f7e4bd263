package optimizer

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/engine/optimizer"
	"placet/engine/sqlite"
)

// looking is the query of the audit database with which a cycle begins.
func looking(t *testing.T) engine.Database {
	t.Helper()
	const dir = ".mso-context/active/20260302-msowd-x/optimizer"
	body := []byte(`{"workflow_name": "w"}`)
	plan, err := optimizer.New().Step(engine.Snapshot{
		Key: engine.Key{Family: "optimizer", ID: "20260302-msowd-x"}, Dir: dir, Now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC),
		Docs:  []engine.Document{{Path: dir + "/trigger.json", Kind: "trigger", Body: body, Sum: engine.Sum(body)}},
		Facts: engine.Environment{Config: engine.Config{Family: optimizer.DefaultConfig()}},
	})
	if err != nil || len(plan.Actions) != 1 || plan.Actions[0].Database == nil {
		t.Fatalf("%+v, %v", plan, err)
	}
	return *plan.Actions[0].Database
}

// The query finds the newest rows, however long a workflow's history and the texts in it are.
func TestALookIntoALongHistoryFindsTheNewest(t *testing.T) {
	root := t.TempDir()
	look, databases := looking(t), sqlite.New(root)
	if err := os.MkdirAll(filepath.Dir(filepath.Join(root, look.Path)), 0o755); err != nil {
		t.Fatal(err)
	}
	add := func(table, id string, values ...engine.Field) {
		t.Helper()
		row := engine.Row{Table: table, ID: id, Values: append([]engine.Field{{Name: "id", Value: id}}, values...)}
		if e := databases.Do(engine.Database{Path: look.Path, Schema: "optimizer/audit", Insert: &row}); e.Result != "done" {
			t.Fatalf("%s: %+v", id, e)
		}
	}
	long := strings.Repeat("말", 40<<10)
	feedback := func(id, date, levels string) {
		t.Helper()
		add("user_feedback", id, engine.Field{Name: "date", Value: date}, engine.Field{Name: "impact_domain", Value: "workflow_optimization"},
			engine.Field{Name: "feedback_text", Value: `{"workflow_name": "w", ` + levels + `"free_text": "` + long + `"}`})
	}
	for i := range 30 {
		add("audit_logs", fmt.Sprintf("TASK-%02d", i), engine.Field{Name: "date", Value: "2026-03-01"}, engine.Field{Name: "task_name", Value: "optimizer/w"},
			engine.Field{Name: "mode", Value: "m"}, engine.Field{Name: "action", Value: "a"}, engine.Field{Name: "notes", Value: long})
		feedback(fmt.Sprintf("FB-%02d", i), "2026-03-01", `"level_before": 10, "level_after": 20, `)
		feedback(fmt.Sprintf("FB-N%02d", i), "2026-03-02", `"level_before": "10", `)
	}
	e := databases.Do(look)
	if e.Result != "done" {
		t.Fatalf("%s: %s", e.Result, e.Reason)
	}
	var found struct {
		Audit    []map[string]any `json:"audit_logs"`
		Feedback []struct {
			ID   string `json:"id"`
			Text string `json:"feedback_text"`
		} `json:"user_feedback"`
	}
	if err := json.Unmarshal(e.Output, &found); err != nil {
		t.Fatal(err)
	}
	if len(found.Audit) != 20 || len(found.Feedback) != 10 || found.Feedback[0].ID != "FB-29" {
		t.Fatalf("found %d rows of audit_logs, %d of user_feedback", len(found.Audit), len(found.Feedback))
	}
	var said map[string]any
	if err := json.Unmarshal([]byte(found.Feedback[0].Text), &said); err != nil || said["level_before"] != 10.0 || said["workflow_name"] != "w" {
		t.Errorf("%v: %.100q", err, found.Feedback[0].Text)
	}
}

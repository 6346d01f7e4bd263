package sqlite

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pageTables are the columns of every table as listed on the format page:
// name, type, ! for NOT NULL, = and the default, * for the key.
var pageTables = map[string]string{
	"audit_logs": "id TEXT *, date DATE !, task_name TEXT !, mode TEXT !, action TEXT !, input_path TEXT, output_path TEXT, script_path TEXT, " +
		"status TEXT ! ='in_progress', notes TEXT, context_for_next TEXT, continuation_hint TEXT, transition_repeated INTEGER ! =0, " +
		"transition_reuse INTEGER ! =0, transition_decision INTEGER ! =0, work_type TEXT, triggered_by TEXT, duration_sec REAL, " +
		"files_affected TEXT, sprint TEXT, pattern_tag TEXT, session_id TEXT, intent TEXT, " + stamps,
	"user_feedback": "id TEXT *, date DATE !, user_id TEXT, feedback_text TEXT !, source_ref_path TEXT, impact_domain TEXT ! ='workflow', " +
		"impact_summary TEXT, reversibility TEXT, related_audit_id TEXT, " + stamps,
	"decisions": "id TEXT *, date DATE !, title TEXT !, context TEXT, decision_content TEXT, requested_by TEXT, approved_by TEXT, " +
		"related_audit_id TEXT, " + stamps,
	"evidence":      "id INTEGER *, decision_id TEXT !, type TEXT !, ref_path TEXT !, description TEXT",
	"impacts":       "id INTEGER *, decision_id TEXT !, domain TEXT !, description TEXT, reversibility TEXT",
	"tags":          "id INTEGER *, name TEXT !",
	"decision_tags": "decision_id TEXT ! *, tag_id INTEGER ! *",
	"document_references": "id INTEGER *, session_id TEXT, file_path TEXT !, reference_type TEXT ! ='mention', context TEXT, " +
		"related_task_id TEXT, referenced_by TEXT ! ='agent', " + created,
	"node_snapshots": "id TEXT *, run_id TEXT !, node_id TEXT !, node_type TEXT !, parent_refs TEXT ! ='[]', tree_hash_type TEXT ! ='sha256', " +
		"tree_hash_ref TEXT, agent_role TEXT ! ='execution', phase INTEGER ! =2, input_artifact_uri TEXT, output_artifact_uri TEXT, " +
		"status TEXT ! ='pending', merge_policy TEXT, fallback_target TEXT, metadata TEXT ='{}', related_audit_id TEXT, " + stamps,
	"suggestion_history": "id INTEGER *, suggestion_type TEXT !, source_work_type TEXT, source_files TEXT, suggestion_text TEXT !, " +
		"accepted INTEGER =0, rejected_weight REAL =0.0, related_audit_id TEXT, " + created,
	"_skill_meta": "k TEXT *, v TEXT",
}

const (
	created = "created_at TIMESTAMP =CURRENT_TIMESTAMP"
	stamps  = created + ", updated_at TIMESTAMP =CURRENT_TIMESTAMP"
)

// names returns the names of one type in the database, without SQLite's own
// and those of the full-text tables.
func (l *mirror) names(typ string) []string {
	l.t.Helper()
	var names []string
	for _, r := range l.rows(`SELECT name FROM sqlite_schema WHERE type = ? AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '%_fts%' ORDER BY name`, typ) {
		names = append(names, r["name"].(string))
	}
	return names
}

func TestEveryTableHasThePagesColumns(t *testing.T) {
	l := newMirror(t)
	l.must("done", task(1))
	got := map[string]string{}
	for _, table := range l.names("table") {
		var columns []string
		for _, c := range l.rows(`SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_info(?) ORDER BY cid`, table) {
			column := c["name"].(string) + " " + c["type"].(string)
			if c["notnull"] == 1.0 {
				column += " !"
			}
			if c["dflt_value"] != nil {
				column += " =" + c["dflt_value"].(string)
			}
			if c["pk"] != 0.0 {
				column += " *"
			}
			columns = append(columns, column)
		}
		got[table] = strings.Join(columns, ", ")
	}
	if diff := cmp.Diff(pageTables, got); diff != "" {
		t.Errorf("tables (-page +made):\n%s", diff)
	}
}

func TestEveryReferenceIsThePages(t *testing.T) {
	l := newMirror(t)
	l.must("done", task(1))
	got := map[string]string{}
	for table := range pageTables {
		for _, k := range l.rows(`SELECT "from", "table", "to", on_delete FROM pragma_foreign_key_list(?)`, table) {
			got[table+"."+k["from"].(string)] = fmt.Sprint(k["table"], ".", k["to"], " ", k["on_delete"])
		}
	}
	const child, log = "decisions.id CASCADE", "audit_logs.id SET NULL"
	want := map[string]string{
		"user_feedback.related_audit_id": log, "decisions.related_audit_id": log, "document_references.related_task_id": log,
		"node_snapshots.related_audit_id": log, "suggestion_history.related_audit_id": log,
		"evidence.decision_id": child, "impacts.decision_id": child,
		"decision_tags.decision_id": child, "decision_tags.tag_id": "tags.id CASCADE",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("references (-page +made):\n%s", diff)
	}
}

func TestEveryIndexTriggerAndViewOfThePageIsThere(t *testing.T) {
	l := newMirror(t)
	l.must("done", task(1))
	indexes := map[string]string{}
	for _, name := range l.names("index") {
		r := l.rows(`SELECT m.tbl_name AS t, i.name AS c FROM sqlite_schema AS m, pragma_index_info(m.name) AS i WHERE m.name = ?`, name)
		indexes[name] = fmt.Sprint(r[0]["t"], ".", r[0]["c"])
	}
	want := map[string]string{}
	for table, columns := range map[string]string{
		"audit_logs audit_logs":                 "date, mode, status, work_type, session_id, sprint, pattern_tag",
		"decisions decisions":                   "date, audit related_audit_id",
		"evidence evidence":                     "decision decision_id",
		"impacts impacts":                       "decision decision_id, domain",
		"doc_refs document_references":          "path file_path, session session_id, created created_at, related_task related_task_id",
		"user_feedback user_feedback":           "date, audit related_audit_id",
		"snapshots node_snapshots":              "run_id, node_id, node_type, tree_hash_ref, status, phase",
		"suggestion_history suggestion_history": "type suggestion_type, accepted",
	} {
		prefix, table, _ := strings.Cut(table, " ")
		for _, c := range strings.Split(columns, ", ") {
			name, column, named := strings.Cut(c, " ")
			if !named {
				column = name
			}
			want["idx_"+prefix+"_"+name] = table + "." + column
		}
	}
	if diff := cmp.Diff(want, indexes); diff != "" {
		t.Errorf("indexes (-page +made):\n%s", diff)
	}
	var triggers []string
	for _, table := range []string{"audit_logs", "decisions", "node_snapshots"} {
		triggers = append(triggers, table+"_ai", table+"_ad", table+"_au", table+"_update_timestamp")
	}
	triggers = append(triggers, "user_feedback_ai", "user_feedback_update_timestamp")
	slices.Sort(triggers)
	if diff := cmp.Diff(triggers, l.names("trigger")); diff != "" {
		t.Errorf("triggers (-page +made):\n%s", diff)
	}
	if got := l.rows("SELECT * FROM _skill_meta"); len(got) != 1 || got[0]["k"] != "schema_version" || got[0]["v"] != "1.5.0" {
		t.Errorf("_skill_meta: %v", got)
	}
}

// forbidden lists bad values by table and column: each must be refused, even
// if everything else is good.
var forbidden = map[string][]string{
	"audit_logs (id, date, task_name, mode, action": {
		") VALUES ('TASK-', 'd', 't', 'm', 'a')", ") VALUES ('TASK-   ', 'd', 't', 'm', 'a')", ") VALUES ('T-123456', 'd', 't', 'm', 'a')",
		") VALUES ('TASK-1', NULL, 't', 'm', 'a')", ") VALUES ('TASK-1', 'd', ' ', 'm', 'a')", ") VALUES ('TASK-1', 'd', 't', '', 'a')",
		") VALUES ('TASK-1', 'd', 't', 'm', '  ')", ", status) VALUES ('TASK-1', 'd', 't', 'm', 'a', 'completed')",
		", status) VALUES ('TASK-1', 'd', 't', 'm', 'a', NULL)", ", transition_repeated) VALUES ('TASK-1', 'd', 't', 'm', 'a', 2)",
		", transition_reuse) VALUES ('TASK-1', 'd', 't', 'm', 'a', -1)", ", transition_decision) VALUES ('TASK-1', 'd', 't', 'm', 'a', NULL)",
		", work_type) VALUES ('TASK-1', 'd', 't', 'm', 'a', 'workflow_optimization')", ", triggered_by) VALUES ('TASK-1', 'd', 't', 'm', 'a', 'agent')",
	},
	"user_feedback (id, date, feedback_text": {
		") VALUES ('FB-', 'd', 'x')", ") VALUES ('X-1234', 'd', 'x')", ") VALUES ('FB-1', NULL, 'x')", ") VALUES ('FB-1', 'd', ' ')", ") VALUES ('FB-1', 'd', NULL)",
		", impact_domain) VALUES ('FB-1', 'd', 'x', ' ')", ", impact_domain) VALUES ('FB-1', 'd', 'x', NULL)",
		", reversibility) VALUES ('FB-1', 'd', 'x', 'high')", ", related_audit_id) VALUES ('FB-1', 'd', 'x', 'TASK-none')",
	},
	"decisions (id, date, title": {
		") VALUES ('DEC-', 'd', 't')", ") VALUES ('XXX-12', 'd', 't')", ") VALUES ('DEC-1', NULL, 't')", ") VALUES ('DEC-1', 'd', ' ')", ", related_audit_id) VALUES ('DEC-1', 'd', 't', 'x')",
	},
	"evidence (decision_id, type, ref_path": {") VALUES ('DEC-none', 't', 'r')", ") VALUES ('DEC-0', ' ', 'r')", ") VALUES ('DEC-0', 't', NULL)", ") VALUES (NULL, 't', 'r')"},
	"impacts (decision_id, domain":          {") VALUES ('DEC-none', 'd')", ") VALUES ('DEC-0', '')", ", reversibility) VALUES ('DEC-0', 'd', 'Often')"},
	"tags (name":                            {") VALUES (NULL)", ") VALUES ('twice'), ('twice')"},
	"decision_tags (decision_id, tag_id":    {") VALUES ('DEC-0', 77)", ") VALUES ('DEC-none', 1)", ") VALUES ('DEC-0', 1), ('DEC-0', 1)"},
	"document_references (file_path": {
		") VALUES (NULL)", ", reference_type) VALUES ('f', 'look')", ", referenced_by) VALUES ('f', 'bot')", ", related_task_id) VALUES ('f', 'TASK-none')",
	},
	"node_snapshots (id, run_id, node_id, node_type": {
		") VALUES ('SNAP-', 'r', 'n', 'commit')", ") VALUES ('SNAP-1', ' ', 'n', 'commit')", ") VALUES ('SNAP-1', 'r', '', 'commit')", ") VALUES ('SNAP-1', 'r', 'n', 'tag')",
		", tree_hash_type) VALUES ('SNAP-1', 'r', 'n', 'commit', 'md5')", ", agent_role) VALUES ('SNAP-1', 'r', 'n', 'commit', 'judge')",
		", phase) VALUES ('SNAP-1', 'r', 'n', 'commit', 5)", ", phase) VALUES ('SNAP-1', 'r', 'n', 'commit', 0)", ", status) VALUES ('SNAP-1', 'r', 'n', 'commit', 'done')",
		", parent_refs) VALUES ('SNAP-1', 'r', 'n', 'commit', NULL)", ", related_audit_id) VALUES ('SNAP-1', 'r', 'n', 'commit', 'x')",
	},
	"suggestion_history (suggestion_type, suggestion_text": {
		") VALUES ('idea', 't')", ") VALUES ('merge', NULL)", ", accepted) VALUES ('merge', 't', 2)", ", related_audit_id) VALUES ('merge', 't', 'x')",
	},
}

// good is one row for each table, which no rule forbids.
var good = []string{
	"audit_logs (id, date, task_name, mode, action, work_type, triggered_by) VALUES ('TASK-0', 'd', 't', 'm', 'a', NULL, 'hook')",
	"user_feedback (id, date, feedback_text, related_audit_id) VALUES ('FB-0', 'd', 'x', 'TASK-0')",
	"decisions (id, date, title, related_audit_id) VALUES ('DEC-0', 'd', 't', 'TASK-0')",
	"evidence (decision_id, type, ref_path) VALUES ('DEC-0', 't', '')",
	"impacts (decision_id, domain, reversibility) VALUES ('DEC-0', 'd', 'Low')",
	"tags (id, name) VALUES (1, 'once')",
	"decision_tags (decision_id, tag_id) VALUES ('DEC-0', 1)",
	"document_references (file_path, referenced_by, related_task_id) VALUES ('f', 'user', 'TASK-0')",
	"node_snapshots (id, run_id, node_id, node_type, related_audit_id) VALUES ('SNAP-0', 'r', 'n', 'merge', 'TASK-0')",
	"suggestion_history (suggestion_type, suggestion_text, accepted, related_audit_id) VALUES ('improvement', 't', NULL, 'TASK-0')",
}

func TestEveryRuleOfThePageHolds(t *testing.T) {
	l := newMirror(t)
	l.must("done", task(1))
	for _, g := range good {
		l.script("INSERT INTO " + g)
	}
	c, err := connect(t.Context(), l.path(audit), nil, busyTimeout)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	for table, rows := range forbidden {
		for _, r := range rows {
			if err := c.exec(t.Context(), "INSERT INTO "+table+r); !isRefused(err) {
				t.Errorf("%s%s: error %v, want a constraint", table, r, err)
			}
		}
	}
}

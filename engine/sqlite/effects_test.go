package sqlite

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFeedbackBecomesADecisionWithEvidenceAndImpact(t *testing.T) {
	l := newMirror(t)
	l.must("done", task(1))
	l.must("done", answer(1, task(1).ID))
	full := with(with(answer(2, nil), "user_id", "ana"), "source_ref_path", "a/level20_report.md")
	l.must("done", with(with(full, "impact_summary", nil), "reversibility", nil))

	text := `{"free_text":"희귀 라벨"}`
	for query, want := range map[string][]map[string]any{
		"SELECT id, date, title, context, decision_content, requested_by, approved_by, related_audit_id FROM decisions ORDER BY id": {
			{"id": "DEC-FB-20260302-00000001", "date": "2026-03-02", "title": "[AUTO] user feedback decision: FB-20260302-00000001",
				"context": "auto-generated from user_feedback", "decision_content": text, "requested_by": "user",
				"approved_by": "auto-feedback-rule", "related_audit_id": task(1).ID},
			{"id": "DEC-FB-20260302-00000002", "date": "2026-03-02", "title": "[AUTO] user feedback decision: FB-20260302-00000002",
				"context": "auto-generated from user_feedback", "decision_content": text, "requested_by": "ana",
				"approved_by": "auto-feedback-rule", "related_audit_id": nil},
		},
		"SELECT decision_id, type, ref_path, description FROM evidence ORDER BY id": {
			{"decision_id": "DEC-FB-20260302-00000001", "type": "user_feedback", "ref_path": "feedback:FB-20260302-00000001", "description": text},
			{"decision_id": "DEC-FB-20260302-00000002", "type": "user_feedback", "ref_path": "a/level20_report.md", "description": text},
		},
		"SELECT decision_id, domain, description, reversibility FROM impacts ORDER BY id": {
			{"decision_id": "DEC-FB-20260302-00000001", "domain": "workflow_optimization", "description": "Level 20 → 30, 1건 제안 수렴", "reversibility": "High"},
			{"decision_id": "DEC-FB-20260302-00000002", "domain": "workflow_optimization", "description": text, "reversibility": "Medium"},
		},
	} {
		if diff := cmp.Diff(want, l.rows(query)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	l.script("DELETE FROM audit_logs; DELETE FROM decisions WHERE requested_by = 'ana'")
	if n := l.count("SELECT count(*) FROM decisions WHERE related_audit_id IS NULL"); n != 1 {
		t.Errorf("%d decisions whose task is gone, want 1", n)
	}
	if n := l.count("SELECT (SELECT count(*) FROM evidence) + (SELECT count(*) FROM impacts)"); n != 2 {
		t.Errorf("%d rows of the decision that is left, want 2", n)
	}
}

// Each full-text table must find its rows before and after they change.
func TestFullTextFollowsTheRows(t *testing.T) {
	l := newMirror(t)
	l.must("done", task(1))
	l.must("done", answer(1, task(1).ID))
	l.script("INSERT INTO node_snapshots (id, run_id, node_id, node_type) VALUES ('SNAP-1', 'r', 'before', 'commit')")
	for _, tt := range []struct{ table, found, change, now, other string }{
		{"audit_logs", "level20_report", "notes = 'seltsam'", "seltsam", "duration_sec = 3"},
		{"decisions", "희귀", "decision_content = 'plain'", "plain", "approved_by = 'ben'"},
		{"node_snapshots", "before", "node_id = 'after'", "after", "phase = 3"},
	} {
		hits := func(word string) int {
			return l.count("SELECT count(*) FROM "+tt.table+" JOIN "+tt.table+"_fts AS f ON f.rowid = "+tt.table+".rowid WHERE "+tt.table+"_fts MATCH ?", `"`+word+`"`)
		}
		if n := hits(tt.found); n != 1 {
			t.Errorf("%s: %d rows with %s, want 1", tt.table, n, tt.found)
		}
		l.script("UPDATE " + tt.table + " SET " + tt.change)
		l.script("UPDATE " + tt.table + " SET " + tt.other)
		l.script("UPDATE " + tt.table + " SET " + tt.change + ", updated_at = 'then'")
		if n := hits(tt.now); n != 1 {
			t.Errorf("%s: %d rows with %s, want 1", tt.table, n, tt.now)
		}
		l.script("INSERT INTO " + tt.table + "_fts (" + tt.table + "_fts, rank) VALUES ('integrity-check', 1)")
		l.script("DELETE FROM " + tt.table)
		if n := l.count("SELECT count(*) FROM "+tt.table+"_fts WHERE "+tt.table+"_fts MATCH ?", tt.now); n != 0 {
			t.Errorf("%s: %d rows after all are gone", tt.table, n)
		}
		l.script("INSERT INTO " + tt.table + "_fts (" + tt.table + "_fts, rank) VALUES ('integrity-check', 1)")
	}
}

func TestAChangedRowSaysWhen(t *testing.T) {
	l := newMirror(t)
	l.must("done", task(1))
	l.must("done", answer(1, task(1).ID))
	l.script("INSERT INTO node_snapshots (id, run_id, node_id, node_type) VALUES ('SNAP-1', 'r', 'n', 'commit')")
	for table, change := range map[string]string{
		"audit_logs": "notes = 'x'", "decisions": "context = 'x'", "user_feedback": "user_id = 'x'", "node_snapshots": "phase = 1",
	} {
		l.script("UPDATE " + table + " SET updated_at = '2000-01-01 00:00:00'")
		if n := l.count("SELECT count(*) FROM " + table + " WHERE updated_at = '2000-01-01 00:00:00'"); n != 1 {
			t.Errorf("%s: a new updated_at is not kept", table)
		}
		l.script("UPDATE " + table + " SET " + change)
		if n := l.count("SELECT count(*) FROM " + table + " WHERE updated_at > '2020'"); n != 1 {
			t.Errorf("%s: updated_at stays what it was: %v", table, l.rows("SELECT updated_at FROM "+table))
		}
	}
}

func TestTheViewsSayWhatThePageSays(t *testing.T) {
	l := newMirror(t)
	l.must("done", with(with(task(1), "continuation_hint", "go on"), "files_affected", `["a"]`))
	l.must("done", with(with(with(task(2), "status", "fail"), "continuation_hint", "no"), "files_affected", `["a"]`))
	l.must("done", with(with(with(task(3), "continuation_hint", " "), "files_affected", `["a"]`), "duration_sec", nil))
	l.must("done", with(with(task(4), "work_type", nil), "files_affected", `["b"]`))
	refs := []string{"'a', 'read', 'user', '2026-01-01'", "'a', 'edit', 'user', '2026-01-03'", "'b', 'read', 'user', '2026-01-02'", "'a', 'read', 'agent', '2026-01-04'"}
	l.script("INSERT INTO document_references (file_path, reference_type, referenced_by, created_at) VALUES (" + strings.Join(refs, "), (") + ")")
	l.script(`INSERT INTO node_snapshots (id, run_id, node_id, node_type, related_audit_id, created_at) VALUES
		('SNAP-2', 'r', 'n2', 'commit', NULL, '2026-01-02'), ('SNAP-1', 'r', 'n1', 'branch', 'TASK-20260302-00000001', '2026-01-01')`)
	for view, want := range map[string]string{
		"v_user_document_frequency":  "file_path=a last_referenced=2026-01-03 reference_count=2 reference_types=read,edit; file_path=b last_referenced=2026-01-02 reference_count=1 reference_types=read",
		"v_agent_document_frequency": "file_path=a last_referenced=2026-01-04 reference_count=1 reference_types=read",
		"v_document_frequency":       "file_path=a last_referenced=2026-01-03 reference_count=2 referenced_by=user; file_path=a last_referenced=2026-01-04 reference_count=1 referenced_by=agent; file_path=b last_referenced=2026-01-02 reference_count=1 referenced_by=user",
		"v_recent_user_documents":    "context=<nil> created_at=2026-01-03 file_path=a reference_type=edit; context=<nil> created_at=2026-01-02 file_path=b reference_type=read; context=<nil> created_at=2026-01-01 file_path=a reference_type=read",
		"v_open_followups":           "continuation_hint=go on date=2026-03-02 id=TASK-20260302-00000001 mode=workflow_optimization task_name=optimizer/sop-masking-engine",
		"v_snapshot_lineage": "agent_role=execution created_at=2026-01-01 node_id=n1 node_type=branch parent_refs=[] phase=2 related_audit_status=success related_task_name=optimizer/sop-masking-engine run_id=r snapshot_id=SNAP-1 status=pending tree_hash_ref=<nil>; " +
			"agent_role=execution created_at=2026-01-02 node_id=n2 node_type=commit parent_refs=[] phase=2 related_audit_status=<nil> related_task_name=<nil> run_id=r snapshot_id=SNAP-2 status=pending tree_hash_ref=<nil>",
		"v_work_type_distribution": "avg_duration_sec=127.25 cnt=3 fail_cnt=1 pct=75 work_type=review",
		"v_pattern_candidates":     `audit_ids=TASK-20260302-00000001,TASK-20260302-00000002,TASK-20260302-00000003 files_affected=["a"] occurrence=3 work_type=review`,
		"v_file_hotspots":          `fail_refs=1 files_affected=["a"] total_refs=3 work_types=review; fail_refs=0 files_affected=["b"] total_refs=1 work_types=<nil>`,
	} {
		var got []string
		for _, r := range l.rows("SELECT * FROM " + view) {
			got = append(got, strings.TrimSuffix(strings.TrimPrefix(fmt.Sprint(r), "map["), "]")) // sorted by name
		}
		for i := range got {
			got[i] = strings.ReplaceAll(got[i], ":", "=")
		}
		if joined := strings.Join(got, "; "); joined != want {
			t.Errorf("%s\n got %s\nwant %s", view, joined, want)
		}
	}
	if diff := cmp.Diff(9, len(l.names("view"))); diff != "" {
		t.Errorf("views: %v", l.names("view"))
	}
}

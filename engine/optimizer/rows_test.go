package optimizer

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/schemas"
)

const askedDir = ".mso-context/active/20260302-msowd-sop-masking/optimizer"

func TestRowIDs(t *testing.T) {
	const run = "workspace/20260302-msowd-x"
	at := text("2026-03-02T23:59:59Z")
	audit := rowID(auditPrefix, run, 6, purposeAudit, at)
	if want := "TASK-20260302-" + strings.ToUpper(id(run, 6, "audit")); audit != want || len(audit) != 22 {
		t.Errorf("%s, want %s", audit, want)
	}
	seen := map[string]bool{}
	for _, other := range []string{
		audit, rowID(auditPrefix, run, 7, purposeAudit, at), rowID(auditPrefix, "20260302-msowd-x", 6, purposeAudit, at),
		rowID(auditPrefix, run, 6, purposeFeedback, at), rowID(auditPrefix, run, 6, purposeLate, at), rowID(auditPrefix, run, 6, purposeAudit, "2026-03-03T00:00:00Z"),
	} {
		if seen[other] {
			t.Errorf("%s is there twice", other)
		}
		seen[other] = true
	}
	// The day is that of the time in UTC.
	if got := rowID(feedbackPrefix, run, 1, purposeLate, "2026-03-02T08:00:00+09:00"); !strings.HasPrefix(got, "FB-20260301-") {
		t.Error(got)
	}
}

// column is a column of a row; missing is one that the row does not have.
func column(r Row, name string) any {
	for _, m := range r.Row {
		if m.Name == name {
			return m.Value
		}
	}
	return "missing"
}

func TestTheAuditRowOfAReport(t *testing.T) {
	st := asked("ko")
	st.trig.OptimizationGoal = "fewer \"misses\""
	st.Decision.RecommendedLevel, st.Decision.EscalationNeeded = ptr(30), true
	got := auditRow(st, "TASK-20260302-9F3A61C2", askedDir, "2026-03-02T09:14:05Z")
	want := Row{ID: "TASK-20260302-9F3A61C2", Table: "audit_logs", Outcome: "owed", Row: schemas.Object{
		{Name: "id", Value: "TASK-20260302-9F3A61C2"},
		{Name: "date", Value: "2026-03-02"},
		{Name: "task_name", Value: "optimizer/sop-masking-engine"},
		{Name: "mode", Value: "workflow_optimization"},
		{Name: "action", Value: "level20_report"},
		{Name: "input_path", Value: askedDir + "/trigger.json"},
		{Name: "output_path", Value: askedDir + "/level20_report.md"},
		{Name: "status", Value: "success"},
		{Name: "notes", Value: nil},
		{Name: "context_for_next", Value: `{"run_id":"20260302-msowd-sop-masking","workflow_name":"sop-masking-engine","automation_level":20,"applied_level":20,` +
			`"rationale":["Signal A: 20","Signal B: 20","Signal C: 0"],"escalation_needed":true,"recommended_level":30}`},
		{Name: "continuation_hint", Value: nil},
		{Name: "work_type", Value: "review"},
		{Name: "triggered_by", Value: "user_request"},
		{Name: "duration_sec", Value: 125.0},
		{Name: "files_affected", Value: `["` + askedDir + `/level20_report.md"]`},
		{Name: "pattern_tag", Value: "workflow_optimization"},
		{Name: "session_id", Value: "20260302-msowd-sop-masking"},
		{Name: "intent", Value: `fewer "misses"`},
		{Name: "created_at", Value: "2026-03-02 09:14:05"},
		{Name: "updated_at", Value: "2026-03-02 09:14:05"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// A cycle that is stopped later keeps the row that it owes.
	st.Status = Failed
	if diff := cmp.Diff(want, auditRow(st, "TASK-20260302-9F3A61C2", askedDir, "2026-03-02T09:14:05Z")); diff != "" {
		t.Errorf("stopped (-want +got):\n%s", diff)
	}
}

func TestTheAuditRowOfAFailedCycle(t *testing.T) {
	st := asked("en")
	st.Status, st.Report, st.Level.Current, st.trig.TriggerType = Failed, nil, 10, external
	row := auditRow(st, "TASK-20260302-00000000", askedDir, "2026-03-02T09:11:00Z") // before it began: the clock was set back
	for name, want := range map[string]any{
		"action": "level10_failed", "status": "fail", "output_path": nil, "files_affected": nil, "triggered_by": "auto", "intent": nil, "duration_sec": 0.0,
		"script_path": "missing", "transition_decision": "missing", "sprint": "missing",
	} {
		if got := column(row, name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	st.Level, st.Decision = nil, nil
	row = auditRow(st, "TASK-20260302-00000000", askedDir, "2026-03-02T09:13:00.5Z")
	for name, want := range map[string]any{
		"action": "cycle_failed", "duration_sec": 60.5,
		"context_for_next": `{"run_id":"20260302-msowd-sop-masking","workflow_name":"sop-masking-engine","automation_level":null,"applied_level":null,` +
			`"rationale":[],"escalation_needed":false,"recommended_level":null}`,
	} {
		if got := column(row, name); got != want {
			t.Errorf("no level: %s: %v, want %v", name, got, want)
		}
	}
}

func TestTheFeedbackRow(t *testing.T) {
	st := asked("ko")
	st.Answer = &Given{Response: optRaise, Selected: []string{"s1"}, Comment: " 더\n자주 "}
	got := feedbackRow(st, "FB-20260303-0A1B2C3D", "min", "2026-03-03T10:00:00Z", false, *st.Answer)
	want := Row{ID: "FB-20260303-0A1B2C3D", Table: "user_feedback", Outcome: "owed", Row: schemas.Object{
		{Name: "id", Value: "FB-20260303-0A1B2C3D"},
		{Name: "date", Value: "2026-03-03"},
		{Name: "user_id", Value: "min"},
		{Name: "feedback_text", Value: `{"feedback_type":"level_adjustment","workflow_name":"sop-masking-engine","level_before":20,"level_after":30,` +
			`"accepted_suggestions":["희귀 라벨 검사 추가"],"rejected_suggestions":["Split the slow step"],"free_text":"더\n자주"}`},
		{Name: "source_ref_path", Value: askedDir + "/level20_report.md"},
		{Name: "impact_domain", Value: "workflow_optimization"},
		{Name: "impact_summary", Value: "Level 20 → 30, 1건 제안 수렴"},
		{Name: "reversibility", Value: "High"},
		{Name: "related_audit_id", Value: "TASK-20260302-9F3A61C2"},
		{Name: "created_at", Value: "2026-03-03 10:00:00"},
		{Name: "updated_at", Value: "2026-03-03 10:00:00"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	row := feedbackRow(st, "FB-20260303-0A1B2C3D", "", "2026-03-03T10:00:00Z", true, *st.Answer)
	if column(row, "user_id") != nil || column(row, "related_audit_id") != nil {
		t.Errorf("nobody, refused: %v", row)
	}
}

func TestTheTypeOfAFeedback(t *testing.T) {
	for _, c := range []struct {
		level          int
		given          Given
		want, ko, text string
	}{
		{20, Given{Response: optLower, Selected: []string{"s1", "s2"}, Comment: "c"}, "level_adjustment", "Level 20 → 10, 2건 제안 수렴", "Level 20 → 10, 2 suggestions accepted"},
		{30, Given{Response: optRaise, Selected: []string{"s2"}}, "suggestion_acceptance", "Level 30 → 30, 1건 제안 수렴", "Level 30 → 30, 1 suggestions accepted"},
		{20, Given{Response: optAppropriate, Comment: "c"}, "free_text", "Level 20 → 20, 0건 제안 수렴", "Level 20 → 20, 0 suggestions accepted"},
		{10, Given{Response: optLower}, "free_text", "Level 10 → 10, 0건 제안 수렴", "Level 10 → 10, 0 suggestions accepted"},
	} {
		for lang, summary := range map[string]string{"ko": c.ko, "en": c.text} {
			st := asked(lang)
			st.Level.Current, st.Answer = c.level, &c.given
			row := feedbackRow(st, "FB-20260303-0A1B2C3D", "", "2026-03-03T10:00:00Z", false, *st.Answer)
			if got := column(row, "impact_summary"); got != summary {
				t.Errorf("%+v: %v, want %s", c.given, got, summary)
			}
			if said, _ := column(row, "feedback_text").(string); !strings.HasPrefix(said, `{"feedback_type":"`+c.want+`",`) {
				t.Errorf("%+v: %s", c.given, said)
			}
		}
	}
}

func TestTheLateRowIsThatOfTheAnswer(t *testing.T) {
	st := asked("ko")
	st.Status, st.Goal = Reached, ptr(goalOf(st, nil))
	late := Late{ReceivedAt: "2026-03-05T01:02:03Z", Response: optLower, Selected: []string{"s2"}, Comment: "c"}
	got := feedbackRow(st, "FB-20260305-0A1B2C3D", "min", late.ReceivedAt, false, late.given())
	st.Answer = &Given{Response: optLower, Selected: []string{"s2"}, Comment: "c"}
	if diff := cmp.Diff(feedbackRow(st, "FB-20260305-0A1B2C3D", "min", late.ReceivedAt, false, *st.Answer), got); diff != "" {
		t.Error(diff)
	}
	if column(got, "created_at") != "2026-03-05 01:02:03" {
		t.Errorf("%v", got)
	}
}

// TestRowsAreWrittenAndReadBack: audit.json keeps columns, order and types.
func TestRowsAreWrittenAndReadBack(t *testing.T) {
	st := asked("ko")
	row := auditRow(st, "TASK-20260302-9F3A61C2", askedDir, "2026-03-02T09:14:05Z")
	body, err := schemas.Encode(row)
	if err != nil {
		t.Fatal(err)
	}
	var back Row
	if err := schemas.Decode("", "audit.json", body, &back); err != nil {
		t.Fatal(err)
	}
	again, err := schemas.Encode(back)
	if err != nil || string(again) != string(body) {
		t.Errorf("%v\n%s", err, cmp.Diff(string(body), string(again)))
	}
}

func TestUserOf(t *testing.T) {
	for _, c := range []struct {
		by    *By
		known []string
		want  string
	}{
		{&By{User: "min"}, []string{"committed:ha <ha@example.com>"}, "min"},
		{&By{}, []string{"owner:root", "committed:ha <ha@example.com>", "committed:other"}, "ha <ha@example.com>"},
		{&By{User: "root", Source: "form"}, []string{"owner:root"}, ""},
		{&By{User: "root", Source: "form"}, []string{"owner:root", "committed:ha <ha@example.com>"}, "ha <ha@example.com>"},
		{nil, []string{"owner:root"}, ""},
		{nil, nil, ""},
	} {
		if got := userOf(c.by, c.known); got != c.want {
			t.Errorf("%v, %q: %q, want %q", c.by, c.known, got, c.want)
		}
	}
}

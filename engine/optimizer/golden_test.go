package optimizer

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var updateGolden = flag.Bool("update", false, "write the golden files anew")

// golden compares a document with its golden file.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *updateGolden {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// rich is a cycle with everything that a report can tell.
func rich(lang string, level int) (State, Findings, inputs) {
	st := asked(lang)
	st.Level.Current = level
	st.trig.OptimizationGoal, st.trig.CurrentLevel = "Fewer misses | at night", ptr(20)
	st.KPI = mergeKPI(Trigger{}, &KPI{Metrics: []Measure{
		{Name: "precision", Value: ptr(78.1), Target: ptr(95.0)}, {Name: "recall", Value: ptr(0.87), Unit: ratio},
		{Name: "f1", Value: ptr(91.00005)}, {Name: "coverage"}, {Name: "errors", Value: ptr(3.0), Threshold: ptr(5.0), Unit: number, Direction: down},
		{Name: "retries", Value: ptr(7.0), Threshold: ptr(5.0), Unit: number, Direction: down}, {Name: "runs", Value: ptr(12.0), Unit: number},
	}}, nil, 85)
	b, whyB := signalB(st.KPI)
	c, whyC := signalC([]FeedbackRow{{LevelBefore: 20, LevelAfter: 30}})
	why := &reasons{A: "evaluation: e.py, criteria_fixed: true, analysis: –, inputs/assets.json", B: whyB, C: whyC}
	previous := &PreviousGoal{RunID: "20260301-msowd-sop-masking", ApprovedBy: byTimeout, NextAutomationLevel: 20, OptimizationDirectives: []string{"Check rare labels"}}
	if level == 20 {
		previous.ApprovedBy = byHuman
	}
	st.Decision = ptr(decide(Signals{A: 30, B: b, C: c}, why, previous, lang))
	for from := st.Decision.AutomationLevel; from > level; from -= 10 {
		st.Demotions = append(st.Demotions, Demotion{From: from, To: from - 10, Error: fmt.Sprintf("level %d:\nexit 2", from), At: "2026-03-02T09:13:20Z"})
	}
	f := Findings{
		PreviousGoal: previous,
		OpenIssues:   []string{"한글 이슈", "Level 20 failed: no data"},
		LateAnswer:   &Late{Response: optRaise, Selected: []string{"s1", "s3"}, Comment: "Go up.", ProvidedBy: By{User: "min"}, ReceivedAt: "2026-03-01T10:00:00Z"},
		Warnings:     []string{"docs/usage/sop-masking-engine.md is missing"},
		Audit: AuditRows{Available: true, Rows: []AuditRow{
			{ID: "TASK-20260301-00000001", Date: "2026-03-01", Action: "level20_report", Status: "success"},
			{ID: "TASK-20260228-00000002", Date: "2026-02-28", Action: "level10_failed", Status: "fail", Notes: "disk full"},
		}},
		Callbacks: []Callback{
			{EventType: "anomaly_detected", CheckpointID: "cp-3", Severity: "high", Message: "rate doubled", Timestamp: "2026-03-02T08:00:00Z"},
			{EventType: "hitl_request", Message: "not shown"},
		},
	}
	in := inputs{Suggestions: Suggestions{Summary: "Rare labels are missed.", Patterns: []string{"Misses come in pairs"}}}
	for i, v := range []float64{80, 81, 79, 80, 82, 81, 80, 79, 30, 90.12345} {
		in.Records = append(in.Records, Record{RecordID: fmt.Sprintf("r%d", i+1), Metric: "precision", Value: v})
	}
	in.Records[2].Flag = anomaly
	for i, v := range []float64{0.9, 0.91, 0.5} {
		in.Records = append(in.Records, Record{RecordID: fmt.Sprintf("r%d", i+7), Metric: "recall", Value: v})
	}
	in.Records[12].Flag = anomaly
	in.Records = append(in.Records, Record{RecordID: "x", Metric: "Other", Value: -1})
	return st, f, in
}

// bare is a cycle with as little as a report can tell.
func bare(lang string, level int) (State, Findings, inputs) {
	st := asked(lang)
	st.Level.Current, st.Suggestions = level, nil
	st.Decision = ptr(Decide(level, nil, 0))
	return st, Findings{Audit: AuditRows{Available: true}}, inputs{}
}

func TestGoldenReports(t *testing.T) {
	for _, lang := range []string{"ko", "en"} {
		for _, level := range []int{10, 20, 30} {
			st, f, in := rich(lang, level)
			golden(t, fmt.Sprintf("%s-level%d-rich.md", lang, level), reportMD(st, f, in, 6))
			st, f, in = bare(lang, level)
			golden(t, fmt.Sprintf("%s-level%d-bare.md", lang, level), reportMD(st, f, in, 6))
		}
	}
}

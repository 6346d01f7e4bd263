package optimizer

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func ptr[T any](v T) *T { return &v }

// none is the neutral KPI signal in the table.
const none = 0

// table is the page's: for each assets and KPI signal the levels for a history
// of -10, 0 and +10; ! is an escalation, ^ a recommendation of 30.
var table = []struct {
	a, b int
	want [3]string
}{
	{10, none, [3]string{"10", "10", "20"}},
	{10, 10, [3]string{"10", "10", "20"}},
	{10, 20, [3]string{"10!", "10!", "10!"}},
	{10, 30, [3]string{"10!^", "10!^", "10!^"}},
	{20, none, [3]string{"10", "20", "30"}},
	{20, 10, [3]string{"10!", "10!", "10!"}},
	{20, 20, [3]string{"10", "20", "30"}},
	{20, 30, [3]string{"20!^", "20!^", "20!^"}},
	{30, none, [3]string{"20", "30", "30"}},
	{30, 10, [3]string{"10!", "10!", "10!"}},
	{30, 20, [3]string{"20!", "20!", "20!"}},
	{30, 30, [3]string{"20!^", "30", "30"}},
}

// signalOf is a KPI signal of the table.
func signalOf(b int) *int {
	if b == none {
		return nil
	}
	return &b
}

// written is a decision as the table has it.
func written(d Decision) string {
	s := fmt.Sprint(d.AutomationLevel)
	if d.EscalationNeeded {
		s += "!"
	}
	if d.RecommendedLevel != nil {
		s += map[bool]string{true: "^", false: fmt.Sprint("^", *d.RecommendedLevel)}[*d.RecommendedLevel == 30]
	}
	return s
}

func TestTheThirtySixCases(t *testing.T) {
	cases := 0
	for _, row := range table {
		for i, want := range row.want {
			cases++
			c := 10*i - 10
			d := Decide(row.a, signalOf(row.b), c)
			if got := written(d); got != want {
				t.Errorf("A %d, B %d, C %+d: %s, want %s", row.a, row.b, c, got, want)
			}
			if d.SignalLevel != d.AutomationLevel || d.GoalLevel != nil {
				t.Errorf("A %d, B %d, C %+d: signal_level %d, goal_level %v", row.a, row.b, c, d.SignalLevel, d.GoalLevel)
			}
			if diff := cmp.Diff(Signals{A: row.a, B: signalOf(row.b), C: c}, d.Signals); diff != "" {
				t.Error(diff)
			}
		}
	}
	if cases != 36 {
		t.Errorf("%d cases", cases)
	}
}

func TestTheRationaleOfTheBareTable(t *testing.T) {
	got := Decide(20, ptr(30), 10).Rationale
	want := []string{"Signal A: 20", "Signal B: 30", "Signal C: +10", "Conflict: assets say 20, KPI 30: the lower one, 20, is taken"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"Signal A: 20", "Signal B: –", "Signal C: -10"}, Decide(20, nil, -10).Rationale); diff != "" {
		t.Error(diff)
	}
}

func TestTheRationaleSaysWhatTheSignalsRestOn(t *testing.T) {
	for lang, want := range map[string][]string{
		"en": {
			"Signal A: 10 (neither inputs/assets.json nor the settings say what there is)",
			"Signal B: – (no gated metric with a value)",
			"Signal C: 0 (no feedback yet)",
		},
		"ko": {
			"Signal A: 10 (inputs/assets.json과 설정 어디에도 자산 정보가 없음)",
			"Signal B: – (값이 있는 게이트 지표 없음)",
			"Signal C: 0 (피드백 없음)",
		},
	} {
		if diff := cmp.Diff(want, decide(Signals{A: 10}, &reasons{}, nil, lang).Rationale); diff != "" {
			t.Errorf("%s: %s", lang, diff)
		}
	}
	got := decide(Signals{A: 20, B: ptr(20), C: 10}, &reasons{A: "a", B: "b", C: "c"}, nil, "en").Rationale
	if diff := cmp.Diff([]string{"Signal A: 20 (a)", "Signal B: 20 (b)", "Signal C: +10 (c)"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestAPersonsGoalIsApplied(t *testing.T) {
	const run = "20260301-msowd-x"
	for _, c := range []struct {
		name    string
		signals Signals
		by      string
		goal    int
		want    string
		lines   int // beside the three signals
	}{
		{"raises", Signals{A: 20, B: ptr(20)}, byHuman, 30, "30!", 1},
		{"lowers", Signals{A: 20, B: ptr(20)}, byHuman, 10, "10!", 1},
		{"is what the signals say", Signals{A: 20, B: ptr(20)}, byHuman, 20, "20", 0},
		{"meets the recommendation", Signals{A: 20, B: ptr(30)}, byHuman, 30, "30!", 2},
		{"stays below the recommendation", Signals{A: 30, B: ptr(30)}, byHuman, 20, "20!^", 1},
		{"a timeout's is nobody's word", Signals{A: 20, B: ptr(20)}, byTimeout, 30, "20", 0},
	} {
		d := decide(c.signals, &reasons{}, &PreviousGoal{RunID: run, ApprovedBy: c.by, NextAutomationLevel: c.goal}, "en")
		if got := written(d); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if want, _ := combined(c.signals); d.SignalLevel != want {
			t.Errorf("%s: signal_level %d, want %d", c.name, d.SignalLevel, want)
		}
		if (d.GoalLevel == nil) != (c.by == byTimeout) || d.GoalLevel != nil && *d.GoalLevel != c.goal {
			t.Errorf("%s: goal_level %v", c.name, d.GoalLevel)
		}
		if len(d.Rationale) != 3+c.lines {
			t.Errorf("%s: %q", c.name, d.Rationale)
		}
		differs := d.AutomationLevel != d.SignalLevel
		if differs != slices.Contains(d.Rationale, fmt.Sprintf("Goal: a person chose %d in %s; the signals come to %d", c.goal, run, d.SignalLevel)) {
			t.Errorf("%s: %q", c.name, d.Rationale)
		}
	}
}

// TestTheOrderOfTheRationale: signals, Goal, Conflict.
func TestTheOrderOfTheRationale(t *testing.T) {
	d := decide(Signals{A: 20, B: ptr(30)}, &reasons{}, &PreviousGoal{RunID: "r", ApprovedBy: byHuman, NextAutomationLevel: 30}, "ko")
	var begins []string
	for _, line := range d.Rationale {
		begin, _, _ := strings.Cut(line, ": ")
		begins = append(begins, begin)
	}
	if diff := cmp.Diff([]string{"Signal A", "Signal B", "Signal C", "Goal", "Conflict"}, begins); diff != "" {
		t.Error(diff)
	}
}

// byThePage is the page's rule, written down a second time, word by word.
func byThePage(a, b, c int) string {
	adjusted := max(10, min(30, a+c))
	level, escalation := adjusted, b == 30 && adjusted < 30
	if b != none && a != b {
		level, escalation = min(a, b), true
	}
	s := fmt.Sprint(level)
	if escalation {
		s += "!"
	}
	if b == 30 && level < 30 {
		s += "^"
	}
	return s
}

func TestTheRuleOfThePageIsItsTable(t *testing.T) {
	for _, row := range table {
		for i, want := range row.want {
			if got := byThePage(row.a, row.b, 10*i-10); got != want {
				t.Errorf("A %d, B %d, C %+d: %s, want %s", row.a, row.b, 10*i-10, got, want)
			}
		}
	}
}

func TestALevelIsAlwaysOneOfThree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		levels := rapid.SampledFrom([]int{10, 20, 30})
		s := Signals{A: levels.Draw(t, "a"), C: rapid.SampledFrom([]int{-10, 0, 10}).Draw(t, "c")}
		if rapid.Bool().Draw(t, "kpi") {
			s.B = ptr(levels.Draw(t, "b"))
		}
		var goal *PreviousGoal
		if rapid.Bool().Draw(t, "goal") {
			goal = &PreviousGoal{ApprovedBy: rapid.SampledFrom([]string{byHuman, byTimeout}).Draw(t, "by"), NextAutomationLevel: levels.Draw(t, "next")}
		}
		d := decide(s, &reasons{}, goal, "en")
		if !slices.Contains([]int{10, 20, 30}, d.AutomationLevel) || !slices.Contains([]int{10, 20, 30}, d.SignalLevel) {
			t.Fatalf("%+v", d)
		}
		if d.AutomationLevel != d.SignalLevel && !d.EscalationNeeded {
			t.Fatalf("a goal against the signals without escalation: %+v", d)
		}
		if d.RecommendedLevel != nil && (s.B == nil || *s.B != 30 || d.AutomationLevel == 30) {
			t.Fatalf("recommends %d: %+v", *d.RecommendedLevel, d)
		}
	})
}

func TestSignalA(t *testing.T) {
	configured := func(w Workflow) settings { return settings{Workflow: w, Named: true} }
	script := []string{"python3", "a.py"}
	for _, c := range []struct {
		name   string
		assets *Assets
		s      settings
		waited bool
		level  int
		ok     bool
	}{
		{"evaluation and criteria", &Assets{EvaluationScript: "e.py", AnalysisScript: "a.py", CriteriaFixed: true}, settings{}, false, 30, true},
		{"evaluation alone, criteria", &Assets{EvaluationScript: "e.py", CriteriaFixed: true}, settings{}, false, 30, true},
		{"evaluation without criteria", &Assets{EvaluationScript: "e.py"}, settings{}, false, 10, true},
		{"evaluation without criteria, analysis", &Assets{EvaluationScript: "e.py", AnalysisScript: "a.py"}, settings{}, false, 20, true},
		{"criteria alone", &Assets{CriteriaFixed: true}, settings{}, false, 10, true},
		{"a blank name is none", &Assets{EvaluationScript: " ", AnalysisScript: "\u200b\n", CriteriaFixed: true}, settings{}, false, 10, true},
		{"an empty file says 10 although settings say 30", &Assets{}, configured(Workflow{Evaluation: script, CriteriaFixed: true}), false, 10, true},
		{"settings, evaluation", nil, configured(Workflow{Evaluation: script, CriteriaFixed: true}), false, 30, true},
		{"settings, evaluation without criteria", nil, configured(Workflow{Evaluation: script}), false, 10, true},
		{"settings, analysis", nil, configured(Workflow{Analysis: script, CriteriaFixed: true}), false, 20, true},
		{"a table without commands waits", nil, configured(Workflow{CriteriaFixed: true}), false, 10, false},
		{"nothing, waiting", nil, settings{}, false, 10, false},
		{"nothing, waited", nil, settings{}, true, 10, true},
	} {
		level, why, ok := signalA(c.assets, c.s, c.waited)
		if level != c.level || ok != c.ok {
			t.Errorf("%s: %d, %t, want %d, %t", c.name, level, ok, c.level, c.ok)
		}
		if said := c.assets != nil || len(c.s.Workflow.Analysis)+len(c.s.Workflow.Evaluation) > 0; said != (why != "") {
			t.Errorf("%s: why %q", c.name, why)
		}
	}
	_, why, _ := signalA(&Assets{EvaluationScript: "e\n.py", AnalysisScript: "a.py", CriteriaFixed: true}, settings{}, false)
	if want := "evaluation: e .py, criteria_fixed: true, analysis: a.py, inputs/assets.json"; why != want {
		t.Errorf("why %q, want %q", why, want)
	}
	_, why, _ = signalA(nil, configured(Workflow{Analysis: script}), false)
	if want := "evaluation: –, criteria_fixed: false, analysis: python3 a.py, [optimizer.workflows]"; why != want {
		t.Errorf("why %q, want %q", why, want)
	}
}

// gated is a gated metric of a value, with the threshold 85.
func gated(name string, value float64) Metric {
	return Measure{Name: name, Value: &value}.settled(85)
}

func TestSignalB(t *testing.T) {
	for _, c := range []struct {
		name string
		kpi  []Metric
		want int
		why  string
	}{
		{"nothing", nil, none, ""},
		{"one", []Metric{gated("precision", 78.1)}, 30, "precision 78.1/85: -6.9"},
		{"the highest counts", []Metric{gated("a", 99), gated("b", 86), gated("c", 91)}, 20, "b 86/85: 1"},
		{"all of the highest are named", []Metric{gated("a", 10), gated("b", 86), gated("c", 20)}, 30, "a 10/85: -75, c 20/85: -65"},
		{"no value", []Metric{Measure{Name: "a"}.settled(85)}, none, ""},
		{"no gate", []Metric{Measure{Name: "a", Value: ptr(1.0), Gate: ptr(false)}.settled(85)}, none, ""},
		{"a number", []Metric{Measure{Name: "a", Value: ptr(1.0), Threshold: ptr(9.0), Unit: number}.settled(85)}, none, ""},
		{"at most five are named", slices.Repeat([]Metric{gated("a", 1)}, 7), 30, strings.Repeat("a 1/85: -84, ", 5) + "+2"},
		{"a name stays on its line", []Metric{gated("a\nSignal C: 10", 90)}, 10, "a Signal C: 10 90/85: 5"},
	} {
		level, why := signalB(c.kpi)
		if diff := cmp.Diff(signalOf(c.want), level); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if why != c.why {
			t.Errorf("%s: why %q, want %q", c.name, why, c.why)
		}
	}
}

func TestSignalC(t *testing.T) {
	raise, lower, keep := FeedbackRow{LevelBefore: 10, LevelAfter: 20}, FeedbackRow{LevelBefore: 30, LevelAfter: 20}, FeedbackRow{LevelBefore: 20, LevelAfter: 20}
	for _, c := range []struct {
		rows []FeedbackRow
		want int
	}{
		{nil, 0},
		{[]FeedbackRow{raise}, 10},
		{[]FeedbackRow{lower}, -10},
		{[]FeedbackRow{keep}, 0},
		{[]FeedbackRow{raise, keep}, 0},
		{[]FeedbackRow{raise, lower}, 0},
		{[]FeedbackRow{raise, raise}, 10},
		{[]FeedbackRow{raise, raise, lower}, 10},
		{[]FeedbackRow{lower, keep, lower}, -10},
		{[]FeedbackRow{raise, keep, keep}, 0},
		{[]FeedbackRow{raise, lower, keep}, 0},
		{[]FeedbackRow{keep, keep, raise, raise, raise}, 0}, // the newest three
	} {
		if step, _ := signalC(c.rows); step != c.want {
			t.Errorf("%v: %+d, want %+d", c.rows, step, c.want)
		}
	}
	if _, why := signalC([]FeedbackRow{raise, lower, keep, raise}); why != "10 → 20, 30 → 20, 20 → 20" {
		t.Errorf("why %q", why)
	}
}

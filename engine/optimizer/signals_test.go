package optimizer

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"placet/schemas"
)

func TestTheBoundariesOfAMargin(t *testing.T) {
	percentOf := func(v float64) Measure { return Measure{Name: "m", Value: &v} }
	ratioOf := func(v float64) Measure { return Measure{Name: "m", Value: &v, Unit: ratio} }
	downOf := func(v, threshold float64) Measure {
		return Measure{Name: "m", Value: &v, Threshold: &threshold, Direction: down}
	}
	ownRatio := ratioOf(0.9)
	ownRatio.Threshold = ptr(0.85)
	downRatio := ratioOf(0.07)
	downRatio.Threshold, downRatio.Direction = ptr(0.02), down
	for _, c := range []struct {
		name   string
		m      Measure
		margin float64
		level  int
	}{
		{"79.99", percentOf(79.99), -5.01, 30},
		{"80", percentOf(80), -5, 20},
		{"89.99", percentOf(89.99), 4.99, 20},
		{"90", percentOf(90), 5, 10},
		{"rounds down to the boundary", percentOf(79.9999999), -5, 20},
		{"stays below the boundary", percentOf(79.999999), -5.000001, 30},
		{"rounds up to the boundary", percentOf(89.9999999), 5, 10},
		{"stays above the boundary", percentOf(89.999999), 4.999999, 20},
		{"a ratio inherits percent", ratioOf(0.9), 5, 10},
		{"a ratio below", ratioOf(0.7999), -5.01, 30},
		{"a ratio at the lower boundary", ratioOf(0.8), -5, 20},
		{"a ratio of its own threshold", ownRatio, 5, 10},
		{"down, well below", downOf(10, 15), 5, 10},
		{"down, at the lower boundary", downOf(20, 15), -5, 20},
		{"down, far above", downOf(20.01, 15), -5.01, 30},
		{"down, a ratio", downRatio, -5, 20},
		{"0.1 + 0.2 is 0.3", downOf(0.3, 0.1+0.2), 0, 20},
		{"a huge ratio stays finite", ratioOf(math.MaxFloat64), math.MaxFloat64, 10},
		{"a huge distance stays finite", downOf(math.MaxFloat64, -math.MaxFloat64), -math.MaxFloat64, 30},
	} {
		m := c.m.settled(85)
		if m.Margin == nil || *m.Margin != c.margin {
			t.Errorf("%s: margin %v, want %v", c.name, m.Margin, c.margin)
			continue
		}
		if level, _ := signalB([]Metric{m}); level == nil || *level != c.level {
			t.Errorf("%s: level %v, want %d", c.name, level, c.level)
		}
		if math.Signbit(*m.Margin) && *m.Margin == 0 {
			t.Errorf("%s: a negative zero", c.name)
		}
	}
}

func TestWhatGatesAndWhatItInherits(t *testing.T) {
	for _, c := range []struct {
		name      string
		m         Measure
		gate      bool
		threshold *float64
		margin    *float64
	}{
		{"a percent gates", Measure{Value: ptr(90.0)}, true, ptr(85.0), ptr(5.0)},
		{"a ratio gates", Measure{Value: ptr(0.9), Unit: ratio}, true, ptr(0.85), ptr(5.0)},
		{"a number does not", Measure{Value: ptr(90.0), Unit: number}, false, nil, nil},
		{"a number keeps its threshold", Measure{Value: ptr(90.0), Unit: number, Threshold: ptr(7.0)}, false, ptr(7.0), nil},
		{"told not to", Measure{Value: ptr(90.0), Gate: ptr(false)}, false, nil, nil},
		{"told to, without a value", Measure{Gate: ptr(true)}, true, ptr(85.0), nil},
		{"a number of one source that gates in another", Measure{Value: ptr(90.0), Unit: number, Gate: ptr(true)}, false, nil, nil},
	} {
		m := c.m.settled(85)
		if diff := cmp.Diff([]any{c.gate, c.threshold, c.margin}, []any{m.Gate, m.Threshold, m.Margin}); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// trigger returns a trigger with these metrics.
func trigger(t *testing.T, metrics string) Trigger {
	t.Helper()
	var o schemas.Object
	if err := o.UnmarshalJSON([]byte(metrics)); err != nil {
		t.Fatal(err)
	}
	return Trigger{CurrentMetrics: o}
}

func TestMergeKPI(t *testing.T) {
	tr := trigger(t, `{"recall": 91.5, "errors": {"value": 3, "unit": "number"}, "precision": {"value": 78.1}}`)
	kpi := &KPI{GateThreshold: ptr(80.0), Metrics: []Measure{
		{Name: "precision", Value: ptr(50.0), Target: ptr(95.0), Threshold: ptr(85.0)},
		{Name: "f1", Value: ptr(0.7), Unit: ratio},
		{Name: "errors", Threshold: ptr(5.0), Direction: down},
	}}
	usage := &KPI{GateThreshold: ptr(70.0), Metrics: []Measure{
		{Name: "cost", Value: ptr(1.0), Unit: number, Gate: ptr(false)},
		{Name: "f1", Value: ptr(0.1), Target: ptr(0.9), Direction: up},
		{Name: "recall", Unit: percent, Target: ptr(99.0)},
	}}
	want := []Metric{
		{Name: "recall", Value: ptr(91.5), Threshold: ptr(80.0), Target: ptr(99.0), Unit: percent, Direction: up, Gate: true, Margin: ptr(11.5)},
		{Name: "errors", Value: ptr(3.0), Threshold: ptr(5.0), Unit: number, Direction: down},
		{Name: "precision", Value: ptr(78.1), Threshold: ptr(85.0), Target: ptr(95.0), Unit: percent, Direction: up, Gate: true, Margin: ptr(-6.9)},
		{Name: "f1", Value: ptr(0.7), Threshold: ptr(0.8), Target: ptr(0.9), Unit: ratio, Direction: up, Gate: true, Margin: ptr(-10.0)},
		{Name: "cost", Value: ptr(1.0), Unit: number, Direction: up},
	}
	if diff := cmp.Diff(want, mergeKPI(tr, kpi, usage, 85)); diff != "" {
		t.Error(diff)
	}
	if got := mergeKPI(Trigger{}, nil, nil, 85); len(got) != 0 {
		t.Errorf("metrics of nothing: %v", got)
	}
}

// A bare number of a trigger is in percent. If another source makes the metric a ratio, the number
// becomes one before it is compared, shown and recorded. An object has the unit of the metric.
func TestABareNumberIsInPercent(t *testing.T) {
	for _, c := range []struct {
		name, metric string
		lower        Measure
		value        float64
		margin       *float64
	}{
		{"a ratio of its own threshold", `78.1`, Measure{Unit: ratio, Threshold: ptr(0.85)}, 0.781, ptr(-6.9)},
		{"a ratio that inherits", `90`, Measure{Unit: ratio}, 0.9, ptr(5.0)},
		{"a ratio, down", `7`, Measure{Unit: ratio, Threshold: ptr(0.02), Direction: down}, 0.07, ptr(-5.0)},
		{"a percent", `78.1`, Measure{Threshold: ptr(85.0)}, 78.1, ptr(-6.9)},
		{"a count", `78.1`, Measure{Unit: number, Threshold: ptr(85.0)}, 78.1, nil},
		{"an object", `{"value": 0.781}`, Measure{Unit: ratio, Threshold: ptr(0.85)}, 0.781, ptr(-6.9)},
	} {
		c.lower.Name, c.lower.Value = "precision", ptr(0.5)
		tr := trigger(t, `{"precision": `+c.metric+`}`)
		sources := [][2]*KPI{{{Metrics: []Measure{c.lower}}, nil}, {nil, {Metrics: []Measure{c.lower}}}}
		for _, from := range sources {
			m := mergeKPI(tr, from[0], from[1], 85)[0]
			if diff := cmp.Diff([]any{c.value, c.margin}, []any{*m.Value, m.Margin}); diff != "" {
				t.Errorf("%s: %s", c.name, diff)
			}
		}
	}
}

// Signal B, the report's table and the state have the same number when the metrics come from files.
func TestABareNumberOfARatioBelowItsThreshold(t *testing.T) {
	tell(t, func(d *desk) {
		d.assets(10)
		d.write("inputs/kpi.json", `{"metrics": [{"name": "precision", "unit": "ratio", "threshold": 0.85, "target": 0.95}]}`)
		d.trigger(`"current_metrics": {"precision": 78.1}`)
		d.goes(triggered, collected, decided, reported, recorded)
		d.holds("level10_report.md", "| precision | 0.781 | 0.85 | missed |", "precision 0.781/0.85: -6.9")
	})
}

func TestWhoseThresholdIsInherited(t *testing.T) {
	tr := trigger(t, `{"m": 60}`)
	own, other := &KPI{GateThreshold: ptr(1.0)}, &KPI{GateThreshold: ptr(2.0)}
	for _, c := range []struct {
		kpi, usage *KPI
		want       float64
	}{{own, other, 1}, {own, nil, 1}, {&KPI{}, other, 2}, {nil, other, 2}, {nil, nil, 85}, {&KPI{}, &KPI{}, 85}} {
		if got := mergeKPI(tr, c.kpi, c.usage, 85)[0].Threshold; *got != c.want {
			t.Errorf("%v over %v: %v, want %v", c.kpi, c.usage, *got, c.want)
		}
	}
}

func TestProblemsOfASource(t *testing.T) {
	for want, k := range map[string]KPI{
		"": {Metrics: []Measure{{Name: "a"}, {Name: "A"}, {Name: "n", Unit: number, Gate: ptr(false)}, {Name: "r", Unit: ratio, Gate: ptr(true)}}},
		`/metrics/1/name: "a" is that of /metrics/0 as well: give each metric one entry`:                            {Metrics: []Measure{{Name: "a"}, {Name: "a"}}},
		`/metrics/0/gate: "a" has the unit number and cannot gate: leave gate out, or set unit to percent or ratio`: {Metrics: []Measure{{Name: "a", Unit: number, Gate: ptr(true)}}},
	} {
		got := ""
		if err := k.problem(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%v: %q, want %q", k, got, want)
		}
	}
}

func TestTriggerMetrics(t *testing.T) {
	for metrics, want := range map[string]string{
		`{"a": 1, "b": {"value": null}, "c": {"unit": "number", "gate": false}}`: "",
		`{"a": "20"}`:         "/current_metrics/a: expected a number, or an object like a metric of kpi.json",
		`{"a": null}`:         "/current_metrics/a: expected a number, or an object like a metric of kpi.json",
		`{"a": 1, "b\n": []}`: "/current_metrics/b: expected a number, or an object like a metric of kpi.json",
		`{"a": {"unit": "number", "gate": true}}`: "/current_metrics/a/gate: a metric of the unit number cannot gate",
	} {
		_, err := triggerMetrics(trigger(t, metrics).CurrentMetrics)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", metrics, got, want)
		}
	}
	if _, err := triggerMetrics(trigger(t, `{"a": {"value": "x"}}`).CurrentMetrics); err == nil {
		t.Error("a value of text is no error")
	}
}

func ptr[T any](v T) *T { return &v }

// none is the neutral KPI signal in the table.
const none = 0

// table is the page's table: for each signal of assets and KPI, the levels for a history of -10, 0
// and +10. ! marks an escalation, ^ a recommendation of 30.
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

// signalOf parses a KPI signal of the table.
func signalOf(b int) *int {
	if b == none {
		return nil
	}
	return &b
}

// written formats a decision as in the table.
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

func TestThePreviousGoalIsApplied(t *testing.T) {
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
		{"a timeout's is kept", Signals{A: 20, B: ptr(20)}, byTimeout, 30, "30!", 1},
		{"a timeout's is what the signals say", Signals{A: 20, B: ptr(20)}, byTimeout, 20, "20", 0},
	} {
		d := decide(c.signals, &reasons{}, &PreviousGoal{RunID: run, ApprovedBy: c.by, NextAutomationLevel: c.goal}, "en")
		if got := written(d); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if want, _ := combined(c.signals); d.SignalLevel != want {
			t.Errorf("%s: signal_level %d, want %d", c.name, d.SignalLevel, want)
		}
		if d.GoalLevel == nil || *d.GoalLevel != c.goal {
			t.Errorf("%s: goal_level %v", c.name, d.GoalLevel)
		}
		if len(d.Rationale) != 3+c.lines {
			t.Errorf("%s: %q", c.name, d.Rationale)
		}
		differs := d.AutomationLevel != d.SignalLevel
		says := map[string]string{byHuman: "Goal: a person chose %[1]d in %[2]s; the signals come to %[3]d", byTimeout: "Goal: nobody answered in %[2]s: its level, %[1]d, is kept; the signals come to %[3]d"}
		if differs != slices.Contains(d.Rationale, fmt.Sprintf(says[c.by], c.goal, run, d.SignalLevel)) {
			t.Errorf("%s: %q", c.name, d.Rationale)
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

// gated returns a gated metric with a value and the threshold 85.
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
	// A wish that the bounds leave without effect counts; the same level without a wish does not.
	wish := func(level int, typ text) []FeedbackRow {
		return []FeedbackRow{{LevelBefore: level, LevelAfter: level, FeedbackType: typ}}
	}
	for _, c := range []struct {
		rows []FeedbackRow
		want int
		why  string
	}{
		{wish(30, levelAdjustment), 10, "30 → 30 (raise)"}, {wish(10, levelAdjustment), -10, "10 → 10 (lower)"},
		{wish(20, levelAdjustment), 0, "20 → 20"}, {wish(30, "free_text"), 0, "30 → 30"}, {wish(10, "suggestion_acceptance"), 0, "10 → 10"},
	} {
		if step, why := signalC(c.rows); step != c.want || why != c.why {
			t.Errorf("%+v: %+d (%s), want %+d (%s)", c.rows, step, why, c.want, c.why)
		}
	}
}

// The metrics of trigger, kpi.json and usage document are merged field by field.
func TestMetricsAreMerged(t *testing.T) {
	tellWith(t, func(c *Config) { c.GateThreshold = 50 }, func(d *desk) {
		d.assets(10)
		d.write("inputs/kpi.json", `{"metrics": [{"name": "a", "value": 1, "threshold": 70}, {"name": "b", "value": 2}]}`)
		d.Put("docs/usage/"+flow+".md", "---\nsecret: 7\nkpi:\n  gate_threshold: 60\n  metrics: {a: {value: 3, target: 99}, c: {value: 4}}\n---\n# text\n")
		d.trigger(`"current_metrics": {"a": 77, "d": {"value": 5, "unit": "number"}}`)
		d.Settle()
		if a := d.state().KPI[0]; a.Name != "a" || *a.Value != 77 || *a.Threshold != 70 || *a.Target != 99 {
			t.Errorf("a is %+v", a)
		}
	})
}

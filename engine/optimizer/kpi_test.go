package optimizer

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

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

// trigger is one with these metrics.
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

// A bare number of a trigger is in percent: where another source makes the metric a
// ratio, it is one before it is compared, shown and recorded. An object has the unit
// of the metric.
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

// By files: signal B, the report's table and the state have the same number.
func TestABareNumberOfARatioBelowItsThreshold(t *testing.T) {
	tell(t, func(d *desk) {
		d.assets(10)
		d.write("inputs/kpi.json", `{"metrics": [{"name": "precision", "unit": "ratio", "threshold": 0.85, "target": 0.95}]}`)
		d.trigger(`"current_metrics": {"precision": 78.1}`)
		d.goes(triggered, collected, decided, reported, recorded)
		st := d.state()
		if b := st.Decision.Signals.B; b == nil || *b != 30 || *st.KPI[0].Value != 0.781 || *st.KPI[0].Margin != -6.9 {
			t.Errorf("signal B is %v of %+v", b, st.KPI)
		}
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

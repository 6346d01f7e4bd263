package optimizer

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"placet/schemas"
	"placet/templates"
)

// mergeKPI merges the metrics of trigger, kpi.json and usage document, in order of first
// appearance. Each field comes from the first source that states it. The sources are already
// checked.
func mergeKPI(trigger Trigger, kpi, usage *KPI, threshold float64) []Metric {
	measures, err := triggerMetrics(trigger.CurrentMetrics)
	if err != nil {
		measures = nil
	}
	kpi, usage = cmp.Or(kpi, &KPI{}), cmp.Or(usage, &KPI{})
	threshold = or(cmp.Or(kpi.GateThreshold, usage.GateThreshold), threshold)
	var merged []Metric
	for _, m := range joinedMeasures(measures, kpi.Metrics, usage.Metrics) {
		merged = append(merged, m.settled(threshold))
	}
	return merged
}

// joinedMeasures merges the measures of all sources by name. Each field comes from the first source
// that states it.
func joinedMeasures(sources ...[]Measure) []Measure {
	var all []Measure
	at := map[string]int{}
	for _, source := range sources {
		for _, m := range source {
			i, known := at[m.Name]
			if !known {
				at[m.Name] = len(all)
				all = append(all, m)
				continue
			}
			all[i] = all[i].over(m)
		}
	}
	return all
}

// over returns the measure with its missing fields filled in from a lower source.
func (m Measure) over(lower Measure) Measure {
	m.Value, m.Threshold, m.Target = cmp.Or(m.Value, lower.Value), cmp.Or(m.Threshold, lower.Threshold), cmp.Or(m.Target, lower.Target)
	m.Unit, m.Direction, m.Gate = cmp.Or(m.Unit, lower.Unit), cmp.Or(m.Direction, lower.Direction), cmp.Or(m.Gate, lower.Gate)
	return m
}

// settled returns the measure with its defaults as a metric. inherited is the threshold, in
// percent, of a gated metric that has none of its own; a ratio gets it as a ratio. A bare number of
// a trigger is in percent, too: 78.1 becomes the ratio 0.781.
func (m Measure) settled(inherited float64) Metric {
	r := Metric{
		Name: m.Name, Value: m.Value, Threshold: m.Threshold, Target: m.Target,
		Unit: cmp.Or(string(m.Unit), percent), Direction: cmp.Or(string(m.Direction), up),
	}
	if r.Unit == ratio && m.plain {
		r.Value = new(asRatio(*m.Value))
	}
	r.Gate = r.Unit != number && (m.Gate == nil || *m.Gate)
	if r.Gate && r.Threshold == nil {
		if r.Unit == ratio {
			inherited = asRatio(inherited)
		}
		r.Threshold = &inherited
	}
	if r.Gate {
		r.Margin = r.beyond()
	}
	return r
}

// asRatio converts a percentage into a ratio.
func asRatio(percents float64) float64 { return rounded(percents/100, 12) }

// beyond returns how far a metric is beyond its threshold, in percentage points or in its own unit,
// to 6 decimals; nil if value or threshold is missing.
func (m Metric) beyond() *float64 {
	if m.Value == nil || m.Threshold == nil {
		return nil
	}
	margin := m.points(*m.Value) - m.points(*m.Threshold)
	if m.Direction == down {
		margin = -margin
	}
	margin = rounded(finite(margin), 6)
	return &margin
}

// points returns a value of a metric in the unit of comparison: a ratio in percent.
func (m Metric) points(v float64) float64 {
	if m.Unit == ratio {
		v *= 100
	}
	return finite(v)
}

// problem returns what is wrong with a source of KPI that its schema cannot find, or nil: a
// duplicate name, a gate on a number.
func (k KPI) problem() error {
	seen := map[string]int{}
	for i, m := range k.Metrics {
		if first, twice := seen[m.Name]; twice {
			return templates.Errorf("optimizer.problem.metric.twice", "at", i, "name", strconv.Quote(templates.Line(m.Name, shownName)), "first", first)
		}
		seen[m.Name] = i
		if m.gatedNumber() {
			return templates.Errorf("optimizer.problem.metric.gate", "at", i, "name", strconv.Quote(templates.Line(m.Name, shownName)))
		}
	}
	return nil
}

func (m Measure) gatedNumber() bool { return m.Unit == number && m.Gate != nil && *m.Gate }

// triggerMetrics reads the current_metrics of a trigger. A member is a number, in percent whatever
// unit the metric has elsewhere, or an object like a metric of kpi.json without its name. The error
// names the bad member.
func triggerMetrics(o schemas.Object) ([]Measure, error) {
	var all []Measure
	for _, member := range o {
		m, value, name := Measure{Name: member.Name}, o.Raw(member.Name), templates.Line(member.Name, shownName)
		into, expected := any(&m.Value), templates.Key("optimizer.problem.current.number")
		if value.Kind() == '{' {
			into, expected = &m, "optimizer.problem.current.object"
		}
		if value.Kind() != '{' && value.Kind() != '0' {
			return nil, templates.Errorf("optimizer.problem.current", "name", name)
		}
		if err := schemas.DecodeValue(value, into); err != nil {
			return nil, templates.Errorf(expected, "name", name, "error", err)
		}
		m.Name, m.plain = member.Name, value.Kind() == '0'
		if m.gatedNumber() {
			return nil, templates.Errorf("optimizer.problem.current.gate", "name", name)
		}
		all = append(all, m)
	}
	return all, nil
}

// usageDocument is the part of a usage document's front matter that placet reads.
type usageDocument struct {
	KPI *struct {
		GateThreshold *float64           `json:"gate_threshold"`
		Metrics       map[string]Measure `json:"metrics"`
	} `json:"kpi"`
}

// decodeUsage reads the kpi block of a usage document's front matter; it returns nil if the
// document has none. It sorts the metrics by name. The error is a *schemas.Error with the line
// numbers of the document.
func decodeUsage(path string, front []byte) (*KPI, error) {
	var doc usageDocument
	if err := schemas.DecodeYAML("optimizer/usage", path, front, &doc, schemas.YAMLLimits{}); err != nil {
		return nil, err
	}
	if doc.KPI == nil {
		return nil, nil
	}
	kpi := &KPI{GateThreshold: doc.KPI.GateThreshold}
	for _, name := range slices.Sorted(maps.Keys(doc.KPI.Metrics)) {
		m := doc.KPI.Metrics[name]
		m.Name = name
		kpi.Metrics = append(kpi.Metrics, m)
	}
	return kpi, nil
}

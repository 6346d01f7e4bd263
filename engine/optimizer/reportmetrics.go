package optimizer

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"placet/templates"
)

// Results of comparing a metric with its threshold.
const (
	met     = "met"
	near    = "near"
	missed  = "missed"
	unknown = "unknown"
)

// standing compares a metric with its threshold: a number by its side of the threshold, any other
// unit by its margin.
func (m Metric) standing() string {
	margin := m.beyond()
	switch {
	case margin == nil:
		return unknown
	case m.Unit == number && *m.ahead(m.Value, m.Threshold) >= 0:
		return met
	case m.Unit == number:
		return missed
	}
	return map[int]string{10: met, 20: near, 30: missed}[calledFor(*margin)]
}

// roundingError is the relative error up to which two computed numbers count as equal.
const roundingError = 1e-12

// ahead returns how far a value is beyond another, in percentage points or in the metric's unit;
// nil if one of them is missing.
func (m Metric) ahead(value, against *float64) *float64 {
	if value == nil || against == nil {
		return nil
	}
	a, b := m.points(*value), m.points(*against)
	beyond := finite(a - b)
	if math.Abs(beyond) <= roundingError*max(math.Abs(a), math.Abs(b)) {
		beyond = 0
	}
	if m.Direction == down {
		beyond = -beyond
	}
	return &beyond
}

// numeralOr formats a number, or returns a dash for nil.
func numeralOr(v *float64) string {
	if v == nil {
		return "–"
	}
	return numeral(*v)
}

// rows makes a table of the metrics.
func (r report) rows(row func(Metric) templates.OptimizerRow) []templates.OptimizerRow {
	var rows []templates.OptimizerRow
	for _, m := range r.KPI[:min(len(r.KPI), reportMetrics)] {
		made := row(m)
		made.Name = mdName(m.Name)
		rows = append(rows, made)
	}
	if more := len(r.KPI) - reportMetrics; more > 0 {
		rows = append(rows, templates.OptimizerRow{Name: "… +" + strconv.Itoa(more), Current: "–", Against: "–", Status: "–"})
	}
	return rows
}

// metrics returns the table of level 10.
func (r report) metrics() []templates.OptimizerRow {
	return r.rows(func(m Metric) templates.OptimizerRow {
		return templates.OptimizerRow{Current: numeralOr(m.Value), Against: numeralOr(m.Threshold), Status: r.say("status." + m.standing())}
	})
}

// irregular returns what level 10 finds: missed metrics, the observer's reports, failed rows of the
// audit.
func (r report) irregular() []string {
	lines := linesOf(r.KPI, func(m Metric) string {
		if m.standing() != missed {
			return ""
		}
		return r.say("missed", "metric", mdName(m.Name), "value", numeralOr(m.Value), "threshold", numeralOr(m.Threshold))
	})
	calls := linesOf(r.Found.Callbacks, func(c Callback) string {
		if c.EventType != "anomaly_detected" {
			return ""
		}
		return r.say("callback", "where", joined(string(c.Severity), string(c.CheckpointID), string(c.Timestamp)), "message", mdText(string(c.Message)))
	})
	rows := linesOf(r.failedRows(), func(row AuditRow) string {
		return r.say("failed", "id", mdName(row.ID), "where", joined(string(row.Date), string(row.Action)), "notes", mdText(string(row.Notes)))
	})
	return slices.Concat(atMost(lines, reportMetrics), atMost(calls, reportLines), atMost(rows, reportLines))
}

// joined joins the names that are not blank, or returns a dash.
func joined(names ...string) string {
	names = slices.DeleteFunc(names, func(s string) bool { return templates.Blank(s) })
	if len(names) == 0 {
		return "–"
	}
	for i, s := range names {
		names[i] = mdName(s)
	}
	return strings.Join(names, ", ")
}

// trends returns the statistics of each metric.
func (r report) trends() []string {
	return atMost(linesOf(r.stats, func(s Statistics) string {
		return r.say("statistics", "metric", mdName(s.Metric), "n", strconv.Itoa(s.N), "mean", numeral(s.Mean),
			"median", numeral(s.Median), "min", numeral(s.Min), "max", numeral(s.Max), "trend", r.say("trend."+s.Trend))
	}), reportMetrics)
}

// patterns returns the patterns that the agent names, and those that the records show.
func (r report) patterns() []string {
	several := linesOf(anomalousInSeveral(r.stats), func(id string) string { return r.say("several", "id", mdName(id)) })
	many := linesOf(r.stats, func(s Statistics) string {
		if !s.manyAnomalies() {
			return ""
		}
		return r.say("share", "metric", mdName(s.Metric), "share", numeral(100*float64(len(s.Anomalies))/float64(s.N)),
			"k", strconv.Itoa(len(s.Anomalies)), "n", strconv.Itoa(s.N))
	})
	return slices.Concat(texts(r.in.Suggestions.Patterns), atMost(several, reportMetrics), atMost(many, reportMetrics))
}

// outliers returns the anomalies of each metric that has any.
func (r report) outliers() []string {
	return atMost(linesOf(r.stats, func(s Statistics) string {
		found := linesOf(s.Anomalies, func(a Anomalous) string {
			if a.Computed {
				return mdName(a.RecordID) + " " + numeral(a.Value) + " (" + r.say("computed") + ")"
			}
			return mdName(a.RecordID) + " " + numeral(a.Value)
		})
		if len(found) == 0 {
			return ""
		}
		return mdName(s.Metric) + ": " + strings.Join(atMost(found, reportAnomalies), ", ")
	}), reportMetrics)
}

// current returns the mean of a metric's records, or else its value.
func (r report) current(m Metric) *float64 {
	for _, s := range r.stats {
		if s.Metric == m.Name {
			return &s.Mean
		}
	}
	return m.Value
}

// aim returns the value that a metric should reach.
func (m Metric) aim() *float64 { return cmp.Or(m.Target, m.Threshold) }

// reach returns how far a metric is beyond its aim; nil if value or aim is missing.
func (r report) reach(m Metric) *float64 { return m.ahead(r.current(m), m.aim()) }

// attained returns the table of level 30.
func (r report) attained() []templates.OptimizerRow {
	return r.rows(func(m Metric) templates.OptimizerRow {
		status := unknown
		if beyond := r.reach(m); beyond != nil {
			status = map[bool]string{true: "yes", false: "no"}[*beyond >= 0]
		}
		return templates.OptimizerRow{Current: numeralOr(r.current(m)), Against: numeralOr(m.aim()), Status: r.say("attained." + status)}
	})
}

// short returns the metrics that miss their aim, the furthest first.
func (r report) short() []string {
	gaps := slices.DeleteFunc(slices.Clone(r.KPI), func(m Metric) bool { beyond := r.reach(m); return beyond == nil || *beyond >= 0 })
	slices.SortStableFunc(gaps, func(a, b Metric) int { return cmp.Compare(*r.reach(a), *r.reach(b)) })
	return atMost(linesOf(gaps, func(m Metric) string {
		return r.say("short", "metric", mdName(m.Name), "value", numeralOr(r.current(m)), "target", numeralOr(m.aim()))
	}), reportMetrics)
}

package optimizer

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"placet/templates"
)

// How a metric stands against its threshold.
const (
	met     = "met"
	near    = "near"
	missed  = "missed"
	unknown = "unknown"
)

// standing says how a metric is against its threshold: by its margin, a number
// by the side that it is on.
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

// roundingError is the part of two numbers by which their difference may be off
// where one of them was computed.
const roundingError = 1e-12

// ahead is how far a value is beyond what it is held against, in percent points
// or in the metric's unit; nil where one of them is missing.
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

// numeralOr is a number as it is shown, a dash where there is none.
func numeralOr(v *float64) string {
	if v == nil {
		return "–"
	}
	return numeral(*v)
}

// rows make a table of the metrics.
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

// metrics are the table of level 10.
func (r report) metrics() []templates.OptimizerRow {
	return r.rows(func(m Metric) templates.OptimizerRow {
		return templates.OptimizerRow{Current: numeralOr(m.Value), Against: numeralOr(m.Threshold), Status: r.say("status." + m.standing())}
	})
}

// irregular is what level 10 finds: missed metrics, the observer's words, rows
// of the audit that failed.
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

// joined are the names that say something, a dash where none does.
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

// trends are the statistics of each metric.
func (r report) trends() []string {
	return atMost(linesOf(r.stats, func(s Statistics) string {
		return r.say("statistics", "metric", mdName(s.Metric), "n", strconv.Itoa(s.N), "mean", numeral(s.Mean),
			"median", numeral(s.Median), "min", numeral(s.Min), "max", numeral(s.Max), "trend", r.say("trend."+s.Trend))
	}), reportMetrics)
}

// patterns are those that the agent names, and what the records show.
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

// outliers are the anomalies of each metric that has some.
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

// current is the mean of a metric's records, else its value.
func (r report) current(m Metric) *float64 {
	for _, s := range r.stats {
		if s.Metric == m.Name {
			return &s.Mean
		}
	}
	return m.Value
}

// aim is what a metric is to reach.
func (m Metric) aim() *float64 { return cmp.Or(m.Target, m.Threshold) }

// reach is how far a metric is beyond its aim; nil where value or aim is
// missing.
func (r report) reach(m Metric) *float64 { return m.ahead(r.current(m), m.aim()) }

// attained are the table of level 30.
func (r report) attained() []templates.OptimizerRow {
	return r.rows(func(m Metric) templates.OptimizerRow {
		status := unknown
		if beyond := r.reach(m); beyond != nil {
			status = map[bool]string{true: "yes", false: "no"}[*beyond >= 0]
		}
		return templates.OptimizerRow{Current: numeralOr(r.current(m)), Against: numeralOr(m.aim()), Status: r.say("attained." + status)}
	})
}

// short are the metrics that do not reach their aim, the furthest first.
func (r report) short() []string {
	gaps := slices.DeleteFunc(slices.Clone(r.KPI), func(m Metric) bool { beyond := r.reach(m); return beyond == nil || *beyond >= 0 })
	slices.SortStableFunc(gaps, func(a, b Metric) int { return cmp.Compare(*r.reach(a), *r.reach(b)) })
	return atMost(linesOf(gaps, func(m Metric) string {
		return r.say("short", "metric", mdName(m.Name), "value", numeralOr(r.current(m)), "target", numeralOr(m.aim()))
	}), reportMetrics)
}

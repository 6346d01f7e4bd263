package optimizer

import (
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Statistics summarizes the records of one metric.
type Statistics struct {
	Metric                 string
	N                      int
	Mean, Median, Min, Max float64
	Trend                  string
	Anomalies              []Anomalous
}

// Anomalous is a record that is an anomaly of its metric.
type Anomalous struct {
	Record
	// Computed is set if the distance from the median makes the record an anomaly, and no flag
	// does.
	Computed bool
}

// Trends: too few values, or the second half compared with the first.
const (
	few     = "few"
	rising  = "rising"
	falling = "falling"
	flat    = "flat"
)

// Least numbers of values for a trend, and for computing anomalies.
const (
	leastTrend    = 4
	leastComputed = 8
)

// Thresholds: the change that makes a trend, as a fraction of the first half's mean; and the number
// of deviations from the median that is too far. The median absolute deviation times deviation is
// the standard deviation of normally distributed values.
const (
	trendStep  = 0.05
	tooFar     = 3
	deviation  = 1.4826
	largeShare = 20 // percent of a metric's records
)

// statistics returns the statistics of each metric, in byte order of their names.
func statistics(records []Record) []Statistics {
	groups := map[string][]Record{}
	for _, r := range records {
		groups[r.Metric] = append(groups[r.Metric], r)
	}
	var all []Statistics
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		all = append(all, statisticsOf(name, groups[name]))
	}
	return all
}

// statisticsOf returns the statistics of one metric, whose records are in file order.
func statisticsOf(name string, records []Record) Statistics {
	values := make([]float64, len(records))
	for i, r := range records {
		values[i] = r.Value
	}
	return Statistics{
		Metric: name, N: len(values), Mean: mean(values), Median: median(values), Min: slices.Min(values), Max: slices.Max(values),
		Trend: trend(values), Anomalies: anomalies(records, values),
	}
}

// mean returns the mean, finite for finite values: it splits a sum that would overflow.
func mean(values []float64) float64 {
	sum, n := 0.0, float64(len(values))
	for _, v := range values {
		sum += v
	}
	if !math.IsInf(sum, 0) && !math.IsNaN(sum) {
		return sum / n
	}
	sum = 0
	for _, v := range values {
		sum += v / n
	}
	return finite(sum)
}

// median returns the middle value; for an even number of values, the mean of the middle two.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return mean(sorted[half-1 : half+1])
}

// trend compares the means of the first and the last half.
func trend(values []float64) string {
	if len(values) < leastTrend {
		return few
	}
	half := len(values) / 2
	a, b := mean(values[:half]), mean(values[len(values)-half:])
	change := b
	if a != 0 {
		change = (b - a) / math.Abs(a)
	} else if b != 0 {
		change = math.Copysign(1, b)
	}
	switch {
	case change >= trendStep:
		return rising
	case change <= -trendStep:
		return falling
	}
	return flat
}

// anomalies returns the records that are flagged or too far from the median.
func anomalies(records []Record, values []float64) []Anomalous {
	far := outlying(values)
	var found []Anomalous
	for i, r := range records {
		if r.Flag == anomaly || far(values[i]) {
			found = append(found, Anomalous{Record: r, Computed: r.Flag != anomaly})
		}
	}
	return found
}

// outlying returns the test for values too far from the median. No value is, if the values are few
// or half of them are equal.
func outlying(values []float64) func(float64) bool {
	middle := median(values)
	distance := func(v float64) float64 { return math.Abs(v - middle) }
	distances := make([]float64, len(values))
	for i, v := range values {
		distances[i] = distance(v)
	}
	mad := median(distances)
	limit := tooFar * deviation * mad
	return func(v float64) bool { return len(values) >= leastComputed && mad > 0 && distance(v) > limit }
}

// manyAnomalies reports whether anomalies make up a large share of the records.
func (s Statistics) manyAnomalies() bool { return len(s.Anomalies)*100 >= largeShare*s.N }

// anomalousInSeveral returns the ids of records that are anomalous in at least two metrics, in byte
// order.
func anomalousInSeveral(all []Statistics) []string {
	metrics := map[string]int{}
	for _, s := range all {
		seen := map[string]bool{}
		for _, a := range s.Anomalies {
			if !seen[a.RecordID] {
				seen[a.RecordID] = true
				metrics[a.RecordID]++
			}
		}
	}
	var ids []string
	for _, id := range slices.Sorted(maps.Keys(metrics)) {
		if metrics[id] >= 2 {
			ids = append(ids, id)
		}
	}
	return ids
}

// decimals formats a finite number with at most n decimals, n > 0, rounded half away from zero,
// without trailing zeros, exponent and negative zero. It rounds the shortest decimal that denotes
// the number, so that 1.00005 becomes 1.0001, although no float64 is exactly 1.00005.
func decimals(v float64, n int) string {
	exact, ok := new(big.Rat).SetString(strconv.FormatFloat(v, 'f', -1, 64))
	if !ok {
		return "0"
	}
	text := strings.TrimSuffix(strings.TrimRight(exact.FloatString(n), "0"), ".")
	if text == "-0" {
		return "0"
	}
	return text
}

// rounded returns a number rounded to n decimals as [decimals] does.
func rounded(v float64, n int) float64 {
	r, err := strconv.ParseFloat(decimals(v, n), 64)
	if err != nil {
		return v
	}
	return r
}

// numeral formats a number for people.
func numeral(v float64) string { return decimals(v, 4) }

// finite limits a result to what JSON can express.
func finite(v float64) float64 { return min(max(v, -math.MaxFloat64), math.MaxFloat64) }

package optimizer

import (
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Statistics are what the records of one metric come to.
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
	// Computed is set where no flag says so, but the distance from the median.
	Computed bool
}

// Trends: too few values, and how the second half is against the first.
const (
	few     = "few"
	rising  = "rising"
	falling = "falling"
	flat    = "flat"
)

// The least number of values for a trend, and for an anomaly to be computed.
const (
	leastTrend    = 4
	leastComputed = 8
)

// Thresholds: the change that makes a trend, as a part of the first half's
// mean; and how many deviations from the median are too far. A median absolute
// deviation times deviation is the standard deviation of normal values.
const (
	trendStep  = 0.05
	tooFar     = 3
	deviation  = 1.4826
	largeShare = 20 // percent of a metric's records
)

// statistics returns those of each metric, in byte order of their names.
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

// statisticsOf returns those of one metric, whose records are in file order.
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

// mean is finite for finite values: a sum that is too large is made of parts.
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

// median is the middle value, of an even number the mean of the middle two.
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

// anomalies are the records that are flagged, and those too far from the
// median.
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

// outlying says which values are too far from the median; none are where the
// values are few, or half of them alike.
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

// share reports whether anomalies make up a large share of the records.
func (s Statistics) manyAnomalies() bool { return len(s.Anomalies)*100 >= largeShare*s.N }

// anomalousInSeveral are the ids of records that are anomalous in at least two
// metrics, in byte order.
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

// decimals writes a finite number with at most n decimals, n > 0, rounded half
// away from zero, without trailing zeros, exponent and negative zero. What is
// rounded is the shortest decimal that means the number, so that 1.00005 is
// 1.0001 for whoever wrote it, although no float64 is quite that.
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

// rounded is a number to n decimals, as [decimals] writes it.
func rounded(v float64, n int) float64 {
	r, err := strconv.ParseFloat(decimals(v, n), 64)
	if err != nil {
		return v
	}
	return r
}

// numeral is how numbers are shown.
func numeral(v float64) string { return decimals(v, 4) }

// finite keeps a result within what JSON can say.
func finite(v float64) float64 { return min(max(v, -math.MaxFloat64), math.MaxFloat64) }

package optimizer

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// recordsOf are records r1, r2, … of one metric.
func recordsOf(values ...float64) []Record {
	var all []Record
	for i, v := range values {
		all = append(all, Record{RecordID: fmt.Sprintf("r%d", i+1), Metric: "m", Value: v})
	}
	return all
}

func TestStatistics(t *testing.T) {
	records := slices.Concat(recordsOf(4, 1, 3, 2), []Record{
		{RecordID: "x", Metric: "Z", Value: 7, Flag: anomaly}, {RecordID: "y", Metric: "가", Value: -1}, {RecordID: "y", Metric: "가", Value: 1},
	})
	want := []Statistics{
		{Metric: "Z", N: 1, Mean: 7, Median: 7, Min: 7, Max: 7, Trend: few, Anomalies: []Anomalous{{Record: records[4]}}},
		{Metric: "m", N: 4, Mean: 2.5, Median: 2.5, Min: 1, Max: 4, Trend: flat},
		{Metric: "가", N: 2, Mean: 0, Median: 0, Min: -1, Max: 1, Trend: few},
	}
	if diff := cmp.Diff(want, statistics(records)); diff != "" {
		t.Error(diff)
	}
	if got := statistics(nil); got != nil {
		t.Errorf("statistics of nothing: %v", got)
	}
}

func TestTrend(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   string
	}{
		{[]float64{1}, few}, {[]float64{1, 2, 3}, few},
		{[]float64{100, 100, 105, 105}, rising},
		{[]float64{100, 100, 104.99, 104.99}, flat},
		{[]float64{100, 100, 95, 95}, falling},
		{[]float64{100, 100, 95.01, 95.01}, flat},
		{[]float64{100, 100, -7, 105, 105}, rising}, // the middle of an odd number counts for neither half
		{[]float64{-100, -100, -95, -95}, rising},
		{[]float64{-100, -100, -105, -105}, falling},
		{[]float64{0, 0, 0.001, 0.001}, rising},
		{[]float64{1, -1, -0.001, -0.001}, falling},
		{[]float64{0, 0, 0, 0}, flat},
		{[]float64{-1, 1, 2, -2}, flat},
		{[]float64{0, 0, 1e-300, 1e-300}, rising},
		{[]float64{-math.MaxFloat64, -math.MaxFloat64, math.MaxFloat64, math.MaxFloat64}, rising},
		{[]float64{math.MaxFloat64, math.MaxFloat64, -math.MaxFloat64, -math.MaxFloat64}, falling},
		{[]float64{5e-324, 5e-324, math.MaxFloat64, math.MaxFloat64}, rising},
	} {
		if got := trend(c.values); got != c.want {
			t.Errorf("%v: %s, want %s", c.values, got, c.want)
		}
	}
}

func TestAnomalies(t *testing.T) {
	// With one more value at an end the median is 10.5 or 9.5, and the median
	// distance 1: more than 4.4478 away is far.
	base := []float64{9, 11, 9, 11, 10, 9, 11}
	for _, c := range []struct {
		name   string
		values []float64
		want   []string
	}{
		{"far above", append(slices.Clone(base), 14.95), []string{"r8"}},
		{"not far enough", append(slices.Clone(base), 14.94), nil},
		{"far below", append(slices.Clone(base), 5.05), []string{"r8"}},
		{"too few", append(slices.Clone(base[:6]), 100), nil},
		{"half of them alike", []float64{1, 1, 1, 1, 1, 1, 1, 100}, nil},
		{"two", append(slices.Clone(base), 9, 50, -50, 10), []string{"r9", "r10"}},
		{"an infinite distance", []float64{-math.MaxFloat64, -math.MaxFloat64, -1, 0, 0, 1, 2, math.MaxFloat64, math.MaxFloat64}, []string{"r1", "r2", "r8", "r9"}},
	} {
		var got []string
		for _, a := range anomalies(recordsOf(c.values...), c.values) {
			got = append(got, a.RecordID)
			if !a.Computed {
				t.Errorf("%s: %s is not marked as computed", c.name, a.RecordID)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	flagged := recordsOf(1, 2)
	flagged[1].Flag = anomaly
	if got := anomalies(flagged, []float64{1, 2}); len(got) != 1 || got[0].RecordID != "r2" || got[0].Computed {
		t.Errorf("flagged: %+v", got)
	}
}

func TestSharesAndIDs(t *testing.T) {
	for _, c := range []struct {
		anomalies, n int
		want         bool
	}{{0, 5, false}, {1, 5, true}, {1, 6, false}, {2, 10, true}, {199, 1000, false}, {200, 1000, true}} {
		if got := (Statistics{N: c.n, Anomalies: make([]Anomalous, c.anomalies)}).manyAnomalies(); got != c.want {
			t.Errorf("%d of %d: %t", c.anomalies, c.n, got)
		}
	}
	in := func(ids ...string) Statistics {
		var s Statistics
		for _, id := range ids {
			s.Anomalies = append(s.Anomalies, Anomalous{Record: Record{RecordID: id}})
		}
		return s
	}
	// Twice in one metric is one metric.
	got := anomalousInSeveral([]Statistics{in("b", "a", "c", "c"), in("b", "d"), in("a", "b")})
	if diff := cmp.Diff([]string{"a", "b"}, got); diff != "" {
		t.Error(diff)
	}
}

// fractions are numbers without rounding.
func fractions(values []float64) []*big.Rat {
	var all []*big.Rat
	for _, v := range values {
		all = append(all, new(big.Rat).SetFloat64(v))
	}
	return all
}

func meanOf(all []*big.Rat) *big.Rat {
	sum := new(big.Rat)
	for _, r := range all {
		sum.Add(sum, r)
	}
	return sum.Quo(sum, big.NewRat(int64(len(all)), 1))
}

func medianOf(all []*big.Rat) *big.Rat {
	sorted := slices.SortedFunc(slices.Values(all), (*big.Rat).Cmp)
	return meanOf(sorted[(len(sorted)-1)/2 : len(sorted)/2+1])
}

// trendOf is the trend without a division: b - a against a twentieth of |a|.
func trendOf(all []*big.Rat) string {
	if len(all) < 4 {
		return few
	}
	half := len(all) / 2
	a, b := meanOf(all[:half]), meanOf(all[len(all)-half:])
	step, size := new(big.Rat).Sub(b, a), new(big.Rat).Mul(new(big.Rat).Abs(a), big.NewRat(1, 20))
	switch {
	case step.Sign() == 0:
		return flat
	case step.Sign() > 0 && step.Cmp(size) >= 0:
		return rising
	case step.Sign() < 0 && step.Abs(step).Cmp(size) >= 0:
		return falling
	}
	return flat
}

// TestStatisticsAgreeWithFractions compares with a second way: numbers of two
// binary places, in which no sum is rounded, and fractions.
func TestStatisticsAgreeWithFractions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Map(rapid.IntRange(-400, 400), func(i int) float64 { return float64(i) / 4 }), 1, 40).Draw(t, "values")
		s, exact := statisticsOf("m", recordsOf(values...)), fractions(values)
		same := func(name string, got float64, want *big.Rat) {
			if f, _ := want.Float64(); f != got {
				t.Fatalf("%s of %v: %v, want %v", name, values, got, f)
			}
		}
		same("mean", s.Mean, meanOf(exact))
		same("median", s.Median, medianOf(exact))
		if s.Min != slices.Min(values) || s.Max != slices.Max(values) || s.N != len(values) {
			t.Fatalf("%+v of %v", s, values)
		}
		if want := trendOf(exact); s.Trend != want && !atTheStep(exact) {
			t.Fatalf("trend of %v: %s, want %s", values, s.Trend, want)
		}
		middle := medianOf(exact)
		var distances []*big.Rat
		for _, v := range exact {
			distances = append(distances, new(big.Rat).Abs(new(big.Rat).Sub(v, middle)))
		}
		mad := medianOf(distances)
		limit := new(big.Rat).Mul(mad, big.NewRat(3*14826, 10000))
		for i, d := range distances {
			want := len(values) >= 8 && mad.Sign() > 0 && d.Cmp(limit) > 0
			got := slices.ContainsFunc(s.Anomalies, func(a Anomalous) bool { return a.RecordID == fmt.Sprintf("r%d", i+1) })
			if got != want {
				t.Fatalf("r%d of %v is an anomaly: %t", i+1, values, got)
			}
		}
	})
}

// atTheStep reports whether a trend is so near its threshold that float64 may
// round it to either side.
func atTheStep(all []*big.Rat) bool {
	if len(all) < 4 {
		return false
	}
	half := len(all) / 2
	a, _ := meanOf(all[:half]).Float64()
	b, _ := meanOf(all[len(all)-half:]).Float64()
	return a != 0 && math.Abs(math.Abs((b-a)/a)-0.05) < 1e-12
}

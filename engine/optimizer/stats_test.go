package optimizer

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"placet/schemas"
)

func TestNumerals(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", math.Copysign(0, -1): "0", 1: "1", -1: "-1", 85: "85", 78.1: "78.1", 0.5: "0.5",
		1.00005: "1.0001", -1.00005: "-1.0001", 1.00004: "1", 0.00005: "0.0001", -0.00004: "0", 0.03125: "0.0313",
		9.99995: "10", 99.99999: "100", -9.99995: "-10", 0.99996: "1", 1.2: "1.2", 1.10001: "1.1", 100: "100",
		1e21: "1000000000000000000000", 123456789.123456: "123456789.1235", 1e-300: "0", -1e-300: "0", 5e-324: "0",
	} {
		if got := numeral(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
	if got := numeral(-math.MaxFloat64); len(got) != 310 || strings.ContainsAny(got, "e.") {
		t.Errorf("the least number: %s", got)
	}
}

// byHand rounds the shortest decimal of v, half away from zero, by fractions.
func byHand(v float64, n int) string {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(math.Abs(v), 'g', -1, 64))
	scale := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil))
	r.Mul(r, scale).Add(r, big.NewRat(1, 2))
	whole := new(big.Int).Div(r.Num(), r.Denom())
	text := strings.TrimRight(new(big.Rat).Quo(new(big.Rat).SetInt(whole), scale).FloatString(n), "0")
	text = strings.TrimSuffix(text, ".")
	if v < 0 && text != "0" {
		text = "-" + text
	}
	return text
}

func TestDecimalsAgreeWithFractions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.OneOf(rapid.Float64(), rapid.Float64Range(-1000, 1000),
			rapid.Map(rapid.IntRange(-2_000_000, 2_000_000), func(i int) float64 { return float64(i) / 1e5 })).Draw(t, "value")
		n := rapid.IntRange(1, 6).Draw(t, "decimals")
		if got, want := decimals(v, n), byHand(v, n); got != want {
			t.Fatalf("%v to %d: %s, want %s", v, n, got, want)
		}
		if r := rounded(v, n); decimals(r, n) != decimals(v, n) || r == 0 && math.Signbit(r) {
			t.Fatalf("%v to %d is %v", v, n, r)
		}
	})
}

const goodRecord = `{"record_id": "r1", "metric": "precision", "value": 78.1}`

func TestParseRecords(t *testing.T) {
	got, err := parseRecords([]byte(`{"record_id": "r1", "metric": "precision", "value": 78.1, "flag": null, "source": {"more": [1]}}
{"flag":"anomaly","value":-1e3,"metric":"f1 점수","record_id":""}` + "\r\n" + goodRecord + "\n"))
	want := []Record{{"r1", "precision", 78.1, ""}, {"", "f1 점수", -1000, anomaly}, {"r1", "precision", 78.1, ""}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestBadRecords(t *testing.T) {
	const example = `{"record_id": "r1", "metric": "precision", "value": 78.1, "flag": null}`
	for _, c := range []struct{ name, body, want string }{
		{"empty", "", "the file is empty: expected at least one line such as " + example},
		{"blank", " \n\n", "the file is empty: expected at least one line such as " + example},
		{"no final newline", goodRecord + "\n" + goodRecord, "line 2: the file ends without a newline: the last line may be half-written: expected a newline after it"},
		{"a blank line", goodRecord + "\n\n" + goodRecord + "\n", "line 2 is blank: expected one JSON object, such as " + example},
		{"text", goodRecord + "\nhello\n", "line 2, column 1"},
		{"a list", goodRecord + "\n[1]\n", "line 2, column 1: the document is an array: expected one JSON object"},
		{"two on one line", goodRecord + goodRecord + "\n", "line 1, column 58"},
		{"one on two lines", "{\"record_id\": \"r1\",\n\"metric\": \"m\", \"value\": 1}\n", "line 1"},
		{"no id", `{"metric": "m", "value": 1}` + "\n", "line 1: /record_id is missing: expected text"},
		{"no metric", goodRecord + "\n" + `{"record_id": "r", "metric": null, "value": 1}` + "\n", "line 2: /metric is missing: expected text"},
		{"no value", `{"record_id": "r", "metric": "m"}` + "\n", "line 1: /value is missing: expected a finite number"},
		{"value null", `{"record_id": "r", "metric": "m", "value": null}` + "\n", "line 1: /value is missing: expected a finite number"},
		{"value text", `{"record_id": "r", "metric": "m", "value": "20"}` + "\n", `line 1, column 44: /value: is the text "20": expected a number`},
		{"value not finite", `{"record_id": "r", "metric": "m", "value": NaN}` + "\n", "line 1, column 44: /value: not JSON"},
		{"value too large", `{"record_id": "r", "metric": "m", "value": 1e400}` + "\n", "line 1, column 4"},
		{"id a number", `{"record_id": 7, "metric": "m", "value": 1}` + "\n", "line 1, column 15: /record_id: is the number 7: expected text"},
		{"an unknown flag", `{"record_id": "r", "metric": "m", "value": 1, "flag": "odd"}` + "\n", `line 1: /flag is "odd": expected null or "anomaly"`},
		{"flag true", `{"record_id": "r", "metric": "m", "value": 1, "flag": true}` + "\n", `line 1: /flag is true: expected null or "anomaly"`},
		{"a name twice", `{"record_id": "r", "metric": "m", "value": 1, "value": 2}` + "\n", "line 1, column 47"},
		{"a name in two cases", `{"record_id": "r", "metric": "m", "value": 1, "Value": 2}` + "\n", "line 1, column 47"},
		{"bad UTF-8", "{\"record_id\": \"\xff\", \"metric\": \"m\", \"value\": 1}\n", "line 1, column 1"},
		{"a byte order mark", "\ufeff" + goodRecord + "\n", "line 1, column 1"},
		{"a zero byte", goodRecord + "\n\x00\n", "line 2, column 1"},
	} {
		records, err := parseRecords([]byte(c.body))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || records != nil {
			t.Errorf("%s: %v with %d records, want %q", c.name, err, len(records), c.want)
		}
		if line := strings.TrimSpace(c.body); c.name != "no final newline" && !fitsNot(line) {
			t.Errorf("%s: every line fits the schema", c.name)
		}
	}
}

// fitsNot reports whether a line violates the schema that others use.
func fitsNot(body string) bool {
	for line := range strings.SplitSeq(body, "\n") {
		if schemas.Decode("optimizer/retrieved", "", []byte(line), nil) != nil {
			return true
		}
	}
	return false
}

// FuzzRecords checks that accepted records have the form of the page and cover every line, and that
// a rejected file has a problem on one line.
func FuzzRecords(f *testing.F) {
	for _, seed := range []string{
		goodRecord + "\n", goodRecord, "", "\n", "{}\n", "[]\n", "null\n", goodRecord + "\n\n", goodRecord + "\r\n",
		`{"record_id":"r","metric":"m","value":1e308,"flag":"anomaly"}` + "\n" + `{"record_id":"r","metric":"m","value":-1e308}` + "\n",
		`{"record_id":"r","metric":"m","value":1e999}` + "\n", `{"record_id":"r","metric":"m","value":"1"}` + "\n", "\ufeff" + goodRecord + "\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		records, err := parseRecords(body)
		if err != nil {
			if records != nil || strings.ContainsAny(err.Error(), "\n\r\x00") {
				t.Fatalf("%v with %d records", err, len(records))
			}
			return
		}
		if len(records) == 0 || len(records) != bytes.Count(body, []byte("\n")) {
			t.Fatalf("%d records of %d lines", len(records), bytes.Count(body, []byte("\n")))
		}
		n := 0
		for line := range bytes.Lines(body) {
			// Accepted records fit the schema that others use.
			if err := schemas.Decode("optimizer/retrieved", "", line, nil); err != nil {
				t.Fatalf("%q was taken: %v", line, err)
			}
			sameRecord(t, line, records[n])
			n++
		}
		total := 0
		for _, s := range statistics(records) {
			total += s.N
			for _, v := range []float64{s.Mean, s.Median, s.Min, s.Max} {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatalf("%+v", s)
				}
			}
		}
		if total != len(records) {
			t.Fatalf("%d records in the statistics of %d", total, len(records))
		}
	})
}

// sameRecord compares a record with its line, parsed in another way.
func sameRecord(t *testing.T, line []byte, r Record) {
	t.Helper()
	var m any
	if err := schemas.Decode("", "", line, &m); err != nil {
		t.Fatalf("%q was taken: %v", line, err)
	}
	o := m.(map[string]any)
	flag, _ := o["flag"].(string)
	if o["record_id"] != r.RecordID || o["metric"] != r.Metric || flag != string(r.Flag) || !slices.Contains([]string{"", anomaly}, flag) {
		t.Fatalf("%q became %+v", line, r)
	}
	var v float64
	if _, err := fmt.Sscan(fmt.Sprint(o["value"]), &v); err != nil || v != r.Value {
		t.Fatalf("%q became %v (%v)", line, r.Value, err)
	}
}

func BenchmarkParseRecords(b *testing.B) {
	var body bytes.Buffer
	for i := 0; body.Len() < 1<<20-100; i++ {
		fmt.Fprintf(&body, "{\"record_id\": \"r%d\", \"metric\": \"m%d\", \"value\": %d.5}\n", i, i%7, i%100)
	}
	b.SetBytes(int64(body.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parseRecords(body.Bytes()); err != nil {
			b.Fatal(err)
		}
	}
}

// recordsOf returns records r1, r2, … of one metric.
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
		{[]float64{100, 100, -7, 105, 105}, rising}, // the middle of an odd number belongs to neither half
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
	// With one more value at an end the median is 10.5 or 9.5 and the median distance 1, so a value
	// more than 4.4478 away is too far.
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
	// Two anomalies in one metric count as one metric.
	got := anomalousInSeveral([]Statistics{in("b", "a", "c", "c"), in("b", "d"), in("a", "b")})
	if diff := cmp.Diff([]string{"a", "b"}, got); diff != "" {
		t.Error(diff)
	}
}

// fractions holds numbers without rounding.
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

// trendOf computes the trend without a division: b - a against a twentieth of |a|.
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

// TestStatisticsAgreeWithFractions compares with a second computation: numbers of two binary
// places, whose sums need no rounding, and fractions.
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

// atTheStep reports whether a trend is so close to its threshold that float64 may round it to
// either side.
func atTheStep(all []*big.Rat) bool {
	if len(all) < 4 {
		return false
	}
	half := len(all) / 2
	a, _ := meanOf(all[:half]).Float64()
	b, _ := meanOf(all[len(all)-half:]).Float64()
	return a != 0 && math.Abs(math.Abs((b-a)/a)-0.05) < 1e-12
}

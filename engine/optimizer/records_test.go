package optimizer

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/schemas"
)

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

// fitsNot reports whether a line is none by the schema that others read.
func fitsNot(body string) bool {
	for line := range strings.SplitSeq(body, "\n") {
		if schemas.Decode("optimizer/retrieved", "", []byte(line), nil) != nil {
			return true
		}
	}
	return false
}

// FuzzRecords: what is taken has the form of the page, and every line of it is
// there; what is not taken has a problem on one line.
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
			// What is taken fits the schema that others read.
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

// sameRecord compares a record with its line, read another way.
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

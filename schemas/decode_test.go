package schemas

import (
	stdjson "encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// realFiles returns documents that upstream's scripts and agents wrote.
func realFiles(t testing.TB, pattern string) []string {
	t.Helper()
	var found []string
	for _, stars := range []string{"*", "*/*", "*/*/*", "*/*/*/*", "*/*/*/*/*"} {
		paths, err := filepath.Glob(filepath.Join("../testdata/real/faber/*/.fractary", stars, pattern))
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, paths...)
	}
	if len(found) == 0 {
		t.Fatalf("no file %s in testdata/real", pattern)
	}
	return found
}

func TestWhatUpstreamReallyWritesIsRead(t *testing.T) {
	for pattern, schema := range map[string]string{
		"state.json": "faber/state", "metadata.json": "faber/metadata", "events/*.json": "faber/event",
	} {
		for _, path := range realFiles(t, pattern) {
			body, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := Decode(schema, path, body, nil); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestNumbersKeepTheirText(t *testing.T) {
	body := []byte(`{"a":1.0,"b":12345678901234567890,"c":[1e2,{"d":-0.50}],"e":1.00}`)
	var tree any
	if err := Decode("", "n.json", body, &tree); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"a": stdjson.Number("1.0"), "b": stdjson.Number("12345678901234567890"), "e": stdjson.Number("1.00"),
		"c": []any{stdjson.Number("1e2"), map[string]any{"d": stdjson.Number("-0.50")}},
	}
	if diff := cmp.Diff(want, tree); diff != "" {
		t.Errorf("any (-want +got):\n%s", diff)
	}
	var fields struct {
		A Raw  `json:"a"`
		B Raw  `json:"b"`
		C any  `json:"c"`
		E *any `json:"e"`
	}
	if err := Decode("", "n.json", body, &fields); err != nil {
		t.Fatal(err)
	}
	if string(fields.A) != "1.0" || string(fields.B) != "12345678901234567890" || *fields.E != stdjson.Number("1.00") {
		t.Errorf("fields = %s %s %v", fields.A, fields.B, *fields.E)
	}
	if diff := cmp.Diff(want["c"], fields.C); diff != "" {
		t.Errorf("field of type any (-want +got):\n%s", diff)
	}
}

func TestNamesMatchExactly(t *testing.T) {
	var into struct {
		Response string `json:"response"`
		Count    int
	}
	if err := Decode("", "r.json", []byte(`{"Response":"approve","count":3}`), &into); err != nil {
		t.Fatal(err)
	}
	if into.Response != "" || into.Count != 0 {
		t.Errorf("names of other case were taken: %+v", into)
	}
}

func TestNullLeavesAFieldZero(t *testing.T) {
	var into struct {
		Text   string
		Number int
		List   []string
		Part   *struct{}
		Raw    Raw
	}
	if err := Decode("", "r.json", []byte(`{"Text":null,"Number":null,"List":null,"Part":null,"Raw":null}`), &into); err != nil {
		t.Fatal(err)
	}
	if into.Text != "" || into.Number != 0 || into.List != nil || into.Part != nil || !into.Raw.Null() {
		t.Errorf("null was read as %+v", into)
	}
}

func TestAValueThatAFieldCannotHoldIsNamed(t *testing.T) {
	type part struct {
		Name string `json:"name"`
	}
	var into struct {
		Count int               `json:"count"`
		Size  float64           `json:"size"`
		Small uint8             `json:"small"`
		On    bool              `json:"on"`
		List  []int             `json:"list"`
		Part  *part             `json:"part"`
		Map   map[string]string `json:"map"`
		At    time.Time         `json:"at"`
	}
	whole := "expected a whole number below 2^63"
	for body, want := range map[string]string{
		"{\n\"count\":1.5}":             "p.json: line 2, column 9: /count: is the number 1.5: " + whole,
		`{"count":1e-1}`:                "p.json: line 1, column 10: /count: is the number 1e-1: " + whole,
		`{"count":1e19}`:                "p.json: line 1, column 10: /count: is the number 1e19: " + whole,
		`{"count":9999999999999999999}`: "p.json: line 1, column 10: /count: is the number 9999999999999999999: " + whole,
		`{"count":"3"}`:                 `p.json: line 1, column 10: /count: is the text "3": ` + whole,
		`{"small":-1}`:                  "p.json: line 1, column 10: /small: is the number -1: " + whole + ", without fraction or exponent",
		`{"size":"x"}`:                  `p.json: line 1, column 9: /size: is the text "x": expected a number`,
		`{"on":1}`:                      "p.json: line 1, column 7: /on: is the number 1: expected true or false",
		`{"list":{"a":1}}`:              "p.json: line 1, column 9: /list: is an object: expected an array",
		`{"list":[1,  [2]]}`:            "p.json: line 1, column 14: /list/1: is an array: " + whole,
		`{"part":[]}`:                   "p.json: line 1, column 9: /part: is an array: expected an object",
		`{"part":{"name":true}}`:        "p.json: line 1, column 17: /part/name: is true: expected text",
		`{"map":false}`:                 "p.json: line 1, column 8: /map: is false: expected an object",
		`{"map":{"a/b~c":0}}`:           "p.json: line 1, column 17: /map/a~1b~0c: is the number 0: expected text",
		`{"at":"yesterday"}`:            `p.json: line 1, column 7: /at: is the text "yesterday": parsing time "\"yesterday\"" as "2006-01-02T15:04:05Z07:00": cannot parse "\"yesterday\"" as "…`,
	} {
		err := Decode("", "p.json", []byte(body), &into)
		if err == nil {
			t.Errorf("%s was taken", body)
			continue
		}
		if !strings.HasPrefix(err.Error(), strings.TrimSuffix(want, "…")[:min(len(want), 60)]) || strings.Contains(want, "expected") && err.Error() != want {
			t.Errorf("%s:\n got %s\nwant %s", body, err, want)
		}
		if e, ok := err.(*Error); !ok || e.Torn {
			t.Errorf("%s: %T, Torn: a whole file was taken for half a one", body, err)
		}
	}
}

// An int holds every number that a schema accepts as a whole number.
func TestAWholeNumberMayBeSpelledInManyWays(t *testing.T) {
	for text, want := range map[string]int{
		"20": 20, "20.0": 20, "20.000": 20, "2e1": 20, "2.0E+1": 20, "200e-1": 20, "-0.0": 0, "0e400": 0, "-30.0": -30,
		"9223372036854775807": math.MaxInt, "9223372036854775807.0": math.MaxInt, "-9223372036854775808.0": math.MinInt, "1e18": 1e18,
	} {
		var into struct {
			N     int   `json:"n"`
			Maybe *int  `json:"maybe"`
			List  []int `json:"list"`
		}
		body := fmt.Sprintf(`{"n":%s,"maybe":%s,"list":[%s,1]}`, text, text, text)
		if err := Decode("", "p.json", []byte(body), &into); err != nil || into.N != want || *into.Maybe != want || into.List[0] != want {
			t.Errorf("%s was read as %+v: %v", text, into, err)
		}
	}
}

func TestAnUnknownSchemaIsTheCallersMistake(t *testing.T) {
	for _, name := range []string{"faber/nosuch", "../state", "/etc/passwd", "faber/state.json", "."} {
		err := Decode(name, "x.json", []byte(`{}`), nil)
		if _, ok := err.(*Error); err == nil || ok {
			t.Errorf("schema %q: %T %v", name, err, err)
		}
	}
}

func TestTheSchemaIsCheckedBeforeAnythingIsStored(t *testing.T) {
	into := struct {
		Status   string `json:"status"`
		Revision int    `json:"revision"`
	}{Status: "before"}
	err := Decode("faber/state", "state.json", []byte(`{"status":"pending","revision":-3}`), &into)
	if err == nil || into.Status != "before" {
		t.Errorf("stored %+v, error %v", into, err)
	}
}

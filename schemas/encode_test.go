package schemas

import (
	"bytes"
	stdjson "encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEncodeWritesPlacetsOwnForm(t *testing.T) {
	v := Object{
		{"text", "<é & 漢\u2028\">\n"}, {"nothing", nil}, {"raw", Raw(`{"b" : 1.0,"a":"\u00e9"}`)}, {"unset", Raw(nil)},
		{"number", stdjson.Number("12345678901234567890")}, {"int", 16}, {"list", []string(nil)}, {"empty", Object{}},
		{"map", map[string]any{"z": 1, "a": stdjson.Number("1.0")}}, {"inner", []any{Object{{"b", true}, {"a", false}}}},
	}
	want := `{
  "text": "<é & 漢` + "\u2028" + `\">\n",
  "nothing": null,
  "raw": {
    "b": 1.0,
    "a": "\u00e9"
  },
  "unset": null,
  "number": 12345678901234567890,
  "int": 16,
  "list": [],
  "empty": {},
  "map": {
    "a": 1.0,
    "z": 1
  },
  "inner": [
    {
      "b": true,
      "a": false
    }
  ]
}
`
	got, err := Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("encoded (-want +got):\n%s", diff)
	}
}

func TestEncodeRefusesWhatCouldNotBeReadBack(t *testing.T) {
	for name, v := range map[string]any{
		"doubled name":          Object{{"a", 1}, {"a", 2}},
		"doubled name in a raw": Object{{"a", Raw(`{"x":1,"x":2}`)}},
		"broken raw":            Raw(`{"a":`),
		"two raws":              Raw(`1 2`),
		"invalid UTF-8":         "a\xff",
		"invalid name":          Object{{"a\xff", 1}},
		"not a number":          math.NaN(),
		"empty number":          stdjson.Number(""),
		"wrong number":          stdjson.Number("0x1F"),
		"channel":               make(chan int),
	} {
		if got, err := Encode(v); err == nil {
			t.Errorf("%s was written as %s", name, got)
		}
	}
}

func TestWhatIsEncodedDecodesToTheSame(t *testing.T) {
	body := []byte("{\n  \"b\": 1.0,\n  \"a\": [\n    \"\\u00e9\",\n    {\n      \"z\": 1e2\n    }\n  ],\n  \"c\": {}\n}\n")
	members, err := Members(body)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Encode(members)
	if err != nil || !bytes.Equal(again, body) {
		t.Errorf("members: %v\n%s", err, again)
	}
	var tree any
	if err := Decode("", "d.json", body, &tree); err != nil {
		t.Fatal(err)
	}
	got, err := Encode(tree)
	if err != nil {
		t.Fatal(err)
	}
	var back any
	if err := Decode("", "d.json", got, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tree, back); diff != "" {
		t.Errorf("tree (-first +second):\n%s", diff)
	}
}

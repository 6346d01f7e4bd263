package jsonedit_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/engine/jsonedit"
	"placet/schemas"
)

func set(pointer string, value any) jsonedit.Edit {
	return jsonedit.Edit{Pointer: pointer, Op: jsonedit.Set, Value: value}
}

func remove(pointer string) jsonedit.Edit {
	return jsonedit.Edit{Pointer: pointer, Op: jsonedit.Remove}
}

func grow(pointer string, value any) jsonedit.Edit {
	return jsonedit.Edit{Pointer: pointer, Op: jsonedit.Append, Value: value}
}

// entry is an object with one of each.
var entry = schemas.Object{{Name: "k", Value: "v"}, {Name: "n", Value: 1}, {Name: "l", Value: []any{true, nil}}, {Name: "e", Value: schemas.Object{}}}

func TestEdits(t *testing.T) {
	tests := []struct {
		name, before, after string
		edits               []jsonedit.Edit
	}{
		// These edits replace values in place.
		{"text", `{"a": "x", "b":2}`, `{"a": "y", "b":2}`, []jsonedit.Edit{set("/a", "y")}},
		{"every kind", `{"a":0}`, `{"a":null,"b":true,"c":-7,"d":9007199254740993,"e":"é<\"\n","f":[],"g":{}}`, []jsonedit.Edit{
			set("/a", nil), set("/b", true), set("/c", -7), set("/d", int64(9007199254740993)), set("/e", "é<\"\n"), set("/f", []any{}), set("/g", schemas.Object{})}},
		{"raw keeps its spelling", "{\"a\":0}", `{"a":{"x":1.0,"y":"\u00e9"},"b":1e2}`, []jsonedit.Edit{
			set("/a", schemas.Raw("{ \"x\" : 1.0,\n\"y\":\"\\u00e9\" }")), set("/b", []byte("1e2"))}},
		{"other bytes stay", "\t{ \"a\" :1.0 ,\"\\u0062\":  12345678901234567890,\"c\":\"\\/\\u00e9\" , \"d\":[ ] }\r\n\n",
			"\t{ \"a\" :1.0 ,\"\\u0062\":  2,\"c\":\"\\/\\u00e9\" , \"d\":[ ] }\r\n\n", []jsonedit.Edit{set("/b", 2)}},
		{"a value that is equal already keeps its layout", "{\"a\": { \"x\" : [1,\n2] }}", "{\"a\": { \"x\" : [1,\n2] }}",
			[]jsonedit.Edit{set("/a", schemas.Object{{Name: "x", Value: []any{1, 2}}})}},
		{"element", `{"a":[1,2,3]}`, `{"a":[1,"x",3]}`, []jsonedit.Edit{set("/a/1", "x")}},
		{"escaped names", `{"a/b":{"c~d":1},"":{"":2}}`, `{"a/b":{"c~d":3},"":{"":4}}`, []jsonedit.Edit{set("/a~1b/c~0d", 3), set("//", 4)}},
		{"names that look like numbers", `{"0":1,"01":2}`, `{"0":3,"01":4}`, []jsonedit.Edit{set("/0", 3), set("/01", 4)}},

		// These edits add members.
		{"new array", "{\n  \"a\": 1,\n  \"n\": null\n}", "{\n  \"a\": 1,\n  \"n\": [\n    2\n  ],\n  \"b\": [\n    3\n  ]\n}", []jsonedit.Edit{grow("/n", 2), grow("/b", 3)}},
		{"new member in a line", `{"a":1}`, `{"a":1,"b":{"k":"v","n":1,"l":[true,null],"e":{}}}`, []jsonedit.Edit{set("/b", entry)}},
		{"new member, spaced line", `{"a": 1}`, `{"a": 1, "b": {"k": "v", "n": 1, "l": [true, null], "e": {}}}`, []jsonedit.Edit{set("/b", entry)}},
		{"new member, padded line", `{ "a" : 1 , "b" : 2 }`, `{ "a" : 1 , "b" : 2 , "c" : 3 }`, []jsonedit.Edit{set("/c", 3)}},
		{"new member in lines", "{\n  \"a\": 1\n}\n", "{\n  \"a\": 1,\n  \"b\": {\n    \"k\": \"v\",\n    \"n\": 1,\n    \"l\": [\n      true,\n      null\n    ],\n    \"e\": {}\n  }\n}\n", []jsonedit.Edit{set("/b", entry)}},
		{"new member, tabs", "{\n\t\"a\": {\n\t\t\"b\": 1\n\t}\n}", "{\n\t\"a\": {\n\t\t\"b\": 1,\n\t\t\"c\": [\n\t\t\t2\n\t\t]\n\t}\n}", []jsonedit.Edit{set("/a/c", []any{2})}},
		{"new member, CRLF", "{\r\n \"a\": 1\r\n}\r\n", "{\r\n \"a\": 1,\r\n \"b\": [\r\n  2\r\n ]\r\n}\r\n", []jsonedit.Edit{set("/b", []any{2})}},
		{"new member, no indentation", "{\n\"a\":1\n}", "{\n\"a\":1,\n\"b\":{\n  \"c\":2\n}\n}", []jsonedit.Edit{set("/b", schemas.Object{{Name: "c", Value: 2}})}},
		{"new member after an empty line", "{\n  \"a\": 1,\n\n  \"b\": 2\n}", "{\n  \"a\": 1,\n\n  \"b\": 2,\n  \"c\": 3\n}", []jsonedit.Edit{set("/c", 3)}},
		{"new member, commas in front", "{ \"a\": 1\n, \"b\": 2\n}", "{ \"a\": 1\n, \"b\": 2\n, \"c\": 3\n}", []jsonedit.Edit{set("/c", 3)}},
		{"new member, indented document", "  {\n    \"a\": 1\n  }\n", "  {\n    \"a\": 1,\n    \"b\": [\n      2\n    ]\n  }\n", []jsonedit.Edit{set("/b", []any{2})}},
		{"new member in an inline object", "{\n  \"a\": {\"x\":1,\"y\":2},\n  \"b\": 1\n}", "{\n  \"a\": {\"x\":1,\"y\":2,\"z\":{\"k\":\"v\",\"n\":1,\"l\":[true,null],\"e\":{}}},\n  \"b\": 1\n}", []jsonedit.Edit{set("/a/z", entry)}},
		{"new member in the document itself, empty", "{}\n", "{\"a\": 1}\n", []jsonedit.Edit{set("/a", 1)}},
		{"new member in an empty object of a line", `{"a":{}}`, `{"a":{"b":{}}}`, []jsonedit.Edit{set("/a/b", schemas.Object{})}},
		{"new member in a blank object", `{"a":{ },"b":[  ]}`, `{"a":{"c":1},"b":[2]}`, []jsonedit.Edit{set("/a/c", 1), grow("/b", 2)}},
		{"new member in an empty object in lines", "{\n  \"a\": {}\n}", "{\n  \"a\": {\n    \"b\": 1\n  }\n}", []jsonedit.Edit{set("/a/b", 1)}},
		{"new member in an object broken over lines", "{\n}", "{\n  \"a\": 1\n}", []jsonedit.Edit{set("/a", 1)}},
		{"new member in an empty object in an inline one", "{\n  \"a\": {\"b\": {}}\n}", "{\n  \"a\": {\"b\": {\"c\": [1]}}\n}", []jsonedit.Edit{set("/a/b/c", []any{1})}},
		{"a name with escapes", `{"a":1}`, `{"a":1,"q\"\\\n漢":2}`, []jsonedit.Edit{set("/q\"\\\n漢", 2)}},

		// These edits change a value's kind.
		{"object for a scalar in lines", "{\n  \"a\": 1\n}", "{\n  \"a\": {\n    \"b\": 2\n  }\n}", []jsonedit.Edit{set("/a", schemas.Object{{Name: "b", Value: 2}})}},
		{"object for an inline object in lines", "{\n  \"a\": {\"b\":1},\n  \"c\": 1\n}", "{\n  \"a\": {\"b\":2,\"d\":3},\n  \"c\": 1\n}",
			[]jsonedit.Edit{set("/a", schemas.Object{{Name: "b", Value: 2}, {Name: "d", Value: 3}})}},
		{"object for an object in lines", "{\"a\": {\n    \"b\": 1\n}, \"c\": 1}", "{\"a\": {\n    \"b\": 2\n}, \"c\": 1}", []jsonedit.Edit{set("/a", schemas.Object{{Name: "b", Value: 2}})}},
		{"scalar for an object in lines", "{\n  \"a\": {\n    \"b\": 1\n  }\n}", "{\n  \"a\": 1\n}", []jsonedit.Edit{set("/a", 1)}},
		{"empty for full", "{\n  \"a\": [\n    1\n  ]\n}", "{\n  \"a\": []\n}", []jsonedit.Edit{set("/a", []any{})}},

		// These edits append to arrays.
		{"append in a line", `{"a":[1]}`, `{"a":[1,2,3]}`, []jsonedit.Edit{grow("/a", 2), grow("/a", 3)}},
		{"append in lines", "{\n  \"a\": [\n    1\n  ]\n}", "{\n  \"a\": [\n    1,\n    2\n  ]\n}", []jsonedit.Edit{grow("/a", 2)}},
		{"append to an empty array in lines", "{\n  \"a\": [],\n  \"b\": 1\n}", "{\n  \"a\": [\n    {\n      \"x\": 1\n    }\n  ],\n  \"b\": 1\n}", []jsonedit.Edit{grow("/a", schemas.Raw(`{"x":1}`))}},
		{"append to inline objects in lines", "{\n  \"a\": [\n    {\"x\":1, \"y\":2}\n  ]\n}", "{\n  \"a\": [\n    {\"x\":1, \"y\":2},\n    {\"x\":3, \"y\":4}\n  ]\n}", []jsonedit.Edit{grow("/a", schemas.Raw(`{"x":3,"y":4}`))}},
		{"append to objects in lines", "{\"a\": [{\n    \"x\": 1\n  }, {\n    \"x\": 2\n  }]}", "{\"a\": [{\n    \"x\": 1\n  }, {\n    \"x\": 2\n  }, {\n    \"x\": 3\n  }]}", []jsonedit.Edit{grow("/a", schemas.Raw(`{"x":3}`))}},
		{"append to a wrapped array", "{\"a\": [1, 2,\n  3, 4]}", "{\"a\": [1, 2,\n  3, 4,\n  5]}", []jsonedit.Edit{grow("/a", 5)}},
		{"append to an inline array in lines", "{\n  \"a\": [\"x\",\"y\"]\n}", "{\n  \"a\": [\"x\",\"y\",\"z\"]\n}", []jsonedit.Edit{grow("/a", "z")}},
		{"append to an array of arrays", `{"a":[[1],[]]}`, `{"a":[[1],[2]]}`, []jsonedit.Edit{grow("/a/1", 2)}},

		// These edits remove a value with its comma.
		{"remove the only member", `{ "a": 1 }`, `{}`, []jsonedit.Edit{remove("/a")}},
		{"remove the only member in lines", "{\n  \"a\": {\n    \"b\": 1\n  }\n}", "{\n  \"a\": {}\n}", []jsonedit.Edit{remove("/a/b")}},
		{"remove the first", `{"a":1, "b":2, "c":3}`, `{"b":2, "c":3}`, []jsonedit.Edit{remove("/a")}},
		{"remove the middle", `{"a":1, "b":2, "c":3}`, `{"a":1, "c":3}`, []jsonedit.Edit{remove("/b")}},
		{"remove the last", `{"a":1, "b":2, "c":3 }`, `{"a":1, "b":2 }`, []jsonedit.Edit{remove("/c")}},
		{"remove the first in lines", "{\n  \"a\": 1,\n  \"b\": 2\n}", "{\n  \"b\": 2\n}", []jsonedit.Edit{remove("/a")}},
		{"remove the middle in lines", "{\n  \"a\": 1,\n  \"b\": [\n    1\n  ],\n  \"c\": 3\n}", "{\n  \"a\": 1,\n  \"c\": 3\n}", []jsonedit.Edit{remove("/b")}},
		{"remove the last in lines", "{\n  \"a\": 1,\n  \"b\": 2\n}\n", "{\n  \"a\": 1\n}\n", []jsonedit.Edit{remove("/b")}},
		{"remove what ends a line of several", "{\"a\": 1, \"b\": 2,\n \"c\": 3}", "{\"a\": 1,\n \"c\": 3}", []jsonedit.Edit{remove("/b")}},
		{"remove what begins a line of several", "{\"a\": 1,\n \"b\": 2, \"c\": 3}", "{\"a\": 1,\n \"c\": 3}", []jsonedit.Edit{remove("/b")}},
		{"remove, CRLF", "{\r\n  \"a\": 1,\r\n  \"b\": 2\r\n}", "{\r\n  \"a\": 1\r\n}", []jsonedit.Edit{remove("/b")}},
		{"remove elements", `{"a":[1,2,3]}`, `{"a":[2]}`, []jsonedit.Edit{remove("/a/0"), remove("/a/1")}},
		{"remove what is not there", `{"a":{"b":1},"c":[1]}`, `{"a":{"b":1},"c":[1]}`, []jsonedit.Edit{
			remove("/x"), remove("/a/x"), remove("/x/y"), remove("/a/b/c"), remove("/c/1"), remove("/c/-"), remove("/c/00"), remove("/c/x")}},

		// These calls make several edits at once.
		{"one after the other", "{\n  \"a\": 1\n}", "{\n  \"b\": [\n    {\n      \"c\": 1\n    }\n  ]\n}", []jsonedit.Edit{
			set("/b", []any{}), grow("/b", schemas.Object{}), set("/b/0/c", 1), remove("/a")}},
		{"gone and back", "{\n  \"a\": {\"x\": 1}\n}", "{\"b\": 2}", []jsonedit.Edit{remove("/a"), set("/b", 2)}},
		{"none", " {}", " {}", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := jsonedit.Apply([]byte(tt.before), tt.edits...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.after, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestEditsWithoutAPlaceAreRefused(t *testing.T) {
	const body = `{"a":{"b":[1,2]},"c":"x","d":{}}`
	for _, tt := range []struct {
		edit jsonedit.Edit
		want string
	}{
		{set("", 1), `cannot set "": a JSON pointer to a member is needed`},
		{set("a", 1), `cannot set "a": a JSON pointer to a member is needed`},
		{set("/a~2", 1), `cannot set "/a~2": a JSON pointer to a member is needed`},
		{set("/a\xff", 1), `cannot set "/a\xff": a JSON pointer to a member is needed`},
		{remove(""), `cannot remove "": a JSON pointer to a member is needed`},
		{set("/x/y", 1), `cannot set "/x/y": there is no "/x"`},
		{set("/a/x/y/z", 1), `cannot set "/a/x/y/z": there is no "/a/x"`},
		{set("/c/x", 1), `cannot set "/c/x": "/c" is neither object nor array`},
		{set("/a/b/2", 1), `cannot set "/a/b/2": there is no element 2: append adds one`},
		{set("/a/b/-", 1), `cannot set "/a/b/-": there is no element -: append adds one`},
		{set("/a/b/01", 1), `cannot set "/a/b/01": there is no element 01: append adds one`},
		{set("/a/b/-1", 1), `cannot set "/a/b/-1": there is no element -1: append adds one`},
		{grow("/a/b/2", 1), `cannot append to "/a/b/2": there is no element 2: append adds one`},
		{grow("/x/y", 1), `cannot append to "/x/y": there is no "/x"`},
		{grow("/a", 1), `cannot append to "/a": it is not an array`},
		{grow("/c", 1), `cannot append to "/c": it is not an array`},
		{jsonedit.Edit{Pointer: "/a", Op: 9}, `cannot Op(9) "/a": there is no such edit`},
		{set("/n", make(chan int)), `cannot set "/n": cannot write the value: `},
		{set("/n", schemas.Raw(`{"x":`)), `cannot set "/n": cannot write the value: `},
		{set("/n", "a\xff"), `cannot set "/n": cannot write the value: `},
		{grow("/a/b", schemas.Raw(`1 2`)), `cannot append to "/a/b": cannot write the value: `},
		{set("/n", schemas.Object{{Name: "x", Value: 1}, {Name: "x", Value: 2}}), `cannot set "/n": cannot write the value: `},
		{set("/A", 1), `cannot edit the document: the result would be wrong: line 1, column 38: the names "a" and "A" differ only in case`},
		{set("/n", schemas.Raw(`{"x":1,"X":2}`)), `cannot edit the document: the result would be wrong: line 1, column 49: /n: the names "x" and "X" differ`},
		{set("/n", schemas.Raw(strings.Repeat("[", 70)+strings.Repeat("]", 70))), `cannot edit the document: the result would be wrong: line 1, column 105: nested too deep`},
	} {
		got, err := jsonedit.Apply([]byte(body), set("/d/e", 1), tt.edit)
		if err == nil || got != nil {
			t.Errorf("%v: got %s, %v", tt.edit, got, err)
			continue
		}
		if !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%v:\n got %s\nwant %s", tt.edit, err, tt.want)
		}
	}
}

func TestWhatIsNotStrictJSONIsNotEdited(t *testing.T) {
	for _, body := range []string{"", "{", "[]", "null", `{"a":1,}`, `{"a":1}x`, `{"a":1,"a":2}`, `{"a":1,"A":2}`, "\ufeff{}", "{\"a\":\"\xff\"}", `{"a":1e400}`,
		strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100)} {
		for _, edits := range [][]jsonedit.Edit{nil, {set("/a", 1)}, {remove("/a")}} {
			if got, err := jsonedit.Apply([]byte(body), edits...); err == nil || !strings.HasPrefix(err.Error(), "cannot edit the document: ") {
				t.Errorf("%.40q became %q, %v", body, got, err)
			}
		}
	}
}

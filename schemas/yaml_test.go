package schemas

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestYAMLBecomesJSON(t *testing.T) {
	body := `# a comment
---
plain: some text
quoted: "a\u00e9\n"
single: 'it''s'
block: |
  first
    second
folded: >-
  one
  two
yes: no
on: off
null1: null
null2: ~
null3:
bool: [true, False, TRUE]
int: [1, -1, +7, 0x1F, 0o17, 1_000, 12345678901234567890]
float: [1.0, 1.50e3, .5, 5., -1e-3]
text: ["1", 2001-12-14, 10:30:00, 1.2.3, =, =3]
flow: {a: [1, {b: c}], d: }
list:
- x
- - y
  - z
- k: v
404: number as key
"true": quoted
`
	want := `{
		"plain":"some text","quoted":"aé\n","single":"it's","block":"first\n  second\n","folded":"one two",
		"yes":"no","on":"off","null1":null,"null2":null,"null3":null,"bool":[true,false,true],
		"int":[1,-1,7,31,15,1000,12345678901234567890],"float":[1.0,1.50e3,0.5,5,-1e-3],
		"text":["1","2001-12-14","10:30:00","1.2.3","=","=3"],"flow":{"a":[1,{"b":"c"}],"d":null},
		"list":["x",["y","z"],{"k":"v"}],"404":"number as key","true":"quoted"}`
	var got, wanted any
	if err := DecodeYAML("", "c.yaml", []byte(body), &got, YAMLLimits{}); err != nil {
		t.Fatal(err)
	}
	if err := Decode("", "want", []byte(want), &wanted); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
}

func TestYAMLKeepsOrderAndNumbersInRaw(t *testing.T) {
	var into struct {
		Raw   Raw    `json:"raw"`
		Count Raw    `json:"count"`
		Open  Object `json:"open"`
	}
	body := "raw: {b: 1.0, a: [x]}\r\ncount: 1.00\r\nopen: {z: 1, y: 2}\r\n"
	if err := DecodeYAML("", "c.yaml", []byte(body), &into, YAMLLimits{}); err != nil {
		t.Fatal(err)
	}
	if string(into.Raw) != `{"b":1.0,"a":["x"]}` || string(into.Count) != "1.00" || into.Open[0].Name != "z" {
		t.Errorf("raw %s, count %s, open %v", into.Raw, into.Count, into.Open)
	}
}

func TestEveryKindOfBadYAMLIsNamed(t *testing.T) {
	one := ": expected one YAML mapping"
	tests := []struct {
		kind, body, want string
		torn             bool
	}{
		{"empty", "", "c.yaml: the file is empty" + one, true},
		{"blanks only", "\n \n", "c.yaml: the file holds nothing but blanks" + one, true},
		{"comments only", "# nothing\n", "c.yaml: the file holds nothing but comments" + one, true},
		{"byte order mark", "\ufeffa: 1", "c.yaml: line 1, column 1: the file begins with a byte order mark: expected UTF-8 without one", false},
		{"UTF-16", utf16LE("a: 1\n", true), "c.yaml: line 1, column 1: the file is UTF-16: expected UTF-8", true},
		{"NUL", "a: 1\nb: \x00\n", "c.yaml: line 2, column 4: the file holds NUL bytes: expected text", true},
		{"invalid UTF-8", "a: 1\nb: \xff\n", "c.yaml: line 2, column 4: the file is not valid UTF-8: expected UTF-8", true},
		{"control character", "a: \x01\n", "c.yaml: not YAML: control characters are not allowed", true},
		{"half a flow", "a: [1, 2", "c.yaml: line 1, column 1: not YAML: did not find expected ',' or ']'", true},
		{"half a string", "a: \"x", "c.yaml: not YAML: found unexpected end of stream", true},
		{"tab indentation", "a:\n\tb: 1\n", "c.yaml: line 2, column 1: not YAML: found character that cannot start any token", true},
		{"two documents", "a: 1\n---\nb: 2\n", "c.yaml: line 2, column 1: a second document follows" + one, true},
		{"an empty second document", "a: 1\n---\n", "c.yaml: line 2, column 1: a second document follows" + one, true},
		{"broken second document", "a: 1\n---\n[\n", "c.yaml: line 3, column 1: not YAML: did not find expected node content", true},
		{"list at the top", "- a\n", "c.yaml: line 1, column 1: the document is a list" + one, false},
		{"text at the top", "approve\n", "c.yaml: line 1, column 1: the document is the value approve" + one, false},
		{"alias at the top", "*a\n", "c.yaml: not YAML: unknown anchor 'a' referenced", true},
		{"duplicate key", "a: 1\nb: {x: 1, y: 2, x: 3}\n", `c.yaml: line 2, column 17: the name "x" stands twice: expected each name once`, false},
		{"duplicate key, quoted", "a: 1\n'a': 2\n", `c.yaml: line 2, column 1: the name "a" stands twice: expected each name once`, false},
		{"key differing only in case", "response: reject\nRESPONSE: approve\n", `c.yaml: line 2, column 1: the names "response" and "RESPONSE" differ only in case: expected each name once`, false},
		{"tag", "a: !!str 1\n", "c.yaml: line 1, column 4: the tag !!str: expected a value without tag", false},
		{"foreign tag", "a:\n  - !ruby/object:Gem {}\n", "c.yaml: line 2, column 5: the tag !ruby/object:Gem: expected a value without tag", false},
		{"tag on a key", "!!int 1: x\n", "c.yaml: line 1, column 1: the tag !!int: expected a value without tag", false},
		{"binary", "a: !!binary aGk=\n", "c.yaml: line 1, column 4: the tag !!binary: expected a value without tag", false},
		{"anchor", "a: &x 1\n", "c.yaml: line 1, column 4: the anchor &x: expected a value without anchor", false},
		{"alias", "a: 1\nb: *a\n", "c.yaml: not YAML: unknown anchor 'a' referenced", true},
		{"merge key", "a: 1\n<<: {b: 2}\n", "c.yaml: line 2, column 1: the key is the value <<: expected text", false},
		{"merge as value", "a: <<\n", "c.yaml: line 1, column 4: the merge key <<: expected the keys themselves", false},
		{"key that is a list", "? [a, b]\n: 1\n", "c.yaml: line 1, column 3: the key is a list: expected text", false},
		{"key that is a mapping", "{a: 1}: 2\n", "c.yaml: line 1, column 1: the key is a mapping: expected text", false},
		{"empty key", "?\n: 1\n", "c.yaml: line 1, column 2: the key is the value: expected text", false},
		{"null key", "~: 1\n", "c.yaml: line 1, column 1: the key is the value ~: expected text", false},
		{"not a number", "a: .nan\n", "c.yaml: line 1, column 4: the number .nan is out of range: expected a number that a program can hold", false},
		{"infinity", "a: [1, -.Inf]\n", "c.yaml: line 1, column 8: the number -.Inf is out of range: expected a number that a program can hold", false},
		{"1e400", "a: 1e400\n", "c.yaml: line 1, column 4: the number 1e400 is out of range: expected a number that a program can hold", false},
		{"deep", "a: " + strings.Repeat("[", 16) + strings.Repeat("]", 16), "c.yaml: line 1, column 19: nested too deep: expected at most 16 levels", false},
		{"10,000 levels deep", "a: " + strings.Repeat("[", 9000) + strings.Repeat("]", 9000), "c.yaml: line 1, column 19: nested too deep: expected at most 16 levels", false},
		{"beyond the parser's depth", "a: " + strings.Repeat("[", 30000), "c.yaml: not YAML: exceeded max depth of 10000", true},
		{"too large", "a: " + strings.Repeat("x", 64<<10), "c.yaml: the file is larger than 65536 bytes: expected less", false},
		{"conflict markers", "a: 1\n<<<<<<< HEAD\nb: 1\n=======\nb: 2\n>>>>>>> x\n", "c.yaml: line 2, column 1: the file holds merge-conflict markers: expected one side of the conflict", true},
		{"required key missing", "by: ana\n", "c.yaml: line 1, column 1: /reason: is missing: expected why, as text", false},
		{"wrong type", "by: ana\nreason:\n  - x\n", "c.yaml: line 3, column 3: /reason: is an array: expected why, as text", false},
		{"number for text", "by: ana\nreason: 1.0\n", "c.yaml: line 2, column 9: /reason: is the number 1.0: expected why, as text", false},
	}
	for _, tt := range tests {
		t.Run(tt.kind, func(t *testing.T) {
			schema := ""
			if strings.HasPrefix(tt.body, "by:") {
				schema = "faber/cancel"
			}
			err := DecodeYAML(schema, "c.yaml", []byte(tt.body), nil, YAMLLimits{})
			e, ok := err.(*Error)
			if !ok {
				t.Fatalf("error of type %T: %v", err, err)
			}
			if diff := cmp.Diff(tt.want, e.Error()); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
			if e.Torn != tt.torn {
				t.Errorf("Torn = %v, want %v", e.Torn, tt.torn)
			}
		})
	}
}

func TestYAMLLimitsOfAFamily(t *testing.T) {
	wide := YAMLLimits{Bytes: 1 << 20, Depth: 32, Aliases: 100, Nodes: 100_000}
	var got any
	good := "base: &b {x: 1}\nuse: [*b, *b]\nlist: &l [a]\nagain: *l\n"
	if err := DecodeYAML("", "c.yaml", []byte(good), &got, wide); err != nil {
		t.Fatal(err)
	}
	part := map[string]any{"x": stdjson.Number("1")}
	want := map[string]any{"base": part, "use": []any{part, part}, "list": []any{"a"}, "again": []any{"a"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}

	many := bytes.NewBufferString("b: &b 1\nuse:\n")
	for range 101 {
		many.WriteString("- *b\n")
	}
	long := "b: &b \"" + strings.Repeat(`\x01`, 200_000) + "\"\nuse: [" + strings.Repeat("*b, ", 99) + "*b]\n"
	for name, tt := range map[string]struct{ body, want string }{
		"aliases":               {many.String(), "c.yaml: line 103, column 3: too many aliases: expected at most 100"},
		"bomb":                  {bomb(9), "c.yaml: line 3, column "},
		"alias of what is open": {"a: &a [x, *a]\n", "c.yaml: line 1, column 11: nested too deep: expected at most 32 levels"},
		"merge key":             {"a: &a {x: 1}\nb:\n  <<: *a\n", "c.yaml: line 3, column 3: the key is the value <<: expected text"},
		"alias as key":          {"a: &a x\n*a : 1\n", "c.yaml: line 2, column 1: the key is the alias *a: expected text"},
		"nodes":                 {"l: [" + strings.Repeat("1,", 100_000) + "]", "too many keys and values: expected at most 100000"},
		"depth":                 {"a: " + strings.Repeat("[", 32) + strings.Repeat("]", 32), "nested too deep: expected at most 32 levels"},
		"bytes":                 {"a: " + strings.Repeat("x", 1<<20), "c.yaml: the file is larger than 1048576 bytes"},
		"expansion":             {long, "too long once its aliases are replaced: expected fewer aliases"},
		"error behind an alias": {"by: &x [1]\nreason: *x\n", "c.yaml: line "},
	} {
		schema := ""
		if strings.HasPrefix(tt.body, "by:") {
			schema = "faber/cancel"
		}
		err := DecodeYAML(schema, "c.yaml", []byte(tt.body), nil, wide)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %.200v, want %s", name, err, tt.want)
		}
	}
}

// If the limits say so, a scalar is the text in the file.
func TestPlainScalarsAreTheirSourceText(t *testing.T) {
	body := `int: [1, +7, 010, 0x1F, 0o17, 1_000, 12345678901234567890]
float: [1.0, 1.50e3, .5, 5., -1e-3, 1e400, .nan, -.Inf]
bool: [true, False, TRUE]
time: [2001-12-14, 2026-01-19T10:30:00Z, 2026-01-19 10:30:00 +09:00, 10:30:00]
text: [yes, "1", 'true', 4 passing, =]
nulls: [null, ~, Null, "null", ]
block: |
  npm test
   -- --grep x
404: &n 200
again: *n
`
	want := `{"int":["1","+7","010","0x1F","0o17","1_000","12345678901234567890"],
		"float":["1.0","1.50e3",".5","5.","-1e-3","1e400",".nan","-.Inf"],"bool":["true","False","TRUE"],
		"time":["2001-12-14","2026-01-19T10:30:00Z","2026-01-19 10:30:00 +09:00","10:30:00"],
		"text":["yes","1","true","4 passing","="],"nulls":[null,null,null,"null"],
		"block":"npm test\n -- --grep x\n","404":"200","again":"200"}`
	var got, wanted any
	if err := DecodeYAML("", "c.yaml", []byte(body), &got, CheckpointsYAML); err != nil {
		t.Fatal(err)
	}
	if err := Decode("", "want", []byte(want), &wanted); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
}

// bomb returns aliases that multiply their values by nine at each level.
func bomb(levels int) string {
	b := bytes.NewBufferString("a0: &a0 [x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < levels; i++ {
		fmt.Fprintf(b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), ","))
	}
	return b.String()
}

func TestAnAliasBombIsRefusedByItsCount(t *testing.T) {
	err := DecodeYAML("", "c.yaml", []byte(bomb(9)), nil, YAMLLimits{Aliases: 1 << 30, Depth: 60})
	if err == nil || !strings.Contains(err.Error(), "too many keys and values") {
		t.Errorf("error %v", err)
	}
	if err := DecodeYAML("", "c.yaml", []byte(bomb(9)), nil, YAMLLimits{}); err == nil || !strings.Contains(err.Error(), "the anchor &a0") {
		t.Errorf("without aliases: %v", err)
	}
}

package schemas

import (
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// schemaOf compiles a schema for one test.
func schemaOf(t testing.TB, text string) *schema {
	t.Helper()
	compiled, err := jsonschema.CompileString(base+"test.json", text)
	if err != nil {
		t.Fatal(err)
	}
	source, problem := parse([]byte(text), everything)
	if problem != nil {
		t.Fatal(problem)
	}
	return &schema{compiled: compiled, source: source, shape: shapeOf(source)}
}

// explained returns the message of a schema about a body.
func explained(t testing.TB, s *schema, body string) string {
	t.Helper()
	tree, problem := parse([]byte(body), s.shape)
	if problem == nil {
		problem = s.check(tree)
	}
	if problem == nil {
		return ""
	}
	return problem.Error()
}

const draft = `"$schema":"http://json-schema.org/draft-07/schema#",`

func TestEachKeywordIsPutIntoWords(t *testing.T) {
	tests := []struct{ name, schema, body, want string }{
		{"good", `"properties":{"a":{"type":"string"}}`, `{"a":"x"}`, ""},
		{"type with title", `"properties":{"a":{"type":"string","title":"a word"}}`, `{"a":[]}`, "/a: is an array: expected a word"},
		{"type without title", `"properties":{"a":{"type":["string","integer","null"]}}`, `{"a":true}`, "/a: is true: expected text or a whole number or null"},
		{"required", `"required":["a","b"],"properties":{"a":{"title":"a word"}}`, `{}`, "/a: is missing: expected a word"},
		{"required of odd names", `"required":["it's a \"/~\n漢"]`, `{}`, `/it's a \"~1~0\n漢: is missing`},
		{"required in an alternative", `"properties":{"a":{"title":"a word"}},"anyOf":[{"required":["a"]},{"required":["b"]}]`, `{}`, "/a: is missing: expected a word"},
		{"required on a condition", `"properties":{"b":{"title":"a word"}},"if":{"required":["a"]},"then":{"required":["b"]}`, `{"a":1}`, "/b: is missing: expected a word"},
		{"enum", `"properties":{"a":{"enum":["x","y"],"title":"t"}}`, `{"a":"z"}`, `/a: unknown word "z": expected one of "x", "y"`},
		{"enum of one", `"properties":{"a":{"enum":["x"]}}`, `{"a":"z"}`, `/a: unknown word "z": expected "x"`},
		{"enum, no word", `"properties":{"a":{"enum":["x","y"]}}`, `{"a":3}`, `/a: is the number 3: expected one of "x", "y"`},
		{"const", `"properties":{"a":{"const":1,"title":"1"}}`, `{"a":2}`, "/a: is the number 2: expected 1"},
		{"pattern with title", `"properties":{"a":{"pattern":"^x","title":"an x"}}`, `{"a":"z"}`, `/a: "z" does not fit: expected an x`},
		{"pattern without title", `"properties":{"a":{"pattern":"^x"}}`, `{"a":"z"}`, `/a: "z" does not fit: expected what fits ^x`},
		{"format", `"properties":{"a":{"format":"date-time","title":"a time"}}`, `{"a":"noon"}`, `/a: "noon" does not fit: expected a time`},
		{"minLength", `"properties":{"a":{"minLength":1}}`, `{"a":""}`, "/a: is too short: expected text"},
		{"maximum", `"properties":{"a":{"maximum":10,"title":"at most 10"}}`, `{"a":11}`, "/a: is the number 11: expected at most 10"},
		{"minimum without title", `"properties":{"a":{"minimum":2}}`, `{"a":1.5}`, "/a: is the number 1.5: expected >= 2"},
		{"not", `"not":{"required":["a"]}`, `{"a":1}`, "not failed"},
		{"deepest place first", `"required":["z"],"properties":{"a":{"properties":{"b":{"type":"string"}}}}`, `{"a":{"b":1}}`, "/a/b: is the number 1: expected text"},
		{"what is missing first", `"required":["z"],"properties":{"a":{"type":"string"}}, "allOf":[{"maxProperties":0}]`, `{"b":1}`, "/z: is missing"},
		{"indexes by number", `"properties":{"a":{"items":{"type":"string"}}}`, `{"a":["x","x",1,"x","x","x","x","x","x","x",2]}`, "/a/2: is the number 1: expected text"},
		{"escaped names", `"properties":{"a/b ~%":{"type":"string"}}`, `{"a/b ~%":1}`, "/a~1b ~0%: is the number 1: expected text"},
		{"through a reference", `"properties":{"a":{"$ref":"#/definitions/w"}},"definitions":{"w":{"type":"string","title":"a word"}}`, `{"a":1}`, "/a: is the number 1: expected a word"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := schemaOf(t, "{"+draft+tt.schema+"}")
			if got := explained(t, s, tt.body); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

const draft2020 = `"$schema":"https://json-schema.org/draft/2020-12/schema",`

func TestKeywordsOfTheLaterDraftArePutIntoWords(t *testing.T) {
	w := `"$defs":{"w":{"type":"string","title":"a word"}}`
	tests := []struct{ name, schema, body, want string }{
		{"through a reference", `"properties":{"a":{"$ref":"#/$defs/w"}},` + w, `{"a":1}`, "/a: is the number 1: expected a word"},
		{"missing, described by a reference", `"required":["a"],"properties":{"a":{"$ref":"#/$defs/w"}},` + w, `{}`, "/a: is missing: expected a word"},
		{"missing, described nowhere", `"required":["a"],"properties":{"a":{"$ref":"#/$defs/w"}},"$defs":{"w":{"type":"string"}}`, `{}`, "/a: is missing"},
		{"beside a reference", `"properties":{"a":{"$ref":"#/$defs/w","minLength":3,"title":"a long word"}},` + w, `{"a":"ab"}`, "/a: is too short: expected a long word"},
		{"enum of numbers", `"properties":{"a":{"enum":[10,2.5,null]}}`, `{"a":"10"}`, `/a: is the text "10": expected one of 10, 2.5, null`},
		{"enum of numbers, another", `"properties":{"a":{"enum":[10,true]}}`, `{"a":20}`, `/a: is the number 20: expected one of 10, true`},
		{"enum with null", `"properties":{"a":{"enum":["x",null]}}`, `{"a":"y"}`, `/a: unknown word "y": expected one of "x", null`},
		{"maxItems", `"properties":{"a":{"title":"at most two","maxItems":2}}`, `{"a":[1,2,3]}`, "/a: has 3 items: expected at most two"},
		{"items", `"properties":{"a":{"items":{"type":"string","title":"a word"}}}`, `{"a":["x",2]}`, "/a/1: is the number 2: expected a word"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := schemaOf(t, "{"+draft2020+tt.schema+"}")
			if got := explained(t, s, tt.body); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestOneOfManyErrorsIsAlwaysTheSame(t *testing.T) {
	s := schemaOf(t, `{`+draft+`"additionalProperties":{"type":"string"}}`)
	body := `{"j":1,"c":1,"a":1,"h":1,"b":1,"f":1,"d":1,"g":1,"e":1,"i":1}`
	for range 50 {
		if got := explained(t, s, body); !strings.HasPrefix(got, "/a: ") {
			t.Fatalf("got %s", got)
		}
	}
}

func TestSchemasAreCompiledOnceForAll(t *testing.T) {
	var wg sync.WaitGroup
	loaded := make([]*schema, 8)
	for i := range loaded {
		wg.Go(func() { loaded[i], _ = load("faber/workflow") })
	}
	wg.Wait()
	for _, s := range loaded {
		if s == nil || s != loaded[0] || s.compiled == nil {
			t.Fatal("a schema was compiled twice or not at all")
		}
	}
}

package schemas

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestOnlyWhatASchemaLooksAtIsKept(t *testing.T) {
	s := schemaOf(t, `{`+draft+`"required":["here"],"properties":{
		"word":{"enum":["x"]},"text":{"type":"string"},"list":{"items":{"pattern":"."}},"any":{},
		"map":{"additionalProperties":{"minimum":0}},"self":{"$ref":"#"}}}`)
	tree, problem := parse([]byte(`{"here":{"a":1},"gone":"y","word":"x","text":"long","list":["a","b"],"any":{"b":[1]},
		"map":{"k":1,"l":{"deep":true}},"self":{"gone":1,"text":"t"}}`), s.shape)
	if problem != nil {
		t.Fatal(problem)
	}
	got, err := Encode(tree)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Encode(map[string]any{
		"here": map[string]any{}, "word": "x", "text": "", "list": []any{"a", "b"}, "any": map[string]any{},
		"map":  map[string]any{"k": 1, "l": map[string]any{}},
		"self": map[string]any{"gone": 1, "text": "t"}, // what refers to itself is kept whole
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
}

func TestKeywordsThatLookEverywhereKeepEverything(t *testing.T) {
	for _, keyword := range []string{
		`"enum":[{"a":{"b":"c"}}]`, `"const":{"a":{"b":"c"}}`, `"minProperties":1`, `"maxProperties":9`, `"propertyNames":{"minLength":1}`,
		`"patternProperties":{".":{"type":"object"}}`, `"dependencies":{"a":["a"]}`, `"not":{"required":["z"]}`, `"if":{"required":["a"]}`,
		`"allOf":[{"properties":{"a":{"required":["b"]}}}]`, `"anyOf":[{"required":["a"]}]`, `"oneOf":[{"required":["a"]}]`,
		`"additionalProperties":{"minProperties":1}`, `"$ref":"#/definitions/w","definitions":{"w":{"minProperties":1}}`,
	} {
		s := schemaOf(t, "{"+draft+keyword+"}")
		if got := explained(t, s, `{"a":{"b":"c"}}`); got != "" {
			t.Errorf("%s: %s", keyword, got)
		}
	}
	for _, keyword := range []string{`"minItems":1`, `"maxItems":2`, `"uniqueItems":true`, `"contains":{"const":"x"}`, `"items":[{"const":"x"}]`} {
		s := schemaOf(t, `{`+draft+`"properties":{"l":{`+keyword+`}}}`)
		if got := explained(t, s, `{"l":["x","y"]}`); got != "" {
			t.Errorf("%s: %s", keyword, got)
		}
		if got := explained(t, s, `{"l":["y","y","y"]}`); got == "" && keyword != `"minItems":1` {
			t.Errorf("%s: a wrong list was taken", keyword)
		}
	}
}

func TestTheLaterDraftIsKeptInPartsToo(t *testing.T) {
	s := schemaOf(t, `{`+draft2020+`"properties":{"ref":{"$ref":"#/$defs/d"},"both":{"$ref":"#/$defs/d","required":["x"]},
		"list":{"items":{"properties":{"n":{"minimum":0}}}}},"$defs":{"d":{"properties":{"t":{"type":"string"}}}}}`)
	tree, problem := parse([]byte(`{"ref":{"t":"long","u":1},"both":{"x":1,"u":{"v":1}},"list":[{"n":1,"m":2}],"gone":1}`), s.shape)
	if problem != nil {
		t.Fatal(problem)
	}
	got, err := Encode(tree)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Encode(map[string]any{
		"ref": map[string]any{"t": ""}, "both": map[string]any{"x": 1, "u": map[string]any{"v": 1}}, "list": []any{map[string]any{"n": 1}},
	})
	if diff := cmp.Diff(string(want), string(got)); err != nil || diff != "" {
		t.Errorf("%v, tree (-want +got):\n%s", err, diff)
	}
	for _, keyword := range []string{
		`"dependentRequired":{"a":["z"]}`, `"dependentSchemas":{"a":{"required":["z"]}}`, `"unevaluatedProperties":{"type":"string"}`,
		`"properties":{"a":{"prefixItems":[{"const":"y"}]}}`, `"properties":{"a":{"items":{"const":"x"},"unevaluatedItems":false,"maxItems":1}}`,
		`"properties":{"a":{"$dynamicRef":"#w"}},"$defs":{"w":{"$dynamicAnchor":"w","items":{"const":"y"}}}`,
	} {
		if got := explained(t, schemaOf(t, "{"+draft2020+keyword+"}"), `{"a":["x","z"]}`); got == "" {
			t.Errorf("%s: a wrong document was taken", keyword)
		}
	}
}

// document generates an object that often uses the names of the schemas.
func document(names []string, depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		var members []string
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 6, rapid.ID).Draw(t, "names") {
			members = append(members, fmt.Sprintf("%q:%s", name, jsonValue(names, depth).Draw(t, name)))
		}
		return "{" + strings.Join(members, ",") + "}"
	})
}

func jsonValue(names []string, depth int) *rapid.Generator[string] {
	scalars := rapid.SampledFrom([]string{`null`, `true`, `0`, `1`, `-1`, `2.5`, `""`, `"x"`, `"accepted"`, `"cli"`, `"fr-1"`, `"../x"`, `[]`, `{}`})
	if depth == 0 {
		return scalars
	}
	list := rapid.Map(rapid.SliceOfN(rapid.Deferred(func() *rapid.Generator[string] { return jsonValue(names, depth-1) }), 0, 3),
		func(elements []string) string { return "[" + strings.Join(elements, ",") + "]" })
	return rapid.OneOf(scalars, list, document(names, depth-1))
}

// TestLookingAtPartsFindsTheSameErrors checks the law of shapes: the verdict
// on the parts is the verdict on the whole.
func TestLookingAtPartsFindsTheSameErrors(t *testing.T) {
	for _, name := range Names() {
		s, err := load(name)
		if err != nil {
			t.Fatal(err)
		}
		names := []string{"unknown"}
		walkSchema(s.source, func(_ string, node map[string]any) {
			properties, _ := node["properties"].(map[string]any)
			for key := range properties {
				names = append(names, key)
			}
		}, "")
		slices.Sort(names)
		names = slices.Compact(names)
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				body := []byte(document(names, 3).Draw(t, "body"))
				parts, problem := parse(body, s.shape)
				whole, problemToo := parse(body, everything)
				if problem != nil || problemToo != nil {
					t.Fatalf("%s: %v, %v", body, problem, problemToo)
				}
				if diff := cmp.Diff(s.check(whole), s.check(parts)); diff != "" {
					t.Fatalf("%s (-whole +parts):\n%s", body, diff)
				}
			})
		})
	}
}

package schemas

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// check says what is wrong with a tree by a schema, nil if nothing is. The
// error has no place in the text yet.
func (s *schema) check(tree map[string]any) *Error {
	err := s.compiled.Validate(tree)
	if err == nil {
		return nil
	}
	invalid, ok := err.(*jsonschema.ValidationError)
	if !ok {
		return &Error{Problem: err.Error()}
	}
	return s.explain(best(invalid), tree)
}

// leaf is a failed keyword at one place of the document.
type leaf struct {
	pointer []string // the place, unescaped
	keyword string
	schema  []string // the place of the keyword's schema, unescaped
	message string
}

// best picks the most telling failure: the deepest in the document, for that
// is where a schema's alternatives end; of those, the first keyword in order
// of rank, then the first place. Go's map order must never show.
func best(e *jsonschema.ValidationError) leaf {
	var found []leaf
	var walk func(e *jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		for _, cause := range e.Causes {
			walk(cause)
		}
		if len(e.Causes) == 0 {
			found = append(found, newLeaf(e))
		}
	}
	walk(e)
	return slices.MinFunc(found, func(a, b leaf) int {
		return cmp.Or(
			cmp.Compare(len(b.pointer), len(a.pointer)),
			cmp.Compare(rank(a.keyword), rank(b.keyword)),
			slices.CompareFunc(a.pointer, b.pointer, compareTokens),
			cmp.Compare(a.message, b.message),
		)
	})
}

func newLeaf(e *jsonschema.ValidationError) leaf {
	_, at, _ := strings.Cut(e.AbsoluteKeywordLocation, "#")
	place := tokens(unescape(at))
	l := leaf{pointer: tokens(unescape(e.InstanceLocation)), message: e.Message}
	if len(place) > 0 {
		l.schema, l.keyword = place[:len(place)-1], place[len(place)-1]
	}
	return l
}

// ranks order the keywords: what is not there at all comes before what has the
// wrong form.
var ranks = []string{"required", "type", "enum", "const", "pattern", "format"}

func rank(keyword string) int {
	if i := slices.Index(ranks, keyword); i >= 0 {
		return i
	}
	return len(ranks)
}

// compareTokens orders array indexes by number, names by their letters.
func compareTokens(a, b string) int {
	m, errM := strconv.Atoi(a)
	n, errN := strconv.Atoi(b)
	if errM == nil && errN == nil {
		return cmp.Compare(m, n)
	}
	return strings.Compare(a, b)
}

// explain puts a failure into words. A schema's title says what the value is,
// in a form that can follow the word "expected".
func (s *schema) explain(l leaf, tree any) *Error {
	node, _ := follow(s.source, l.schema).(map[string]any)
	rule, value := node[l.keyword], follow(tree, l.pointer)
	e := &Error{Pointer: pointer(l.pointer), Problem: "is " + kindOf(value), Expected: s.title(l.schema)}
	switch l.keyword {
	case "required":
		if name := firstMissing(rule, value); name != "" {
			e.Pointer, e.Expected = pointer(append(l.pointer, name)), s.memberTitle(l.schema, name)
		}
		e.Problem = "is missing"
	case "type":
		e.Expected = cmp.Or(e.Expected, schemaTypes.Replace(strings.Trim(fmt.Sprint(rule), "[]")))
	case "enum":
		e.Problem, e.Expected = enum(rule, value)
	case "const":
	case "pattern", "format":
		e.Problem, e.Expected = literal(value)+" does not fit", cmp.Or(e.Expected, fmt.Sprint("what fits ", rule))
	case "minimum":
		e.Expected = cmp.Or(e.Expected, fmt.Sprint(">= ", rule))
	case "maximum":
		e.Expected = cmp.Or(e.Expected, fmt.Sprint("<= ", rule))
	case "maxItems":
		items, _ := value.([]any)
		e.Problem = fmt.Sprintf("has %d items", len(items))
	case "minLength":
		e.Problem, e.Expected = "is too short", cmp.Or(e.Expected, "text")
	default:
		e.Problem = cmp.Or(l.message, "does not fit")
	}
	return e
}

// firstMissing returns the first of the required names that an object lacks.
func firstMissing(required, value any) string {
	names, _ := required.([]any)
	object, _ := value.(map[string]any)
	for _, name := range names {
		if _, ok := object[name.(string)]; !ok {
			return name.(string)
		}
	}
	return ""
}

// enum says what is wrong with a value that is none of a schema's, and which those
// are. A word in place of a number is a text, not an unknown word.
func enum(rule, value any) (problem, expected string) {
	values, _ := rule.([]any)
	var all []string
	words := false
	for _, v := range values {
		_, word := v.(string)
		words = words || word
		all = append(all, literal(v))
	}
	problem, expected = "is "+kindOf(value), "one of "+strings.Join(all, ", ")
	if len(all) == 1 {
		expected = all[0]
	}
	switch word, ok := value.(string); {
	case ok && words:
		problem = "unknown word " + quoted(word)
	case ok:
		problem = "is the text " + quoted(word)
	}
	return problem, expected
}

// title returns the title of the schema at a place, or of the one of the same
// document that it refers to; "" if it has none.
func (s *schema) title(at []string) string {
	node, _ := follow(s.source, at).(map[string]any)
	if title, ok := node["title"].(string); ok {
		return title
	}
	to, _ := node["$ref"].(string)
	if within, ok := strings.CutPrefix(to, "#/"); ok {
		node, _ = follow(s.source, tokens("/"+within)).(map[string]any)
	}
	title, _ := node["title"].(string)
	return title
}

// memberTitle returns the title of a member's schema. A keyword within an
// alternative speaks of members that the schema around it describes.
func (s *schema) memberTitle(at []string, name string) string {
	for {
		if title := s.title(slices.Concat(at, []string{"properties", name})); title != "" || len(at) == 0 {
			return title
		}
		switch last := at[len(at)-1]; {
		case slices.Contains([]string{"if", "then", "else"}, last):
			at = at[:len(at)-1]
		case len(at) > 1 && slices.Contains([]string{"allOf", "anyOf", "oneOf"}, at[len(at)-2]):
			at = at[:len(at)-2]
		default:
			return ""
		}
	}
}

// schemaTypes turns "string null" into "text or null".
var schemaTypes = strings.NewReplacer(" ", " or ", "string", "text", "object", "an object", "array", "an array", "number", "a number",
	"integer", "a whole number", "boolean", "true or false")

// kindOf names the kind of a value of a tree.
func kindOf(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case string:
		return "text"
	case map[string]any:
		return "an object"
	case []any:
		return "an array"
	default:
		return "the number " + literal(v)
	}
}

// literal shows a value of a tree in a message.
func literal(value any) string {
	switch v := value.(type) {
	case string:
		return quoted(v)
	case interface{ String() string }:
		return shown(v.String())
	default:
		return kindOf(value)
	}
}

// unescape undoes the URL escaping of jsonschema's locations.
func unescape(location string) string {
	if plain, err := url.PathUnescape(location); err == nil {
		return plain
	}
	return location
}

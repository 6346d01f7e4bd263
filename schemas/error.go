package schemas

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v5"

	"placet/templates"
)

// Error says where a document cannot be read and what was expected there.
type Error struct {
	// Path is the document's name, given by the caller.
	Path string
	// Line and Column count from 1, columns in characters. Line is 0 if there
	// is no place to name, because the document is empty.
	Line, Column int
	// Pointer is the JSON pointer (RFC 6901) of the wrong member, "" for the
	// document itself. For a missing member it is the pointer that the member
	// would have.
	Pointer string
	// Problem says what is wrong, Expected what would be right; Expected may
	// be the zero message.
	Problem, Expected templates.Message
	// Torn is true if the file may be half-written and may be good a moment
	// later. The caller waits before it complains.
	Torn bool
}

// Error returns for example
//
//	state.json: line 12, column 3: /status: unknown word "x": expected one of "a", "b"
func (e *Error) Error() string { return e.In(templates.English) }

// In returns the text of Error in a language.
func (e *Error) In(lang string) string {
	var parts []string
	if e.Path != "" {
		parts = append(parts, e.Path)
	}
	if e.Line > 0 {
		parts = append(parts, templates.Phrase(lang, "schema.place", "line", e.Line, "column", e.Column))
	}
	if e.Pointer != "" {
		parts = append(parts, shown(e.Pointer))
	}
	parts = append(parts, e.Problem.In(lang))
	if !isZero(e.Expected) {
		parts = append(parts, templates.Phrase(lang, "schema.expected", "expected", e.Expected))
	}
	return strings.Join(parts, ": ")
}

// Names returns the parts of Pointer.
func (e *Error) Names() []string { return tokens(e.Pointer) }

// Says returns what is wrong and what was expected, without the place.
func (e *Error) Says() templates.Message {
	if isZero(e.Expected) {
		return e.Problem
	}
	return say("schema.because", "problem", e.Problem, "reason", say("schema.expected", "expected", e.Expected))
}

// say and text are short names for the functions with which this package makes
// messages.
var (
	say  = templates.NewMessage
	text = templates.Untranslated
)

func isZero(m templates.Message) bool { return m.Key == "" }

// or returns the first message, or the second if the first is the zero
// message.
func or(first, second templates.Message) templates.Message {
	if isZero(first) {
		return second
	}
	return first
}

// named returns the error with the document's path.
func (e *Error) named(path string) *Error {
	e.Path = path
	return e
}

// at returns the error with the place of a byte offset in body.
func (e *Error) at(body []byte, offset int) *Error {
	e.Line, e.Column = position(body, offset)
	return e
}

// position returns the line and column of a byte offset, both from 1.
func position(body []byte, offset int) (line, column int) {
	before := body[:min(max(offset, 0), len(body))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1
}

// shownLength is how many bytes of a quoted text a message repeats.
const shownLength = 80

// shown makes text from a file fit for a message: short, and without control,
// bidi and zero-width characters.
func shown(text string) string {
	q := quoted(text)
	return q[1 : len(q)-1]
}

// printable escapes only the characters that must not reach a terminal or an
// editor: control, bidi and zero-width characters.
func printable(text string) string {
	q := templates.Quoted(text)
	return unquote.Replace(q[1 : len(q)-1])
}

// unquote removes the escapes that only a text in quotation marks needs.
var unquote = strings.NewReplacer(`\"`, `"`, `\\`, `\`)

// quoted returns the text of shown in quotation marks.
func quoted(text string) string {
	if len(text) <= shownLength {
		return templates.Quoted(text)
	}
	cut := shownLength
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	q := templates.Quoted(text[:cut])
	return q[:len(q)-1] + "…" + `"`
}

// check says what is wrong with a tree by a schema, nil if nothing is. The
// error has no line and column yet.
func (s *schema) check(tree any) *Error {
	err := s.compiled.Validate(tree)
	if err == nil {
		return nil
	}
	invalid, ok := err.(*jsonschema.ValidationError)
	if !ok {
		return &Error{Problem: text(err.Error())}
	}
	return s.explain(best(invalid), tree)
}

// leaf is a keyword that failed at one place of the document.
type leaf struct {
	pointer []string // the place, unescaped
	keyword string
	schema  []string // the place of the keyword's schema, unescaped
	message string
}

// best picks the most useful failure: the deepest in the document, because a
// schema's alternatives end there; of those, the first keyword in order of
// rank, then the first place. Go's map order must never show.
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

// ranks is the order of the keywords: a missing member comes before one with
// the wrong form.
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

// explain words a failure. A schema's title says what the value is, in a form
// that can follow the word "expected".
func (s *schema) explain(l leaf, tree any) *Error {
	node, _ := follow(s.source, l.schema).(map[string]any)
	rule, value := node[l.keyword], follow(tree, l.pointer)
	e := &Error{Pointer: pointer(l.pointer), Problem: say("schema.is", "what", kindOf(value)), Expected: text(s.title(l.schema))}
	if says, ok := node["x-says"].(string); ok && l.keyword != "type" { // a sentence of its own, translated
		return &Error{Pointer: e.Pointer, Problem: say(templates.Key(says), "value", literal(value))}
	}
	switch l.keyword {
	case "required":
		if name := firstMissing(rule, value); name != "" {
			e.Pointer, e.Expected = pointer(append(l.pointer, name)), or(text(s.memberTitle(l.schema, name)), wordsOf(node, name))
		}
		e.Problem = say("schema.missing")
	case "type":
		e.Expected = or(e.Expected, typesOf(strings.Fields(strings.Trim(fmt.Sprint(rule), "[]"))))
	case "enum":
		e.Problem, e.Expected = enum(rule, value)
	case "const":
	case "pattern", "format":
		e.Problem, e.Expected = say("schema.unfit", "value", literal(value)), or(e.Expected, say("schema.fits", "rule", rule))
	case "minimum", "maximum":
		e.Expected = or(e.Expected, bounds(node))
	case lengthKeyword:
		e.Problem, e.Expected = explainLength(rule, value), templates.Message{}
	case "maxItems":
		items, _ := value.([]any)
		e.Problem = say("schema.items", "n", len(items))
	case "additionalProperties":
		e.Problem = say("schema.unknown.members", "names", strings.Join(unknownMembers(node, value), ", "))
	case "minLength":
		e.Problem, e.Expected = say("schema.short"), or(e.Expected, say("schema.kind.text"))
	default:
		e.Problem = or(text(l.message), say("schema.unfit.plain"))
	}
	return e
}

// unknownMembers returns the names of an object that its schema does not list, in quotation
// marks and sorted.
func unknownMembers(schema map[string]any, value any) (names []string) {
	known, _ := schema["properties"].(map[string]any)
	object, _ := value.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if _, ok := known[name]; !ok {
			names = append(names, quoted(name))
		}
	}
	return names
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

// enum says what is wrong with a value that a schema does not list, and which values it
// lists. A word in place of a number is called a text, not an unknown word.
func enum(rule, value any) (problem, expected templates.Message) {
	values, _ := rule.([]any)
	var all []string
	words := false
	for _, v := range values {
		_, word := v.(string)
		words = words || word
		all = append(all, fmt.Sprint(literal(v)))
	}
	problem, expected = say("schema.is", "what", kindOf(value)), say("schema.oneof", "values", strings.Join(all, ", "))
	if len(all) == 1 {
		expected = text(all[0])
	}
	switch word, ok := value.(string); {
	case ok && words:
		problem = say("schema.word", "word", quoted(word))
	case ok:
		problem = say("schema.is", "what", say("schema.value.text", "text", quoted(word)))
	}
	return problem, expected
}

// wordsOf says which words a member of an object may be; it returns nothing if
// the schema does not list them.
func wordsOf(schema map[string]any, member string) (expected templates.Message) {
	rules, _ := follow(schema, []string{"properties", member}).(map[string]any)
	if rules["enum"] != nil {
		_, expected = enum(rules["enum"], nil)
	}
	return expected
}

// title returns the title of the schema at a place, or of the schema in the
// same document to which it refers; "" if it has none.
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

// memberTitle returns the title of a member's schema. A keyword inside an
// alternative may be about members that the schema around it describes.
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

// bounds says between which numbers a number must be by a schema.
func bounds(schema map[string]any) templates.Message {
	least, most := schema["minimum"], schema["maximum"]
	switch {
	case most == nil:
		return text(fmt.Sprint(">= ", least))
	case least == nil:
		return text(fmt.Sprint("<= ", most))
	}
	return say("schema.bounds", "least", least, "most", most)
}

// typesOf words the types that a schema names: "text or null".
func typesOf(names []string) (all templates.Message) {
	for _, name := range names {
		one := text(name)
		switch name {
		case "string":
			one = say("schema.kind.text")
		case "object", "array", "number", "integer", "boolean":
			one = say(templates.Key("schema.kind." + name))
		}
		if isZero(all) {
			all = one
		} else {
			all = say("schema.or", "one", all, "other", one)
		}
	}
	return all
}

// kindOf names the kind of a value of a tree.
func kindOf(value any) any {
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case string:
		return say("schema.kind.text")
	case map[string]any:
		return say("schema.kind.object")
	case []any:
		return say("schema.kind.array")
	default:
		return say("schema.value.number", "number", literal(v))
	}
}

// literal returns a value of a tree in the form for a message.
func literal(value any) any {
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

// tokens splits a JSON pointer into its unescaped parts.
func tokens(p string) []string { return slices.Collect(jsontext.Pointer(p).Tokens()) }

// pointer joins unescaped parts to a JSON pointer.
func pointer(parts []string) string {
	var p jsontext.Pointer
	for _, part := range parts {
		p = p.AppendToken(part)
	}
	return string(p)
}

// follow returns the value at a place of a tree, nil if there is none.
func follow(tree any, parts []string) any {
	for _, p := range parts {
		switch node := tree.(type) {
		case map[string]any:
			tree = node[p]
		case []any:
			i, err := strconv.Atoi(p)
			if err != nil || i < 0 || i >= len(node) {
				return nil
			}
			tree = node[i]
		default:
			return nil
		}
	}
	return tree
}

// locate returns the offset in body of the value that a pointer names, or of
// the nearest existing value around it. body must have been parsed before.
func locate(body []byte, p string) int {
	dec := jsontext.NewDecoder(bytes.NewBuffer(body))
	offset := blanks(body)
	for _, want := range tokens(p) {
		if !enterMember(dec, want) {
			break
		}
		offset = int(dec.InputOffset())
		offset += len(body[offset:]) - len(bytes.TrimLeft(body[offset:], " \t\r\n:,"))
	}
	return offset
}

// enterMember moves dec to the value of a member or element of the next value.
// It returns false if there is none.
func enterMember(dec *jsontext.Decoder, want string) bool {
	kind := dec.PeekKind()
	if kind != '{' && kind != '[' {
		return false
	}
	if _, err := dec.ReadToken(); err != nil {
		return false
	}
	for i := 0; dec.PeekKind() != '}' && dec.PeekKind() != ']'; i++ {
		name := strconv.Itoa(i)
		if kind == '{' {
			token, err := dec.ReadToken()
			if err != nil {
				return false
			}
			name = token.String()
		}
		if name == want {
			return true
		}
		if dec.SkipValue() != nil {
			return false
		}
	}
	return false
}

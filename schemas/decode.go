package schemas

import (
	"bytes"
	"cmp"
	stdjson "encoding/json"
	"errors"
	"math/big"
	"reflect"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"placet/templates"
)

// Decode reads one strict JSON document, checks it against the named schema ("" checks only
// that it is strict), and stores it in into: a pointer to a struct with json tags, a *any,
// which gets map[string]any, []any, string, json.Number, bool and nil, or nil to check only.
// path names the document in errors. Every error about the document is of type *[Error].
//
// Names match exactly, and null leaves a field zero. Unknown names are ignored, but a
// misspelt one is an error in the documents that are written for placet. An int accepts a
// whole number in every spelling: 20, 20.0, 2e1.
func Decode(schema, path string, body []byte, into any) error {
	problem, err := verify(schema, body)
	if err != nil {
		return err
	}
	if problem == nil {
		problem = store(body, into)
	}
	if problem != nil {
		return problem.named(path)
	}
	return nil
}

// Own replaces the schema for a document that placet wrote on this machine, as its digest
// shows. It was right when it was written, so [Decode] checks nothing.
const Own = "own"

// verify checks body strictly and by the schema. The second error says that the schema cannot
// be used.
func verify(name string, body []byte) (*Error, error) {
	switch name {
	case Own:
		return nil, nil
	case "":
		_, problem := parse(body, nil)
		return problem, nil
	}
	s, err := load(name)
	if err != nil {
		return nil, err
	}
	tree, problem := parse(body, s.shape)
	if problem == nil {
		problem = s.check(tree)
		if problem != nil {
			problem.at(body, locate(body, problem.Pointer))
		}
	}
	if problem == nil && slices.Contains(strictNames, name) {
		problem = s.misspelt(body)
	}
	return problem, nil
}

// CheckValue says what is wrong with a text, or a list of texts, by a part of a schema, such
// as "ask/ask#/properties/may_answer"; nil if nothing is. It checks a value that is to become
// a member of a document by the document's own rule.
func CheckValue[V string | []string](part string, value V) error {
	s, err := load(part)
	if err != nil {
		return err
	}
	var tree any = value
	if list, ok := tree.([]string); ok {
		values := make([]any, len(list))
		for i, one := range list {
			values[i] = one
		}
		tree = values
	}
	if problem := s.check(tree); problem != nil {
		return problem
	}
	return nil
}

// readOptions may allow doubled names because they are used only for verified content.
var readOptions = json.JoinOptions(
	jsontext.AllowDuplicateNames(true),
	json.WithUnmarshalers(json.JoinUnmarshalers(
		json.UnmarshalFromFunc(numberAny),
		json.UnmarshalFromFunc(wholeNumber),
	)),
)

// numberAny keeps the text of a number in a field of type any.
func numberAny(dec *jsontext.Decoder, v *any) error {
	if dec.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	value, err := dec.ReadValue()
	*v = stdjson.Number(value)
	return err
}

// store decodes verified content into a Go value.
func store(body []byte, into any) *Error {
	if into == nil {
		return nil
	}
	err := json.Unmarshal(body, into, readOptions)
	if err == nil {
		return nil
	}
	e := &Error{Problem: text(err.Error())}
	var unfit *json.SemanticError
	if errors.As(err, &unfit) {
		e.Pointer, e.Problem = string(unfit.JSONPointer), unfitProblem(body, unfit)
		e.Expected = unfitExpected(unfit)
	}
	return e.at(body, locate(body, e.Pointer))
}

func unfitProblem(body []byte, unfit *json.SemanticError) templates.Message {
	value := Raw(cmp.Or(string(unfit.JSONValue), string(valueAt(body, string(unfit.JSONPointer)))))
	what := kindWords[value.Kind()]
	if text, ok := value.Text(); ok {
		what = say("schema.value.text", "text", quoted(text))
	} else if value.Kind() == '0' {
		what = say("schema.value.number", "number", shown(string(value)))
	}
	problem := say("schema.is", "what", what)
	if err := unfitReason(unfit); err != nil {
		problem = say("schema.because", "problem", problem, "reason", shown(err.Error()))
	}
	return problem
}

func unfitExpected(unfit *json.SemanticError) templates.Message {
	if unfitReason(unfit) != nil {
		return templates.Message{}
	}
	return describeType(unfit.GoType)
}

// unfitReason returns the error of a type's own reading, nil if it has none.
func unfitReason(unfit *json.SemanticError) error {
	if errors.Is(unfit.Err, strconv.ErrSyntax) || errors.Is(unfit.Err, strconv.ErrRange) {
		return nil
	}
	return unfit.Err
}

// valueAt returns the bytes of the value that a pointer names.
func valueAt(body []byte, p string) []byte {
	dec := jsontext.NewDecoder(bytes.NewBuffer(body[locate(body, p):]))
	value, err := dec.ReadValue()
	if err != nil {
		return nil
	}
	return value
}

// typeWords says what a kind of Go type can hold.
var typeWords = map[reflect.Kind]templates.Key{
	reflect.Int: "schema.kind.small", reflect.Float32: "schema.kind.number", reflect.Float64: "schema.kind.number",
	reflect.Bool: "schema.kind.boolean", reflect.String: "schema.kind.text", reflect.Slice: "schema.kind.array", reflect.Array: "schema.kind.array",
	reflect.Struct: "schema.kind.object", reflect.Map: "schema.kind.object",
}

// describeType says what a Go type can hold.
func describeType(t reflect.Type) templates.Message {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == nil:
		return templates.Message{}
	case t.Kind() > reflect.Int && t.Kind() <= reflect.Uint64:
		return say("schema.kind.plain")
	}
	return say(typeWords[t.Kind()])
}

// wholeNumber stores a whole number in an int, however it is spelled, because a schema
// accepts 20, 20.0 and 2e1 alike.
func wholeNumber(dec *jsontext.Decoder, n *int) error {
	if dec.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	value, err := dec.ReadValue()
	if err != nil {
		return err
	}
	if *n, err = strconv.Atoi(string(value)); err != nil {
		*n, err = wholeSpelled(string(value))
	}
	return err
}

// wholeSpelled reads a whole number with a fraction or an exponent. Both are short; see
// reasonable.
func wholeSpelled(text string) (int, error) {
	exact, ok := new(big.Rat).SetString(text)
	if !ok || !exact.IsInt() {
		return 0, strconv.ErrSyntax
	}
	if !exact.Num().IsInt64() || int64(int(exact.Num().Int64())) != exact.Num().Int64() {
		return 0, strconv.ErrRange
	}
	return int(exact.Num().Int64()), nil
}

// DecodeValue stores one value of a document that was read before in into, like [Decode]. The
// value may be of any kind; its content was checked with the document.
func DecodeValue(value Raw, into any) error {
	return json.Unmarshal(value, into, readOptions)
}

// Equal reports whether two values mean the same: spacing, escapes and the order of names do
// not matter, the text of numbers does. A missing value equals an empty object.
func Equal(a, b Raw) bool {
	return bytes.Equal(a, b) || reflect.DeepEqual(plainValue(a), plainValue(b))
}

func plainValue(r Raw) any {
	var v any
	if r.Null() || DecodeValue(r, &v) != nil {
		v = map[string]any{}
	}
	return v
}

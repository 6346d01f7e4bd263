package schemas

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"placet/templates"
)

// Raw is a JSON value with its bytes unchanged. The nil Raw is written as null.
type Raw []byte

// MarshalJSON returns the value's own bytes.
func (r Raw) MarshalJSON() ([]byte, error) {
	if r == nil {
		return []byte("null"), nil
	}
	return r, nil
}

// UnmarshalJSON keeps a copy of the value's bytes.
func (r *Raw) UnmarshalJSON(b []byte) error {
	*r = append((*r)[:0], b...)
	return nil
}

// Null reports whether the value is null or missing.
func (r Raw) Null() bool { return len(r) == 0 || string(r) == "null" }

// Kind returns '{', '[', '"', '0', 't', 'f' or 'n' for an object, array,
// string, number, true, false or null, and 0 for no value.
func (r Raw) Kind() byte { return byte(jsontext.Value(r).Kind()) }

// Text returns the value of a string, false if the value has another kind.
func (r Raw) Text() (string, bool) {
	if r.Kind() != '"' {
		return "", false
	}
	text, err := jsontext.AppendUnquote(nil, bytes.TrimSpace(r))
	return string(text), err == nil
}

// Member is one name and value of an object. A value that was read is a Raw; a value
// to be written may be anything that Encode accepts.
type Member struct {
	Name  string
	Value any
}

// Object is an object whose members keep their order.
type Object []Member

// Get returns the value of a name, nil if there is none.
func (o Object) Get(name string) any {
	for _, m := range o {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

// Raw returns the bytes of a member that was read, nil if there is none.
func (o Object) Raw(name string) Raw {
	raw, _ := o.Get(name).(Raw)
	return raw
}

// Without returns the members whose names are not among those given, in order. It
// keeps a document's unknown members.
func (o Object) Without(names ...string) Object {
	var rest Object
	for _, m := range o {
		if !slices.Contains(names, m.Name) {
			rest = append(rest, m)
		}
	}
	return rest
}

// NullWhereEmpty returns the object with null in place of the empty texts of some names.
func (o Object) NullWhereEmpty(names ...string) Object {
	for i, m := range o {
		if m.Value == "" && slices.Contains(names, m.Name) {
			o[i].Value = nil
		}
	}
	return o
}

// MarshalJSONTo writes the members in their order. Two members with one name are an
// error.
func (o Object) MarshalJSONTo(enc *jsontext.Encoder) error {
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, m := range o {
		if err := enc.WriteToken(jsontext.String(m.Name)); err != nil {
			return err
		}
		if err := json.MarshalEncode(enc, m.Value); err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndObject)
}

// MarshalJSON writes the members in their order, for encoding/json.
func (o Object) MarshalJSON() ([]byte, error) { return json.Marshal(o, writeOptions) }

// UnmarshalJSON reads an object's members in their order, each value a Raw.
// null makes a nil Object.
func (o *Object) UnmarshalJSON(b []byte) error {
	if Raw(b).Null() {
		*o = nil
		return nil
	}
	members, err := Members(bytes.Clone(b))
	*o = members
	return err
}

// Members returns the members of a JSON object in their order, each value a Raw that
// shares body's memory. It checks only the syntax of body and doubled names.
func Members(body []byte) (Object, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(body))
	if dec.PeekKind() != '{' {
		return nil, templates.Errorf("schema.members")
	}
	members := Object{}
	return members, each(dec, func() error {
		name, err := dec.ReadToken()
		if err != nil {
			return err
		}
		m := Member{Name: name.String()}
		value, err := dec.ReadValue()
		m.Value = Raw(value[:len(value):len(value)])
		members = append(members, m)
		return err
	})
}

// Elements returns the elements of a JSON array, each sharing body's memory.
func Elements(body []byte) ([]Raw, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(body))
	if dec.PeekKind() != '[' {
		return nil, templates.Errorf("schema.elements")
	}
	elements := []Raw{}
	err := each(dec, func() error {
		value, err := dec.ReadValue()
		elements = append(elements, Raw(value[:len(value):len(value)]))
		return err
	})
	return elements, err
}

// each reads one object or array and calls read for each member or element.
func each(dec *jsontext.Decoder, read func() error) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != '}' && dec.PeekKind() != ']' {
		if err := read(); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

// Encode returns v as JSON in placet's form: two-space indentation, no escapes except
// those that JSON demands, a final newline. Equal values give equal bytes. A nil slice
// is [], a nil map {}, a nil pointer or Raw null; an [Object] keeps its order, numbers
// as json.Number and strings within a [Raw] keep their spelling.
func Encode(v any) ([]byte, error) {
	body, err := json.Marshal(v, writeOptions, jsontext.WithIndent("  "))
	if err != nil {
		return nil, unencodable(err)
	}
	return append(body, '\n'), nil
}

// unencodable returns the error for a value that JSON cannot hold: a text that is not UTF-8.
func unencodable(err error) error {
	var bad *jsontext.SyntacticError
	if !errors.As(err, &bad) {
		return err
	}
	return &Error{Pointer: string(bad.JSONPointer), Problem: say("schema.yaml.utf8")}
}

var writeOptions = json.JoinOptions(
	json.Deterministic(true),
	jsontext.PreserveRawStrings(true),
	json.WithMarshalers(json.MarshalToFunc(func(enc *jsontext.Encoder, n stdjson.Number) error {
		return enc.WriteValue(jsontext.Value(n))
	})),
)

// Line returns v as one line of a JSON Lines journal, with its newline.
func Line(v any) ([]byte, error) {
	body, err := json.Marshal(v, writeOptions)
	if err != nil {
		return nil, err
	}
	return append(body, '\n'), nil
}

// OrNull is a text that is null in JSON if it is empty.
type OrNull string

// Time parses the text as a time in the form of RFC 3339. It returns the zero time if
// that fails.
func (t OrNull) Time() time.Time {
	at, err := time.Parse(time.RFC3339, string(t))
	if err != nil {
		return time.Time{}
	}
	return at
}

// MarshalJSONTo writes the text, or null.
func (t OrNull) MarshalJSONTo(enc *jsontext.Encoder) error {
	if t == "" {
		return enc.WriteToken(jsontext.Null)
	}
	return enc.WriteToken(jsontext.String(string(t)))
}

// Struct returns the fields of a struct as an object, in their order, so that members
// which the struct does not know can be written after them. It leaves out a field with
// the option omitempty if the field is zero or has no elements.
func Struct(v any) Object {
	value := reflect.ValueOf(v)
	var o Object
	for i := range value.NumField() {
		field, tag := value.Field(i), value.Type().Field(i)
		if name := memberName(tag); name != "" && !(strings.HasSuffix(tag.Tag.Get("json"), ",omitempty") && isEmpty(field)) {
			o = append(o, Member{Name: name, Value: field.Interface()})
		}
	}
	return o
}

func isEmpty(v reflect.Value) bool { return v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0 }

// Rest returns the members of a JSON object for which a struct has no field, in their
// order. into is a pointer to the struct.
func Rest(body []byte, into any) (Object, error) {
	members, err := Members(body)
	if err != nil {
		return nil, err
	}
	return members.Without(fieldNames(into)...), nil
}

// fieldNames returns the JSON names of the fields of the struct to which into points.
func fieldNames(into any) (names []string) {
	t := reflect.TypeOf(into).Elem()
	for i := range t.NumField() {
		if name := memberName(t.Field(i)); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// memberName returns the JSON name of a field, "" for none.
func memberName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "-" {
		return ""
	}
	return name
}

// Stray is a member that is kept but that nobody reads, because no field of a struct
// has its name.
type Stray struct {
	// Pointer is its place in the document, as a JSON pointer.
	Pointer string
	Name    string
	// Meant is the name that was probably intended, "" if no name is near.
	Meant string
}

// Strays returns the members of an object for which a struct has no field, in their
// order. at is the object's place in its document, as a JSON pointer; into is a
// pointer to the struct, and more are further names that are read. A name with a
// dollar sign at its beginning, such as $schema, describes the document, and one with
// x- belongs to the writer; neither is a stray.
func Strays(at string, o Object, into any, more ...string) []Stray {
	names := append(fieldNames(into), more...)
	absent := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return o.Get(name) != nil })
	var list []Stray
	for _, m := range o {
		if slices.Contains(names, m.Name) || strings.HasPrefix(m.Name, "$") || strings.HasPrefix(m.Name, "x-") {
			continue
		}
		list = append(list, Stray{string(jsontext.Pointer(at).AppendToken(m.Name)), m.Name, Nearest(m.Name, absent)})
	}
	return list
}

// Nearest returns the nearest of some names, "" if none is near. Two names are near if
// they differ in case, in dashes, or by at most two letters and no more than half of
// the first name.
func Nearest(name string, names []string) string {
	best, least := "", 0
	for _, other := range names {
		if d, is := apart(name, other); is && (best == "" || d < least) {
			best, least = other, d
		}
	}
	return best
}

// apart returns by how many letters two names differ; is is false if they are not
// near.
func apart(a, b string) (n int, is bool) {
	n = lettersApart(a, b)
	return n, n <= min(2, len(a)/2)
}

// lettersApart returns by how many letters two names differ, apart from case and
// dashes, or 3 if by more than two.
func lettersApart(a, b string) int {
	if len(a) > len(b)+2 || len(b) > len(a)+2 {
		return 3
	}
	fold := func(s string) string { return strings.ReplaceAll(strings.ToLower(s), "-", "_") }
	return min(distance(fold(a), fold(b)), 3)
}

// distance counts the letters to insert, remove or change to turn one name into the
// other.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

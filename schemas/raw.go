package schemas

import (
	"bytes"
	"errors"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Raw is a JSON value as it was found, byte for byte. The nil Raw is written
// as null.
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

// Null reports whether the value is null or was not there at all.
func (r Raw) Null() bool { return len(r) == 0 || string(r) == "null" }

// Kind returns '{', '[', '"', '0', 't', 'f' or 'n' for an object, array,
// string, number, true, false or null, and 0 for no value.
func (r Raw) Kind() byte { return byte(jsontext.Value(r).Kind()) }

// Text returns the string that the value is, false if it is none.
func (r Raw) Text() (string, bool) {
	if r.Kind() != '"' {
		return "", false
	}
	text, err := jsontext.AppendUnquote(nil, bytes.TrimSpace(r))
	return string(text), err == nil
}

// Member is one name and value of an object. A value that was read is a Raw;
// one that is to be written may be anything that Encode takes.
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

// Without returns the members whose names are not among those given, in order.
// It is how a document's unknown members are kept.
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

// MarshalJSONTo writes the members in their order. Two members of one name are
// an error.
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

// Members returns the members of a JSON object in their order, each value a
// Raw that shares body's memory. It judges the syntax of body and doubled
// names, nothing else.
func Members(body []byte) (Object, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(body))
	if dec.PeekKind() != '{' {
		return nil, errors.New("cannot take the members of what is not an object")
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
		return nil, errors.New("cannot take the elements of what is not an array")
	}
	elements := []Raw{}
	err := each(dec, func() error {
		value, err := dec.ReadValue()
		elements = append(elements, Raw(value[:len(value):len(value)]))
		return err
	})
	return elements, err
}

// each reads one object or array with one call per member or element.
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

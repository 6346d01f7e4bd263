package schemas

import (
	"reflect"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// shape says which parts of a document a schema looks at. The others are read
// just as strictly, but no tree is built of them: of a hostile file of many
// megabytes only little is ever kept, and of a good one only what matters is
// validated.
//
// Of a value with the nil shape no more than the kind is looked at.
type shape struct {
	// all is true where everything within the value is looked at.
	all bool
	// members are the shapes of an object's members by name, rest that of the
	// members without one, if others is true.
	members map[string]*shape
	rest    *shape
	others  bool
	// items is the shape of an array's elements, if listed is true.
	items  *shape
	listed bool
}

// everything is the shape of a value that is looked at as a whole.
var everything = &shape{all: true}

// member returns the shape of a member, and whether it is looked at.
func (s *shape) member(name []byte) (*shape, bool) {
	if s == nil || s.all {
		return s, s != nil
	}
	if m, ok := s.members[string(name)]; ok {
		return m, true
	}
	return s.rest, s.others
}

// element returns the shape of the elements, and whether they are looked at.
func (s *shape) element() (*shape, bool) {
	if s == nil || s.all {
		return s, s != nil
	}
	return s.items, s.listed
}

// shapeOf returns the shape that a schema looks at. What it does not know to
// be narrow, it takes as everything.
func shapeOf(s *jsonschema.Schema) *shape { return shaper{}.of(s) }

// shaper remembers the schemas on the way, which may refer to themselves.
type shaper map[*jsonschema.Schema]bool

func (on shaper) of(s *jsonschema.Schema) *shape {
	if on[s] || wide(s) {
		return everything
	}
	on[s] = true
	defer delete(on, s)
	own := on.own(s)
	switch {
	case s.Ref == nil:
		return own
	case own == nil:
		return on.of(s.Ref)
	}
	return everything // draft 2020-12 lets keywords stand beside a reference
}

// own returns the shape that a schema looks at by its own keywords.
func (on shaper) own(s *jsonschema.Schema) *shape {
	out := &shape{members: map[string]*shape{}}
	for _, name := range s.Required {
		out.members[name] = nil
	}
	for name, member := range s.Properties {
		out.members[name] = on.of(member)
	}
	if rest, ok := s.AdditionalProperties.(*jsonschema.Schema); ok {
		out.rest, out.others = on.of(rest), true
	}
	items, ok := s.Items.(*jsonschema.Schema)
	if s.Items2020 != nil {
		items, ok = s.Items2020, true
	}
	if ok {
		out.items, out.listed = on.of(items), true
	}
	if len(out.members) == 0 && !out.others && !out.listed {
		return nil
	}
	return out
}

// narrow are the keywords that look at no more of a value than its kind, its number or
// those parts of it that own names. Every other one may look at all of it.
var narrow = []string{
	"Location", "Draft", "Ref", "Types", "Required", "Properties", "AdditionalProperties", "Items", "Items2020",
	"Minimum", "Maximum", "ExclusiveMinimum", "ExclusiveMaximum", "MultipleOf", "MinContains", "ContainsEval",
}

// wide reports whether a schema may look at all of a value: its text, its size, or its
// parts by other keywords than properties and items.
func wide(s *jsonschema.Schema) bool {
	for _, part := range []any{s.AdditionalProperties, s.Items} {
		if _, one := part.(*jsonschema.Schema); part != nil && !one {
			return true
		}
	}
	if s.Draft != jsonschema.Draft7 && s.Draft != jsonschema.Draft2020 {
		return true
	}
	v := reflect.ValueOf(*s)
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && !slices.Contains(narrow, f.Name) && isSet(v.Field(i)) {
			return true
		}
	}
	return false
}

// isSet reports whether a keyword stands in a schema. A number that does not is -1.
func isSet(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Int:
		return v.Int() != -1
	case reflect.Map, reflect.Slice:
		return v.Len() > 0
	}
	return !v.IsZero()
}

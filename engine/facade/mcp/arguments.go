package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"placet/schemas"
)

// arguments reads the arguments of a call strictly, after it has mended what hosts are known to
// spoil.
func arguments(req *sdk.CallToolRequest, into any) error {
	name := req.Params.Name
	body := shape{schemaOf(name)}.mend(schemas.Raw(req.Params.Arguments))
	if body.Null() {
		body = schemas.Raw("{}")
	}
	if members, err := schemas.Members(body); err == nil {
		if strays := schemas.Strays("", members, into); len(strays) > 0 {
			return fmt.Errorf("%s takes no argument %q: it takes %s", name, strays[0].Name, strings.Join(argumentNames(name), ", "))
		}
	}
	if err := schemas.Decode("mcp/"+name, name, body, into); err != nil {
		return fmt.Errorf("cannot take this call: %w%s", err, example(name, err))
	}
	return nil
}

// example returns how the argument that an error is about may look.
func example(tool string, err error) string {
	wrong := (*schemas.Error)(nil)
	if !errors.As(err, &wrong) || len(wrong.Names()) == 0 {
		return ""
	}
	argument := wrong.Names()[0]
	examples, _ := schemas.Elements(shape{schemaOf(tool)}.member(argument).part("examples"))
	if len(examples) == 0 {
		return ""
	}
	return fmt.Sprintf("; for example %q: %s", argument, examples[0])
}

// argumentNames returns the names of the arguments of a tool.
func argumentNames(tool string) (names []string) {
	properties, _ := schemas.Members(shape{schemaOf(tool)}.part("properties"))
	for _, p := range properties {
		names = append(names, p.Name)
	}
	return names
}

// shape is the schema of a value.
type shape struct{ schema []byte }

// part returns the value of a keyword, nil if the schema does not have it.
func (s shape) part(keyword string) schemas.Raw {
	members, _ := schemas.Members(s.schema) // part of the program
	return members.Raw(keyword)
}

// member returns the shape of a member, and element that of the elements of an array.
func (s shape) member(name string) shape {
	properties, _ := schemas.Members(s.part("properties"))
	return shape{properties.Raw(name)}
}

func (s shape) element() shape { return shape{s.part("items")} }

// kinds are the kinds of values of a type of schemas.
var kinds = map[string]string{"object": "{", "array": "[", "string": `"`, "integer": "0", "number": "0", "boolean": "tf"}

// accepts reports whether a value has the kind of the shape.
func (s shape) accepts(value schemas.Raw) bool {
	name, ok := s.part("type").Text()
	return ok && value.Kind() != 0 && strings.IndexByte(kinds[name], value.Kind()) >= 0
}

// mend returns a value as its sender meant it. A text in the place of something else is decoded
// once, a text in the place of an object with an id is the id, and null in the place of an optional member is left out.
func (s shape) mend(value schemas.Raw) schemas.Raw {
	if text, ok := value.Text(); ok && !s.accepts(value) {
		value = s.decode(value, text)
	}
	if !s.accepts(value) {
		return value
	}
	switch value.Kind() {
	case '{':
		return s.mendMembers(value)
	case '[':
		return s.mendElements(value)
	}
	return value
}

// decode returns what a text stands for, or the value itself.
func (s shape) decode(value schemas.Raw, text string) schemas.Raw {
	if inner := schemas.Raw(strings.TrimSpace(text)); json.Valid(inner) && s.accepts(inner) {
		return inner
	}
	var required []string
	if schemas.DecodeValue(s.part("required"), &required) == nil && slices.Equal(required, []string{"id"}) {
		return schemas.Raw(`{"id":` + string(value) + `}`)
	}
	return value
}

// mendMembers mends the members of an object, and leaves out those that are null and not
// required.
func (s shape) mendMembers(value schemas.Raw) schemas.Raw {
	members, err := schemas.Members(value)
	if err != nil {
		return value
	}
	var required []string
	_ = schemas.DecodeValue(s.part("required"), &required) // part of the program
	kept := schemas.Object{}
	for _, m := range members {
		one := members.Raw(m.Name)
		if !one.Null() || slices.Contains(required, m.Name) {
			kept = append(kept, schemas.Member{Name: m.Name, Value: s.member(m.Name).mend(one)})
		}
	}
	return encoded(kept, value)
}

// mendElements mends the elements of an array.
func (s shape) mendElements(value schemas.Raw) schemas.Raw {
	elements, err := schemas.Elements(value)
	if err != nil {
		return value
	}
	for i, one := range elements {
		elements[i] = s.element().mend(one)
	}
	return encoded(elements, value)
}

// encoded returns the JSON of a value, or another if it has none.
func encoded(value any, otherwise schemas.Raw) schemas.Raw {
	body, err := schemas.Line(value)
	if err != nil {
		return otherwise
	}
	return body
}

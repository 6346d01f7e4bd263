package gate

import (
	"reflect"
	"strings"

	"placet/schemas"
)

// decode reads a document of a schema into a struct and returns the members
// for which the struct has no field.
func decode(schema, path string, body []byte, into any) (schemas.Object, error) {
	if err := schemas.Decode(schema, path, body, into); err != nil {
		return nil, err
	}
	members, err := schemas.Members(body)
	if err != nil {
		return nil, err
	}
	return members.Without(fieldNames(into)...), nil
}

// fieldNames are the names under which a struct's fields stand in JSON.
func fieldNames(into any) []string {
	t := reflect.TypeOf(into).Elem()
	var all []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name != "-" {
			all = append(all, name)
		}
	}
	return all
}

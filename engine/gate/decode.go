package gate

import "placet/schemas"

// decode reads a document of a schema into a struct and returns the members
// for which the struct has no field.
func decode(schema, path string, body []byte, into any) (schemas.Object, error) {
	if err := schemas.Decode(schema, path, body, into); err != nil {
		return nil, err
	}
	return schemas.Rest(body, into)
}

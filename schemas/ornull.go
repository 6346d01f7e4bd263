package schemas

import "github.com/go-json-experiment/json/jsontext"

// OrNull is a text that is null in JSON while it is empty.
type OrNull string

// MarshalJSONTo writes the text, or null.
func (t OrNull) MarshalJSONTo(enc *jsontext.Encoder) error {
	if t == "" {
		return enc.WriteToken(jsontext.Null)
	}
	return enc.WriteToken(jsontext.String(string(t)))
}

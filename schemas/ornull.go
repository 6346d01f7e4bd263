package schemas

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// OrNull is a text that is null in JSON while it is empty.
type OrNull string

// Time reads the text as a moment, RFC 3339; the zero time where it is none.
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

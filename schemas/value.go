package schemas

import (
	"bytes"
	"reflect"

	"github.com/go-json-experiment/json"
)

// DecodeValue stores one value of a document that was read before in into, as
// [Decode] would. The value may be of any kind; its content was checked with
// the document that it comes from.
func DecodeValue(value Raw, into any) error {
	return json.Unmarshal(value, into, readOptions)
}

// Equal reports whether two values say the same: spacing, escapes and the
// order of names do not count, the text of numbers does. No value at all is
// like an empty object.
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

package engine

import (
	"reflect"
	"sync"

	"placet/schemas"
)

// Parsed keeps what readers made of the bytes of a document, so that looks which
// find the same content again need not read it again. It may be used at the same time.
type Parsed struct{ values sync.Map }

// Equal says that it does not tell documents apart: what is kept follows from the bytes.
func (*Parsed) Equal(*Parsed) bool { return true }

// parsed is what a reader returned.
type parsed[T any] struct {
	value *T
	err   error
}

// Parse returns what read makes of the path and the bytes of a document, from which alone
// the result must follow. It may be shared: nobody changes it. Each type of result has
// one reader.
func Parse[T any](d Document, read func(path string, body []byte) (T, error)) (*T, error) {
	if d.Parsed == nil {
		value, err := read(d.Path, d.Body)
		return &value, err
	}
	key := reflect.TypeFor[T]()
	if kept, ok := d.Parsed.values.Load(key); ok {
		return kept.(parsed[T]).value, kept.(parsed[T]).err
	}
	value, err := read(d.Path, d.Body)
	d.Parsed.values.Store(key, parsed[T]{&value, err})
	return &value, err
}

// ParseIssued is [Parse] of a document of a schema that placet writes. One that this machine wrote
// is not checked again.
func ParseIssued[T any](d Document, schema string, read func(schema, path string, body []byte) (T, error)) (*T, error) {
	if d.IssuedHere() {
		schema = schemas.Own
	}
	return Parse(d, func(path string, body []byte) (T, error) { return read(schema, path, body) })
}

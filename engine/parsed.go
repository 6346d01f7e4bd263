package engine

import (
	"reflect"
	"sync"

	"placet/schemas"
)

// Parsed caches what readers returned for the bytes of a document, so that the same content is not
// read again. It is safe for concurrent use.
type Parsed struct{ values sync.Map }

// Equal returns true for all values: they follow from the bytes of the documents, so they
// distinguish none.
func (*Parsed) Equal(*Parsed) bool { return true }

// parsed is the result of a reader.
type parsed[T any] struct {
	value *T
	err   error
}

// Parse returns the result of read for the path and the bytes of a document. The result must
// follow from these alone. It may be shared, so nobody changes it. Each type of result has one
// reader.
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

// ParseIssued is [Parse] for a document of a schema that placet writes. It does not check a
// document again that this machine wrote.
func ParseIssued[T any](d Document, schema string, read func(schema, path string, body []byte) (T, error)) (*T, error) {
	if d.IssuedHere() {
		schema = schemas.Own
	}
	return Parse(d, func(path string, body []byte) (T, error) { return read(schema, path, body) })
}

package run

import (
	"path"

	"placet/engine"
	"placet/schemas"
	"placet/templates"
)

// HandIn is a document that others hand in, as one step sees it.
type HandIn[T any] struct {
	Doc engine.Document
	// Said is what the document says, nil where it does not count: it is absent, cannot be
	// used or does not fit where it stands.
	Said *T
	// Pending says that the document may still be being written, or cannot be read now.
	Pending bool
}

// Sum is the digest of the document, "" where it does not count.
func (h HandIn[T]) Sum() Text {
	if h.Said == nil {
		return ""
	}
	return Text(h.Doc.Sum)
}

// ReadHandIn reads a hand-in of a schema, and notes what is wrong with it. fits says why a
// valid one does not fit where it stands, nil where it does. fits nil: it always does.
func ReadHandIn[T any](r *Input, d engine.Document, schema string, fits func(*T) error) HandIn[T] {
	return ParseHandIn(r, d, decoder[T](schema), fits)
}

// ParseHandIn is ReadHandIn with another way of decoding.
func ParseHandIn[T any](r *Input, d engine.Document, decode func(p string, body []byte) (T, error), fits func(*T) error) HandIn[T] {
	v, got := Parse(r, d, decode)
	h := HandIn[T]{Doc: d, Pending: got == Pending}
	if got != Good {
		return h
	}
	if fits != nil {
		if err := fits(v); err != nil {
			r.Bad(d, templates.In(r.Lang, err))
			return h
		}
	}
	h.Said = v
	return h
}

// Peek decodes a document of a schema that was judged before, nil where it cannot be used
// any more. It notes nothing.
func Peek[T any](d engine.Document, schema string) *T {
	if !d.Present() {
		return nil
	}
	v, err := engine.Parse(d, decoder[T](schema))
	if err != nil {
		return nil
	}
	return v
}

// decoder reads documents of a schema.
func decoder[T any](schema string) func(p string, body []byte) (T, error) {
	return func(p string, body []byte) (v T, err error) {
		err = schemas.Decode(schema, path.Base(p), body, &v)
		return v, err
	}
}

package run

import (
	"path"

	"placet/engine"
	"placet/schemas"
	"placet/templates"
)

// HandIn is a document that others hand in, as one step reads it.
type HandIn[T any] struct {
	Doc engine.Document
	// Said is the content of the document, nil if it does not count: it is absent, cannot
	// be used, or does not fit its place.
	Said *T
	// Pending is true if the document may still be being written, or cannot be read now.
	Pending bool
}

// Sum returns the digest of the document, "" if it does not count.
func (h HandIn[T]) Sum() Text {
	if h.Said == nil {
		return ""
	}
	return Text(h.Doc.Sum)
}

// ReadHandIn reads a hand-in by a schema, and notes what is wrong with it. fits returns why
// a valid hand-in does not fit its place, or nil. If fits is nil, every valid hand-in fits.
func ReadHandIn[T any](r *Input, d engine.Document, schema string, fits func(*T) error) HandIn[T] {
	return ParseHandIn(r, d, decoder[T](schema), fits)
}

// ParseHandIn is ReadHandIn with another decoder.
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

// Peek decodes a document by a schema without noting problems, for documents that were
// judged before. It returns nil if the document cannot be used any more.
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

// decoder returns a function that decodes documents by a schema.
func decoder[T any](schema string) func(p string, body []byte) (T, error) {
	return func(p string, body []byte) (v T, err error) {
		err = schemas.Decode(schema, path.Base(p), body, &v)
		return v, err
	}
}

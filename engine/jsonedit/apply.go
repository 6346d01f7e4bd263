package jsonedit

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"placet/schemas"
)

// Op is what an edit does.
type Op int

// The edits.
const (
	// Set replaces the value of a member or element, or adds a member at the
	// end of its object. The object must be there.
	Set Op = iota
	// Remove takes a member or element away. What is not there already is no
	// error.
	Remove
	// Append adds an element at the end of an array.
	Append
)

func (o Op) String() string {
	switch o {
	case Set:
		return "set"
	case Remove:
		return "remove"
	case Append:
		return "append to"
	}
	return fmt.Sprintf("Op(%d)", int(o))
}

// Edit is one change to a document.
type Edit struct {
	// Pointer is a JSON pointer (RFC 6901): of the member or element that is
	// set or removed, of the array that grows.
	Pointer string
	Op      Op
	// Value is the new value: nil, bool, string, int, int64, json.Number,
	// []any, schemas.Object, or raw JSON as schemas.Raw or []byte. Raw JSON
	// keeps its spelling, its layout becomes the file's.
	Value any
}

// Apply returns body with the edits made, one after the other. It fails, and
// changes nothing, if body is not strict JSON (see schemas), if an edit has no
// place, or if the result would not be strict JSON. Body is never modified.
func Apply(body []byte, edits ...Edit) ([]byte, error) {
	if err := schemas.Decode("", "", body, nil); err != nil {
		return nil, fmt.Errorf("cannot edit the document: %w", err)
	}
	if len(edits) == 0 {
		return body, nil
	}
	body = append(make([]byte, 0, len(body)+len(body)/4+512), body...)
	for _, e := range edits {
		edited, err := e.apply(body)
		if err != nil {
			return nil, fmt.Errorf("cannot %s %q: %w", e.Op, e.Pointer, err)
		}
		body = edited
	}
	if err := schemas.Decode("", "", body, nil); err != nil {
		return nil, fmt.Errorf("cannot edit the document: the result would be wrong: %w", err)
	}
	return body, nil
}

// apply makes one edit to strict JSON. It may change body.
func (e Edit) apply(body []byte) ([]byte, error) {
	if e.Pointer == "" || !jsontext.Pointer(e.Pointer).IsValid() || !utf8.ValidString(e.Pointer) {
		return nil, errors.New("a JSON pointer to a member is needed")
	}
	p, err := find(body, e.Pointer)
	switch e.Op {
	case Remove:
		if err != nil || !p.found() {
			return body, nil
		}
		return p.remove(), nil
	case Set:
		if err != nil {
			return nil, err
		}
		return p.set(e.Value)
	case Append:
		if err != nil {
			return nil, err
		}
		return p.append(e.Value)
	}
	return nil, errors.New("there is no such edit")
}

// splice puts text in place of the bytes of s. It changes body, which must be
// Apply's own; text must not be a part of it.
func splice(body []byte, s span, text []byte) []byte {
	return slices.Replace(body, s.from, s.to, text...)
}

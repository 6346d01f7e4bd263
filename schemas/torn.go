package schemas

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// unreadable names what is wrong with body before its first token, nil if
// nothing is.
func unreadable(body []byte) *Error {
	blank := blanks(body)
	switch {
	case len(body) == 0:
		return &Error{Problem: "the file is empty", Expected: oneObject, Torn: true}
	case blank == len(body):
		return &Error{Problem: "the file holds nothing but blanks", Expected: oneObject, Torn: true}
	case bytes.HasPrefix(body, []byte("\xef\xbb\xbf")):
		e := &Error{Problem: "the file begins with a byte order mark", Expected: "UTF-8 without one"}
		return e.at(body, 0)
	case isUTF16(body):
		e := &Error{Problem: "the file is UTF-16", Expected: "UTF-8", Torn: true}
		return e.at(body, 0)
	}
	return nil
}

// isUTF16 reports whether body looks like UTF-16 in either byte order.
func isUTF16(body []byte) bool {
	if bytes.HasPrefix(body, []byte("\xff\xfe")) || bytes.HasPrefix(body, []byte("\xfe\xff")) {
		return true
	}
	return len(body) >= 4 && (body[0] == 0 && body[1] != 0 && body[2] == 0 && body[3] != 0 ||
		body[0] != 0 && body[1] == 0 && body[2] != 0 && body[3] == 0)
}

// syntax explains why jsontext could not go on. What breaks the grammar may
// always be half of a write, so all of it is torn.
func syntax(body []byte, err error) *Error {
	e := &Error{Problem: "not JSON: " + printable(err.Error()), Torn: true}
	offset := len(body)
	var broken *jsontext.SyntacticError
	if errors.As(err, &broken) {
		offset = int(broken.ByteOffset)
		e.Problem, e.Pointer = "not JSON: "+printable(broken.Err.Error()), string(broken.JSONPointer)
	}
	if at, problem, expected := cause(body, offset); problem != "" {
		e.Problem, e.Expected, e.Pointer, offset = problem, expected, "", at
	} else if errors.Is(err, io.ErrUnexpectedEOF) {
		e.Problem, e.Expected, offset = "the file ends in the middle of a value", "one whole JSON object", len(body)
	}
	return e.at(body, offset)
}

// surplus explains what stands behind the end of the document.
func surplus(body []byte, offset int) *Error {
	offset += blanks(body[offset:])
	e := &Error{Problem: "something follows the end of the document", Expected: "nothing more", Torn: true}
	if at, problem, expected := cause(body, offset); problem != "" {
		e.Problem, e.Expected, offset = problem, expected, at
	} else if body[offset] == '{' {
		e.Problem, e.Expected = "a second document follows", oneObject
	}
	return e.at(body, offset)
}

// cause recognises the usual reasons why a file is not JSON, and their place.
func cause(body []byte, offset int) (at int, problem, expected string) {
	if at, problem, expected = damage(body); problem != "" {
		return at, problem, expected
	}
	rest := body[min(offset, len(body)):]
	switch {
	case len(rest) == 0:
	case utf8.FullRune(rest) && !startsRune(rest):
		return offset, "the file is not valid UTF-8", "UTF-8"
	case rest[0] == '/' || rest[0] == '#':
		return offset, "not JSON: a comment", "no comments"
	case rest[0] == ',' && closes(rest[1:]):
		return offset, "not JSON: a comma before a closing bracket", "no comma there"
	case rest[0] == '\'':
		return offset, "not JSON: a single quotation mark", `text in "double" ones`
	}
	return 0, "", ""
}

// damage recognizes what no text of any kind holds, and its place.
func damage(body []byte) (at int, problem, expected string) {
	if at := conflict(body); at >= 0 {
		return at, "the file holds merge-conflict markers", "one side of the conflict"
	}
	if at := bytes.IndexByte(body, 0); at >= 0 {
		return at, "the file holds NUL bytes", "text"
	}
	return 0, "", ""
}

// startsRune reports whether b begins with a UTF-8 character.
func startsRune(b []byte) bool {
	r, size := utf8.DecodeRune(b)
	return r != utf8.RuneError || size > 1
}

// closes reports whether the next token ends an object or array.
func closes(b []byte) bool {
	b = b[blanks(b):]
	return len(b) > 0 && (b[0] == '}' || b[0] == ']')
}

// markers begin the lines that git puts around the sides of a conflict.
var markers = []string{"<<<<<<< ", "||||||| ", "=======", ">>>>>>> "}

// conflict returns where the first conflict marker begins, -1 if there is
// none. No line of good JSON begins so, and no line of a YAML mapping.
func conflict(body []byte) int {
	first := -1
	for _, m := range markers {
		if at := lineStart(body, m); at >= 0 && (first < 0 || at < first) {
			first = at
		}
	}
	return first
}

// lineStart returns where the first line that begins with text begins, or -1.
func lineStart(body []byte, text string) int {
	if bytes.HasPrefix(body, []byte(text)) {
		return 0
	}
	if at := bytes.Index(body, []byte("\n"+text)); at >= 0 {
		return at + 1
	}
	return -1
}

// Conflict returns where the markers begin that git leaves in a text where it could not
// merge, -1 where not all three of them begin a line, in their order.
func Conflict(text []byte) int {
	first, from := -1, 0
	for _, marker := range []string{"<<<<<<< ", "=======\n", ">>>>>>> "} {
		at := lineStart(text[from:], marker)
		if at < 0 {
			return -1
		}
		if first < 0 {
			first = at
		}
		from += at + 1 // past the beginning of its line
	}
	return first
}

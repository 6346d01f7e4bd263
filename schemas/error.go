package schemas

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Error says where a document cannot be read and what was expected there.
type Error struct {
	// Path is the document as the caller named it.
	Path string
	// Line and Column count from 1, columns in characters. Line is 0 where no
	// place can be named: the document is empty.
	Line, Column int
	// Pointer is the JSON pointer (RFC 6901) of the member at fault, "" for
	// the document itself. A missing member is named by the pointer that it
	// would have.
	Pointer string
	// Problem says what is wrong, Expected what would be right; Expected may
	// be empty.
	Problem, Expected string
	// Torn is true for what may be half-written: the same file may well be
	// good a moment later. The caller waits before it complains.
	Torn bool
}

// Error returns for example
//
//	state.json: line 12, column 3: /status: unknown word "x": expected one of "a", "b"
func (e *Error) Error() string {
	var b strings.Builder
	if e.Path != "" {
		b.WriteString(e.Path + ": ")
	}
	if e.Line > 0 {
		b.WriteString("line " + strconv.Itoa(e.Line) + ", column " + strconv.Itoa(e.Column) + ": ")
	}
	if e.Pointer != "" {
		b.WriteString(shown(e.Pointer) + ": ")
	}
	b.WriteString(e.Problem)
	if e.Expected != "" {
		b.WriteString(": expected " + e.Expected)
	}
	return b.String()
}

// named returns the error for the document at path. It must copy: the original
// may be shared by every document of the same content.
func (e *Error) named(path string) *Error {
	c := *e
	c.Path = path
	return &c
}

// at returns the error with the place of a byte offset in body.
func (e *Error) at(body []byte, offset int) *Error {
	e.Line, e.Column = position(body, offset)
	return e
}

// position returns the line and column of a byte offset, both from 1.
func position(body []byte, offset int) (line, column int) {
	before := body[:min(max(offset, 0), len(body))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1
}

// shownLength is how many bytes of a quoted text a message repeats.
const shownLength = 80

// shown makes text from a file fit for a message: short, and without control,
// bidi and zero-width characters.
func shown(text string) string {
	q := quoted(text)
	return q[1 : len(q)-1]
}

// printable escapes what must not reach a terminal or an editor, and nothing
// else: control, bidi and zero-width characters.
func printable(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strconv.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		q := strconv.QuoteRune(r)
		b.WriteString(q[1 : len(q)-1])
	}
	return b.String()
}

// quoted is shown in quotation marks.
func quoted(text string) string {
	if len(text) <= shownLength {
		return strconv.Quote(text)
	}
	cut := shownLength
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	q := strconv.Quote(text[:cut])
	return q[:len(q)-1] + "…" + `"`
}

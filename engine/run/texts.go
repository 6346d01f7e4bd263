package run

import (
	"strconv"
	"time"

	"placet/schemas"
	"placet/templates"
)

// Text is a string that a document writes as null while it is empty.
type Text = schemas.OrNull

// Seconds formats a time as documents do: RFC 3339 in UTC, in seconds.
func Seconds(t time.Time) Text { return Text(t.UTC().Format("2006-01-02T15:04:05Z")) }

// Millis is [Seconds] with milliseconds.
func Millis(t time.Time) Text { return Text(t.UTC().Format("2006-01-02T15:04:05.000Z")) }

// Must returns a document made of texts, numbers and lists of them, which can always be
// encoded. It panics on an error.
func Must(body []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return body
}

// Encoded returns the JSON document of texts, numbers and lists of them.
func Encoded(v any) []byte { return Must(schemas.Encode(v)) }

// shownSentence is how much of a text one line shows, and shownID how much of a foreign id
// a message repeats, in bytes.
const (
	shownSentence = 2000
	shownID       = 80
)

// OneLine returns a text on one line, with all characters visible, and truncated if it is
// long.
func OneLine(s string) string { return templates.Line(s, shownSentence) }

// QuoteID returns the part of a foreign id that a message repeats, in quotation marks.
func QuoteID(id string) string { return strconv.Quote(templates.Cut(id, shownID)) }

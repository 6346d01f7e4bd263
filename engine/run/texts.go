package run

import (
	"strconv"
	"time"

	"placet/schemas"
	"placet/templates"
)

// Text is a string that a document writes as null while it is empty.
type Text = schemas.OrNull

// Seconds is a moment as documents have it: RFC 3339 in UTC, in seconds.
func Seconds(t time.Time) Text { return Text(t.UTC().Format("2006-01-02T15:04:05Z")) }

// Millis is [Seconds] with milliseconds.
func Millis(t time.Time) Text { return Text(t.UTC().Format("2006-01-02T15:04:05.000Z")) }

// Must is a document made of texts, numbers and lists of them, which always can be.
func Must(body []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return body
}

// Encoded is the JSON document of texts, numbers and lists of them.
func Encoded(v any) []byte { return Must(schemas.Encode(v)) }

// shownSentence is how much of a text one line shows, shownID how much of an id of others a
// message repeats, in bytes.
const (
	shownSentence = 2000
	shownID       = 80
)

// OneLine is a text on one line in which all can be seen, cut where it is long.
func OneLine(s string) string { return templates.Line(s, shownSentence) }

// QuoteID is as much of an id of others as a message repeats, in quotation marks.
func QuoteID(id string) string { return strconv.Quote(templates.Cut(id, shownID)) }

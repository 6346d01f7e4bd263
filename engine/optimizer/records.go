package optimizer

import (
	"bytes"
	"errors"
	"fmt"

	"placet/schemas"
)

// parseRecords reads retrieved.jsonl. The problem names the line and what was
// expected there; with one there are no records.
func parseRecords(body []byte) (records []Record, problem string) {
	switch {
	case len(bytes.TrimSpace(body)) == 0:
		return nil, "the file is empty: expected at least one line such as " + recordExample
	case body[len(body)-1] != '\n':
		return nil, unended(body)
	}
	n := 0
	for line := range bytes.Lines(body) {
		n++
		r, problem := parseRecord(n, line)
		if problem != "" {
			return nil, problem
		}
		records = append(records, r)
	}
	return records, ""
}

// unended is what is wrong with a file whose last line has no end.
func unended(body []byte) string {
	if at := bytes.IndexByte(body, 0); at >= 0 {
		return fmt.Sprintf("line %d: the file holds NUL bytes: expected UTF-8 text", bytes.Count(body[:at], []byte("\n"))+1)
	}
	return fmt.Sprintf("line %d: the file ends without a newline: the last line may be half-written: expected a newline after it", bytes.Count(body, []byte("\n"))+1)
}

const recordExample = `{"record_id": "r1", "metric": "precision", "value": 78.1, "flag": null}`

// parseRecord reads line n.
func parseRecord(n int, line []byte) (Record, string) {
	if len(bytes.TrimSpace(line)) == 0 {
		return Record{}, fmt.Sprintf("line %d is blank: expected one JSON object, such as %s", n, recordExample)
	}
	var found struct {
		RecordID *string     `json:"record_id"`
		Metric   *string     `json:"metric"`
		Value    *float64    `json:"value"`
		Flag     schemas.Raw `json:"flag"`
	}
	if err := schemas.Decode("", "", line, &found); err != nil {
		return Record{}, onLine(n, err)
	}
	for _, m := range []struct {
		absent         bool
		name, expected string
	}{{found.RecordID == nil, "record_id", "text"}, {found.Metric == nil, "metric", "text"}, {found.Value == nil, "value", "a finite number"}} {
		if m.absent {
			return Record{}, fmt.Sprintf("line %d: /%s is missing: expected %s", n, m.name, m.expected)
		}
	}
	r := Record{RecordID: *found.RecordID, Metric: *found.Metric, Value: *found.Value}
	if flag, ok := found.Flag.Text(); ok && flag == anomaly {
		r.Flag = anomaly
	} else if !found.Flag.Null() {
		return Record{}, fmt.Sprintf("line %d: /flag is %s: expected null or %q", n, oneLine(string(found.Flag), shownName), anomaly)
	}
	return r, ""
}

// onLine is what is wrong with line n, which was read as a document of its own.
func onLine(n int, err error) string {
	var place *schemas.Error
	if !errors.As(err, &place) {
		return fmt.Sprintf("line %d: %v", n, err)
	}
	at := *place
	at.Line = n
	at.Column = max(at.Column, 1)
	return at.Error()
}

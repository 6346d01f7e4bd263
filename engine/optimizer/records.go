package optimizer

import (
	"bytes"
	"errors"
	"strconv"

	"placet/schemas"
	"placet/templates"
)

// parseRecords reads retrieved.jsonl. It returns all records, or an error that names the line and
// what was expected there.
func parseRecords(body []byte) (records []Record, err error) {
	switch {
	case len(bytes.TrimSpace(body)) == 0:
		return nil, templates.Errorf("optimizer.problem.records.empty", "example", recordExample)
	case body[len(body)-1] != '\n':
		return nil, unended(body)
	}
	n := 0
	for line := range bytes.Lines(body) {
		n++
		r, err := parseRecord(n, line)
		if err != nil {
			return nil, err
		}
		records = append(records, r)
	}
	return records, nil
}

// unended returns the error for a file whose last line has no end.
func unended(body []byte) error {
	if at := bytes.IndexByte(body, 0); at >= 0 {
		return templates.Errorf("optimizer.problem.records.nul", "line", bytes.Count(body[:at], []byte("\n"))+1)
	}
	return templates.Errorf("optimizer.problem.records.end", "line", bytes.Count(body, []byte("\n"))+1)
}

const recordExample = `{"record_id": "r1", "metric": "precision", "value": 78.1, "flag": null}`

// parseRecord reads line n.
func parseRecord(n int, line []byte) (Record, error) {
	if len(bytes.TrimSpace(line)) == 0 {
		return Record{}, templates.Errorf("optimizer.problem.records.blank", "line", n, "example", recordExample)
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
		absent     bool
		name, kind string
	}{{found.RecordID == nil, "record_id", "text"}, {found.Metric == nil, "metric", "text"}, {found.Value == nil, "value", "number"}} {
		if m.absent {
			return Record{}, templates.Errorf(templates.Key("optimizer.problem.records."+m.kind), "line", n, "name", m.name)
		}
	}
	r := Record{RecordID: *found.RecordID, Metric: *found.Metric, Value: *found.Value}
	if flag, ok := found.Flag.Text(); ok && flag == anomaly {
		r.Flag = anomaly
	} else if !found.Flag.Null() {
		return Record{}, templates.Errorf("optimizer.problem.records.flag", "line", n, "have", templates.Line(string(found.Flag), shownName), "flag", strconv.Quote(anomaly))
	}
	return r, nil
}

// onLine returns err, the error of one line that was read as a document of its own, with line
// number n.
func onLine(n int, err error) error {
	var place *schemas.Error
	if !errors.As(err, &place) {
		return templates.Errorf("optimizer.problem.records.line", "line", n, "error", err)
	}
	at := *place
	at.Line, at.Column, at.Torn = n, max(at.Column, 1), false
	return &at
}

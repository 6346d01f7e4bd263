package reader

import (
	"bytes"
	"fmt"
	"time"

	"placet/engine"
	"placet/schemas"
)

// journal takes the number of a journal's last line, its seq, and compares it with
// the revision of the state beside it: placet appends a line once the state that
// it tells of is durable, so the journal is one behind at most. wait is true while
// the journal may still be being written; problem is why the state cannot be used
// beside it, with what helps (anew), "" where it can.
func (r *Reader) journal(d engine.Document, revision int, anew string) (seq int, wait bool, problem string) {
	if d.Unsettled() {
		return 0, true, ""
	}
	if d.Err != nil && !d.Absent() {
		return 0, false, fmt.Sprintf("cannot read events.jsonl: %v", d.Err)
	}
	var line struct {
		Seq int `json:"seq"`
	}
	if last := lastLine(d.Body); last != nil {
		if err := schemas.Decode("", "the last line of events.jsonl", last, &line); err != nil {
			return 0, false, "cannot read " + err.Error() + ": " + anew
		}
	}
	if revision != line.Seq && revision != line.Seq+1 {
		return line.Seq, false, fmt.Sprintf("state.json is of revision %d, events.jsonl ends with %d: %s", revision, line.Seq, anew)
	}
	return line.Seq, false, ""
}

// lastLine is the last whole line of a journal, nil where there is none.
func lastLine(body []byte) []byte {
	end := bytes.LastIndexByte(body, '\n')
	if end < 0 {
		return nil
	}
	return body[bytes.LastIndexByte(body[:end], '\n')+1 : end]
}

// Entry is one line of a journal.
type Entry struct {
	Seq     int            `json:"seq"`
	At      schemas.OrNull `json:"at"`
	Edge    string         `json:"edge"`
	Subject string         `json:"subject"`
	To      engine.Status  `json:"to"`
	Actor   string         `json:"actor"`
	Reason  string         `json:"reason"`
}

// Entries are the lines of a journal, oldest first. A line that cannot be read is
// passed over here; what it does to the run, its state says.
func Entries(journal engine.Document) []Entry {
	var list []Entry
	for raw := range bytes.Lines(journal.Body) {
		var e Entry
		if schemas.Decode("", "events.jsonl", raw, &e) == nil {
			list = append(list, e)
		}
	}
	return list
}

// Account is the line as people are shown it; where says what it is about.
func (e Entry) Account(where string) engine.Entry {
	at, err := time.Parse(time.RFC3339, string(e.At))
	if err != nil {
		at = time.Time{}
	}
	return engine.Entry{At: at, Number: e.Seq, Event: e.Edge, Where: where, Who: e.Actor, Message: e.Reason}
}

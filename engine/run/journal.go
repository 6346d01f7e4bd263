package run

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/schemas"
	"placet/templates"
)

// EventAdopted is the event of the line by which a person adopts a state document
// that its journal does not account for; see [AdoptionLine].
const EventAdopted = "state_adopted"

// journalLine is what the last line of a journal says of the state that it belongs
// to. State is empty in the lines of a placet that did not write it yet. Revision is
// there where lines are counted by themselves; see [Change.Event].
type journalLine struct {
	Seq      int           `json:"seq"`
	Revision int           `json:"revision"`
	State    engine.Digest `json:"state"`
}

// of is the revision that the line belongs to.
func (l journalLine) of() int { return cmp.Or(l.Revision, l.Seq) }

// readJournal reads the last line of the journal beside a state document and decides
// whether the two account for that state. placet appends the line of a revision,
// which holds the state's digest, once the state is durable. So either
//
//   - the line is of the state's revision and holds its digest; or
//   - a crash came between the two: the line is of the revision before, and this
//     machine remembers, outside the workspace, that it wrote this state. A machine
//     that remembers nothing of the run cannot tell, and believes it: a crash must
//     never stop a run for good.
//
// Every other state was written by somebody else.
func readJournal(r *Input, state engine.Document, revision int, anew templates.Key) Record {
	d := r.Snap.Doc(JournalBeside(state.Path))
	if d.Unsettled() {
		return Record{Torn: true}
	}
	if d.Err != nil && !d.Absent() {
		return Record{Problem: r.Say("run.unreadable", "file", journalFile, "error", d.Err)}
	}
	var last journalLine
	if line := lastLine(d.Body); line != nil {
		if err := schemas.Decode("", r.Say("run.journal.last"), line, &last); err != nil {
			return Record{Problem: withHelp(r, r.Say("run.invalid", "error", err), anew)}
		}
	}
	why, seq := "", last.of()
	switch revision {
	case seq:
		switch {
		case last.State == "" && hasDigest(d.Body):
			why = r.Say("run.journal.nostate")
		case last.State != "" && !isOneOf(state, last.State):
			why = r.Say("run.journal.changed", "revision", revision, "then", shortDigest(last.State), "now", shortDigest(state.Sum))
		}
	case seq + 1:
		if state.Issued != nil && !isOneOf(state, state.Issued...) {
			why = r.Say("run.journal.foreign", "revision", revision, "last", seq)
		}
	default:
		why = r.Say("run.journal.gap", "revision", revision, "last", seq)
	}
	if why == "" {
		return Record{Seq: seq, Lines: linesOf(d.Body, seq)}
	}
	why = r.Say("run.journal.adopt", "problem", why, "help", r.Say(anew), "run", r.Snap.Key, "digest", state.Sum.Hex())
	return Record{Seq: seq, Problem: why, Unaccounted: state.Sum}
}

// Accounts reports whether the journal beside a state document of a revision accounts
// for it, for runs that know it from its shared files alone. Nothing that this machine
// remembers is asked: a crash before the line is for the run's own next pass to mend.
func Accounts(journal, state engine.Document, revision int) bool {
	var last journalLine
	if line := lastLine(journal.Body); line == nil || schemas.Decode("", journal.Path, line, &last) != nil || last.of() != revision {
		return false
	}
	return last.State != "" && isOneOf(state, last.State) || last.State == "" && !hasDigest(journal.Body)
}

// isOneOf reports whether a document has one of some digests. One whose lines git
// ended its own way when it brought the file is still the same.
func isOneOf(d engine.Document, digests ...engine.Digest) bool {
	if slices.Contains(digests, d.Sum) {
		return true
	}
	crlf := []byte("\r\n")
	return bytes.Contains(d.Body, crlf) && slices.Contains(digests, engine.Sum(bytes.ReplaceAll(d.Body, crlf, []byte("\n"))))
}

// hasDigest reports whether a line of a journal says which state it belongs to.
func hasDigest(body []byte) bool {
	for line := range bytes.Lines(body) {
		var l journalLine
		if bytes.Contains(line, []byte(`"state"`)) && schemas.Decode("", "events.jsonl", line, &l) == nil && l.State != "" {
			return true
		}
	}
	return false
}

// shortDigest is as much of a digest as people tell it from another by. It names nothing.
// What is no digest is not shown: others may have written it.
func shortDigest(d engine.Digest) any {
	hex := d.Hex()
	if len(hex) != 64 || strings.Trim(hex, "0123456789abcdef") != "" {
		return templates.NewMessage("run.digest.unreadable")
	}
	return hex[:shownDigest]
}

// shownDigest is how many hex digits of a digest people are shown.
const shownDigest = 8

// JournalBeside is the path of the journal beside a state document.
func JournalBeside(state string) string { return path.Join(path.Dir(state), "events.jsonl") }

// AdoptionLine is the line of a journal by which a person adopts a state document
// that its journal does not account for. Like every line it is a claim: whoever may
// write the journal may write this line.
func AdoptionLine(state engine.Document, by, reason string, at time.Time) ([]byte, error) {
	var st struct {
		Revision int `json:"revision"`
	}
	if err := schemas.Decode("", path.Base(state.Path), state.Body, &st); err != nil {
		return nil, err
	}
	return schemas.Line(schemas.Object{
		{Name: "seq", Value: st.Revision}, {Name: "at", Value: at.UTC().Format(time.RFC3339)}, {Name: "edge", Value: EventAdopted},
		{Name: "actor", Value: engine.Person(by)}, {Name: "reason", Value: reason}, {Name: "state", Value: state.Sum},
	})
}

// adopted is the revision of the state that a person adopted last, 0 for none.
func adopted(s engine.Snapshot) (revision int) {
	for _, e := range Entries(s.In("events.jsonl")) {
		if e.Edge == EventAdopted {
			revision = e.Seq
		}
	}
	return revision
}

// linesOf is how many lines at the end of a journal belong to a revision.
func linesOf(body []byte, revision int) (n int) {
	for line := lastLine(body); line != nil; line = lastLine(body) {
		var l journalLine
		if schemas.Decode("", "events.jsonl", line, &l) != nil || l.of() != revision {
			break
		}
		n++
		body = body[:bytes.LastIndex(body, line)]
	}
	return n
}

// lastLine is the last whole line of a journal, nil where there is none.
func lastLine(body []byte) []byte {
	end := bytes.LastIndexByte(body, '\n')
	if end < 0 {
		return nil
	}
	return body[bytes.LastIndexByte(body[:end], '\n')+1 : end]
}

// JournalEntry is one line of a journal.
type JournalEntry struct {
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
func Entries(journal engine.Document) []JournalEntry {
	var list []JournalEntry
	for raw := range bytes.Lines(journal.Body) {
		var e JournalEntry
		if schemas.Decode("", "events.jsonl", raw, &e) == nil {
			list = append(list, e)
		}
	}
	return list
}

// Account is the line as people are shown it; where says what it is about.
func (e JournalEntry) Account(where string) engine.Entry {
	at, err := time.Parse(time.RFC3339, string(e.At))
	if err != nil {
		at = time.Time{}
	}
	return engine.Entry{At: at, Number: e.Seq, Event: e.Edge, Where: where, Who: e.Actor, Message: e.Reason}
}

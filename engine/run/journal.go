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

// journalLine is what the last line of a journal says about its state. State is empty in
// lines of older versions of placet, which did not write it. Revision is present if lines
// have a count of their own; see [Change.Event].
type journalLine struct {
	Seq      int           `json:"seq"`
	Revision int           `json:"revision"`
	State    engine.Digest `json:"state"`
}

// of returns the revision that the line belongs to.
func (l journalLine) of() int { return cmp.Or(l.Revision, l.Seq) }

// readJournal reads the last line of the journal beside a state document and decides
// whether the line accounts for that state. placet appends the line of a revision, which
// holds the state's digest, once the state is durable. So either
//
//   - the line is of the state's revision and holds its digest; or
//   - a crash came between the two: the line is of the revision before, and this
//     machine remembers, outside the workspace, that it wrote this state. A machine
//     that remembers nothing of the run cannot tell, and believes it: a crash must
//     never stop a run for good.
//
// Somebody else wrote every other state.
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

// Accounts reports whether the journal beside a state document accounts for that revision
// of it, for runs that know the state only from its shared files. It ignores what this
// machine remembers: if a crash came before the line, the run's own next pass adds it.
func Accounts(journal, state engine.Document, revision int) bool {
	var last journalLine
	if line := lastLine(journal.Body); line == nil || schemas.Decode("", journal.Path, line, &last) != nil || last.of() != revision {
		return false
	}
	return last.State != "" && isOneOf(state, last.State) || last.State == "" && !hasDigest(journal.Body)
}

// isOneOf reports whether a document has one of the digests. A document whose line endings
// git converted on checkout is still the same.
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

// shortDigest returns the first digits of a digest, enough for people to distinguish it
// from another, but not enough to name a document. Anything that is not a digest is not
// shown, because others may have written it.
func shortDigest(d engine.Digest) any {
	hex := d.Hex()
	if len(hex) != 64 || strings.Trim(hex, "0123456789abcdef") != "" {
		return templates.NewMessage("run.digest.unreadable")
	}
	return hex[:shownDigest]
}

// shownDigest is how many hex digits of a digest people see.
const shownDigest = 8

// JournalBeside returns the path of the journal beside a state document.
func JournalBeside(state string) string { return path.Join(path.Dir(state), "events.jsonl") }

// AdoptionLine returns the journal line by which a person adopts a state document that its
// journal does not account for. Like every line it is a claim: anybody who may write the
// journal may write this line.
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

// adopted returns the revision of the state that a person adopted last, 0 for none.
func adopted(s engine.Snapshot) (revision int) {
	for _, e := range Entries(s.In("events.jsonl")) {
		if e.Edge == EventAdopted {
			revision = e.Seq
		}
	}
	return revision
}

// linesOf returns how many lines at the end of a journal belong to a revision.
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

// lastLine returns the last whole line of a journal, or nil.
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

// Entries returns the lines of a journal, oldest first. It skips a line that cannot be
// read; [ReadState] reports a bad last line.
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

// Account returns the line as people see it; where says what the line is about.
func (e JournalEntry) Account(where string) engine.Entry {
	at, err := time.Parse(time.RFC3339, string(e.At))
	if err != nil {
		at = time.Time{}
	}
	return engine.Entry{At: at, Number: e.Seq, Event: e.Edge, Where: where, Who: e.Actor, Message: e.Reason}
}

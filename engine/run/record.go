package run

import (
	"placet/engine"
	"placet/templates"
)

// Record is what can be told of a run's state and the journal beside it.
type Record struct {
	// Seq is the revision that the journal's last line belongs to, Lines how many lines
	// belong to it.
	Seq, Lines int
	// Torn is true while either may still be being written.
	Torn bool
	// Problem is why they cannot be used, with what helps; "" where they can.
	Problem string
	// Unaccounted is the digest of a state that could be used if its journal
	// accounted for it; "" where the journal does, or the problem is another one.
	Unaccounted engine.Digest
}

// ReadState reads a state.json that is there, and its journal. decode takes the state's
// body; it returns the revision, or why the state is not this run's. anew says what
// helps where the record is torn apart.
func ReadState(r *Input, d engine.Document, anew templates.Key, decode func(body []byte) (revision int, unfit, err error)) Record {
	revision := 0
	record := ReadStateAlone(r, d, anew, func(body []byte) (n int, unfit, err error) {
		revision, unfit, err = decode(body)
		return revision, unfit, err
	})
	if record.Torn || record.Problem != "" {
		return record
	}
	record = readJournal(r, d, revision, anew)
	r.Held = r.Held || record.Torn
	return record
}

// ReadStateAlone is [ReadState] for a run without a journal.
func ReadStateAlone(r *Input, d engine.Document, anew templates.Key, decode func(body []byte) (revision int, unfit, err error)) Record {
	if d.Unsettled() {
		r.Held = true
		return Record{Torn: true}
	}
	if d.Err != nil {
		return Record{Problem: withHelp(r, r.Say("run.unreadable", "file", stateFile, "error", d.Err), anew)}
	}
	_, unfit, err := decode(d.Body)
	switch {
	case err != nil:
		return Record{Torn: r.MaybePartial(d, err), Problem: withHelp(r, r.Say("run.invalid", "error", err), anew)}
	case unfit != nil:
		return Record{Problem: withHelp(r, r.Say("run.state.unfit", "error", unfit), anew)}
	}
	return Record{}
}

// withHelp adds to a problem what helps, where anything does.
func withHelp(r *Input, problem string, anew templates.Key) string {
	if anew == "" {
		return problem
	}
	return r.Say("run.help", "problem", problem, "help", r.Say(anew))
}

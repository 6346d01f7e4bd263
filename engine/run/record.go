package run

import (
	"placet/engine"
	"placet/templates"
)

// Record describes whether a run's state and the journal beside it can be used.
type Record struct {
	// Seq is the revision that the journal's last line belongs to, and Lines is how many lines
	// belong to it.
	Seq, Lines int
	// Torn is true while one of the two files may still be being written.
	Torn bool
	// Problem says why they cannot be used, and what to do; "" if they can.
	Problem string
	// Unaccounted is the digest of a state that could be used if its journal accounted for it;
	// "" if the journal does, or if the problem is another one.
	Unaccounted engine.Digest
}

// ReadState reads an existing state.json, and the journal beside it if the run has one. decode
// decodes the state's body; it returns the revision, or why the state is not this run's. anew
// says what to do if state and journal cannot be used.
func ReadState(r *Input, d engine.Document, anew templates.Key, journal bool, decode func() (revision int, unfit, err error)) Record {
	switch {
	case d.Unsettled():
		r.Held = true
		return Record{Torn: true}
	case d.Err != nil:
		return Record{Problem: withHelp(r, r.Say("run.unreadable", "file", stateFile, "error", d.Err), anew)}
	}
	revision, unfit, err := decode()
	switch {
	case err != nil:
		return Record{Torn: r.MaybePartial(d, err), Problem: withHelp(r, r.Say("run.invalid", "error", err), anew)}
	case unfit != nil:
		return Record{Problem: withHelp(r, r.Say("run.state.unfit", "error", unfit), anew)}
	case !journal:
		return Record{}
	}
	record := readJournal(r, d, revision, anew)
	r.Held = r.Held || record.Torn
	return record
}

// withHelp adds what to do to a problem, if anything helps.
func withHelp(r *Input, problem string, anew templates.Key) string {
	if anew == "" {
		return problem
	}
	return r.Say("run.help", "problem", problem, "help", r.Say(anew))
}

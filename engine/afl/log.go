package afl

import (
	"cmp"
	"fmt"
	"slices"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/graph"
	"placet/engine/reader"
	"placet/layout"
)

// log are the lines of events.jsonl, oldest first.
func (r *reading) log() []engine.Entry {
	var list []engine.Entry
	for _, e := range reader.Entries(r.Snap.In("events.jsonl")) {
		where := e.Subject
		if where == r.sessionID() {
			where = "" // the session itself
		}
		list = append(list, e.Account(where))
	}
	return list
}

// onCycle is the group of checkpoints that have no level.
const onCycle = "cycle"

// nodes are the checkpoints by level, in the order in which they are shown: the
// approved ones, or those of the files while none is approved.
func (r *reading) nodes() []engine.Node {
	var defs []Definition
	if r.st.Approved != nil {
		defs = r.st.Approved.Definitions
	} else {
		defs = r.specs.definitions()
	}
	level := graph.Levels(nodesOf(defs))
	shown := slices.Clone(defs)
	slices.SortStableFunc(shown, func(a, b Definition) int { return cmp.Compare(level[a.ID], level[b.ID]) })
	var nodes []engine.Node
	for _, d := range shown {
		nodes = append(nodes, r.node(d, level[d.ID]))
	}
	return nodes
}

func (r *reading) node(d Definition, level int) engine.Node {
	n := engine.Node{ID: d.ID, Group: fmt.Sprint(level), Label: d.ID, Status: r.statusOf(d.ID), After: d.Dependencies}
	if level == 0 {
		n.Group = onCycle
	}
	n.Gate = n.Status == Waiting || n.Status == Escalated
	n.Current = n.Gate || n.Status == InProgress || n.Status == Validating || n.Status == Retrying
	return n
}

// contradictions say where state.json and the receipts tell different histories, also of
// a state that the journal does not account for.
func (r *reading) contradictions() []engine.Finding {
	if r.torn || r.stateErr != "" && r.unaccounted == "" {
		return nil
	}
	return gate.Comparison{
		Snap: r.Snap, State: r.doc.Path, Revision: r.st.Revision, Folders: r.folders, Stated: r.stated, Adopted: r.Adopted,
	}.Contradictions()
}

// stated is what the state says of the request of a folder.
func (r *reading) stated(f *gate.Folder) *gate.Receipt {
	q := r.st.Requests[f.ID]
	if q == nil {
		return nil
	}
	rc := q.receipt(f.ID)
	return &rc
}

// accountFindings are what check reports: what stands in the way of the
// session, the findings about its design, notes, and second answers.
func (r *reading) accountFindings() []engine.Finding {
	var list []engine.Finding
	if r.stateErr != "" && !r.torn {
		list = append(list, engine.Finding{Severity: "error", Path: r.doc.Path, Text: r.stateErr})
	}
	noted := map[string]bool{}
	for _, f := range r.specs.findings {
		severity := "warning"
		if f.blocks() {
			severity, noted[r.Path(f.file)+layout.ProblemSuffix] = "error", true
		}
		list = append(list, engine.Finding{Severity: severity, Path: r.Path(f.file), Text: f.words()})
	}
	for _, note := range r.NoteFindings(shownNotes) {
		// The note beside checkpoints that cannot be approved says what these
		// findings say.
		if !noted[note.Path] {
			list = append(list, note)
		}
	}
	list = append(list, r.misread()...)
	for _, u := range r.cfg.unbuilt {
		list = append(list, engine.Finding{Severity: "warning", Path: u.file, Text: u.key + ": " + u.text})
	}
	for _, d := range r.Snap.Docs {
		if d.Kind == layout.KindResponseCopy {
			list = append(list, engine.Finding{Severity: "warning", Path: d.Path, Text: "a synchroniser's second copy of an answer: remove the one that does not count"})
		}
	}
	return list
}

// words are a finding without its file, which stands before it.
func (f finding) words() string {
	at := ""
	if f.place != "" {
		at = f.place + ": "
	}
	return f.id + " " + f.name + ": " + at + f.text + "; " + f.suggestion
}

// shownNotes puts what a note says on one line.
func shownNotes(text string) string { return oneLine(text, shownSentence) }

package afl

import (
	"bytes"
	"fmt"
	"slices"

	"placet/engine"
	"placet/engine/graph"
	"placet/layout"
	"placet/schemas"
)

// log are the lines of events.jsonl, oldest first. A line that cannot be read
// is passed over here; what it does to the session, its state says.
func (r *reading) log() []engine.Entry {
	var list []engine.Entry
	for raw := range bytes.Lines(r.Snap.In("events.jsonl").Body) {
		var line struct {
			Seq     int    `json:"seq"`
			At      text   `json:"at"`
			Edge    string `json:"edge"`
			Subject string `json:"subject"`
			Actor   string `json:"actor"`
			Reason  string `json:"reason"`
		}
		if schemas.Decode("", "events.jsonl", raw, &line) != nil {
			continue
		}
		e := engine.Entry{At: moment(line.At), Number: line.Seq, Event: line.Edge, Where: line.Subject, Who: line.Actor, Message: line.Reason}
		if e.Where == r.sessionID() {
			e.Where = "" // the session itself
		}
		list = append(list, e)
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
	highest := 0
	for _, l := range level {
		highest = max(highest, l)
	}
	var nodes []engine.Node
	for l := range highest + 1 {
		for _, d := range defs {
			if level[d.ID] == l {
				nodes = append(nodes, r.node(d, l))
			}
		}
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

// accountFindings are what check reports: what stands in the way of the
// session, the findings about its design, notes, and second answers.
func (r *reading) accountFindings() []engine.Finding {
	var list []engine.Finding
	if r.stateErr != "" && !r.torn {
		list = append(list, engine.Finding{Severity: "error", Path: r.doc.Path, Text: r.stateErr})
	}
	for _, f := range r.specs.findings {
		severity := "warning"
		if f.blocks() {
			severity = "error"
		}
		list = append(list, engine.Finding{Severity: severity, Path: r.Path(f.file), Text: f.words()})
	}
	for _, note := range r.noteFindings() {
		// The note beside checkpoints that cannot be approved says what these
		// findings say.
		if !slices.ContainsFunc(list, func(f engine.Finding) bool { return f.Severity == "error" && note.Path == f.Path+layout.ProblemSuffix }) {
			list = append(list, note)
		}
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

// noteFindings are the problem notes that stand, or that the next pass writes.
func (r *reading) noteFindings() []engine.Finding {
	var list []engine.Finding
	add := func(d engine.Document) {
		for _, have := range list {
			if have.Path == d.Path {
				return
			}
		}
		list = append(list, engine.Finding{Severity: "error", Path: d.Path, Text: noteWords(d.Body)})
	}
	var p engine.Plan
	r.Notes.Plan(r.Snap, &p, nil)
	for _, d := range p.Writes {
		add(d)
	}
	for _, d := range r.Snap.Docs {
		if d.Kind == layout.KindProblem && d.Present() {
			add(d)
		}
	}
	return list
}

// noteWords are what a problem note says, without heading and closing line, on
// one line.
func noteWords(body []byte) string {
	body = bytes.TrimPrefix(bytes.TrimSpace(body), []byte("# Problem"))
	body, _, _ = bytes.Cut(body, []byte("\n\nplacet wrote this note"))
	return oneLine(string(body), shownSentence)
}

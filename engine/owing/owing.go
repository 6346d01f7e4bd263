// Package owing is how a machine plans the documents that a state owes: those
// that are not there are written, those that stand are kept, what a crash left of
// a transition that never became fact is replaced by the transition itself, and
// what is not placet's is left alone and noted.
package owing

import (
	"fmt"
	"path"

	"placet/engine"
	"placet/layout"
)

// Run is one run whose state owes documents.
type Run struct {
	Snap  engine.Snapshot
	Notes *engine.Notes
	// Document is placet's own document of the run at a path relative to it.
	Document func(rel string, body []byte) engine.Document
	// Foreign reports whether a document in the place of placet's was written by
	// somebody else.
	Foreign func(engine.Document) bool
	// Fresh is true for the transition that makes the state, false for a look at a
	// state that is fact.
	Fresh bool
}

// Writing collects what a state owes.
type Writing struct {
	Run
	Plan engine.Plan
}

// Put plans a document in place of what lies there.
func (w *Writing) Put(rel string, body []byte) {
	d := w.Document(rel, body)
	d.Over = w.Snap.In(rel).Sum
	w.Plan.Writes = append(w.Plan.Writes, d)
}

// Once plans a document that is written once. What stands is kept, but for the
// left-over of a transition that never became fact, which only the transition that
// the document belongs to (now) replaces.
func (w *Writing) Once(rel string, now bool, body func() []byte) {
	d := w.Snap.In(rel)
	switch {
	case d.Absent():
		w.Put(rel, body())
	case d.Present() && now && w.Fresh && !w.Foreign(d):
		if b := body(); engine.Sum(b) != d.Sum {
			w.Put(rel, b)
		}
	}
	w.Note(d)
}

// Always plans a document that follows the state.
func (w *Writing) Always(rel string, body []byte) {
	d := w.Snap.In(rel)
	if d.Absent() || d.Present() && !w.Foreign(d) && d.Sum != engine.Sum(body) {
		w.Put(rel, body)
	}
	w.Note(d)
}

// Note says that a file in the place of placet's is left alone, where it is.
func (w *Writing) Note(d engine.Document) {
	const anew = "it is left alone; remove it to get placet's"
	switch {
	case d.Present() && w.Foreign(d):
		w.Notes.Beside(d.Path, "this file is not placet's: "+anew)
	case d.Err == nil || d.Absent() || d.Unsettled():
	case d.Kind == layout.KindReceipt: // a request's folder has one note
		w.Notes.Add(path.Dir(d.Path)+"/problem.md", fmt.Sprintf("%s cannot be read (%v): %s", path.Base(d.Path), d.Err, anew))
	default:
		w.Notes.Beside(d.Path, fmt.Sprintf("this file cannot be read (%v): %s", d.Err, anew))
	}
}

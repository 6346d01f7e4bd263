package run

import (
	"path"

	"placet/engine"
	"placet/engine/gate"
	"placet/layout"
	"placet/templates"
)

// Outputs collects what a state calls for and does not exist. It is a function of the state
// and the snapshot: the same in the transition that makes the state, after a crash, and
// after somebody deleted a file.
type Outputs struct {
	Plan engine.Plan
	// Fresh is true for the transition that makes the state, false for a state that is
	// already durable.
	Fresh bool

	snap  engine.Snapshot
	notes *engine.Notes
	// document returns a document of placet's for the run, at a path relative to the run's
	// folder.
	document func(rel string, body []byte) engine.Document
	// foreign reports whether somebody else wrote a document at a path that is placet's.
	foreign func(engine.Document) bool
}

// outputs returns the outputs of the run's state. fresh is true for the transition that
// makes the state, false for a state that is already durable.
func (r *Run[S, V]) outputs(fresh bool) engine.Plan {
	w := &Outputs{
		Fresh: fresh, snap: r.Snap, notes: &r.Notes,
		document: func(rel string, body []byte) engine.Document {
			file, _ := r.f.Layout.File(layout.Run{}, rel)
			return engine.Document{Path: r.Path(rel), Kind: file.Kind, Body: body}
		},
		foreign: func(d engine.Document) bool { return r.f.Foreign != nil && r.f.Foreign(r.v, d) },
	}
	if r.Begun {
		journalOutput(r, w)
		for _, q := range r.Requests() {
			r.issue(q).outputs(w)
		}
	}
	r.f.Outputs(r.v, w)
	r.f.Posts(r.v, w)
	return w.Plan
}

// journalOutput plans the journal lines of the state's own transition that a crash
// prevented.
func journalOutput[S, V any](r *Run[S, V], w *Outputs) {
	last := *r.head.Last
	if !r.f.hasJournal() || w.Fresh || last == nil || r.Seq < r.revision()-1 {
		return
	}
	there := 0
	if r.Seq == r.revision() {
		there = r.Lines
	}
	lines := r.f.lines(r.Path(journalFile), *last, r.revision(), r.Doc.Sum)
	w.Plan.Lines = append(w.Plan.Lines, lines[min(there, len(lines)):]...)
}

// outputs plans the files of an open request, or the receipt of a closed one.
func (i *issue[S, V]) outputs(w *Outputs) {
	if i.Status != Open {
		w.Once(i.file("receipt.json"), i.ClosedRevision == i.r.revision(), func() []byte { return Must(i.receipt().Encode()) })
		return
	}
	if i.voids(w) {
		return
	}
	form := i.file("form.md")
	if voids := i.dir.Voids.Count(); voids > 0 {
		if _, stands := i.stands(); !stands || i.dir.BadVoids || voids >= gate.MostVoids {
			form = "" // a form shows what would be approved, so there is none now
		} else {
			form = i.file(i.dir.FormName(i.evaluation().View))
		}
	}
	if form != "" {
		i.issue(w, form)
	}
}

// file returns the path of a file of the request, relative to the run's folder.
func (i *issue[S, V]) file(name string) string { return layout.RequestsDir + "/" + i.ID + "/" + name }

// issue plans request.json and the form at a path.
func (i *issue[S, V]) issue(w *Outputs, rel string) {
	d, form := i.dir.Doc, w.snap.In(rel)
	body, now := d.Body, w.Fresh && i.Revision == i.r.revision()
	switch {
	case d.Absent(), now && d.Present() && string(d.Sum) != string(i.Digest):
		if body = i.body(); !i.wasIssued(body) {
			return // what the request shows has changed, so it cannot be made again
		}
		w.Put(i.file("request.json"), body)
	case !d.Present():
		return
	}
	// A form that nobody has edited, beside a request whose transition was never completed,
	// is a left-over.
	if leftOver := now && string(d.Sum) != string(i.Digest) && form.Present() && !gate.Ticked(form.Body); !form.Absent() && !leftOver {
		return
	}
	if !i.wasIssued(body) {
		return
	}
	text, err := i.form(body, i.request().View(body, i.dir.Voids))
	if err != nil {
		w.notes.Beside(w.snap.In(stateFile).Path, templates.Phrase(w.notes.Lang, "run.output.ask", "request", i.ID, "error", err))
		return
	}
	w.Put(rel, text)
}

// Put plans a document that replaces whatever is at its path.
func (w *Outputs) Put(rel string, body []byte) {
	d := w.document(rel, body)
	d.Over = w.snap.In(rel).Sum
	w.Plan.Writes = append(w.Plan.Writes, d)
}

// Once plans a document that is written once. An existing document is kept, except a
// left-over of a transition that was never completed: only the transition that the document
// belongs to (now) replaces it.
func (w *Outputs) Once(rel string, now bool, body func() []byte) {
	d := w.snap.In(rel)
	switch {
	case d.Absent():
		w.Put(rel, body())
	case d.Present() && now && w.Fresh && !w.foreign(d):
		if b := body(); engine.Sum(b) != d.Sum {
			w.Put(rel, b)
		}
	}
	w.Note(d)
}

// Always plans a document that changes with the state.
func (w *Outputs) Always(rel string, body []byte) {
	d := w.snap.In(rel)
	if d.Absent() || d.Present() && !w.foreign(d) && d.Sum != engine.Sum(body) {
		w.Put(rel, body)
	}
	w.Note(d)
}

// Note adds a note if a file at a path of placet's is not replaced.
func (w *Outputs) Note(d engine.Document) {
	switch {
	case d.Present() && w.foreign(d):
		w.notes.Beside(d.Path, templates.Phrase(w.notes.Lang, "run.output.foreign"))
	case d.Err == nil || d.Absent() || d.Unsettled():
	case d.Kind == layout.KindReceipt: // a request's folder has one note
		w.notes.Add(path.Dir(d.Path)+"/problem.md", templates.Phrase(w.notes.Lang, "run.output.receipt", "file", path.Base(d.Path), "error", d.Err))
	default:
		w.notes.Beside(d.Path, templates.Phrase(w.notes.Lang, "run.output.unreadable", "error", d.Err))
	}
}

package run

import (
	"cmp"
	"path"

	"placet/engine"
	"placet/engine/gate"
	"placet/layout"
	"placet/templates"
)

// Outputs collects what a state calls for and is not there. It is a function of the
// state and the snapshot: the same in the transition that makes the state, after a crash
// and after somebody deleted a file.
type Outputs struct {
	Plan engine.Plan
	// Fresh is true for the transition that makes the state, false for a look at a state
	// that is fact.
	Fresh bool

	snap  engine.Snapshot
	notes *engine.Notes
	// document is placet's own document of the run at a path relative to it.
	document func(rel string, body []byte) engine.Document
	// foreign reports whether a document in the place of placet's was written by
	// somebody else.
	foreign func(engine.Document) bool
}

// outputs are the outputs of the run's state. fresh is true for the transition that makes
// the state, false for a state that is fact.
func (f *Family[S, V]) outputs(b *bound[S, V], fresh bool) engine.Plan {
	w := &Outputs{
		Fresh: fresh, snap: b.Snap, notes: &b.Notes,
		document: func(rel string, body []byte) engine.Document { return f.document(b.Run, rel, body) },
		foreign:  func(d engine.Document) bool { return f.Foreign != nil && f.Foreign(b.v, d) },
	}
	if b.Begun {
		f.journalOutput(b.Run, w)
		for _, q := range b.Requests() {
			b.requestOutput(w, q)
		}
	}
	f.Outputs(b.v, w)
	if b.Begun {
		b.posts(w)
	}
	return w.Plan
}

// journalOutput plans the lines of the state's own transition that a crash came before.
func (f *Family[S, V]) journalOutput(r *Run[S], w *Outputs) {
	last := *r.head.Last
	if !f.hasJournal() || w.Fresh || last == nil || r.Seq < r.revision()-1 {
		return
	}
	there := 0
	if r.Seq == r.revision() {
		there = r.Lines
	}
	lines := f.lines(r, *last, r.revision(), r.Doc.Sum)
	w.Plan.Lines = append(w.Plan.Lines, lines[min(there, len(lines)):]...)
}

// requestOutput plans the files of an open request, or the receipt of a closed one.
func (r *Run[S]) requestOutput(w *Outputs, q *Request) {
	files := requestFiles{ID: q.ID, Digest: engine.Digest(q.Digest)}
	if q.Status != Open {
		files.Now = q.ClosedRevision == r.revision()
		w.close(files, func() gate.Receipt { return r.Receipt(q) })
		return
	}
	if r.voids(w, q) {
		return
	}
	remakes := r.asker.remakes(q)
	wasIssued := func(body []byte) bool {
		sum := engine.Sum(body)
		return sum == files.Digest || remakes && sum == engine.Sum(r.requestJSON(q))
	}
	files.Now = q.Revision == r.revision()
	files.Body = func() []byte {
		if body := r.requestJSON(q); wasIssued(body) {
			return body
		}
		return nil // what it shows has changed: it cannot be made again
	}
	voids := r.Folder(q.ID).Voids
	files.Form = func(body []byte) ([]byte, error) {
		if !wasIssued(body) {
			return nil, nil
		}
		req := r.asker.request(q)
		return r.asker.form(req.Shown(body), q, view(req, body, voids))
	}
	if voids.Count() > 0 {
		if _, stands := r.asker.stands(q); !stands || r.Folder(q.ID).BadVoids || voids.Count() >= gate.MostVoids {
			return // a form shows what would be approved
		}
		files.FormName = r.Folder(q.ID).FormName(r.evaluation(q).View)
	}
	w.issue(files)
}

// Put plans a document in place of what lies there.
func (w *Outputs) Put(rel string, body []byte) {
	d := w.document(rel, body)
	d.Over = w.snap.In(rel).Sum
	w.Plan.Writes = append(w.Plan.Writes, d)
}

// Once plans a document that is written once. What stands is kept, but for the
// left-over of a transition that never became fact, which only the transition that
// the document belongs to (now) replaces.
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

// Always plans a document that follows the state.
func (w *Outputs) Always(rel string, body []byte) {
	d := w.snap.In(rel)
	if d.Absent() || d.Present() && !w.foreign(d) && d.Sum != engine.Sum(body) {
		w.Put(rel, body)
	}
	w.Note(d)
}

// Note says that a file in the place of placet's is left alone, where it is.
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

// requestFiles are the files of a request that a state asks or has closed.
type requestFiles struct {
	ID string
	// Now is true in the transition that opens or closes it.
	Now bool
	// Digest is that of request.json as it was issued.
	Digest engine.Digest
	// FormName is the name of the present form, "" for form.md.
	FormName string
	// Body makes request.json anew, nil where that cannot be made now.
	Body func() []byte
	// Form makes the form of a request.json, nil where that cannot be made now.
	Form func(request []byte) ([]byte, error)
}

// issue plans the files of an open request.
func (w *Outputs) issue(q requestFiles) {
	dir := layout.RequestsDir + "/" + q.ID + "/"
	name := dir + cmp.Or(q.FormName, "form.md")
	d, form := w.snap.In(dir+"request.json"), w.snap.In(name)
	body, now := d.Body, q.Now && w.Fresh
	switch {
	case d.Absent(), now && d.Present() && d.Sum != q.Digest:
		if body = q.Body(); body == nil {
			return
		}
		w.Put(dir+"request.json", body)
	case !d.Present():
		return
	}
	// What nobody has touched beside a request that never became fact is a left-over.
	if leftOver := now && d.Sum != q.Digest && form.Present() && !gate.Ticked(form.Body); !form.Absent() && !leftOver {
		return
	}
	text, err := q.Form(body)
	switch {
	case err != nil:
		w.notes.Beside(w.snap.In("state.json").Path, templates.Phrase(w.notes.Lang, "run.output.ask", "request", q.ID, "error", err))
	case text != nil:
		w.Put(name, text)
	}
}

// close plans the receipt of a request that is closed.
func (w *Outputs) close(q requestFiles, receipt func() gate.Receipt) {
	w.Once(layout.RequestsDir+"/"+q.ID+"/receipt.json", q.Now, func() []byte {
		body, err := receipt().Encode()
		if err != nil {
			panic(err) // texts and lists of them
		}
		return body
	})
}

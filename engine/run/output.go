package run

import (
	"placet/engine"
	"placet/engine/owing"
)

// Outputs collects what a state calls for and is not there. It is a function of the
// state and the snapshot: the same in the transition that makes the state, after a crash
// and after somebody deleted a file.
type Outputs struct {
	owing.Writing
}

// outputs are the outputs of the run's state. fresh is true for the transition that makes
// the state, false for a state that is fact.
func (f *Family[S, V]) outputs(b *bound[S, V], fresh bool) engine.Plan {
	w := &Outputs{Writing: owing.Writing{Run: owing.Run{
		Snap: b.Snap, Notes: &b.Notes, Fresh: fresh, Foreign: func(d engine.Document) bool { return f.Foreign != nil && f.Foreign(b.v, d) },
		Document: func(rel string, body []byte) engine.Document { return f.document(b.Run, rel, body) },
	}}}
	if b.Begun {
		f.journalOutput(b.Run, w)
		for _, q := range b.Requests() {
			b.requestOutput(w, q)
		}
	}
	f.Outputs(b.v, w)
	return w.Plan
}

// journalOutput plans the line of the state's own transition where a crash came before
// it.
func (f *Family[S, V]) journalOutput(r *Run[S], w *Outputs) {
	if last := *r.head.Last; !w.Fresh && last != nil && r.Seq == r.revision()-1 {
		w.Plan.Lines = append(w.Plan.Lines, f.line(r, *last, r.revision(), r.Doc.Sum))
	}
}

// requestOutput plans the files of an open request, or the receipt of a closed one.
func (r *Run[S]) requestOutput(w *Outputs, q *Request) {
	files := owing.Request{ID: q.ID, Digest: engine.Digest(q.Digest)}
	if q.Status != Open {
		files.Now = q.ClosedRevision == r.revision()
		w.Close(files, q.Receipt)
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
	files.Form = func(body []byte) ([]byte, error) {
		if !wasIssued(body) {
			return nil, nil
		}
		req := r.asker.request(q)
		return r.asker.form(req.Shown(body), q, view(req, body))
	}
	w.Issue(files)
}

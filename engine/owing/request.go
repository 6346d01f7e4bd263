package owing

import (
	"placet/engine"
	"placet/engine/gate"
	"placet/layout"
)

// Request is one that a state asks or has closed.
type Request struct {
	ID string
	// Now is true in the transition that opens or closes it.
	Now bool
	// Digest is that of request.json as it was issued.
	Digest engine.Digest
	// Body makes request.json anew, nil where that cannot be made now.
	Body func() []byte
	// Form makes the form of a request.json, nil where that cannot be made now.
	Form func(request []byte) ([]byte, error)
}

// Issue plans the files of an open request.
func (w *Writing) Issue(q Request) {
	dir := layout.RequestsDir + "/" + q.ID + "/"
	d, form := w.Snap.In(dir+"request.json"), w.Snap.In(dir+"form.md")
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
		w.Notes.Beside(w.Snap.In("state.json").Path, "cannot ask "+q.ID+": "+err.Error())
	case text != nil:
		w.Put(dir+"form.md", text)
	}
}

// Close plans the receipt of a request that is closed.
func (w *Writing) Close(q Request, receipt func() gate.Receipt) {
	w.Once(layout.RequestsDir+"/"+q.ID+"/receipt.json", q.Now, func() []byte {
		body, err := receipt().Encode()
		if err != nil {
			panic(err) // texts and lists of them
		}
		return body
	})
}

package afl

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"

	"placet/engine"
	"placet/layout"
	"placet/schemas"
)

// owed is what a state calls for and is not there: a function of the state,
// used alike by the transition that makes it (fresh), after a crash and after
// somebody deleted a file.
func (r *reading) owed(st State, fresh bool) engine.Plan {
	w := &writing{r: r, fresh: fresh}
	if !fresh && r.seq == st.Revision-1 && st.Last != nil {
		w.plan.Lines = append(w.plan.Lines, r.line(st))
	}
	for _, id := range slices.Sorted(maps.Keys(st.Requests)) {
		w.request(id, st.Requests[id])
	}
	if st.Adopted {
		return w.plan
	}
	w.changes(st)
	if st.Approved != nil {
		for _, id := range r.order {
			if c := st.Checkpoints[id]; c != nil {
				w.checkpoint(id, c)
			}
		}
		w.always("delegations/status.json", statusJSON(st))
	}
	if _, unfinished := r.unfinished(); final(st.Status) && !unfinished {
		w.once("report.md", fresh, func() []byte { return reportMD(st) })
	}
	return w.plan
}

// unfinished is the first checkpoint that is not over.
func (r *reading) unfinished() (string, bool) {
	for _, id := range r.order {
		if c := r.checkpoint(id); c != nil && !over(c.Status) {
			return id, true
		}
	}
	return "", false
}

// writing collects the documents that a state owes.
type writing struct {
	r     *reading
	fresh bool
	plan  engine.Plan
}

// mark is how placet's own Markdown begins.
const mark = "<!-- placet afl "

// put plans a document in place of what lies there.
func (w *writing) put(rel string, body []byte) {
	d := w.r.document(rel, body)
	d.Over = w.r.Snap.In(rel).Sum
	w.plan.Writes = append(w.plan.Writes, d)
}

// once plans a document that is written once. What stands is kept, but for the
// left-over of a transition that never became fact, which only the transition
// itself (now) replaces.
func (w *writing) once(rel string, now bool, body func() []byte) {
	d := w.r.Snap.In(rel)
	switch {
	case d.Absent():
		w.put(rel, body())
	case d.Present() && now:
		if !foreign(d) {
			if b := body(); engine.Sum(b) != d.Sum {
				w.put(rel, b)
			}
		}
	}
	w.note(d)
}

// note says that a file in the place of placet's is left alone.
func (w *writing) note(d engine.Document) {
	switch {
	case d.Present() && foreign(d):
		w.r.Notes.Beside(d.Path, "this file is not placet's: it is left alone; remove it to get placet's")
	case d.Err == nil || d.Absent() || d.Unsettled():
	case d.Kind == layout.KindReceipt: // a request's folder has one note
		w.r.Notes.Add(path.Dir(d.Path)+"/problem.md", fmt.Sprintf("%s cannot be read (%v): it is left alone; remove it to get placet's", path.Base(d.Path), d.Err))
	default:
		w.r.Notes.Beside(d.Path, fmt.Sprintf("this file cannot be read (%v): it is left alone; remove it to get placet's", d.Err))
	}
}

// always plans a document that follows the state.
func (w *writing) always(rel string, body []byte) {
	d := w.r.Snap.In(rel)
	if d.Absent() || d.Present() && !foreign(d) && d.Sum != engine.Sum(body) {
		w.put(rel, body)
	}
	w.note(d)
}

// rendering plans one of upstream's files about a checkpoint. Where the one that
// lies there is known to be right, nothing is rendered.
func (w *writing) rendering(id, name string, which int, body func() []byte) {
	rel := "delegations/" + id + "/" + name
	p := w.r.known[id]
	if w.fresh && w.r.st.Checkpoints[id].Revision == w.r.st.Revision {
		p = nil // it has just changed
	}
	if p == nil || w.r.Snap.In(rel).Sum != p.sum(which, body) {
		w.always(rel, body())
	}
}

// foreign reports whether a document where placet's ought to stand was written
// by somebody else: Markdown without our first line, a rendering without our
// name. Others are told by their schema.
func foreign(d engine.Document) bool {
	switch d.Kind {
	case layout.AFLStatus, layout.AFLRouting:
		var by struct {
			WrittenBy string `json:"written_by"`
		}
		return schemas.Decode("", d.Path, d.Body, &by) != nil || by.WrittenBy != "placet"
	case layout.AFLEscalationJSON, layout.AFLVerdict, layout.KindReceipt, layout.KindRequest, layout.KindForm:
		return false
	}
	return !bytes.HasPrefix(d.Body, []byte(mark))
}

// request plans the files of an open request, or the receipt of a closed one.
func (w *writing) request(id string, q *Request) {
	r := w.r
	dir := "requests/" + id + "/"
	if q.Status != open {
		w.once(dir+"receipt.json", w.fresh && q.ClosedRevision == r.st.Revision, func() []byte {
			body, err := q.receipt(id).Encode()
			if err != nil {
				panic(err) // texts and lists of them
			}
			return body
		})
		return
	}
	d, form := r.Snap.In(dir+"request.json"), r.Snap.In(dir+"form.md")
	body := d.Body
	now := w.fresh && q.Revision == r.st.Revision
	if d.Absent() || now && d.Present() && string(d.Sum) != string(q.Digest) {
		if q.Type == typeApproval && !r.specs.readable {
			return // it shows what the files hold: they must be read first
		}
		body = r.requestJSON(id, q)
		w.put(dir+"request.json", body)
	} else if !d.Present() {
		return
	}
	if !form.Absent() && !(now && w.stale(form, id)) {
		return
	}
	text, err := r.form(id, q, body)
	if err != nil {
		r.Notes.Beside(r.doc.Path, "cannot ask "+id+": "+err.Error())
		return
	}
	w.put(dir+"form.md", text)
}

// stale reports whether a form is the untouched left-over of a request that
// never became fact.
func (w *writing) stale(d engine.Document, id string) bool {
	return d.Present() && string(w.r.Snap.In("requests/"+id+"/request.json").Sum) != string(w.r.st.Requests[id].Digest) &&
		!bytes.Contains(d.Body, []byte("- [x]")) && !bytes.Contains(d.Body, []byte("- [X]"))
}

// changes plans what a person asked to change, for as long as it is asked.
func (w *writing) changes(st State) {
	r := w.r
	ch := st.Specs.ChangesRequested
	d := r.Snap.In("changes.md")
	if ch == nil || ch.Digest != st.Specs.Digest {
		if d.Present() && !foreign(d) {
			w.plan.Removes = append(w.plan.Removes, d.Path)
		}
		return
	}
	var lines []string
	for _, f := range r.specs.findings {
		lines = append(lines, f.line())
	}
	if d.Absent() && !r.specs.readable {
		return
	}
	w.once("changes.md", w.fresh, func() []byte { return changesMD(r.lang(), r.sessionID(), *ch, lines) })
}

// checkpoint plans what a checkpoint owes.
func (w *writing) checkpoint(id string, c *Checkpoint) {
	r := w.r
	now := w.fresh && c.Revision == r.st.Revision
	if c.LastAttemptAt != "" {
		w.once(place(id, c.Iteration, "prompt.md"), now && c.Status == InProgress && len(c.Questions) == 0 && startNumber(c) == 1,
			func() []byte { return r.promptMD(id) })
		if body := r.answerMD(id, c); body != nil {
			w.always(place(id, c.Iteration, "answer.md"), body)
		}
	}
	for i, h := range c.History {
		w.once(verdictDoc(id, h.Iteration, h.Run), now && i == len(c.History)-1 && h.Timestamp == r.st.UpdatedAt, func() []byte {
			v, _ := r.verdictOf(id, h)
			return v.encode()
		})
	}
	for i, f := range c.Feedback {
		last := now && i == len(c.Feedback)-1 && c.Status == Retrying
		w.once(place(id, f.Iteration, "feedback.md"), last, func() []byte { return r.feedbackMD(id, f) })
	}
	if c.Escalation != nil {
		w.escalation(id, c.Escalation)
	}
	w.rendering(id, "status.json", renderedStatus, func() []byte { return checkpointStatusJSON(r.st, id) })
	w.rendering(id, "routing.json", renderedRouting, func() []byte { return routingJSON(r.st, id) })
}

func startNumber(c *Checkpoint) int {
	if c.Worker == nil {
		return 0
	}
	return c.Worker.Number
}

// escalation plans the report of a checkpoint's last escalation.
func (w *writing) escalation(id string, e *Escalation) {
	r := w.r
	dir := "delegations/" + id + "/"
	d := r.Snap.In(dir + "escalation.json")
	var of struct {
		RequestID string `json:"request_id"`
	}
	current := d.Present() && schemas.Decode("", d.Path, d.Body, &of) == nil && of.RequestID == e.RequestID
	if report := r.Snap.In(dir + "escalation.md"); current && !report.Absent() || d.Unsettled() {
		w.note(report)
		return
	}
	w.always(dir+"escalation.md", r.escalationMD(id))
	w.always(dir+"escalation.json", r.escalationJSON(id))
}

package afl

import (
	"bytes"
	"maps"
	"slices"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/owing"
	"placet/layout"
	"placet/schemas"
)

// owed is what a state calls for and is not there: a function of the state,
// used alike by the transition that makes it (fresh), after a crash and after
// somebody deleted a file.
func (r *reading) owed(st State, fresh bool) engine.Plan {
	w := r.newWriting(fresh)
	if !fresh && r.seq == st.Revision-1 && st.Last != nil {
		w.Plan.Lines = append(w.Plan.Lines, r.line(st, r.doc.Sum))
	}
	for _, id := range slices.Sorted(maps.Keys(st.Requests)) {
		w.request(id, st.Requests[id])
	}
	if st.Adopted {
		return w.Plan
	}
	w.changes(st)
	if st.Approved != nil {
		for _, id := range r.order {
			if c := st.Checkpoints[id]; c != nil {
				w.checkpoint(id, c)
			}
		}
		w.Always("delegations/status.json", statusJSON(st))
	}
	if _, unfinished := r.unfinished(); final(st.Status) && !unfinished {
		w.Once("report.md", fresh, func() []byte { return reportMD(st) })
	}
	return w.Plan
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
	owing.Writing
	r *reading
}

func (r *reading) newWriting(fresh bool) *writing {
	return &writing{r: r, Writing: owing.Writing{Run: owing.Run{
		Snap: r.Snap, Notes: &r.Notes, Document: r.document, Foreign: foreign, Fresh: fresh,
	}}}
}

// mark is how placet's own Markdown begins.
const mark = "<!-- placet afl "

// rendering plans one of upstream's files about a checkpoint. Where the one that
// lies there is known to be right, nothing is rendered.
func (w *writing) rendering(id, name string, which int, body func() []byte) {
	rel := "delegations/" + id + "/" + name
	p := w.r.known[id]
	if w.Fresh && w.r.st.Checkpoints[id].Revision == w.r.st.Revision {
		p = nil // it has just changed
	}
	if p == nil || w.r.Snap.In(rel).Sum != p.sum(which, body) {
		w.Always(rel, body())
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
	files := owing.Request{ID: id, Digest: engine.Digest(q.Digest)}
	if q.Status != open {
		files.Now = q.ClosedRevision == r.st.Revision
		w.Close(files, func() gate.Receipt { return q.receipt(id) })
		return
	}
	files.Now = q.Revision == r.st.Revision
	files.Body = func() []byte {
		if q.Type == typeApproval && !r.specs.readable {
			return nil // it shows what the files hold: they must be read first
		}
		return r.requestJSON(id, q)
	}
	files.Form = func(body []byte) ([]byte, error) {
		if f := r.folder(id); f.Doc.Present() && f.Doc.Sum == engine.Sum(body) && r.altered(f, id, q) != "" {
			return nil, nil
		}
		return r.form(r.request(id, q).Shown(body), q, gate.Digest(body, nil))
	}
	w.Issue(files)
}

// changes plans what a person asked to change, for as long as it is asked.
func (w *writing) changes(st State) {
	r := w.r
	ch := st.Specs.ChangesRequested
	d := r.Snap.In("changes.md")
	if ch == nil || ch.Digest != st.Specs.Digest {
		if d.Present() && !foreign(d) {
			w.Plan.Removes = append(w.Plan.Removes, d.Path)
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
	w.Once("changes.md", w.Fresh, func() []byte { return changesMD(r.lang(), r.sessionID(), *ch, lines) })
}

// checkpoint plans what a checkpoint owes.
func (w *writing) checkpoint(id string, c *Checkpoint) {
	r := w.r
	now := w.Fresh && c.Revision == r.st.Revision
	if c.LastAttemptAt != "" {
		w.Once(place(id, c.Iteration, "prompt.md"), now && c.Status == InProgress && len(c.Questions) == 0 && startNumber(c) == 1,
			func() []byte { return r.promptMD(id) })
		if body := r.answerMD(id, c); body != nil {
			w.Always(place(id, c.Iteration, "answer.md"), body)
		}
	}
	for i, h := range c.History {
		w.Once(verdictDoc(id, h.Iteration, h.Run), now && i == len(c.History)-1 && h.Timestamp == r.st.UpdatedAt, func() []byte {
			v, _ := r.verdictOf(id, h)
			return v.encode()
		})
	}
	for i, f := range c.Feedback {
		last := now && i == len(c.Feedback)-1 && c.Status == Retrying
		w.Once(place(id, f.Iteration, "feedback.md"), last, func() []byte { return r.feedbackMD(id, f) })
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

// escalation plans the report of a checkpoint's last escalation. While a person is
// asked it is the one that the request shows, whatever a power cut left of either
// file; later it is written only where it is gone, and one that was changed is noted.
func (w *writing) escalation(id string, e *Escalation) {
	r := w.r
	dir := "delegations/" + id + "/"
	md, report := r.Snap.In(dir+"escalation.md"), r.Snap.In(dir+"escalation.json")
	q := r.st.Requests[string(e.RequestID)]
	asked := q != nil && q.Status == open
	if report.Unsettled() || !asked && !md.Absent() && !report.Absent() && !ofAnother(report, e) {
		w.Note(md)
		r.escalationReport(id)
		return
	}
	w.Always(dir+"escalation.md", r.escalationMD(id))
	w.Always(dir+"escalation.json", r.escalationJSON(id))
}

// ofAnother reports whether an escalation.json is that of an earlier escalation.
func ofAnother(report engine.Document, e *Escalation) bool {
	var of struct {
		RequestID string `json:"request_id"`
	}
	return report.Present() && schemas.Decode("afl/escalation", report.Path, report.Body, &of) == nil && of.RequestID != e.RequestID
}

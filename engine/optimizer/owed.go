package optimizer

import (
	"placet/engine"
	"placet/engine/gate"
	"placet/engine/owing"
	"placet/layout"
	"placet/schemas"
)

// owed is what a state calls for and is not there: a function of the state, used
// alike by the transition that makes it (fresh), after a crash and after somebody
// deleted a file.
func (r *reading) owed(fresh bool) engine.Plan {
	w := r.newWriting(fresh)
	st := r.st
	if !fresh && r.seq == st.Revision-1 && st.Last != nil {
		w.Plan.Lines = append(w.Plan.Lines, r.line(st, r.doc.Sum))
	}
	for _, q := range st.Requests {
		w.request(q)
	}
	r.collect(w)
	r.attempting(w)
	if st.Decision != nil {
		w.Once("decision.json", st.Last.Edge == decided, func() []byte { return decisionJSON(st) })
	}
	if st.Report != nil {
		w.report()
	}
	// goal.json says nothing of whose it is: it is written once the receipt and the
	// state are durable, so that none lies there before its time.
	if st.Goal != nil && !fresh {
		w.Once("goal.json", false, func() []byte { return encoded(st.Goal) })
		if r.cfg.WriteResult {
			w.Once("optimizer_result.json", false, func() []byte { return must(resultJSON(st)) })
		}
		w.late()
		w.tickets()
	}
	r.recording(w)
	return w.Plan
}

// must is a document of texts, numbers and lists of them.
func must(body []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return body
}

// encoded is a document of texts, numbers and lists of them.
func encoded(v any) []byte { return must(schemas.Encode(v)) }

// writing collects the documents that a state owes.
type writing struct {
	owing.Writing
	r *reading
}

func (r *reading) newWriting(fresh bool) *writing {
	return &writing{r: r, Writing: owing.Writing{Run: owing.Run{
		Snap: r.Snap, Notes: &r.Notes, Document: r.document, Foreign: r.foreign, Fresh: fresh,
	}}}
}

// foreign reports whether a document where placet's ought to stand was written by
// somebody else. Most are told by their schema, where they are read.
func (r *reading) foreign(d engine.Document) bool {
	var by struct {
		RunID string `json:"run_id"`
	}
	return d.Kind == layout.OptimizerKindDecision && (schemas.Decode("optimizer/decision", d.Path, d.Body, &by) != nil || by.RunID != r.st.RunID)
}

// report plans the report: with the transition that it belongs to in place of a
// left-over, later only where it is gone and what it was made from is as it was.
func (w *writing) report() {
	r := w.r
	rel := r.Snap.Rel(r.st.Report.Path)
	d := r.Snap.In(rel)
	now := w.Fresh && r.st.Status == Reporting
	if !d.Absent() && !(now && d.Present() && d.Sum.Hex() != r.st.Report.SHA256) {
		return
	}
	if body, ok := r.reportBody(); ok {
		w.Put(rel, body)
	}
}

// request plans the files of an open request, or the receipt of a closed one.
func (w *writing) request(q *Request) {
	r := w.r
	files := owing.Request{ID: q.ID, Digest: engine.Digest(q.Digest)}
	if q.Status != open {
		files.Now = q.ClosedRevision == r.st.Revision
		w.Close(files, q.receipt)
		return
	}
	issued := func(body []byte) bool { return engine.Sum(body) == files.Digest }
	files.Now = q.Revision == r.st.Revision
	files.Body = func() []byte {
		if body := r.requestJSON(q); issued(body) {
			return body
		}
		return nil // what it shows has changed: it cannot be made again
	}
	files.Form = func(body []byte) ([]byte, error) {
		if !issued(body) {
			return nil, nil
		}
		req := r.request(q)
		return r.form(req.Shown(body), q, r.view(req, body))
	}
	w.Issue(files)
}

// decisionJSON is decision.json: the decision as it was first made.
func decisionJSON(st State) []byte {
	d := *st.Decision
	first := decide(d.Signals, nil, nil, st.Lang)
	escalation := first.EscalationNeeded || d.GoalLevel != nil && *d.GoalLevel != d.SignalLevel
	return encoded(schemas.Object{
		{Name: "run_id", Value: st.RunID}, {Name: "workflow_name", Value: st.WorkflowName}, {Name: "automation_level", Value: d.AutomationLevel},
		{Name: "rationale", Value: d.Rationale}, {Name: "escalation_needed", Value: escalation},
		{Name: "recommended_level", Value: d.RecommendedLevel}, {Name: "signals", Value: d.Signals},
		{Name: "signal_level", Value: d.SignalLevel}, {Name: "goal_level", Value: d.GoalLevel},
	})
}

// late writes down the first valid answer that came after the deadline, and says
// beside later ones that they move nothing.
func (w *writing) late() {
	r := w.r
	q := r.hitl()
	if q == nil || q.Status != gate.Expired {
		return
	}
	f := r.folder(q.ID)
	rel := "requests/" + q.ID + "/late.json"
	if d := r.Snap.In(rel); !d.Absent() || w.Fresh {
		return
	}
	v := gate.Judge(r.judging(q, f))
	if v.Wait {
		r.Hold(v.Holding...)
	}
	if v.Problem != "" {
		r.Notes.Add(f.Dir+"/problem.md", v.Problem)
	}
	if v.Answer == nil {
		return
	}
	a := v.Answer
	w.Put(rel, encoded(Late{
		RequestID: q.ID, ReceivedAt: seconds(r.Snap.Now), Response: orWord(a.Response, optAppropriate), Selected: a.Selected,
		Comment: a.Comment, ProvidedBy: By{User: a.By.User, Source: a.By.Source}, Digest: a.Digest,
	}))
}

// lateAnswer is late.json, nil while there is none.
func (r *reading) lateAnswer() *Late {
	q := r.hitl()
	if q == nil || q.Status != gate.Expired {
		return nil
	}
	return once(r, "late", func() *Late {
		ok := true
		return readInto[Late](r, "requests/"+q.ID+"/late.json", "optimizer/late", &ok)
	})
}

// lateUnsure reports whether there is a late.json that cannot be used now: then nobody
// knows all rows that are owed.
func (r *reading) lateUnsure() bool {
	q := r.hitl()
	return q != nil && q.Status == gate.Expired && !r.Snap.In("requests/"+q.ID+"/late.json").Absent() && r.lateAnswer() == nil
}

// owedRows are the rows that the state owes to the audit database.
func (r *reading) owedRows() []Row {
	st := r.st
	at := st.Last.At // of a final state
	if st.Report != nil {
		at = st.Report.At
	}
	rows := []Row{auditRow(st, string(st.AuditID), r.Snap.Dir, at)}
	have := r.audit.row(string(st.AuditID))
	refused := have != nil && have.Outcome == rowRefused
	if q := r.hitl(); st.FeedbackID != "" && q != nil {
		rows = append(rows, feedbackRow(st, string(st.FeedbackID), userOf(q.By, q.KnownAs), st.Last.At, refused))
	}
	if late := r.lateAnswer(); late != nil {
		id := rowID(feedbackPrefix, r.Snap.Key.ID, st.Revision, purposeLate, late.ReceivedAt)
		rows = append(rows, lateRow(st, *late, id, userOf(&late.ProvidedBy, nil), refused))
	}
	return rows
}

// standNotes are about requests: answers to what nobody asks, and those that came
// after the request was closed.
func (r *reading) standNotes() {
	for _, f := range r.folders {
		q := r.st.request(f.ID)
		switch {
		case q == nil && f.Receipt == nil && !f.BadReceipt:
			if f.Request != nil && gate.After(gate.Receipt{RequestID: f.ID}, gate.Asked{Request: *f.Request, Dir: f.Dir, Docs: f.Docs}) != "" {
				r.Notes.Add(f.Dir+"/problem.md", "this answer moves nothing: the cycle asks nothing under this id; answer a request that is open, and remove this folder")
			}
		case q != nil && q.Status != open && f.Receipt != nil:
			r.afterClosing(q, f)
		}
	}
}

// afterClosing says what is wrong with an answer to a closed request.
func (r *reading) afterClosing(q *Request, f *gate.Folder) {
	words := gate.After(q.receipt(), r.judging(q, f))
	if words == "" {
		return
	}
	if q.Type == typeHITL && q.Status == gate.Expired && r.lateAnswer() != nil {
		words += "\n\n" + r.words("late.kept")
	}
	r.Notes.Add(f.Dir+"/problem.md", words)
}

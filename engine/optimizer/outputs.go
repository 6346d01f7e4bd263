package optimizer

import (
	"cmp"

	"placet/engine"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
)

// outputs plans what a state calls for besides requests. A run without a cycle may take up an open
// goal.
func (r *cycle) outputs(w *run.Outputs) {
	if !r.run.Begun {
		reenter(r, w)
		return
	}
	st := r.run.State
	collect(r, w)
	attempting(r, w)
	if st.Decision != nil {
		w.Once("decision.json", st.Last.Event == decided, func() []byte { return decisionJSON(st) })
	}
	if st.Report != nil {
		reportOutput(r, w)
	}
	// goal.json does not name its run. It is written after the receipt and the state are durable,
	// so that it never exists too early.
	if st.Goal != nil && !w.Fresh {
		w.Once("goal.json", false, func() []byte { return run.Encoded(st.Goal) })
		if r.cfg.WriteResult {
			w.Once("optimizer_result.json", false, func() []byte { return resultJSON(st) })
		}
		lateOutput(r, w)
		ticketOutputs(r, w)
	}
	recording(r, w)
}

// foreign reports whether somebody else wrote a document in the place of one of placet's. Most
// foreign documents fail their schema where they are read.
func (r *cycle) foreign(d engine.Document) bool {
	var by struct {
		RunID string `json:"run_id"`
	}
	return d.Kind == layout.OptimizerKindDecision && (schemas.Decode("optimizer/decision", d.Path, d.Body, &by) != nil || by.RunID != r.run.State.RunID)
}

// reportOutput plans the report. The transition that makes the report replaces a leftover file;
// later passes write it only if it is missing and its inputs have not changed.
func reportOutput(r *cycle, w *run.Outputs) {
	rel := r.run.Snap.Rel(r.run.State.Report.Path)
	d := r.run.Snap.In(rel)
	now := w.Fresh && r.run.State.Status == Reporting
	if !d.Absent() && !(now && d.Present() && d.Sum.Hex() != r.run.State.Report.SHA256) {
		return
	}
	if body, ok := reportBody(r); ok {
		w.Put(rel, body)
	}
}

// decisionJSON returns decision.json: the decision as it was first made.
func decisionJSON(st State) []byte {
	d := *st.Decision
	first := decide(d.Signals, nil, nil, st.Lang)
	escalation := first.EscalationNeeded || d.GoalLevel != nil && *d.GoalLevel != d.SignalLevel
	return run.Encoded(schemas.Object{
		{Name: "run_id", Value: st.RunID}, {Name: "workflow_name", Value: st.WorkflowName}, {Name: "automation_level", Value: d.AutomationLevel},
		{Name: "rationale", Value: d.Rationale}, {Name: "escalation_needed", Value: escalation},
		{Name: "recommended_level", Value: d.RecommendedLevel}, {Name: "signals", Value: d.Signals},
		{Name: "signal_level", Value: d.SignalLevel}, {Name: "goal_level", Value: d.GoalLevel},
	})
}

// lateOutput records the first valid answer that came after the deadline.
func lateOutput(r *cycle, w *run.Outputs) {
	q := expiredRequest(r)
	if q == nil || !r.run.Snap.In(lateFile(q)).Absent() {
		return
	}
	if a := r.run.LateAnswer(q); a != nil {
		w.Put(lateFile(q), run.Encoded(Late{
			RequestID: q.ID, ReceivedAt: run.Seconds(r.run.Snap.Now), Response: cmp.Or(a.Response, optAppropriate), Selected: a.Selected,
			Comment: a.Comment, ProvidedBy: By{User: a.By.User, Source: a.By.Source}, Digest: a.Digest,
		}))
	}
}

// given returns the answer about the report that a late answer contains.
func (l Late) given() Given {
	return Given{Response: l.Response, Selected: l.Selected, Comment: l.Comment}
}

// owedRows returns the rows that the state calls for in the audit database.
func owedRows(r *cycle) []Row {
	st := r.run.State
	at := st.Last.At // the time of a final state
	if st.Report != nil {
		at = st.Report.At
	}
	rows := []Row{auditRow(st, string(st.AuditID), r.run.Snap.Dir, at)}
	have := r.audit.row(string(st.AuditID))
	refused := have != nil && have.Outcome == rowRefused
	if q := r.hitl(); st.FeedbackID != "" && q != nil {
		rows = append(rows, feedbackRow(st, string(st.FeedbackID), userOf(q.By, q.KnownAs), st.Last.At, refused, *st.Answer))
	}
	if late := lateAnswer(r); late != nil {
		id := rowID(feedbackPrefix, r.run.Snap.Key.ID, st.Revision, purposeLate, late.ReceivedAt)
		rows = append(rows, feedbackRow(st, id, userOf(&late.ProvidedBy, nil), late.ReceivedAt, refused, late.given()))
	}
	return rows
}

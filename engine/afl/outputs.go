package afl

import (
	"bytes"

	"placet/engine"
	"placet/engine/run"
	"placet/layout"
)

// outputs plans what a state calls for besides requests.
func outputs(r *session, w *run.Outputs) {
	st := r.run.State
	if !r.run.Begun || st.Adopted {
		return
	}
	changesOutput(r, w)
	if st.Approved != nil {
		for _, id := range r.order {
			if cp := r.checkpoint(id); cp.Status != "" {
				checkpointOutputs(cp, w)
			}
		}
		w.Always("delegations/status.json", statusJSON(st))
	}
	if isFinal(st.Status) && firstUnfinished(r) == "" {
		w.Once("report.md", w.Fresh, func() []byte { return reportMD(st) })
	}
}

// firstUnfinished returns the id of the first checkpoint that is not final, or "".
func firstUnfinished(r *session) string {
	for _, id := range r.order {
		if s := r.checkpoint(id).Status; s != "" && !isFinal(s) {
			return id
		}
	}
	return ""
}

// mark is the beginning of every Markdown file of placet's.
const mark = "<!-- placet afl "

// isForeign reports whether somebody else wrote a document in the place of one of placet's:
// Markdown without placet's first line, or a rendering without placet's name. A schema checks the
// other documents.
func isForeign(d engine.Document) bool {
	switch d.Kind {
	case layout.AFLStatus, layout.AFLRouting:
		by := run.Peek[struct {
			WrittenBy string `json:"written_by"`
		}](d, "")
		return by == nil || by.WrittenBy != "placet"
	case layout.AFLEscalationJSON, layout.AFLVerdict, layout.KindReceipt, layout.KindRequest, layout.KindForm:
		return false
	}
	return !bytes.HasPrefix(d.Body, []byte(mark))
}

// changesOutput plans changes.md while a person's request for changes is open.
func changesOutput(r *session, w *run.Outputs) {
	d, wished := r.run.Snap.In("changes.md"), r.run.State.Specs.wished()
	switch {
	case wished == nil && d.Present() && !isForeign(d):
		w.Plan.Removes = append(w.Plan.Removes, d.Path)
	case wished == nil, d.Absent() && !r.specs.readable:
	default:
		w.Once("changes.md", w.Fresh && !isFinal(r.run.State.Status), func() []byte {
			var lines []string
			for _, f := range r.specs.findings {
				lines = append(lines, f.line())
			}
			return changesMD(r.run.Lang, r.id(), *wished, lines)
		})
	}
}

// checkpointOutputs plans what a checkpoint calls for.
func checkpointOutputs(cp *checkpoint, w *run.Outputs) {
	now := w.Fresh && cp.Revision == cp.r.run.State.Revision
	if cp.LastAttemptAt != "" {
		isNew := cp.Status == InProgress && len(cp.Questions) == 0 && cp.startNumber() == 1
		w.Once(cp.file("prompt.md"), now && isNew, cp.promptMD)
		if cp.answers() > 0 {
			w.Always(cp.file("answer.md"), answerMD(cp.r.run.Lang, cp.r.id(), cp.id, cp.Iteration, cp.Questions))
		}
	}
	for i, h := range cp.History {
		isNew := i == len(cp.History)-1 && h.Timestamp == cp.r.run.State.UpdatedAt
		w.Once(cp.verdictFile(h.Iteration, h.Run), now && isNew, func() []byte { return run.Encoded(cp.verdictOf(h)) })
	}
	for i, f := range cp.Feedback {
		isNew := i == len(cp.Feedback)-1 && cp.Status == Retrying
		w.Once(cp.fileOf(f.Iteration, "feedback.md"), now && isNew, func() []byte { return cp.feedbackMD(f) })
	}
	if cp.Escalation != nil {
		escalationOutputs(cp, w)
	}
	w.Always(cp.rel("status.json"), checkpointStatusJSON(cp.r.run.State, cp.id))
	w.Always(cp.rel("routing.json"), routingJSON(cp.r.run.State, cp.id))
}

// startNumber returns the number of the worker's current start, 0 for none.
func (c *Checkpoint) startNumber() int {
	if c.Worker == nil {
		return 0
	}
	return c.Worker.Number
}

// runNumber returns the number of the current run, 0 for none.
func (c *Checkpoint) runNumber() int {
	if c.Run == nil {
		return 0
	}
	return c.Run.Number
}

// escalationOutputs plans the report of a checkpoint's last escalation. While a person is being
// asked, it keeps the report equal to the one in the request, even if a power cut damaged the
// files. Afterwards it only replaces a missing report, and notes a changed one.
func escalationOutputs(cp *checkpoint, w *run.Outputs) {
	md, report := cp.r.run.Snap.In(cp.rel("escalation.md")), cp.r.run.Snap.In(cp.rel("escalation.json"))
	q := cp.r.run.Request(cp.Escalation.RequestID)
	isAsked := q != nil && q.Status == run.Open
	if report.Unsettled() || !isAsked && !md.Absent() && !report.Absent() && !isOfAnother(cp, report) {
		w.Note(md)
		readEscalationReport(cp)
		return
	}
	data := escalationOf(cp)
	w.Always(cp.rel("escalation.md"), escalationMD(data))
	w.Always(cp.rel("escalation.json"), escalationJSON(data))
}

// isOfAnother reports whether an escalation.json belongs to an earlier escalation.
func isOfAnother(cp *checkpoint, report engine.Document) bool {
	of := run.Peek[struct {
		RequestID string `json:"request_id"`
	}](report, "afl/escalation")
	return of != nil && of.RequestID != cp.Escalation.RequestID
}

package afl

import (
	"bytes"

	"placet/engine"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
)

// outputs are what a state calls for besides requests.
func (r *session) outputs(w *run.Outputs) {
	st := r.State
	if !r.Begun || st.Adopted {
		return
	}
	r.changesOutput(w)
	if st.Approved != nil {
		for _, id := range r.order {
			if c := st.Checkpoints[id]; c != nil {
				r.checkpointOutputs(w, id, c)
			}
		}
		w.Always("delegations/status.json", statusJSON(st))
	}
	if _, unfinished := r.unfinished(); final(st.Status) && !unfinished {
		w.Once("report.md", w.Fresh, func() []byte { return reportMD(st) })
	}
}

// unfinished is the first checkpoint that is not over.
func (r *session) unfinished() (string, bool) {
	for _, id := range r.order {
		if c := r.checkpoint(id); c != nil && !over(c.Status) {
			return id, true
		}
	}
	return "", false
}

// mark is how placet's own Markdown begins.
const mark = "<!-- placet afl "

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

// changesOutput plans what a person asked to change, for as long as it is asked.
func (r *session) changesOutput(w *run.Outputs) {
	ch := r.State.Specs.ChangesRequested
	d := r.Snap.In("changes.md")
	if ch == nil || ch.Digest != r.State.Specs.Digest {
		if d.Present() && !foreign(d) {
			w.Plan.Removes = append(w.Plan.Removes, d.Path)
		}
		return
	}
	if d.Absent() && !r.specs.readable {
		return
	}
	var lines []string
	for _, f := range r.specs.findings {
		lines = append(lines, f.line())
	}
	w.Once("changes.md", w.Fresh && !final(r.State.Status), func() []byte { return changesMD(r.lang(), r.sessionID(), *ch, lines) })
}

// checkpointOutputs plans what a checkpoint calls for.
func (r *session) checkpointOutputs(w *run.Outputs, id string, c *Checkpoint) {
	now := w.Fresh && c.Revision == r.State.Revision
	if c.LastAttemptAt != "" {
		w.Once(place(id, c.Iteration, "prompt.md"), now && c.Status == InProgress && len(c.Questions) == 0 && startNumber(c) == 1,
			func() []byte { return r.promptMD(id) })
		if body := r.answerMD(id, c); body != nil {
			w.Always(place(id, c.Iteration, "answer.md"), body)
		}
	}
	for i, h := range c.History {
		w.Once(verdictDoc(id, h.Iteration, h.Run), now && i == len(c.History)-1 && h.Timestamp == r.State.UpdatedAt, func() []byte {
			return r.verdictOf(id, h).encode()
		})
	}
	for i, f := range c.Feedback {
		last := now && i == len(c.Feedback)-1 && c.Status == Retrying
		w.Once(place(id, f.Iteration, "feedback.md"), last, func() []byte { return r.feedbackMD(id, f) })
	}
	if c.Escalation != nil {
		r.escalationOutputs(w, id, c.Escalation)
	}
	dir := "delegations/" + id + "/"
	w.Always(dir+"status.json", checkpointStatusJSON(r.State, id))
	w.Always(dir+"routing.json", routingJSON(r.State, id))
}

func startNumber(c *Checkpoint) int {
	if c.Worker == nil {
		return 0
	}
	return c.Worker.Number
}

// escalationOutputs plans the report of a checkpoint's last escalation. While a person is
// asked it is the one that the request shows, whatever a power cut left of either
// file; later it is written only where it is gone, and one that was changed is noted.
func (r *session) escalationOutputs(w *run.Outputs, id string, e *Escalation) {
	dir := "delegations/" + id + "/"
	md, report := r.Snap.In(dir+"escalation.md"), r.Snap.In(dir+"escalation.json")
	q := r.Request(string(e.RequestID))
	asked := q != nil && q.Status == run.Open
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

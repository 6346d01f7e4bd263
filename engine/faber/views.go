package faber

import (
	"sort"
	"strings"

	"placet/engine/gate"
	"placet/templates"
)

// resumes reports whether an answer waits to be taken up: the run goes on from
// a resume point that placet set, and no event of upstream says that it did.
func (r *reading) resumes() bool { return r.pointed() && r.proven(r.st.ResumePoint.RequestID) }

// pointed reports whether the state says that an answer waits to be taken up.
func (r *reading) pointed() bool {
	rp := r.st.ResumePoint
	return r.stateErr == "" && r.status == InProgress && rp != nil && rp.RequestID != "" && rp.Action != "" && !r.takenUp(rp.RequestID)
}

// proven reports whether placet may act on the answer to a request of the past: whoever
// writes the state can write an answer into it, so a gate that asks for more than that
// asks for placet's own receipt.
func (r *reading) proven(id string) bool {
	c, a := r.Snap.Facts.Config, r.askeds[id]
	if a == nil {
		a = &asked{Folder: gate.EmptyFolder(r.Snap.Dir, id)}
	}
	if !gate.Demands(gate.GateOf(c, "faber", a.Doc)) {
		return true
	}
	return a.Receipt != nil && gate.Unverified(c, "faber", a.Doc, a.ReceiptDoc, *a.Receipt) == ""
}

// takenUp reports whether an event by others, numbered after the answer's
// events, shows that an agent went on.
func (r *reading) takenUp(requestID string) bool {
	after := 0
	for _, e := range r.marked {
		if e.Type == "feedback_received" && e.Metadata.RequestID == requestID || e.ours() && e.Metadata.Placet.Revision == r.rev {
			after = max(after, e.Number)
		}
	}
	if after == 0 {
		return false
	}
	later := sort.Search(len(r.events), func(i int) bool { return r.events[i].Number > after })
	for _, e := range r.events[later:] {
		if e.ours() {
			continue
		}
		switch e.Type {
		case "step_start", "step_complete", "step_error", "phase_start", "phase_complete":
			return true
		}
		if strings.HasPrefix(e.Type, "workflow_") {
			return true
		}
	}
	return false
}

// resume renders resume.md; stop is the line that says to stop and ask.
func (r *reading) resume(stop string) []byte {
	rp := r.st.ResumePoint
	data := templates.ResumeData{
		RunID: r.runID(), Revision: r.rev, Phase: rp.Phase, Step: rp.Step, Feedback: "none",
		Action: rp.Action, Position: rp.Position, Stop: stop,
	}
	if h := r.st.answerTo(rp.RequestID); h != nil {
		data.Feedback, data.Comment = oneLine(h.Response, 200), h.Comment
		if disagrees(h) {
			data.Refused = templates.Phrase(r.language(), "faber.resume.refused", "response", templates.Code(oneLine(h.Response, 200)))
		}
		if a := r.askeds[rp.RequestID]; a != nil && a.Request != nil && a.Request.FreeText() && data.Comment == "" {
			data.Comment = h.Response
		}
	}
	return r.render("faber/resume", data)
}

func (r *reading) render(name string, data any) []byte {
	text, err := templates.Render(r.language(), name, data)
	if err != nil {
		panic("faber: cannot render " + name + ": " + err.Error())
	}
	return []byte(text)
}

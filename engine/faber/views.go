package faber

import (
	"sort"
	"strings"

	"placet/engine/gate"
	"placet/layout"
	"placet/templates"
)

// handover is what an agent goes on by.
type handover struct{ *closings }

// resumes reports whether an answer waits to be taken up: the run goes on from
// a resume point that placet set, and no event of upstream says that it did.
func (r *handover) resumes() bool { return r.goesOn() && !r.takenUp(r.State.ResumePoint.RequestID) }

// goesOn reports whether the run is on its way from an answer to the next request or its
// end. An agent may have to take it up again at any moment of it.
func (r *handover) goesOn() bool { return r.pointed() && r.proven(r.State.ResumePoint.RequestID) }

// pointed reports whether the state says that the run goes on from an answer.
func (r *handover) pointed() bool {
	rp := r.State.ResumePoint
	return r.State.unfit == "" && r.State.status == InProgress && rp != nil && rp.RequestID != "" && rp.Action != ""
}

// proven reports whether placet may act on the answer to a request of the past: whoever
// writes the state can write an answer into it, so a gate that asks for more than that
// asks for placet's own receipt.
func (r *handover) proven(id string) bool {
	c, a := r.Snap.Facts.Config, r.Folder(id)
	if !gate.Demands(gate.GateOf(c, "faber", a.Doc)) {
		return true
	}
	return a.Receipt != nil && gate.Unverified(c, "faber", a.Doc, a.ReceiptDoc, *a.Receipt) == ""
}

// takenUp reports whether an event by others, numbered after the answer's
// events, shows that an agent went on.
func (r *eventLog) takenUp(requestID string) bool {
	after := 0
	for _, e := range r.marked {
		if e.Type == "feedback_received" && e.Metadata.RequestID == requestID || e.ours() && e.Metadata.Placet.Revision == r.State.rev {
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

// resume renders resume.md.
func (r *handover) resume() []byte {
	rp := r.State.ResumePoint
	data := templates.ResumeData{
		RunID: r.runID(), Revision: r.State.rev, Phase: rp.Phase, Step: rp.Step, Feedback: "none",
		Action: rp.Action, Position: rp.Position, Stop: r.stop(),
	}
	if h := r.State.answerTo(rp.RequestID); h != nil {
		data.Feedback, data.Comment = oneLine(h.Response, 200), h.Comment
		if disagrees(h) {
			data.Refused = templates.Phrase(r.language(), "faber.resume.refused", "response", templates.Code(oneLine(h.Response, 200)))
		}
		if a := r.Folder(rp.RequestID); a.Request != nil && a.Request.FreeText() && data.Comment == "" {
			data.Comment = h.Response
		}
	}
	return r.render("faber/resume", data)
}

// watch is where the agent shows that it goes on.
func (r *view) watch() []string {
	if r.Begun && !r.isClosed() && !r.foreign() && r.resumes() {
		return []string{r.Path("events")}
	}
	return nil
}

// needs are the files outside the run's folder that the state calls for.
func (r *view) needs() []string {
	if r.State.status == "" || final(r.State.status) {
		return nil
	}
	needs := r.definitionNeeds()
	q, ok := r.question()
	if ok {
		needs = append(needs, artifactNeeds(q)...)
	}
	if r.goesOn() && !r.foreign() {
		needs = append(needs, r.contextNeeds()...)
	}
	if len(r.Snap.Lacks(needs)) > 0 || r.eventsOpen {
		return needs
	}
	if need := r.committedNeed(); need != "" {
		if needs = append(needs, need); !r.Snap.Has(need) {
			return needs
		}
	}
	return append(needs, r.resumeNeeds()...)
}

// resumeNeeds are the files that resume.md hangs on where an answer is taken now.
func (r *view) resumeNeeds() []string {
	spec := r.spec()
	if a := r.answered(); !layout.Safe(spec) || r.foreign() || a == nil || a.e.deed == nil || a.e.to != InProgress {
		return nil
	}
	return []string{spec}
}

func (r *handover) render(name string, data any) []byte {
	text, err := templates.Render(r.language(), name, data)
	if err != nil {
		panic("faber: cannot render " + name + ": " + err.Error())
	}
	return []byte(text)
}

package faber

import (
	"slices"
	"sort"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/layout"
	"placet/templates"
)

// resumes reports whether an answer waits to be taken up: the run goes on from
// a resume point that placet set, and no event of upstream says that it did.
func (r *reading) resumes() bool { return r.goesOn() && !r.takenUp(r.st.ResumePoint.RequestID) }

// goesOn reports whether the run is on its way from an answer to the next request or its
// end. An agent may have to take it up again at any moment of it.
func (r *reading) goesOn() bool { return r.pointed() && r.proven(r.st.ResumePoint.RequestID) }

// pointed reports whether the state says that the run goes on from an answer.
func (r *reading) pointed() bool {
	rp := r.st.ResumePoint
	return r.stateErr == "" && r.status == InProgress && rp != nil && rp.RequestID != "" && rp.Action != ""
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

// resume renders resume.md.
func (r *reading) resume() []byte {
	rp := r.st.ResumePoint
	data := templates.ResumeData{
		RunID: r.runID(), Revision: r.rev, Phase: rp.Phase, Step: rp.Step, Feedback: "none",
		Action: rp.Action, Position: rp.Position, Stop: r.stop(),
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

// addResume adds resume.md to a transition after which an agent goes on: it stands before
// the state says so. needs are the files that it hangs on; ok is false while the
// transition has to wait for one of them.
func (r *reading) addResume(p *engine.Plan) (needs []string, ok bool) {
	after := r.after(*p)
	if after.foreign() || !after.resumes() {
		return nil, true
	}
	if spec := r.spec(); layout.Safe(spec) {
		needs = append(needs, spec)
	}
	if r.resumeBusy() {
		r.Held = true
		return needs, false
	}
	p.NextNeeds = after.contextNeeds()
	after.view(p, "resume.md", layout.FaberResume, after.resume())
	return needs, true
}

// after is the run as a plan will have made it.
func (r *reading) after(p engine.Plan) *reading {
	docs := slices.Clone(r.Snap.Docs)
	for _, d := range p.Writes {
		d.Sum, d.Changed = engine.Sum(d.Body), r.Snap.Now
		i, there := slices.BinarySearchFunc(docs, d.Path, func(d engine.Document, p string) int { return strings.Compare(d.Path, p) })
		if there {
			d.Issued = append(slices.Clone(docs[i].Issued), d.Sum)
			docs[i] = d
			continue
		}
		d.Issued = []engine.Digest{d.Sum}
		docs = slices.Insert(docs, i, d)
	}
	s := r.Snap
	s.Docs = docs
	return read(s)
}

func (r *reading) render(name string, data any) []byte {
	text, err := templates.Render(r.language(), name, data)
	if err != nil {
		panic("faber: cannot render " + name + ": " + err.Error())
	}
	return []byte(text)
}

package faber

import (
	"cmp"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/layout"
	"placet/templates"
)

// outputs plans what the state calls for and is missing. It is a function of the state, the same
// after a transition, after a crash, and after somebody deleted a file.
func outputs(r *view, w *run.Outputs) {
	p := &w.Plan
	if w.Fresh && !r.foreign() && r.resumes() {
		p.NextNeeds = append(contextNeeds(r), contextQuotes(r)...)
		r.put(p, "resume.md", layout.FaberResume, resumeFile(r))
	}
	if w.Fresh || r.isClosed() || r.state.unfit != nil {
		return
	}
	requestOutputs(r, p)
	closeRequests(r, p)
	eventOutputs(r, p)
	commentOutputs(r, p)
	if len(p.Writes) == 0 {
		// The views quote receipts and events, so those must be written first.
		viewOutputs(r, p)
		gateOutputs(r, p)
	}
}

// isClosed reports whether placet cannot write into the run, now or ever.
func (r *view) isClosed() bool {
	return !r.run.Begun || r.events.open || r.foreign() && r.question() == nil && len(r.run.Folders) == 0
}

// notes writes notes about what blocks the run.
func notes(r *view) {
	if r.isClosed() {
		return
	}
	if r.state.unfit != nil {
		r.Notes.Beside(r.doc.Path, templates.In(r.Lang, r.state.unfit))
	}
	standNotes(r)
}

// mayNote restricts notes on a foreign run to the folders of its requests.
func (r *view) mayNote(note string) bool {
	return !r.foreign() || strings.HasPrefix(r.Snap.Rel(note), layout.RequestsDir+"/")
}

// requestOutputs plans the files of the request that the state asks.
func requestOutputs(r *view, p *engine.Plan) {
	o := r.asked()
	if o == nil {
		return
	}
	if o.nowhere() {
		r.Notes.Beside(r.doc.Path, r.Say(noPlace))
	}
	if !o.q.isOpen() || o.altered != "" || o.q.artifactsBusy() {
		return
	}
	if d, ok := o.voids(); ok {
		p.Writes = append(p.Writes, d)
		return
	}
	if o.folder.Receipt != nil {
		return
	}
	p.Writes = append(p.Writes, o.files()...)
	if o.q.forStatus == Awaiting {
		r.emit(p, o.req.Revision, r.lastAt(), o.openingEvents())
	}
	o.postOutputs(p)
}

// noPlace is the key of the problem that a state asks and does not say where the run continues.
const noPlace templates.Key = "faber.note.place"

// nowhere reports whether it is unknown where the run continues after the answer.
func (o *request) nowhere() bool { return o.q.phase == "" || o.q.step == "" }

// lastAt returns the time of the transition that made the current revision.
func (r *view) lastAt() time.Time {
	if r.state.Last == nil || r.state.Last.At.Time().IsZero() {
		return r.Snap.Now
	}
	return r.state.Last.At.Time()
}

// eventOutputs plans the events of the transition that made the current revision, if a crash lost
// them, and .next-id.
func eventOutputs(r *view, p *engine.Plan) {
	if r.foreign() || r.state.Last == nil {
		return
	}
	var list []newEvent
	switch edge := r.state.Last.Event; {
	case edge == cancelAsked:
		var c Cancel
		if r.Decode(r.Snap.In("cancel.json"), "faber/cancel", &c) {
			list = cancelEvents(c.By, r.state.Last.Reason)
		}
	case edge == expired || strings.HasPrefix(edge, "answered_"):
		list = lastAnswerEvents(r)
	default:
		return
	}
	r.emit(p, r.state.rev, r.lastAt(), list)
}

// lastAnswerEvents returns the events of the answer that made the current revision according to its
// receipt.
func lastAnswerEvents(r *view) []newEvent {
	for _, a := range r.run.Folders {
		if a.Receipt == nil || a.Receipt.Revision != r.state.rev || a.Request == nil || a.Receipt.Response == "" || elsewhere.Says(a.Receipt.Reason) {
			continue
		}
		o, ans := r.past(a), &answer{}
		ans.Response, ans.Comment, ans.By = a.Receipt.Response, a.Receipt.Comment, a.Receipt.ProvidedBy
		action := outcomeOf(o.req, ans.Response).action
		if h := r.state.answerTo(a.ID); h != nil {
			action = cmp.Or(h.Action, action) // the action that was carried out
		}
		return o.events(ans, action)
	}
	return nil
}

// standNotes explains, in the folder of a closed request, why a later answer there moves nothing.
func standNotes(r *view) {
	for _, a := range r.run.Folders {
		if a.Receipt == nil || a.Request == nil || r.asks(a.ID) || !gate.Others(*a.Receipt, a.Docs) {
			continue
		}
		if text := gate.After(*a.Receipt, r.past(a).evaluation()); text != "" {
			r.Notes.Add(a.Dir+"/problem.md", text)
		}
	}
}

// viewOutputs plans resume.md and the resume command until an agent acts on the answer, and
// context.md as long as the run continues from that answer: an agent whose session ends has no
// other source.
func viewOutputs(r *view, p *engine.Plan) {
	if r.foreign() {
		return
	}
	resumes := r.resumes()
	if !resumes {
		removeView(r, p, "resume.md")
	}
	if !r.goesOn() {
		removeView(r, p, "context.md")
		return
	}
	if r.resumeBusy() {
		return
	}
	if resumes {
		r.put(p, "resume.md", layout.FaberResume, resumeFile(r))
	}
	if contextBusy(r) {
		return
	}
	if isContextDue(r) {
		r.put(p, "context.md", layout.FaberContext, contextFile(r))
	}
	if resumes {
		resumeCommand(r, p)
	}
}

// removeView plans the removal of a view whose first line shows that placet wrote it.
func removeView(r *view, p *engine.Plan, name string) {
	if d := r.Snap.In(name); d.Present() && strings.HasPrefix(string(d.Body), "<!-- placet faber ") {
		p.Removes = append(p.Removes, d.Path)
	}
}

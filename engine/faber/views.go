package faber

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
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
	for _, e := range slices.Backward(r.events) {
		if e.Number <= after {
			return false
		}
		if !e.ours() && (slices.Contains(takingUp, e.Type) || strings.HasPrefix(e.Type, "workflow_")) {
			return true
		}
	}
	return false
}

// takingUp are the events, besides those of the workflow, by which an agent goes on.
var takingUp = []string{"step_start", "step_complete", "step_error", "phase_start", "phase_complete"}

// resume renders resume.md.
func (r *handover) resume() []byte {
	rp := r.State.ResumePoint
	data := templates.ResumeData{
		RunID: r.Snap.Key.ID, Revision: r.State.rev, Phase: rp.Phase, Step: rp.Step, Feedback: "none",
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

// viewOutputs are resume.md and the resume command, while an answer waits to be taken
// up, and context.md for as long as the run goes on from it: an agent whose session
// ends has nothing else to go by.
func (r *handover) viewOutputs(p *engine.Plan) {
	if r.foreign() {
		return
	}
	resumes := r.resumes()
	if !resumes {
		r.removeView(p, "resume.md")
	}
	if !r.goesOn() {
		r.removeView(p, "context.md")
		return
	}
	if r.resumeBusy() {
		return
	}
	if resumes {
		r.put(p, "resume.md", layout.FaberResume, r.resume())
	}
	if r.contextBusy() {
		return
	}
	if r.isContextDue() {
		r.put(p, "context.md", layout.FaberContext, r.context())
	}
	if resumes {
		r.resumeCommand(p)
	}
}

// removeView plans the end of a view that is placet's: its first line says so.
func (r *handover) removeView(p *engine.Plan, name string) {
	if d := r.Snap.In(name); d.Present() && strings.HasPrefix(string(d.Body), "<!-- placet faber ") {
		p.Removes = append(p.Removes, d.Path)
	}
}

// resumeLimit is how long a resume command may run.
const resumeLimit = 24 * time.Hour

// resumeCommand begins the configured command once per revision, behind trust.
// The attempt is recorded first; an attempt without outcome is never repeated.
func (r *handover) resumeCommand(p *engine.Plan) {
	argv := r.cfg.Resume.Command
	if len(argv) == 0 || r.stop() != "" || !r.Snap.Facts.Trusted[CommandDigest(argv)] {
		return
	}
	dir := fmt.Sprintf("actions/resume-r%d", r.State.rev)
	attempt := r.Snap.In(dir + "/attempt.json")
	if !attempt.Absent() {
		return
	}
	rp := r.State.ResumePoint
	started := schemas.Object{
		{Name: "revision", Value: r.State.rev}, {Name: "request_id", Value: rp.RequestID}, {Name: "argv", Value: argv},
		{Name: "started_at", Value: millis(r.Snap.Now)}, {Name: "deadline", Value: seconds(r.Snap.Now.Add(resumeLimit))},
	}
	p.Writes = append(p.Writes, engine.Document{Path: attempt.Path, Kind: layout.FaberAttempt, Body: run.Must(schemas.Encode(started))})
	p.Actions = append(p.Actions, engine.Action{
		ID:      r.actionID(dir),
		Outcome: r.Path(dir + "/outcome.json"),
		Kind:    layout.FaberOutcome,
		Fields:  []engine.Field{{Name: "revision", Value: r.State.rev}},
		Command: engine.Command{
			Argv: argv, Dir: ".", Stdin: r.resume(), Timeout: resumeLimit, Agent: true,
			Env: []string{
				"PLACET_RUN_ID=" + r.Snap.Key.ID, "PLACET_RUN_DIR=" + r.Snap.Dir, "PLACET_PHASE=" + rp.Phase,
				"PLACET_STEP=" + rp.Step, "PLACET_ACTION=" + rp.Action,
			},
		},
	})
}

// actionID is that of the command whose attempt is recorded in a folder.
func (r *handover) actionID(dir string) string { return r.Actions() + path.Base(dir) }

// lostAttempts are attempts of the resume command that have no outcome and do
// not run: a person has to look.
func (r *handover) lostAttempts() (lost []string) {
	for _, d := range r.Snap.Under("actions") {
		dir := path.Dir(d.Path)
		if d.Kind == layout.FaberAttempt && r.Snap.Doc(dir+"/outcome.json").Absent() && !r.Snap.Facts.Alive[r.actionID(dir)] {
			lost = append(lost, d.Path)
		}
	}
	return lost
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
	if q, ok := r.question(); ok {
		for _, d := range r.artifactDocs(q) {
			needs = append(needs, "still:"+d.Path) // what is shown must have stood still
		}
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
	if a := r.answered(); !layout.Safe(spec) || r.foreign() || a == nil || a.e.outcome == nil || a.e.to != InProgress {
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

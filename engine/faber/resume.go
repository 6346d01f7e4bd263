package faber

import (
	"fmt"
	"path"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// resumes reports whether no agent has acted on an answer yet: the run continues from a resume
// point of placet's, and no event of upstream's shows that it did.
func (r *view) resumes() bool {
	return r.goesOn() && !r.events.takenUp(r.state.ResumePoint.RequestID, r.state.rev)
}

// goesOn reports whether the run is between an answer and the next request or its end. An agent may
// have to continue it at any time.
func (r *view) goesOn() bool { return r.state.pointed() && r.proven(r.state.ResumePoint.RequestID) }

// proven reports whether placet may act on the answer to a past request. Whoever writes the state
// can write an answer into it, so a gate that asks for more than a claim requires placet's own
// receipt.
func (r *view) proven(id string) bool {
	c, a := r.Snap.Facts.Config, r.run.Folder(id)
	if !gate.Demands(gate.GateOf(c, "faber", a.Doc)) {
		return true
	}
	return a.Receipt != nil && gate.Unverified(c, "faber", a.Doc, a.ReceiptDoc, *a.Receipt) == nil
}

// resumeFile renders resume.md.
func resumeFile(r *view) []byte {
	rp := r.state.ResumePoint
	data := templates.ResumeData{
		RunID: r.Snap.Key.ID, Revision: r.state.rev, Phase: rp.Phase, Step: rp.Step, Feedback: "none",
		Action: rp.Action, Position: rp.Position, Stop: stop(r),
	}
	if h := r.state.answerTo(rp.RequestID); h != nil {
		data.Feedback, data.Comment = oneLine(h.Response, 200), h.Comment
		if disagrees(h) {
			data.Refused = r.Say("faber.resume.refused", "response", templates.Code(oneLine(h.Response, 200)))
		}
		if a := r.run.Folder(rp.RequestID); a.Request != nil && a.Request.FreeText() && data.Comment == "" {
			data.Comment = h.Response
		}
	}
	return render(r, "faber/resume", data)
}

// resumeLimit is how long a resume command may run.
const resumeLimit = 24 * time.Hour

// resumeCommand begins the configured command once per revision, if it is trusted. It records the
// attempt first, and never repeats an attempt without an outcome.
func resumeCommand(r *view, p *engine.Plan) {
	argv := r.cfg.Resume.Command
	if len(argv) == 0 || stop(r) != "" || !r.Snap.Facts.Trusted[CommandDigest(argv)] {
		return
	}
	dir := fmt.Sprintf("actions/resume-r%d", r.state.rev)
	attempt := r.Snap.In(dir + "/attempt.json")
	if !attempt.Absent() {
		return
	}
	rp := r.state.ResumePoint
	started := schemas.Object{
		{Name: "revision", Value: r.state.rev}, {Name: "request_id", Value: rp.RequestID}, {Name: "argv", Value: argv},
		{Name: "started_at", Value: run.Millis(r.Snap.Now)}, {Name: "deadline", Value: run.Seconds(r.Snap.Now.Add(resumeLimit))},
	}
	p.Writes = append(p.Writes, engine.Document{Path: attempt.Path, Kind: layout.FaberAttempt, Body: run.Must(schemas.Encode(started))})
	p.Actions = append(p.Actions, engine.Action{
		ID:      actionID(r, dir),
		Outcome: r.Path(dir + "/outcome.json"),
		Kind:    layout.FaberOutcome,
		Fields:  []engine.Field{{Name: "revision", Value: r.state.rev}},
		Command: engine.Command{
			Argv: argv, Dir: ".", Stdin: resumeFile(r), Timeout: resumeLimit, Agent: true,
			Env: []string{
				"PLACET_RUN_ID=" + r.Snap.Key.ID, "PLACET_RUN_DIR=" + r.Snap.Dir, "PLACET_PHASE=" + rp.Phase,
				"PLACET_STEP=" + rp.Step, "PLACET_ACTION=" + rp.Action,
			},
		},
	})
}

// actionID returns the id of the command whose attempt is recorded in a folder.
func actionID(r *view, dir string) string { return r.run.Actions() + path.Base(dir) }

// lostAttempts returns attempts of the resume command that have no outcome and do not run. A person
// has to check them.
func lostAttempts(r *view) (lost []string) {
	for _, d := range r.Snap.Under("actions") {
		dir := path.Dir(d.Path)
		if d.Kind == layout.FaberAttempt && r.Snap.Doc(dir+"/outcome.json").Absent() && !r.Snap.Facts.Alive[actionID(r, dir)] {
			lost = append(lost, d.Path)
		}
	}
	return lost
}

// resumeBusy reports whether a file that decides if resume.md says stop is unreadable at the moment.
// The answer waits for it: whoever sees the run in progress must find the final resume.md.
func (r *view) resumeBusy() bool {
	sources := []engine.Document{r.Snap.In("issue.json")}
	if spec := r.state.spec(); layout.Safe(spec) {
		sources = append(sources, r.Snap.Doc(path.Clean(spec)))
	}
	return r.anyBusy(sources, "faber.locked.run")
}

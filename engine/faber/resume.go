package faber

import (
	"fmt"
	"path"
	"time"

	"placet/engine"
	"placet/engine/gate"
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

// resumeGrace is how long `placet watch --once` waits for the resume command, to say at once that it failed.
const resumeGrace = 2 * time.Second

// idleLimit is how long an agent may take, after the resume command has ended well, until its first
// event.
const idleLimit = 10 * time.Minute

// resumeAction begins the names of the folders of resume commands.
const resumeAction = "resume-r"

// resumeTries returns the attempts to make an agent continue from the present answer.
func resumeTries(r *view) tries { return r.tries(fmt.Sprint(resumeAction, r.state.rev)) }

// resumeCommand begins the configured command once per revision, if it is trusted.
func resumeCommand(r *view, p *engine.Plan) {
	t := resumeTries(r)
	argv := r.cfg.Resume.Command
	switch {
	case t.state != tryDue:
		r.WakeAt(t.idleAt())
		return
	case len(argv) == 0 || stop(r) != "" || !r.Snap.Facts.Trusted[CommandDigest(argv)]:
		return
	}
	rp := r.state.ResumePoint
	t.begin(r, p, schemas.Object{{Name: "revision", Value: r.state.rev}, {Name: "request_id", Value: rp.RequestID}}, engine.Command{
		Argv: argv, Dir: ".", Stdin: resumeFile(r), Timeout: resumeLimit, Agent: true, Grace: resumeGrace,
		Env: []string{
			"PLACET_RUN_ID=" + r.Snap.Key.ID, "PLACET_RUN_DIR=" + r.Snap.Dir, "PLACET_PHASE=" + rp.Phase,
			"PLACET_STEP=" + rp.Step, "PLACET_ACTION=" + rp.Action,
		},
	})
}

// idleAt returns when a person must see why no agent continues although the command ended well, the
// zero time if it did not.
func (t tries) idleAt() time.Time {
	if at := t.end.FinishedAt.Time(); t.state == tryDone && !at.IsZero() {
		return at.Add(idleLimit)
	}
	return time.Time{}
}

// resumeRequired returns what a person must do because no agent continues from the answer, nil for
// nothing, or while an agent may still begin.
func resumeRequired(r *view) *engine.RequiredAction {
	t := resumeTries(r)
	step := where(r.state.ResumePoint.Phase, r.state.ResumePoint.Step)
	var text templates.Message
	switch t.state {
	case tryDone:
		if r.Snap.Now.Before(t.idleAt()) {
			return nil
		}
		text = templates.NewMessage("faber.required.idle", "step", step)
	case tryLost:
		text = templates.NewMessage("faber.required.resume", "step", step, "why", templates.NewMessage("faber.required.lost"))
	case tryFailed:
		text = templates.NewMessage("faber.required.resume", "step", step, "why", t.why())
	default:
		return nil
	}
	must := engine.RequiredAction{ID: t.folder(), Text: text.In(r.Lang), Since: t.end.FinishedAt.Time()}
	if t.n <= mostAgain {
		must.Command = "faber again " + r.Snap.Key.ID + " " + t.name
	}
	if must.Since.IsZero() {
		must.Since = t.began(r)
	}
	return &must
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

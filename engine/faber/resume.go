package faber

import (
	"fmt"
	"path"
	"time"

	"placet/engine"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
)

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
		ID:      r.actionID(),
		Outcome: r.Path(dir + "/outcome.json"),
		Kind:    layout.FaberOutcome,
		Fields:  []engine.Field{{Name: "revision", Value: r.State.rev}},
		Command: engine.Command{
			Argv: argv, Dir: ".", Stdin: r.resume(), Timeout: resumeLimit, Agent: true,
			Env: []string{
				"PLACET_RUN_ID=" + r.runID(), "PLACET_RUN_DIR=" + r.Snap.Dir, "PLACET_PHASE=" + rp.Phase,
				"PLACET_STEP=" + rp.Step, "PLACET_ACTION=" + rp.Action,
			},
		},
	})
}

func (r *handover) actionID() string {
	return fmt.Sprintf("faber/%s/resume-r%d", r.runID(), r.State.rev)
}

// lostAttempts are attempts of the resume command that have no outcome and do
// not run: a person has to look.
func (r *handover) lostAttempts() []string {
	var lost []string
	for _, d := range r.Snap.Under("actions") {
		dir := path.Dir(d.Path)
		id := fmt.Sprintf("faber/%s/%s", r.runID(), path.Base(dir))
		if d.Kind == layout.FaberAttempt && r.Snap.Doc(dir+"/outcome.json").Absent() && !r.Snap.Facts.Alive[id] {
			lost = append(lost, d.Path)
		}
	}
	return lost
}

package nemawashi

import (
	"fmt"
	"slices"

	"placet/engine"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
)

// outputs plans what the state calls for besides requests and the journal.
func outputs(r *view, w *run.Outputs) {
	if !r.run.Begun {
		return
	}
	receipts(r, w)
	for _, v := range r.run.State.Drafts {
		if words, ok := r.draftText(v); ok && v.Version > 1 {
			w.Once(draftPath(v.Version), w.Fresh && v.At == r.run.State.UpdatedAt, func() []byte { return []byte(words) })
		}
	}
	partFiles(r, w)
	for _, job := range r.run.State.Jobs {
		jobFile(r, w, job)
	}
	if r.run.State.job() == nil || w.Fresh {
		return
	}
	rows(r, w)
	if r.run.State.Status == Executing && r.isHome() {
		attempt(r, w)
	}
}

// partFiles plans the files for the values that are too long for the open request.
func partFiles(r *view, w *run.Outputs) {
	q := r.run.Open(typeApproval)
	if q == nil {
		return
	}
	var shown []heldInFile
	for _, p := range r.shown(q) {
		shown = append(shown, p.files()...)
	}
	if len(shown) == 0 {
		return
	}
	_, files := byFile(r.whole(q))
	for _, f := range files {
		if slices.ContainsFunc(shown, func(h heldInFile) bool { return h.File == f.name && h.SHA256 == string(engine.Sum(f.body)) }) {
			w.Once("requests/"+q.ID+"/"+f.name, q.Revision == r.run.State.Revision, func() []byte { return f.body })
		}
	}
}

// jobFile plans job.json.
func jobFile(r *view, w *run.Outputs, job *Job) {
	w.Once("jobs/"+job.ID+"/job.json", job == r.run.State.job(), func() []byte {
		o := schemas.Object{
			{Name: "job_id", Value: job.ID}, {Name: "thread_id", Value: r.run.State.ThreadID}, {Name: "action_id", Value: r.run.State.ActionID},
			{Name: "approval_request_id", Value: job.Approval},
		}
		if job.RetryOf != "" {
			o = append(o, schemas.Member{Name: "retry_of", Value: job.RetryOf})
		}
		o = append(o, schemas.Member{Name: "simulate_failure", Value: job.Simulated})
		if !job.Override.Null() {
			o = append(o, schemas.Member{Name: "override", Value: job.Override})
		}
		parts := []schemas.Object{}
		for _, p := range partsOf(r, job) {
			if job.part(p.Part) != nil {
				parts = append(parts, append(schemas.Struct(p), schemas.Member{Name: "idempotency_key", Value: fmt.Sprintf("%s-%d", job.ID, p.Part)}))
			}
		}
		return run.Encoded(append(o, schemas.Member{Name: "created_at", Value: job.CreatedAt}, schemas.Member{Name: "parts", Value: parts}))
	})
}

// rows plans the row of every part that has ended.
func rows(r *view, w *run.Outputs) {
	job := r.run.State.job()
	for _, g := range r.progress() {
		if job.Simulated || g.status != partSucceeded && g.status != partFailed {
			return
		}
		w.Once(rowFile(g), false, func() []byte { return row(r, job, g) })
	}
}

func rowFile(g progress) string { return fmt.Sprintf("runs/%d.json", g.row) }

// row returns a part's row in the format of the seed's table external_action_runs.
func row(r *view, job *Job, g progress) []byte {
	at, response := job.CreatedAt, schemas.Raw(nil)
	if g.Last != nil {
		at, response = g.Last.FinishedAt, g.Last.Response
	}
	o := schemas.Object{
		{Name: "run_id", Value: fmt.Sprintf("%d-%d", r.run.State.ActionID, g.row)}, {Name: "action_type", Value: g.Type}, {Name: "status", Value: g.status},
		{Name: "payload", Value: g.Payload}, {Name: "created_at", Value: job.CreatedAt}, {Name: "job_id", Value: job.ID}, {Name: "action_id", Value: r.run.State.ActionID},
		{Name: "provider", Value: g.Provider}, {Name: "response", Value: response}, {Name: "error", Value: text(g.problem.String())}, {Name: "executed_at", Value: at},
		{Name: "part", Value: g.Part.Part},
	}
	if g.resolvedBy != "" {
		o = append(o, schemas.Member{Name: "resolved_by", Value: g.resolvedBy})
	}
	return run.Encoded(o)
}

// attempt plans the next attempt of the part whose turn it is. If an attempt has no outcome by its
// deadline, attempt has the loop record it as lost.
func attempt(r *view, w *run.Outputs) {
	g := r.lowestOpen()
	if g == nil || r.run.State.OpenRequest != nil || r.conf().Still {
		return
	}
	n, id := g.Attempts+1, r.run.Actions()+g.key+"/"
	if g.UnderWay {
		if id += fmt.Sprint(g.Attempts); !r.run.Snap.Facts.Alive[id] && g.Due != "" && r.run.Due(g.Due) {
			w.Resume(sending(r, g, id, g.Attempts, engine.Send{}))
		}
		return
	}
	if g.Due != "" && !r.run.Due(g.Due) {
		return
	}
	send := send(r, g)
	if send.Mail != nil && send.Mail.Calendar != nil || g.Provider == "ics" {
		w.Once(g.Dir+"/event.ics", false, func() []byte { return invitation(r, g) })
	}
	a := Attempt{
		JobID: r.run.State.job().ID, Part: g.Part.Part, Attempt: n, Provider: g.Provider, Target: g.Target, IdempotencyKey: g.key,
		RequestDigest: r.run.State.ApprovalDigest, StartedAt: run.Seconds(r.run.Snap.Now), Deadline: run.Deadline(r.run.Snap.Now, send.Timeout),
	}
	w.Begin(sending(r, g, fmt.Sprintf("%s%d", id, n), n, send), g.AttemptFile(n), run.Encoded(a))
}

// sending returns the action that carries out an attempt.
func sending(r *view, g *progress, id string, n int, send engine.Send) engine.Action {
	return engine.Action{
		ID: id, Send: &send, Outcome: r.run.Path(g.OutcomeFile(n)), Kind: layout.NemawashiOutcome,
		Fields: []engine.Field{{Name: "job_id", Value: r.run.State.job().ID}, {Name: "part", Value: g.Part.Part}, {Name: "attempt", Value: n}, {Name: "provider", Value: g.Provider}},
	}
}

package nemawashi

import (
	"fmt"

	"placet/engine"
	"placet/engine/run"
	"placet/templates"
)

// Attempt is attempt-<n>.json. The commit that writes it begins the attempt.
type Attempt struct {
	JobID          string `json:"job_id"`
	Part           int    `json:"part"`
	Attempt        int    `json:"attempt"`
	Provider       string `json:"provider"`
	Target         string `json:"target"`
	IdempotencyKey string `json:"idempotency_key"`
	RequestDigest  text   `json:"request_digest"`
	StartedAt      text   `json:"started_at"`
	Deadline       text   `json:"deadline"`
}

// outcomeSchema is the schema of the outcomes of attempts.
const outcomeSchema = "nemawashi/outcome"

// progress is the status of a part of the newest job. The state decides if the part has ended,
// otherwise its attempts do.
type progress struct {
	Part
	key    string // the idempotency key
	row    int
	status string
	// problem is why the part failed or is unclear. Documents hold it in English.
	problem templates.Message
	// Sending holds the part's attempts. Its Due is also the time at which the next one may begin.
	run.Sending
	resolvedBy string
}

// simulated is the error of a job that only simulates a failure.
var simulated = templates.NewMessage("nemawashi.failed.simulated")

// progress returns the parts of the newest job.
func (r *view) progress() []progress {
	job := r.run.State.job()
	if job == nil {
		return nil
	}
	return run.Once(r.run, "progress", func() (list []progress) {
		row := rowsBefore(r, job)
		for _, p := range partsOf(r, job) {
			at := job.part(p.Part)
			if at == nil {
				continue
			}
			row++
			list = append(list, progressOf(r, job, at, p, row))
		}
		return list
	})
}

// partsOf returns all parts of a job's approval as they were shown, or with the override of the
// job.
func partsOf(r *view, job *Job) []Part {
	parts := r.approved()
	if !job.Override.Null() {
		if with, _, err := Override(parts, job.Override, r.body(), r.conf(), r.run.State.RequestedAt.Time()); err == nil {
			return with
		}
	}
	return parts
}

// rowsBefore returns the number of rows of the jobs before one.
func rowsBefore(r *view, job *Job) (n int) {
	for _, j := range r.run.State.Jobs {
		if j == job {
			break
		}
		if !j.Simulated {
			n += len(j.Parts)
		}
	}
	return n
}

func progressOf(r *view, job *Job, at *JobPart, p Part, row int) progress {
	g := progress{
		Part: p, key: fmt.Sprintf("%s-%d", job.ID, p.Part), row: row, status: at.Status, resolvedBy: at.ResolvedBy,
		Sending: run.Sending{Dir: fmt.Sprintf("jobs/%s/%d", job.ID, p.Part)},
	}
	if job.Simulated {
		g.status, g.problem = partFailed, simulated
		return g
	}
	g.Sending = run.Sends(&r.run.Input, g.Dir, outcomeSchema, longestTimeout)
	switch {
	case at.Status == partOpen && g.Attempts == 0 && isOtherProvider(r, p):
		g.status, g.problem = partFailed, templates.NewMessage("nemawashi.failed.provider")
	case at.Status == partOpen:
		g.judge(r.conf())
	case at.ResolvedBy != "":
		if g.status == partFailed {
			g.problem = templates.NewMessage("nemawashi.failed.denied", "who", answerer(r, at.ResolvedBy))
		}
	default:
		g.problem = g.why()
	}
	return g
}

// answerer returns who answered a request: a name, or a message.
func answerer(r *view, id string) any {
	if q := r.run.Request(id); q != nil && q.By != nil {
		return q.By.User
	}
	return templates.NewMessage("nemawashi.who.somebody")
}

// why returns why the last attempt did not succeed, and a message without a key if it did.
func (g *progress) why() (m templates.Message) {
	if words := g.Why(); words != "" {
		m = templates.NewMessage("say.text", "text", words)
	}
	return m
}

// judge derives the status from the outcome of the last attempt, as section 5 of the format page
// says.
func (g *progress) judge(c Config) {
	if g.Last == nil {
		return // not begun, or in progress
	}
	again := g.Again()
	g.problem = g.why()
	switch g.Last.Outcome {
	case engine.SendDone:
		g.status = partSucceeded
	case engine.SendFailed:
		if g.IsExhausted() {
			g.status = partFailed
		}
	case engine.SendUnknown, engine.SendLost:
		switch {
		case g.Provider == "mock":
			again = ""
		case !c.Honours(g.Part) || g.Attempts >= run.MostAttempts:
			g.status = partUnclear
		}
	default: // refused, not_started
		g.status = partFailed
	}
	if g.status == partOpen {
		g.Due = again
	}
}

// isOtherProvider reports whether the settings now name another provider or target than the
// approved one.
func isOtherProvider(r *view, p Part) bool {
	provider, target := r.conf().Provider(p.Type)
	return provider != p.Provider || target != p.Target
}

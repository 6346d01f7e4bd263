package nemawashi

import (
	"fmt"
	"strconv"
	"time"

	"placet/engine"
	"placet/engine/run"
	"placet/schemas"
)

// Attempt is attempt-<n>.json: the commit that writes it begins the attempt.
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

// Outcome is outcome-<n>.json: how an attempt ended.
type Outcome struct {
	JobID      string      `json:"job_id"`
	Part       int         `json:"part"`
	Attempt    int         `json:"attempt"`
	Provider   string      `json:"provider"`
	FinishedAt text        `json:"finished_at"`
	Outcome    string      `json:"outcome"`
	Code       *int        `json:"code"`
	Response   schemas.Raw `json:"response"`
	RetryAfter int         `json:"retry_after_seconds,omitzero"`
	Reason     string      `json:"reason,omitzero"`
}

// Pace of attempts.
const (
	mostAttempts  = 3
	retryPause    = 60 * time.Second
	longestPause  = time.Hour
	afterDeadline = 20 * time.Second // how much later than its time limit an attempt counts as lost
)

// progress is where a part of the newest job stands: what the state says where that is
// an end, else what its attempts say.
type progress struct {
	Part
	key, dir string // the idempotency key, and the folder in the run's
	row      int
	status   string
	problem  string // why it failed, or is unclear
	// attempts is the number of the last one, 0 for none; underWay is true while it has no
	// outcome, which is then due at a moment.
	attempts   int
	underWay   bool
	due        text     // when the next attempt, or the end of this one, is due
	last       *Outcome // of the last attempt
	resolvedBy string
}

// simulated is the error of a job that fails without doing anything.
const simulated = "simulated failure"

// progress are the parts of the newest job.
func (r *view) progress() []progress {
	job := r.State.job()
	if job == nil {
		return nil
	}
	return run.Once(r.Run, "progress", func() (list []progress) {
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

// partsOf are all parts of the approval of a job, as they were shown, or with the
// override that the job carries.
func partsOf(r *view, job *Job) []Part {
	parts := r.approved()
	if !job.Override.Null() {
		if with, _, err := Override(parts, job.Override, r.body(), r.conf(), r.State.RequestedAt.Time()); err == nil {
			return with
		}
	}
	return parts
}

// rowsBefore is how many rows the jobs before one have.
func rowsBefore(r *view, job *Job) (n int) {
	for _, j := range r.State.Jobs {
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
		Part: p, key: fmt.Sprintf("%s-%d", job.ID, p.Part), dir: fmt.Sprintf("jobs/%s/%d", job.ID, p.Part), row: row,
		status: at.Status, resolvedBy: at.ResolvedBy,
	}
	if job.Simulated {
		g.status, g.problem = partFailed, simulated
		return g
	}
	readAttempts(r, &g)
	switch {
	case at.Status == partOpen && g.attempts == 0 && isOtherProvider(r, p):
		g.status, g.problem = partFailed, "provider changed"
	case at.Status == partOpen:
		g.judge(r.conf())
	case at.ResolvedBy != "":
		g.problem = ""
		if g.status == partFailed {
			g.problem = "it did not happen, says " + answerer(r, at.ResolvedBy)
		}
	default:
		g.problem = g.why()
	}
	return g
}

// answerer is who answered a request.
func answerer(r *view, id string) string {
	if q := r.Request(id); q != nil && q.By != nil {
		return q.By.User
	}
	return "somebody"
}

// readAttempts reads the last attempt of a part. What has no outcome is under way until
// its deadline.
func readAttempts(r *view, g *progress) {
	for n := 1; ; n++ {
		attempt, outcome := r.Snap.In(g.attemptFile(n)), r.Snap.In(g.outcomeFile(n))
		if attempt.Absent() && outcome.Absent() {
			if len(outcome.Issued) == 0 {
				return
			}
			g.attempts, g.last, g.underWay, g.due = n, &Outcome{Outcome: engine.SendLost, Reason: "this machine began it, and its files were removed"}, false, ""
			continue
		}
		g.attempts, g.last, g.underWay, g.due = n, nil, true, latest(r, attempt)
		o, got := run.Load[Outcome](&r.Input, outcome, "nemawashi/outcome")
		if got == run.Good && len(outcome.Issued) > 0 && !outcome.IssuedHere() {
			r.Bad(outcome, "this machine began the attempt, and somebody else wrote how it ended: it counts as lost; remove this file")
			o, got = nil, run.Bad
		}
		if o != nil {
			g.last, g.underWay, g.due = o, false, ""
		}
		if got == run.Pending {
			g.due = ""
		}
	}
}

// latest is when an attempt without an outcome counts as lost. A deadline that is later
// than any of placet's is not believed.
func latest(r *view, attempt engine.Document) text {
	bound := attempt.Changed.Add(longestTimeout + afterDeadline)
	var a Attempt
	if attempt.Present() && schemas.Decode("nemawashi/attempt", attempt.Path, attempt.Body, &a) == nil {
		if at := a.Deadline.Time(); !at.IsZero() && at.Before(bound) {
			return a.Deadline
		}
	}
	return seconds(bound.Add(time.Second))
}

func (g progress) attemptFile(n int) string { return g.dir + "/attempt-" + strconv.Itoa(n) + ".json" }
func (g progress) outcomeFile(n int) string { return g.dir + "/outcome-" + strconv.Itoa(n) + ".json" }

// why says why the last attempt did not do it, "" where it did.
func (g progress) why() string {
	if o := g.last; o != nil && o.Outcome != engine.SendDone {
		return o.Outcome + afterColon(o.Reason)
	}
	return ""
}

func afterColon(s string) string {
	if s == "" {
		return ""
	}
	return ": " + s
}

// judge says what the outcome of the last attempt comes to: section 5 of the format page.
func (g *progress) judge(c Config) {
	if g.last == nil {
		return // not begun, or under way
	}
	again := g.last.FinishedAt.Time().Add(max(retryPause, time.Duration(g.last.RetryAfter)*time.Second))
	g.problem = g.why()
	switch g.last.Outcome {
	case engine.SendDone:
		g.status = partSucceeded
	case engine.SendFailed:
		if g.attempts >= mostAttempts || time.Duration(g.last.RetryAfter)*time.Second > longestPause {
			g.status = partFailed
		}
	case engine.SendUnknown, engine.SendLost:
		switch {
		case g.Provider == "mock":
			again = time.Time{}
		case !c.Honours(g.Part) || g.attempts >= mostAttempts:
			g.status = partUnclear
		}
	default: // refused, not_started
		g.status = partFailed
	}
	if g.status == partOpen && !again.IsZero() {
		g.due = seconds(again.Add(time.Second - 1)) // never too early
	}
}

// isOtherProvider reports whether a part would not be carried out as it was approved.
func isOtherProvider(r *view, p Part) bool {
	provider, target := r.conf().Provider(p.Type)
	return provider != p.Provider || target != p.Target
}

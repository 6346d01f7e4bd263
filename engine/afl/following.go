package afl

import (
	"time"

	"placet/engine"
	"placet/engine/testoutput"
	"placet/templates"
)

// attempts are the edges of the checkpoints in whose attempt something
// happened.
func (r *reading) attempts() (p engine.Plan, ok bool) {
	for _, id := range r.order {
		c := r.checkpoint(id)
		if c == nil {
			continue
		}
		switch c.Status {
		case InProgress, Waiting:
			p, ok = r.worked(id, c)
		case Validating:
			p, ok = r.validated(id, c)
		}
		if ok {
			return p, true
		}
	}
	return p, false
}

// worked are the edges of an attempt whose worker is at it: what is handed in
// first, then what became of the worker's command.
func (r *reading) worked(id string, c *Checkpoint) (p engine.Plan, ok bool) {
	t := r.try(id, c)
	switch {
	case t.workerNews && t.worker.Status == "completed":
		m := r.validating(id, "the worker has completed it", r.causeOf(t.rel("worker.json"), t.workerSum)).by("worker")
		m.c.Seen.Worker = append(m.c.Seen.Worker, text(t.workerSum))
		return m.plan(), true
	case t.workerNews && t.worker.Status == "failed":
		return r.workerFailed(id, c, t), true
	case t.workerNews: // question
		m := r.question(id, templates.Cut(t.worker.Question, longestQuestion), "worker", r.causeOf(t.rel("worker.json"), t.workerSum)).by("worker")
		m.c.Seen.Worker = append(m.c.Seen.Worker, text(t.workerSum))
		return m.plan(), true
	case t.resultNews && !t.held("worker.json"):
		return r.validating(id, "a result is there", r.causeOf(t.rel("result.json"), t.resultSum)).by("upstream").plan(), true
	case t.questionNews && !t.held("worker.json") && !t.held("result.json"):
		rel := "delegations/" + id + "/pending-question.json"
		m := r.question(id, t.questionText, "hook", r.causeOf(rel, t.questionSum)).by("upstream")
		m.c.Seen.Question = append(m.c.Seen.Question, text(t.questionSum))
		return m.plan(), true
	}
	if c.Status != InProgress || t.unsettled() {
		return p, false // nothing is concluded from the absence of a hand-in
	}
	if s := r.signal; s != nil && s.Status == "validating" && s.Checkpoint == id && s.Iteration == c.Iteration && len(c.Questions) == 0 {
		m := r.validating(id, "upstream's worker has stopped", map[string]engine.Digest{currentDelegation: s.sum})
		return m.by("upstream").plan(), true
	}
	return r.workerEnded(id, c, t)
}

// workerEnded are the edges of an attempt whose worker command has ended.
func (r *reading) workerEnded(id string, c *Checkpoint, t *attempt) (p engine.Plan, ok bool) {
	run := t.workerRun
	if c.Worker == nil || c.Worker.Mode != modeCommand || run == nil {
		return p, false
	}
	cause := r.causeOf(t.workerRunRel, t.workerRunSum)
	if answeredSince(c) {
		m := r.checkpointMove(id, workerRestart, InProgress, "its question is answered", cause)
		m.restart()
		return m.plan(), true
	}
	switch {
	case run.Outcome == outLost || run.Outcome == outStopped:
		if r.openRequest(typeInterrupted, id) != nil {
			return p, false
		}
		m := r.checkpointMove(id, workerLost, InProgress, "nobody knows what became of the worker", cause)
		m.ask(typeInterrupted, id)
		return m.plan(), true
	case run.Outcome == outFinished && run.ended():
		return r.validating(id, "the worker command has ended", cause).plan(), true
	}
	return r.workerCommandFailed(id, t, cause), true
}

// answeredSince reports whether a question was answered since the worker
// command was started last. They are counted: both can happen within one
// moment.
func answeredSince(c *Checkpoint) bool { return answers(c) > c.Worker.Answers }

// answers is how many questions of the attempt in hand are answered.
func answers(c *Checkpoint) int {
	n := 0
	for _, q := range c.Questions {
		if q.AnsweredAt != "" {
			n++
		}
	}
	return n
}

// restart starts the worker command of an attempt once more.
func (m *move) restart() {
	w := m.c.Worker
	w.Number++
	w.Answers = answers(m.c)
	w.StartedAt, w.Deadline = m.now, millis(m.r.Snap.Now.Add(m.r.cfg.WorkerTimeout))
	m.close(m.id, superseded, "the worker is started again", typeInterrupted)
}

// validating has an attempt validated.
func (r *reading) validating(id, why string, cause map[string]engine.Digest) *move {
	m := r.checkpointMove(id, workerDone, Validating, why, cause)
	m.close(id, superseded, "the attempt is validated")
	m.run()
	return m
}

// run records the next run of an attempt.
func (m *move) run() {
	c, r, d := m.c, m.r, m.r.defs[m.id]
	timeout := r.timeout(m.id).Milliseconds()
	run := &Run{Number: nextRun(c, r.outcomes(m.id, c.Iteration, "validation")), Mode: modeResult, StartedAt: m.now, TimeoutMS: timeout}
	if d != nil {
		run.CommandDigest = text(r.validationDigest(*d))
		if r.runnable(*d) {
			run.Mode = modeCommand
		}
	}
	c.Run, c.AnalysisUntil = run, ""
}

// nextRun is the number of an attempt's next run: validations and verdicts on
// workers count together. lying is the highest number among outcomes that lie
// there: none of them is that of a run to come.
func nextRun(c *Checkpoint, lying int) int {
	n := lying
	if c.Run != nil {
		n = max(n, c.Run.Number)
	}
	for _, h := range c.History {
		if h.Iteration == c.Iteration {
			n = max(n, h.Run)
		}
	}
	return n + 1
}

// timeout is how long a validation may take.
func (r *reading) timeout(id string) time.Duration {
	if d := r.defs[id]; d != nil && d.TimeoutMS != nil {
		return time.Duration(*d.TimeoutMS) * time.Millisecond
	}
	return r.cfg.ValidationTimeout
}

// validationDigest is that of a definition's command, "" where it has none.
func (r *reading) validationDigest(d Definition) engine.Digest {
	if d.Command == "" {
		return ""
	}
	return commandDigest("validation", r.cfg.Shell, string(d.Command))
}

// byCommand reports whether only a definition's command says whether an attempt
// passes: what an agent wrote never takes its place, also while nobody has agreed
// to the command.
func (r *reading) byCommand(d Definition) bool {
	return r.cfg.Validation == validateCommand && d.Command != ""
}

// runnable reports whether placet may run a definition's command.
func (r *reading) runnable(d Definition) bool {
	digest := r.validationDigest(d)
	return r.cfg.Validation == validateCommand && digest != "" && r.Snap.Facts.Trusts(digest, worktree(d.ID))
}

// question puts a worker's question to a person.
func (r *reading) question(id, words, source string, cause map[string]engine.Digest) *move {
	m := r.checkpointMove(id, question, Waiting, "the worker asks", cause)
	m.c.Questions = append(m.c.Questions, Question{Number: len(m.c.Questions) + 1, Text: words, Source: source})
	asked := &m.c.Questions[len(m.c.Questions)-1]
	asked.RequestID = m.requestID(typeClarification, id)
	m.supersede(id, asked.RequestID)
	m.ask(typeClarification, id)
	return m
}

// validated are the edges of an attempt that awaits its verdict.
func (r *reading) validated(id string, c *Checkpoint) (p engine.Plan, ok bool) {
	t := r.try(id, c)
	d := r.defs[id]
	if c.Run == nil || d == nil {
		return p, false
	}
	if c.Run.Mode == modeResult {
		if t.resultNews && !r.byCommand(*d) {
			return r.judged(id, c, r.judgeResult(id, c, t), t.rel("result.json"), t.resultSum)
		}
		if r.runnable(*d) && !t.unsettled() {
			m := r.checkpointMove(id, trusted, Validating, "its command is trusted", nil)
			m.c.Run.Mode, m.c.Run.CommandDigest, m.c.Run.StartedAt = modeCommand, text(r.validationDigest(*d)), m.now
			if r.outcomes(id, c.Iteration, "validation") >= c.Run.Number {
				m.run() // an outcome that lies there already is not this run's
			}
			return m.plan(), true
		}
		return p, false
	}
	v := t.validation
	if v == nil {
		return p, false
	}
	cause := r.causeOf(t.validationRel, t.validationSum)
	switch {
	case (v.Outcome == outStopped || v.Outcome == outNotStarted) && !r.runnable(*d):
		return r.runAgain(id, "its command is not trusted any more", cause).plan(), true
	case v.Outcome == outStopped:
		return r.runAgain(id, "placet was stopped", cause).plan(), true
	case v.Outcome == outLost:
		if r.cfg.Interrupted == interruptedAuto {
			return r.runAgain(id, "the validation was lost", cause).plan(), true
		}
		if r.openRequest(typeInterrupted, id) != nil {
			return p, false
		}
		m := r.checkpointMove(id, runLost, Validating, "nobody knows how the validation ended", cause)
		m.ask(typeInterrupted, id)
		return m.plan(), true
	}
	return r.judged(id, c, r.judgeValidation(id, c, t), t.validationRel, t.validationSum)
}

// runAgain records the next run of the same attempt.
func (r *reading) runAgain(id, why string, cause map[string]engine.Digest) *move {
	m := r.checkpointMove(id, rerun, Validating, why, cause)
	m.close(id, superseded, "the validation runs again", typeInterrupted)
	m.run()
	return m
}

// judged are the edges that a judgement leads to.
func (r *reading) judged(id string, c *Checkpoint, v Verdict, rel string, sum engine.Digest) (p engine.Plan, ok bool) {
	if !v.Passed && r.tries[id].held("analysis.json") {
		return p, false
	}
	if r.awaitsAnalysis(id, c, v) {
		if c.AnalysisUntil != "" {
			return p, false
		}
		m := r.checkpointMove(id, awaitAnalysis, Validating, "an analysis may come", r.causeOf(rel, sum))
		m.c.AnalysisUntil = millis(r.Snap.Now.Add(r.cfg.OracleWait))
		return m.plan(), true
	}
	event, to := pass, Completed
	if !v.Passed {
		event, to = fail, v.Route.status()
	}
	m := r.checkpointMove(id, event, to, reasonOf(v), r.causeOf(rel, sum))
	m.verdict(v)
	if v.Source == fromResult {
		m.c.Seen.Result = append(m.c.Seen.Result, text(sum))
	}
	return m.plan(), true
}

// status is where an attempt goes that did not pass.
func (route Route) status() engine.Status {
	if route == routeRetry {
		return Retrying
	}
	return Escalated
}

func reasonOf(v Verdict) string {
	if v.Passed {
		return "passed"
	}
	return string(v.Route) + ": " + string(v.FailureType)
}

// workerFailed judges an attempt that its worker gave up.
func (r *reading) workerFailed(id string, c *Checkpoint, t *attempt) engine.Plan {
	v := r.judgeReport(id, c, t)
	m := r.checkpointMove(id, workerFailed, v.Route.status(), reasonOf(v), r.causeOf(t.rel("worker.json"), t.workerSum)).by("worker")
	m.close(id, superseded, "the worker gave the attempt up")
	m.c.Seen.Worker = append(m.c.Seen.Worker, text(t.workerSum))
	m.verdict(v)
	return m.plan()
}

func (r *reading) workerCommandFailed(id string, t *attempt, cause map[string]engine.Digest) engine.Plan {
	c := r.checkpoint(id)
	typ := testoutput.EnvIssue
	if t.workerRun.Outcome == outTimedOut {
		typ = testoutput.Timeout
	}
	v := r.judgeWorkerRun(id, c, t, typ)
	m := r.checkpointMove(id, workerFailed, v.Route.status(), reasonOf(v), cause)
	m.close(id, superseded, "the worker command failed")
	m.verdict(v)
	return m.plan()
}

// verdict records a judgement, and what becomes of the attempt by it.
func (m *move) verdict(v Verdict) {
	c, r := m.c, m.r
	r.keep(m.id, v)
	h := Judged{
		Iteration: v.Iteration, Run: v.Run, Epoch: c.Epoch, Result: failed, Route: v.Route, FailureType: v.FailureType, Rule: v.Rule,
		Signature: v.Signature, FailedCriteria: bounded(v.FailedCriteria), Timestamp: m.now, DurationMS: r.duration(m.id, v), Source: v.Source,
	}
	if v.Passed {
		h.Result, c.FinishedAt = passed, m.now
	}
	c.History = append(c.History, h)
	c.AnalysisUntil, c.Worker = "", nil
	switch {
	case v.Route == routeRetry:
		c.RetryAt = millis(r.Snap.Now.Add(r.cfg.RetryDelay))
		c.Feedback = append(c.Feedback, Feedback{Iteration: v.Iteration})
	case v.Route.escalates():
		run := v.Run
		m.escalate(Escalation{
			At: m.now, Iteration: v.Iteration, Run: &run, Route: v.Route, FailureType: v.failure(),
			Reason: r.escalationReason(c, &v, v.Route, ""),
		})
	}
}

// escalate hands the checkpoint to a person.
func (m *move) escalate(e Escalation) {
	e.RequestID, e.MaxIterations = m.requestID(typeEscalation, m.id), m.c.MaxIterations
	m.c.Escalation = &e
	m.ask(typeEscalation, m.id)
}

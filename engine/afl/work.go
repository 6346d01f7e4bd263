package afl

import (
	"bytes"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/engine/testoutput"
	"placet/layout"
	"placet/templates"
)

// Actors of an attempt's transitions besides placet.
const (
	byWorker   = "worker"
	byUpstream = "upstream"
)

// handedIn returns a move that a submitted document causes.
func (cp *checkpoint) handedIn(d engine.Document, by, why string, then func(*step)) *move {
	m := cp.move(why, then, d)
	m.Actor = by
	return m
}

// used records that a document is no longer news.
func used(seen *[]text, d engine.Document) { *seen = append(*seen, text(d.Sum)) }

// byReport returns a move by worker.json if that is news and reports the status, and else nil. why
// is the key of its reason.
func (cp *checkpoint) byReport(status, why string, then func(*step, *WorkerReport)) *move {
	h := cp.attempt().worker
	if h.Said == nil || h.Said.Status != status {
		return nil
	}
	return cp.handedIn(h.Doc, byWorker, cp.r.say(why), func(s *step) {
		then(s, h.Said)
		used(&s.c.Seen.Worker, h.Doc)
	})
}

// workerCompletes validates an attempt that its worker reports as completed.
func workerCompletes(cp *checkpoint) *move {
	return cp.byReport("completed", "move.completed", func(s *step, _ *WorkerReport) { s.validate() })
}

// workerFails judges an attempt that its worker reports as failed.
func workerFails(cp *checkpoint) *move {
	var v Verdict
	m := cp.byReport("failed", "move.gave_up", func(s *step, _ *WorkerReport) {
		s.closeRequests(gate.Superseded, cp.r.say("move.gave_up"))
		s.record(v)
	})
	if m != nil {
		h := cp.attempt().worker
		v = judgeReport(cp, h.Said, h.Sum())
		m.Reason, m.To = v.reason(cp.r.run.Lang), v.Route.status()
	}
	return m
}

// workerAsks asks a person a worker's question.
func workerAsks(cp *checkpoint) *move {
	return cp.byReport("question", "move.asks", func(s *step, w *WorkerReport) {
		s.question(templates.Cut(w.Question, longestQuestion), "worker")
	})
}

// resultComes begins the validation of an attempt that has a result.
func resultComes(cp *checkpoint) *move {
	t := cp.attempt()
	if t.result.Said == nil || t.worker.Pending {
		return nil
	}
	return cp.handedIn(t.result.Doc, byUpstream, cp.r.say("move.result"), (*step).validate)
}

// hookReportsQuestion asks a person the question that a worker asked upstream's hook.
func hookReportsQuestion(cp *checkpoint) *move {
	t := cp.attempt()
	if t.question.Said == nil || t.worker.Pending || t.result.Pending {
		return nil
	}
	return cp.handedIn(t.question.Doc, byUpstream, cp.r.say("move.asks"), func(s *step) {
		s.question(t.question.Said.words(), "hook")
		used(&s.c.Seen.Question, t.question.Doc)
	})
}

// hookSignals begins the validation of an attempt once upstream's hooks say that its worker has
// stopped.
func hookSignals(cp *checkpoint) *move {
	signal := cp.r.signal
	if signal == nil || cp.attempt().isPending() || signal.Status != "validating" || signal.Checkpoint != cp.id ||
		signal.Iteration != cp.Iteration || len(cp.Questions) > 0 {
		return nil
	}
	return cp.handedIn(cp.r.run.Snap.Doc(currentDelegation), byUpstream, cp.r.say("move.stopped"), (*step).validate)
}

// question asks a person a question.
func (s *step) question(words, source string) {
	id := s.cp.r.requestID(typeClarification, s.cp.id, s.Revision)
	s.c.Questions = append(s.c.Questions, Question{Number: len(s.c.Questions) + 1, Text: words, Source: source, RequestID: id})
	for _, q := range s.Requests() {
		if q.Status == run.Open && string(q.Subject) == s.cp.id {
			s.Close(q, gate.Superseded, s.cp.r.say("move.asked_instead"))
			q.SupersededBy = text(id)
		}
	}
	s.ask(typeClarification)
}

// asked returns the question behind a request.
func (c *Checkpoint) asked(id string) *Question {
	for i := range c.Questions {
		if c.Questions[i].RequestID == id {
			return &c.Questions[i]
		}
	}
	return &Question{}
}

// answers returns how many questions of the current attempt have answers.
func (c *Checkpoint) answers() int {
	n := 0
	for _, q := range c.Questions {
		if q.AnsweredAt != "" {
			n++
		}
	}
	return n
}

// keepAnswer records an answer for the worker that asked.
func keepAnswer(s *step, a *run.Answer) {
	q := s.c.asked(a.Request.ID)
	q.Answer, q.AnsweredBy, q.AnsweredAt = text(a.Comment), text(a.By.User), s.Now
}

// escalateQuestion escalates a question that nobody could answer.
func escalateQuestion(s *step, a *run.Answer) {
	words := s.c.asked(a.Request.ID).Text
	s.c.Worker = nil
	s.escalate(Escalation{
		Route: routeUnclear, FailureType: testoutput.Unknown, Question: text(words),
		Reason: escalationReason(s.cp.r.run.Lang, routeUnclear, Verdict{}, s.c.Iteration, s.c.MaxIterations, 0, words),
	})
}

// ended returns how the worker command of the current attempt ended, or nil if that has no
// consequence. It has none while a submitted document may still be being written.
func (cp *checkpoint) ended() *WorkerRun {
	t := cp.attempt()
	if cp.Status != InProgress || t.isPending() || !cp.isCommandWorker() {
		return nil
	}
	return t.workerRun.Said
}

// restartAnswered restarts a worker command once its question is answered. It compares the numbers
// of answers, because both events can happen at the same moment.
func restartAnswered(cp *checkpoint) *move {
	if cp.ended() == nil || cp.answers() <= cp.Worker.Answers {
		return nil
	}
	return cp.move(cp.r.say("move.answered"), (*step).restart, cp.try.workerRun.Doc)
}

// loseWorker asks a person what happened to a worker command.
func loseWorker(cp *checkpoint) *move {
	if o := cp.ended(); o == nil || !o.IsLost() || cp.open(typeInterrupted) != nil {
		return nil
	}
	return cp.move(cp.r.say("move.worker_lost"), func(s *step) { s.ask(typeInterrupted) }, cp.try.workerRun.Doc)
}

// commandEnds begins the validation of an attempt once its worker command has ended.
func commandEnds(cp *checkpoint) *move {
	if o := cp.ended(); o == nil || o.Outcome != engine.CommandFinished || !o.ended() {
		return nil
	}
	return cp.move(cp.r.say("move.worker_ended"), (*step).validate, cp.try.workerRun.Doc)
}

// commandFails judges an attempt after its worker command failed.
func commandFails(cp *checkpoint) *move {
	o := cp.ended()
	if o == nil || o.IsLost() {
		return nil
	}
	typ := testoutput.EnvIssue
	if o.Outcome == engine.CommandTimedOut {
		typ = testoutput.Timeout
	}
	v := judgeWorkerRun(cp, o, cp.try.workerRun.Sum(), typ)
	return cp.fails(v, v.reason(cp.r.run.Lang), cp.r.say("move.worker_failed"), cp.try.workerRun.Doc)
}

// failLostWorker counts an attempt as failed after its worker command was lost.
func failLostWorker(r *session, on run.On) *move {
	cp := r.checkpoint(on.Subject)
	h := cp.attempt().workerRun
	return cp.fails(judgeWorkerRun(cp, h.Said, h.Sum(), testoutput.EnvIssue), on.Answer.Why(), "")
}

// restart starts the worker command of an attempt once more.
func (s *step) restart() {
	w := s.c.Worker
	w.Number++
	w.Answers = s.c.answers()
	w.StartedAt, w.Deadline = s.Now, s.cp.r.later(s.cp.r.cfg.WorkerTimeout)
	s.closeRequests(gate.Superseded, s.cp.r.say("move.worker_restarted"), typeInterrupted)
}

// beginAttempt begins the next attempt with a fresh worker and without questions. Documents that
// already exist are not news.
func (s *step) beginAttempt() {
	c, r := s.c, s.cp.r
	c.Iteration++
	c.LastAttemptAt, c.RetryAt, c.AnalysisUntil, c.Run, c.Questions = s.Now, "", "", nil, nil
	c.Oracle, c.Review = nil, nil
	c.Worker = &Worker{Mode: modeOutside, Number: 1 + s.cp.outcomes(c.Iteration, "worker-run"), StartedAt: s.Now}
	if digest := r.cfg.workerDigest(); digest != "" && r.run.Snap.Facts.Trusts(digest, worktree(s.cp.id)) {
		c.Worker.Mode, c.Worker.CommandDigest = modeCommand, text(digest)
		c.Worker.Deadline = r.later(r.cfg.WorkerTimeout)
	}
	if s.isPrompted() {
		c.Seen.Result, c.Seen.Worker = nil, nil
		return
	}
	sum := func(rel string) []text {
		if d := r.run.Snap.In(rel); d.Present() {
			return []text{text(d.Sum)}
		}
		return nil
	}
	c.Seen = Seen{
		Result: sum(s.cp.fileOf(c.Iteration, "result.json")), Worker: sum(s.cp.fileOf(c.Iteration, "worker.json")),
		Question: sum(s.cp.rel("pending-question.json")),
	}
}

// isPrompted reports whether a crash left the right prompt of an attempt that was never committed.
// A worker may have submitted documents since, and those are news.
func (s *step) isPrompted() bool {
	snap, n := s.cp.r.run.Snap, s.c.Iteration
	prompt := snap.In(s.cp.fileOf(n, "prompt.md"))
	if !prompt.Present() {
		return false
	}
	for _, d := range snap.Under(s.cp.fileOf(n, "")) {
		switch d.Kind {
		case layout.AFLPrompt, layout.AFLWorker, layout.AFLResult, layout.KindProblem:
		default:
			if !d.Absent() {
				return false // the attempt was committed once: the state is an older one
			}
		}
	}
	return bytes.Equal(prompt.Body, readSession(s.After()).checkpoint(s.cp.id).promptMD())
}

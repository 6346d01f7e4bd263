package afl

import (
	"bytes"
	"path"
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/engine/testoutput"
	"placet/layout"
	"placet/templates"
)

// step is a transition of a checkpoint being made.
type step struct {
	*change
	r  *session
	id string
	// c is the checkpoint after it.
	c *Checkpoint
}

// moves is a move of a checkpoint: then changes it.
func (r *session) moves(id, why string, causes []engine.Document, then func(*step)) *move {
	return &move{Reason: why, Causes: causes, Then: func(c *change) {
		then(&step{c, r, id, c.State.Checkpoints[id]})
	}}
}

// cause is a file of the session that causes a transition.
func (r *session) cause(rel string) []engine.Document { return []engine.Document{r.Snap.In(rel)} }

// closeRequests closes the open requests of the checkpoint of the given types, or all.
func (s *step) closeRequests(result, reason string, types ...string) {
	closeOf(s.change, s.id, result, reason, types...)
}

// halt stops the worker and the run of a checkpoint.
func (s *step) halt() { s.c.Worker, s.c.Run, s.c.RetryAt, s.c.AnalysisUntil = nil, nil, "", "" }

// abort ends a checkpoint.
func (s *step) abort(because text) {
	s.halt()
	s.c.AbortedBecause, s.c.FinishedAt = because, s.Now
}

// endsWithSession ends a checkpoint of a session that has ended.
func (r *session) endsWithSession(on run.On) *move {
	return r.moves(on.Subject, "the session was aborted", nil, func(s *step) {
		s.abort(becauseSession)
		s.closeRequests(gate.Cancelled, "the session was aborted")
	})
}

// adopts makes a checkpoint that upstream has completed.
func (r *session) adopts(on run.On) *move {
	finished, cause := r.finishedBefore(on.Subject)
	if !finished {
		return nil
	}
	return r.defineNew(on.Subject, "its status.json says completed", cause, func(s *step) { s.c.FinishedAt = s.Now })
}

// defines makes a checkpoint of an approved definition.
func (r *session) defines(on run.On) *move {
	return r.defineNew(on.Subject, "approved", nil, func(*step) {})
}

// defineNew makes a checkpoint. Attempts that lie there already are never
// overwritten: the next one takes the number after the last.
func (r *session) defineNew(id, why string, causes []engine.Document, then func(*step)) *move {
	d := r.defs[id]
	switch {
	case d == nil || r.State.Status != Approving:
		return nil
	case r.Undecidable(r.Snap.In("delegations/" + id + "/status.json")):
		return &move{Hold: true} // it may say that the checkpoint has passed already
	}
	last := r.lastIteration(id)
	return r.moves(id, why, causes, func(s *step) {
		s.c.DefinitionDigest, s.c.Iteration, s.c.MaxIterations = d.digest(), last, last+r.cfg.MaxIterations
		voidReview(s.change)
		then(s)
	})
}

// redefines begins a checkpoint anew whose definition changed.
func (r *session) redefines(on run.On) *move {
	d := r.defs[on.Subject]
	if d == nil || r.State.Status != Approving || r.checkpoint(on.Subject).DefinitionDigest == d.digest() {
		return nil
	}
	return r.moves(on.Subject, "the definition changed", nil, func(s *step) {
		s.halt()
		s.c.DefinitionDigest, s.c.MaxIterations, s.c.FinishedAt = d.digest(), s.c.Iteration+r.cfg.MaxIterations, ""
		s.c.Epoch++
		s.closeRequests(gate.Superseded, "the definition changed")
		voidReview(s.change)
	})
}

// removes ends a checkpoint that is defined no longer.
func (r *session) removes(on run.On) *move {
	if r.defs[on.Subject] != nil || r.State.Status != Approving {
		return nil
	}
	return r.moves(on.Subject, "it is defined no longer", nil, func(s *step) {
		s.abort(becauseRemoved)
		s.closeRequests(gate.Superseded, "it is defined no longer")
	})
}

// clarifies hands an answer to the worker that asked.
func (r *session) clarifies(on run.On) *move {
	a := on.Answer
	return r.moves(on.Subject, a.Why(), nil, func(s *step) {
		q := s.c.asked(a.Request.ID)
		q.Answer, q.AnsweredBy, q.AnsweredAt = text(a.Comment), text(a.By.User), s.Now
	})
}

// validatesAsTold has an attempt validated as it is.
func (r *session) validatesAsTold(on run.On) *move {
	asked := Waiting
	if on.Answer.Request.Type == typeInterrupted {
		asked = InProgress
	}
	if r.partStatus(on.Subject) != asked {
		return nil
	}
	return r.validates(on.Subject, on.Answer.Why(), nil)
}

// escalatesQuestion hands a question to a person that nobody could answer.
func (r *session) escalatesQuestion(on run.On) *move {
	words := r.checkpoint(on.Subject).asked(on.Answer.Request.ID).Text
	return r.moves(on.Subject, on.Answer.Why(), nil, func(s *step) {
		s.c.Worker = nil
		s.escalate(Escalation{
			At: s.Now, Iteration: s.c.Iteration, Route: routeUnclear, FailureType: testoutput.Unknown,
			Reason: r.escalationReason(s.c, nil, routeUnclear, words), Question: text(words),
		})
	})
}

// decided is a move of an escalated checkpoint that a person decides. The session
// escalates first: an answer may come between the two.
func (r *session) decided(on run.On, then func(*step)) *move {
	if r.State.Status != Escalated {
		return nil
	}
	return r.moves(on.Subject, on.Answer.Why(), nil, then)
}

// triesAgain gives a checkpoint more attempts.
func (r *session) triesAgain(on run.On) *move {
	return r.decided(on, func(s *step) {
		n, note, _ := attemptsOf(on.Answer, r.cfg.RetryMore)
		r.noteAttempts(s, on.Answer.Request.ID, n)
		s.again(n, note)
	})
}

// redesigns has the design looked at again.
func (r *session) redesigns(on run.On) *move {
	return r.decided(on, func(s *step) {
		s.c.MaxIterations, s.c.Epoch = s.c.Iteration+r.cfg.MaxIterations, s.c.Epoch+1
		s.note(on.Answer.Comment)
		s.State.Pause = &Pause{Reason: pauseDesign, At: s.Now, By: text(on.Answer.By.User)}
		closeOf(s.change, "", gate.Superseded, "the design is looked at again", typeApproval)
	})
}

// validatesFixed validates the same attempt again in a mended environment.
func (r *session) validatesFixed(on run.On) *move {
	return r.decided(on, func(s *step) {
		s.c.Epoch++
		s.run()
	})
}

// skips leaves a checkpoint out.
func (r *session) skips(on run.On) *move {
	how := map[string]text{optSkip: skipPlain, optSkipForced: skipForced}[on.Answer.Response]
	return r.decided(on, func(s *step) {
		s.abort(becauseSkipped)
		s.c.Skip = how
	})
}

func (r *session) rerunsAsTold(on run.On) *move { return r.runAgain(on.Subject, on.Answer.Why(), nil) }

func (r *session) restartsAsTold(on run.On) *move {
	return r.moves(on.Subject, on.Answer.Why(), nil, (*step).restart)
}

// worksDone has an attempt validated that its worker has completed.
func (r *session) worksDone(on run.On) *move {
	t := r.attempt(on.Subject)
	if !t.workerNews || t.worker.Status != "completed" {
		return nil
	}
	return r.byWorker(r.validates(t.cp, "the worker has completed it", r.cause(t.rel("worker.json"))), t)
}

// byWorker is a move that the worker's own report makes.
func (r *session) byWorker(m *move, t *attempt) *move {
	then := m.Then
	m.Actor = "worker"
	m.Then = func(c *change) {
		then(c)
		seen := &c.State.Checkpoints[t.cp].Seen
		seen.Worker = append(seen.Worker, text(t.workerSum))
	}
	return m
}

// worksInVain judges an attempt that its worker gave up.
func (r *session) worksInVain(on run.On) *move {
	t := r.attempt(on.Subject)
	if !t.workerNews || t.worker.Status != "failed" {
		return nil
	}
	v := r.judgeReport(t.cp, r.checkpoint(t.cp), t)
	return r.byWorker(r.judged(v, reasonOf(v), r.cause(t.rel("worker.json")), t, "the worker gave the attempt up"), t)
}

// worksAsk puts a worker's question to a person.
func (r *session) worksAsk(on run.On) *move {
	t := r.attempt(on.Subject)
	if !t.workerNews || t.worker.Status != "question" {
		return nil
	}
	return r.byWorker(r.asks(t.cp, templates.Cut(t.worker.Question, longestQuestion), "worker", r.cause(t.rel("worker.json"))), t)
}

// resultsCome has an attempt validated whose result is there.
func (r *session) resultsCome(on run.On) *move {
	t := r.attempt(on.Subject)
	if !t.resultNews || t.pending("worker.json") {
		return nil
	}
	m := r.validates(t.cp, "a result is there", r.cause(t.rel("result.json")))
	m.Actor = "upstream"
	return m
}

// hooksAsk puts to a person what upstream's hook was asked.
func (r *session) hooksAsk(on run.On) *move {
	t := r.attempt(on.Subject)
	if !t.questionNews || t.pending("worker.json") || t.pending("result.json") {
		return nil
	}
	m := r.asks(t.cp, t.questionText, "hook", r.cause("delegations/"+t.cp+"/pending-question.json"))
	then := m.Then
	m.Actor = "upstream"
	m.Then = func(c *change) {
		then(c)
		seen := &c.State.Checkpoints[t.cp].Seen
		seen.Question = append(seen.Question, text(t.questionSum))
	}
	return m
}

// signals has an attempt validated whose worker has stopped, as upstream's hooks say.
func (r *session) signals(on run.On) *move {
	t, c, s := r.attempt(on.Subject), r.checkpoint(on.Subject), r.signal
	if t.isPending() || s == nil || s.Status != "validating" || s.Checkpoint != t.cp || s.Iteration != c.Iteration || len(c.Questions) > 0 {
		return nil
	}
	m := r.validates(t.cp, "upstream's worker has stopped", []engine.Document{r.Snap.Doc(currentDelegation)})
	m.Actor = "upstream"
	return m
}

// ended is the attempt of a checkpoint whose worker command has ended; nil where nothing
// is to be concluded from that.
func (r *session) ended(id string) *attempt {
	t, c := r.attempt(id), r.checkpoint(id)
	// Nothing is concluded from the absence of what may still be handed in.
	if c.Status != InProgress || t.isPending() || c.Worker == nil || c.Worker.Mode != modeCommand || t.workerRun == nil {
		return nil
	}
	return t
}

// restarts begins a worker command again once its question is answered.
func (r *session) restarts(on run.On) *move {
	t := r.ended(on.Subject)
	if t == nil || !answeredSince(r.checkpoint(t.cp)) {
		return nil
	}
	return r.moves(t.cp, "its question is answered", r.cause(t.workerRunRel), (*step).restart)
}

// losesWorker asks what became of a worker command.
func (r *session) losesWorker(on run.On) *move {
	t := r.ended(on.Subject)
	if t == nil || !t.workerRun.isLost() || r.OpenAbout(typeInterrupted, t.cp) != nil {
		return nil
	}
	return r.moves(t.cp, "nobody knows what became of the worker", r.cause(t.workerRunRel), func(s *step) { r.ask(s.change, typeInterrupted, t.cp) })
}

// commandsEnd has an attempt validated whose worker command has ended.
func (r *session) commandsEnd(on run.On) *move {
	t := r.ended(on.Subject)
	if t == nil || t.workerRun.Outcome != outFinished || !t.workerRun.ended() {
		return nil
	}
	return r.validates(t.cp, "the worker command has ended", r.cause(t.workerRunRel))
}

// commandsFail judges an attempt whose worker command failed.
func (r *session) commandsFail(on run.On) *move {
	t := r.ended(on.Subject)
	if t == nil || t.workerRun.isLost() {
		return nil
	}
	typ := testoutput.EnvIssue
	if t.workerRun.Outcome == outTimedOut {
		typ = testoutput.Timeout
	}
	v := r.judgeWorkerRun(t.cp, r.checkpoint(t.cp), t, typ)
	return r.judged(v, reasonOf(v), r.cause(t.workerRunRel), t, "the worker command failed")
}

// failsWorker counts an attempt as failed whose worker command was lost.
func (r *session) failsWorker(on run.On) *move {
	t := r.attempt(on.Subject)
	v := r.judgeWorkerRun(t.cp, r.checkpoint(t.cp), t, testoutput.EnvIssue)
	return r.judged(v, on.Answer.Why(), nil, t, "")
}

// failsLost counts an attempt as failed whose validation was lost.
func (r *session) failsLost(on run.On) *move {
	t := r.attempt(on.Subject)
	return r.judged(r.judgeLost(t.cp, r.checkpoint(t.cp), t), on.Answer.Why(), nil, t, "")
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
func (s *step) restart() {
	w := s.c.Worker
	w.Number++
	w.Answers = answers(s.c)
	w.StartedAt, w.Deadline = s.Now, s.r.later(s.r.cfg.WorkerTimeout)
	s.closeRequests(gate.Superseded, "the worker is started again", typeInterrupted)
}

// validates has an attempt validated.
func (r *session) validates(id, why string, causes []engine.Document) *move {
	return r.moves(id, why, causes, func(s *step) {
		s.closeRequests(gate.Superseded, "the attempt is validated")
		s.run()
	})
}

// run records the next run of an attempt.
func (s *step) run() {
	c, r, d := s.c, s.r, s.r.defs[s.id]
	timeout := r.timeout(s.id).Milliseconds()
	run := &Run{Number: nextRun(c, r.outcomes(s.id, c.Iteration, "validation")), Mode: modeResult, StartedAt: s.Now, TimeoutMS: timeout}
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
func (r *session) timeout(id string) time.Duration {
	if d := r.defs[id]; d != nil && d.TimeoutMS != nil {
		return time.Duration(*d.TimeoutMS) * time.Millisecond
	}
	return r.cfg.ValidationTimeout
}

// validationDigest is that of a definition's command, "" where it has none.
func (r *session) validationDigest(d Definition) engine.Digest {
	if d.Command == "" {
		return ""
	}
	return commandDigest("validation", r.cfg.Shell, string(d.Command))
}

// byCommand reports whether only a definition's command says whether an attempt
// passes: what an agent wrote never takes its place, also while nobody has agreed
// to the command.
func (r *session) byCommand(d Definition) bool {
	return r.cfg.Validation == validateCommand && d.Command != ""
}

// runnable reports whether placet may run a definition's command.
func (r *session) runnable(d Definition) bool {
	digest := r.validationDigest(d)
	return r.cfg.Validation == validateCommand && digest != "" && r.Snap.Facts.Trusts(digest, worktree(d.ID))
}

// asks puts a worker's question to a person.
func (r *session) asks(id, words, source string, causes []engine.Document) *move {
	return r.moves(id, "the worker asks", causes, func(s *step) {
		asked := Question{Number: len(s.c.Questions) + 1, Text: words, Source: source, RequestID: r.requestID(typeClarification, id, s.Revision)}
		s.c.Questions = append(s.c.Questions, asked)
		for _, q := range s.Requests() {
			if q.Status == run.Open && string(q.Subject) == id {
				s.Close(q, gate.Superseded, "another request is asked instead")
				q.SupersededBy = text(asked.RequestID)
			}
		}
		r.ask(s.change, typeClarification, id)
	})
}

// validation is the attempt of a checkpoint whose command has been run; nil where there
// is no outcome, or a result is judged instead.
func (r *session) validation(id string) *attempt {
	t, c := r.attempt(id), r.checkpoint(id)
	if c.Run == nil || r.defs[id] == nil || c.Run.Mode == modeResult || t.validation == nil {
		return nil
	}
	return t
}

// trusts has a command run that is trusted by now.
func (r *session) trusts(on run.On) *move {
	t, c, d := r.attempt(on.Subject), r.checkpoint(on.Subject), r.defs[on.Subject]
	if c.Run == nil || d == nil || c.Run.Mode != modeResult || t.resultNews && !r.byCommand(*d) || !r.runnable(*d) || t.isPending() {
		return nil
	}
	return r.moves(t.cp, "its command is trusted", nil, func(s *step) {
		run := s.c.Run
		run.Mode, run.CommandDigest, run.StartedAt = modeCommand, text(r.validationDigest(*d)), s.Now
		if r.outcomes(t.cp, s.c.Iteration, "validation") >= run.Number {
			s.run() // an outcome that lies there already is not this run's
		}
	})
}

// reruns begins a validation again that ended without a verdict.
func (r *session) reruns(on run.On) *move {
	t := r.validation(on.Subject)
	if t == nil {
		return nil
	}
	why := ""
	switch out := t.validation.Outcome; {
	case (out == outStopped || out == outNotStarted) && !r.runnable(*r.defs[t.cp]):
		why = "its command is not trusted any more"
	case out == outStopped:
		why = "placet was stopped"
	case out == outLost && r.cfg.Interrupted == interruptedAuto:
		why = "the validation was lost"
	default:
		return nil
	}
	return r.runAgain(t.cp, why, r.cause(t.validationRel))
}

// losesRun asks what became of a validation.
func (r *session) losesRun(on run.On) *move {
	t := r.validation(on.Subject)
	if t == nil || t.validation.Outcome != outLost || r.OpenAbout(typeInterrupted, t.cp) != nil {
		return nil
	}
	return r.moves(t.cp, "nobody knows how the validation ended", r.cause(t.validationRel), func(s *step) { r.ask(s.change, typeInterrupted, t.cp) })
}

// runAgain records the next run of the same attempt.
func (r *session) runAgain(id, why string, causes []engine.Document) *move {
	return r.moves(id, why, causes, func(s *step) {
		s.closeRequests(gate.Superseded, "the validation runs again", typeInterrupted)
		s.run()
	})
}

// judgement is a verdict on the attempt in hand, and what it was judged by; nil while
// there is none.
type judgement struct {
	Verdict
	t   *attempt
	rel string
}

// judgement judges an attempt whose validation has ended, once.
func (r *session) judgement(id string) *judgement {
	return run.Once(r.Run, "judgement/"+id, func() *judgement { return r.judge(id) })
}

func (r *session) judge(id string) *judgement {
	t, c, d := r.attempt(id), r.checkpoint(id), r.defs[id]
	var j *judgement
	switch v := r.validation(id); {
	case c.Run == nil || d == nil:
		return nil
	case c.Run.Mode == modeResult && t.resultNews && !r.byCommand(*d):
		j = &judgement{r.judgeResult(id, c, t), t, t.rel("result.json")}
	case v != nil && v.validation.Outcome != outStopped && v.validation.Outcome != outLost:
		j = &judgement{r.judgeValidation(id, c, t), t, t.validationRel}
	}
	if j == nil || !j.Passed && t.pending("analysis.json") {
		return nil
	}
	return j
}

// waitsForAnalysis has a failed attempt wait for an analysis, if one may come.
func (r *session) waitsForAnalysis(on run.On) *move {
	j, c := r.judgement(on.Subject), r.checkpoint(on.Subject)
	if j == nil || !r.awaitsAnalysis(c, j) || c.AnalysisUntil != "" {
		return nil
	}
	return r.moves(j.t.cp, "an analysis may come", r.cause(j.rel), func(s *step) { s.c.AnalysisUntil = r.later(r.cfg.OracleWait) })
}

func (r *session) passes(on run.On) *move {
	if j := r.judgement(on.Subject); j != nil && j.Passed {
		return r.verdict(j)
	}
	return nil
}

func (r *session) fails(on run.On) *move {
	j := r.judgement(on.Subject)
	if j == nil || j.Passed || r.awaitsAnalysis(r.checkpoint(on.Subject), j) {
		return nil
	}
	return r.verdict(j)
}

// verdict is the move that a judgement leads to.
func (r *session) verdict(j *judgement) *move {
	m := r.judged(j.Verdict, reasonOf(j.Verdict), r.cause(j.rel), j.t, "")
	if j.Source != fromResult {
		return m
	}
	then := m.Then
	m.Then = func(c *change) {
		then(c)
		seen := &c.State.Checkpoints[j.t.cp].Seen
		seen.Result = append(seen.Result, text(j.t.resultSum))
	}
	return m
}

// judged is a move by a judgement, which the state records with what becomes of the
// attempt by it. closing is why the checkpoint's requests are closed, "" where they stay.
func (r *session) judged(v Verdict, why string, causes []engine.Document, t *attempt, closing string) *move {
	m := r.moves(t.cp, why, causes, func(s *step) {
		if closing != "" {
			s.closeRequests(gate.Superseded, closing)
		}
		s.verdict(v)
	})
	m.To = v.Route.status()
	return m
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

// verdict records a judgement, and what becomes of the attempt by it.
func (s *step) verdict(v Verdict) {
	c, r := s.c, s.r
	s.Keep(verdictDoc(s.id, v.Iteration, v.Run), v)
	h := Judged{
		Iteration: v.Iteration, Run: v.Run, Epoch: c.Epoch, Result: failed, Route: v.Route, FailureType: v.FailureType, Rule: v.Rule,
		Signature: v.Signature, FailedCriteria: bounded(v.FailedCriteria), Timestamp: s.Now, DurationMS: r.duration(s.id, v), Source: v.Source,
	}
	if v.Passed {
		h.Result, c.FinishedAt = passed, s.Now
	}
	c.History = append(c.History, h)
	c.AnalysisUntil, c.Worker = "", nil
	switch {
	case v.Route == routeRetry:
		c.RetryAt = r.later(r.cfg.RetryDelay)
		c.Feedback = append(c.Feedback, Feedback{Iteration: v.Iteration})
	case v.Route.escalates():
		run := v.Run
		s.escalate(Escalation{
			At: s.Now, Iteration: v.Iteration, Run: &run, Route: v.Route, FailureType: v.failure(),
			Reason: r.escalationReason(c, &v, v.Route, ""),
		})
	}
}

// escalate hands the checkpoint to a person.
func (s *step) escalate(e Escalation) {
	e.RequestID, e.MaxIterations = s.r.requestID(typeEscalation, s.id, s.Revision), s.c.MaxIterations
	s.c.Escalation = &e
	s.r.ask(s.change, typeEscalation, s.id)
}

// again gives a checkpoint more attempts, with a note for the next.
func (s *step) again(attempts int, note string) {
	c := s.c
	c.MaxIterations, c.Epoch = c.Iteration+attempts, c.Epoch+1
	c.RetryAt = s.Now
	s.note(note)
	if c.Iteration > 0 { // else upstream completed it: the prompt has the note itself
		c.Feedback = append(c.Feedback, Feedback{Iteration: c.Iteration, Note: text(note)})
	}
}

// note keeps what a person said for the next attempt, until another comes.
func (s *step) note(words string) {
	if words != "" {
		s.c.ExtraFeedback = text(words)
	}
}

// endsWithDependency aborts what waits for an aborted checkpoint.
func (r *session) endsWithDependency(on run.On) *move {
	d := r.defs[on.Subject]
	if d == nil {
		return nil
	}
	for _, dep := range d.Dependencies {
		if other := r.checkpoint(dep); other != nil && other.Status == Aborted && other.Skip != skipForced {
			return r.moves(d.ID, dep+" was aborted", nil, func(s *step) {
				s.c.AbortedBecause, s.c.FinishedAt = becauseDependency, s.Now
				s.closeRequests(gate.Cancelled, dep+" was aborted")
			})
		}
	}
	return nil
}

// mayStart reports whether anything may start at all.
func (r *session) mayStart() bool {
	return r.State.Status == Delegating && r.State.Pause == nil && len(r.slots().escalated) == 0
}

// slots say which checkpoints take up workers.
type slots struct {
	// running have a worker or a validation at work, taken have a slot: one that waits
	// for its next attempt keeps its own. escalated are those that keep all from
	// starting.
	running, taken, escalated []string
}

func (r *session) slots() slots {
	return run.Once(r.Run, "slots", func() slots {
		return slots{r.inStatus(InProgress, Validating), r.inStatus(InProgress, Validating, Retrying), r.inStatus(Escalated)}
	})
}

// retries begins an attempt that is due.
func (r *session) retries(on run.On) *move {
	c := r.checkpoint(on.Subject)
	if !r.mayStart() || len(r.slots().running) >= r.cfg.Workers || r.withheld() || !r.Due(c.RetryAt) || r.unsureAttempt(on.Subject, c.Iteration+1) {
		return nil
	}
	return r.moves(on.Subject, "the next attempt is due", nil, (*step).attempt)
}

// starts begins the first attempt of a checkpoint whose dependencies are met.
func (r *session) starts(on run.On) *move {
	id := on.Subject
	if !r.mayStart() || len(r.slots().taken) >= r.cfg.Workers || len(r.unmet(id)) > 0 || r.withheld() || r.unsureAttempt(id, r.checkpoint(id).Iteration+1) {
		return nil
	}
	return r.moves(id, "its dependencies are met", nil, func(s *step) {
		if s.c.StartedAt == "" {
			s.c.StartedAt = s.Now
		}
		s.attempt()
	})
}

// unsureAttempt reports whether something that lies with an attempt to come is still
// being written or cannot be read: whether it is news later could not be told.
func (r *session) unsureAttempt(id string, n int) bool {
	return slices.ContainsFunc([]string{
		place(id, n, "worker.json"), place(id, n, "result.json"), "delegations/" + id + "/pending-question.json",
	}, func(rel string) bool { return r.Undecidable(r.Snap.In(rel)) })
}

// outcomes is the highest number among the outcomes of a kind that lie with an
// attempt, 0 for none.
func (r *session) outcomes(id string, n int, stem string) int {
	highest := 0
	for _, d := range r.Snap.Under(place(id, n, "")) {
		if of, k, ok := layout.AFLNumber(path.Base(d.Path)); ok && of == stem && !d.Absent() {
			highest = max(highest, k)
		}
	}
	return highest
}

// withheld reports whether an attempt would begin with a command while none
// may.
func (r *session) withheld() bool { return r.cfg.Still && r.cfg.WorkerCommand != "" }

// isMet reports whether what depends on a checkpoint may start.
func isMet(c *Checkpoint) bool {
	return c != nil && (c.Status == Completed || c.Status == Aborted && c.Skip == skipForced)
}

// attempt begins the next attempt: a fresh worker, nothing asked, and nothing
// that lies there already is news.
func (s *step) attempt() {
	c, r := s.c, s.r
	c.Iteration++
	c.LastAttemptAt, c.RetryAt, c.AnalysisUntil, c.Run = s.Now, "", "", nil
	c.Questions = nil
	c.Worker = &Worker{Mode: modeOutside, Number: 1 + r.outcomes(s.id, c.Iteration, "worker-run"), StartedAt: s.Now}
	if digest := r.workerDigest(); digest != "" && r.Snap.Facts.Trusts(digest, worktree(s.id)) {
		c.Worker.Mode, c.Worker.CommandDigest = modeCommand, text(digest)
		c.Worker.Deadline = r.later(r.cfg.WorkerTimeout)
	}
	s.look()
}

// look notes what lies there already.
func (s *step) look() {
	c, r := s.c, s.r
	sum := func(rel string) []text {
		if d := r.Snap.In(rel); d.Present() {
			return []text{text(d.Sum)}
		}
		return nil
	}
	if s.isPrompted() {
		c.Seen.Result, c.Seen.Worker = nil, nil
		return
	}
	c.Seen = Seen{
		Result: sum(place(s.id, c.Iteration, "result.json")), Worker: sum(place(s.id, c.Iteration, "worker.json")),
		Question: sum("delegations/" + s.id + "/pending-question.json"),
	}
}

// isPrompted reports whether a crash came between the attempt's prompt and its
// becoming fact, and left the prompt as it is to be: a worker may have handed
// in by now, and that is news.
func (s *step) isPrompted() bool {
	n := s.c.Iteration
	prompt := s.r.Snap.In(place(s.id, n, "prompt.md"))
	if !prompt.Present() {
		return false
	}
	for _, d := range s.r.Snap.Under(place(s.id, n, "")) {
		switch d.Kind {
		case layout.AFLPrompt, layout.AFLWorker, layout.AFLResult, layout.KindProblem:
		default:
			if !d.Absent() {
				return false // the attempt was fact once: the state is an older one
			}
		}
	}
	return bytes.Equal(prompt.Body, readSession(s.After()).promptMD(s.id))
}

// workerDigest is that of the worker command, "" where there is none.
func (r *session) workerDigest() engine.Digest {
	if r.cfg.WorkerCommand == "" {
		return ""
	}
	return commandDigest("worker", r.cfg.Shell, r.cfg.WorkerCommand)
}

// reopens sets a completed checkpoint to work again because a review blocks it.
func (r *session) reopens(on run.On) *move {
	v := r.State.Review
	if v == nil || v.Status != reopened || len(v.Reopen) == 0 || v.Reopen[0] != on.Subject {
		return nil
	}
	var words []string
	for _, n := range v.Notes {
		if string(n.Checkpoint) == on.Subject && n.Severity == blockingSeverity {
			words = append(words, n.Text)
		}
	}
	return r.moves(on.Subject, "the review blocks it", nil, func(s *step) {
		s.State.Review.Reopen = slices.Clone(v.Reopen[1:])
		s.again(r.cfg.MaxIterations, strings.Join(words, "\n\n"))
		s.c.FinishedAt = ""
	})
}

// revalidates has a completed checkpoint validated again once all that it depends on has
// ended anew: the same attempt, as after the answer env_fixed.
func (r *session) revalidates(on run.On) *move {
	if !r.mayStart() || len(r.slots().running) >= r.cfg.Workers {
		return nil
	}
	b := r.bases()
	if b == nil {
		return nil
	}
	if deps, again := b.awaited(on.Subject); !again || len(deps) > 0 {
		return nil
	}
	return r.moves(on.Subject, "what it depends on was worked on anew", nil, func(s *step) {
		s.c.MaxIterations, s.c.Epoch, s.c.FinishedAt = s.c.Iteration+r.cfg.MaxIterations, s.c.Epoch+1, ""
		s.run()
	})
}

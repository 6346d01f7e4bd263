package afl

import (
	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
)

// validate begins the validation of an attempt.
func (s *step) validate() {
	s.closeRequests(gate.Superseded, s.cp.r.say("move.validated"))
	s.run()
}

// validateAsTold validates an attempt because a person asked for it.
func validateAsTold(s *step, _ *run.Answer) { s.validate() }

// validateFixed validates the same attempt again after somebody fixed the environment.
func validateFixed(s *step, _ *run.Answer) {
	s.c.Epoch++
	s.run()
}

// runAgain begins the next run of the same attempt.
func (s *step) runAgain() {
	s.closeRequests(gate.Superseded, s.cp.r.say("move.runs_again"), typeInterrupted)
	s.run()
}

// run records the next run of an attempt.
func (s *step) run() {
	cp := s.cp
	s.c.AnalysisUntil, s.c.Oracle = "", nil
	s.c.Run = &Run{
		Number: s.c.nextRun(cp.outcomes(s.c.Iteration, "validation")), Mode: modeResult, StartedAt: s.Now,
		TimeoutMS: cp.timeout().Milliseconds(), CommandDigest: text(cp.validationDigest()),
	}
	if cp.isRunnable() {
		s.c.Run.Mode = modeCommand
	}
}

// nextRun returns the number of an attempt's next run. Validations and verdicts on workers share
// one count. found is the highest number among the existing outcomes, none of which belongs to a
// future run.
func (c *Checkpoint) nextRun(found int) int {
	n := max(found, c.runNumber())
	for _, h := range c.History {
		if h.Iteration == c.Iteration {
			n = max(n, h.Run)
		}
	}
	return n + 1
}

// outcome returns how the validation of the current attempt ended, or nil if it has no outcome or a
// result is judged instead.
func (cp *checkpoint) outcome() *Validation {
	if t := cp.attempt(); cp.def != nil {
		return t.validation.Said
	}
	return nil
}

// usesResult reports whether somebody else's result decides about the current attempt.
func (cp *checkpoint) usesResult() bool {
	return cp.Run != nil && cp.Run.Mode == modeResult && cp.attempt().result.Said != nil && !cp.isByCommand()
}

// trustCommand makes the validation command run once it is trusted.
func trustCommand(cp *checkpoint) *move {
	if cp.Run == nil || cp.Run.Mode != modeResult || cp.usesResult() || !cp.isRunnable() || cp.attempt().isPending() {
		return nil
	}
	if cp.open(typeChanged) != nil && cp.r.run.Held {
		return nil // the answer that brought the trust may still be being written
	}
	why := cp.r.say("move.trusted")
	return cp.move(why, func(s *step) {
		s.closeRequests(gate.Superseded, why, typeChanged)
		s.runTrusted()
	})
}

// rerun restarts a validation that ended without a verdict.
func rerun(cp *checkpoint) *move {
	o := cp.outcome()
	if o == nil {
		return nil
	}
	why := ""
	switch {
	case (o.Outcome == engine.CommandStopped || o.Outcome == engine.CommandNotStarted) && !cp.isRunnable():
		why = "move.untrusted"
	case o.Outcome == engine.CommandStopped:
		why = "move.placet_stopped"
	case o.Outcome == engine.CommandLost && cp.r.cfg.Interrupted == interruptedAuto:
		why = "move.validation_lost"
	default:
		return nil
	}
	return cp.move(cp.r.say(why), (*step).runAgain, cp.try.validation.Doc)
}

// loseRun asks a person what happened to a validation.
func loseRun(cp *checkpoint) *move {
	if o := cp.outcome(); o == nil || o.Outcome != engine.CommandLost || cp.open(typeInterrupted) != nil {
		return nil
	}
	return cp.move(cp.r.say("move.run_lost"), func(s *step) { s.ask(typeInterrupted) }, cp.try.validation.Doc)
}

// failLostRun counts an attempt as failed after its validation was lost.
func failLostRun(r *session, on run.On) *move {
	cp := r.checkpoint(on.Subject)
	return cp.fails(judgeLost(cp, cp.attempt().validation.Sum()), on.Answer.Why(), "")
}

// judgement is a verdict on the current attempt together with the judged document.
type judgement struct {
	Verdict
	doc engine.Document
}

// judgement judges an attempt whose validation has ended, once.
func (cp *checkpoint) judgement() *judgement {
	return run.Once(cp.r.run, "judgement/"+cp.id, func() *judgement {
		t := cp.attempt()
		var j *judgement
		switch o := cp.outcome(); {
		case cp.def == nil:
			return nil
		case cp.usesResult():
			j = &judgement{judgeResult(cp, t.result.Said, t.result.Sum(), t.analysis.Said), t.result.Doc}
		case o != nil && o.Outcome != engine.CommandStopped && o.Outcome != engine.CommandLost:
			j = &judgement{judgeValidation(cp, o, t.validation.Sum(), t.analysis.Said), t.validation.Doc}
		}
		if j == nil || !j.Passed && (t.analysis.Pending || isCodePending(cp)) {
			return nil
		}
		return j
	})
}

// waitForAnalysis makes a failed attempt wait for an analysis if one may come, and starts the command
// that makes one.
func waitForAnalysis(cp *checkpoint) *move {
	j := cp.judgement()
	if j == nil || !cp.awaitsAnalysis(j) || cp.AnalysisUntil != "" && !cp.startsOracle() {
		return nil
	}
	why := "move.analysis"
	if cp.startsOracle() {
		why = "move.oracle"
	}
	return cp.move(cp.r.say(why), func(s *step) {
		if s.c.AnalysisUntil == "" {
			s.c.AnalysisUntil = cp.r.later(cp.oracleWait())
		}
		if cp.startsOracle() {
			left := s.c.AnalysisUntil.Time().Sub(cp.r.run.Snap.Now)
			s.c.Oracle = s.sideRun("oracle-run", s.c.Oracle, OracleDigest(cp.r.cfg.Oracle), left)
		}
	}, j.doc)
}

// awaitsAnalysis reports whether a failed attempt waits for an analysis. It waits no longer than the
// oracle's command runs.
func (cp *checkpoint) awaitsAnalysis(j *judgement) bool {
	there := cp.attempt().analysis.Said != nil && !cp.isAnalysing()
	if j.Passed || there || cp.oracleWait() == 0 && cp.AnalysisUntil == "" {
		return false
	}
	until := cp.AnalysisUntil.Time()
	if cp.AnalysisUntil != "" && !cp.r.run.Snap.Now.Before(until) {
		return false
	}
	if o := cp.oracleEnd(); o != nil && !cp.startsOracle() {
		return false
	}
	cp.r.run.WakeAt(until)
	return true
}

// pass completes an attempt that passed.
func pass(cp *checkpoint) *move {
	if j := cp.judgement(); j != nil && j.Passed {
		return cp.decide(j)
	}
	return nil
}

// fail retries or escalates an attempt that did not pass.
func fail(cp *checkpoint) *move {
	j := cp.judgement()
	if j == nil || j.Passed || cp.awaitsAnalysis(j) {
		return nil
	}
	return cp.decide(j)
}

// decide returns the move that a judgement leads to. A judged result counts as used.
func (cp *checkpoint) decide(j *judgement) *move {
	m := cp.move(j.reason(cp.r.run.Lang), func(s *step) {
		s.closeRequests(gate.Superseded, cp.r.say("move.validated"), typeChanged)
		s.record(j.Verdict)
		if j.Source == fromResult {
			used(&s.c.Seen.Result, j.doc)
		}
	}, j.doc)
	m.To = j.Route.status()
	return m
}

// fails returns the move by a verdict on a failed attempt. closing is the reason for closing the
// checkpoint's requests, "" to leave them open.
func (cp *checkpoint) fails(v Verdict, why, closing string, causes ...engine.Document) *move {
	m := cp.move(why, func(s *step) {
		if closing != "" {
			s.closeRequests(gate.Superseded, closing)
		}
		s.record(v)
	}, causes...)
	m.To = v.Route.status()
	return m
}

// record adds a verdict to the history and applies its consequences to the attempt.
func (s *step) record(v Verdict) {
	c, r := s.c, s.cp.r
	s.Keep(s.cp.verdictFile(v.Iteration, v.Run), v)
	h := Judged{
		Iteration: v.Iteration, Run: v.Run, Epoch: c.Epoch, Result: failed, Route: v.Route, FailureType: v.FailureType, Rule: v.Rule,
		Signature: v.Signature, FailedCriteria: bounded(v.FailedCriteria), Timestamp: s.Now, Source: v.Source,
	}
	if o := s.cp.attempt().validation.Said; o != nil && v.Source == fromValidation {
		h.DurationMS = o.DurationMS
	}
	if v.Passed {
		h.Result, c.FinishedAt = passed, s.Now
		s.reviewPass()
	}
	same := c.sameWith(v)
	c.History = append(c.History, h)
	c.AnalysisUntil, c.Worker, c.Oracle = "", nil, nil
	switch {
	case v.Route == routeRetry:
		c.RetryAt = r.later(r.cfg.RetryDelay)
		c.Feedback = append(c.Feedback, Feedback{Iteration: v.Iteration})
	case v.Route.escalates():
		s.escalate(Escalation{
			Run: &v.Run, Route: v.Route, FailureType: v.failure(),
			Reason: escalationReason(r.run.Lang, v.Route, v, c.Iteration, c.MaxIterations, same, ""),
		})
	}
}

package pal

import (
	"slices"
	"time"

	"placet/engine"
	"placet/engine/run"
)

// end ends a port for good: its loop ends, and it waits for nothing.
func (s *step) end(id, reason string) {
	p := s.port(id)
	s.closeLoop(id, "port_ended", Failed)
	p.CompletedAt, p.Reason, p.StartedAt, p.Deadline = s.Now, text(reason), "", ""
}

// closeLoop ends the loop of a port if it is running.
func (s *step) closeLoop(id, event string, to engine.Status) {
	if l := s.State.loop(id); l != nil && l.Status == Running {
		s.along(ofLoop, loopID(id, l.Round), Running, event, to)
		l.Status, l.Awaiting = to, ""
	}
}

// stop removes a port from its slot.
func (s *step) stop(id, reason string) {
	p := s.port(id)
	p.Reason, p.StartedAt, p.Deadline = text(reason), "", ""
}

// isMet makes a port ready once all its dependencies are met.
func isMet(p *port, _ run.On) *turn {
	if !p.r.isMoving() || p.r.cutOff[p.id] || len(p.unmet()) > 0 {
		return nil
	}
	reason := p.r.say("reason.free")
	if len(p.DependsOn) > 0 {
		reason = p.r.say("reason.met", "ports", joined(p.DependsOn))
	}
	return &turn{reason: reason}
}

// unmet returns the dependencies that a port waits for.
func (p *port) unmet() (ids []string) {
	for _, id := range p.DependsOn {
		d := p.r.run.State.Ports[id]
		if d == nil || d.Status != Complete && !d.Skipped && !slices.Contains(p.Waived, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// startsPort gives a port a slot.
func startsPort(p *port, _ run.On) *turn {
	r := p.r
	if r.run.State.Status != Running || len(r.running()) >= r.slots() || len(p.untrusted()) > 0 || r.conf().Still && p.hasCommands() {
		return nil
	}
	return &turn{reason: r.say("reason.slot", "n", len(r.running())+1, "max", r.slots()), then: func(s *step) {
		one := s.port(p.id)
		one.Starts++
		one.StartedAt, one.Reason = s.Now, ""
		if one.FirstStartedAt == "" {
			one.FirstStartedAt = s.Now
		}
		if limit, err := time.ParseDuration(one.Limits.Timeout); err == nil && limit > 0 && !one.NoDeadline {
			one.Deadline = run.Seconds(s.Now.Time().Add(limit))
		}
		if p.loop == nil || p.loop.Status != Running {
			s.openLoop(p.id)
		}
	}}
}

// openLoop begins the next round of a port.
func (s *step) openLoop(id string) {
	p := s.port(id)
	p.Round++
	p.LastTry++
	s.State.Loops[loopID(id, p.Round)] = &Loop{
		PortID: id, Round: p.Round, ChannelID: id, ImplSession: s.State.session(memberPath(id, roleImpl)), TestSession: s.State.session(memberPath(id, roleTest)),
		MaxRetries: p.Limits.MaxRetries, FirstTry: p.LastTry, Awaiting: awaitResult, Status: Running, History: []Try{},
	}
	s.along(ofLoop, loopID(id, p.Round), "", "opened", Running)
}

// takesResult hands a result to the test worker.
func takesResult(p *port, _ run.On) *turn {
	res := p.resultThat(resultReady)
	if res.Said == nil {
		return nil
	}
	return p.handedIn(roleImpl, res.Doc, p.r.say("reason.result", "n", p.LastTry), func(s *step) {
		l := s.State.loop(p.id)
		l.History = append(l.History, tryOf(res, p.LastTry, s.Now))
		l.Awaiting = awaitFeedback
	})
}

// handedIn returns a turn that a submitted document causes.
func (p *port) handedIn(role string, d engine.Document, reason string, then func(*step)) *turn {
	return &turn{
		reason: reason, causes: []engine.Document{d}, actor: "session:" + p.r.run.State.session(memberPath(p.id, role)), then: then,
	}
}

// isLastTry reports whether another failure would use up the tries.
func (p *port) isLastTry() bool { return p.loop.CurrentTry+1 >= p.loop.MaxRetries }

// countsImpl counts a try that the impl worker reported as failed.
func countsImpl(p *port, _ run.On) *turn {
	res := p.resultThat(resultFailed)
	if res.Said == nil || p.isLastTry() {
		return nil
	}
	return p.handedIn(roleImpl, res.Doc, p.r.say("reason.impl", "n", p.LastTry), func(s *step) {
		s.countImpl(p, res)
		s.nextTry(p.id)
	})
}

func (s *step) countImpl(p *port, res run.HandIn[Result]) {
	l := s.State.loop(p.id)
	try := tryOf(res, p.LastTry, s.Now)
	try.Cause, try.At = causeImpl, s.Now
	l.History = append(l.History, try)
	l.CurrentTry++
}

// nextTry makes a loop wait for the next result.
func (s *step) nextTry(id string) {
	s.port(id).LastTry++
	s.State.loop(id).Awaiting = awaitResult
}

func exhaustedByImpl(p *port, _ run.On) *turn {
	res := p.resultThat(resultFailed)
	if res.Said == nil || !p.isLastTry() {
		return nil
	}
	return exhausted(p, roleImpl, res.Doc, func(s *step) { s.countImpl(p, res) })
}

// exhausted asks a person about a port that has used up its tries.
func exhausted(p *port, role string, d engine.Document, count func(*step)) *turn {
	reason := p.r.say("reason.exhausted", "n", p.loop.CurrentTry+1, "max", p.loop.MaxRetries)
	return p.handedIn(role, d, reason, func(s *step) {
		count(s)
		s.closeLoop(p.id, "retries_exhausted", Escalated)
		s.stop(p.id, "retries_exhausted")
		s.open(testFailure(p, s, role))
	})
}

// countsTests sends the feedback back to the impl worker.
func countsTests(p *port, _ run.On) *turn {
	fb := p.feedbackThat(false)
	if fb.Said == nil || p.isLastTry() {
		return nil
	}
	return p.handedIn(roleTest, fb.Doc, p.r.say("reason.failed", "n", p.LastTry), func(s *step) {
		s.countTests(p, fb)
		s.nextTry(p.id)
	})
}

func (s *step) countTests(p *port, fb run.HandIn[Feedback]) {
	l := s.State.loop(p.id)
	l.last().fill(fb, s.Now)
	l.last().Cause = causeTests
	l.CurrentTry++
}

func exhaustedByTests(p *port, _ run.On) *turn {
	fb := p.feedbackThat(false)
	if fb.Said == nil || !p.isLastTry() {
		return nil
	}
	return exhausted(p, roleTest, fb.Doc, func(s *step) { s.countTests(p, fb) })
}

// passes completes a port once its tests have passed.
func passes(p *port, _ run.On) *turn {
	fb := p.feedbackThat(true)
	if fb.Said == nil || p.isHeld() {
		return nil
	}
	return p.handedIn(roleTest, fb.Doc, p.r.say("reason.passed", "n", p.LastTry), func(s *step) {
		s.State.loop(p.id).last().fill(fb, s.Now)
		s.closeLoop(p.id, "tests_passed", Success)
		s.end(p.id, "tests_passed")
		s.supersede(p.id, "", p.r.say("reason.complete"))
	})
}

// passesButHeld asks a person about a held port whose tests passed.
func passesButHeld(p *port, _ run.On) *turn {
	fb := p.feedbackThat(true)
	if fb.Said == nil || !p.isHeld() {
		return nil
	}
	return p.handedIn(roleTest, fb.Doc, p.r.say("reason.held", "n", p.LastTry), func(s *step) {
		s.State.loop(p.id).last().fill(fb, s.Now)
		s.closeLoop(p.id, "tests_passed", Success)
		s.stop(p.id, "passed_but_held")
		if e := conflictOf(p); e != nil && p.r.mayOpen(*e) {
			s.open(*e)
		}
	})
}

// attemptEnds asks a person about a port if its worker's command ended without the awaited
// document.
func attemptEnds(p *port, _ run.On) *turn {
	role := p.loop.role()
	if !p.r.isMoving() || role == "" || p.isBeingWritten() {
		return nil
	}
	out := p.outcome(role)
	if out.Said == nil {
		return nil
	}
	return &turn{reason: p.r.say("reason.unresolved", "role", role, "outcome", out.Said.Outcome, "file", p.awaitedFile()), causes: []engine.Document{out.Doc}, then: func(s *step) {
		s.stop(p.id, "attempt_unresolved")
		s.open(unresolved(p, role, out))
	}}
}

// timesOut asks a person about a port whose deadline has passed.
func timesOut(p *port, _ run.On) *turn {
	if p.r.run.State.Status != Running || p.Deadline == "" || p.isBeingWritten() || !p.r.run.Due(p.Deadline) {
		return nil
	}
	return &turn{reason: p.r.say("reason.timeout", "at", p.Deadline), actor: "time", then: func(s *step) {
		s.stop(p.id, "deadline_passed")
		s.open(timeoutOf(p))
	}}
}

// blocksBehind stops a port because a dependency failed.
func blocksBehind(p *port, _ run.On) *turn {
	if !p.r.isMoving() || !p.r.cutOff[p.id] {
		return nil
	}
	by := p.blockers()
	return &turn{reason: p.r.say("reason.cut_off", "ports", joined(by)), then: func(s *step) {
		s.stop(p.id, "dependency_failed")
		if failed := p.failedBefore(); len(failed) > 0 && p.r.mayOpen(dependencyOf(p, failed)) {
			s.open(dependencyOf(p, failed))
		}
	}}
}

// blockers returns the dependencies of a port that failed or are cut off, and are not waived.
func (p *port) blockers() []string { return p.r.run.State.blockers(p.id, p.r.cutOff) }

// failedBefore returns the dependencies of a port that failed and are not waived.
func (p *port) failedBefore() []string {
	return slices.Sorted(slices.Values(p.r.run.State.blockers(p.id, nil)))
}

// unblocks makes a blocked port pending again once nothing blocks it.
func unblocks(p *port, _ run.On) *turn {
	if !p.r.isMoving() || p.r.cutOff[p.id] || len(p.openEscalations(stopsOrHolds)) > 0 || p.isPassed() {
		return nil
	}
	return &turn{reason: p.r.say("reason.unblocked"), then: func(s *step) { s.port(p.id).Reason = "" }}
}

// isPassed reports whether the tests of the newest loop passed.
func (p *port) isPassed() bool { return p.loop != nil && p.loop.Status == Success }

// retries begins a new round of a port with the full number of tries.
func retries(p *port, on run.On) *turn {
	e := p.r.run.State.Escalations[on.Answer.Request.ID]
	if e == nil || !e.isOfDependency() && p.r.cutOff[p.id] {
		return nil
	}
	return &turn{reason: on.Answer.Why(), then: func(s *step) {
		one := s.port(p.id)
		if e.isOfDependency() {
			one.Waived = waive(one.Waived, e.Cause)
		}
		one.NoDeadline, one.TokenBase = false, Tokens{p.tokens(roleImpl), p.tokens(roleTest)}
		s.closeLoop(p.id, "port_ended", Failed)
		s.stop(p.id, "")
		s.resolve(on.Answer, "answered", Resolved)
		s.supersede(p.id, on.Answer.Request.ID, p.r.say("reason.retried"))
	}}
}

// leaves returns a turn in which an answer ends a port for good.
func leaves(p *port, on run.On, reason string, then func(*Port)) *turn {
	return &turn{reason: on.Answer.Why(), then: func(s *step) {
		s.end(p.id, reason)
		if then != nil {
			then(s.port(p.id))
		}
		s.resolve(on.Answer, "answered", Resolved)
		s.supersede(p.id, on.Answer.Request.ID, p.r.say("reason.over", "reason", reason))
	}}
}

func skips(p *port, on run.On) *turn {
	return leaves(p, on, "skipped", func(p *Port) { p.Skipped = true })
}

func takesOver(p *port, on run.On) *turn {
	return leaves(p, on, "taken_over", func(p *Port) { p.TakenOverBy = text(on.Answer.By.User) })
}

func givesUp(p *port, on run.On) *turn { return leaves(p, on, "aborted", nil) }

// accepts completes a port whose tests had passed before a person was asked.
func accepts(p *port, on run.On) *turn {
	if !p.isPassed() || len(p.others(on, stopsOrHolds)) > 0 {
		return nil
	}
	return &turn{reason: on.Answer.Why(), then: func(s *step) {
		s.end(p.id, "accepted")
		s.resolve(on.Answer, "dismissed", Dismissed)
		s.supersede(p.id, on.Answer.Request.ID, p.r.say("reason.complete"))
	}}
}

// goesOn continues a port where it stopped.
func goesOn(p *port, on run.On) *turn {
	if p.loop != nil && p.loop.Status != Running || p.r.cutOff[p.id] || len(p.others(on, isStopping)) > 0 {
		return nil
	}
	return &turn{reason: on.Answer.Why(), then: func(s *step) {
		s.stop(p.id, "")
		s.resolve(on.Answer, "dismissed", Dismissed)
		s.lift(on.Answer)
	}}
}

// dismisses closes an escalation and changes nothing else.
func dismisses(r *view, on run.On) *turn {
	return &turn{reason: on.Answer.Why(), subject: on.Answer.Request.ID, then: func(s *step) { s.setResolved(on.Answer, Dismissed); s.lift(on.Answer) }}
}

// resolves closes an escalation whose answer moves nothing else.
func resolves(_ *view, on run.On) *turn {
	return &turn{reason: on.Answer.Why(), subject: on.Answer.Request.ID, then: func(s *step) { s.setResolved(on.Answer, Resolved) }}
}

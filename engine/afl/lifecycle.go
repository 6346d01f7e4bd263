package afl

import (
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
)

// endWithSession ends a checkpoint of a session that has ended.
func endWithSession(cp *checkpoint) *move {
	why := cp.r.say("move.aborted")
	return cp.move(why, func(s *step) {
		s.abort(becauseSession)
		s.closeRequests(gate.Cancelled, why)
	})
}

// adopt creates a checkpoint that upstream has completed.
func adopt(cp *checkpoint) *move {
	finished, cause := wasFinished(cp)
	if !finished {
		return nil
	}
	return beginCheckpoint(cp, "move.adopted", func(s *step) { s.c.FinishedAt = s.Now }, cause...)
}

// define creates a checkpoint from an approved definition.
func define(cp *checkpoint) *move { return beginCheckpoint(cp, "move.defined", func(*step) {}) }

// beginCheckpoint creates a checkpoint. It never overwrites an existing attempt, because the next
// attempt takes the number after the last one.
func beginCheckpoint(cp *checkpoint, why string, then func(*step), causes ...engine.Document) *move {
	switch {
	case cp.def == nil || cp.r.run.State.Status != Approving:
		return nil
	case cp.r.run.Undecidable(cp.r.run.Snap.In(cp.rel("status.json"))):
		return &move{Blocks: true} // it may say that the checkpoint has passed already
	}
	last := cp.lastIteration()
	return cp.move(cp.r.say(why), func(s *step) {
		s.c.DefinitionDigest, s.c.Iteration, s.c.MaxIterations = cp.def.digest(), last, last+cp.r.cfg.MaxIterations
		voidReview(s.change)
		then(s)
	}, causes...)
}

// redefine restarts a checkpoint after its definition changed.
func redefine(cp *checkpoint) *move {
	if cp.def == nil || cp.r.run.State.Status != Approving || cp.DefinitionDigest == cp.def.digest() {
		return nil
	}
	why := cp.r.say("move.redefined")
	return cp.move(why, func(s *step) {
		s.halt()
		s.c.DefinitionDigest, s.c.FinishedAt = cp.def.digest(), ""
		s.another(cp.r.cfg.MaxIterations)
		s.closeRequests(gate.Superseded, why)
		voidReview(s.change)
	})
}

// remove ends a checkpoint that is no longer defined.
func remove(cp *checkpoint) *move {
	if cp.def != nil || cp.r.run.State.Status != Approving {
		return nil
	}
	why := cp.r.say("move.removed")
	return cp.move(why, func(s *step) {
		s.abort(becauseRemoved)
		s.closeRequests(gate.Superseded, why)
	})
}

// retryMore gives a checkpoint more attempts.
func retryMore(s *step, a *run.Answer) {
	n, note, _ := attemptsOf(s.cp.r.run.Lang, a, s.cp.r.cfg.RetryMore)
	noteAttempts(s, a.Request.ID, n)
	s.retryNow(n, note)
}

// redesign sends the design back for another approval.
func redesign(s *step, a *run.Answer) {
	s.another(s.cp.r.cfg.MaxIterations)
	s.note(a.Comment)
	s.State.Pause = &Pause{Reason: pauseDesign, At: s.Now, By: text(a.By.User)}
	closeOf(s.change, "", gate.Superseded, s.cp.r.say("move.redesign"), typeApproval)
}

// skip aborts a checkpoint that a person decided to skip.
func skip(s *step, a *run.Answer) {
	s.abort(becauseSkipped)
	s.c.Skip = map[string]text{optSkip: skipPlain, optSkipForced: skipForced}[a.Response]
}

// endWithDependency aborts a checkpoint that depends on an aborted one.
func endWithDependency(cp *checkpoint) *move {
	for _, dep := range cp.definition().Dependencies {
		if other := cp.r.checkpoint(dep); other.Status == Aborted && !other.isMet() {
			why := cp.r.say("move.dependency_aborted", "checkpoint", dep)
			return cp.move(why, func(s *step) {
				s.c.AbortedBecause, s.c.FinishedAt = becauseDependency, s.Now
				s.closeRequests(gate.Cancelled, why)
			})
		}
	}
	return nil
}

// slots lists the checkpoints that occupy workers.
type slots struct {
	// running have an active worker or validation. taken have a slot, which a checkpoint keeps
	// while it waits for its next attempt. escalated keep every other checkpoint from starting.
	running, taken, escalated []string
}

func (r *session) slots() slots {
	return run.Once(r.run, "slots", func() slots {
		return slots{r.inStatus(InProgress, Validating), r.inStatus(InProgress, Validating, Retrying), r.inStatus(Escalated)}
	})
}

// mayStart reports whether the session lets any attempt start.
func (r *session) mayStart() bool {
	return r.run.State.Status == Delegating && r.run.State.Pause == nil && len(r.slots().escalated) == 0
}

// mayBegin reports whether the next attempt may begin. It may not while a document for it is
// unreadable or may still be being written: placet could not tell later whether that document is
// news.
func (cp *checkpoint) mayBegin() bool {
	n := cp.Iteration + 1
	return !cp.r.cfg.isWithheld() && !slices.ContainsFunc([]string{
		cp.fileOf(n, "worker.json"), cp.fileOf(n, "result.json"), cp.rel("pending-question.json"),
	}, func(rel string) bool { return cp.r.run.Undecidable(cp.r.run.Snap.In(rel)) })
}

// retry begins the next attempt once it is due.
func retry(cp *checkpoint) *move {
	r := cp.r
	if !r.mayStart() || len(r.slots().running) >= r.cfg.Workers || r.cfg.isWithheld() || !r.run.Due(cp.RetryAt) || !cp.mayBegin() {
		return nil
	}
	return cp.move(r.say("move.retry_due"), (*step).beginAttempt)
}

// start begins the first attempt of a checkpoint once its dependencies are met.
func start(cp *checkpoint) *move {
	r := cp.r
	if !r.mayStart() || len(r.slots().taken) >= r.cfg.Workers || len(cp.unmet()) > 0 || !cp.mayBegin() {
		return nil
	}
	return cp.move(r.say("move.start"), func(s *step) {
		if s.c.StartedAt == "" {
			s.c.StartedAt = s.Now
		}
		s.beginAttempt()
	})
}

// unmet returns the dependencies that keep a checkpoint from starting.
func (cp *checkpoint) unmet() []string {
	var list []string
	for _, dep := range cp.definition().Dependencies {
		if other := cp.r.checkpoint(dep); !other.isMet() {
			list = append(list, dep+" ("+cp.r.waitingAs(other)+")")
		}
	}
	return list
}

// waitingAs returns the status of a checkpoint for those that wait for it.
func (r *session) waitingAs(cp *checkpoint) string {
	if cp.inReview() {
		return r.say("why.in_review")
	}
	return string(cp.status())
}

// reopen gives a completed checkpoint more attempts because a review blocks it.
func reopen(cp *checkpoint) *move {
	v := cp.r.run.State.Review
	if v == nil || v.Status != reopened || len(v.Reopen) == 0 || v.Reopen[0] != cp.id {
		return nil
	}
	var words []string
	for _, n := range v.Notes {
		if string(n.Checkpoint) == cp.id && n.Severity == blockingSeverity {
			words = append(words, n.Text)
		}
	}
	return cp.move(cp.r.say("move.reopened"), func(s *step) {
		s.State.Review.Reopen = slices.Clone(v.Reopen[1:])
		s.retryNow(cp.r.cfg.MaxIterations, strings.Join(words, "\n\n"))
		s.c.FinishedAt = ""
	})
}

// revalidate validates the last attempt of a completed checkpoint again, once all its dependencies
// have ended again. The answer env_fixed does the same.
func revalidate(cp *checkpoint) *move {
	r := cp.r
	if !r.mayStart() || len(r.slots().running) >= r.cfg.Workers {
		return nil
	}
	if deps, again := r.bases().awaited(cp); !again || len(deps) > 0 {
		return nil
	}
	return cp.move(r.say("move.revalidate"), func(s *step) {
		s.another(r.cfg.MaxIterations)
		s.c.FinishedAt = ""
		s.run()
	})
}

// bases tracks which checkpoints depend on a reopened one and whether their validation is out of
// date. Reopening a checkpoint changes the base of those that were built on it, so they are
// validated again, in the order of the dependencies, before the next round.
type bases struct {
	reopened map[string]bool // by the current round
	known    map[string]*base
}

// base is what is known about the base of one checkpoint.
type base struct {
	below bool // it depends on a reopened checkpoint, directly or not
	stale bool // a dependency ended after it did
	sound bool // it is final and not stale, and so is everything that it depends on
}

// bases returns the bases in the current round, nil if no round has reopened anything. A round that
// a change of the design made void still counts for what it reopened.
func (r *session) bases() *bases {
	return run.Once(r.run, "bases", func() *bases {
		v := r.run.State.Review
		if v == nil || v.Status != reopened && v.Status != void {
			return nil
		}
		b := &bases{reopened: map[string]bool{}, known: map[string]*base{}}
		for _, n := range v.Notes {
			if n.Severity == blockingSeverity {
				b.reopened[string(n.Checkpoint)] = true
			}
		}
		return b
	})
}

// of returns the base of a checkpoint and computes it once.
func (b *bases) of(cp *checkpoint) *base {
	if known := b.known[cp.id]; known != nil {
		return known
	}
	this := &base{}
	b.known[cp.id] = this // ends the recursion on a cycle
	this.sound = isFinal(cp.Status)
	for _, dep := range cp.definition().Dependencies {
		other := cp.r.checkpoint(dep)
		under := b.of(other)
		this.below = this.below || under.below || b.reopened[dep]
		this.sound = this.sound && under.sound
		this.stale = this.stale || other.Since.Revision > cp.Since.Revision
	}
	// A checkpoint that upstream completed before placet saw it has no attempt to validate.
	this.stale = this.stale && this.below && cp.Status == Completed && cp.Iteration > 0
	this.sound = this.sound && !this.stale
	return this
}

// awaited returns the dependencies that a completed checkpoint waits for before its next
// validation; again is false if it needs none.
func (b *bases) awaited(cp *checkpoint) (deps []string, again bool) {
	if b == nil || cp.def == nil || cp.Status != Completed || cp.Iteration == 0 {
		return nil, false
	}
	for _, dep := range cp.def.Dependencies {
		if other := b.of(cp.r.checkpoint(dep)); (other.below || b.reopened[dep]) && !other.sound {
			deps = append(deps, dep)
		}
	}
	return deps, b.of(cp).stale || len(deps) > 0
}

package afl

import (
	"fmt"
	"strconv"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/templates"
)

const blockingSeverity = "blocking"

// finished reports whether every checkpoint is over, and how many passed.
func (r *session) finished() (all bool, done int) {
	for _, id := range r.order {
		switch r.checkpoint(id).Status {
		case Completed:
			done++
		case Aborted:
		default:
			return false, 0
		}
	}
	return len(r.order) > 0, done
}

// endEmpty ends a session that has nothing left to do.
func endEmpty(r *session, _ run.On) *move {
	if all, done := r.finished(); all && done == 0 {
		return &move{Reason: r.say("move.nothing_left")}
	}
	return nil
}

// completeUnreviewed ends a session that nobody reviews.
func completeUnreviewed(r *session, _ run.On) *move {
	all, done := r.finished()
	if !all || r.cfg.Review != reviewOff {
		return nil
	}
	return &move{Reason: r.say("move.passed", "n", done), Then: func(c *change) {
		closeOf(c, "", gate.Cancelled, r.say("move.review_off"), typeReview)
	}}
}

// openReview begins a round. A report that exists already does not belong to it.
func openReview(r *session, _ run.On) *move {
	v, round := r.run.State.Review, 1
	if v != nil {
		round = v.Round + 1
	}
	due := v == nil || v.Status == void || v.Status == reopened && len(v.Reopen) == 0
	present := r.run.Snap.In(numbered("review", round))
	if all, _ := r.finished(); !all || !due || r.run.Undecidable(present) {
		return nil // whether it is news later could not be told
	}
	return &move{Reason: r.say("move.review"), Then: func(c *change) {
		review := &Review{Round: round, Mode: r.cfg.Review, Status: run.Open, Seen: text(present.Sum)}
		c.State.Review = review
		if r.cfg.Review == reviewPerson {
			review.RequestID = text(r.ask(c, typeReview, "").ID)
		}
	}}
}

// voidReview ends a review of checkpoints that change.
func voidReview(c *change) {
	if v := c.State.Review; v != nil {
		v.Status, v.Reopen = void, nil
		closeOf(c, "", gate.Superseded, phrase(c.State.Language, "move.changed"), typeReview)
	}
}

// openRound is the current round where an answer or a report may end it, nil elsewhere.
// An answer that is fact counts whatever the checkpoints are.
func openRound(r *session, a *run.Answer) *Review {
	v := r.run.State.Review
	if all, _ := r.finished(); v == nil || v.Status != run.Open || !all && !a.HasReceipt() {
		return nil
	}
	return v
}

// reopenedBy are the checkpoints that an answer has worked on again.
func reopenedBy(a *run.Answer) (list []string) {
	for _, option := range a.Selected {
		if id, ok := strings.CutPrefix(option, optReopen); ok {
			list = append(list, id)
		}
	}
	return list
}

// acceptByPerson completes the session as a person says. What an outside reviewer found
// moves nothing then, yet the report quotes it.
func acceptByPerson(r *session, on run.On) *move {
	a := on.Answer
	if openRound(r, a) == nil || len(reopenedBy(a)) > 0 {
		return nil
	}
	return &move{Reason: a.Why(), Then: func(c *change) {
		v := c.State.Review
		v.Status, v.Notes = gate.Accepted, nil
		if a.Comment != "" {
			v.Notes = []Note{{Text: a.Comment}}
		}
		if rep := reviewReport(r, v.Round); rep != nil {
			notes, _ := rep.notes()
			v.Notes = append(v.Notes, notes...)
		}
	}}
}

// blockByPerson has checkpoints worked on again as a person says.
func blockByPerson(r *session, on run.On) *move {
	a := on.Answer
	reopen := reopenedBy(a)
	if openRound(r, a) == nil || len(reopen) == 0 {
		return nil
	}
	return &move{Reason: a.Why(), Then: func(c *change) {
		v := c.State.Review
		v.Status, v.Reopen, v.Notes = reopened, reopen, nil
		for _, id := range reopen {
			v.Notes = append(v.Notes, Note{Checkpoint: text(id), Severity: blockingSeverity, Text: a.Comment})
		}
	}}
}

// reviewReport is the report of a round, nil while there is none that counts.
func reviewReport(r *session, round int) *ReviewReport {
	name := numbered("review", round)
	d := r.run.Snap.In(name)
	if d.Present() && text(d.Sum) == r.run.State.Review.Seen {
		return nil
	}
	return run.ReadHandIn(&r.run.Input, d, "afl/review", func(rep *ReviewReport) error {
		for i, f := range rep.Findings {
			if cp := r.checkpoint(f.Checkpoint); f.Severity == blockingSeverity && (cp.Status != Completed || cp.def == nil) {
				return templates.Errorf("afl.bad.review", "file", name, "i", i, "checkpoint", strconv.Quote(f.Checkpoint))
			}
		}
		return nil
	}).Said
}

// acceptByReport completes the session where the report of an outside reviewer blocks
// nothing.
func acceptByReport(r *session, _ run.On) *move { return byReport(r, gate.Accepted) }

// blockByReport has the checkpoints worked on again that the report blocks.
func blockByReport(r *session, _ run.On) *move { return byReport(r, reopened) }

// byReport is a move by the report of the current round, where an outside reviewer ends
// it with a status.
func byReport(r *session, status string) *move {
	v := openRound(r, nil)
	if v == nil || v.Mode != reviewExternal {
		return nil
	}
	rep := reviewReport(r, v.Round)
	if rep == nil {
		return nil
	}
	notes, blocked := rep.notes()
	if (status == reopened) != (len(blocked) > 0) {
		return nil
	}
	why := r.say("move.review_accepts")
	if len(blocked) > 0 {
		why = r.say("move.review_blocks", "checkpoints", strings.Join(blocked, ", "))
	}
	d := r.run.Snap.In(numbered("review", v.Round))
	return &move{Reason: why, Causes: []engine.Document{d}, Actor: engine.Person(rep.Reviewer), Then: func(c *change) {
		c.State.Review.Status, c.State.Review.Reopen, c.State.Review.Notes = status, blocked, notes
	}}
}

// notes are a report's findings as the state keeps them, and the checkpoints that they
// block.
func (rep *ReviewReport) notes() (notes []Note, blocked []string) {
	blocks := map[string]bool{}
	for _, f := range rep.Findings {
		words := f.Title
		if f.Detail != "" {
			words += "\n" + f.Detail
		}
		if f.File != "" {
			words += "\n" + f.File
			if f.Line != nil {
				words += fmt.Sprintf(":%d", *f.Line)
			}
		}
		if len(notes) < mostWords || f.Severity == blockingSeverity {
			notes = append(notes, Note{Checkpoint: text(f.Checkpoint), Severity: text(f.Severity), Text: templates.Cut(words, longestWords)})
		}
		if f.Severity == blockingSeverity && !blocks[f.Checkpoint] {
			blocks[f.Checkpoint] = true
			blocked = append(blocked, f.Checkpoint)
		}
	}
	return notes, blocked
}

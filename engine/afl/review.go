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

// finished reports whether every checkpoint is final, and how many passed.
func (r *session) finished() (all bool, done int) {
	for _, id := range r.order {
		switch cp := r.checkpoint(id); cp.Status {
		case Completed:
			if cp.inReview() {
				return false, 0
			}
			done++
		case Aborted:
		default:
			return false, 0
		}
	}
	return len(r.order) > 0, done
}

// endEmpty ends a session without a completed checkpoint.
func endEmpty(r *session, _ run.On) *move {
	if all, done := r.finished(); all && done == 0 {
		return &move{Reason: r.say("move.nothing_left")}
	}
	return nil
}

// completeUnreviewed completes a session if reviews are off.
func completeUnreviewed(r *session, _ run.On) *move {
	all, done := r.finished()
	if !all || r.cfg.Review != reviewOff && r.cfg.Review != reviewEach {
		return nil
	}
	return &move{Reason: r.say("move.passed", "n", done), Then: func(c *change) {
		closeOf(c, "", gate.Cancelled, r.say("move.review_off"), typeReview)
	}}
}

// openReview begins a round. An existing report does not belong to it.
func openReview(r *session, _ run.On) *move {
	v, round := r.run.State.Review, 1
	if v != nil {
		round = v.Round + 1
	}
	due := v == nil || v.Status == void || v.Status == reopened && len(v.Reopen) == 0
	present := r.run.Snap.In(numbered("review", round))
	if all, _ := r.finished(); !all || !due || r.run.Undecidable(present) {
		return nil // placet could not tell later whether it is news
	}
	return &move{Reason: r.say("move.review"), Then: func(c *change) {
		review := &Review{Round: round, Mode: r.cfg.Review, Status: run.Open, Seen: text(present.Sum)}
		c.State.Review = review
		if r.cfg.Review == reviewPerson {
			review.RequestID = text(r.ask(c, typeReview, "").ID)
		}
	}}
}

// voidReview makes a review void because the checkpoints change.
func voidReview(c *change) {
	if v := c.State.Review; v != nil {
		v.Status, v.Reopen = void, nil
		closeOf(c, "", gate.Superseded, phrase(c.State.Language, "move.changed"), typeReview)
	}
}

// openRound returns the current round if an answer or a report may end it, and else nil. An answer
// with a receipt counts whatever the checkpoints' statuses are.
func openRound(r *session, a *run.Answer) *Review {
	v := r.run.State.Review
	if all, _ := r.finished(); v == nil || v.Status != run.Open || !all && !a.HasReceipt() {
		return nil
	}
	return v
}

// reopenedBy returns the checkpoints that an answer reopens.
func reopenedBy(a *run.Answer) (list []string) {
	for _, option := range a.Selected {
		if id, ok := strings.CutPrefix(option, optReopen); ok {
			list = append(list, id)
		}
	}
	return list
}

// acceptByPerson completes the session because a person accepts it. The findings of an outside
// reviewer then have no effect, but the report quotes them.
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

// blockByPerson reopens the checkpoints that a person names.
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

// reviewReport returns the report of a round, or nil if there is no valid one.
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

// acceptByReport completes the session if the report of an outside reviewer blocks nothing.
func acceptByReport(r *session, _ run.On) *move { return byReport(r, gate.Accepted) }

// blockByReport reopens the checkpoints that the report blocks.
func blockByReport(r *session, _ run.On) *move { return byReport(r, reopened) }

// byReport returns the move by the outside reviewer's report if that ends the current round with
// the status.
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

// notes returns a report's findings in the form of the state, and the checkpoints that they block.
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

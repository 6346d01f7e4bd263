package afl

import (
	"fmt"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/layout"
	"placet/templates"
)

// ReviewReport is review.json: what an outside reviewer found.
type ReviewReport struct {
	Reviewer string         `json:"reviewer"`
	Scores   map[string]int `json:"scores"`
	Findings []struct {
		Checkpoint string `json:"checkpoint"`
		Severity   string `json:"severity"`
		Title      string `json:"title"`
		Detail     string `json:"detail"`
		File       string `json:"file"`
		Line       *int   `json:"line"`
	} `json:"findings"`
	path string
}

const blockingSeverity = "blocking"

// completesUnreviewed ends a session that nobody reviews.
func (r *session) completesUnreviewed(run.On) *move {
	all, done := r.finished()
	if !all || r.cfg.Review != reviewOff {
		return nil
	}
	return &move{Reason: plural(done, "checkpoint") + " passed", Then: func(c *change) {
		closeOf(c, "", gate.Cancelled, "review is off", typeReview)
	}}
}

// opensReview begins a round. A report that lies there already is not of it.
func (r *session) opensReview(run.On) *move {
	v, round := r.State.Review, 1
	if v != nil {
		round = v.Round + 1
	}
	due := v == nil || v.Status == void || v.Status == reopened && len(v.Reopen) == 0
	lying := r.Snap.In(numbered("review", round))
	if all, _ := r.finished(); !all || !due || r.Undecidable(lying) {
		return nil // whether it is news later could not be told
	}
	return &move{Reason: "every checkpoint is over", Then: func(c *change) {
		review := &Review{Round: round, Mode: r.cfg.Review, Status: run.Open, Seen: text(lying.Sum)}
		c.State.Review = review
		if r.cfg.Review == reviewPerson {
			review.RequestID = text(r.ask(c, typeReview, "").ID)
		}
	}}
}

// reviewed is the round in hand where an answer or a report may end it; nil else. An
// answer that is fact counts whatever the checkpoints are.
func (r *session) reviewed(a *run.Answer) *Review {
	v := r.State.Review
	if all, _ := r.finished(); v == nil || v.Status != run.Open || !all && !a.IsFact() {
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

// acceptedByPerson completes the session as a person says.
func (r *session) acceptedByPerson(on run.On) *move {
	a := on.Answer
	if r.reviewed(a) == nil || len(reopenedBy(a)) > 0 {
		return nil
	}
	return &move{Reason: a.Why(), Then: func(c *change) {
		v := c.State.Review
		v.Status, v.Notes = gate.Accepted, nil
		if a.Comment != "" {
			v.Notes = []Note{{Text: a.Comment}}
		}
		// What an outside reviewer found moves nothing here, yet the report
		// quotes it.
		if rep, ok := r.reviewFile(v.Round); ok {
			notes, _ := rep.notes()
			v.Notes = append(v.Notes, notes...)
		}
	}}
}

// blockedByPerson has checkpoints worked on again as a person says.
func (r *session) blockedByPerson(on run.On) *move {
	a := on.Answer
	reopen := reopenedBy(a)
	if r.reviewed(a) == nil || len(reopen) == 0 {
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

// reviewFile is the report of a round, false while there is none that counts.
func (r *session) reviewFile(round int) (rep ReviewReport, ok bool) {
	d := r.Snap.In(layout.AFLNumbered("review", round, ".json"))
	if d.Present() && text(d.Sum) == r.State.Review.Seen || !r.Decode(d, "afl/review", &rep) {
		return rep, false
	}
	rep.path = r.Snap.Rel(d.Path)
	for i, f := range rep.Findings {
		if f.Severity != blockingSeverity {
			continue
		}
		if c := r.checkpoint(f.Checkpoint); c == nil || c.Status != Completed || r.defs[f.Checkpoint] == nil {
			r.Bad(d, fmt.Sprintf("cannot use %s: /findings/%d/checkpoint: %q is no completed checkpoint of the session", rep.path, i, f.Checkpoint))
			return rep, false
		}
	}
	return rep, true
}

// reported is the report of the round in hand, where an outside reviewer ends it.
func (r *session) reported() (rep ReviewReport, ok bool) {
	v := r.reviewed(nil)
	if v == nil || v.Mode != reviewExternal {
		return rep, false
	}
	return r.reviewFile(v.Round)
}

// acceptedByReport completes the session where the report blocks nothing.
func (r *session) acceptedByReport(run.On) *move {
	rep, ok := r.reported()
	notes, blocked := rep.notes()
	if !ok || len(blocked) > 0 {
		return nil
	}
	return &move{Reason: "the review blocks nothing", Causes: r.cause(rep.path), Actor: engine.Person(rep.Reviewer), Then: func(c *change) {
		c.State.Review.Status, c.State.Review.Notes = gate.Accepted, notes
	}}
}

// blockedByReport has the checkpoints worked on again that the report blocks.
func (r *session) blockedByReport(run.On) *move {
	rep, ok := r.reported()
	notes, blocked := rep.notes()
	if !ok || len(blocked) == 0 {
		return nil
	}
	return &move{Reason: "the review blocks " + strings.Join(blocked, ", "), Causes: r.cause(rep.path), Actor: engine.Person(rep.Reviewer), Then: func(c *change) {
		v := c.State.Review
		v.Status, v.Reopen, v.Notes = reopened, blocked, notes
	}}
}

// notes are a report's findings as the state keeps them, and the checkpoints
// that they block.
func (rep ReviewReport) notes() (notes []Note, blocked []string) {
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

package afl

import (
	"fmt"
	"slices"
	"strings"

	"placet/engine"
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
	sum  engine.Digest
}

const blockingSeverity = "blocking"

// reviews are the edges of the look at the whole.
func (r *reading) reviews(done int) (p engine.Plan, ok bool) {
	v := r.st.Review
	if r.cfg.Review == reviewOff {
		m := r.session(complete, Completed, plural(done, "checkpoint")+" passed", nil)
		m.close("", cancelled, "review is off", typeReview)
		return m.plan(), true
	}
	if v == nil || v.Status == void || v.Status == reopened && len(v.Reopen) == 0 {
		return r.reviewOpened()
	}
	if v.Status != open {
		return p, false
	}
	if a := r.answerOf(typeReview, ""); a != nil {
		return r.reviewAnswered(a), true
	}
	if v.Mode == reviewExternal {
		return r.reviewReported()
	}
	return p, false
}

// reviewOpened begins a round. A report that lies there already is not of it.
func (r *reading) reviewOpened() (p engine.Plan, ok bool) {
	round := 1
	if r.st.Review != nil {
		round = r.st.Review.Round + 1
	}
	lying := r.Snap.In(numbered("review", round))
	if r.Unsure(lying) {
		return p, false // whether it is news later could not be told
	}
	m := r.session(reviewOpened, Delegating, "every checkpoint is over", nil)
	m.st.Review = &Review{Round: round, Mode: r.cfg.Review, Status: open, Seen: text(lying.Sum)}
	if r.cfg.Review == reviewPerson {
		m.st.Review.RequestID = text(m.ask(typeReview, ""))
	}
	return m.plan(), true
}

func (r *reading) reviewAnswered(a *answer) engine.Plan {
	var reopen []string
	for _, option := range a.Selected {
		if id, ok := strings.CutPrefix(option, optReopen); ok {
			reopen = append(reopen, id)
		}
	}
	if len(reopen) == 0 {
		m := r.session(complete, Completed, a.why(), nil).take(a)
		m.st.Review.Status, m.st.Review.Notes = accepted, nil
		if a.Comment != "" {
			m.st.Review.Notes = []Note{{Text: a.Comment}}
		}
		// What an outside reviewer found moves nothing here, yet the report
		// quotes it.
		if rep, ok := r.reviewFile(m.st.Review.Round); ok {
			notes, _ := rep.notes()
			m.st.Review.Notes = append(m.st.Review.Notes, notes...)
		}
		return m.plan()
	}
	m := r.session(reviewBlocking, Delegating, a.why(), nil).take(a)
	m.st.Review.Status, m.st.Review.Reopen, m.st.Review.Notes = reopened, reopen, nil
	for _, id := range reopen {
		m.st.Review.Notes = append(m.st.Review.Notes, Note{Checkpoint: text(id), Severity: blockingSeverity, Text: a.Comment})
	}
	return m.plan()
}

// reviewFile is the report of a round, false while there is none that counts.
func (r *reading) reviewFile(round int) (rep ReviewReport, ok bool) {
	d := r.Snap.In(layout.AFLNumbered("review", round, ".json"))
	if d.Present() && text(d.Sum) == r.st.Review.Seen || !r.Decode(d, "afl/review", &rep) {
		return rep, false
	}
	rep.path, rep.sum = r.Snap.Rel(d.Path), d.Sum
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

func (r *reading) reviewReported() (p engine.Plan, ok bool) {
	rep, ok := r.reviewFile(r.st.Review.Round)
	if !ok {
		return p, false
	}
	notes, blocked := rep.notes()
	if len(blocked) == 0 {
		m := r.session(complete, Completed, "the review blocks nothing", r.causeOf(rep.path, rep.sum))
		m.st.Review.Status, m.st.Review.Notes = accepted, notes
		return m.by(engine.Person(rep.Reviewer)).plan(), true
	}
	m := r.session(reviewBlocking, Delegating, "the review blocks "+strings.Join(blocked, ", "), r.causeOf(rep.path, rep.sum))
	m.st.Review.Status, m.st.Review.Reopen, m.st.Review.Notes = reopened, blocked, notes
	return m.by(engine.Person(rep.Reviewer)).plan(), true
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

// reopens sets a completed checkpoint to work again because a review blocks it.
func (r *reading) reopens() (p engine.Plan, ok bool) {
	v := r.st.Review
	if v == nil || v.Status != reopened || len(v.Reopen) == 0 {
		return p, false
	}
	id := v.Reopen[0]
	c := r.checkpoint(id)
	if c == nil || c.Status != Completed {
		// It was defined anew meanwhile: nothing is left to reopen.
		return p, false
	}
	var words []string
	for _, n := range v.Notes {
		if string(n.Checkpoint) == id && n.Severity == blockingSeverity {
			words = append(words, n.Text)
		}
	}
	m := r.checkpointMove(id, reopenedEvent, Retrying, "the review blocks it", nil)
	m.st.Review.Reopen = slices.Clone(v.Reopen[1:])
	m.again(r.cfg.MaxIterations, strings.Join(words, "\n\n"))
	m.c.FinishedAt = ""
	return m.plan(), true
}

// again gives a checkpoint more attempts, with a note for the next.
func (m *move) again(attempts int, note string) {
	c := m.c
	c.MaxIterations, c.Epoch = c.Iteration+attempts, c.Epoch+1
	c.RetryAt = m.now
	m.note(note)
	if c.Iteration > 0 { // else upstream completed it: the prompt has the note itself
		c.Feedback = append(c.Feedback, Feedback{Iteration: c.Iteration, Note: text(note)})
	}
}

// note keeps what a person said for the next attempt, until another comes.
func (m *move) note(words string) {
	if words != "" {
		m.c.ExtraFeedback = text(words)
	}
}

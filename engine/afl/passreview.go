package afl

import (
	"slices"
	"strconv"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// With review = "each" somebody looks at each checkpoint that passes: the reviewer's command, or a
// person where there is none, it is not trusted, or it hands in nothing that can be used. What
// depends on the checkpoint starts once it is accepted.

// reviewFile is the report of the reviewer's command.
const reviewFile = "checkpoint-review.json"

// reviewPass opens the review of an attempt that passed.
func (s *step) reviewPass() {
	s.c.Review = nil
	r := s.cp.r
	if r.cfg.Review != reviewEach {
		return
	}
	s.c.Review = &PassReview{Mode: reviewPerson, Status: run.Open, Seen: text(r.run.Snap.In(s.cp.file(reviewFile)).Sum), Notes: []Note{}}
	if digest := ReviewerDigest(r.cfg.Reviewer); s.cp.mayRun(r.cfg.Reviewer, digest) {
		s.c.Review.Mode = modeCommand
		s.c.Review.Command = s.sideRun("review-run", nil, digest, r.cfg.WorkerTimeout)
		return
	}
	s.askReviewer()
}

// askReviewer asks a person to review an attempt that passed.
func (s *step) askReviewer() {
	s.c.Review.Mode = reviewPerson
	s.c.Review.RequestID = text(s.cp.r.requestID(typePassed, s.cp.id, s.Revision))
	s.ask(typePassed)
}

// inReview reports whether a checkpoint that passed waits for its reviewer.
func (cp *checkpoint) inReview() bool {
	return cp.Status == Completed && cp.Review != nil && cp.Review.Status == run.Open && cp.def != nil
}

// reviewAction returns the reviewer's command, ok is false if none is wanted.
func (cp *checkpoint) reviewAction() (a engine.Action, ok bool) {
	if !cp.inReview() || cp.Review.Command == nil || cp.Review.Mode != modeCommand || len(cp.r.cfg.Reviewer) == 0 || len(cp.History) == 0 {
		return a, false
	}
	v := cp.verdictOf(cp.History[len(cp.History)-1])
	return cp.sideAction("review-run", layout.AFLReviewRun, cp.r.cfg.Reviewer, cp.Review.Command, v, "AFL_REVIEW", reviewFile, "AFL_PROMPT", "prompt.md"), true
}

// passReport returns the report of the reviewer's command once that has ended; d is the document that
// ended the review. ended is false while the command may still report.
func passReport(cp *checkpoint) (rep *ReviewReport, d engine.Document, ended bool) {
	if !cp.inReview() || cp.Review.Mode != modeCommand || cp.Review.Command == nil {
		return nil, d, false
	}
	end := cp.sideEnd("review-run", cp.Review.Command)
	if end.Said == nil || end.Said.Outcome == engine.CommandStopped {
		return nil, end.Doc, false
	}
	if end.Said.Outcome != engine.CommandFinished || !end.Said.ended() {
		return nil, end.Doc, true
	}
	h := readNews(cp, cp.file(reviewFile), "afl/review", []text{cp.Review.Seen}, checkPassReview)
	if h.Pending {
		return nil, h.Doc, false
	}
	if h.Said == nil {
		return nil, end.Doc, true
	}
	return h.Said, h.Doc, true
}

// checkPassReview refuses a report about another checkpoint.
func checkPassReview(cp *checkpoint, rep *ReviewReport) error {
	for _, f := range rep.Findings {
		if f.Checkpoint != cp.id {
			return templates.Errorf("afl.bad.checkpoint", "file", reviewFile, "is", strconv.Quote(f.Checkpoint), "folder", strconv.Quote(cp.id))
		}
	}
	return nil
}

// acceptPass accepts a checkpoint that its reviewer's command has nothing against.
func acceptPass(cp *checkpoint) *move { return byPassReport(cp, gate.Accepted) }

// reopenPass gives a checkpoint more attempts that its reviewer's command blocks.
func reopenPass(cp *checkpoint) *move { return byPassReport(cp, reopened) }

// byPassReport returns the move by the reviewer's report if that ends the review with the status.
func byPassReport(cp *checkpoint, status string) *move {
	rep, d, _ := passReport(cp)
	if rep == nil {
		return nil
	}
	notes, blocked := rep.notes()
	if (status == reopened) != (len(blocked) > 0) {
		return nil
	}
	why := "move.review_accepts"
	if status == reopened {
		why = "move.reopened"
	}
	m := cp.move(cp.r.say(why), func(s *step) {
		s.c.Review.Status, s.c.Review.Notes = status, notes
		if status == reopened {
			s.workAgain(blockingText(notes))
		}
	}, d)
	m.Actor = engine.Person(rep.Reviewer)
	return m
}

// blockingText joins the findings that block.
func blockingText(notes []Note) string {
	var words []string
	for _, n := range notes {
		if n.Severity == blockingSeverity {
			words = append(words, n.Text)
		}
	}
	return strings.Join(words, "\n\n")
}

// workAgain gives a checkpoint that passed more attempts.
func (s *step) workAgain(note string) {
	s.retryNow(s.cp.r.cfg.MaxIterations, note)
	s.c.FinishedAt = ""
}

// restartReviewer starts the reviewer's command again that placet ended.
func restartReviewer(cp *checkpoint) *move {
	if !cp.inReview() || cp.Review.Mode != modeCommand || cp.Review.Command == nil {
		return nil
	}
	end := cp.sideEnd("review-run", cp.Review.Command)
	if end.Said == nil || end.Said.Outcome != engine.CommandStopped {
		return nil
	}
	return cp.move(cp.r.say("move.placet_stopped"), func(s *step) {
		digest := ReviewerDigest(cp.r.cfg.Reviewer)
		if !cp.mayRun(cp.r.cfg.Reviewer, digest) {
			s.askReviewer()
			return
		}
		s.c.Review.Command = s.sideRun("review-run", s.c.Review.Command, digest, cp.r.cfg.WorkerTimeout)
	}, end.Doc)
}

// askInstead asks a person after the reviewer's command reported nothing that can be used.
func askInstead(cp *checkpoint) *move {
	rep, d, ended := passReport(cp)
	if rep != nil || !ended {
		return nil
	}
	return cp.move(cp.r.say("move.review_failed"), (*step).askReviewer, d)
}

// acceptPassByPerson accepts a checkpoint because a person does.
func acceptPassByPerson(s *step, a *run.Answer) {
	s.c.Review.Status = gate.Accepted
	if a.Comment != "" {
		s.c.Review.Notes = []Note{{Checkpoint: text(s.cp.id), Text: a.Comment}}
	}
}

// reopenPassByPerson gives a checkpoint more attempts because a person wants that.
func reopenPassByPerson(s *step, a *run.Answer) {
	s.c.Review.Status = reopened
	s.c.Review.Notes = []Note{{Checkpoint: text(s.cp.id), Severity: blockingSeverity, Text: a.Comment}}
	s.workAgain(a.Comment)
}

// fillPassed shows a checkpoint that passed.
func fillPassed(r *session, q *run.Request, req *gate.Request) schemas.Object {
	cp := r.checkpoint(string(q.Subject))
	req.Prompt = phrase(r.run.Lang, "ask.checkpoint_review", "checkpoint", cp.id)
	for _, id := range []string{optAccept, optReopenPass} {
		req.Options = append(req.Options, gate.Option{
			ID: id, Description: phrase(r.run.Lang, "option.checkpoint."+id), Effect: phrase(r.run.Lang, "effect.checkpoint."+id, "checkpoint", cp.id),
		})
	}
	req.CommentRequired = []string{optReopenPass}
	return schemas.Object{{Name: "checkpoint", Value: cp.id}, {Name: "iteration", Value: cp.Iteration}}
}

// awaitPassReview says what the review of a checkpoint waits for.
func awaitPassReview(cp *checkpoint, w *run.Waiting) {
	if !cp.inReview() {
		return
	}
	if q := cp.open(typePassed); q != nil {
		w.Answer(q, "afl.why.checkpoint_review", "checkpoint", cp.id)
		return
	}
	if a, ok := cp.reviewAction(); ok {
		waits := cp.r.say("why.reviewing", "checkpoint", cp.id)
		awaitCommand(cp, w, waits, a, cp.r.say("command.reviewer", "start", cp.Review.Command.Number), cp.Review.Command.StartedAt)
		w.For("afl.wait.reviewer", "checkpoint", cp.id)
	}
}

// voidPassReviews closes the reviews of checkpoints that a new design no longer defines.
func voidPassReviews(c *change) {
	for id, cp := range c.State.Checkpoints {
		defined := slices.ContainsFunc(c.State.definitions(), func(d Definition) bool { return d.ID == id })
		if cp.Review != nil && cp.Review.Status == run.Open && !defined {
			cp.Review.Status = void
			closeOf(c, id, gate.Superseded, phrase(c.State.Language, "move.changed"), typePassed)
		}
	}
}

// cancelPassReviews closes the reviews of checkpoints of a session that ends.
func cancelPassReviews(c *change, why string) {
	for _, q := range c.Requests() {
		if q.Status == run.Open && q.Type == typePassed {
			c.Close(q, gate.Cancelled, why)
		}
	}
}

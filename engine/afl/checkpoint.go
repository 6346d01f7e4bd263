package afl

import (
	"time"

	"placet/engine"
	"placet/engine/run"
	"placet/layout"
)

// checkpoint is a checkpoint of a session as one step sees it. Its state is zero until
// the session knows it.
type checkpoint struct {
	*Checkpoint
	r  *session
	id string
	// def is its definition, nil if it is no longer defined.
	def *Definition
	// try is the current attempt, nil until it is read.
	try *attempt
}

// checkpoint returns the checkpoint with an id.
func (r *session) checkpoint(id string) *checkpoint {
	if cp := r.checkpoints[id]; cp != nil {
		return cp
	}
	return &checkpoint{Checkpoint: &Checkpoint{}, r: r, id: id}
}

// inStatus returns the ids of the checkpoints with one of the statuses.
func (r *session) inStatus(statuses ...engine.Status) []string {
	var list []string
	for _, id := range r.order {
		now := r.checkpoint(id).status()
		for _, s := range statuses {
			if s == now {
				list = append(list, id)
			}
		}
	}
	return list
}

// status returns the checkpoint's status. A checkpoint that the session does not know yet counts as
// pending.
func (cp *checkpoint) status() engine.Status {
	if cp.Status == "" {
		return Pending
	}
	return cp.Status
}

// definition returns the checkpoint's definition. It has only the id if the checkpoint is no longer
// defined.
func (cp *checkpoint) definition() Definition {
	if cp.def != nil {
		return *cp.def
	}
	return Definition{ID: cp.id, Name: cp.id, Type: types[0]}
}

// file returns the path of a file of the current attempt, relative to the session's folder.
func (cp *checkpoint) file(name string) string { return cp.fileOf(cp.Iteration, name) }

// fileOf returns the path of a file of an attempt.
func (cp *checkpoint) fileOf(n int, name string) string { return layout.AFLIteration(cp.id, n, name) }

// rel returns the path of a file of the checkpoint that belongs to no attempt.
func (cp *checkpoint) rel(name string) string { return "delegations/" + cp.id + "/" + name }

// timeout returns how long a validation may take.
func (cp *checkpoint) timeout() time.Duration {
	if cp.def != nil && cp.def.TimeoutMS != nil {
		return time.Duration(*cp.def.TimeoutMS) * time.Millisecond
	}
	return cp.r.cfg.ValidationTimeout
}

// open returns the open request of a type about the checkpoint, or nil.
func (cp *checkpoint) open(typ string) *run.Request { return cp.r.run.OpenAbout(typ, cp.id) }

// validationDigest returns the digest of the validation command, or "".
func (cp *checkpoint) validationDigest() engine.Digest {
	if cp.def == nil || cp.def.Command == "" {
		return ""
	}
	return commandDigest("validation", cp.r.cfg.Shell, string(cp.def.Command))
}

// isByCommand reports whether only the validation command decides if an attempt passes. Nothing
// that an agent writes replaces it, even while nobody has agreed to the command.
func (cp *checkpoint) isByCommand() bool {
	return cp.r.cfg.Validation == validateCommand && cp.def != nil && cp.def.Command != ""
}

// isRunnable reports whether placet may run the validation command.
func (cp *checkpoint) isRunnable() bool {
	return cp.isByCommand() && cp.r.run.Snap.Facts.TrustsFor(cp.r.run.Snap.Key, cp.validationDigest(), worktree(cp.id))
}

// isMet reports whether the checkpoints that depend on this one may start.
func (cp *checkpoint) isMet() bool {
	return cp.Status == Completed && !cp.inReview() || cp.Status == Aborted && cp.Skip == skipForced
}

// step is a transition of a checkpoint in the making.
type step struct {
	*change
	cp *checkpoint // before the transition
	c  *Checkpoint // after the transition
}

// move returns a move of the checkpoint; then makes the changes.
func (cp *checkpoint) move(why string, then func(*step), causes ...engine.Document) *move {
	return &move{Reason: why, Causes: causes, Then: func(c *change) { then(&step{c, cp, c.State.Checkpoints[cp.id]}) }}
}

// closeRequests closes the checkpoint's open requests of the given types, or all of them.
func (s *step) closeRequests(result, reason string, types ...string) {
	closeOf(s.change, s.cp.id, result, reason, types...)
}

// ask opens a request about the checkpoint.
func (s *step) ask(typ string) { s.cp.r.ask(s.change, typ, s.cp.id) }

// halt stops the worker and the run of the checkpoint.
func (s *step) halt() {
	s.c.Worker, s.c.Run, s.c.RetryAt, s.c.AnalysisUntil, s.c.Oracle, s.c.Review = nil, nil, "", "", nil, nil
}

// abort ends the checkpoint.
func (s *step) abort(because text) {
	s.halt()
	s.c.AbortedBecause, s.c.FinishedAt = because, s.Now
}

// another begins another epoch with so many more attempts.
func (s *step) another(attempts int) {
	s.c.MaxIterations, s.c.Epoch = s.c.Iteration+attempts, s.c.Epoch+1
}

// retryNow gives the checkpoint more attempts, and a note for the next one.
func (s *step) retryNow(attempts int, note string) {
	s.another(attempts)
	s.c.RetryAt = s.Now
	s.note(note)
	if s.c.Iteration > 0 { // without an attempt the prompt itself shows the note
		s.c.Feedback = append(s.c.Feedback, Feedback{Iteration: s.c.Iteration, Note: text(note)})
	}
}

// note keeps a person's words for the next attempt, until somebody says something else.
func (s *step) note(words string) {
	if words != "" {
		s.c.ExtraFeedback = text(words)
	}
}

// escalate hands the checkpoint to a person.
func (s *step) escalate(e Escalation) {
	e.At, e.Iteration, e.MaxIterations = s.Now, s.c.Iteration, s.c.MaxIterations
	e.RequestID = s.cp.r.requestID(typeEscalation, s.cp.id, s.Revision)
	s.c.Escalation = &e
	s.ask(typeEscalation)
}

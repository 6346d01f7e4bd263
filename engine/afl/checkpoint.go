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
	// def is what it is to be, nil if it is no longer defined.
	def *Definition
	// try is the current attempt, nil until it is read.
	try *attempt
}

// checkpoint is the one of an id.
func (r *session) checkpoint(id string) *checkpoint {
	if cp := r.checkpoints[id]; cp != nil {
		return cp
	}
	return &checkpoint{Checkpoint: &Checkpoint{}, r: r, id: id}
}

// inStatus are the ids of the checkpoints of some statuses.
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

// status is where the checkpoint stands; one that is not known yet will be pending.
func (cp *checkpoint) status() engine.Status {
	if cp.Status == "" {
		return Pending
	}
	return cp.Status
}

// definition is what the checkpoint is to be. Of one that is no longer defined only the
// id is known.
func (cp *checkpoint) definition() Definition {
	if cp.def != nil {
		return *cp.def
	}
	return Definition{ID: cp.id, Name: cp.id, Type: types[0]}
}

// file is the path of a file of the current attempt, relative to the session's folder.
func (cp *checkpoint) file(name string) string { return cp.fileOf(cp.Iteration, name) }

// fileOf is the path of a file of an attempt.
func (cp *checkpoint) fileOf(n int, name string) string { return layout.AFLIteration(cp.id, n, name) }

// rel is the path of a file of the checkpoint besides its attempts.
func (cp *checkpoint) rel(name string) string { return "delegations/" + cp.id + "/" + name }

// timeout is how long a validation may take.
func (cp *checkpoint) timeout() time.Duration {
	if cp.def != nil && cp.def.TimeoutMS != nil {
		return time.Duration(*cp.def.TimeoutMS) * time.Millisecond
	}
	return cp.r.cfg.ValidationTimeout
}

// open is the open request of a type about the checkpoint, nil for none.
func (cp *checkpoint) open(typ string) *run.Request { return cp.r.run.OpenAbout(typ, cp.id) }

// validationDigest is that of the validation command, "" where there is none.
func (cp *checkpoint) validationDigest() engine.Digest {
	if cp.def == nil || cp.def.Command == "" {
		return ""
	}
	return commandDigest("validation", cp.r.cfg.Shell, string(cp.def.Command))
}

// isByCommand reports whether only the validation command decides if an attempt passes.
// What an agent wrote never takes its place, even while nobody has agreed to the command.
func (cp *checkpoint) isByCommand() bool {
	return cp.r.cfg.Validation == validateCommand && cp.def != nil && cp.def.Command != ""
}

// isRunnable reports whether placet may run the validation command.
func (cp *checkpoint) isRunnable() bool {
	return cp.isByCommand() && cp.r.run.Snap.Facts.Trusts(cp.validationDigest(), worktree(cp.id))
}

// isMet reports whether what depends on the checkpoint may start.
func (cp *checkpoint) isMet() bool {
	return cp.Status == Completed || cp.Status == Aborted && cp.Skip == skipForced
}

// step is a transition of a checkpoint being made.
type step struct {
	*change
	cp *checkpoint // before it
	c  *Checkpoint // after it
}

// move is a move of the checkpoint: then changes it.
func (cp *checkpoint) move(why string, then func(*step), causes ...engine.Document) *move {
	return &move{Reason: why, Causes: causes, Then: func(c *change) { then(&step{c, cp, c.State.Checkpoints[cp.id]}) }}
}

// closeRequests closes the open requests of the checkpoint of the given types, or all.
func (s *step) closeRequests(result, reason string, types ...string) {
	closeOf(s.change, s.cp.id, result, reason, types...)
}

// ask opens a request about the checkpoint.
func (s *step) ask(typ string) { s.cp.r.ask(s.change, typ, s.cp.id) }

// halt stops the worker and the run of the checkpoint.
func (s *step) halt() { s.c.Worker, s.c.Run, s.c.RetryAt, s.c.AnalysisUntil = nil, nil, "", "" }

// abort ends the checkpoint.
func (s *step) abort(because text) {
	s.halt()
	s.c.AbortedBecause, s.c.FinishedAt = because, s.Now
}

// another begins another epoch with that many more attempts.
func (s *step) another(attempts int) {
	s.c.MaxIterations, s.c.Epoch = s.c.Iteration+attempts, s.c.Epoch+1
}

// retryNow gives the checkpoint more attempts, with a note for the next.
func (s *step) retryNow(attempts int, note string) {
	s.another(attempts)
	s.c.RetryAt = s.Now
	s.note(note)
	if s.c.Iteration > 0 { // else upstream completed it: the prompt has the note itself
		s.c.Feedback = append(s.c.Feedback, Feedback{Iteration: s.c.Iteration, Note: text(note)})
	}
}

// note keeps what a person said for the next attempt, until somebody says something else.
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

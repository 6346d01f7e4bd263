package store

import (
	"placet/engine"
	"placet/layout"
)

// Ready is a plan of a run that is ready to be committed.
type Ready struct {
	Run    layout.Run
	Family layout.Family
	Plan   engine.Plan
}

// CommitTogether is Commit for plans of several runs that are ready at the same
// moment. They share their rounds, as plans do that come while others are being
// committed, and always in the given order: what a laboratory needs to tell the
// same story twice. It returns one error for each plan.
func (s *committer) CommitTogether(plans []Ready) []error {
	var commits, batch []*commit
	for _, p := range plans {
		j := newCommit(p.Run, p.Family, p.Plan)
		if s.admit(j); j.err == nil {
			batch = append(batch, j)
		}
		commits = append(commits, j)
	}
	for led := len(batch) == 0; !led; {
		// A commit without anything takes the lead; where another's lead took it
		// along, it tries again.
		gate := &commit{}
		s.admit(gate)
		s.queue.enter(gate, func(came []*commit) {
			led = true
			s.rounds(append(came, batch...))
		})
	}
	errs := make([]error, len(commits))
	for i, j := range commits {
		errs[i] = j.err
	}
	return errs
}

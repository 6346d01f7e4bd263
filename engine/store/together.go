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
	var jobs, batch []*job
	for _, p := range plans {
		j := newJob(p.Run, p.Family, p.Plan)
		if s.admit(j); j.err == nil {
			batch = append(batch, j)
		}
		jobs = append(jobs, j)
	}
	for led := len(batch) == 0; !led; {
		// A job without anything takes the lead; where another's lead took it
		// along, it tries again.
		gate := &job{}
		s.admit(gate)
		s.queue.enter(gate, func(came []*job) {
			led = true
			s.rounds(append(came, batch...))
		})
	}
	errs := make([]error, len(jobs))
	for i, j := range jobs {
		errs[i] = j.err
	}
	return errs
}

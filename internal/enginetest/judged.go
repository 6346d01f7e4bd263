package enginetest

import (
	"testing"
	"time"

	"placet/engine"
)

// tornTime is longer than the time for which content that does not parse may be
// half of a write.
const tornTime = 11 * time.Second

// Judged returns the suite's machine wrapped in a judge, which checks every step
// against the laws of every step. It does not change the machine's results.
func Judged(t T, s Suite) engine.Machine { return newJudge(t, s).machine() }

// Calm lets enough time pass on a stage for nothing to count as half of a write
// any more, and settles; then it makes one more pass, which must change
// nothing. It returns the transitions that were made.
func (s *Stage) Calm() []engine.Transition {
	s.T.Helper()
	taken := s.Settle()
	s.Now = s.Now.Add(tornTime)
	taken = append(taken, s.Settle()...)
	before := Tree(s.Files).Clone()
	if again := s.Settle(); len(again) > 0 {
		s.T.Fatalf("it has settled, and then takes %+v", again)
	}
	if diff := compare(before, Tree(s.Files)); diff != "" {
		s.T.Fatalf("it has settled, and then writes (-before +after):\n%s", diff)
	}
	return taken
}

// Fuzzed returns a stage whose machine is judged, for a fuzz target: files of
// other writers must not change, and every plan must obey the laws.
func Fuzzed(t *testing.T, s *Stage, suite Suite) *Stage {
	suite.Machine = s.Machine
	s.T, s.Machine = t, Judged(t, suite)
	return s
}

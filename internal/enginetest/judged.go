package enginetest

import (
	"testing"
	"time"

	"placet/engine"
)

// tornTime is longer than content that does not parse may be half of a write.
const tornTime = 11 * time.Second

// Judged returns the suite's machine with a judge before it: every step that it
// takes is held against the laws of every step. It does not change what the
// machine answers.
func Judged(t T, s Suite) engine.Machine { return newJudge(t, s).machine() }

// Calm lets so much time pass on a stage that nothing counts as half of a write
// any more, and settles; then it looks once more, which must change nothing. It
// returns the transitions that were made.
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

// Fuzzed is a stage whose machine is judged, for a fuzz target: nobody else's
// files may change, and what the machine wants must be legal.
func Fuzzed(t *testing.T, s *Stage, suite Suite) *Stage {
	suite.Machine = s.Machine
	s.T, s.Machine = t, Judged(t, suite)
	return s
}

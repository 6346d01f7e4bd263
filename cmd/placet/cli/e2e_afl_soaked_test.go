package cli_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"placet/engine/afl"
	"placet/layout"
)

// These are the laws of a session that was soaked.

// soakEvent is a line of events.jsonl.
type soakEvent struct {
	Seq     int    `json:"seq"`
	Edge    string `json:"edge"`
	Subject string `json:"subject"`
}

// execution names a validation that was begun.
type execution struct {
	cp     string
	n, run int
}

// executions are the validations that were noted, and how often.
func (s *soak) executions() map[execution]int {
	list := map[execution]int{}
	for line := range strings.Lines(s.read("executions.log")) {
		var e execution
		if _, err := fmt.Sscan(line, &e.cp, &e.n, &e.run); err != nil {
			s.t.Errorf("executions.log: %q: %v", line, err)
		}
		list[e]++
	}
	return list
}

func (s *soak) verify() {
	s.t.Helper()
	st := s.state()
	s.verifyOrder(st)
	ran := s.executions()
	for e, times := range ran {
		if times > 1 {
			s.t.Errorf("%s: attempt %d, run %d was validated %d times", e.cp, e.n, e.run, times)
		}
	}
	for _, id := range s.ids {
		s.verifyHistory(id, st.Checkpoints[id], ran)
	}
	for _, name := range []string{"report.md", "delegations/status.json"} {
		if !s.there(s.dir + "/" + name) {
			s.t.Errorf("%s is not there", name)
		}
	}
	if st.Status != afl.Completed {
		s.t.Errorf("the session is %s", st.Status)
	}
	if out, code := s.placet("check"); code != 0 {
		s.t.Errorf("check: %d: %s", code, out)
	}
}

// verifyOrder checks that the journal is whole, and that nothing started before its
// dependencies were over.
func (s *soak) verifyOrder(st afl.State) {
	s.t.Helper()
	over, seq := map[string]bool{}, 0
	for line := range strings.Lines(s.read(s.dir + "/events.jsonl")) {
		var e soakEvent
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			s.t.Fatalf("events.jsonl: %q: %v", line, err)
		}
		if seq++; e.Seq != seq {
			s.t.Fatalf("events.jsonl: line %d has seq %d", seq, e.Seq)
		}
		switch e.Edge {
		case "pass", "skip_forced":
			over[e.Subject] = true
		case "start":
			for _, dep := range s.deps[e.Subject] {
				if !over[dep] {
					s.t.Errorf("event %d: %s started before %s was over", seq, e.Subject, dep)
				}
			}
		}
	}
	if seq != st.Revision {
		s.t.Errorf("events.jsonl ends with %d, state.json is of revision %d", seq, st.Revision)
	}
}

// verifyHistory checks that the history of a checkpoint has one verdict for every attempt, and
// that further runs of an attempt were due.
func (s *soak) verifyHistory(id string, c *afl.Checkpoint, ran map[execution]int) {
	s.t.Helper()
	if c == nil || c.Iteration != s.handed[id] || len(c.History) != s.handed[id] {
		s.t.Errorf("%s: %d attempts were made; the state says %+v", id, s.handed[id], c)
		return
	}
	for i, h := range c.History {
		if h.Iteration != i+1 {
			s.t.Errorf("%s: verdict %d is on attempt %d", id, i+1, h.Iteration)
		}
		s.verifyAttempt(id, h, ran)
	}
	var want []string
	if s.never[id] && len(c.History) > 0 {
		want = []string{"retry_more", s.ending(id)}
	}
	if !slices.Equal(s.answered[id], want) && !s.slow(c) {
		s.t.Errorf("%s: a person was asked and said %v, expected %v", id, s.answered[id], want)
	}
}

// slow reports whether a validation timed out that should not have: on a machine under load.
func (s *soak) slow(c *afl.Checkpoint) bool {
	return slices.ContainsFunc(c.History[min(1, len(c.History)):], func(h afl.Judged) bool { return h.FailureType == "TIMEOUT" })
}

// verifyAttempt checks one verdict against the runs of its attempt: every run but the last was
// cut off, and the last has the outcome of its worker's script.
func (s *soak) verifyAttempt(id string, h afl.Judged, ran map[execution]int) {
	s.t.Helper()
	at := fmt.Sprintf("%s/delegations/%s/iterations/%d/", s.dir, id, h.Iteration)
	for k := 1; k <= h.Run; k++ {
		var v afl.Validation
		name := layout.AFLNumbered("validation", k, ".json")
		if err := json.Unmarshal([]byte(s.read(at+name)), &v); err != nil {
			s.t.Errorf("%s%s: %v", at, name, err)
			continue
		}
		ended := v.Outcome == "finished" || v.Outcome == "timed_out"
		if cut := v.Outcome == "lost" || v.Outcome == "stopped"; k < h.Run && !cut || k == h.Run && !ended {
			s.t.Errorf("%s%s: outcome %s, the verdict is on run %d", at, name, v.Outcome, h.Run)
		}
		if times := ran[execution{id, h.Iteration, k}]; ended && times != 1 {
			s.t.Errorf("%s%s: %d executions", at, name, times)
		}
	}
	if s.there(at + layout.AFLNumbered("validation", h.Run+1, ".json")) {
		s.t.Errorf("%s: a run after the judged one", at)
	}
	want := map[fate]string{passes: "PASS", fails: "LOGIC_ERROR", hangs: "TIMEOUT"}[s.fateOf(id, h.Iteration)]
	if got := cmp.Or(string(h.FailureType), string(h.Route)); got != want && got != "TIMEOUT" {
		s.t.Errorf("%s: attempt %d is %s, expected %s", id, h.Iteration, got, want)
	}
	for name, due := range map[string]bool{
		layout.AFLNumbered("verdict", h.Run, ".json"): true, "feedback.md": h.Route == "RETRY",
	} {
		if due && !s.there(at+name) {
			s.t.Errorf("%s%s is not there", at, name)
		}
	}
}

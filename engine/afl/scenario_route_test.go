package afl

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/engine/gate"
)

// result is a result.json as an outside validator writes it.
func result(n, exit int, output string, more string) string {
	return fmt.Sprintf(`{"iteration": %d, "exitCode": %d, "output": %q%s}`, n, exit, output, more)
}

// byResult has an outside validator decide.
func byResult(w *world) { w.config(func(c *Config) { c.Validation = ptr(validateResult) }) }

// Where a command decides, nothing that an agent can write takes its place, also while
// nobody has agreed to the command.
func TestAResultNeverTakesThePlaceOfTheCommand(t *testing.T) {
	w := approvedWorld(t, cp{id: "a"})
	w.untilBegun()
	w.Write(w.at("a", "result.json"), result(1, 0, "4 passing", ""))
	took(t, w.settle(), "a:worker_done") // no more than that the worker is done
	w.Write(w.at("a", "result.json"), result(1, 0, "4 passing, again", ""))
	w.Write(w.at("a", "validation.json"), `{"iteration": 1, "run": 1}`)
	took(t, w.settle())
	w.status(Delegating, "a=validating")
	w.trust()
	took(t, w.settle(), "a:trusted")
	if len(w.Begun) != 1 || !strings.HasSuffix(w.Begun[0].Outcome, "validation-2.json") {
		t.Errorf("began %+v", w.Begun)
	}
}

// What stands in place of the outcome of a command that this machine ran, and is not
// what it wrote, says nothing of how the command ended.
func TestAForgedOutcomeIsALostOne(t *testing.T) {
	w := validatingWorld(t, nil, cp{id: "a"})
	w.validated("a", outcome{stdout: "4 passing"})
	for event, issued := range map[string][]engine.Digest{
		"run_lost": {engine.Sum(nil)},
		"pass":     {engine.Sum(nil), engine.Sum([]byte(w.Read(attemptOne + "validation.json")))},
	} {
		snap, _ := w.Full()
		for i, d := range snap.Docs {
			if d.Path == w.In(attemptOne+"validation.json") {
				snap.Docs[i].Issued = issued
			}
		}
		p, err := w.Machine.Step(snap)
		if err != nil || len(p.Transitions) != 1 || p.Transitions[0].Event != event {
			t.Errorf("%+v, %v; expected %s", p.Transitions, err, event)
		}
	}
}

// A run whose command is not trusted any more when it is about to begin, or is
// revoked while it runs, waits for trust: it is no failure.
func TestARunThatIsNotTrustedAnyMoreWaits(t *testing.T) {
	for _, how := range []string{outNotStarted, outStopped} {
		w := validatingWorld(t, nil, cp{id: "a"})
		w.validated("a", outcome{how: how})
		clear(w.Facts.Trusted)
		took(t, w.settle(), "a:rerun")
		took(t, w.settle())
		w.status(Delegating, "a=validating")
		w.trust()
		took(t, w.settle(), "a:trusted")
	}
}

// A command whose files differ in the work tree of a checkpoint waits there alone.
func TestTrustIsOfTheFolderWhereTheCommandRuns(t *testing.T) {
	w := approvedWorld(t, cp{id: "a", command: "sh check.sh"}, cp{id: "b", command: "sh check.sh"})
	w.untilBegun()
	w.trust()
	digest := commandDigest("validation", []string{"bash", "-c"}, "sh check.sh")
	w.Facts.Trusted[digest.In(".afl/worktrees/b")] = false
	w.done("a")
	w.done("b")
	w.settle()
	if len(w.Begun) != 1 || !strings.Contains(w.Begun[0].Outcome, "/a/") {
		t.Errorf("began %+v", w.Begun)
	}
	snap, _ := w.Full()
	waits := New().Account(snap).Untrusted
	if len(waits) != 1 || waits[0].Name != "afl.validation abc12345/b" || waits[0].Prefer != ".afl/worktrees/b" || !slices.Equal(waits[0].Argv, []string{"bash", "-c", "sh check.sh"}) {
		t.Errorf("waits: %+v", waits)
	}
}

// Scenario 7: an outside result decides, never a hook's event.
func TestScenario07ARealResultDecides(t *testing.T) {
	w := approvedWorld(t, cp{id: "a"}, cp{id: "b"}, cp{id: "c"})
	w.config(func(c *Config) { c.ParallelWorkers = ptr(2) })
	byResult(w)
	w.untilBegun()
	w.Write(w.at("a", "result.json"), result(1, 0, `{"hook_event_name":"PostToolUse","tool_name":"Bash"}`, ""))
	w.settle()
	w.status(Delegating, "a=in_progress", "b=in_progress", "c=pending")
	if note := w.Read(w.at("a", "result.json.problem.md")); !strings.Contains(note, "the output is a hook event and exitCode is always 0; write the real result") {
		t.Errorf("note: %s", note)
	}
	w.Write(w.at("a", "result.json"), result(1, 1, "the interface differs\n", `, "failure_type": "DESIGN_MISMATCH"`))
	taken := w.settle()
	if !slices.Contains(taken, "a:worker_done") || !slices.Contains(taken, "a:fail") || !slices.Contains(taken, "escalate") {
		t.Fatalf("took %v", taken)
	}
	w.status(Escalated, "a=escalated", "b=in_progress", "c=pending")
	if w.Has(w.at("a", "result.json.problem.md")) {
		t.Error("the note still stands")
	}
	report := w.Read("delegations/a/escalation.md")
	if !strings.Contains(report, "/afl:architect --resume abc12345") || !strings.Contains(report, "ESCALATE_DESIGN") {
		t.Errorf("report:\n%s", report)
	}
	w.done("b") // a running sibling ends, nothing starts
	w.settle()
	w.Write(w.at("b", "result.json"), result(1, 0, "ok", ""))
	w.settle()
	w.status(Escalated, "a=escalated", "b=completed", "c=pending")
	if len(w.Begun) > 0 {
		t.Errorf("began %+v without trust", w.Begun)
	}

	w = approvedWorld(t, cp{id: "a"})
	w.untilBegun()
	w.done("a")
	w.settle()
	w.status(Delegating, "a=validating")
	w.trust()
	if taken := w.settle(); !cmp.Equal(taken, []string{"a:trusted"}) || len(w.Begun) != 1 {
		t.Errorf("took %v, began %d", taken, len(w.Begun))
	}
}

// Scenario 8: an analysis decides where it comes in time.
func TestScenario08AnAnalysisDecidesInTime(t *testing.T) {
	analysis := `{"failure_type": "ENV_ISSUE", "causes": ["the database is down"], "suggestions": [{"file": "db.go", "why": "start it"}]}`
	w := approvedWorld(t, cp{id: "a"})
	w.untilBegun()
	w.trust()
	w.done("a")
	w.settle()
	w.Write(w.at("a", "analysis.json"), analysis)
	w.validated("a", outcome{exit: 1, stdout: "FAILED tests/x.py::y\n"})
	w.settle()
	if h := w.cp("a").History[0]; h.Route != routeEnv || h.Rule != "L" {
		t.Errorf("%+v", h)
	}
	if report := w.Read("delegations/a/escalation.md"); !strings.Contains(report, "the database is down") {
		t.Errorf("report:\n%s", report)
	}

	w = approvedWorld(t, cp{id: "a"})
	w.config(func(c *Config) { c.OracleWait = ptr("30s") })
	w.untilBegun()
	w.trust()
	w.done("a")
	w.settle()
	w.validated("a", outcome{exit: 1, stdout: "FAILED tests/x.py::y\n"})
	if taken := w.settle(); !cmp.Equal(taken, []string{"a:await_analysis"}) {
		t.Fatalf("took %v", taken)
	}
	if _, p := w.Full(); !p.Wake.Equal(w.Now.Add(30 * time.Second)) {
		t.Errorf("wakes at %s", p.Wake)
	}
	w.pass(30 * time.Second)
	if taken := w.settle(); !cmp.Equal(taken, []string{"a:fail"}) {
		t.Fatalf("took %v", taken)
	}
	w.Write(w.at("a", "analysis.json"), analysis)
	w.settle()
	if h := w.cp("a").History; len(h) != 1 || h[0].Route != routeRetry {
		t.Errorf("%+v", h)
	}
}

// Scenario 9: the last attempt allowed, and the pattern.
func TestScenario09TheLastAttemptEscalates(t *testing.T) {
	for stdout, want := range map[string]Route{"FAILED a.py::b\n": routeMaxRetry, "AFL_FAILURE_TYPE: DESIGN_MISMATCH\n": routeDesign} {
		w := approvedWorld(t, cp{id: "a"})
		w.config(func(c *Config) { c.AutoRetryDelay = ptr("0s") })
		w.untilBegun()
		w.trust()
		for range 4 {
			w.failOnce("a", "FAILED a.py::b\n")
		}
		w.status(Delegating, "a=in_progress")
		w.failOnce("a", stdout)
		w.status(Escalated, "a=escalated")
		if h := w.cp("a").History; len(h) != 5 || h[4].Route != want {
			t.Errorf("%d verdicts, the last %+v", len(h), h[len(h)-1])
		}
		if want == routeMaxRetry && !strings.Contains(w.Read("delegations/a/escalation.md"), "the same failure in the last 5 attempts") {
			t.Errorf("report:\n%s", w.Read("delegations/a/escalation.md"))
		}
	}
	w := approvedWorld(t, cp{id: "a"})
	w.config(func(c *Config) { c.AutoRetryDelay, c.EscalateOnPattern = ptr("0s"), ptr(true) })
	w.untilBegun()
	w.trust()
	w.failOnce("a", "FAILED a.py::b\n")
	w.failOnce("a", "FAILED a.py::b\n")
	w.status(Delegating, "a=in_progress")
	w.failOnce("a", "FAILED a.py::b\n")
	if h := w.cp("a").History; len(h) != 3 || h[2].Route != routePattern {
		t.Errorf("%+v", h)
	}
	if report := w.Read("delegations/a/escalation.md"); !strings.Contains(report, "ESCALATE_PATTERN: the same failure 3 times") {
		t.Errorf("report:\n%s", report)
	}
}

// Scenario 10: timeouts, and what nobody understands.
func TestScenario10TimeoutsAndUnknownCauses(t *testing.T) {
	w := approvedWorld(t, cp{id: "a"})
	w.config(func(c *Config) { c.AutoRetryDelay = ptr("0s") })
	w.untilBegun()
	w.trust()
	for range 2 {
		w.done("a")
		w.settle()
		w.validated("a", outcome{how: outTimedOut, stdout: "…"})
		w.settle()
	}
	if h := w.cp("a").History; len(h) != 2 || h[0].Route != routeRetry || h[1].Route != routeEnv {
		t.Errorf("%+v", h)
	}
	w = approvedWorld(t, cp{id: "a"})
	w.untilBegun()
	w.trust()
	w.done("a")
	w.settle()
	w.validated("a", outcome{exit: 3, stdout: "hm\n"})
	w.settle()
	if h := w.cp("a").History[0]; h.Route != routeUnclear || h.FailureType != "UNKNOWN" {
		t.Errorf("%+v", h)
	}
}

// escalatedWorld is a session whose first checkpoint is escalated after one
// attempt.
func escalatedWorld(t testing.TB, checkpoints ...cp) *world {
	w := approvedWorld(t, checkpoints...)
	w.config(func(c *Config) { c.MaxIterations, c.AutoRetryDelay, c.ApprovalQuiet = ptr(1), ptr("0s"), ptr("0s") })
	w.untilBegun()
	w.trust()
	w.failOnce(checkpoints[0].id, "FAILED a.py::b\n")
	w.status(Escalated, checkpoints[0].id+"=escalated")
	return w
}

// Scenario 11: what a person can make of an escalation.
func TestScenario11AnEscalationIsAnswered(t *testing.T) {
	three := []cp{{id: "a"}, {id: "b", after: []string{"a"}}, {id: "c"}}
	t.Run("retry_more", func(t *testing.T) {
		w := escalatedWorld(t, three...)
		id := w.answer(typeEscalation, "retry_more", map[string]any{"comment": "attempts: 1\nlook at the totals"})
		taken := w.settle()
		if diff := cmp.Diff([]string{"a:retry_more", "resolve", "a:retry_due"}, taken); diff != "" {
			t.Error(diff)
		}
		if body := w.Read("delegations/a/iterations/1/feedback.md"); !strings.Contains(body, "look at the totals") {
			t.Errorf("feedback:\n%s", body)
		}
		if c := w.cp("a"); c.MaxIterations != 2 || c.Iteration != 2 || c.Epoch != 1 {
			t.Errorf("%+v", c)
		}
		if body := w.Read("delegations/a/iterations/2/prompt.md"); strings.Count(body, "look at the totals") != 1 {
			t.Errorf("prompt:\n%s", body)
		}
		if body := w.Read("requests/" + id + "/receipt.json"); !strings.Contains(body, `"retry_more"`) {
			t.Errorf("receipt:\n%s", body)
		}
	})
	t.Run("env_fixed", func(t *testing.T) {
		w := escalatedWorld(t, three...)
		w.answer(typeEscalation, "env_fixed", nil)
		w.settle()
		w.status(Delegating, "a=validating")
		if c := w.cp("a"); c.Iteration != 1 || c.Run.Number != 2 {
			t.Fatalf("%+v", c.Run)
		}
		w.validated("a", outcome{})
		w.settle()
		w.status(Delegating, "a=completed", "b=in_progress")
		if !w.Has("delegations/a/iterations/1/validation-2.json") || !w.Has("delegations/a/iterations/1/verdict-2.json") {
			t.Error("no second run beside the first")
		}
	})
	t.Run("skip", func(t *testing.T) {
		w := escalatedWorld(t, three...)
		w.answer(typeEscalation, "skip", nil)
		w.settle()
		w.status(Delegating, "a=aborted", "b=aborted", "c=in_progress")
	})
	t.Run("skip_forced", func(t *testing.T) {
		w := escalatedWorld(t, three...)
		w.answer(typeEscalation, "skip_forced", nil)
		w.settle()
		w.status(Delegating, "a=aborted", "b=in_progress")
	})
	t.Run("abort", func(t *testing.T) {
		w := escalatedWorld(t, cp{id: "a"}, cp{id: "b", after: []string{"a"}}, cp{id: "c"})
		w.passOnce("c")
		w.answer(typeEscalation, "abort", nil)
		w.settle()
		w.status(Aborted, "a=aborted", "b=aborted", "c=completed")
		if !w.Has("report.md") {
			t.Error("no report.md")
		}
	})
	t.Run("two", func(t *testing.T) {
		w := escalatedWorld(t, cp{id: "a"}, cp{id: "c"})
		first := w.open(typeEscalation)
		w.failOnce("c", "FAILED a.py::b\n")
		w.status(Escalated, "a=escalated", "c=escalated")
		w.Respond(first, map[string]any{"response": "retry_more", "attempts": 3})
		w.settle()
		w.status(Escalated, "a=retrying", "c=escalated")
		w.answer(typeEscalation, "skip", nil)
		w.settle()
		w.status(Delegating, "a=in_progress", "c=aborted")
		if c := w.cp("a"); c.MaxIterations != 4 {
			t.Errorf("max %d", c.MaxIterations)
		}
	})
}

// Scenario 12: the design is looked at again.
func TestScenario12RedesignNeedsALaterApproval(t *testing.T) {
	w := escalatedWorld(t, cp{id: "a"}, cp{id: "b", after: []string{"a"}}, cp{id: "c"}, cp{id: "d"})
	w.Write("meta.json", `{"checkpointsApproved": true}`)
	w.passOnce("c")
	w.answer(typeEscalation, "redesign", nil)
	w.settle()
	w.status(Paused, "a=pending", "b=pending", "c=completed", "d=in_progress")
	if p := w.state().Pause; p == nil || p.Reason != pauseDesign {
		t.Fatalf("pause %+v", p)
	}
	first := w.open(typeApproval)
	if first == "" {
		t.Fatal("no request for the checkpoints as they stand")
	}
	w.pass(time.Minute)
	later := "approved_at: " + w.Now.Format(time.RFC3339) + "\n"
	w.Write("specs/checkpoints.yaml", design(later, cp{id: "a", expected: "new"}, cp{id: "c"}, cp{id: "d"}, cp{id: "e"}))
	w.pass(time.Second)
	w.settle()
	w.status(Delegating, "a=in_progress", "b=aborted", "c=completed", "d=in_progress", "e=in_progress")
	if c := w.cp("a"); c.Iteration != 2 || c.History[0].Iteration != 1 {
		t.Errorf("a: %+v", c)
	}
	if q := w.request(first); q.Status != gate.Superseded {
		t.Errorf("the first request is %s", q.Status)
	}
	if body := w.Read("delegations/a/iterations/2/prompt.md"); !strings.Contains(body, "designed anew") {
		t.Errorf("prompt:\n%s", body)
	}
	w.Write("specs/checkpoints.yaml", design(later, cp{id: "a", expected: "new"}, cp{id: "b"}, cp{id: "c"}, cp{id: "d"}, cp{id: "e"}))
	w.settle()
	if st := w.state(); !slices.Contains(st.Specs.Errors, "E6") {
		t.Errorf("a skipped id that came back: %v", st.Specs.Errors)
	}

	w = escalatedWorld(t, cp{id: "a"})
	w.Write("meta.json", `{"checkpointsApproved": true}`)
	w.answer(typeEscalation, "redesign", nil)
	w.settle()
	w.status(Paused, "a=pending") // the flag alone does not suffice
}

// Scenario 13: the checkpoints change under way.
func TestScenario13ChangedCheckpointsPauseTheSession(t *testing.T) {
	w := approvedWorld(t, cp{id: "a"}, cp{id: "b", after: []string{"a"}})
	w.config(func(c *Config) { c.ApprovalQuiet = ptr("0s") })
	w.untilBegun()
	w.trust()
	w.Write("specs/checkpoints.yaml", design(approvedHead, cp{id: "a", command: "rm -rf /"}, cp{id: "b", after: []string{"a"}}))
	w.settle()
	w.status(Paused, "a=in_progress")
	id := w.open(typeApproval)
	if id == "" {
		t.Fatal("nobody is asked")
	}
	w.done("a")
	w.settle()
	if argv := w.Begun[0].Command.Argv; argv[2] != "run a" {
		t.Fatalf("ran %v", argv)
	}
	w.validated("a", outcome{})
	w.settle()
	w.status(Paused, "a=completed", "b=pending")
	w.Write("specs/checkpoints.yaml", design(approvedHead, cp{id: "a"}, cp{id: "b", after: []string{"a"}}))
	w.settle()
	w.status(Delegating, "a=completed", "b=in_progress")
	if q := w.request(id); q.Status != gate.Cancelled {
		t.Errorf("the request is %s", q.Status)
	}
}

const hookQuestion = `{"timestamp": "2025-12-06T18:00:00Z", "checkpoint": "a", "question": %q}`

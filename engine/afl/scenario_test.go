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
	"placet/engine/run"
	"placet/engine/testoutput"
)

// The numbers are those of the family's page. testdata/trees.txt records what a scenario leaves on
// the disk, and the laws' cases have the scenarios that are not here.

// Scenario 1: clean checkpoints, not approved.
func TestScenario01ApprovalIsAskedOnceTheCheckpointsStandStill(t *testing.T) {
	w := newWorld(t)
	w.Write(specsYAML, design("", cp{id: "a"}, cp{id: "b"}, cp{id: "c"}, cp{id: "d"}))
	took(t, w.settle(), "seen", "specs_read")
	w.pass(9 * time.Second)
	took(t, w.settle())
	w.pass(time.Second)
	took(t, w.settle(), "approval_asked")
	w.Tick(w.In("requests/"+w.open(typeApproval)+"/form.md"), "approve", "submit")
	w.settle()
	w.status(Delegating, "a=in_progress", "b=in_progress", "c=in_progress", "d=pending")
	if why := strings.Join(w.account().Why, "\n"); !strings.Contains(why, "d waits in pending for a slot: all 3 are taken by a, b, c") {
		t.Errorf("explain says\n%s", why)
	}
}

// Scenarios 6, 9 and 10, and a signal or a command that never began: the verdict of the last of
// several attempts.
func TestVerdictOfTheLastAttempt(t *testing.T) {
	const test = "FAILED a.py::b\n"
	fails := func(outputs ...string) (list []outcome) {
		for _, stdout := range outputs {
			list = append(list, outcome{exit: 1, stdout: stdout})
		}
		return list
	}
	at0, pattern := func(c *Config) { c.AutoRetryDelay = ptr("0s") }, func(c *Config) { c.AutoRetryDelay, c.EscalateOnPattern = ptr("0s"), ptr(true) }
	for name, c := range map[string]struct {
		change   func(*Config)
		expected string
		outcomes []outcome
		typ      testoutput.Type
		route    Route
	}{
		"what was expected, beside a failure":  {nil, "4 passing", []outcome{{stdout: "4 passing\n2 failing\n"}}, testoutput.LogicError, routeRetry},
		"the most attempts":                    {at0, "", fails(test, test, test, test, test), testoutput.LogicError, routeMaxRetry},
		"a mismatch in the last attempt":       {at0, "", fails(test, test, test, test, "AFL_FAILURE_TYPE: DESIGN_MISMATCH\n"), testoutput.DesignMismatch, routeDesign},
		"a pattern":                            {pattern, "", fails(test, test, test), testoutput.LogicError, routePattern},
		"two timeouts":                         {at0, "", []outcome{{how: engine.CommandTimedOut, stdout: "…"}, {how: engine.CommandTimedOut, stdout: "…"}}, testoutput.Timeout, routeEnv},
		"what nobody understands":              {nil, "", []outcome{{exit: 3, stdout: "hm\n"}}, testoutput.Unknown, routeUnclear},
		"a signal, by the shell's code for it": {nil, "", []outcome{{exit: 137, stdout: "running\n"}}, testoutput.EnvIssue, routeEnv},
	} {
		t.Run(name, func(t *testing.T) {
			w := validatingWorld(t, c.change, cp{id: "a", expected: c.expected})
			for i, o := range c.outcomes {
				if i > 0 {
					w.done("a")
					w.settle()
				}
				w.validated("a", o)
				w.settle()
			}
			h := w.cp("a").History
			if last := h[len(h)-1]; len(h) != len(c.outcomes) || last.FailureType != text(c.typ) || last.Route != c.route {
				t.Errorf("%d verdicts, the last %+v", len(h), last)
			}
		})
	}
}

// No analysis can know better why a command never began, and nothing is claimed about a command
// whose end nobody observed.
func TestAValidationThatNeverBeganIsTheEnvironments(t *testing.T) {
	w := validatingWorld(t, func(c *Config) { c.OracleWait = ptr("30s") }, cp{id: "a"})
	w.Write(attemptOne+"analysis.json", `{"failure_type": "LOGIC_ERROR", "failed_criteria": ["rounding"]}`)
	w.validated("a", outcome{how: engine.CommandNotStarted})
	took(t, w.settle(), "a:fail", "escalate")
	w = validatingWorld(t, nil, cp{id: "a"})
	w.validated("a", outcome{stdout: "running\n"})
	w.Write(attemptOne+"validation.json", strings.Replace(w.Read(attemptOne+"validation.json"), `"exit_code": 0`, `"exit_code": null`, 1))
	w.settle()
	if h := w.cp("a").History[0]; h.Result == passed || !slices.Equal(h.FailedCriteria, []string{"no exit code"}) {
		t.Errorf("%+v", h)
	}
}

// Scenario 8: placet waits for an analysis until a given time.
func TestScenario08AnAnalysisIsWaitedFor(t *testing.T) {
	w := validatingWorld(t, func(c *Config) { c.OracleWait = ptr("30s") }, cp{id: "a"})
	w.validated("a", outcome{exit: 1, stdout: "FAILED tests/x.py::y\n"})
	took(t, w.settle(), "a:await_analysis")
	if _, p := w.Full(); !p.Wake.Equal(w.Now.Add(30 * time.Second)) {
		t.Errorf("wakes at %s", p.Wake)
	}
	w.pass(30 * time.Second)
	took(t, w.settle(), "a:fail")
}

// Scenario 11: two escalations are answered one by one.
func TestScenario11TwoEscalations(t *testing.T) {
	w := escalatedWorld(t, cp{id: "a"}, cp{id: "c"})
	first := w.open(typeEscalation)
	w.failOnce("c", "FAILED a.py::b\n")
	w.Respond(first, map[string]any{"response": "retry_more", "attempts": 3})
	w.settle()
	w.status(Escalated, "a=retrying", "c=escalated")
	w.answer(typeEscalation, "skip", nil)
	w.settle()
	w.status(Delegating, "a=in_progress", "c=aborted")
}

// Scenario 12: the design is revised. The flag of meta.json does not approve it, and a later stamp
// does.
func TestScenario12RedesignNeedsALaterApproval(t *testing.T) {
	w := escalatedWorld(t, cp{id: "a"}, cp{id: "b", after: []string{"a"}}, cp{id: "c"}, cp{id: "d"})
	w.Write("meta.json", `{"checkpointsApproved": true}`)
	w.passOnce("c")
	w.answer(typeEscalation, "redesign", nil)
	w.settle()
	w.status(Paused, "a=pending", "b=pending", "c=completed", "d=in_progress")
	w.pass(time.Minute)
	later := "approved_at: " + w.Now.Format(time.RFC3339) + "\n"
	w.Write(specsYAML, design(later, cp{id: "a", expected: "new"}, cp{id: "c"}, cp{id: "d"}, cp{id: "e"}))
	w.pass(time.Second)
	w.settle()
	w.status(Delegating, "a=in_progress", "b=aborted", "c=completed", "d=in_progress", "e=in_progress")
	w.Write(specsYAML, design(later, cp{id: "a", expected: "new"}, cp{id: "b"}, cp{id: "c"}, cp{id: "d"}, cp{id: "e"}))
	w.settle()
	if st := w.state(); !slices.Contains(st.Specs.Errors, "E6") {
		t.Errorf("a skipped id that came back: %v", st.Specs.Errors)
	}
}

// Scenario 13: the checkpoints change while the session runs, and the approved ones continue.
func TestScenario13ChangedCheckpointsPauseTheSession(t *testing.T) {
	w := approvedWorld(t, cp{id: "a"}, cp{id: "b", after: []string{"a"}})
	w.config(func(c *Config) { c.ApprovalQuiet = ptr("0s") })
	w.untilBegun()
	w.trust()
	w.Write(specsYAML, design(approvedHead, cp{id: "a", command: "rm -rf /"}, cp{id: "b", after: []string{"a"}}))
	w.settle()
	w.done("a")
	w.settle()
	if len(w.Begun) != 1 || w.Begun[0].Command.Argv[2] != "run a" || w.Begun[0].Recorded {
		t.Fatalf("began %+v", w.Begun)
	}
	w.validated("a", outcome{})
	w.settle()
	w.status(Paused, "a=completed", "b=pending")
	w.Write(specsYAML, design(approvedHead, cp{id: "a"}, cp{id: "b", after: []string{"a"}}))
	w.settle()
	w.status(Delegating, "a=completed", "b=in_progress")
}

// Scenario 14: a question. placet ignores the signal that the worker has stopped while there is a
// question, and any other signal.
func TestScenario14QuestionsAreAnswered(t *testing.T) {
	ask := func(w *world, words string) {
		event := fmt.Sprintf(`{"tool_name":"AskUserQuestion","tool_input":{"questions":[{"question":%q,"options":[{"label":"left"},{"label":"right"}]}]}}`, words)
		w.Write("delegations/a/pending-question.json", fmt.Sprintf(hookQuestion, event))
	}
	signal := `{"sessionId": "abc12345", "currentCheckpoint": "a", "iteration": 1, "maxIterations": 5, "status": "validating"}`
	w := approvedWorld(t, cp{id: "a"})
	w.untilBegun()
	w.trust()
	ask(w, "Which way?")
	w.settle()
	w.Put(currentDelegation, signal)
	w.answer(typeClarification, "answer", map[string]any{"comment": "left, please"})
	took(t, w.settle(), "a:answered")
	ask(w, "And then?")
	w.settle()
	ask(w, "Or rather?")
	w.settle()
	w.done("a")
	w.settle()
	w.status(Delegating, "a=validating")

	w = approvedWorld(t, cp{id: "a"})
	w.untilBegun()
	w.trust()
	w.Put(currentDelegation, strings.Replace(signal, "validating", "completed", 1))
	took(t, w.settle())
	w.Put(currentDelegation, signal)
	took(t, w.settle(), "a:worker_done")
}

// A worker command that a signal ended did not end well; one that ended unobserved may have.
func TestAWorkerThatASignalEndedHasFailed(t *testing.T) {
	w := workerWorld(t)
	w.workerEnds("a", engine.CommandFinished, "null", "ended by signal: killed")
	took(t, w.settle(), "a:worker_failed", "escalate")
	w = workerWorld(t)
	w.workerEnds("a", engine.CommandFinished, "null", "")
	took(t, w.settle(), "a:worker_done")
}

// Scenario 16: an aborted session asks nothing.
func TestScenario16Abort(t *testing.T) {
	designing := func(t testing.TB) *world {
		w := newWorld(t)
		w.Write(specsYAML, design("", cp{id: "a"}))
		w.settle()
		return w
	}
	for name, begin := range map[engine.Status]func(testing.TB) *world{
		Designing: designing,
		Escalated: func(t testing.TB) *world { return escalatedWorld(t, cp{id: "a"}) },
	} {
		w := begin(t)
		w.status(name)
		w.Write("control.json", `{"want": "abort", "by": "kim", "reason": "enough"}`)
		w.settle()
		w.status(Aborted)
		if i := slices.IndexFunc(w.state().Requests, func(q *run.Request) bool { return q.Status == run.Open }); i >= 0 {
			t.Errorf("%s: request %s is open", name, w.state().Requests[i].ID)
		}
	}
}

// Scenario 18: a lost worker submits its document meanwhile, and nobody is asked any more.
func TestScenario18AHandInOfALostWorker(t *testing.T) {
	w := workerWorld(t)
	w.workerEnded(engine.CommandLost, "null")
	id := w.open(typeInterrupted)
	w.done("a")
	w.settle()
	if q := w.request(id); q.Status != gate.Superseded {
		t.Errorf("%+v", q)
	}
}

// Scenario 19: one answer cannot both accept and reopen a review.
func TestScenario19AcceptBesideReopen(t *testing.T) {
	w := approvedWorld(t, cp{id: "a"}, cp{id: "b"})
	w.config(func(c *Config) { c.Review, c.AutoRetryDelay = ptr(reviewPerson), ptr("0s") })
	w.untilBegun()
	w.trust()
	w.passOnce("a")
	w.passOnce("b")
	dir := "requests/" + w.open(typeReview)
	w.Tick(w.In(dir+"/form.md"), "accept", "reopen:a", "submit")
	took(t, w.settle())
	if !w.Has(dir + "/problem.md") {
		t.Error("no problem.md")
	}
	delete(w.Files, w.In(dir+"/form.md"))
	w.settle()
	w.answer(typeReview, "reopen:a", map[string]any{"comment": "rounding is wrong"})
	w.settle()
	w.passOnce("a")
	if v := w.state().Review; v.Round != 2 || v.Status != run.Open {
		t.Errorf("%+v", v)
	}
}

// Scenario 20: two different answers do not count, and a later one moves nothing.
func TestScenario20AnswersThatDoNotCount(t *testing.T) {
	w := escalatedWorld(t, cp{id: "a"}, cp{id: "b"})
	id := w.open(typeEscalation)
	w.Tick(w.In("requests/"+id+"/form.md"), "skip:", "submit")
	w.Respond(id, map[string]any{"response": "retry_more"})
	took(t, w.settle())
	if note := w.Read("requests/" + id + "/problem.md"); !strings.Contains(note, "form.md") {
		t.Errorf("both count: %s", note)
	}
	delete(w.Files, w.In("requests/"+id+"/response.json"))
	w.settle()
	w.status(Delegating, "a=aborted")
	w.Respond(id, map[string]any{"response": "retry_more"}) // twice
	took(t, w.settle())
}

// Scenario 23: the second layout, both layouts together, and the features of YAML.
func TestScenario23LayoutsAndYAML(t *testing.T) {
	w := newWorld(t)
	w.config(func(c *Config) { c.ApprovalQuiet = ptr("0s") })
	w.Write("meta.json", `{"checkpointsApproved": true}`)
	w.Write("checkpoints/a.json", `{"id": "a", "validation": {"command": "run a", "expectedOutput": 200}}`)
	w.Write("checkpoints/b.json", `{"name": "B", "validation": {"command": "run b"}, "prerequisites": {"tasks": ["a"], "environment": ["redis"]}}`)
	w.settle()
	w.status(Delegating, "a=in_progress", "b=pending")
	w = newWorld(t)
	w.Write(specsYAML, design(approvedHead, cp{id: "x"}))
	w.Write("checkpoints/a.json", `{"validation": {"command": "run a"}}`)
	w.settle()
	if st := w.state(); st.Checkpoints["a"] != nil || !slices.Contains(st.Specs.Warnings, "W6") {
		t.Errorf("warnings %v", st.Specs.Warnings)
	}
	w = newWorld(t)
	w.Write(specsYAML, "approved_at: 2026-01-19T10:30:00Z\ncheckpoints:\n  - id: 010\n    validation:\n      command: |\n        run a\n        run b\n      expected: 200\n      timeout: 60000\n")
	w.settle()
	if d := w.state().Approved.Definitions[0]; d.ID != "010" || d.Command != "run a\nrun b" || d.Expected != "200" || *d.TimeoutMS != 60000 {
		t.Errorf("%+v", d)
	}
}

// A state as large as the page's example reads back as it was written.
func TestStateReadsBackAsWritten(t *testing.T) {
	w := escalatedWorld(t, cp{id: "a"}, cp{id: "b", after: []string{"a"}})
	st := w.state()
	again, err := st.encode()
	if diff := cmp.Diff(w.Read("state.json"), string(again)); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

package afl

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"placet/engine/gate"
)

// Scenario 1: clean checkpoints, not approved.
func TestScenario01ApprovalIsAskedOnceTheCheckpointsStandStill(t *testing.T) {
	w := newWorld(t)
	w.Write("specs/checkpoints.yaml", design("", cp{id: "a"}, cp{id: "b"}, cp{id: "c"}, cp{id: "d"}))
	if taken := w.settle(); !cmp.Equal(taken, []string{"seen", "specs_read"}) {
		t.Fatalf("took %v", taken)
	}
	w.pass(9 * time.Second)
	if taken := w.settle(); len(taken) > 0 {
		t.Fatalf("took %v before it was quiet for 10 s", taken)
	}
	w.pass(time.Second)
	if taken := w.settle(); !cmp.Equal(taken, []string{"approval_asked"}) {
		t.Fatalf("took %v", taken)
	}
	id := w.open(typeApproval)
	w.Tick(w.In("requests/"+id+"/form.md"), "approve", "submit")
	taken := w.settle()
	want := []string{"approved", "a:defined", "b:defined", "c:defined", "d:defined", "delegate", "a:start", "b:start", "c:start"}
	if diff := cmp.Diff(want, taken); diff != "" {
		t.Error(diff)
	}
	w.status(Delegating, "a=in_progress", "b=in_progress", "c=in_progress", "d=pending")
	for _, id := range []string{"a", "b", "c"} {
		if !w.Has("delegations/" + id + "/iterations/1/prompt.md") {
			t.Errorf("no prompt for %s", id)
		}
	}
	if w.Has("delegations/d/iterations/1/prompt.md") {
		t.Error("a prompt for d, which has no slot")
	}
	if !w.Has("requests/" + id + "/receipt.json") {
		t.Error("no receipt")
	}
}

// Scenario 2: approved by upstream.
func TestScenario02UpstreamsApprovalCounts(t *testing.T) {
	for name, set := range map[string]func(*world){
		"meta": func(w *world) {
			w.Write("meta.json", `{"sessionId": "abc12345", "checkpointsApproved": true}`)
			w.Write("specs/checkpoints.yaml", design("", cp{id: "a"}))
		},
		"stamp": func(w *world) { w.Write("specs/checkpoints.yaml", design(approvedHead, cp{id: "a"})) },
	} {
		w := newWorld(t)
		set(w)
		w.settle()
		w.status(Delegating, "a=in_progress")
		if st := w.state(); len(st.Requests) > 0 || st.Approved.Source != name {
			t.Errorf("%s: source %s, requests %v", name, st.Approved.Source, st.Requests)
		}
	}
	w := newWorld(t)
	w.Write("specs/checkpoints.yaml", design(approvedHead, cp{id: "coupon-a", after: []string{"coupon-b"}}, cp{id: "coupon-b", after: []string{"coupon-a"}}))
	w.settle()
	w.status(Designing)
	if note := w.Read("specs/checkpoints.yaml.problem.md"); !strings.Contains(note, "cycle coupon-a → coupon-b → coupon-a") {
		t.Errorf("note: %s", note)
	}
	w.pass(10 * time.Second)
	w.settle()
	form := w.Read("requests/" + w.open(typeApproval) + "/form.md")
	if strings.Contains(form, "- [ ] approve") || !strings.Contains(form, "coupon-a → coupon-b") {
		t.Errorf("form:\n%s", form)
	}
}

// Scenario 3: request_changes and reject.
func TestScenario03ChangesAreAskedForOnce(t *testing.T) {
	w := newWorld(t)
	w.config(func(c *Config) { c.ApprovalQuiet = ptr("0s") })
	w.Write("specs/checkpoints.yaml", design("", cp{id: "a"}))
	w.settle()
	first := w.answer(typeApproval, "request_changes", map[string]any{"comment": "split it"})
	w.settle()
	if body := w.Read("changes.md"); !strings.Contains(body, "split it") {
		t.Errorf("changes.md:\n%s", body)
	}
	w.pass(time.Minute)
	if taken := w.settle(); len(taken) > 0 || w.open(typeApproval) != "" {
		t.Errorf("asked again for the same definitions: %v", taken)
	}
	w.Write("specs/checkpoints.yaml", design("# only a comment\n", cp{id: "a"}))
	if taken := w.settle(); len(taken) > 0 {
		t.Errorf("a comment is no other design: %v", taken)
	}
	w.Write("specs/checkpoints.yaml", design("", cp{id: "a"}, cp{id: "b"}))
	w.settle()
	second := w.open(typeApproval)
	if second == "" || second == first || w.Has("changes.md") {
		t.Errorf("request %q after %q, changes.md %v", second, first, w.Has("changes.md"))
	}
	w.Write("specs/checkpoints.yaml", design("", cp{id: "a"}, cp{id: "b"}, cp{id: "c"}))
	w.settle()
	if q := w.request(second); q.Status != gate.Superseded || !strings.Contains(w.Read("requests/"+second+"/receipt.json"), "superseded") {
		t.Errorf("the old request is %s", q.Status)
	}
	w.answer(typeApproval, "reject", nil)
	w.settle()
	w.status(Aborted)
	if !w.Has("report.md") {
		t.Error("no report.md")
	}
}

// Scenario 4: dependencies, not barriers.
func TestScenario04ACheckpointStartsWhenItsOwnDependenciesAreMet(t *testing.T) {
	w := approvedWorld(t, cp{id: "a"}, cp{id: "b", after: []string{"a"}}, cp{id: "c"})
	w.untilBegun()
	w.trust()
	w.settle()
	w.status(Delegating, "a=in_progress", "b=pending", "c=in_progress")
	if body := w.Read("delegations/status.json"); !strings.Contains(body, `"totalRounds": 2`) || !strings.Contains(body, `"currentRound": 1`) {
		t.Errorf("status.json:\n%s", body)
	}
	w.passOnce("a")
	w.status(Delegating, "a=completed", "b=in_progress", "c=in_progress")
}

// Scenario 5: an attempt that passes.
func TestScenario05AnAttemptPasses(t *testing.T) {
	w := approvedWorld(t, cp{id: "a", expected: "4 passing"}, cp{id: "b"})
	w.untilBegun()
	w.trust()
	w.done("a")
	if taken := w.settle(); !slices.Contains(taken, "a:worker_done") || w.cp("a").Run.Mode != modeCommand {
		t.Fatalf("took %v, run %+v", taken, w.cp("a").Run)
	}
	if len(w.Begun) != 1 || w.Begun[0].Command.Argv[2] != "run a" || w.Begun[0].Recorded {
		t.Fatalf("began %+v", w.Begun)
	}
	w.validated("a", outcome{stdout: "4 passing (3ms)\n"})
	if taken := w.settle(); !slices.Contains(taken, "a:pass") {
		t.Fatalf("took %v", taken)
	}
	if body := w.Read("delegations/a/iterations/1/verdict.json"); !strings.Contains(body, `"route": "PASS"`) {
		t.Errorf("verdict:\n%s", body)
	}
	if body := w.Read("delegations/a/routing.json"); !strings.Contains(body, `"not_needed"`) || !strings.Contains(body, `"PASS"`) {
		t.Errorf("routing:\n%s", body)
	}
}

// Scenario 6: what only looks like a pass; feedback; the next attempt.
func TestScenario06AFailureIsRetriedWithFeedback(t *testing.T) {
	for expected, stdout := range map[string]string{"3 passed": "13 passed\n", "4 passing": "4 passing\n2 failing\n"} {
		w := approvedWorld(t, cp{id: "a", expected: expected}, cp{id: "z"})
		w.untilBegun()
		w.trust()
		w.done("a")
		w.settle()
		w.validated("a", outcome{stdout: stdout})
		w.settle()
		h := w.cp("a").History[0]
		if h.FailureType != "LOGIC_ERROR" || h.Route != routeRetry {
			t.Fatalf("%s: %+v", expected, h)
		}
		feedback := w.Read("delegations/a/iterations/1/feedback.md")
		if taken := w.settle(); len(taken) > 0 {
			t.Fatalf("took %v before the delay", taken)
		}
		w.pass(5 * time.Second)
		w.settle()
		if prompt := w.Read("delegations/a/iterations/2/prompt.md"); !strings.Contains(prompt, feedback[strings.Index(feedback, "##"):]) {
			t.Errorf("the prompt does not carry the feedback:\n%s", prompt)
		}
		w.passOnce("a")
		routing := w.Read("delegations/a/routing.json")
		if !strings.Contains(routing, `"RETRY"`) || !strings.Contains(routing, `"effective"`) {
			t.Errorf("routing:\n%s", routing)
		}
	}
}

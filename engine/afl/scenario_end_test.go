package afl

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"placet/engine/gate"
	"placet/engine/run"
)

// Scenario 18: what was under way when placet was killed, or stopped.
func TestScenario18InterruptedCommands(t *testing.T) {
	begin := func(change func(*Config)) *world {
		w := approvedWorld(t, cp{id: "a"})
		if change != nil {
			w.config(change)
		}
		w.untilBegun()
		w.trust()
		w.done("a")
		w.settle()
		return w
	}
	t.Run("ask, run again", func(t *testing.T) {
		w := begin(nil)
		w.validated("a", outcome{how: outLost})
		w.settle()
		w.status(Delegating, "a=validating")
		w.answer(typeInterrupted, "run_again", nil)
		w.settle()
		if len(w.Begun) != 2 || !strings.HasSuffix(w.Begun[1].Outcome, "validation-2.json") || w.cp("a").Iteration != 1 {
			t.Errorf("began %+v", w.Begun)
		}
	})
	t.Run("ask, failed", func(t *testing.T) {
		w := begin(nil)
		w.validated("a", outcome{how: outLost})
		w.settle()
		w.answer(typeInterrupted, "failed", nil)
		w.settle()
		w.status(Escalated, "a=escalated")
		if h := w.cp("a").History[0]; h.Route != routeEnv {
			t.Errorf("%+v", h)
		}
	})
	t.Run("rerun", func(t *testing.T) {
		w := begin(func(c *Config) { c.Interrupted = ptr("rerun") })
		w.validated("a", outcome{how: outLost})
		if taken := w.settle(); !cmp.Equal(taken, []string{"a:rerun"}) {
			t.Errorf("took %v", taken)
		}
	})
	t.Run("stopped", func(t *testing.T) {
		w := begin(nil)
		w.validated("a", outcome{how: outStopped})
		if taken := w.settle(); !cmp.Equal(taken, []string{"a:rerun"}) || w.cp("a").Iteration != 1 {
			t.Errorf("took %v", taken)
		}
	})
	t.Run("not started", func(t *testing.T) {
		w := begin(nil)
		w.validated("a", outcome{how: outNotStarted})
		w.settle()
		if h := w.cp("a").History[0]; h.Route != routeEnv {
			t.Errorf("%+v", h)
		}
	})
	t.Run("worker gone", func(t *testing.T) {
		w := workerWorld(t)
		w.workerEnded(outLost, "null")
		w.answer(typeInterrupted, "validate", nil)
		w.settle()
		w.status(Delegating, "a=validating")
		w = workerWorld(t)
		w.workerEnded(outLost, "null")
		id := w.open(typeInterrupted)
		w.done("a") // a hand-in meanwhile
		w.settle()
		if q := w.request(id); q.Status != gate.Superseded {
			t.Errorf("%+v", q)
		}
		w = workerWorld(t)
		w.workerEnded(outLost, "null")
		w.answer(typeInterrupted, "run_again", nil)
		w.settle()
		if len(w.Begun) != 2 || w.cp("a").Worker.Number != 2 {
			t.Errorf("began %d", len(w.Begun))
		}
	})
	t.Run("worker alive", func(t *testing.T) {
		w := workerWorld(t)
		if taken := w.settle(); len(taken) > 0 {
			t.Errorf("took %v", taken)
		}
	})
}

// Scenario 19: the review, and sessions that end.
func TestScenario19Review(t *testing.T) {
	begin := func(review string) *world {
		w := approvedWorld(t, cp{id: "a"}, cp{id: "b"})
		w.config(func(c *Config) { c.Review, c.AutoRetryDelay = &review, ptr("0s") })
		w.untilBegun()
		w.trust()
		w.passOnce("a")
		w.passOnce("b")
		return w
	}
	w := begin("person")
	w.status(Delegating, "a=completed", "b=completed")
	w.answer(typeReview, "accept", nil)
	w.settle()
	w.status(Completed)
	if !w.Has("report.md") {
		t.Error("no report.md")
	}

	w = begin("person")
	w.Tick(w.In("requests/"+w.open(typeReview)+"/form.md"), "accept", "reopen:a", "submit")
	if taken := w.settle(); len(taken) > 0 {
		t.Errorf("accept beside reopen: took %v", taken)
	}
	if !w.Has("requests/" + w.open(typeReview) + "/problem.md") {
		t.Error("no problem.md")
	}
	delete(w.Files, w.In("requests/"+w.open(typeReview)+"/form.md"))
	w.settle()
	w.answer(typeReview, "reopen:a", map[string]any{"comment": "rounding is wrong"})
	taken := w.settle()
	if !slices.Contains(taken, "review_blocking") || !slices.Contains(taken, "a:reopened") {
		t.Fatalf("took %v", taken)
	}
	w.status(Delegating, "a=in_progress", "b=completed")
	if body := w.Read("delegations/a/iterations/2/prompt.md"); !strings.Contains(body, "rounding is wrong") {
		t.Errorf("prompt:\n%s", body)
	}
	if !w.Has("delegations/a/iterations/1/feedback.md") {
		t.Error("no feedback in the last iteration")
	}
	w.passOnce("a")
	if v := w.state().Review; v.Round != 2 || v.Status != run.Open {
		t.Errorf("%+v", v)
	}

	w = begin("external")
	w.Write("review.json", `{"reviewer": "oracle", "findings": [{"checkpoint": "b", "severity": "blocking", "title": "no tests"}]}`)
	w.settle()
	w.status(Delegating, "a=completed", "b=in_progress")
	w.passOnce("b")
	w.Write("review-2.json", `{"reviewer": "oracle", "findings": [{"checkpoint": "b", "severity": "non_blocking", "title": "names"}]}`)
	w.settle()
	w.status(Completed)

	w = begin("off")
	w.status(Completed)

	w = approvedWorld(t, cp{id: "a"})
	w.config(func(c *Config) { c.MaxIterations = ptr(1) })
	w.untilBegun()
	w.trust()
	w.failOnce("a", "FAILED a.py::b\n")
	w.answer(typeEscalation, "skip", nil)
	if taken := w.settle(); !slices.Contains(taken, "nothing_left") {
		t.Errorf("took %v", taken)
	}
	w.status(Aborted)
}

// Scenario 20: answers that do not count.
func TestScenario20AnswersThatDoNotCount(t *testing.T) {
	w := escalatedWorld(t, cp{id: "a"}, cp{id: "b"})
	id := w.open(typeEscalation)
	before := w.Read("state.json")
	w.Tick(w.In("requests/"+id+"/form.md"), "skip:", "submit")
	w.Respond(id, map[string]any{"response": "retry_more"})
	w.settle()
	if note := w.Read("requests/" + id + "/problem.md"); !strings.Contains(note, "form.md") || w.Read("state.json") != before {
		t.Errorf("both count: %s", note)
	}
	delete(w.Files, w.In("requests/"+id+"/response.json"))
	w.settle()
	w.status(Delegating, "a=aborted")
	if w.Has("requests/" + id + "/problem.md") {
		t.Error("the note still stands")
	}
	after := w.Read("state.json")
	w.Respond(id, map[string]any{"response": "retry_more"}) // twice
	if taken := w.settle(); len(taken) > 0 || w.Read("state.json") != after || !w.Has("requests/"+id+"/problem.md") {
		t.Errorf("a second answer moved something: %v", taken)
	}
	w = escalatedWorld(t, cp{id: "a"})
	id = w.open(typeEscalation)
	w.Write("requests/"+id+"/response.json", `{"request_id": "escalation-000000000000", "response": "skip", "provided_by": {"user": "kim", "source": "file"}}`)
	if taken := w.settle(); len(taken) > 0 {
		t.Errorf("another's id: took %v", taken)
	}
}

// Scenario 22: sessions that upstream has had in hand.
func TestScenario22OldUpstreamSessions(t *testing.T) {
	w := newWorld(t)
	w.Write("meta.json", `{"sessionId": "abc12345", "status": "completed"}`)
	w.Write("specs/checkpoints.yaml", design(approvedHead, cp{id: "a"}))
	if taken := w.settle(); !cmp.Equal(taken, []string{"adopted"}) {
		t.Fatalf("took %v", taken)
	}
	w.status(Completed)
	if len(w.Files) != 4 { // the two, the state and its journal
		t.Errorf("%d files", len(w.Files))
	}

	w = newWorld(t)
	w.Write("specs/checkpoints.yaml", design(approvedHead, cp{id: "a"}, cp{id: "b", after: []string{"a"}}))
	foreign := `{"checkpointId": "a", "status": "checkpoint_passed"}`
	w.Write("delegations/a/status.json", foreign)
	w.Write("delegations/b/iterations/1/result.json", result(1, 1, "x", ""))
	w.Write("delegations/b/iterations/2/feedback.md", "upstream's\n")
	w.settle()
	w.status(Delegating, "a=completed", "b=in_progress")
	if c := w.cp("b"); c.Iteration != 3 {
		t.Errorf("b is at attempt %d", c.Iteration)
	}
	if w.Read("delegations/a/status.json") != foreign || !w.Has("delegations/a/status.json.problem.md") {
		t.Error("a foreign status.json must stay, with a note")
	}
}

// Scenario 23: the second layout, and what YAML can say.
func TestScenario23LayoutsAndYAML(t *testing.T) {
	w := newWorld(t)
	w.config(func(c *Config) { c.ApprovalQuiet = ptr("0s") })
	w.Write("meta.json", `{"checkpointsApproved": true}`)
	w.Write("checkpoints/a.json", `{"id": "a", "validation": {"command": "run a", "expectedOutput": 200}}`)
	w.Write("checkpoints/b.json", `{"name": "B", "validation": {"command": "run b"}, "prerequisites": {"tasks": ["a"], "environment": ["redis"]}}`)
	w.settle()
	w.status(Delegating, "a=in_progress", "b=pending")
	st := w.state()
	if d := st.Approved.Definitions; d[0].Expected != "200" || !cmp.Equal(d[1].Dependencies, []string{"a"}) || st.Approved.Prerequisites[0].ID != "redis" {
		t.Errorf("%+v %+v", d, st.Approved.Prerequisites)
	}
	w = newWorld(t)
	w.Write("specs/checkpoints.yaml", design(approvedHead, cp{id: "x"}))
	w.Write("checkpoints/a.json", `{"validation": {"command": "run a"}}`)
	w.settle()
	w.status(Delegating, "x=in_progress")
	if st := w.state(); st.Checkpoints["a"] != nil || !slices.Contains(st.Specs.Warnings, "W6") {
		t.Errorf("warnings %v", st.Specs.Warnings)
	}
	w = newWorld(t)
	w.Write("specs/checkpoints.yaml", "approved_at: 2026-01-19T10:30:00Z\ncheckpoints:\n  - id: 010\n    validation:\n      command: |\n        run a\n        run b\n      expected: 200\n      timeout: 60000\n")
	w.settle()
	w.status(Delegating, "010=in_progress")
	d := w.state().Approved.Definitions[0]
	if d.Command != "run a\nrun b" || d.Expected != "200" || *d.TimeoutMS != 60000 {
		t.Errorf("%+v", d)
	}
	for name, want := range map[string]string{
		"status.json": "E4", "../x": "E4", "A, a": "E3", "x.tmp": "E4",
	} {
		w := newWorld(t)
		body := approvedHead + "checkpoints:\n"
		for _, id := range strings.Split(name, ", ") {
			body += fmt.Sprintf("  - {id: %q, validation: {command: x}}\n", id)
		}
		w.Write("specs/checkpoints.yaml", body)
		w.settle()
		w.status(Designing)
		if st := w.state(); !slices.Contains(st.Specs.Errors, want) {
			t.Errorf("%s: %v", name, st.Specs.Errors)
		}
	}
	w = newWorld(t)
	var bomb strings.Builder
	bomb.WriteString("a: &a [x]\nb: [")
	for range 10_000 {
		bomb.WriteString("*a, ")
	}
	w.Write("specs/checkpoints.yaml", bomb.String()+"]\n")
	w.settle()
	if !w.Has("specs/checkpoints.yaml.problem.md") {
		t.Error("10,000 aliases earn no note")
	}
}

// A state of the page's own example size reads back as it was written.
func TestStateReadsBackAsWritten(t *testing.T) {
	w := escalatedWorld(t, cp{id: "a"}, cp{id: "b", after: []string{"a"}})
	body := w.Read("state.json")
	st := w.state()
	again, err := st.encode()
	if err != nil || string(again) != body {
		t.Errorf("%v\n%s", err, cmp.Diff(body, string(again)))
	}
	if dir := os.Getenv("PLACET_KEEP"); dir != "" {
		for p, body := range w.Files {
			name := filepath.Join(dir, p)
			_ = os.MkdirAll(filepath.Dir(name), 0o755)
			_ = os.WriteFile(name, []byte(body), 0o644)
		}
	}
}

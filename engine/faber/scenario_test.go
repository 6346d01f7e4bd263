package faber

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	exampleDir = ".fractary/faber/runs/fractary/claude-plugins/3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34"
	exampleID  = "fr-20251206-a1b2c3"
)

func readFile(t *testing.T, name string) string {
	t.Helper()
	body, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// example returns the waiting run of section 3.3 of the format page: 15 events, the request opened
// at revision 1, and the definition that names the next step.
func example(t *testing.T) *world {
	w := newWorld(t, exampleDir)
	w.Put(w.In("state.json"), readFile(t, "testdata/waiting.json"))
	w.Put(w.In("metadata.json"), `{"run_id": "fractary/claude-plugins/3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34", "workflow_id": "default"}`)
	w.Put(".fractary/faber/workflows/default.json", readFile(t, "testdata/default.json"))
	w.Put("specs/WORK-00258-design.md", "# Design\n")
	for n := 1; n <= 14; n++ {
		w.Put(w.In(fmt.Sprintf("events/%03d-step_start.json", n)), upstreamEvent(n, "step_start", "architect", "generate-spec"))
	}
	w.Put(w.In("events/015-feedback_request.json"), strings.Replace(
		upstreamEvent(15, "feedback_request", "architect", "design-review"), `"source"`, `"metadata": {"request_id": "`+exampleID+`"}, "source"`, 1))
	w.Put(w.In("events/.next-id"), "16\n")
	w.settle()
	return w
}

func upstreamEvent(n int, typ, phase, step string) string {
	return fmt.Sprintf(`{"event_id": %d, "type": %q, "timestamp": "2025-12-06T17:%02d:00.000Z", "run_id": "x", "phase": %q, "step": %q, "source": "emit-event.sh"}`+"\n", n, typ, n%60, phase, step)
}

// Scenario 2: approve.
func TestScenario02ApproveWritesExactlyTheExample(t *testing.T) {
	w := example(t)
	w.Respond(exampleID, map[string]any{"response": "approve", "comment": "Looks good"})
	w.settle()
	if diff := cmp.Diff([]string{"016-feedback_received", "017-approval_granted"}, w.events()[15:]); diff != "" {
		t.Error(diff)
	}
	const point = `{"phase": "build", "step": "implement", "step_index": 0, "position": "at", "action": "continue", "request_id": "fr-20251206-a1b2c3"}`
	if body := w.Files[w.Run.State]; !strings.Contains(body, point) {
		t.Errorf("state.json\n%s", body)
	}
}

// Scenario 3: request_changes needs a comment.
func TestScenario03RequestChangesNeedsAComment(t *testing.T) {
	w := example(t)
	w.Respond(exampleID, map[string]any{"response": "request_changes"})
	if taken := w.settle(); len(taken) != 0 {
		t.Fatalf("took %v without a comment", taken)
	}
	w.Respond(exampleID, map[string]any{"response": "request_changes", "comment": "Use UTF-8"})
	if taken := w.settle(); !cmp.Equal(taken, []string{"answered_revise"}) {
		t.Fatalf("took %v", taken)
	}
}

// failedRun returns a run that asks what to do about evaluate:test.
func failedRun(t *testing.T) *world {
	w := newWorld(t, ".fractary/faber/runs/acme/proj/3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34")
	w.Put(w.Run.State, `{
  "status": "awaiting_feedback",
  "updated_at": "2025-12-06T18:00:00Z",
  "phases": {
    "evaluate": {"status": "in_progress", "steps": [{"id": "test", "status": "failed", "failed_at": "2025-12-06T17:59:00Z"}, {"id": "report", "status": "pending"}]}
  },
  "errors": [{"type": "step_failure", "phase": "evaluate", "step": "test", "error": "3 failures"}],
  "current_phase": "evaluate", "current_step": "test",
  "feedback_request": {"request_id": "fr-1", "type": "error_resolution", "prompt": "Tests failed", "options": ["retry", "skip", "abort"]}
}
`)
	w.settle()
	return w
}

// Scenario 7: an answer permits a destructive step and does not complete it.
func TestScenario07LicensedSteps(t *testing.T) {
	w := newWorld(t, ".fractary/faber/runs/acme/proj/3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34")
	w.Put(w.Run.State, `{"status": "awaiting_feedback", "current_phase": "release", "current_step": "merge-pr",
 "phases": {"release": {"steps": [{"id": "merge-pr", "status": "in_progress"}]}}, "feedback_request": {"request_id": "fr-1", "type": "approval", "prompt": "?"}}`)
	w.settle()
	if open := w.view().Open; len(open) != 1 || !open[0].Irreversible {
		t.Errorf("merge-pr: %+v", open)
	}
	w.Respond("fr-1", map[string]any{"response": "approve"})
	w.settle()
	if rp := w.state().ResumePoint; rp.Step != "merge-pr" || rp.Position != "at" {
		t.Errorf("merge-pr: %+v", rp)
	}

	w = newWorld(t, ".fractary/faber/runs/acme/proj/3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34")
	w.Put(w.Run.State, `{"status": "awaiting_feedback", "current_phase": "architect", "current_step": "review",
 "phases": {"architect": {"steps": []}}, "feedback_request": {"request_id": "fr-1", "type": "approval", "prompt": "?"}}`)
	w.Put(w.In("events/001-step_start.json"), upstreamEvent(1, "step_start", "architect", "review"))
	w.settle()
	if open := w.view().Open; len(open) != 1 || open[0].Irreversible {
		t.Errorf("review: %+v", open)
	}
	w.Respond("fr-1", map[string]any{"response": "approve"})
	w.settle()
	if rp := w.state().ResumePoint; rp.Step != "review" || rp.Position != "after" {
		t.Errorf("review: %+v", rp)
	}
}

// Scenario 11: an old copy of state.json is written over the answered one.
func TestScenario11OldStateGetsTheSameTransitionAgain(t *testing.T) {
	w := example(t)
	old := w.Files[w.Run.State]
	w.Respond(exampleID, map[string]any{"response": "approve"})
	w.settle()
	answered, events := w.Files[w.Run.State], w.events()
	w.Now = w.Now.Add(time.Hour)
	w.Put(w.Run.State, old)
	if taken := w.settle(); !cmp.Equal(taken, []string{"answered_continue"}) {
		t.Fatalf("took %v", taken)
	}
	if diff := cmp.Diff(answered, w.Files[w.Run.State]); diff != "" {
		t.Errorf("state (-first +again):\n%s", diff)
	}
	if !cmp.Equal(events, w.events()) {
		t.Errorf("events %v", w.events())
	}
}

// Scenario 13: upstream adds history but does not clear the request.
func TestScenario13AnswerInHistoryIsCompleted(t *testing.T) {
	w := example(t)
	body := strings.TrimSuffix(strings.TrimSpace(w.Files[w.Run.State]), "}") +
		`, "feedback_history": [{"request_id": "` + exampleID + `", "request_type": "approval", "response": "approve", "provided_by": {"user": "keiko", "source": "issue_comment"}, "received_at": "2025-12-06T18:10:00Z"}]}` + "\n"
	w.Put(w.Run.State, body)
	w.Put(w.In("events/016-feedback_received.json"), strings.Replace(
		upstreamEvent(16, "feedback_received", "architect", "design-review"), `"source"`, `"metadata": {"request_id": "`+exampleID+`"}, "source"`, 1))
	if taken := w.stand(); !cmp.Equal(taken, []string{"answered_continue"}) {
		t.Fatalf("took %v", taken)
	}
	if diff := cmp.Diff([]string{"016-feedback_received", "017-approval_granted"}, w.events()[15:]); diff != "" {
		t.Error(diff)
	}
}

// Scenario 14: each shape is written in its own shape, everything else stays byte for byte.
func TestScenario14EveryShapeKeepsItsShape(t *testing.T) {
	const tail = `,"current_phase":"build","current_step":"implement","big":12345678901234567890,"f":1.0,"u":{"k":[1,2]},"feedback_request":{"request_id":"fr-1","type":"approval","prompt":"?"}}`
	for _, c := range []struct{ name, phases, want string }{
		{"b", `"phases":{"build":{"steps":["setup"]}}`, `"phases":{"build":{"steps":["setup","implement"]}}`},
		{"c", `"phases":{"build":{"completed_steps":[],"completed_step_ids":["build:setup"]}}`, `"phases":{"build":{"completed_steps":["implement"],"completed_step_ids":["build:setup","build:implement"]}}`},
		{"d", `"phases":[{"name":"build","status":"in_progress"}],"steps":[{"step_id":"setup","phase":"build","status":"success"}]`,
			`"phases":[{"name":"build","status":"in_progress"}],"steps":[{"step_id":"setup","phase":"build","status":"success"},{"step_id":"implement","phase":"build","status":"success","completed_at":"2025-12-06T18:15:00Z"}]`},
		{"e", `"phases":{"build":{"steps":{"setup":{"status":"completed"}}}}`, `"phases":{"build":{"steps":{"setup":{"status":"completed"},"implement":{"status":"completed"}}}}`},
		{"kept", `"phases":{"build":{"steps":[]}},"steps_completed":["setup"]`,
			`"phases":{"build":{"steps":[{"id":"implement","name":"implement","status":"completed","completed_at":"2025-12-06T18:15:00Z"}]}},"steps_completed":["setup","implement"]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, ".fractary/faber/runs/acme/proj/3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34")
			w.Put(w.Run.State, `{"status":"awaiting_feedback",`+c.phases+tail)
			w.Put(w.In("events/001-step_start.json"), upstreamEvent(1, "step_start", "build", "implement"))
			w.settle()
			w.Respond("fr-1", map[string]any{"response": "approve"})
			w.settle()
			got := w.Files[w.Run.State]
			want := `{"status":"in_progress",` + c.want + `,"current_phase":"build","current_step":"implement","big":12345678901234567890,"f":1.0,"u":{"k":[1,2]},`
			if !strings.HasPrefix(got, want) {
				t.Errorf("got  %s\nwant %s…", got, want)
			}
			if strings.Contains(got, "\n") {
				t.Errorf("a one-line file got line breaks: %s", got)
			}
		})
	}
}

// Scenario 24: deadlines.
func TestScenario24Deadlines(t *testing.T) {
	waiting := func(onDeadline string) *world {
		w := newWorld(t, ".fractary/faber/runs/acme/proj/3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34")
		w.config(func(c *Config) {
			c.OnDeadline = onDeadline
			c.Deadline = map[string]Duration{"approval": Duration(72 * time.Hour)}
		})
		w.Put(w.Run.State, `{"status": "awaiting_feedback", "current_phase": "release", "current_step": "merge-pr", "phases": {},
 "feedback_request": {"request_id": "fr-1", "type": "approval", "prompt": "?", "requested_at": "2025-12-06T18:00:00Z"}}`)
		w.settle()
		return w
	}
	w := waiting("reject")
	if _, p := w.Full(); !p.Wake.Equal(time.Date(2025, 12, 9, 18, 15, 0, 0, time.UTC)) {
		t.Errorf("wake at %v", p.Wake)
	}
	w.Now = time.Date(2025, 12, 9, 18, 14, 59, 0, time.UTC)
	if taken := w.settle(); len(taken) != 0 {
		t.Fatalf("early: %v", taken)
	}
	w.Now = time.Date(2025, 12, 9, 18, 15, 0, 0, time.UTC)
	if taken := w.settle(); !cmp.Equal(taken, []string{"expired"}) {
		t.Fatalf("took %v", taken)
	}

	w = waiting("reject")
	w.Now = time.Date(2025, 12, 10, 0, 0, 0, 0, time.UTC)
	w.Respond("fr-1", map[string]any{"response": "approve"})
	if taken := w.settle(); !cmp.Equal(taken, []string{"answered_continue"}) {
		t.Fatalf("an answer in place must win over the passed deadline: %v", taken)
	}

	w = waiting("escalate")
	w.Now = time.Date(2026, 12, 10, 0, 0, 0, 0, time.UTC)
	if taken := w.settle(); len(taken) != 0 {
		t.Fatalf("escalate moved the run: %v", taken)
	}
	s, _ := w.Full()
	if a := New().Account(s); len(a.Open) != 1 || !a.Open[0].Overdue {
		t.Errorf("not overdue: %+v", a.Open)
	}

	w = waiting("reject")
	w.Now = time.Date(2026, 12, 10, 0, 0, 0, 0, time.UTC)
	w.Put(w.In("requests/fr-1/response.json"), "{")
	w.Unsettled[w.In("requests/fr-1/response.json")] = true
	if taken := w.settle(); len(taken) != 0 {
		t.Fatalf("the deadline passed over an unsettled answer: %v", taken)
	}
}

// Scenario 25: the resume command runs once per revision, if it is trusted.
func TestScenario25ResumeCommandNeedsTrustAndRunsOnce(t *testing.T) {
	argv := []string{"agent", "--resume"}
	w := example(t)
	w.config(func(c *Config) { c.Resume.Command = argv })
	w.Respond(exampleID, map[string]any{"response": "approve"})
	w.settle()
	s, _ := w.Full()
	if a := New().Account(s); len(w.Begun) != 0 || len(a.Untrusted) != 1 {
		t.Fatalf("untrusted: began %v, inbox %v", w.Begun, a.Untrusted)
	}
	w.Facts.Trusted[CommandDigest(argv)] = true
	w.settle()
	if len(w.Begun) != 1 || !w.Has("actions/resume-r2/attempt.json") {
		t.Fatalf("trusted: began %d", len(w.Begun))
	}
	if c := w.Begun[0].Command; string(c.Stdin) != w.Files[w.In("resume.md")] || !cmp.Equal(c.Env[3], "PLACET_STEP=implement") {
		t.Errorf("command %+v", c)
	}
	w.Facts.Alive = map[string]bool{}
	w.settle()
	if len(w.Begun) != 1 {
		t.Error("an attempt without outcome was repeated")
	}
	s, _ = w.Full()
	lost := false
	for _, f := range New().Account(s).Facts {
		lost = lost || f.Label == "attempt without outcome"
	}
	if !lost {
		t.Error("the lost attempt is not shown")
	}
}

// The agent's first event removes resume.md. An agent may have to restart from context.md until the
// run asks again or ends; context.md is written even if the agent was faster.
func TestResumeGoesWhenTheAgentTakesUp(t *testing.T) {
	w := example(t)
	w.Respond(exampleID, map[string]any{"response": "approve"})
	w.settle()
	w.Put(w.In("events/018-step_start.json"), upstreamEvent(18, "step_start", "build", "implement"))
	w.settle()
	if w.Has("resume.md") || !w.Has("context.md") {
		t.Errorf("resume.md stands: %t, context.md: %t", w.Has("resume.md"), w.Has("context.md"))
	}
	delete(w.Files, w.In("context.md"))
	w.settle()
	w.Put(w.Run.State, strings.Replace(w.Files[w.Run.State], `"in_progress"`, `"completed"`, 1))
	if w.settle(); w.Has("context.md") {
		t.Error("context.md outlived the run")
	}
}

// Scenario 15: a run below the older root, with event numbers from 1000, a one-letter org and no
// phases, is served. Files of upstream's own tools stay unchanged.
func TestScenario15OldRootAndLargeNumbers(t *testing.T) {
	w := newWorld(t, ".fractary/plugins/faber/runs/a/proj/3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34")
	w.Put(w.Run.State, `{"status": "awaiting_feedback", "current_phase": "build", "current_step": "make", "feedback_request": {"request_id": "fr-1", "type": "approval", "prompt": "?"}}`)
	w.Put(w.In("events/1041-step_start.json"), upstreamEvent(1041, "step_start", "build", "make"))
	w.Put(w.In("events/.next-id"), "1042\n")
	for name, body := range map[string]string{"plan.json": "{}", "events.jsonl": "{}\n", "changelog.ndjson": "{}\n", "executor.log": "x"} {
		w.Put(w.In(name), body)
	}
	w.settle()
	w.Respond("fr-1", map[string]any{"response": "approve"})
	w.settle()
	if diff := cmp.Diff([]string{"1041-step_start", "1042-feedback_request", "1043-feedback_received", "1044-approval_granted"}, w.events()); diff != "" {
		t.Error(diff)
	}
}

package faber

import (
	"fmt"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
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

// example is the waiting run of the format page, section 3.3: 15 events, the
// request opened at revision 1, and the definition that names what comes next.
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

// Scenario 1: six runs that upstream's script set waiting.
func TestScenario01SixRunsOpenOnce(t *testing.T) {
	root := "../../testdata/real/faber/awaiting-six-types"
	base := ".fractary/faber/runs/acme-corp/proja"
	dirs, err := os.ReadDir(path.Join(root, base))
	if err != nil || len(dirs) != 6 {
		t.Fatalf("six runs: %v, %v", dirs, err)
	}
	for _, d := range dirs {
		w := newWorld(t, path.Join(base, d.Name()))
		w.load(path.Join(root, base, d.Name()), w.Run.Dir)
		before := map[string]string{}
		for p, body := range w.Files {
			before[p] = body
		}
		if taken := w.settle(); !cmp.Equal(taken, []string{"request_opened"}) {
			t.Fatalf("%s: took %v", d.Name(), taken)
		}
		st := w.state()
		id := st.Feedback.RequestID
		for _, name := range []string{"request.json", "form.md"} {
			if !w.Has("requests/" + id + "/" + name) {
				t.Errorf("%s: no %s", d.Name(), name)
			}
		}
		if got := st.Feedback.Notification.Form; got != "requests/"+id+"/form.md" {
			t.Errorf("notification_sent.form = %q", got)
		}
		if *st.Revision != 1 || len(w.events()) != 5 {
			t.Errorf("revision %d, events %v", *st.Revision, w.events())
		}
		for p, body := range before {
			if p != w.Run.State && w.Files[p] != body {
				t.Errorf("%s changed", p)
			}
		}
		w.Put(w.In("requests/"+id+"/posted.json"), `{"comment_url": "https://example.invalid/2", "posted_at": "2026-11-20T11:00:00Z"}`)
		w.settle()
		if st = w.state(); *st.Revision != 2 || st.Feedback.Notification.CommentURL != "https://example.invalid/2" {
			t.Errorf("after posted.json: revision %d, %+v", *st.Revision, st.Feedback.Notification)
		}
	}
}

// Scenario 2: approve, byte for byte.
func TestScenario02ApproveWritesExactlyTheExample(t *testing.T) {
	w := example(t)
	before := w.Files[w.Run.State]
	w.Respond(exampleID, map[string]any{"response": "approve", "comment": "Looks good"})
	sum := engine.Sum([]byte(w.Files[w.In("requests/"+exampleID+"/response.json")]))
	if taken := w.settle(); !cmp.Equal(taken, []string{"answered_continue"}) {
		t.Fatalf("took %v", taken)
	}
	if diff := cmp.Diff(afterApprove(before, sum), w.Files[w.Run.State]); diff != "" {
		t.Errorf("state.json (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"016-feedback_received", "017-approval_granted"}, w.events()[15:]); diff != "" {
		t.Error(diff)
	}
	if got := w.Files[w.In("events/.next-id")]; got != "18\n" {
		t.Errorf(".next-id = %q", got)
	}
	for _, name := range []string{"resume.md", "context.md", "requests/" + exampleID + "/receipt.json"} {
		if !w.Has(name) {
			t.Errorf("no %s", name)
		}
	}
}

func afterApprove(before string, sum engine.Digest) string {
	after := before
	for _, change := range [][2]string{
		{`"status": "awaiting_feedback"`, `"status": "in_progress"`},
		{`"last_event_id": 15`, `"last_event_id": 17`},
		{`"updated_at": "2025-12-06T18:00:02.310Z"`, `"updated_at": "2025-12-06T18:15:00.120Z"`},
		{`"status": "in_progress", "started_at": "2025-12-06T17:58:40Z"}`,
			`"status": "completed", "started_at": "2025-12-06T17:58:40Z", "completed_at": "2025-12-06T18:15:00Z"}`},
		{after[strings.Index(after, ` "feedback_request"`):strings.Index(after, ` "resume_point"`)], ""},
		{`{"phase": "architect", "step": "design-review", "step_index": 2}`,
			`{"phase": "build", "step": "implement", "step_index": 0, "position": "at", "action": "continue", "request_id": "fr-20251206-a1b2c3"}`},
		{`"revision": 1, "last_transition": {"edge": "request_opened", "at": "2025-12-06T18:00:02.310Z", "actor": "placet", "reason": "form written", "cause": {}}}`,
			`"revision": 2, "last_transition": {"edge": "answered_continue", "at": "2025-12-06T18:15:00.120Z", "actor": "placet", "reason": "approve by jmcwilliam (cli)", "cause": {"requests/fr-20251206-a1b2c3/response.json": "` + string(sum) + `"}}` +
				",\n" + ` "feedback_history": [{"request_id": "fr-20251206-a1b2c3", "request_type": "approval", "response": "approve", "provided_by": {"user": "jmcwilliam", "source": "cli"}, "received_at": "2025-12-06T18:15:00Z", "comment": "Looks good", "action": "continue"}]}`},
	} {
		after = strings.Replace(after, change[0], change[1], 1)
	}
	return after
}

// Scenario 3: request_changes needs a comment.
func TestScenario03RequestChangesNeedsAComment(t *testing.T) {
	w := example(t)
	before := w.Files[w.Run.State]
	w.Respond(exampleID, map[string]any{"response": "request_changes"})
	if taken := w.settle(); len(taken) != 0 {
		t.Fatalf("took %v without a comment", taken)
	}
	note := w.Files[w.In("requests/"+exampleID+"/problem.md")]
	if note == "" || w.Files[w.Run.State] != before {
		t.Fatalf("note %q, state changed: %v", note, w.Files[w.Run.State] != before)
	}
	w.Respond(exampleID, map[string]any{"response": "request_changes", "comment": "Use UTF-8"})
	if taken := w.settle(); !cmp.Equal(taken, []string{"answered_revise"}) {
		t.Fatalf("took %v", taken)
	}
	st := w.state()
	if rp := st.ResumePoint; rp.Step != "design-review" || rp.Action != "revise" || rp.Position != "at" || *rp.StepIndex != 2 {
		t.Errorf("resume point %+v", rp)
	}
	if h := st.History[0]; h.Comment != "Use UTF-8" || h.Action != "revise" {
		t.Errorf("history %+v", h)
	}
	if !strings.Contains(w.Files[w.Run.State], `{"name": "design-review", "status": "in_progress", "started_at": "2025-12-06T17:58:40Z"}`) {
		t.Error("the step's entry did not keep its bytes")
	}
	if w.Has("requests/" + exampleID + "/problem.md") {
		t.Error("the note outlived its cause")
	}
	if diff := cmp.Diff([]string{"016-feedback_received", "017-step_retry"}, w.events()[15:]); diff != "" {
		t.Error(diff)
	}
}

// failedStep is a run that asks what to do about evaluate:test.
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

// Scenario 4: retry and skip of a failed step.
func TestScenario04RetryAndSkip(t *testing.T) {
	w := failedRun(t)
	w.Respond("fr-1", map[string]any{"response": "retry"})
	w.settle()
	st := w.state()
	if st.ResumePoint.Step != "test" || st.ResumePoint.Action != "retry" {
		t.Errorf("retry: %+v", st.ResumePoint)
	}
	body := w.Files[w.Run.State]
	if strings.Contains(body, "failed_at") || !strings.Contains(body, `"resolved": "retry"`) || !strings.Contains(body, `{"id": "test", "status": "in_progress"}`) {
		t.Errorf("failure marks stay:\n%s", body)
	}
	if e := w.events(); !strings.HasSuffix(e[len(e)-1], "-step_retry") {
		t.Errorf("events %v", e)
	}

	w = failedRun(t)
	w.Respond("fr-1", map[string]any{"response": "skip"})
	w.settle()
	st = w.state()
	if st.ResumePoint.Step != "report" || st.ResumePoint.Action != "skip" || st.ResumePoint.Position != "at" {
		t.Errorf("skip: %+v", st.ResumePoint)
	}
	if e := w.events(); !strings.HasSuffix(e[len(e)-1], "-step_skip") {
		t.Errorf("events %v", e)
	}
}

// Scenario 5: reject, abort and cancel end the run.
func TestScenario05RefusalsCancel(t *testing.T) {
	for _, c := range []struct {
		typ, response string
		denied        bool
	}{{"approval", "reject", true}, {"error_resolution", "abort", false}, {"confirmation", "cancel", true}} {
		w := newWorld(t, ".fractary/faber/runs/acme/proj/3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34")
		w.Put(w.Run.State, fmt.Sprintf(`{"status": "awaiting_feedback", "current_phase": "release", "current_step": "merge-pr",
 "phases": {}, "feedback_request": {"request_id": "fr-1", "type": %q, "prompt": "?"}}`, c.typ))
		w.settle()
		w.Respond("fr-1", map[string]any{"response": c.response})
		w.settle()
		st := w.state()
		if st.Status != "cancelled" || st.CompletedAt == "" || st.ResumePoint != nil || st.Feedback != nil || w.Has("resume.md") {
			t.Errorf("%s: %s", c.response, w.Files[w.Run.State])
		}
		names := strings.Join(w.events(), " ")
		if strings.Contains(names, "approval_denied") != c.denied || !strings.Contains(names, "workflow_cancelled") || strings.Contains(names, "approval_granted") {
			t.Errorf("%s: events %s", c.response, names)
		}
		after := w.Files[w.Run.State]
		w.Respond("fr-1", map[string]any{"response": "approve"})
		if taken := w.settle(); len(taken) != 0 || w.Files[w.Run.State] != after {
			t.Errorf("%s: a later answer moved the run: %v", c.response, taken)
		}
	}
}

// Scenario 6: options as the request spells them; text whole.
func TestScenario06SelectionAndClarification(t *testing.T) {
	w := newWorld(t, ".fractary/faber/runs/acme/proj/3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34")
	w.Put(w.Run.State, `{"status": "awaiting_feedback", "current_phase": "architect", "current_step": "choose", "phases": {"architect": {"steps": []}},
 "feedback_request": {"request_id": "fr-1", "type": "selection", "prompt": "?", "options": ["option-a", "option-b"]}}`)
	w.settle()
	w.Respond("fr-1", map[string]any{"response": " Option B "})
	w.settle()
	if h := w.state().History[0]; h.Response != "option-b" {
		t.Errorf("recorded %q", h.Response)
	}
	if names := strings.Join(w.events(), " "); strings.Contains(names, "approval") {
		t.Errorf("a selection earned an approval event: %s", names)
	}

	w.Put(w.Run.State, `{"status": "awaiting_feedback", "current_phase": "frame", "current_step": "clarify", "phases": {"frame": {"steps": []}}, "revision": 2,
 "feedback_request": {"request_id": "fr-2", "type": "clarification", "prompt": "?", "options": []}}`)
	w.settle()
	text := "First line.\nSecond: reject is a word here.\nThird."
	w.Respond("fr-2", map[string]any{"response": text})
	w.settle()
	if h := w.state().History; len(h) != 1 || h[0].Response != text {
		t.Errorf("history %+v", h)
	}
}

// Scenario 7: an answer licenses a destructive step and does not complete it.
func TestScenario07LicensedSteps(t *testing.T) {
	w := newWorld(t, ".fractary/faber/runs/acme/proj/3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34")
	w.Put(w.Run.State, `{"status": "awaiting_feedback", "current_phase": "release", "current_step": "merge-pr",
 "phases": {"release": {"steps": [{"id": "merge-pr", "status": "in_progress"}]}}, "feedback_request": {"request_id": "fr-1", "type": "approval", "prompt": "?"}}`)
	w.settle()
	w.Respond("fr-1", map[string]any{"response": "approve"})
	w.settle()
	st := w.state()
	if st.ResumePoint.Step != "merge-pr" || st.ResumePoint.Position != "at" || strings.Contains(w.Files[w.Run.State], `"status": "completed"`) {
		t.Errorf("merge-pr: %s", w.Files[w.Run.State])
	}

	w = newWorld(t, ".fractary/faber/runs/acme/proj/3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34")
	w.Put(w.Run.State, `{"status": "awaiting_feedback", "current_phase": "architect", "current_step": "review",
 "phases": {"architect": {"steps": []}}, "feedback_request": {"request_id": "fr-1", "type": "approval", "prompt": "?"}}`)
	w.Put(w.In("events/001-step_start.json"), upstreamEvent(1, "step_start", "architect", "review"))
	w.settle()
	w.Respond("fr-1", map[string]any{"response": "approve"})
	w.settle()
	if st = w.state(); st.ResumePoint.Position != "after" || st.ResumePoint.Step != "review" {
		t.Errorf("position: %+v", st.ResumePoint)
	}
	if !strings.Contains(w.Files[w.Run.State], `{"id": "review", "name": "review", "status": "completed", "completed_at": "2025-12-06T18:15:00Z"}`) {
		t.Errorf("no entry: %s", w.Files[w.Run.State])
	}
}

// Scenario 8: bad responses move nothing, and are accepted once corrected.
func TestScenario08BadResponsesMoveNothing(t *testing.T) {
	for name, body := range map[string]string{
		"wrong id":       `{"request_id": "fr-other", "response": "approve", "provided_by": {"user": "a", "source": "cli"}}`,
		"unknown option": `{"request_id": "` + exampleID + `", "response": "lgtm", "provided_by": {"user": "a", "source": "cli"}}`,
		"no comment":     `{"request_id": "` + exampleID + `", "response": "request_changes", "provided_by": {"user": "a", "source": "cli"}}`,
		"empty":          ``,
		"not JSON":       `approve`,
		"doubled key":    `{"request_id": "` + exampleID + `", "response": "reject", "RESPONSE": "approve", "provided_by": {"user": "a", "source": "cli"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			w := example(t)
			state, events := w.Files[w.Run.State], w.events()
			w.Put(w.In("requests/"+exampleID+"/response.json"), body)
			w.settle()
			w.Now = w.Now.Add(11 * time.Second)
			w.settle()
			if w.Files[w.Run.State] != state || !cmp.Equal(events, w.events()) {
				t.Fatal("something moved")
			}
			if !w.Has("requests/" + exampleID + "/problem.md") {
				t.Fatal("no problem.md")
			}
			w.Respond(exampleID, map[string]any{"response": "approve"})
			if taken := w.settle(); !cmp.Equal(taken, []string{"answered_continue"}) || w.Has("requests/"+exampleID+"/problem.md") {
				t.Fatalf("corrected: took %v", taken)
			}
		})
	}
}

// Scenario 9: the artifact changes while a person is asked.
func TestScenario09ChangedArtifactNeedsANewForm(t *testing.T) {
	w := example(t)
	dir := "requests/" + exampleID + "/"
	w.Put("specs/WORK-00258-design.md", "# Another design\n")
	w.settle()
	var form string
	for p := range w.Files {
		if strings.HasPrefix(p, w.In(dir+"form-")) {
			form = p
		}
	}
	if form == "" {
		t.Fatal("no new form")
	}
	w.Tick(w.In(dir+"form.md"), "approve", "submit")
	if taken := w.settle(); len(taken) != 0 || !w.Has(dir+"problem.md") {
		t.Fatalf("the old form: took %v", taken)
	}
	w.Tick(form, "approve", "submit")
	if taken := w.settle(); !cmp.Equal(taken, []string{"answered_continue"}) {
		t.Fatalf("the new form: took %v; %s", taken, w.Files[w.In(dir+"problem.md")])
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
	st := w.state()
	if len(st.History) != 1 || st.Last.Reason != "approve by keiko (issue_comment)" {
		t.Errorf("history %+v, last %+v", st.History, st.Last)
	}
	if diff := cmp.Diff([]string{"016-feedback_received", "017-approval_granted"}, w.events()[15:]); diff != "" {
		t.Error(diff)
	}
}

// Scenario 14: each shape is written in its own shape, all else byte for byte.
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
	if _, p := w.Full(); !p.Wake.Equal(time.Date(2025, 12, 9, 18, 0, 0, 0, time.UTC)) {
		t.Errorf("wake at %v", p.Wake)
	}
	w.Now = time.Date(2025, 12, 9, 17, 59, 59, 0, time.UTC)
	if taken := w.settle(); len(taken) != 0 {
		t.Fatalf("early: %v", taken)
	}
	w.Now = time.Date(2025, 12, 9, 18, 0, 0, 0, time.UTC)
	if taken := w.settle(); !cmp.Equal(taken, []string{"expired"}) {
		t.Fatalf("took %v", taken)
	}
	if st := w.state(); st.Status != "cancelled" || st.History[0].ProvidedBy.Source != "deadline" {
		t.Errorf("%+v", st)
	}
	if !strings.Contains(w.Files[w.In("requests/fr-1/receipt.json")], `"result": "expired"`) {
		t.Error("the receipt does not say expired")
	}

	w = waiting("reject")
	w.Now = time.Date(2025, 12, 10, 0, 0, 0, 0, time.UTC)
	w.Respond("fr-1", map[string]any{"response": "approve"})
	if taken := w.settle(); !cmp.Equal(taken, []string{"answered_continue"}) {
		t.Fatalf("an answer in place must win over the passed deadline: %v", taken)
	}
	if !strings.Contains(w.Files[w.In("requests/fr-1/receipt.json")], `"late": true`) {
		t.Error("the receipt does not say late")
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

// Scenario 25: the resume command runs once per revision, behind trust.
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

// Taken up: an event by the agent removes resume.md. An agent may have to begin again
// from context.md, until the run asks anew or ends; it is also written where the agent
// was faster.
func TestResumeGoesWhenTheAgentTakesUp(t *testing.T) {
	w := example(t)
	w.Respond(exampleID, map[string]any{"response": "approve"})
	w.settle()
	w.Put(w.In("events/018-step_start.json"), upstreamEvent(18, "step_start", "build", "implement"))
	w.settle()
	if w.Has("resume.md") || !w.Has("context.md") {
		t.Errorf("resume.md stands: %t, context.md: %t", w.Has("resume.md"), w.Has("context.md"))
	}
	want := w.Files[w.In("context.md")]
	delete(w.Files, w.In("context.md"))
	if w.settle(); !strings.Contains(w.Files[w.In("context.md")], "# Context of") || want == "" {
		t.Error("context.md is withheld from an agent that was faster")
	}
	w.Put(w.Run.State, strings.Replace(w.Files[w.Run.State], `"in_progress"`, `"completed"`, 1))
	if w.settle(); w.Has("context.md") {
		t.Error("context.md outlived the run")
	}
}

// cancel.json gives a run up in every status that is not final.
func TestCancelInEveryStatus(t *testing.T) {
	for _, s := range []string{"pending", "in_progress", "failed", "paused", "stopped", "error", "running"} {
		w := newWorld(t, ".fractary/faber/runs/acme/proj/3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34")
		w.Put(w.Run.State, fmt.Sprintf(`{"status": %q, "phases": {}}`, s))
		w.Put(w.In("cancel.json"), `{"by": "keiko", "reason": "not needed"}`)
		if taken := w.settle(); !cmp.Equal(taken, []string{"cancel_asked"}) {
			t.Errorf("%s: took %v", s, taken)
		}
		if st := w.state(); st.Status != "cancelled" || st.Cancellation != "not needed" {
			t.Errorf("%s: %+v", s, st)
		}
	}
	w := example(t)
	w.Put(w.In("cancel.json"), `{"by": "keiko", "reason": "not needed"}`)
	w.settle()
	if !strings.Contains(w.Files[w.In("requests/"+exampleID+"/receipt.json")], `"result": "cancelled"`) {
		t.Error("the open request got no cancelled receipt")
	}
}

// Scenario 15: the older root, event numbers from 1000, a one-letter org, no
// phases: served. Files of upstream's own tools are left alone.
func TestScenario15OldRootAndLargeNumbers(t *testing.T) {
	w := newWorld(t, ".fractary/plugins/faber/runs/a/proj/3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34")
	w.Put(w.Run.State, `{"status": "awaiting_feedback", "current_phase": "build", "current_step": "make", "feedback_request": {"request_id": "fr-1", "type": "approval", "prompt": "?"}}`)
	w.Put(w.In("events/1041-step_start.json"), upstreamEvent(1041, "step_start", "build", "make"))
	w.Put(w.In("events/.next-id"), "1042\n")
	others := map[string]string{"plan.json": "{}", "events.jsonl": "{}\n", "changelog.ndjson": "{}\n", "executor.log": "x"}
	for name, body := range others {
		w.Put(w.In(name), body)
	}
	w.settle()
	w.Respond("fr-1", map[string]any{"response": "approve"})
	if taken := w.settle(); !cmp.Equal(taken, []string{"answered_continue"}) {
		t.Fatalf("took %v", taken)
	}
	if diff := cmp.Diff([]string{"1041-step_start", "1042-feedback_request", "1043-feedback_received", "1044-approval_granted"}, w.events()); diff != "" {
		t.Error(diff)
	}
	if got := w.Files[w.In("events/.next-id")]; got != "1045\n" {
		t.Errorf(".next-id = %q", got)
	}
	if rp := w.state().ResumePoint; rp.Position != "after" || rp.StepIndex != nil {
		t.Errorf("resume point %+v", rp)
	}
	for name, body := range others {
		if w.Files[w.In(name)] != body {
			t.Errorf("%s changed", name)
		}
	}
}

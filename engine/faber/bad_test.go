package faber

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/layout"
)

const plainDir = ".fractary/faber/runs/acme/proj/3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34"

// waitingState is the state of a run for which upstream has asked a question.
const waitingState = `{
  "status": "awaiting_feedback",
  "current_phase": "release",
  "current_step": "ship",
  "updated_at": "2025-12-06T18:00:00Z",
  "phases": {"release": {"steps": [{"id": "ship", "status": "in_progress"}]}},
  "feedback_request": {"request_id": "fr-1", "type": "review", "prompt": "Ship it?", "requested_at": "2025-12-06T18:00:00Z"}
}
`

// waitingRun returns an opened run that asks for an approval at release:ship.
func waitingRun(t *testing.T) *world {
	w := newWorld(t, plainDir)
	w.Put(w.Run.State, waitingState)
	w.settle()
	return w
}

// An unreadable state file gets a note with the place of the error, and nothing moves; an
// incomplete one gets it only after ten seconds.
func TestUnreadableStateEarnsANoteAndNothingMoves(t *testing.T) {
	for _, c := range []struct {
		name, body, note string
		torn             bool
	}{
		{"half an object", `{"status": "in_progr`, "cannot read state.json", true},
		{"no status", `{"phases": {}}`, "status", false},
		{"unknown status", `{"status": "thinking"}`, `/status: unknown word "thinking"`, false},
		{"request in progress", `{"status": "in_progress", "feedback_request": {"request_id": "a", "type": "b", "prompt": "c"}}`, "/feedback_request", false},
		{"no request", `{"status": "awaiting_feedback"}`, "/feedback_request", false},
		{"no prompt", `{"status": "awaiting_feedback", "feedback_request": {"request_id": "a", "type": "approval"}}`, "/feedback_request", false},
		{"unsafe id", `{"status": "awaiting_feedback", "feedback_request": {"request_id": "../x", "type": "approval", "prompt": "?"}}`, "request_id", false},
		{"options not strings", `{"status": "awaiting_feedback", "feedback_request": {"request_id": "a", "type": "approval", "prompt": "?", "options": [1]}}`, "/feedback_request/options", false},
		{"selection without options", `{"status": "awaiting_feedback", "feedback_request": {"request_id": "a", "type": "selection", "prompt": "?"}}`, "/feedback_request/options", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, plainDir)
			w.Put(w.Run.State, c.body)
			w.settle()
			if got := w.Has("state.json.problem.md"); got == c.torn {
				t.Fatalf("note at first sight: %v", got)
			}
			w.Now = w.Now.Add(11 * time.Second)
			if taken := w.settle(); len(taken) != 0 || len(w.events()) != 0 || w.Files[w.Run.State] != c.body {
				t.Fatalf("something moved: %v", taken)
			}
			note := w.Files[w.In("state.json.problem.md")]
			if !strings.Contains(note, c.note) {
				t.Fatalf("note %q does not say %q", note, c.note)
			}
			w.Put(w.Run.State, `{"status": "pending"}`)
			w.settle()
		})
	}
}

// An event that may still be being written may be placet's own, from before a crash. Nothing is
// decided, because placet would write it twice.
func TestUnsettledEventHoldsTheRun(t *testing.T) {
	w := waitingRun(t)
	w.Respond("fr-1", map[string]any{"response": "approve"})
	w.Unsettled[w.In("events/001-feedback_request.json")] = true
	if taken := w.settle(); len(taken) != 0 {
		t.Fatalf("took %v", taken)
	}
	delete(w.Unsettled, w.In("events/001-feedback_request.json"))
	if taken := w.settle(); !cmp.Equal(taken, []string{"answered_continue"}) {
		t.Fatalf("took %v", taken)
	}
}

// placet reads an incomplete state again when it can no longer be incomplete.
func TestTornStateWakes(t *testing.T) {
	w := newWorld(t, plainDir)
	w.Put(w.Run.State, `{"status": `)
	if _, p := w.Full(); !p.Wake.Equal(w.Now.Add(10 * time.Second)) {
		t.Errorf("wake at %v", p.Wake)
	}
}

// cancel.json works even if the request cannot be opened.
func TestCancelWorksWithABadRequest(t *testing.T) {
	for _, request := range []string{`{"request_id": "../x", "type": "approval", "prompt": "?"}`, `{"request_id": "a", "type": "approval", "prompt": "?", "options": [1]}`} {
		w := newWorld(t, plainDir)
		w.Put(w.Run.State, `{"status": "awaiting_feedback", "feedback_request": `+request+`}`)
		w.Put(w.In("cancel.json"), `{"by": "keiko", "reason": "no"}`)
		if taken := w.settle(); !cmp.Equal(taken, []string{"cancel_asked"}) {
			t.Errorf("%s: took %v", request, taken)
		}
	}
}

// The answer waits while the run has no place to continue from.
func TestAnswerWaitsForAResumePoint(t *testing.T) {
	w := newWorld(t, plainDir)
	w.Put(w.Run.State, `{"status": "awaiting_feedback", "feedback_request": {"request_id": "fr-1", "type": "approval", "prompt": "?"}}`)
	w.settle()
	w.Respond("fr-1", map[string]any{"response": "approve"})
	if taken := w.settle(); len(taken) != 0 || !w.Has("state.json.problem.md") {
		t.Fatalf("took %v", taken)
	}
	w.Put(w.Run.State, strings.Replace(w.Files[w.Run.State], `"status"`, `"resume_point": {"phase": "build", "step": "implement"}, "status"`, 1))
	if taken := w.settle(); !cmp.Equal(taken, []string{"answered_continue"}) || w.Has("state.json.problem.md") {
		t.Fatalf("took %v", taken)
	}
}

// Unusable events are ignored; numbers continue from the highest.
func TestBadEventsAreNotUsed(t *testing.T) {
	w := newWorld(t, plainDir)
	w.Put(w.In("events/000-workflow_start.json"), upstreamEvent(1, "workflow_start", "", ""))
	w.Put(w.In("events/003-step_start.json"), "")
	w.Put(w.In("events/005-step_start.json"), upstreamEvent(5, "step_start", "build", "x"))
	w.Put(w.In("events/005-step_error.json"), `{"event_id": 5}`)
	w.Put(w.In("events/.next-id"), "many\n")
	w.Put(w.Run.State, `{"status": "awaiting_feedback", "current_phase": "build", "current_step": "x", "feedback_request": {"request_id": "fr-1", "type": "approval", "prompt": "?"}}`)
	w.settle()
	if !w.Has("events/006-feedback_request.json") {
		t.Errorf("events %v", w.events())
	}
	s, _ := w.Full()
	var found []string
	for _, f := range New().Account(s).Findings {
		if strings.HasPrefix(f.Path, w.In("events")) {
			found = append(found, f.Text)
		}
	}
	if len(found) < 3 {
		t.Errorf("check finds %q", found)
	}
}

// An unreadable .next-id stays unchanged and blocks nothing.
func TestANextIDThatCannotBeReadHoldsUpNothing(t *testing.T) {
	w := waitingRun(t)
	w.Put(w.In("events/.next-id"), "unusable:65 bytes are too many")
	w.Respond("fr-1", map[string]any{"response": "approve"})
	if taken := w.settle(); !cmp.Equal(taken, []string{"answered_continue"}) {
		t.Fatalf("took %v", taken)
	}
	s, _ := w.Full()
	if !slices.ContainsFunc(New().Account(s).Findings, func(f engine.Finding) bool { return strings.HasSuffix(f.Path, ".next-id") }) {
		t.Error("check says nothing of it")
	}
}

// With an unusable definition, state.json determines the plan.
func TestBadDefinitionsLeaveThePlanUnknown(t *testing.T) {
	for name, c := range map[string]struct{ id, body string }{
		"missing":  {"gone", ``},
		"url":      {"url:example.invalid/x.json", ``},
		"cyclic":   {"default", `{"id": "default", "extends": "default", "phases": {}}`},
		"doubled":  {"default", `{"id": "default", "phases": {"build": {"steps": [{"id": "a"}]}, "release": {"steps": [{"id": "a"}]}}}`},
		"disabled": {"default", `{"id": "default", "phases": {"build": {"enabled": false, "steps": [{"id": "a"}]}}}`},
		"not JSON": {"default", `workflow`},
	} {
		t.Run(name, func(t *testing.T) {
			w := waitingRun(t)
			if c.body != "" {
				w.Put(".fractary/faber/workflows/default.json", c.body)
			}
			w.Put(w.Run.State, strings.Replace(w.Files[w.Run.State], `"status"`, `"workflow_id": "`+c.id+`", "status"`, 1))
			w.Now = w.Now.Add(time.Minute)
			w.Respond("fr-1", map[string]any{"response": "approve"})
			if taken := w.settle(); !cmp.Equal(taken, []string{"answered_continue"}) {
				t.Fatalf("took %v", taken)
			}
		})
	}
}

// Definitions merge along extends as the format page says.
func TestDefinitionsMerge(t *testing.T) {
	w := waitingRun(t)
	w.Put(w.Run.State, strings.Replace(w.Files[w.Run.State], `"status"`, `"workflow_id": "project:child", "status"`, 1))
	w.Put(".fractary/faber/workflows/child.json", `{"id": "child", "extends": "plugin@market:base", "skip_steps": ["lint"],
 "phases": {"build": {"pre_steps": [{"id": "child-pre"}], "post_steps": [{"id": "child-post"}]}, "release": {"enabled": false}, "evaluate": {"steps": []}}}`)
	w.Put(".fractary/plugins/faber/workflows/base.json", `{"id": "base",
 "phases": {"build": {"pre_steps": [{"id": "base-pre"}], "steps": [{"id": "make"}, {"id": "lint"}], "post_steps": [{"id": "base-post"}]},
 "evaluate": {"steps": [{"id": "test"}]}, "release": {"steps": [{"id": "ship"}]}}}`)
	s, _ := w.Full()
	_, r := family.View(s)
	flow := r.plan()
	var ids []string
	for _, step := range flow.steps {
		ids = append(ids, step.ID)
	}
	if diff := cmp.Diff([]string{"base-pre", "child-pre", "make", "child-post", "base-post"}, ids); diff != "" {
		t.Error(diff, flow.problem)
	}
}

// A deviation from upstream's schema is a warning and never stops the run.
func TestDeviationsAreWarnings(t *testing.T) {
	w := newWorld(t, plainDir)
	w.Put(w.Run.State, `{"status": "awaiting_feedback", "run_id": "other/run/x", "work_id": 258, "errors": {}, "current_phase": "build", "current_step": "x",
 "feedback_request": {"request_id": "fr-1", "type": "error_resolution", "prompt": "?"}}`)
	w.settle()
	w.Respond("fr-1", map[string]any{"response": "retry"})
	if taken := w.settle(); !cmp.Equal(taken, []string{"answered_retry"}) {
		t.Fatalf("took %v", taken)
	}
	s, _ := w.Full()
	warnings := 0
	for _, f := range New().Account(s).Findings {
		if f.Severity != "warning" {
			t.Errorf("%+v", f)
		}
		warnings++
	}
	if warnings < 3 {
		t.Errorf("%d warnings", warnings)
	}
}

// A state-<suffix>.json belongs to nobody.
func TestAStateWithASuffixIsNotActedOn(t *testing.T) {
	dir := ".fractary/runs/plan-run-2026-01-07"
	w := newWorld(t, dir)
	w.Run = layout.Run{Family: "faber", ID: dir + "/state-a.json", Dir: dir, Class: layout.FaberSuffix, State: dir + "/state-a.json"}
	w.Put(dir+"/state-a.json", `{"status": "awaiting_feedback", "feedback_request": {"request_id": "fr-2", "type": "approval", "prompt": "?"}}`)
	if _, p := w.Full(); !p.Empty() {
		t.Errorf("it was acted on: %+v", p)
	}
}

// A request that the state no longer asks gets its receipt.
func TestRequestsNoLongerAskedAreClosed(t *testing.T) {
	receipt := func(w *world) string { return w.Files[w.In("requests/fr-1/receipt.json")] }
	w := waitingRun(t)
	w.Put(w.Run.State, `{"status": "in_progress", "revision": 1, "phases": {}}`)
	w.stand()
	if !strings.Contains(receipt(w), `"result": "cancelled"`) || !strings.Contains(receipt(w), "withdrawn") {
		t.Errorf("withdrawn: %s", receipt(w))
	}

	w = waitingRun(t)
	w.Put(w.Run.State, strings.Replace(w.Files[w.Run.State], `"fr-1"`, `"fr-2"`, 1))
	w.settle()
	if !strings.Contains(receipt(w), `"superseded_by": "fr-2"`) {
		t.Errorf("superseded: %s", receipt(w))
	}

	w = waitingRun(t)
	w.Put(w.Run.State, `{"status": "in_progress", "revision": 1, "phases": {}, "feedback_history": [{"request_id": "fr-1", "request_type": "review", "response": "approve", "provided_by": {"user": "keiko", "source": "cli"}, "received_at": "2025-12-06T18:10:00Z"}]}`)
	w.stand()
	if !strings.Contains(receipt(w), "answered elsewhere") {
		t.Errorf("answered elsewhere: %s", receipt(w))
	}

	w = waitingRun(t)
	w.Put(w.Run.State, `{"status": "in_progress", "updated_at": "2025-12-06T17:00:00Z", "phases": {}, "revision": 0}`)
	w.settle()
	if receipt(w) != "" || !w.Has("state.json.problem.md") {
		t.Errorf("an older state must leave the request open: %s", receipt(w))
	}
}

// A request that was answered and is asked again needs a new id.
func TestRequestAskedAnewIsAProblem(t *testing.T) {
	w := waitingRun(t)
	asked := w.Files[w.Run.State]
	w.Respond("fr-1", map[string]any{"response": "request_changes", "comment": "more"})
	w.settle()
	w.Put(w.Run.State, strings.Replace(asked, `"revision": 1`, `"revision": 7`, 1))
	if taken := w.settle(); len(taken) != 0 || !strings.Contains(w.Files[w.In("state.json.problem.md")], "new request_id") {
		t.Fatalf("took %v; %s", taken, w.Files[w.In("state.json.problem.md")])
	}
}

// A request that was altered after it was issued blocks every answer.
func TestAlteredRequestIsVoidUntilRestored(t *testing.T) {
	for name, change := range map[string][2]string{
		"prompt":  {"Ship it?", "Have tea?"},
		"options": {`"id": "reject"`, `"id": "nothing"`},
		"comment": {`"comment_required": [`, `"comment_required": ["approve", `},
	} {
		w := waitingRun(t)
		p := w.In("requests/fr-1/request.json")
		good := w.Files[p]
		w.Put(p, strings.Replace(good, change[0], change[1], 1))
		if w.Files[p] == good {
			t.Fatalf("%s: nothing was altered in %s", name, good)
		}
		w.Respond("fr-1", map[string]any{"response": "approve"})
		if taken := w.settle(); len(taken) != 0 || !w.Has("requests/fr-1/request.json.problem.md") {
			t.Errorf("%s: took %v", name, taken)
		}
		w.Put(p, good)
		if taken := w.settle(); !cmp.Equal(taken, []string{"answered_continue"}) {
			t.Errorf("%s: restored: took %v", name, taken)
		}
	}
}

// Approvers: an answer by somebody else is refused.
func TestOnlyApproversAnswer(t *testing.T) {
	w := waitingRun(t)
	w.Facts.Config.Gates = map[string]engine.Gate{"faber/review": {Level: "file", Approvers: []string{"keiko"}}}
	w.Respond("fr-1", map[string]any{"response": "approve"})
	if taken := w.settle(); len(taken) != 0 || !w.Has("requests/fr-1/problem.md") {
		t.Fatalf("took %v", taken)
	}
	w.Respond("fr-1", map[string]any{"response": "approve", "provided_by": map[string]any{"user": "keiko", "source": "cli"}})
	if taken := w.settle(); !cmp.Equal(taken, []string{"answered_continue"}) {
		t.Fatalf("took %v", taken)
	}
}

// A state whose members lack the shape that an edit needs is bad input.
func TestStateThatCannotBeEditedStands(t *testing.T) {
	w := newWorld(t, plainDir)
	w.Put(w.Run.State, `{"status": "awaiting_feedback", "current_phase": "build", "current_step": "x", "feedback_history": {"a": 1},
 "feedback_request": {"request_id": "fr-1", "type": "approval", "prompt": "?"}}`)
	w.settle()
	before := w.Files[w.Run.State]
	w.Respond("fr-1", map[string]any{"response": "approve"})
	if taken := w.settle(); len(taken) != 0 || w.Files[w.Run.State] != before || !w.Has("state.json.problem.md") {
		t.Fatalf("took %v; %s", taken, w.Files[w.In("state.json.problem.md")])
	}
}

// A view of every class of run is complete.
func TestAccountsOfAllKinds(t *testing.T) {
	for status, want := range map[string]struct{ why, awaited string }{
		"pending":     {"agent works", "state.json to move on from build:implement (agent)"},
		"in_progress": {"agent works", "state.json to move on from build:implement (agent)"},
		"paused":      {"paused", "state.json with another status (upstream)"},
		"failed":      {"waits for an answer at build:implement", ""},
		"completed":   {"final", ""}, "cancelled": {"final", ""},
		"thinking": {"unknown word", "state.json that can be used (agent)"},
	} {
		w := newWorld(t, plainDir)
		w.Put(w.Run.State, fmt.Sprintf(`{"status": %q, "current_phase": "build", "current_step": "implement"}`, status))
		s, _ := w.Full()
		if a := New().Account(s); !strings.Contains(strings.Join(a.Why, "\n"), want.why) || strings.Join(a.WaitsFor, "; ") != want.awaited {
			t.Errorf("%s: %q, waits for %q", status, a.Why, a.WaitsFor)
		}
	}
}

// Answers that do not count move nothing; an incomplete or unsubmitted answer is no problem yet.
func TestAnswersThatCountForNothing(t *testing.T) {
	tick := func(items ...string) func(w *world) {
		return func(w *world) { w.Tick(w.In("requests/fr-1/form.md"), items...) }
	}
	for name, c := range map[string]struct {
		answer func(w *world)
		note   bool
	}{
		"two options":        {tick("approve", "reject", "submit"), true},
		"nothing but submit": {tick("submit"), true},
		"not submitted":      {tick("approve"), false},
		"form and response differ": {func(w *world) {
			tick("approve", "submit")(w)
			w.Respond("fr-1", map[string]any{"response": "reject"})
		}, true},
		"half of a response": {func(w *world) { w.Put(w.In("requests/fr-1/response.json"), "{") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := waitingRun(t)
			c.answer(w)
			if taken := w.settle(); len(taken) != 0 || w.Has("requests/fr-1/problem.md") != c.note {
				t.Errorf("took %v, note %t", taken, !c.note)
			}
		})
	}
}

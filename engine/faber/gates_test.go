package faber

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
)

// gatedPlan is a workflow whose members the tests replace: its autonomy, and what is said of a phase
// and of two steps.
const gatedPlan = `{"id": "default", "autonomy": {%s}, "phases": {
  "build": {"steps": [{"id": "make"}, {"id": "ship", "produces": ["out/ship.txt"]%s}]},
  "evaluate": {"enabled": false, "steps": [{"id": "test"}]},
  "release": {%s"steps": [{"id": "tag"}, {"id": "merge-pr"}]}}}`

// gated returns a run in progress that follows a workflow.
func gated(t *testing.T, plan, metadata string) *world {
	w := newWorld(t, ".fractary/faber/runs/acme/proj/3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34")
	w.Put(w.Run.State, `{"run_id": "acme/proj/3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34", "workflow_id": "default", "status": "in_progress", "current_phase": "build", "current_step": "make",
 "last_event_id": 1, "updated_at": "2025-12-06T18:00:00Z", "big": 12345678901234567890, "f": 1.0,
 "phases": {"build": {"status": "in_progress", "steps": [{"id": "make", "status": "in_progress"}]}}, "feedback_request": null}
`)
	w.Put(w.In("events/001-step_start.json"), upstreamEvent(1, "step_start", "build", "make"))
	w.Put(w.In("events/.next-id"), "2\n")
	if metadata == "" {
		metadata = "{}"
	}
	w.Put(w.In("metadata.json"), metadata)
	if plan != "" {
		w.Put(".fractary/faber/workflows/default.json", plan)
	}
	return w
}

// calls writes a call about a phase or a step, as an agent does, and returns the reply.
func (w *world) calls(place string) map[string]any {
	w.T.Helper()
	phase, step, _ := strings.Cut(place, ":")
	name, said := "gates/"+phase, map[string]any{"phase": phase, "at": w.Now.Format(time.RFC3339Nano)}
	if step != "" {
		name, said["step"] = name+"."+step, step
	}
	body, _ := json.Marshal(said)
	w.Put(w.In(name+".json"), string(body))
	w.settle()
	return w.replies(name)
}

// replies reads placet's reply to a call, nil if there is none.
func (w *world) replies(name string) (reply map[string]any) {
	w.T.Helper()
	if body, ok := w.Files[w.In(name+".pass.json")]; ok {
		if err := json.Unmarshal([]byte(body), &reply); err != nil {
			w.T.Fatal(err)
		}
	}
	return reply
}

// result returns the result of a call, with the kind of its gate if one is due: "waits destructive".
func result(reply map[string]any) string {
	s := fmt.Sprint(reply["result"])
	if kind := reply["kind"]; kind != nil {
		s += " " + fmt.Sprint(kind)
	}
	return s
}

// answers answers the request that the run asks.
func (w *world) answers(response string) {
	w.T.Helper()
	said := map[string]any{"response": response}
	if response == "request_changes" {
		said["comment"] = "Say what changed."
	}
	w.Now = w.Now.Add(time.Minute)
	w.Respond(w.state().Feedback.RequestID, said)
	w.settle()
}

// F23: what each level asks at each kind of gate.
func TestF23GatesByLevel(t *testing.T) {
	plan := func(autonomy string) string {
		return fmt.Sprintf(gatedPlan, autonomy, `, "requires_approval": true, "approval_type": "review"`, "")
	}
	for _, c := range []struct {
		name, metadata, autonomy string
		config                   func(*Config)
		want                     map[string]string
	}{
		{name: "nothing said", want: map[string]string{"build": "pass", "build:make": "pass", "build:ship": "waits step", "release": "pass", "release:merge-pr": "waits destructive"}},
		{name: "guarded", autonomy: `"level": "guarded", "require_approval_for": ["release"]`, want: map[string]string{"build": "pass", "release": "waits phase_entry", "release:tag": "waits phase_entry", "release:merge-pr": "waits phase_entry"}},
		{name: "pause before release", autonomy: `"level": "guarded", "pause_before_release": true`, want: map[string]string{"build:make": "pass", "release": "waits phase_entry"}},
		{name: "assist", autonomy: `"level": "assist"`, want: map[string]string{"build": "pass", "release": "waits phase_entry"}},
		{name: "upstream's other name", autonomy: `"level": "assisted"`, want: map[string]string{"release": "waits phase_entry"}},
		{name: "autonomous", autonomy: `"level": "autonomous", "pause_before_release": true`, want: map[string]string{"release": "pass", "build:ship": "waits step", "release:merge-pr": "waits destructive"}},
		{name: "autonomous, listed", autonomy: `"level": "autonomous", "require_approval_for": ["build"]`, want: map[string]string{"build:make": "waits phase_entry", "release": "pass"}},
		{name: "one side allows", autonomy: `"level": "autonomous", "allow_destructive_auto": true`, want: map[string]string{"release:merge-pr": "waits destructive"}},
		{name: "both sides allow", autonomy: `"level": "autonomous", "allow_destructive_auto": true`, config: func(c *Config) { c.AllowDestructiveAuto = true }, want: map[string]string{"release:merge-pr": "pass", "build:ship": "waits step"}},
		{name: "both sides allow, guarded", autonomy: `"level": "guarded", "allow_destructive_auto": true`, config: func(c *Config) { c.AllowDestructiveAuto = true }, want: map[string]string{"release:merge-pr": "waits destructive"}},
		{name: "dry-run", autonomy: `"level": "dry-run"`, want: map[string]string{"build": "refused", "build:make": "refused", "release:merge-pr": "refused"}},
		{name: "settings list a phase", config: func(c *Config) { c.RequireApprovalFor = []string{"build"} }, want: map[string]string{"build:make": "waits phase_entry", "release": "pass"}},
		{name: "an unknown word", metadata: `{"autonomy": "wild"}`, autonomy: `"level": "autonomous", "pause_before_release": true`, want: map[string]string{"release": "waits phase_entry"}},
		{name: "not planned", want: map[string]string{"build:other": "refused", "evaluate": "refused", "evaluate:test": "refused", "frame": "refused"}},
	} {
		for place, want := range c.want {
			w := gated(t, plan(c.autonomy), c.metadata)
			if c.config != nil {
				w.config(c.config)
			}
			if got := result(w.calls(place)); got != want {
				t.Errorf("%s, %s: %s, expected %s", c.name, place, got, want)
			}
			if waits := strings.HasPrefix(want, "waits"); waits != (w.state().Status == "awaiting_feedback") {
				t.Errorf("%s, %s: the run is %s", c.name, place, w.state().Status)
			}
		}
	}
	w := gated(t, plan(""), "")
	delete(w.Files, ".fractary/faber/workflows/default.json")
	w.config(func(c *Config) { c.RequireApprovalFor = []string{"build"} })
	for place, want := range map[string]string{"frame:anything": "pass", "release:merge-pr": "waits destructive"} {
		if got := result(w.copied().calls(place)); got != want {
			t.Errorf("plan unknown, %s: %s, expected %s", place, got, want)
		}
	}
	if reply := w.calls("build"); reply["result"] != "waits" || w.state().ResumePoint.Step != "make" {
		t.Errorf("the gate of a phase is asked at its first known step: %v, %+v", reply, w.state().ResumePoint)
	}
}

// F24: a phase, a step and an irreversible step, one gate at a time, with everything that placet
// writes; the crash laws kill placet at each write.
func TestF24ThreeGatesInTurn(t *testing.T) {
	plan := strings.Replace(fmt.Sprintf(gatedPlan, `"require_approval_for": ["release"]`, "", ""), `{"id": "merge-pr"}`, `{"id": "merge-pr", "requires_approval": true, "produces": ["out/merge.txt"], "prompt": "Merge it?"}`, 1)
	w := gated(t, plan, "")
	before := w.Files[w.Run.State]
	reply := w.calls("release:merge-pr")
	id := w.state().Feedback.RequestID
	if result(reply) != "waits phase_entry" || reply["request_id"] != id || reply["attempt"] != 1.0 || reply["revision"] != 1.0 {
		t.Fatalf("reply %v", reply)
	}
	if diff := cmp.Diff([]string{"001-step_start", "002-decision_point", "003-feedback_request"}, w.events()); diff != "" {
		t.Error(diff)
	}
	asked := `"feedback_request": {"request_id": "` + id + `", "type": "approval", "prompt": "Start phase release?", "options": ["approve", "reject"], ` +
		`"context": {"gate": {"kind": "phase_entry", "phase": "release", "step": "merge-pr", "attempt": 1}}, "requested_at": "2025-12-06T18:15:00Z", ` +
		`"notification_sent": {"cli": false, "issue_comment": false, "comment_url": null, "form": "requests/` + id + `/form.md"}}`
	after := w.Files[w.Run.State]
	for _, part := range []string{asked, `"resume_point": {"phase": "release", "step": "merge-pr", "step_index": 1}`, `"big": 12345678901234567890, "f": 1.0`, `"current_phase": "build", "current_step": "make"`, `"edge": "gate_opened"`} {
		if !strings.Contains(after, part) {
			t.Errorf("state.json lacks %s:\n%s", part, after)
		}
	}
	phases := before[strings.Index(before, `"phases"`):strings.Index(before, `, "feedback_request"`)]
	if !strings.Contains(after, phases) {
		t.Errorf("phases moved:\n%s", after)
	}
	if form := w.Read("requests/" + id + "/form.md"); !strings.Contains(form, "lets phase release begin") {
		t.Errorf("form:\n%s", form)
	}

	w.answers("approve")
	if st := w.state(); st.Status != "awaiting_feedback" || st.Feedback.Type != "approval" || st.Feedback.Prompt != "Merge it?" || result(w.replies("gates/release.merge-pr")) != "waits step" {
		t.Fatalf("the gate of the step does not follow: %s", w.Files[w.Run.State])
	}
	w.answers("approve")
	if st := w.state(); st.Feedback == nil || st.Feedback.Type != "confirmation" || st.Feedback.Prompt != "Confirm step release:merge-pr, which cannot be taken back?" {
		t.Fatalf("the confirmation does not follow: %s", w.Files[w.Run.State])
	}
	w.answers("confirm")
	reply = w.replies("gates/release.merge-pr")
	if result(reply) != "pass destructive" || reply["why"] == "" || w.state().Status != "in_progress" || w.state().Feedback != nil {
		t.Errorf("reply %v", reply)
	}
	if rp := w.state().ResumePoint; rp.Step != "merge-pr" || rp.Position != "at" || !w.Has("resume.md") || strings.Contains(w.Files[w.Run.State], `"merge-pr", "status"`) {
		t.Errorf("an answer at a gate completes nothing: %s", w.Files[w.Run.State])
	}
	if got := result(w.calls("release")); got != "pass phase_entry" {
		t.Errorf("a phase is asked about once: %s", got)
	}
	for _, h := range w.state().History {
		if h.Gate == nil || h.Gate.Phase != "release" || h.Gate.Step != "merge-pr" {
			t.Errorf("history %+v", h)
		}
	}
	if f := findingsOf(w); len(f) > 0 {
		t.Errorf("check: %v", f)
	}
}

// A reviewer's changes are for the attempt: whoever repeats the step calls again, and is asked anew.
func TestGateIsAskedAnewForEachAttempt(t *testing.T) {
	w := gated(t, fmt.Sprintf(gatedPlan, "", `, "requires_approval": true, "approval_type": "review"`, ""), "")
	w.Put(w.Run.State, strings.Replace(w.Files[w.Run.State], `"feedback_request": null`, `"artifacts": {"spec_path": "specs/a.md"}`, 1))
	w.Put("specs/a.md", "# A\n")
	w.calls("build:ship")
	first := w.state().Feedback
	if diff := cmp.Diff([]string{"out/ship.txt", "specs/a.md"}, readContext(first.Context).ArtifactPaths); diff != "" || first.Type != "review" {
		t.Errorf("%s: %s", first.Type, diff)
	}
	w.answers("request_changes")
	if reply := w.replies("gates/build.ship"); reply["result"] != "refused" || reply["attempt"] != 2.0 || w.state().Status != "in_progress" {
		t.Fatalf("the call of the first attempt: %v", reply)
	}
	w.Now = w.Now.Add(time.Minute)
	if reply := w.calls("build:ship"); result(reply) != "waits step" || reply["attempt"] != 2.0 || w.state().Feedback.RequestID == first.RequestID {
		t.Fatalf("the call of the second: %v", reply)
	}
	w.answers("approve")
	if reply := w.replies("gates/build.ship"); result(reply) != "pass step" || reply["attempt"] != 2.0 {
		t.Errorf("approved: %v", reply)
	}
	w.Put(w.In("events/020-step_retry.json"), upstreamEvent(20, "step_retry", "build", "ship"))
	w.Now = w.Now.Add(time.Minute)
	if reply := w.calls("build:ship"); result(reply) != "waits step" || reply["attempt"] != 3.0 {
		t.Errorf("an attempt that others began: %v", reply)
	}
}

// A refusal at a gate cancels the run.
func TestARefusalAtAGateCancelsTheRun(t *testing.T) {
	w := gated(t, fmt.Sprintf(gatedPlan, "", "", ""), "")
	w.calls("release:merge-pr")
	w.answers("cancel")
	if reply := w.replies("gates/release.merge-pr"); reply["result"] != "refused" || w.state().Status != "cancelled" {
		t.Errorf("%s: %v", w.state().Status, reply)
	}
}

// F26: metadata.json can make a run tighter than settings and definition, and never looser.
func TestF26MetadataOnlyTightens(t *testing.T) {
	paused := fmt.Sprintf(gatedPlan, `"level": "%s", "pause_before_release": true`, "", "")
	for _, c := range []struct{ metadata, definition, settings, want string }{
		{"autonomous", "guarded", "guarded", "waits phase_entry"},
		{"autonomous", "autonomous", "guarded", "waits phase_entry"},
		{"autonomous", "guarded", "", "waits phase_entry"},
		{"autonomous", "autonomous", "autonomous", "pass"},
		{"autonomous", "autonomous", "dry-run", "refused"},
		{"dry-run", "autonomous", "autonomous", "refused"},
		{"assist", "autonomous", "autonomous", "waits phase_entry"},
	} {
		w := gated(t, fmt.Sprintf(paused, c.definition), fmt.Sprintf(`{"autonomy": %q}`, c.metadata))
		w.config(func(f *Config) { f.Autonomy = c.settings })
		if got := result(w.calls("release:tag")); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func findingsOf(w *world) (codes []string) {
	s, _ := w.Full()
	for _, f := range New().Account(s).Findings {
		codes = append(codes, f.Text)
	}
	return codes
}

// F27: what check says of runs that left their plan, in every shape, and that it says nothing of
// those that did not.
func TestF27Deviations(t *testing.T) {
	plan := fmt.Sprintf(gatedPlan, `"require_approval_for": ["release"]`, `, "requires_approval": true`, "")
	state := func(phases string) string {
		return `{"run_id": "acme/proj/3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34", "workflow_id": "default", "status": "in_progress", "updated_at": "2025-12-06T18:00:00Z", ` + phases + `}`
	}
	codes := func(phases string, events ...string) (found []string) {
		w := gated(t, plan, `{"run_id": "acme/proj/3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34"}`)
		delete(w.Files, w.In("events/001-step_start.json"))
		w.Put(w.Run.State, state(phases))
		for i, e := range events {
			f := strings.Fields(e)
			phase, step, _ := strings.Cut(f[1], ":")
			w.Put(w.In(fmt.Sprintf("events/%03d-%s.json", i+1, f[0])), upstreamEvent(i+1, f[0], phase, step))
		}
		w.Put(w.In("events/.next-id"), fmt.Sprintf("%d\n", len(events)+1))
		for _, text := range findingsOf(w) {
			code, _, _ := strings.Cut(text, ":")
			found = append(found, code)
		}
		return found
	}
	for letter, phases := range map[string][3]string{ // healthy, improvised, out of order
		"a": {`"phases": {"build": {"steps": [{"id": "make", "status": "completed"}, {"id": "ship", "status": "in_progress"}]}}`, `"phases": {"build": {"steps": [{"id": "extra", "status": "completed"}]}}`, `"phases": {"build": {"steps": [{"id": "make", "status": "pending"}, {"id": "ship", "status": "completed"}]}}`},
		"b": {`"phases": {"build": {"steps": ["make"]}}`, `"phases": {"build": {"steps": ["make", "extra"]}}`, `"phases": {"build": {"steps": ["ship"]}}`},
		"c": {`"phases": {"build": {"completed_steps": ["make"]}}`, `"phases": {"build": {"completed_step_ids": ["build:make", "build:extra"]}}`, `"phases": {"build": {"steps_completed": ["ship"]}}`},
		"d": {`"phases": [{"name": "build", "status": "in_progress"}], "steps": [{"step_id": "make", "phase": "build", "status": "success"}]`, `"phases": [], "steps": [{"step_id": "make", "phase": "build", "status": "success"}, {"step_id": "extra", "phase": "build", "status": "success"}]`, `"phases": [], "steps": [{"step_id": "ship", "phase": "build", "status": "success"}]`},
		"e": {`"phases": {"build": {"steps": {"make": {"status": "completed"}}}}`, `"phases": {"build": {"steps": {"make": {"status": "completed"}, "extra": {"status": "pending"}}}}`, `"phases": {"build": {"steps": {"ship": {"status": "completed"}}}}`},
	} {
		for i, want := range [][]string{nil, {"unplanned_step"}, {"out_of_order"}} {
			if got := codes(phases[i], "step_start build:make", "step_complete build:make"); !cmp.Equal(got, want) {
				t.Errorf("shape %s: %v, expected %v", letter, got, want)
			}
		}
	}
	done := `"phases": {"build": {"status": "completed", "steps": []}, "release": {"steps": [{"id": "tag", "status": "in_progress"}]}}`
	if got := codes(done, "step_start build:make"); got != nil {
		t.Errorf("a phase that was completed as a whole: %v", got)
	}
	if got := codes(`"phases": {"build": {"steps": [{"id": "make", "status": "pending"}, {"id": "ship", "status": "completed"}]}}`, "step_start build:ship", "retry_loop_enter build:"); got != nil {
		t.Errorf("after a retry loop: %v", got)
	}
	for event, want := range map[string][]string{
		"phase_start release:":       {"gate_unpassed"},
		"step_start release:tag":     {"gate_unpassed"},
		"step_start build:ship":      nil, // the gate of a step may be asked at its end
		"step_complete build:ship":   {"gate_unpassed"},
		"step_start build:improvise": {"unplanned_step"},
		"artifact_create release:":   nil,
	} {
		if got := codes(`"phases": {}`, event); !cmp.Equal(got, want) {
			t.Errorf("%s: %v, expected %v", event, got, want)
		}
	}
	w := gated(t, plan, `{"autonomy": "wild"}`)
	if got := findingsOf(w); !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, `"wild" is no level`) }) {
		t.Errorf("an unknown level: %v", got)
	}
	w.Put(w.In("events/002-step_start.json"), upstreamEvent(2, "step_start", "build", "improvise"))
	s, _ := w.Full()
	if facts := New().Account(s).Facts; !slices.ContainsFunc(facts, func(f engine.Fact) bool { return f.Label == "unplanned steps" && f.Value == "build:improvise" }) {
		t.Errorf("show: %v", facts)
	}
}

// A confirmation that upstream's own programs asked for passes the gate of its step, in its attempt
// alone, and the gate of its phase.
func TestUpstreamsOwnApprovalsPass(t *testing.T) {
	w := gated(t, fmt.Sprintf(gatedPlan, `"require_approval_for": ["release"]`, "", ""), "")
	w.Put(w.Run.State, strings.Replace(strings.Replace(w.Files[w.Run.State], `"status": "in_progress", "current_phase": "build", "current_step": "make"`, `"status": "awaiting_feedback", "current_phase": "release", "current_step": "merge-pr"`, 1),
		`"feedback_request": null`, `"feedback_request": {"request_id": "fr-1", "type": "confirmation", "prompt": "Merge?"}`, 1))
	w.settle()
	w.answers("confirm")
	for _, c := range [][2]string{{"release", "pass phase_entry"}, {"release:tag", "pass phase_entry"}, {"release:merge-pr", "pass destructive"}} {
		if got := result(w.calls(c[0])); got != c[1] {
			t.Errorf("%s: %s", c[0], got)
		}
	}
	w.Now = w.Now.Add(time.Minute)
	w.Put(w.In("events/020-step_retry.json"), upstreamEvent(20, "step_retry", "release", "merge-pr"))
	w.Now = w.Now.Add(time.Minute)
	if got := result(w.calls("release:merge-pr")); got != "waits destructive" {
		t.Errorf("a second attempt: %s", got)
	}
}

// A reply that somebody else wrote is replaced, a call that says something else is refused, and what
// is no call gets no reply.
func TestRepliesFollowFromTheRunAlone(t *testing.T) {
	w := gated(t, fmt.Sprintf(gatedPlan, "", "", ""), "")
	w.calls("release:merge-pr")
	right := w.Files[w.In("gates/release.merge-pr.pass.json")]
	w.Put(w.In("gates/release.merge-pr.pass.json"), `{"result": "pass"}`)
	if w.settle(); w.Files[w.In("gates/release.merge-pr.pass.json")] != right {
		t.Error("a forged reply stands")
	}
	for _, call := range [][2]string{
		{"build.x", `{`}, {"build.make", `{"phase": "release", "step": "tag"}`}, {"build.y", `{"step": "y"}`}, {"nowhere", `{"phase": "nowhere"}`},
	} {
		name := call[0]
		w.Put(w.In("gates/"+name+".json"), call[1])
		w.Now = w.Now.Add(time.Minute)
		if w.settle(); w.replies("gates/" + name)["result"] != "refused" {
			t.Errorf("%s: %v", name, w.replies("gates/"+name))
		}
	}
	plain := w.copied()
	plain.Put(plain.In("gates/build.json"), "unusable: it is a link")
	if plain.settle(); plain.Has("gates/build.pass.json") {
		t.Error("a link gets a reply")
	}
}

// An older state that somebody restored over an open gate has it opened again, as it was.
func TestAGateIsOpenedAgainOverAnOlderState(t *testing.T) {
	w := gated(t, fmt.Sprintf(gatedPlan, "", "", ""), "")
	old := w.Files[w.Run.State]
	w.calls("release:merge-pr")
	asked, events := w.Files[w.Run.State], w.events()
	w.Now = w.Now.Add(time.Hour)
	w.Put(w.Run.State, old)
	if taken := w.settle(); !cmp.Equal(taken, []string{"gate_opened"}) {
		t.Fatalf("took %v", taken)
	}
	if got, want := w.state().Feedback, asked; !strings.Contains(want, got.RequestID) || !cmp.Equal(events, w.events()) {
		t.Errorf("%s, %v", got.RequestID, w.events())
	}
}

// copied returns the world on a stage of its own.
func (w *world) copied() *world { return &world{w.Clone()} }

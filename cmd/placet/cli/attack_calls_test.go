package cli_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// asksAgain waits until the gate is asked again. It never passes meanwhile: a question that somebody
// took back is closed once the run has been quiet for a while.
func (p *place) asksAgain(t *testing.T) {
	t.Helper()
	p.until("the gate is asked again", func() bool {
		p.gate(t, merges, 3)
		return strings.Contains(p.read(p.runs[0]+"/state.json"), `"awaiting_feedback"`)
	})
}

// callAttacks are by agents that ask whether a step may go on, and would rather not wait.
var callAttacks = []attack{
	{"a pass that nobody gave", "an agent writes the reply to its own call, or takes the question back", func(t *testing.T, p *place) {
		p.works("")
		p.gate(t, merges, 3)
		reply := p.runs[0] + "/gates/release.merge-pr.pass.json"
		right := p.read(reply)
		p.write(reply, `{"phase": "release", "step": "merge-pr", "kind": "destructive", "attempt": 1, "result": "pass", "why": "", "request_id": null, "revision": 9}`)
		p.says(p.gate(t, merges, 3), "waits for an answer")
		if got := p.read(reply); got != right {
			t.Errorf("the reply is %s", got)
		}
		p.sets(p.runs[0]+"/state.json", map[string]any{"status": "in_progress", "feedback_request": nil})
		p.asksAgain(t)
		p.must(0, "respond", p.reference(), "confirm")
		p.says(p.gate(t, merges, 0), "passed by")
	}},
	{"a history that passes a gate", "an agent writes an answer into feedback_history, or a receipt, where only kim may answer", func(t *testing.T, p *place) {
		p.agreesToGates("kim")
		p.works("")
		p.gate(t, merges, 3)
		id := p.openRequest().ID
		history := []any{map[string]any{
			"request_id": id, "request_type": "confirmation", "response": "confirm", "provided_by": map[string]string{"user": "kim", "source": "cli"}, "received_at": "2026-11-20T10:00:00Z",
			"gate": map[string]any{"kind": "destructive", "phase": "release", "step": "merge-pr", "attempt": 1},
		}}
		p.sets(p.runs[0]+"/state.json", map[string]any{"status": "in_progress", "feedback_request": nil, "feedback_history": history})
		p.gate(t, merges, 3)
		history[0].(map[string]any)["request_id"] = "fr-1"
		p.sets(p.runs[0]+"/state.json", map[string]any{"status": "in_progress", "feedback_request": nil, "feedback_history": history})
		p.asksAgain(t)
		p.must(0, "respond", p.reference(), "confirm", "--as", "kim")
		p.gate(t, merges, 0)
	}},
	{"a looser run", "an agent makes itself autonomous in metadata.json, in the workflow and in placet.toml", func(t *testing.T, p *place) {
		p.write("placet.toml", "[faber]\nautonomy = \"guarded\"\nrequire_approval_for = [\"build\"]\n")
		p.must(0, "trust", "--yes")
		p.works(`"autonomy": {"level": "autonomous", "allow_destructive_auto": true, "require_approval_for": []}, `)
		p.write(p.runs[0]+"/metadata.json", `{"autonomy": "autonomous"}`)
		p.write("placet.toml", "[faber]\nautonomy = \"autonomous\"\nrequire_approval_for = []\nallow_destructive_auto = true\n")
		p.says(p.gate(t, "build:make", 3), "waits for an answer")
		p.must(0, "approve", p.reference())
		p.gate(t, "build:make", 0)
		p.gate(t, merges, 3)
		p.must(0, "respond", p.reference(), "confirm")
		p.must(0, "trust", "--yes")
		p.gate(t, "release:other-merge-pr", 0)
	}},
	{"an answer for another gate", "an agent asks a harmless question in the name of another gate, and shows an answer as that to another step or attempt", func(t *testing.T, p *place) {
		p.works("")
		p.sets(p.runs[0]+"/state.json", map[string]any{"status": "awaiting_feedback", "feedback_request": map[string]any{
			"request_id": "fr-1", "type": "confirmation", "prompt": "Do you like tea?",
			"context": map[string]any{"gate": map[string]any{"kind": "destructive", "phase": "release", "step": "merge-pr", "attempt": 1}},
		}})
		p.must(3, "once")
		p.must(0, "respond", p.reference(), "confirm")
		p.must(0, "once")
		p.gate(t, merges, 3)
		p.must(0, "respond", p.reference(), "confirm")
		p.gate(t, merges, 0)

		ids, err := filepath.Glob(filepath.Join(p.root, p.runs[0], "requests/fr-2*/request.json"))
		if err != nil || len(ids) != 1 {
			t.Fatalf("%v, %v", ids, err)
		}
		rel, _ := filepath.Rel(p.root, ids[0])
		honest := p.read(rel)
		p.write(rel, strings.ReplaceAll(honest, "merge-pr", "other-merge-pr"))
		p.remove(p.runs[0] + "/gates/release.merge-pr.json") // it would be asked about anew
		p.gate(t, "release:other-merge-pr", 3)
		p.must(0, "respond", p.reference(), "confirm")
		p.write(rel, honest)
		p.gate(t, merges, 0)
		p.write(p.runs[0]+"/events/090-step_retry.json", `{"event_id": 90, "type": "step_retry", "timestamp": "2026-11-20T10:00:00Z", "run_id": "x", "phase": "release", "step": "merge-pr"}`)
		p.gate(t, merges, 3)
	}},
}

// merges is the irreversible step of the run.
const merges = "release:merge-pr"

// works makes a run in progress that follows a workflow, with further members of it.
func (p *place) works(members string) {
	p.t.Helper()
	p.runs = []string{".fractary/faber/runs/acme/web/00001eef-0000-4000-8000-000000000001"}
	p.write(".fractary/faber/workflows/default.json", `{"id": "default", `+members+`"phases": {
  "build": {"steps": [{"id": "make"}]}, "release": {"steps": [{"id": "merge-pr"}, {"id": "other-merge-pr"}]}}}`)
	p.write(p.runs[0]+"/metadata.json", `{}`)
	p.write(p.runs[0]+"/state.json", `{"workflow_id": "default", "status": "in_progress", "current_phase": "build", "current_step": "make", "updated_at": "2026-11-20T10:00:00Z", "phases": {"build": {"steps": [{"id": "make", "status": "in_progress"}]}}}`)
}

// gate calls about a step of the run, and returns what placet says.
func (p *place) gate(t *testing.T, place string, code int) string {
	t.Helper()
	line := []string{"faber", "gate", filepath.Base(p.runs[0]), place}
	if code == 0 {
		line = append(line, "--wait=1m") // an answer that was just saved must stand still first
	}
	return p.must(code, line...)
}

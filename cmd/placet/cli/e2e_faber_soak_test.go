package cli_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// soakedRuns are served runs whose agents are scripted: each asks at every step whether it may go
// on, fails now and then, and obeys the replies. A reviewer answers by form, by file, by comments on
// the issue, and in the prompts of coordinators.
type soakedRuns struct {
	*place
	rng *rand.Rand
	// at is the step of each run, and called whether its agent has called for the present attempt.
	at     []int
	called []bool
	calls  int
	// given is what the reviewer answers, by the folder of the request.
	given    map[string][]*soakedAnswer
	comments []soakedComment
	// coordinators are those of the runs, nil for a run without.
	coordinators []*soakedCoordinator
}

// soakedSteps are the steps of the workflow, and soakedPlan is its definition.
var soakedSteps = [][2]string{{"build", "make"}, {"build", "ship"}, {"release", "tag"}, {"release", "merge-pr"}}

const soakedPlan = `{"id": "default", "autonomy": {"require_approval_for": ["release"]}, "phases": {
  "build": {"steps": [{"id": "make"}, {"id": "ship", "requires_approval": true, "approval_type": "review"}]},
  "release": {"steps": [{"id": "tag"}, {"id": "merge-pr"}]}}}`

// Runs whose agents ask at gates come to their ends while the daemon is killed again and again: each
// in a final state that its history explains, with every gate passed by a person.
func TestTortureGatedRunsSurviveKillNine(t *testing.T) {
	t.Parallel()
	s := newSoakedRuns(t, tortured(8, 200))
	kills := s.run()
	s.verify()
	t.Logf("%d runs, %d calls, %d requests (%v), %d comments, %d kills", len(s.runs), s.calls, len(s.given), s.counted(), len(s.comments), kills)
}

func newSoakedRuns(t *testing.T, n int) *soakedRuns {
	t.Helper()
	s := &soakedRuns{
		place: newPlace(t, filepath.Join(t.TempDir(), "workspace"), 0), rng: rand.New(rand.NewPCG(5, 29)),
		at: make([]int, n), called: make([]bool, n), given: map[string][]*soakedAnswer{}, coordinators: make([]*soakedCoordinator, n),
	}
	s.write("placet.toml", "[faber]\nask_failed = \"all\"\n")
	s.configure("[faber.issue]\nenabled = true\nauthors = [\"kim\"]\nrepo = \"acme/web\"\n")
	s.write(".fractary/faber/workflows/default.json", soakedPlan)
	for i := range n {
		uuid := fmt.Sprintf("%08x-0000-4000-8000-%012x", i*7919, i)
		dir := ".fractary/faber/runs/acme/web/" + uuid
		s.runs = append(s.runs, dir)
		s.write(dir+"/metadata.json", fmt.Sprintf(`{"run_id": "acme/web/%s", "workflow_id": "default"}`, uuid))
		s.write(dir+"/events/001-workflow_start.json", fmt.Sprintf(`{"event_id": 1, "type": "workflow_start", "timestamp": "2026-11-20T10:00:00Z", "run_id": "acme/web/%s"}`, uuid))
		s.write(dir+"/events/.next-id", "2\n")
		s.write(dir+"/state.json", fmt.Sprintf(`{"run_id": "acme/web/%s", "work_id": "%d", "status": "in_progress", "current_phase": "build", "current_step": "make", "last_event_id": 1, "updated_at": "2026-11-20T10:00:00Z",
 "phases": {"build": {"status": "in_progress", "steps": []}, "release": {"status": "pending", "steps": []}}}`, uuid, i+1))
	}
	s.coordinate()
	return s
}

// run lets agents and reviewer work until every run has ended, and returns how often the daemon was
// killed.
func (s *soakedRuns) run() (kills int) {
	d := s.start()
	begun := s.made()
	s.until("every run has ended", func() bool {
		ended := 0
		for i := range s.runs {
			if s.works(i) {
				ended++
			}
			if i%8 != 7 || ended == len(s.runs) {
				continue
			}
			if made := s.made(); made > begun+8 {
				jitter(time.Second)
				d.stop(syscall.SIGKILL)
				d, begun, kills = s.start(), made, kills+1
			}
		}
		return ended == len(s.runs)
	})
	s.await(d)
	d.stop(syscall.SIGTERM)
	s.until("everything is written", func() bool { _, code := s.placet("once"); return code == 0 && s.isSettled() })
	return kills
}

// soakedState is what agents and reviewer read of a state.
type soakedState struct {
	Status   string `json:"status"`
	Feedback *struct {
		RequestID string `json:"request_id"`
	} `json:"feedback_request"`
	History []struct {
		RequestID string `json:"request_id"`
		Response  string `json:"response"`
		By        by     `json:"provided_by"`
		Gate      *struct {
			Kind, Step string
			Attempt    int
		} `json:"gate"`
	} `json:"feedback_history"`
}

func (s *soakedRuns) stateOf(i int) (st soakedState) {
	_ = json.Unmarshal([]byte(s.read(s.runs[i]+"/state.json")), &st)
	return st
}

// works does the next thing in a run, and reports whether the run has ended.
func (s *soakedRuns) works(i int) (ended bool) {
	switch st := s.stateOf(i); st.Status {
	case "completed", "cancelled":
		return true
	case "in_progress":
		s.agent(i)
	case "awaiting_feedback":
		if s.called[i] = true; st.Feedback != nil {
			s.review(i, s.runs[i]+"/requests/"+st.Feedback.RequestID)
		}
	case "failed":
		forms, _ := filepath.Glob(filepath.Join(s.root, s.runs[i], "requests/*/form.md"))
		for _, form := range forms {
			rel, _ := filepath.Rel(s.root, filepath.Dir(form))
			s.review(i, rel)
		}
	}
	return false
}

// agent asks whether the step may go on, and executes it once it may.
func (s *soakedRuns) agent(i int) {
	s.t.Helper()
	phase, step := soakedSteps[s.at[i]][0], soakedSteps[s.at[i]][1]
	name := s.runs[i] + "/gates/" + phase + "." + step
	if !s.called[i] {
		s.calls++
		s.drop(name + ".pass.json") // a reply to the call before says nothing about this one
		s.write(name+".json", fmt.Sprintf(`{"phase": %q, "step": %q, "at": "call %d"}`, phase, step, s.calls))
		s.called[i] = true
		return
	}
	var reply struct{ Result string }
	_ = json.Unmarshal([]byte(s.read(name+".pass.json")), &reply)
	switch {
	case reply.Result == "refused":
		s.called[i] = false // the step is to be repeated, and has been
	case reply.Result == "pass" && s.rng.IntN(9) == 0:
		s.ends(i, "failed")
	case reply.Result == "pass":
		s.ends(i, "completed")
	}
}

// ends writes the end of a step as upstream's scripts do: under their locks, events first.
func (s *soakedRuns) ends(i int, status string) {
	s.t.Helper()
	dir := filepath.Join(s.root, s.runs[i])
	defer s.locks(dir + "/state.json.lock")()
	defer s.locks(dir + "/events/.next-id.lock")()
	var state map[string]any
	if err := json.Unmarshal([]byte(s.read(s.runs[i]+"/state.json")), &state); err != nil || state["status"] != "in_progress" {
		return
	}
	phase, step := soakedSteps[s.at[i]][0], soakedSteps[s.at[i]][1]
	types := []string{"step_start", "step_complete"}
	last := s.at[i]+1 == len(soakedSteps)
	switch {
	case status == "failed":
		types[1], state["status"] = "step_error", "failed"
	case last:
		types, state["status"] = append(types, "workflow_complete"), "completed"
	}
	for _, typ := range types {
		state["last_event_id"] = s.emits(i, typ, phase, step)
	}
	entries := state["phases"].(map[string]any)[phase].(map[string]any)
	list, _ := entries["steps"].([]any)
	list = slices.DeleteFunc(list, func(e any) bool { return e.(map[string]any)["id"] == step })
	entries["steps"] = append(list, map[string]any{"id": step, "status": status})
	state["current_phase"], state["current_step"], state["updated_at"] = phase, step, time.Now().UTC().Format(time.RFC3339Nano)
	body, err := json.MarshalIndent(state, "", "  ")
	if err != nil {
		s.t.Fatal(err)
	}
	if err := replaced("NAME.tmp")(dir+"/state.json", string(body)); err != nil {
		s.t.Fatal(err)
	}
	if s.called[i] = false; status == "completed" && !last {
		s.at[i]++
	}
}

// locks takes a lock of upstream's, and returns what releases it.
func (s *soakedRuns) locks(name string) (release func()) {
	s.t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err == nil {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return func() { _ = f.Close() }
}

// emits writes an event, and returns its number.
func (s *soakedRuns) emits(i int, typ, phase, step string) (n int) {
	s.t.Helper()
	_, _ = fmt.Sscan(s.read(s.runs[i]+"/events/.next-id"), &n)
	names, err := os.ReadDir(filepath.Join(s.root, s.runs[i], "events"))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range names {
		var have int
		if _, err := fmt.Sscanf(e.Name(), "%d-", &have); err == nil {
			n = max(n, have+1)
		}
	}
	dir := filepath.Join(s.root, s.runs[i], "events")
	event := fmt.Sprintf(`{"event_id": %d, "type": %q, "timestamp": %q, "run_id": %q, "phase": %q, "step": %q}`, n, typ, time.Now().UTC().Format(time.RFC3339Nano), strings.TrimPrefix(s.runs[i], ".fractary/faber/runs/"), phase, step)
	for name, body := range map[string]string{fmt.Sprintf("%03d-%s.json", n, typ): event, ".next-id": fmt.Sprintf("%d\n", n+1)} {
		if err := replaced("NAME.tmp")(filepath.Join(dir, name), body); err != nil {
			s.t.Fatal(err)
		}
	}
	return n
}

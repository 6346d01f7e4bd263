package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"placet/internal/upstreamflow"
)

// emit writes an event as upstream's emit-event.sh does: a number under the
// lock of .next-id, which it then unlinks; state.json rewritten from an older
// reading, by rename, without any lock.
func emit(dir string, worker int) error {
	temp := fmt.Sprintf(".NAME.%d.tmp", worker)
	lock := filepath.Join(dir, "events/.next-id.lock")
	f, err := os.OpenFile(lock, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	body, err := os.ReadFile(filepath.Join(dir, "events/.next-id"))
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(body)))
	if err != nil {
		return err
	}
	event := fmt.Sprintf(`{"event_id": %d, "type": "test_run", "timestamp": "2026-11-20T10:00:00.000Z", "run_id": "x", "source": "emit-event.sh"}`+"\n", n)
	if err := replaced(temp)(filepath.Join(dir, fmt.Sprintf("events/%03d-test_run.json", n)), event); err != nil {
		return err
	}
	if err := replaced(temp)(filepath.Join(dir, "events/.next-id"), strconv.Itoa(n+1)+"\n"); err != nil {
		return err
	}
	if err := os.Remove(lock); err != nil && !os.IsNotExist(err) {
		return err
	}
	return rewriteState(dir, n, temp)
}

var lastEventID = regexp.MustCompile(`"last_event_id": \d+`)

func rewriteState(dir string, n int, temp string) error {
	state := filepath.Join(dir, "state.json")
	body, err := os.ReadFile(state)
	if err != nil {
		return err
	}
	body = lastEventID.ReplaceAll(body, []byte(fmt.Sprintf(`"last_event_id": %d`, n)))
	return replaced(temp)(state, string(body))
}

// Scenario 10: dozens of parallel upstream emits during an answer. History,
// status and one feedback_received hold at the end.
func TestScenario10ParallelUpstreamEmits(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 1)
	d := p.start()
	defer d.stop(syscall.SIGTERM)
	p.await(d)
	p.until("the form is written", p.opened)
	dir := filepath.Join(p.root, p.runs[0])
	var wg sync.WaitGroup
	for worker := range 12 {
		wg.Go(func() {
			for range 5 {
				if err := emit(dir, worker); err != nil {
					t.Error(err)
				}
			}
		})
	}
	p.write(p.request(0)+"/response.json", p.response(0, "approve", "c"))
	wg.Wait()
	p.until("the run is answered: "+d.said(), func() bool { return p.answered(0) })
	// An older copy may have been put back after the answer; the receipt
	// makes the transition again.
	p.until("the answer holds", func() bool {
		st := p.state(0)
		return st.Status == "in_progress" && len(st.History) == 1 && st.History[0].Response == "approve"
	})
	received, err := filepath.Glob(filepath.Join(dir, "events/*-feedback_received.json"))
	if err != nil || len(received) != 1 {
		t.Errorf("feedback_received events: %v, %v", received, err)
	}
	if !json.Valid([]byte(p.read(p.runs[0] + "/state.json"))) {
		t.Error("state.json is no JSON")
	}
}

// diskFiles are the files of a run as upstream's programs see them.
type diskFiles struct {
	p   *place
	dir string
}

func (f diskFiles) Read(name string) string { return f.p.read(f.dir + "/" + name) }

func (f diskFiles) Write(name, body string) {
	if err := replaced("NAME.tmp.4711")(filepath.Join(f.p.root, f.dir, name), body); err != nil {
		f.p.t.Error(err)
	}
}

func (f diskFiles) Events() []string {
	paths, _ := filepath.Glob(filepath.Join(f.p.root, f.dir, "events/*.json"))
	for i, p := range paths {
		paths[i] = strings.TrimSuffix(filepath.Base(p), ".json")
	}
	return paths
}

// Upstream's programs record answers to every type of request, write by write, beside a running
// daemon. Somebody else answers every third run by response.json meanwhile. Each request ends
// once.
func TestUpstreamAnswersBesideTheDaemon(t *testing.T) {
	t.Parallel()
	flows, err := upstreamflow.Load("../../..")
	if err != nil || len(flows) == 0 {
		t.Fatalf("%d flows: %v", len(flows), err)
	}
	for _, f := range flows {
		t.Run(f.Name, func(t *testing.T) { answersBesideTheDaemon(t, f) })
	}
}

// answersBesideTheDaemon plays a flow in few runs at once: upstream's session must not pause for as
// long as placet waits for it.
func answersBesideTheDaemon(t *testing.T, f upstreamflow.Flow) {
	const rounds = 12
	answers := [][2]string{
		{"approval", "approve"}, {"approval", "reject"}, {"confirmation", "confirm"}, {"confirmation", "cancel"},
		{"selection", "option-a"}, {"clarification", "Use UTF-8."}, {"review", "approve"}, {"review", "request_changes"},
		{"review", "reject"}, {"error_resolution", "retry"}, {"error_resolution", "skip"}, {"error_resolution", "abort"},
	}
	n := len(answers)
	p := newPlace(t, t.TempDir(), n+rounds) // the last ones show that the daemon has read the workspace
	plays := make([][]upstreamflow.Step, n)
	for i := range n {
		a := answers[i]
		options := ""
		if a[0] == "selection" {
			options = `, "options": ["option-a", "option-b"]`
		}
		p.edit(p.runs[i]+"/state.json", `"type": "review"`, fmt.Sprintf(`"type": %q%s`, a[0], options))
		plays[i] = f.Steps(upstreamflow.Answer{
			RequestID: p.requestID(i), Type: a[0], Response: a[1], Phase: "architect", Step: "design-review", RunID: p.runs[i],
		})
	}
	d := p.start()
	defer d.stop(syscall.SIGTERM)
	p.await(d)
	p.until("the forms are written", p.opened)
	for round := range rounds {
		for i, steps := range plays {
			if round < len(steps) && !steps[round].Do(diskFiles{p, p.runs[i]}, time.Now()) {
				t.Fatalf("run %d was answered before upstream began", i)
			}
			if round == 0 && i%3 == 0 {
				p.write(p.request(i)+"/response.json", p.response(i, answers[i][1], "as said"))
			}
		}
		p.write(p.request(n+round)+"/response.json", p.response(n+round, "approve", "on time"))
		p.until("the daemon looks: "+d.said(), func() bool { return p.answered(n + round) })
	}
	for i := range n {
		p.until("the request is closed: "+d.said(), func() bool { return p.read(p.request(i)+"/receipt.json") != "" })
	}
	for i := range n {
		for _, wrong := range upstreamflow.Wrong(diskFiles{p, p.runs[i]}, p.requestID(i)) {
			t.Errorf("%v: %s", answers[i], wrong)
		}
	}
}

// An agent that polls state.json and sees a run in progress after an answer finds resume.md,
// also while many answers come at once, because it goes on at once.
func TestResumeStandsBeforeTheStateMoves(t *testing.T) {
	t.Parallel()
	const n = 40
	p := newPlace(t, t.TempDir(), n)
	d := p.start()
	defer d.stop(syscall.SIGTERM)
	p.await(d)
	p.until("the forms are written", p.opened)
	for i := range n {
		p.write(p.request(i)+"/response.json", p.response(i, "approve", "as said"))
	}
	moved := map[int]bool{}
	p.until("all go on: "+d.said(), func() bool {
		for i, run := range p.runs {
			if !moved[i] && p.state(i).Status == "in_progress" {
				if moved[i] = true; !strings.Contains(p.read(run+"/resume.md"), "as said") {
					t.Errorf("run %d is in progress without resume.md", i)
				}
			}
		}
		return len(moved) == n
	})
}

// check reports a program that goes on with a cancelled run.
func TestCheckTellsOfARevivedRun(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 1)
	p.placet("once")
	p.write(p.request(0)+"/response.json", p.response(0, "reject", "no"))
	p.until("the run is cancelled", func() bool { p.placet("once"); return p.state(0).Status == "cancelled" })
	if out, code := p.placet("check"); code != 0 || strings.Contains(out, "was cancelled") {
		t.Fatalf("check ends with %d: %s", code, out)
	}
	p.edit(p.runs[0]+"/state.json", `"cancelled"`, `"in_progress"`)
	if out, code := p.placet("check"); code != 1 || !strings.Contains(out, "the run was cancelled by tester") {
		t.Errorf("check ends with %d: %s", code, out)
	}
}

package afl

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
)

// Scenario 14: questions.
func TestScenario14QuestionsAreAnswered(t *testing.T) {
	ask := func(w *world, words string) {
		event := fmt.Sprintf(`{"tool_name":"AskUserQuestion","tool_input":{"questions":[{"question":%q,"options":[{"label":"left"},{"label":"right"}]}]}}`, words)
		w.Write("delegations/a/pending-question.json", fmt.Sprintf(hookQuestion, event))
	}
	signal := `{"sessionId": "abc12345", "currentCheckpoint": "a", "iteration": 1, "maxIterations": 5, "status": "validating"}`
	begin := func() *world {
		w := approvedWorld(t, cp{id: "a"})
		w.untilBegun()
		w.trust()
		ask(w, "Which way?")
		w.settle()
		w.status(Delegating, "a=waiting_for_human")
		return w
	}
	w := begin()
	if form := w.Read("requests/" + w.open(typeClarification) + "/form.md"); !strings.Contains(form, "Which way?") || !strings.Contains(form, "left") {
		t.Errorf("form:\n%s", form)
	}
	w.Put(currentDelegation, signal)
	w.answer(typeClarification, "answer", map[string]any{"comment": "left, please"})
	if taken := w.settle(); !cmp.Equal(taken, []string{"a:answered"}) {
		t.Errorf("took %v", taken)
	}
	if body := w.Read("delegations/a/iterations/1/answer.md"); !strings.Contains(body, "left, please") {
		t.Errorf("answer.md:\n%s", body)
	}
	w.status(Delegating, "a=in_progress") // the old file asks no more, the signal is not believed
	ask(w, "And then?")
	w.settle()
	second := w.open(typeClarification)
	ask(w, "Or rather?")
	w.settle()
	third := w.open(typeClarification)
	if q := w.request(second); q.Status != gate.Superseded || string(q.SupersededBy) != third {
		t.Errorf("second: %+v", q)
	}
	w.done("a")
	w.settle()
	w.status(Delegating, "a=validating")
	if q := w.request(third); q.Status != gate.Superseded {
		t.Errorf("third: %+v", q)
	}

	w = begin()
	w.answer(typeClarification, "validate", nil)
	w.settle()
	w.status(Delegating, "a=validating")
	w = begin()
	w.answer(typeClarification, "escalate", nil)
	w.settle()
	w.status(Escalated, "a=escalated")
	if e := w.cp("a").Escalation; e.Route != routeUnclear || e.Run != nil || !strings.Contains(e.Reason, "Which way?") {
		t.Errorf("%+v", e)
	}

	w = approvedWorld(t, cp{id: "a"}) // without a question the signal says that the worker stopped
	w.untilBegun()
	w.trust()
	w.Put(currentDelegation, strings.Replace(signal, "validating", "completed", 1))
	w.settle()
	w.status(Delegating, "a=in_progress")
	w.Put(currentDelegation, signal)
	w.settle()
	w.status(Delegating, "a=validating")
}

// workerWorld is a session whose worker is a trusted command.
func workerWorld(t *testing.T) *world {
	w := approvedWorld(t, cp{id: "a"})
	w.config(func(c *Config) { c.WorkerCommand, c.AutoRetryDelay = ptr("work"), ptr("0s") })
	w.Facts.Trusted[w.Facts.Config.Family.(Config).WorkerDigest()] = true
	w.untilBegun()
	w.trust()
	if len(w.Begun) != 1 || !w.Begun[0].Command.Agent || w.Begun[0].Tail == 0 {
		t.Fatalf("began %+v", w.Begun)
	}
	return w
}

// workerEnded writes the outcome of the worker's last start.
func (w *world) workerEnded(how string, exit any) {
	c := w.cp("a")
	w.Write(w.at("a", numbered("worker-run", c.Worker.Number)), fmt.Sprintf(
		`{"number": %d, "command_digest": %q, "started_at": "2025-12-06T18:15:00.120Z", "finished_at": "2025-12-06T18:16:00.120Z", "outcome": %q, "exit_code": %v, "tail": "bye\n"}`,
		c.Worker.Number, c.Worker.CommandDigest, how, exit))
	clear(w.Facts.Alive)
	w.settle()
}

// Scenario 15: the worker command.
func TestScenario15TheWorkerCommandEnds(t *testing.T) {
	w := workerWorld(t)
	w.workerSays("a", map[string]any{"status": "question", "question": "Which way?"})
	w.settle()
	w.workerEnded(outFinished, 0)
	w.status(Delegating, "a=waiting_for_human")
	w.answer(typeClarification, "answer", map[string]any{"comment": "left"})
	if taken := w.settle(); !cmp.Equal(taken, []string{"a:answered", "a:worker_restart"}) {
		t.Fatalf("took %v", taken)
	}
	if len(w.Begun) != 2 || !strings.HasSuffix(w.Begun[1].Outcome, "worker-run-2.json") {
		t.Fatalf("began %d", len(w.Begun))
	}
	w.workerSays("a", map[string]any{"status": "failed", "message": "TypeError: x is not a function"})
	w.settle()
	if h := w.cp("a").History[0]; h.FailureType != "NOT_IMPLEMENTED" || h.Source != fromWorker {
		t.Errorf("%+v", h)
	}
	w = workerWorld(t)
	w.workerEnded(outFinished, 1)
	if h := w.cp("a").History[0]; h.Route != routeEnv || h.Source != fromWorker {
		t.Errorf("%+v", h)
	}
	w.status(Escalated, "a=escalated")
	w = workerWorld(t)
	w.workerEnded(outFinished, 0)
	w.status(Delegating, "a=validating")
	w = workerWorld(t)
	w.workerEnded(outTimedOut, "null")
	if h := w.cp("a").History[0]; h.FailureType != "TIMEOUT" || h.Route != routeRetry {
		t.Errorf("%+v", h)
	}
}

// Scenario 16: pause, run, abort.
func TestScenario16PauseAndAbort(t *testing.T) {
	w := approvedWorld(t, cp{id: "a"}, cp{id: "b"})
	w.untilBegun()
	w.trust()
	w.failOnce("a", "FAILED a.py::b\n")
	w.Write("control.json", `{"want": "pause", "by": "kim", "reason": "lunch"}`)
	w.settle()
	w.status(Paused, "a=retrying", "b=in_progress")
	w.pass(time.Hour)
	w.settle()
	w.status(Paused, "a=retrying")
	delete(w.Files, w.In("control.json"))
	w.settle()
	w.status(Paused, "a=retrying")
	w.Write("control.json", `{"want": "run", "by": "kim"}`)
	w.settle()
	w.status(Delegating, "a=in_progress")

	stop := `{"want": "abort", "by": "kim", "reason": "enough"}`
	for name, make := range map[engine.Status]func() *world{
		Designing: func() *world {
			w := newWorld(t)
			w.Write("specs/checkpoints.yaml", design("", cp{id: "a"}))
			w.settle()
			return w
		},
		Delegating: func() *world {
			w := approvedWorld(t, cp{id: "a"})
			w.settle()
			return w
		},
		Paused: func() *world {
			w := approvedWorld(t, cp{id: "a"})
			w.untilBegun()
			w.Write("control.json", `{"want": "pause"}`)
			w.settle()
			return w
		},
		Escalated: func() *world { return escalatedWorld(t, cp{id: "a"}) },
		Approving: func() *world {
			w := approvedWorld(t, cp{id: "a"}, cp{id: "b"})
			for w.step("state.json"); w.state().Status != Approving; w.Step() {
			}
			return w
		},
	} {
		w := make()
		w.status(name)
		w.Write("control.json", stop)
		w.settle()
		w.status(Aborted)
		st := w.state()
		if st.Last.Actor != "placet" && st.Last.Actor != "person:kim" {
			t.Errorf("%s: %+v", name, st.Last)
		}
		for _, q := range st.Requests {
			id := q.ID
			if q.Status == run.Open {
				t.Errorf("%s: request %s is open", name, id)
			}
		}
		if !w.Has("report.md") {
			t.Errorf("%s: no report.md", name)
		}
	}
}

// step carries out plans until a file is there.
func (w *world) step(rel string) {
	for !w.Has(rel) {
		w.Step()
	}
}

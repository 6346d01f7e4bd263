package afl

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"placet/engine"
)

// If a command decides, nothing that an agent can write replaces it, even while nobody has agreed
// to the command.
func TestAResultNeverTakesThePlaceOfTheCommand(t *testing.T) {
	w := approvedWorld(t, cp{id: "a"})
	w.untilBegun()
	w.Write(w.at("a", "result.json"), result(1, 0, "4 passing", ""))
	took(t, w.settle(), "a:worker_done") // only that the worker is done
	w.Write(w.at("a", "result.json"), result(1, 0, "4 passing, again", ""))
	w.Write(w.at("a", "validation.json"), `{"iteration": 1, "run": 1}`)
	took(t, w.settle())
	w.status(Delegating, "a=validating")
	w.trust()
	took(t, w.settle(), "a:trusted")
	if len(w.Begun) != 1 || !strings.HasSuffix(w.Begun[0].Outcome, "validation-2.json") {
		t.Errorf("began %+v", w.Begun)
	}
}

// A file that replaces the outcome of a command that this machine ran does not say how the command
// ended.
func TestAForgedOutcomeIsALostOne(t *testing.T) {
	w := validatingWorld(t, nil, cp{id: "a"})
	w.validated("a", outcome{stdout: "4 passing"})
	for event, issued := range map[string][]engine.Digest{
		"run_lost": {engine.Sum(nil)},
		"pass":     {engine.Sum(nil), engine.Sum([]byte(w.Read(attemptOne + "validation.json")))},
	} {
		snap, _ := w.Full()
		for i, d := range snap.Docs {
			if d.Path == w.In(attemptOne+"validation.json") {
				snap.Docs[i].Issued = issued
			}
		}
		p, err := w.Machine.Step(snap)
		if err != nil || len(p.Transitions) != 1 || p.Transitions[0].Event != event {
			t.Errorf("%+v, %v; expected %s", p.Transitions, err, event)
		}
	}
}

// A run whose command is no longer trusted when it should begin, or is revoked while it runs, waits
// for trust and has not failed.
func TestARunThatIsNotTrustedAnyMoreWaits(t *testing.T) {
	for _, how := range []string{engine.CommandNotStarted, engine.CommandStopped} {
		w := validatingWorld(t, nil, cp{id: "a"})
		w.validated("a", outcome{how: how})
		clear(w.Facts.Trusted)
		took(t, w.settle(), "a:rerun")
		took(t, w.settle())
		w.status(Delegating, "a=validating")
		w.trust()
		took(t, w.settle(), "a:trusted")
	}
}

// A command whose files differ in the work tree of a checkpoint waits only there.
func TestTrustIsOfTheFolderWhereTheCommandRuns(t *testing.T) {
	w := approvedWorld(t, cp{id: "a", command: "sh check.sh"}, cp{id: "b", command: "sh check.sh"})
	w.untilBegun()
	w.trust()
	digest := commandDigest("validation", []string{"bash", "-c"}, "sh check.sh")
	w.Facts.Trusted[digest.In(".afl/worktrees/b")] = false
	w.done("a")
	w.done("b")
	w.settle()
	if len(w.Begun) != 1 || !strings.Contains(w.Begun[0].Outcome, "/a/") {
		t.Errorf("began %+v", w.Begun)
	}
	snap, _ := w.Full()
	waits := New().Account(snap).Untrusted
	if len(waits) != 1 || waits[0].Name != "afl.validation abc12345/b" || waits[0].Prefer != ".afl/worktrees/b" || !slices.Equal(waits[0].Argv, []string{"bash", "-c", "sh check.sh"}) {
		t.Errorf("waits: %+v", waits)
	}
}

// An action begins once in a process and is identified by its name. A session whose folder was
// replaced, beside the same daemon, must not wait for the commands of the first one.
func TestASessionBegunAnewHasCommandsOfItsOwn(t *testing.T) {
	named := map[string]bool{}
	for _, later := range []time.Duration{0, time.Second} {
		w := approvedWorld(t, cp{id: "a"})
		w.pass(later)
		w.untilBegun()
		w.trust()
		w.done("a")
		w.settle()
		w.status(Delegating, "a=validating")
		own := ""
		for range 2 {
			w.pass(time.Second)
			_, p := w.Full()
			if len(p.Actions) != 1 || own != "" && p.Actions[0].ID != own {
				t.Fatalf("the actions are %+v, and %s was begun", p.Actions, own)
			}
			own = p.Actions[0].ID
		}
		if named[own] {
			t.Errorf("%s is a command of two sessions", own)
		}
		named[own] = true
	}
}

// After a restart, placet does not begin the commands of an ended session, or of one with unusable
// settings.
func TestNoCommandBeginsForASessionThatCannotMove(t *testing.T) {
	w := approvedWorld(t, cp{id: "a"})
	w.untilBegun()
	w.trust()
	w.done("a")
	w.settle()
	clear(w.Facts.Alive) // placet was killed
	begun := len(w.Begun)
	w.Put(upstreamJSON, `{"feedbackLoop": {"maxIterations": 0}}`)
	w.settle()
	if len(w.Begun) > begun {
		t.Errorf("without settings it began %+v", w.Begun[begun:])
	}
	delete(w.Files, upstreamJSON)
	w.Write("control.json", `{"want": "abort"}`)
	w.settle()
	w.status(Aborted, "a=aborted")
	if len(w.Begun) > begun {
		t.Errorf("an aborted session began %+v", w.Begun[begun:])
	}
}

// An answer does not restart a worker command that the state has named since its start, although
// its end is unknown.
func TestAWorkerCommandBeginsOnce(t *testing.T) {
	w := workerWorld(t)
	w.workerSays("a", map[string]any{"status": "question", "question": "Which way?"})
	w.settle()
	first := w.Begun[0].ID
	clear(w.Facts.Alive) // another process, which knows nothing of the command
	w.answer(typeClarification, optAnswer, map[string]any{"comment": "left"})
	p := w.stepUntil("answered")
	if len(p.Actions) != 1 || p.Actions[0].ID != first || !p.Actions[0].Recorded {
		t.Fatalf("answered wants %+v", p.Actions)
	}
	w.workerEnds("a", engine.CommandLost, "null", "")
	took(t, w.settle(), "a:worker_restart")
	if w.cp("a").Worker.Number != 2 {
		t.Errorf("start %d", w.cp("a").Worker.Number)
	}
}

// Answers are counted, not compared by time: both can happen in the same moment, and clocks are set
// back.
func TestAWorkerIsStartedAgainOncePerAnswer(t *testing.T) {
	for name, pass := range map[string]time.Duration{"at once": 0, "later": time.Minute, "the clock is set back": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			w := workerWorld(t)
			w.workerSays("a", map[string]any{"status": "question", "question": "Which way?"})
			w.settle()
			w.workerEnds("a", engine.CommandFinished, "0", "")
			w.settle()
			w.answer(typeClarification, optAnswer, map[string]any{"comment": "left"})
			w.stepUntil("answered")
			w.pass(pass)
			took(t, w.settle(), "a:worker_restart")
			w.pass(pass)
			w.workerEnds("a", engine.CommandFinished, "0", "")
			took(t, w.settle(), "a:worker_done")
		})
	}
}

// A checkout or a copied session leaves outcomes of runs that this session has not made.
func TestARunBelievesNoOutcomeThatLayThere(t *testing.T) {
	lying := func(w *world, k int) {
		w.Write(w.at("a", numbered("validation", k)), fmt.Sprintf(`{"iteration": 1, "run": %d, "command_digest": %q, "shell": ["bash", "-c"], "cwd": ".",
			"started_at": "2020-01-01T00:00:00.000Z", "finished_at": "2020-01-01T00:00:00.000Z", "duration_ms": 1, "outcome": "finished", "exit_code": 0, "timed_out": false,
			"stdout": {"bytes": 0, "head": "", "tail": "", "truncated": false}, "stderr": {"bytes": 0, "head": "", "tail": "", "truncated": false},
			"matched_expected": null, "failing_marker": null}`, k, commandDigest("validation", []string{"bash", "-c"}, "run a")))
	}
	begun := func(w *world, outcome string) {
		t.Helper()
		w.status(Delegating, "a=validating")
		if n := len(w.Begun); n == 0 || !strings.HasSuffix(w.Begun[n-1].Outcome, "/"+outcome) {
			t.Errorf("began %+v, expected %s", w.Begun, outcome)
		}
	}
	w := approvedWorld(t, cp{id: "a"})
	w.untilBegun()
	w.trust()
	lying(w, 1)
	lying(w, 4)
	w.done("a")
	w.settle()
	begun(w, "validation-5.json")

	w = approvedWorld(t, cp{id: "a"}) // it arrives while the session waits for a result
	w.untilBegun()
	w.done("a")
	w.settle()
	lying(w, 1)
	w.trust()
	took(t, w.settle(), "a:trusted")
	begun(w, "validation-2.json")
	w.validated("a", outcome{exit: 1, stdout: "FAILED a.py::b\n"})
	w.settle()
	w.status(Delegating, "a=retrying")

	w = workerWorld(t)
	w.workerEnds("a", engine.CommandFinished, "1", "")
	w.settle()
	w.Write("delegations/a/iterations/2/worker-run.json", w.Read("delegations/a/iterations/1/worker-run.json"))
	w.answer(typeEscalation, optRetryMore, nil)
	w.settle()
	w.status(Delegating, "a=in_progress")
	if n := len(w.Begun); !strings.HasSuffix(w.Begun[n-1].Outcome, "iterations/2/worker-run-2.json") {
		t.Errorf("began %s", w.Begun[n-1].Outcome)
	}
}

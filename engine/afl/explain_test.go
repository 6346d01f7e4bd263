package afl

import (
	"slices"
	"strings"
	"testing"
	"time"

	"placet/engine"
)

// words returns everything that `explain` prints.
func words(a engine.RunView) string {
	lines := slices.Clone(a.Why)
	for _, what := range a.WaitsFor {
		lines = append(lines, "status: "+what)
	}
	for _, m := range a.Unblock {
		lines = append(lines, m.Path+": "+m.Content)
	}
	return strings.Join(lines, "\n")
}

// explainCase is a waiting session, with what `explain` says and does not say about it.
type explainCase struct {
	begin func(testing.TB) *world
	want  []string
	not   []string
}

func explainCases() map[string]explainCase {
	a, b := cp{id: "a"}, cp{id: "b", after: []string{"a"}}
	attempt := sessionDir + "/delegations/a/iterations/1/"
	// begun returns a session whose design is approved and which then goes through some steps.
	begun := func(change func(*Config), list []cp, then ...func(w *world)) func(testing.TB) *world {
		return func(t testing.TB) *world {
			w := approvedWorld(t, list...)
			if change != nil {
				w.config(change)
			}
			w.settle()
			for _, do := range then {
				do(w)
			}
			return w
		}
	}
	designing := func(body string, then ...func(w *world)) func(testing.TB) *world {
		return func(t testing.TB) *world {
			w := newWorld(t)
			w.Write(specsYAML, body)
			w.settle()
			for _, do := range then {
				do(w)
			}
			return w
		}
	}
	stillFor := func(w *world) { w.pass(time.Minute); w.settle() }
	return map[string]explainCase{
		"not begun": {func(t testing.TB) *world {
			return approvedWorld(t, a)
		}, []string{"the next pass begins the session: found", "status: the next pass (placet)"}, nil},
		"no checkpoints": {func(t testing.TB) *world {
			w := newWorld(t)
			w.Write("meta.json", `{}`)
			w.settle()
			return w
		}, []string{"designing waits for checkpoints: there is neither specs/checkpoints.yaml nor checkpoints/*.json", "specs/checkpoints.yaml: the checkpoints", "status: specs/checkpoints.yaml (agent)"}, nil},
		"broken checkpoints": {func(t testing.TB) *world {
			w := newWorld(t)
			w.Write("specs/checkpoints.yaml", "checkpoints: 3\n")
			w.pass(time.Minute)
			w.settle()
			return w
		}, []string{"designing waits for checkpoints that can be read: cannot read specs/checkpoints.yaml", "specs/checkpoints.yaml: checkpoints that can be read", "status: specs/checkpoints.yaml that can be read (agent)"}, nil},
		"left alone for too short": {designing(design("", a)), []string{"for 10s (approval_quiet): then approval is asked for, at 2025-12-06T18:15:10", `meta.json: "checkpointsApproved": true`, "approved_at: <now>", "status: specs/checkpoints.yaml to be left alone for 10s (placet)"}, nil},
		"a cycle": {designing(design(approvedHead, cp{id: "a", after: []string{"b"}}, b), stillFor), []string{"designing cannot begin: E1 cycle: specs/checkpoints.yaml: cycle a → b → a", "checkpoints without these errors", "request approve-", "ticking reject and submit: stops the session for good"},
			[]string{"ticking approve ", "checkpointsApproved"}},
		"changes asked for": {designing(design("", a), func(w *world) {
			w.pass(time.Minute)
			w.settle()
			w.answer(typeApproval, optChanges, map[string]any{"comment": "smaller"})
			w.settle()
		}), []string{"designing waits for other checkpoints: jmcwilliam asked for changes at ", "the checkpoints with the changes", "status: specs/checkpoints.yaml with the changes (agent)"}, []string{"checkpointsApproved"}},
		"a worker outside": {begun(nil, []cp{a, b}), []string{"a waits in in_progress (attempt 1/5, since 2025-12-06T18:15:00.120Z) for a worker that reads " + attempt + "prompt.md and writes iterations/1/worker.json",
			"b waits in pending for a (in_progress)", attempt + `worker.json: {"status": "completed"}`, "control.json", "status: delegations/a/iterations/1/worker.json (agent)"}, []string{"status: delegations/b", "status: the next pass"}},
		"a worker command": {func(t testing.TB) *world {
			w := approvedWorld(t, a)
			w.config(func(c *Config) { c.WorkerCommand = ptr("work") })
			w.Facts.Trusted[w.Facts.Config.Family.(Config).WorkerDigest()] = true
			w.settle()
			return w
		}, []string{"a waits in in_progress (attempt 1/5, since 2025-12-06T18:15:00.120Z) for its worker command (start 1, until 2025-12-06T20:15:00.120Z): it runs since 2025-12-06T18:15:00.120Z",
			"status: the worker command of a (agent)"}, nil},
		"no slot": {begun(func(c *Config) { c.ParallelWorkers = ptr(1) }, []cp{a, {id: "c"}}), []string{"c waits in pending for a slot: the one is taken by a (parallel_workers)"}, nil},
		"untrusted": {begun(nil, []cp{a}, func(w *world) {
			w.done("a")
			w.settle()
		}), []string{"a waits in validating for trust in `run a` (placet trust); iterations/1/result.json does not count, for afl.validation is \"command\"",
			"status: placet trust for the validation command of a (person)"}, []string{`"exitCode"`}},
		"validated outside": {begun(func(c *Config) { c.Validation = ptr("result") }, []cp{a}, func(w *world) {
			w.done("a")
			w.settle()
		}), []string{"a waits in validating for iterations/1/result.json\n", "status: delegations/a/iterations/1/result.json (agent)"}, []string{"placet trust"}},
		"a command under way": {begun(nil, []cp{a}, func(w *world) {
			w.trust()
			w.done("a")
			w.settle()
		}), []string{"a waits in validating for its validation (run 1, at most 2m0s): it runs since ", "status: the validation command of a (placet)"}, []string{"result.json"}},
		"a command that nobody runs": {begun(nil, []cp{a}, func(w *world) {
			w.trust()
			w.done("a")
			w.settle()
			clear(w.Facts.Alive)
		}), []string{"the daemon, or placet watch --once, carries it out"}, nil},
		"an analysis": {begun(func(c *Config) { c.OracleWait = ptr("30s") }, []cp{a}, func(w *world) {
			w.trust()
			w.failOnce("a", "1 failing")
		}), []string{"a waits in validating for iterations/1/analysis.json, until 2025-12-06T18:15:30.120Z (oracle_wait)", "status: delegations/a/iterations/1/analysis.json (agent)"}, nil},
		"a delay": {begun(nil, []cp{a}, func(w *world) {
			w.trust()
			w.failOnce("a", "1 failing")
		}), []string{"a waits in retrying for its moment: attempt 2 starts at 2025-12-06T18:15:05.120Z", "status: attempt 2 of a at 2025-12-06T18:15:05.120Z (placet)"}, nil},
		"a question": {begun(nil, []cp{a}, func(w *world) {
			w.workerSays("a", map[string]any{"status": "question", "question": "which one?"})
			w.settle()
		}), []string{"a waits in waiting_for_human for an answer to its worker's question: request question-", "ticking validate and submit: validates the attempt as it is"}, nil},
		"escalated": {begun(nil, []cp{a, {id: "c", after: []string{"a"}}}, func(w *world) {
			w.workerSays("a", map[string]any{"status": "failed", "failure_type": "ENV_ISSUE"})
			w.settle()
		}), []string{"a waits in escalated for a decision: request escalation-", "ticking skip and submit: gives up the checkpoint and what depends on it", "c waits in pending for a (escalated)"}, nil},
		"another is escalated": {begun(func(c *Config) { c.ParallelWorkers = ptr(1) }, []cp{a, {id: "c"}}, func(w *world) {
			w.workerSays("a", map[string]any{"status": "failed", "failure_type": "ENV_ISSUE"})
			w.settle()
		}), []string{"c waits in pending: nothing starts while a waits for a person"}, nil},
		"paused by a person": {begun(func(c *Config) { c.ParallelWorkers = ptr(1) }, []cp{a, {id: "c"}}, func(w *world) {
			w.Write("control.json", `{"want": "pause", "by": "kim"}`)
			w.settle()
		}), []string{"nothing starts: the session was paused by kim at ", `control.json: {"want": "run"`, "c waits in pending: nothing starts: the session is paused (person)", "status: placet afl resume (person)"}, nil},
		"changed under way": {begun(nil, []cp{a}, func(w *world) {
			w.Write("specs/checkpoints.yaml", design("", a, cp{id: "c"}))
			w.settle()
			w.pass(time.Minute)
			w.settle()
		}), []string{"paused (specs_changed) waits for an approval: request approve-", "approved_at: <a moment after "}, []string{"checkpointsApproved"}},
		"a review": {begun(nil, []cp{a}, func(w *world) {
			w.trust()
			w.passOnce("a")
		}), []string{"review round 1 waits for an answer: request review-", "ticking accept and submit: completes the session", "ticking reopen:a and submit: works on a again"}, nil},
		"a review outside": {begun(func(c *Config) { c.Review = ptr("external") }, []cp{a}, func(w *world) {
			w.trust()
			w.passOnce("a")
		}), []string{"review round 1 waits for review.json by an outside reviewer", "status: review.json (reviewer)"}, nil},
		"settings that cannot be used": {begun(nil, []cp{a}, func(w *world) {
			w.Put(".afl/config.json", `{"feedbackLoop": {"maxIterations": 99}}`)
			w.settle()
		}), []string{"99 is out of range: expected 1 to 50; no AFL session moves until it is mended", ".afl/config.json: settings that can be used", "status: .afl/config.json that can be used (person)"}, nil},
		"a journal that does not fit": {begun(nil, []cp{a}, func(w *world) {
			delete(w.Files, w.In("state.json"))
		}), []string{"state.json is gone while events.jsonl or requests/ is there", "state.json: the state as it was"}, nil},
		"something that the next pass takes": {begun(nil, []cp{a, b}, func(w *world) {
			w.done("a")
		}), []string{"the next pass moves a in_progress → validating (worker_done): the worker has completed it", "b waits in pending"}, []string{"a waits in"}},
		"final": {begun(nil, []cp{a}, func(w *world) {
			w.Write("control.json", `{"want": "abort"}`)
			w.settle()
		}), []string{"status aborted is final: nothing moves this session"}, []string{"control.json"}},
	}
}

// For everything that waits, `explain` names the first guard that is not met, and the file that
// would meet it.
func TestExplainNamesTheFirstUnmetGuard(t *testing.T) {
	for name, test := range explainCases() {
		t.Run(name, func(t *testing.T) {
			got := words(test.begin(t).account()) + "\n"
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("does not say %q:\n%s", want, got)
				}
			}
			for _, not := range test.not {
				if strings.Contains(got, not) {
					t.Errorf("says %q:\n%s", not, got)
				}
			}
		})
	}
}

package afl

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/engine/run"
)

// mismatch is the outcome of a validation after which only a person can continue.
var mismatch = outcome{exit: 1, stdout: "AFL_FAILURE_TYPE: DESIGN_MISMATCH\n"}

// validatingWorld returns a session whose first checkpoint awaits its verdict, with trust.
func validatingWorld(t testing.TB, change func(*Config), checkpoints ...cp) *world {
	w := approvedWorld(t, checkpoints...)
	if change != nil {
		w.config(change)
	}
	w.untilBegun()
	w.trust()
	w.done(checkpoints[0].id)
	w.settle()
	w.status(Delegating, checkpoints[0].id+"=validating")
	return w
}

// stepUntil carries out plans until an edge is taken, as if placet ended then.
func (w *world) stepUntil(event string) engine.Plan {
	w.T.Helper()
	for {
		p := w.Step()
		if slices.ContainsFunc(p.Transitions, func(t engine.Transition) bool { return t.Event == event }) {
			return p
		}
		if len(p.Transitions)+len(p.Writes)+len(p.Removes)+len(p.Lines) == 0 {
			w.T.Fatalf("it rests before %s", event)
		}
	}
}

// workerEnds writes the outcome of the current start of the worker command.
func (w *world) workerEnds(id, how, exit, reason string) {
	w.T.Helper()
	c := w.cp(id)
	more := ""
	if reason != "" {
		more = fmt.Sprintf(`, "reason": %q`, reason)
	}
	w.Write(w.at(id, numbered("worker-run", c.Worker.Number)), fmt.Sprintf(
		`{"number": %d, "command_digest": %q, "started_at": %q, "finished_at": %q, "outcome": %q, "exit_code": %s, "tail": ""%s}`,
		c.Worker.Number, c.Worker.CommandDigest, run.Millis(w.Now), run.Millis(w.Now), how, exit, more))
	clear(w.Facts.Alive)
}

// took checks which edges were taken.
func took(t *testing.T, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("edges (-want +got):\n%s", diff)
	}
}

// placet may end between the verdict and the session's escalation, and the answer may come
// meanwhile.
func TestASessionEscalatesBeforeItsEscalationIsAnswered(t *testing.T) {
	for option, want := range map[string][]string{
		optRetryMore:  {"escalate", "a:retry_more", "resolve", "a:retry_due"},
		optRedesign:   {"escalate", "a:redesign", "approval_asked", "resolve"},
		optEnvFixed:   {"escalate", "a:env_fixed", "resolve"},
		optSkip:       {"escalate", "a:skip", "resolve", "nothing_left"},
		optSkipForced: {"escalate", "a:skip_forced", "resolve", "nothing_left"},
		optAbort:      {"abort", "a:session_aborted"},
	} {
		w := validatingWorld(t, func(c *Config) { c.ApprovalQuiet, c.AutoRetryDelay = ptr("0s"), ptr("0s") }, cp{id: "a"})
		w.validated("a", mismatch)
		w.stepUntil("fail")
		w.answer(typeEscalation, option, nil)
		took(t, w.settle(), want...)
	}
}

// Removing a checkpoint removes its definition, so nothing can be validated any more.
func TestACheckpointDefinedNoLongerIsNotReopened(t *testing.T) {
	for _, review := range []string{reviewPerson, reviewExternal} {
		t.Run(review, func(t *testing.T) {
			w := approvedWorld(t, cp{id: "a"}, cp{id: "b"})
			w.config(func(c *Config) { c.Review, c.ApprovalQuiet = &review, ptr("0s") })
			w.untilBegun()
			w.trust()
			w.passOnce("a")
			w.Write(specsYAML, design("", cp{id: "b"}))
			w.settle()
			w.answer(typeApproval, optApprove, nil)
			w.settle()
			w.passOnce("b")
			if review == reviewPerson {
				w.answer(typeReview, "reopen:a", map[string]any{"comment": "no"})
			} else {
				w.Write("review.json", `{"findings": [{"checkpoint": "a", "severity": "blocking", "title": "no"}]}`)
			}
			took(t, w.settle())
			if review == reviewPerson {
				w.answer(typeReview, "reopen:b", map[string]any{"comment": "no"})
			} else {
				w.Write("review.json", `{"findings": [{"checkpoint": "b", "severity": "blocking", "title": "no"}]}`)
			}
			if taken := w.settle(); !slices.Contains(taken, "b:reopened") {
				t.Errorf("took %v", taken)
			}
		})
	}
}

// A checkout may restore any of the files that were used.
func TestAHandInIsNewsOnce(t *testing.T) {
	t.Run("question", func(t *testing.T) {
		w := approvedWorld(t, cp{id: "a"})
		w.untilBegun()
		for _, words := range []string{"first", "second"} {
			w.Write("delegations/a/pending-question.json", fmt.Sprintf(hookQuestion, words))
			took(t, w.settle(), "a:question")
			w.answer(typeClarification, optAnswer, map[string]any{"comment": "yes"})
			took(t, w.settle(), "a:answered")
		}
		w.Write("delegations/a/pending-question.json", fmt.Sprintf(hookQuestion, "first"))
		took(t, w.settle())
	})
	t.Run("worker", func(t *testing.T) {
		w := approvedWorld(t, cp{id: "a"})
		w.untilBegun()
		for _, words := range []string{"first", "second"} {
			w.workerSays("a", map[string]any{"status": "question", "question": words})
			took(t, w.settle(), "a:question")
			w.answer(typeClarification, optAnswer, map[string]any{"comment": "yes"})
			took(t, w.settle(), "a:answered")
		}
		w.workerSays("a", map[string]any{"status": "question", "question": "first"})
		took(t, w.settle())
	})
	t.Run("result", func(t *testing.T) {
		w := approvedWorld(t, cp{id: "a"})
		byResult(w)
		w.untilBegun()
		for n, words := range []string{"first", "second"} {
			w.Write(w.at("a", "result.json"), result(1, 1, words, `, "failure_type": "ENV_ISSUE"`))
			if taken := w.settle(); !slices.Contains(taken, "a:fail") {
				t.Fatalf("%d: took %v", n, taken)
			}
			w.answer(typeEscalation, optEnvFixed, nil)
			took(t, w.settle(), "a:env_fixed", "resolve")
		}
		w.Write(w.at("a", "result.json"), result(1, 1, "first", `, "failure_type": "ENV_ISSUE"`))
		took(t, w.settle())
	})
}

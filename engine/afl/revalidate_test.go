package afl

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// Reopening a checkpoint affects those that were built on it: once it has passed again, their last
// attempts are validated again, one after the other, and only then does the next round open.
// Independent checkpoints stay as they are.
func TestWhatDependsOnAReopenedCheckpointIsValidatedAgain(t *testing.T) {
	w := approvedWorld(t, cp{id: "c", after: []string{"b", "a"}}, cp{id: "a"}, cp{id: "b", after: []string{"a"}}, cp{id: "d"})
	w.config(func(c *Config) { c.AutoRetryDelay = ptr("0s") })
	w.untilBegun()
	w.trust()
	for _, id := range []string{"a", "d", "b", "c"} {
		w.passOnce(id)
	}
	w.answer(typeReview, "reopen:a", map[string]any{"comment": "rounding is wrong"})
	w.settle()
	w.status(Delegating, "a=in_progress", "b=completed", "c=completed", "d=completed")
	if why := strings.Join(w.account().Why, "\n"); !strings.Contains(why, "b is completed, and is validated again once a has ended anew") ||
		!strings.Contains(why, "c is completed, and is validated again once b, a have ended anew") {
		t.Errorf("explain says\n%s", why)
	}
	w.done("a")
	w.settle()
	w.validated("a", outcome{stdout: "ok\n"})
	if taken := w.settle(); !slices.Contains(taken, "b:revalidate") || slices.Contains(taken, "c:revalidate") || slices.Contains(taken, "review_opened") {
		t.Fatalf("took %v", taken)
	}
	w.validated("b", outcome{exit: 1, stdout: "FAILED b_test.py::totals\n"})
	w.settle()
	w.passOnce("b")
	w.status(Delegating, "b=completed", "c=validating", "d=completed")
	w.validated("c", outcome{stdout: "ok\n"})
	w.settle()
	w.answer(typeReview, "accept", nil)
	w.settle()
	w.status(Completed)
}

// A checkpoint that was reopened together with its dependency and passes before it is out of date,
// too; one that passes after it is not. Aborting a reopened checkpoint also changes the base.
func TestReopenedTogether(t *testing.T) {
	begin := func() *world {
		w := approvedWorld(t, cp{id: "a"}, cp{id: "b", after: []string{"a"}})
		w.config(func(c *Config) { c.AutoRetryDelay = ptr("0s") })
		w.untilBegun()
		w.trust()
		w.passOnce("a")
		w.passOnce("b")
		return w
	}
	both := func() *world {
		w := begin()
		form := w.In("requests/" + w.open(typeReview) + "/form.md")
		w.Tick(form, "reopen:a", "reopen:b", "submit")
		w.Files[form] = strings.Replace(w.Files[form], "- [x] submit", "names\n\n- [x] submit", 1)
		w.settle()
		return w
	}
	w := both()
	w.status(Delegating, "a=in_progress", "b=in_progress")
	w.passOnce("b")
	w.passOnce("a")
	w.status(Delegating, "a=completed", "b=validating")

	w = both()
	w.passOnce("a")
	w.passOnce("b")
	w.status(Delegating, "a=completed", "b=completed")

	w = begin()
	w.answer(typeReview, "reopen:a", map[string]any{"comment": "x"})
	w.settle()
	w.done("a")
	w.settle()
	w.validated("a", outcome{exit: 127, stderr: "sh: 1: docker: not found\n"})
	w.settle()
	w.answer(typeEscalation, "skip", nil)
	w.settle()
	w.status(Delegating, "a=aborted", "b=validating")
}

// A change of the design makes the round void, but what it reopened still counts.
func TestAVoidRoundHasReopenedItsCheckpoints(t *testing.T) {
	a, b := cp{id: "a"}, cp{id: "b", after: []string{"a"}}
	w := approvedWorld(t, a, b)
	w.config(func(c *Config) { c.AutoRetryDelay = ptr("0s") })
	w.untilBegun()
	w.trust()
	w.passOnce("a")
	w.passOnce("b")
	w.answer(typeReview, "reopen:a", map[string]any{"comment": "x"})
	w.settle()
	w.Write(specsYAML, design("", a, b, cp{id: "d"}))
	w.settle()
	w.pass(time.Minute)
	w.Write(specsYAML, design("approved_at: "+w.Now.Format(time.RFC3339)+"\n", a, b, cp{id: "d"}))
	w.pass(time.Minute)
	w.settle()
	w.trust()
	if v := w.state().Review; v.Status != void {
		t.Fatalf("the review is %+v", v)
	}
	w.passOnce("a")
	w.status(Delegating, "a=completed", "b=validating", "d=in_progress")
}

// A checkpoint that upstream had completed has no attempt with feedback: when it is reopened, its
// first attempt begins with the reviewer's words.
func TestAnAdoptedCheckpointIsReopened(t *testing.T) {
	w := approvedWorld(t, cp{id: "a"}, cp{id: "b", after: []string{"a"}})
	w.config(func(c *Config) { c.AutoRetryDelay = ptr("0s") })
	w.Write("delegations/a/status.json", `{"checkpointId": "a", "status": "checkpoint_passed"}`)
	w.untilBegun()
	w.trust()
	w.passOnce("b")
	w.answer(typeReview, "reopen:a", map[string]any{"comment": "rounding is wrong"})
	w.settle()
	w.status(Delegating, "a=in_progress", "b=completed")
	w.passOnce("a")
	w.status(Delegating, "a=completed", "b=validating")
}

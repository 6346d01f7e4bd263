package afl

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// A stamp must certainly be later than the redesign that it approves. One without a zone may be
// hours off, one from the future proves nothing, and the one of the last approval was not made for
// this design.
func TestOnlyAStampThatIsSurelyLaterApprovesAgain(t *testing.T) {
	redesigned := func(head string) *world {
		w := newWorld(t)
		w.config(func(c *Config) { c.ApprovalQuiet = ptr("0s") })
		w.Write(specsYAML, design(head, cp{id: "a"}))
		w.untilBegun()
		w.trust()
		w.done("a")
		w.settle()
		w.validated("a", mismatch)
		w.settle()
		w.answer(typeEscalation, optRedesign, nil)
		w.settle()
		return w
	}
	stampAt := func(at time.Time) string { return "approved_at: " + at.Format(time.RFC3339) + "\n" }
	hour := newWorld(t).Now.Add(time.Hour)
	for name, c := range map[string]struct {
		first, then string
		approves    bool
	}{
		"a local time of a later zone":          {"approved_at: 2025-12-07 03:10:00\n", "approved_at: 2025-12-07 03:10:00\n", false},
		"another local time":                    {approvedHead, "approved_at: 2025-12-06T19:15:00\n", false},
		"from the future":                       {approvedHead, "approved_at: 2099-01-01T00:00:00Z\n", false},
		"the last approval's, then from future": {stampAt(hour), stampAt(hour), false},
		"later":                                 {approvedHead, stampAt(hour), true},
		"later, with a blank":                   {approvedHead, "approved_at: 2025-12-06 20:10:00+01:00\n", true},
	} {
		w := redesigned(c.first)
		w.status(Paused, "a=pending")
		w.pass(2 * time.Hour)
		w.Write(specsYAML, design(c.then, cp{id: "a"}))
		taken := w.settle()
		if got := slices.Contains(taken, "approved"); got != c.approves {
			t.Errorf("%s: took %v", name, taken)
		}
	}
}

// An answer cannot distinguish ids that differ only in case, dashes or underscores, and some file
// systems cannot either.
func TestAnIdIsTakenHoweverItIsSpelled(t *testing.T) {
	w := approvedWorld(t, cp{id: "a-b"}, cp{id: "c"}, cp{id: "z"})
	w.config(func(c *Config) { c.ApprovalQuiet = ptr("0s") })
	w.untilBegun()
	w.trust()
	w.passOnce("a-b")
	w.Write(specsYAML, design("", cp{id: "z"}))
	w.settle()
	w.answer(typeApproval, optApprove, nil)
	w.settle()
	for _, id := range []string{"A_b", "C", "Z", "c"} {
		w.Write(specsYAML, design("", cp{id: id}))
		w.settle()
		if st := w.state(); !slices.Contains(st.Specs.Errors, "E6") {
			t.Errorf("%s: %v", id, st.Specs.Errors)
		}
	}
	w.Write(specsYAML, design("", cp{id: "a-b"}, cp{id: "z"}, cp{id: "d"}))
	w.settle()
	if st := w.state(); len(st.Specs.Errors) > 0 {
		t.Errorf("ids of its own: %v", st.Specs.Errors)
	}
}

// A restarted session has its first review round again while the old report still exists.
func TestAReviewThatLayThereIsNotOfThisRound(t *testing.T) {
	w := approvedWorld(t, cp{id: "a"})
	w.config(func(c *Config) { c.Review = ptr("external") })
	w.Write("review.json", `{"reviewer": "old", "findings": []}`)
	w.untilBegun()
	w.trust()
	w.passOnce("a")
	w.Write("review.json", `{"reviewer": "new", "findings": []}`)
	took(t, w.settle(), "complete")
	if by := w.state().Last.Actor; by != "person:new" {
		t.Errorf("completed by %s", by)
	}
}

// A person's words for the next attempt are kept until somebody says something else, even over a
// redesign.
func TestANoteIsKeptUntilAnotherComes(t *testing.T) {
	w := validatingWorld(t, func(c *Config) { c.ApprovalQuiet, c.AutoRetryDelay = ptr("0s"), ptr("0s") }, cp{id: "a"})
	w.validated("a", mismatch)
	w.settle()
	w.answer(typeEscalation, optRedesign, map[string]any{"comment": "use the other API"})
	w.settle()
	w.Write(specsYAML, design("", cp{id: "a", expected: "other"}))
	w.settle()
	w.answer(typeApproval, optApprove, nil)
	if taken := w.settle(); !slices.Contains(taken, "a:redefined") {
		t.Fatalf("took %v", taken)
	}
	for _, next := range []struct{ option, comment, note string }{
		{optRetryMore, "", "use the other API"}, {optRetryMore, "attempts: 3", "use the other API"},
		{optRetryMore, "rather not", "rather not"}, {optRedesign, "", "rather not"},
	} {
		w.done("a")
		w.settle()
		w.validated("a", mismatch)
		w.settle()
		w.answer(typeEscalation, next.option, map[string]any{"comment": next.comment})
		w.settle()
		if got := w.cp("a").ExtraFeedback; string(got) != next.note {
			t.Errorf("%s %q: the note is %q, expected %q", next.option, next.comment, got, next.note)
		}
	}
}

// A duration in ms that time.Duration cannot hold is out of range, whatever it wraps to.
func TestALengthThatNothingCanHoldIsOutOfRange(t *testing.T) {
	for _, ms := range []string{"18446744073710", "9223372036854775807", "-1", "-18446744073710"} {
		w := oneInProgress(t)
		w.Put(upstreamJSON, `{"feedbackLoop": {"autoRetryDelay": `+ms+`}}`)
		w.done("a")
		took(t, w.settle())
		if note := w.Read("problems/.afl--config.json.problem.md"); !strings.Contains(note, "out of range: expected 0s to 24h") {
			t.Errorf("%s: %s", ms, note)
		}
	}
}

// The contract of the second layout names one thing or several.
func TestContractsNameOneOrSeveral(t *testing.T) {
	for _, names := range []string{`"Coupons"`, `["Coupons", "Totals"]`} {
		w := newWorld(t)
		w.Write("meta.json", `{"checkpointsApproved": true}`)
		w.Write("checkpoints/a.json", fmt.Sprintf(`{"validation": {"command": "run a"}, "contract": {"interface": %s, "tests": "coupon.test"}}`, names))
		w.settle()
		prompt := w.Read(attemptOne + "prompt.md")
		if strings.Contains(prompt, `["`) || !strings.Contains(prompt, "Coupons") || !strings.Contains(prompt, "coupon.test") || strings.Contains(prompt, "Totals") != strings.Contains(names, "Totals") {
			t.Errorf("%s:\n%s", names, prompt)
		}
	}
}

// placet concludes nothing from the absence of a file that is being written: it waits for a file
// that has precedence, and that file decides once it exists.
func TestAFileBeingWrittenIsNotAbsent(t *testing.T) {
	for name, c := range map[string]struct {
		file, body string
		begin      func(t testing.TB) *world
		// never must not happen before the file exists; want happens afterwards.
		never, want string
	}{
		"an analysis, at its moment": {
			file: attemptOne + "analysis.json", body: `{"failure_type": "ENV_ISSUE"}`, never: "a:fail", want: "a:fail",
			begin: func(t testing.TB) *world {
				w := validatingWorld(t, func(c *Config) { c.OracleWait = ptr("30s") }, cp{id: "a"})
				w.validated("a", outcome{exit: 1, stdout: "FAILED a.py::b\n"})
				w.settle()
				w.pass(30 * time.Second)
				return w
			},
		},
		"an analysis that nobody waits for": {
			file: attemptOne + "analysis.json", body: `{"failure_type": "ENV_ISSUE"}`, never: "a:fail", want: "a:fail",
			begin: func(t testing.TB) *world {
				w := validatingWorld(t, nil, cp{id: "a"})
				w.validated("a", outcome{exit: 1, stdout: "FAILED a.py::b\n"})
				return w
			},
		},
		"worker.json beside a result": {
			file: attemptOne + "worker.json", body: `{"status": "failed"}`, never: "a:worker_done", want: "a:worker_failed",
			begin: func(t testing.TB) *world {
				w := approvedWorld(t, cp{id: "a"})
				w.untilBegun()
				w.Write(attemptOne+"result.json", result(1, 0, "ok", ""))
				return w
			},
		},
		"a question that lies there": {
			file: "delegations/a/pending-question.json", body: fmt.Sprintf(hookQuestion, "old"), never: "a:start", want: "a:start",
			begin: func(t testing.TB) *world { return approvedWorld(t, cp{id: "a"}) },
		},
		"upstream's status": {
			file: "delegations/a/status.json", body: `{"status": "completed"}`, never: "a:defined", want: "a:adopted",
			begin: func(t testing.TB) *world { return approvedWorld(t, cp{id: "a"}) },
		},
		"a review that lies there": {
			file: "review.json", body: `{"findings": []}`, never: "review_opened", want: "review_opened",
			begin: func(t testing.TB) *world {
				w := validatingWorld(t, func(c *Config) { c.Review = ptr("external") }, cp{id: "a"})
				w.validated("a", outcome{})
				return w
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := c.begin(t)
			w.Write(c.file, c.body)
			w.Unsettled[w.In(c.file)] = true
			if taken := w.settle(); slices.Contains(taken, c.never) {
				t.Errorf("took %v while %s was being written", taken, c.file)
			}
			clear(w.Unsettled)
			taken := w.settle()
			if !slices.Contains(taken, c.want) {
				t.Errorf("took %v, expected %s", taken, c.want)
			}
			if st := w.state(); strings.HasSuffix(c.file, "analysis.json") && st.Checkpoints["a"].History[0].Route != routeEnv {
				t.Errorf("%+v", st.Checkpoints["a"].History)
			}
			if slices.Contains(taken, "a:question") || slices.Contains(taken, "complete") {
				t.Errorf("what lay there is news: took %v", taken)
			}
		})
	}
}

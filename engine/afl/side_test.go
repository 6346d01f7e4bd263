package afl

import (
	"strings"
	"testing"
	"time"

	"placet/engine"
)

// sideEnded writes the outcome of a start of the oracle or the reviewer, and settles.
func (w *world) sideEnded(id, stem string, of *SideRun, how, exit string) []string {
	w.T.Helper()
	w.Write(w.at(id, numbered(stem, of.Number)), sideOutcome(of, how, exit))
	clear(w.Facts.Alive)
	return w.settle()
}

// oracleWorld returns a session whose failures a trusted command analyses.
func oracleWorld(t testing.TB) *world {
	w := approvedWorld(t, cp{id: "a"})
	w.config(func(c *Config) { c.AutoRetryDelay, c.OracleCommand = ptr("1h"), []string{"oracle", "--deep"} })
	w.Facts.Trusted[OracleDigest([]string{"oracle", "--deep"})] = true
	w.untilBegun()
	w.trust()
	w.failOnce("a", "FAILED a_test.py::totals\n")
	w.status(Delegating, "a=validating")
	return w
}

// The oracle's command gets the verdict, and what it writes goes into the feedback and the report.
func TestTheOracleAnalysesAFailure(t *testing.T) {
	w := oracleWorld(t)
	a := w.Begun[len(w.Begun)-1]
	if a.Command.Argv[0] != "oracle" || !strings.Contains(string(a.Command.Stdin), `"failing_tests"`) || !strings.HasSuffix(a.Outcome, "/oracle-run.json") {
		t.Fatalf("began %+v", a)
	}
	if digest, ok := CommandDigest(a); !ok || digest != OracleDigest([]string{"oracle", "--deep"}) {
		t.Errorf("its digest is %s, %v", digest, ok)
	}
	w.Write(w.at("a", "analysis.json"), `{"failure_type": "LOGIC_ERROR", "causes": ["rounds half up"], "suggestions": [{"file": "a.py", "line": 3, "before": "round(x)", "after": "floor(x)", "why": "the contract says down"}]}`)
	took(t, w.settle()) // its command has not ended
	took(t, w.sideEnded("a", "oracle-run", w.cp("a").Oracle, engine.CommandFinished, "0"), "a:fail")
	md := w.Read(place("a", 1, "feedback.md"))
	for _, want := range []string{"rounds half up", "the contract says down", "round(x)", "floor(x)"} {
		if !strings.Contains(md, want) {
			t.Errorf("the feedback has no %q:\n%s", want, md)
		}
	}
}

// A report for a person has what the oracle says, too.
func TestTheOracleIsInTheEscalation(t *testing.T) {
	w := oracleWorld(t)
	w.Write(w.at("a", "analysis.json"), `{"failure_type": "DESIGN_MISMATCH", "causes": ["the contract has no currency"], "suggestions": [{"file": "contracts.md", "before": "price", "after": "price, currency", "why": "two currencies"}]}`)
	w.sideEnded("a", "oracle-run", w.cp("a").Oracle, engine.CommandFinished, "0")
	md := w.Read("delegations/a/escalation.md")
	for _, want := range []string{"the contract has no currency", "two currencies", "price, currency"} {
		if !strings.Contains(md, want) {
			t.Errorf("the report has no %q:\n%s", want, md)
		}
	}
}

// An oracle that fails, hands in nothing or is too slow changes nothing; one that placet ended starts
// again.
func TestAnOracleThatSaysNothing(t *testing.T) {
	for name, ends := range map[string]func(*world) []string{
		"fails": func(w *world) []string {
			return w.sideEnded("a", "oracle-run", w.cp("a").Oracle, engine.CommandFinished, "1")
		},
		"was lost": func(w *world) []string {
			return w.sideEnded("a", "oracle-run", w.cp("a").Oracle, engine.CommandLost, "null")
		},
		"is too slow": func(w *world) []string { w.pass(oracleTime + time.Second); return w.settle() },
		"hands in trash": func(w *world) []string {
			w.Write(w.at("a", "analysis.json"), `{"failure_type": 3}`)
			return w.sideEnded("a", "oracle-run", w.cp("a").Oracle, engine.CommandFinished, "0")
		},
	} {
		w := oracleWorld(t)
		if taken := strings.Join(ends(w), " "); taken != "a:fail" {
			t.Errorf("%s: took %s", name, taken)
		}
	}
	w := oracleWorld(t)
	took(t, w.sideEnded("a", "oracle-run", w.cp("a").Oracle, engine.CommandStopped, "null"), "a:await_analysis")
	if a := w.Begun[len(w.Begun)-1]; !strings.HasSuffix(a.Outcome, "/oracle-run-2.json") {
		t.Errorf("began %+v", a)
	}
}

// Without an analysis the feedback and the report show the code around the places that the output
// names.
func TestWithoutAnOracleTheCodeIsShown(t *testing.T) {
	w := approvedWorld(t, cp{id: "a"})
	w.config(func(c *Config) { c.AutoRetryDelay, c.MaxIterations = ptr("0s"), ptr(2) })
	w.untilBegun()
	w.trust()
	w.Put("src/coupon.py", "def total(items):\n    net = sum(items)\n    return round(net)\n\n\ndef discount(net):\n    return net * 0.9\n")
	w.Put(".env", "SECRET=1\n")
	w.failOnce("a", "FAILED a_test.py::totals\nsrc/coupon.py:3: AssertionError\n.env:1: no\n../elsewhere.py:1: no\nmissing.py:4: no\n")
	md := w.Read(place("a", 1, "feedback.md"))
	for _, want := range []string{"`src/coupon.py:3`", ">  3      return round(net)", "def discount(net)"} {
		if !strings.Contains(strings.ReplaceAll(md, "> 3", ">  3"), want) {
			t.Errorf("the feedback has no %q:\n%s", want, md)
		}
	}
	if strings.Contains(md, "SECRET") {
		t.Errorf("a hidden file is shown:\n%s", md)
	}
	w.Put("src/coupon.py", "changed since\n")
	delete(w.Files, w.In(place("a", 1, "feedback.md")))
	w.settle()
	if again := w.Read(place("a", 1, "feedback.md")); again != md {
		t.Errorf("made again, the feedback is\n%s", again)
	}
	w.Put("src/coupon.py", "def total(items):\n    return 1\n")
	w.failOnce("a", "FAILED a_test.py::totals\nsrc/coupon.py:2: AssertionError\n")
	if report := w.Read("delegations/a/escalation.md"); !strings.Contains(report, "`src/coupon.py:2`") || !strings.Contains(report, "return 1") {
		t.Errorf("the report is\n%s", report)
	}
}

// Without trust in the reviewer's command a person is asked about each checkpoint that passes, and the
// session ends without a review of the whole.
func TestEachCheckpointIsReviewed(t *testing.T) {
	w := approvedWorld(t, cp{id: "a"}, cp{id: "b", after: []string{"a"}})
	w.config(func(c *Config) {
		c.AutoRetryDelay, c.Review, c.ReviewerCommand = ptr("0s"), ptr(reviewEach), []string{"critic"}
	})
	w.untilBegun()
	w.trust()
	w.passOnce("a")
	w.status(Delegating, "a=completed", "b=pending")
	if why := strings.Join(w.account().Why, "\n"); !strings.Contains(why, "b waits in pending for a (completed, in review)") || !strings.Contains(why, "a has passed and waits for its review") {
		t.Errorf("explain says\n%s", why)
	}
	w.answer(typePassed, "reopen", map[string]any{"comment": "and zero?"})
	took(t, w.settle(), "a:reopened", "a:retry_due")
	if prompt := w.Read(w.at("a", "prompt.md")); !strings.Contains(prompt, "and zero?") {
		t.Errorf("the next worker is not told:\n%s", prompt)
	}
	w.passOnce("a")
	w.answer(typePassed, "accept", nil)
	took(t, w.settle(), "a:accepted", "b:start")
	w.passOnce("b")
	w.status(Delegating, "b=completed")
	w.answer(typePassed, "accept", nil)
	took(t, w.settle(), "b:accepted", "complete")
	w.status(Completed)
}

// reviewedWorld returns a session whose checkpoints a trusted command reviews.
func reviewedWorld(t testing.TB) *world {
	w := approvedWorld(t, cp{id: "a"}, cp{id: "b", after: []string{"a"}})
	w.config(func(c *Config) {
		c.AutoRetryDelay, c.Review, c.ReviewerCommand = ptr("0s"), ptr(reviewEach), []string{"critic"}
	})
	w.Facts.Trusted[ReviewerDigest([]string{"critic"})] = true
	w.untilBegun()
	w.trust()
	w.passOnce("a")
	if a := w.Begun[len(w.Begun)-1]; a.Command.Argv[0] != "critic" || !strings.Contains(string(a.Command.Stdin), `"passed": true`) || w.open(typePassed) != "" {
		t.Fatalf("began %+v", a)
	}
	return w
}

func TestACommandReviewsEachCheckpoint(t *testing.T) {
	w := reviewedWorld(t)
	w.Write(w.at("a", reviewFile), `{"reviewer": "critic", "findings": [{"checkpoint": "a", "severity": "blocking", "title": "no test of zero"}]}`)
	took(t, w.sideEnded("a", "review-run", w.cp("a").Review.Command, engine.CommandFinished, "0"), "a:reopened", "a:retry_due")
	if prompt := w.Read(w.at("a", "prompt.md")); !strings.Contains(prompt, "no test of zero") {
		t.Errorf("the next worker is not told:\n%s", prompt)
	}
	w.passOnce("a")
	w.Write(w.at("a", reviewFile), `{"findings": []}`)
	took(t, w.sideEnded("a", "review-run", w.cp("a").Review.Command, engine.CommandFinished, "0"), "a:accepted", "b:start")
}

// A reviewer's command that does not report is no acceptance: a person is asked.
func TestAReviewerThatSaysNothingAcceptsNothing(t *testing.T) {
	for name, end := range map[string]struct{ report, how, exit string }{
		"it fails":           {`{"findings": []}`, engine.CommandFinished, "1"},
		"it was lost":        {`{"findings": []}`, engine.CommandLost, "null"},
		"it reports nothing": {"", engine.CommandFinished, "0"},
		"of another":         {`{"findings": [{"checkpoint": "b", "severity": "blocking", "title": "x"}]}`, engine.CommandFinished, "0"},
		"it reports trash":   {`{"findings": 3}`, engine.CommandFinished, "0"},
		"it ran out of time": {`{"findings": []}`, engine.CommandTimedOut, "null"},
		"it was never begun": {`{"findings": []}`, engine.CommandNotStarted, "null"},
	} {
		w := reviewedWorld(t)
		if end.report != "" {
			w.Write(w.at("a", reviewFile), end.report)
		}
		if taken := strings.Join(w.sideEnded("a", "review-run", w.cp("a").Review.Command, end.how, end.exit), " "); taken != "a:review_asked" || w.open(typePassed) == "" {
			t.Errorf("%s: took %s", name, taken)
		}
	}
	w := reviewedWorld(t)
	took(t, w.sideEnded("a", "review-run", w.cp("a").Review.Command, engine.CommandStopped, "null"), "a:review_restarted")
	w.Write(w.In("control.json")[len(sessionDir)+1:], `{"want": "abort"}`)
	w.settle()
	w.status(Aborted, "a=completed")
}

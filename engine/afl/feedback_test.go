package afl

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"placet/engine/testoutput"
)

// lines returns n numbered lines.
func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

func TestTheEndOfAnOutput(t *testing.T) {
	fifty := strings.TrimSuffix(lines(50), "\n")
	for _, c := range []struct {
		name, in, want string
		whole          bool
	}{
		{"nothing", "", "", true},
		{"blank lines around", "\n\nx\n\n", "x", true},
		{"fifty lines", lines(50), fifty, true},
		{"fifty-one lines", "first\n" + lines(50), fifty, false},
		{"one long line", strings.Repeat("x", shownOutput+1), "…" + strings.Repeat("x", shownOutput), false},
		{"colours and CRLF", "\x1b[31mred\x1b[0m\r\nplain\r\n", "red\nplain", true},
		{"a progress bar", "10%\r20%\rready\n", "10%\n20%\nready", true},
	} {
		if got, whole := endOf(c.in); got != c.want || whole != c.whole {
			t.Errorf("%s: %q, %t", c.name, got, whole)
		}
	}
}

func TestTheEndOfAnOutputIsShortAndItsEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.StringOf(rapid.SampledFrom([]rune("aé日\n"))).Draw(t, "piece")
		in := strings.Repeat(piece, rapid.IntRange(0, 4000).Draw(t, "times"))
		end, whole := endOf(in)
		if !utf8.ValidString(end) || strings.Count(end, "\n") >= shownLines || len(end) > shownOutput+len("…") {
			t.Fatalf("%d bytes, %d lines", len(end), strings.Count(end, "\n")+1)
		}
		all := strings.Trim(in, "\n")
		if !strings.HasSuffix(all, strings.TrimPrefix(end, "…")) || whole != (end == all) {
			t.Fatalf("%q is not the end, or whole is %t", end, whole)
		}
	})
}

func TestFeedbackSaysWhereTheRestOfAnOutputIs(t *testing.T) {
	long := lines(60)
	for _, c := range []struct {
		source, file string
		run          int
		want         string
	}{
		{fromValidation, "", 1, "### stdout (its end; what else is kept stands in `validation.json`)\n\n```\nline 11\n"},
		{fromValidation, "", 3, "`validation-3.json`"},
		{fromResult, "", 1, "### output (its end; what else is kept stands in `result.json`)\n"},
		{fromWorker, "", 1, "### worker (its end; what else is kept stands in `worker.json`)\n"},
		{fromWorker, "worker-run-2.json", 1, "`worker-run-2.json`"},
	} {
		body := string(feedbackMD(feedbackData{Lang: "en", Verdict: Verdict{Iteration: 1, Run: c.run, Source: c.source}, Stdout: long, File: c.file}))
		if !strings.Contains(body, c.want) || strings.Contains(body, "line 10\n") {
			t.Errorf("%s %d lacks %q:\n%s", c.source, c.run, c.want, body)
		}
	}
}

func TestFeedbackWithoutAnalysisSaysWhatTheTypeMeans(t *testing.T) {
	v := failedVerdict()
	v.Causes, v.Suggestions, v.FailureType, v.Marker = nil, nil, text(testoutput.Timeout), ptr("2 failing")
	v.MatchedText = ptr(true)
	body := string(feedbackMD(feedbackData{Lang: "en", Def: couponService(), Max: 5, Verdict: v, Timeout: 2 * time.Minute}))
	want := "## Specific fixes\n\nCause: no end within 2m\n\n" +
		"The expected text is there, and beside it a sign of failing tests: `2 failing`\n\n" +
		"1. look for a loop or a wait; raise validation.timeout if it is only slow\n\n" +
		"The lines that tell:\n\n```\n  1) CouponService applies one coupon\nAssertionError: expected 2 to equal 1\n```\n\n## Code examples\n\n—\n"
	if !strings.Contains(body, want) {
		t.Errorf("feedback.md:\n%s", body)
	}
	v.MatchedText = ptr(false)
	if body := string(feedbackMD(feedbackData{Lang: "en", Def: couponService(), Verdict: v})); strings.Contains(body, "The expected text is there") {
		t.Errorf("the expected text is not there:\n%s", body)
	}
}

func TestFeedbackShowsSoManySuggestions(t *testing.T) {
	d := couponFeedback("en")
	d.Verdict.Suggestions = nil
	for i := range shownSuggestions + 3 {
		d.Verdict.Suggestions = append(d.Verdict.Suggestions, Suggestion{File: fmt.Sprintf("f%d.ts", i), After: text(strings.Repeat("x", 2*shownCode)), Why: "why"})
	}
	body := string(feedbackMD(d))
	if !strings.Contains(body, "\n20. `f19.ts`: why\n21. … and 3 more in analysis.json\n") || strings.Contains(body, "f20.ts") {
		t.Errorf("feedback.md:\n%.2000s", body)
	}
	if len(body) > shownSuggestions*(shownCode+200)+8<<10 {
		t.Errorf("feedback.md has %d bytes", len(body))
	}
}

func TestLengthWords(t *testing.T) {
	for d, want := range map[time.Duration]string{
		500 * time.Millisecond: "500ms", 45 * time.Second: "45s", time.Minute: "1m", 90 * time.Second: "1m30s",
		10 * time.Minute: "10m", time.Hour: "1h", time.Hour + 5*time.Minute: "1h5m", 24 * time.Hour: "24h", 0: "0s",
	} {
		if got := lengthWords(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

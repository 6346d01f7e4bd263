package testoutput_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/engine/testoutput"
)

// FuzzClassify classifies any bytes: without a panic, the same way twice, and
// within the limits.
func FuzzClassify(f *testing.F) {
	for _, lines := range alternatives {
		f.Add(strings.Join(lines, "\n"), "coupon-service", 1, false)
		for _, line := range lines {
			f.Add(line+"\r\n", "", 0, false)
		}
	}
	f.Add("\x1b[31m\xff\n\n\nE\n assert\nFAIL\n\na > b\n", "x", 5, true)
	f.Fuzz(func(t *testing.T, text, own string, exit int, timedOut bool) {
		in := testoutput.Input{Text: text, Exit: &exit, TimedOut: timedOut, Own: []string{own}}
		got := testoutput.Classify(in)
		checkFinding(t, in, got)
		if diff := cmp.Diff(got, testoutput.Classify(in)); diff != "" {
			t.Errorf("twice (-first +second):\n%s", diff)
		}
		if diff := cmp.Diff(got, testoutput.Classify(testoutput.Input{Text: strings.ReplaceAll(testoutput.Clean(text), "\n", "\r\n"), Exit: &exit, TimedOut: timedOut, Own: in.Own})); diff != "" && testoutput.Clean(testoutput.Clean(text)) == testoutput.Clean(text) {
			t.Errorf("with other line ends (-first +second):\n%s", diff)
		}
	})
}

// FuzzMatch seeks any text in any other.
func FuzzMatch(f *testing.F) {
	for _, seed := range [][2]string{
		{"3 passed", "13 passed, 3 passed\n2 failing"}, {"a\na", "a\na\na\n1 failed"}, {"5", "1.5,5.5 5"}, {"성공", "미성공 성공"}, {"\xff", "\xff"},
		{"", "x"}, {" ", ""}, {"x", "\x1b[31mx\x1b[0m\r\n# fail 1"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, expected, output string) {
		matched, marker := testoutput.Match(expected, output)
		again, markerAgain := testoutput.Match(expected, output)
		if show(matched) != show(again) || show(marker) != show(markerAgain) {
			t.Fatalf("twice: %s, %s and %s, %s", show(matched), show(marker), show(again), show(markerAgain))
		}
		want, text := strings.TrimSpace(strings.ReplaceAll(expected, "\r\n", "\n")), testoutput.Clean(output)
		switch {
		case (want == "") != (matched == nil):
			t.Fatalf("expected %q, matched %s", expected, show(matched))
		case want == "" && marker != nil:
			t.Fatalf("nothing is expected, yet marker %s", show(marker))
		case want == "":
			return
		case *matched && !strings.Contains(text, want):
			t.Fatal("matched what is not there")
		case marker != nil && !strings.Contains(text, *marker):
			t.Fatalf("marker %s is not there", show(marker))
		}
		// Between blanks every text is at token boundaries.
		if whole, _ := testoutput.Match(expected, "\n"+want+"\n"); strings.ToValidUTF8(want, "\uFFFD") == want && testoutput.Clean(want) == want && !*whole {
			t.Fatalf("%q is not found in itself", want)
		}
	})
}

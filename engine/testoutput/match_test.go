package testoutput_test

import (
	"fmt"
	"strings"
	"testing"

	"placet/engine/testoutput"
)

func TestMatchAtTokenBoundaries(t *testing.T) {
	tests := []struct {
		expected, output string
		want             bool
	}{
		{"3 passed", "3 passed", true},
		{"3 passed", "3 passed in 0.1s\n", true},
		{"3 passed", "=== 3 passed, 1 skipped ===", true},
		{"3 passed", "13 passed", false},
		{"3 passed", "3 passedX", false},
		{"3 passed", "3 Passed", false},
		{"3 passed", "x3 passed", false},
		{"3 passed", "_3 passed", false},
		{"3 passed", "3 passed_", false},
		{"3 passed", "3 passed2", false},
		{"3 passed", "13 passed, then 3 passed", true},
		{"3 passed", "(3 passed)", true},
		{"3 passed", "-3 passed", true},
		{"3 passed", "", false},
		{"3 passed", "3  passed", false},
		{"  3 passed\n", "3 passed", true},
		{"a\r\nb", "x\na\nb\n", true},
		{"a\nb", "a\r\nb\r\n", true},
		{"a\nb", "a b", false},
		{"3 passed", "\x1b[32m3\x1b[39m passed\x1b[0m", true},
		{"3 passed", "1\x1b[32m3 passed\x1b[0m", false},
		{"see it", "\x1b]8;;file:///x\x1b\\see it\x1b]8;;\x07", true},

		{"5", "5", true},
		{"5", "1.5", false},
		{"5", "1,5", false},
		{"5", "5.1", false},
		{"5", "5,000", false},
		{"5", "5.", true},
		{"5", "5, 6", true},
		{"5", ".5", true},
		{"5", "a.5", true},
		{"5", "5.a", true},
		{"5", "1..5", true},
		{"5", "15", false},
		{"5", "5%", true},
		{"5.", "5.1", true},
		{".5", "1.5", true},
		{"1.5", "11.5", false},
		{"1.5", "2.1.5", false},
		{"v5", "v5.1", false},
		{"passed 5", "passed 5.1", false},
		{"ok", "1.ok.2", true},
		{"ok", "token", false},
		{"ok", "ok.", true},
		{"200 OK", "HTTP/1.1 200 OK\r\n", true},
		{"[done]", "x[done]x", true},
		{"-", "a-b", true},

		// Letters and digits are Unicode's.
		{"성공", "미성공", false},
		{"성공", "테스트: 성공", true},
		{"성공", "성공했습니다", false},
		{"pass", "épass", false},
		{"pass", "passé", false},
		{"gestern", "vorgestern", false},
		{"ße", "Straße", false},
		{"5", "٣5", false},
		{"٥", "٣.٥", false},
		{"3 passed", "✓3 passed✓", true},
		{"3 passed", "✔️3 passed", true},
		{"3 passed", "\xff3 passed\xff", true},
		{"aa a", "aaa aa a", true},
		{"1 1", "11 1 1", true},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%q in %q", test.expected, test.output), func(t *testing.T) {
			matched, marker := testoutput.Match(test.expected, test.output)
			if matched == nil || *matched != test.want || marker != nil {
				t.Errorf("matched %s, marker %s; want %v, nil", show(matched), show(marker), test.want)
			}
		})
	}
}

func TestMatchLooksAtEachOutputAlone(t *testing.T) {
	tests := []struct {
		name, expected string
		outputs        []string
		matched        string
		marker         string
	}{
		{"nothing expected", "", []string{"2 failed"}, "nil", "nil"},
		{"blanks expected", " \r\n\t", []string{"2 failed"}, "nil", "nil"},
		{"no output", "ok", nil, "false", "nil"},
		{"in the first", "ok", []string{"ok", ""}, "true", "nil"},
		{"in the second", "ok", []string{"", "ok"}, "true", "nil"},
		{"not over both", "a\nb", []string{"a\n", "b"}, "false", "nil"},
		{"not over both, put together", "ab", []string{"a", "b"}, "false", "nil"},
		{"a marker beside it in the other counts not", "4 passing", []string{"4 passing", "2 failing"}, "true", "nil"},
		{"a marker anywhere counts in every output", "4 passing", []string{"4 passing", "not ok 1"}, "true", `"not ok 1"`},
		{"a marker beside it in the second", "ok", []string{"ok", "ok\n1 error"}, "true", `"1 error"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			matched, marker := testoutput.Match(test.expected, test.outputs...)
			if show(matched) != test.matched || show(marker) != test.marker {
				t.Errorf("matched %s, marker %s; want %s, %s", show(matched), show(marker), test.matched, test.marker)
			}
		})
	}
}

// TestMarkersNear has every marker that counts beside the expected text, and
// how far that is.
func TestMarkersNear(t *testing.T) {
	tests := []struct{ output, want string }{
		{"4 passing, 2 failing", `"2 failing"`},
		{"4 passing\n2 failing", `"2 failing"`},
		{"4 passing\n\n\n2 failing", `"2 failing"`},
		{"4 passing\n\n\n\n2 failing", "nil"},
		{"4 passing\r\n\r\n\r\n2 failing", `"2 failing"`},
		{"4 passing\n\x1b[31m2 failing\x1b[0m", `"2 failing"`},
		{"2 failing\n4 passing", "nil"},
		{"2 failing, 4 passing", `"2 failing"`},
		{"4 passing\n\n\n\n4 passing\n\n\n2 failing", `"2 failing"`},
		{"14 passing\n2 failing\n\n\n4 passing", "nil"},
		{"4 passing 4 passing\n\n\n2 failing", `"2 failing"`},
		{"4 passing\n1 failed", `"1 failed"`},
		{"4 passing\n10 FAILURES", `"10 FAILURES"`},
		{"4 passing\n1 failure", `"1 failure"`},
		{"4 passing\n1 error", `"1 error"`},
		{"4 passing\n3 errors", `"3 errors"`},
		{"4 passing\nfailures: 1", `"failures: 1"`},
		{"4 passing\nFailures:1", `"Failures:1"`},
		{"4 passing\nErrors: 2", `"Errors: 2"`},
		{"4 passing\nFailed: 2", `"Failed: 2"`},
		{"4 passing\nOK (failures=1)", `"failures=1"`},
		{"4 passing\nOK (errors=12)", `"errors=1"`},
		{"4 passing\n0 failed", "nil"},
		{"4 passing\n0 failed, 0 errors", "nil"},
		{"4 passing\nFailures: 0, Errors: 0", "nil"},
		{"4 passing\nfailures=0", "nil"},
		{"4 passing\nOK (expected failures=1)", "nil"},
		{"4 passing\n1 failed as expected", "nil"},
		{"4 passing\n2 failed attempts before that", "nil"},
		{"4 passing\n2 failings", "nil"},
		{"4 passing\nx2 failing", "nil"},
		{"4 passing\nfailed:  2", "nil"},
		{"4 passing\n2\nfailing", "nil"},
		{"4 passing", "nil"},
	}
	for _, test := range tests {
		t.Run(test.output, func(t *testing.T) {
			matched, marker := testoutput.Match("4 passing", test.output)
			if !*matched || show(marker) != test.want {
				t.Errorf("matched %s, marker %s; want true, %s", show(matched), show(marker), test.want)
			}
		})
	}
	// The three lines are counted from where the expected text ends.
	if _, marker := testoutput.Match("a\nb\nc", "1 failed a\nb\nc\n\n\n2 failed"); show(marker) != `"1 failed"` {
		t.Errorf("in its first line: marker %s", show(marker))
	}
	if _, marker := testoutput.Match("a\nb\nc", "a\nb\nc\n\n\n2 failed"); show(marker) != `"2 failed"` {
		t.Errorf("three lines after its last line: marker %s", show(marker))
	}
}

// TestMarkersAnywhere has every marker that counts at any place.
func TestMarkersAnywhere(t *testing.T) {
	far := strings.Repeat("\nlog", 9)
	for _, test := range []struct{ line, want string }{
		{"--- FAIL: TestA (0.00s)", `"--- FAIL:"`},
		{"    --- FAIL: TestA/b (0.00s)", "nil"}, // a subtest's mark never stands without its parent's; a test quotes it
		{"FAIL-SAFE mode on", "nil"},
		{"FAILED-OVER to b", "nil"},
		{"FAIL_FAST=1", "nil"},
		{"FAIL: 0", "nil"},
		{"FAILED: 0", "nil"},
		{"FAIL: 2", `"FAIL:"`},
		{"FAIL: test_total (test_cart.Cart)", `"FAIL:"`},
		{"FAILED (failures=1)", `"FAILED"`},
		{"not ok 3 - refunds # TODO later", "nil"},
		{"not ok 3 refunds # skip no network", "nil"},
		{"not ok 3 - a todo # 4", `"not ok 3"`},
		{"FAIL", `"FAIL"`},
		{"FAIL\tshop/coupon\t0.1s", `"FAIL"`},
		{"FAILED a::b", `"FAILED"`},
		{"FAILED", `"FAILED"`},
		{"not ok 12 - a", `"not ok 12"`},
		{"test result: FAILED. 1 passed; 1 failed", `"test result: FAILED"`},
		{"# fail 3", `"# fail 3"`},
		{"# fail 0", "nil"},
		{"FAILURE", "nil"},
		{" FAIL a", "nil"},
		{"x FAILED", "nil"},
		{"fail", "nil"},
		{"test result: ok", "nil"},
		{"  not ok 1", "nil"},
		{"x --- FAIL: TestA", "nil"},
	} {
		for name, output := range map[string]string{"before": test.line + far + "\nok", "after": "ok" + far + "\n" + test.line} {
			matched, marker := testoutput.Match("ok", output)
			if !*matched || show(marker) != test.want {
				t.Errorf("%q %s: matched %s, marker %s; want true, %s", test.line, name, show(matched), show(marker), test.want)
			}
		}
	}
	if matched, marker := testoutput.Match("ok", "no\nFAIL\n"); *matched || show(marker) != `"FAIL"` {
		t.Errorf("without a match: matched %s, marker %s", show(matched), show(marker))
	}
	if _, marker := testoutput.Match("ok", "FAIL\nok\n2 failed"); show(marker) != `"2 failed"` {
		t.Errorf("the marker beside the match comes first, not %s", show(marker))
	}
}

func TestPassed(t *testing.T) {
	yes, no, marker := true, false, "2 failing"
	tests := []struct {
		name     string
		exit     *int
		timedOut bool
		expected string
		matched  *bool
		marker   *string
		want     bool
	}{
		{"exit 0, nothing expected", new(0), false, "", nil, nil, true},
		{"exit 0, blanks expected", new(0), false, " \n", nil, nil, true},
		{"exit 0, found", new(0), false, "ok", &yes, nil, true},
		{"exit 0, found, with a marker", new(0), false, "ok", &yes, &marker, false},
		{"exit 0, not found", new(0), false, "ok", &no, nil, false},
		{"exit 0, not looked for", new(0), false, "ok", nil, nil, false},
		{"exit 1", new(1), false, "", nil, nil, false},
		{"exit 1, found", new(1), false, "ok", &yes, nil, false},
		{"exit not known", nil, false, "", nil, nil, false},
		{"timed out", new(0), true, "", nil, nil, false},
		{"timed out, found", new(0), true, "ok", &yes, nil, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := testoutput.Passed(test.exit, test.timedOut, test.expected, test.matched, test.marker); got != test.want {
				t.Errorf("passed is %v, want %v", got, test.want)
			}
		})
	}
}

package testoutput_test

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"placet/engine/testoutput"
)

func TestSignaturesOfLikeFailures(t *testing.T) {
	base := []string{"--- FAIL: TestA (0.03s)", "/home/a/shop/coupon_test.go:12: got 950, want 900 at 0xc000123abc"}
	tests := []struct {
		name  string
		typ   testoutput.Type
		lines []string
		equal bool
	}{
		{"the same", testoutput.LogicError, base, true},
		{"in another order", testoutput.LogicError, []string{base[1], base[0]}, true},
		{"other numbers", testoutput.LogicError, []string{"--- FAIL: TestA (12.7s)", "/home/a/shop/coupon_test.go:9: got 1, want 22222 at 0xc000123abc"}, true},
		{"another address", testoutput.LogicError, []string{base[0], strings.Replace(base[1], "0xc000123abc", "0x1f", 1)}, true},
		{"in another folder", testoutput.LogicError, []string{base[0], strings.Replace(base[1], "/home/a/shop/", "/tmp/w/", 1)}, true},
		{"in a folder of Windows", testoutput.LogicError, []string{base[0], strings.Replace(base[1], "/home/a/shop/", `C:\w\`, 1)}, true},
		{"with other blanks", testoutput.LogicError, []string{"  ---  FAIL:\tTestA (0.03s) ", base[1]}, true},
		{"with a line that differs by a number", testoutput.LogicError, append([]string{"--- FAIL: TestA (9.99s)"}, base...), true},
		{"another type", testoutput.TypeError, base, false},
		{"another test", testoutput.LogicError, []string{"--- FAIL: TestB (0.03s)", base[1]}, false},
		{"another file", testoutput.LogicError, []string{base[0], strings.Replace(base[1], "coupon_test", "order_test", 1)}, false},
		{"a line less", testoutput.LogicError, base[:1], false},
		{"none", testoutput.LogicError, nil, false},
	}
	want := testoutput.Signature(testoutput.LogicError, base)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := testoutput.Signature(test.typ, test.lines)
			if !hex16.MatchString(got) || got == want != test.equal {
				t.Errorf("%s beside %s, want equal: %v", got, want, test.equal)
			}
		})
	}
}

// TestPathsInSignatures has paths in the places where tools print them, each
// with another path in a different folder.
func TestPathsInSignatures(t *testing.T) {
	for _, pair := range [][2]string{
		{"/a/b/x.go:3", "/c/x.go:4"}, {"(/a/b/x.py)", "(/c/x.py)"}, {`"/a/b/x.py"`, `"/c/d/e/x.py"`}, {"file:///a/x.mjs:3:1", "file:///b/c/x.mjs:3:1"},
		{"at f (/a/x.js:1:2)", "at f (/b/x.js:1:2)"}, {`File "/a/x.py", line 3`, `File "/b/x.py", line 4`}, {"dir=/a/b", "dir=/c/b"}, {"/x", "/a/x"},
		{`C:\a\x.cs(3)`, `D:\b\c\x.cs(4)`}, {"/a/b/", "/c/b/"}, {"'/a/x'", "'/b/x'"}, {"[/a/x]", "[/b/x]"}, {"x /a/y /b/z", "x /c/y /d/z"},
	} {
		if a, b := testoutput.Signature("", pair[:1]), testoutput.Signature("", pair[1:]); a != b {
			t.Errorf("%q and %q differ", pair[0], pair[1])
		}
	}
	for _, pair := range [][2]string{
		{"a/x.go", "b/x.go"}, {"./a/x.go", "./b/x.go"}, {"and/or", "or"}, {"/a/x.go", "/a/y.go"}, {"// x", "x"}, {"a / b", "a b"},
	} {
		if a, b := testoutput.Signature("", pair[:1]), testoutput.Signature("", pair[1:]); a == b {
			t.Errorf("%q and %q are alike", pair[0], pair[1])
		}
	}
}

// TestSignaturesIgnoreNumbersFoldersAndBlanks changes these in any lines.
func TestSignaturesIgnoreNumbersFoldersAndBlanks(t *testing.T) {
	word := rapid.StringMatching(`[a-z]{1,4}|[0-9]{1,6}|0x[0-9a-f]{1,6}|/([a-z]{1,3}/){0,3}x\.go:[0-9]{1,3}`)
	number, blank := regexp.MustCompile(`0x[0-9a-f]+|[0-9]+`), regexp.MustCompile(` `)
	folder := regexp.MustCompile(`(^| )/([a-z]+/)*`)
	rapid.Check(t, func(t *rapid.T) {
		var before, after []string
		for _, words := range rapid.SliceOfN(rapid.SliceOfN(word, 1, 6), 0, 8).Draw(t, "lines") {
			line := strings.Join(words, " ")
			before = append(before, line)
			line = folder.ReplaceAllString(line, "${1}/other/place/")
			line = number.ReplaceAllStringFunc(line, func(string) string { return rapid.StringMatching(`[0-9]{1,5}`).Draw(t, "number") })
			line = blank.ReplaceAllStringFunc(line, func(string) string { return rapid.StringMatching(`[ \t]{1,3}`).Draw(t, "blank") })
			after = append(after, line)
		}
		after = rapid.Permutation(after).Draw(t, "order")
		if a, b := testoutput.Signature(testoutput.LogicError, before), testoutput.Signature(testoutput.LogicError, after); a != b {
			t.Fatalf("%q and %q differ", before, after)
		}
	})
}

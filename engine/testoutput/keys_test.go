package testoutput_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/engine/testoutput"
)

func numbered(format string, from, to int) []string {
	var lines []string
	for i := from; i <= to; i++ {
		lines = append(lines, fmt.Sprintf(format, i))
	}
	return lines
}

func TestKeyLines(t *testing.T) {
	join := func(lines ...[]string) string {
		var all []string
		for _, l := range lines {
			all = append(all, l...)
		}
		return strings.Join(all, "\n")
	}
	long := "not implemented" + strings.Repeat("é", 3000)
	tests := []struct {
		name string
		in   testoutput.Input
		want []string
	}{
		{"of the rule and of F, in the text's order",
			testoutput.Input{Text: "a\nFAILED a::b\nb\nNotImplementedError\nc\nFAILED a::c\nAssertionError"},
			[]string{"FAILED a::b", "NotImplementedError", "FAILED a::c"}},
		{"a line twice counts once", testoutput.Input{Text: "not implemented\nx\nnot implemented\n"}, []string{"not implemented"}},
		{"the first twenty", testoutput.Input{Text: join(numbered("%d: not implemented", 1, 30))}, numbered("%d: not implemented", 1, 20)},
		{"the first twenty of both", testoutput.Input{Text: join(numbered("%d: not implemented", 1, 15), numbered("FAILED a::t%d", 1, 15))},
			append(numbered("%d: not implemented", 1, 15), numbered("FAILED a::t%d", 1, 5)...)},
		{"the last twenty where nothing matches", testoutput.Input{Text: join(numbered("line %d", 1, 30)) + "\n\n \t\n"}, numbered("line %d", 11, 30)},
		{"fewer than twenty", testoutput.Input{Text: "a\n\n\nb"}, []string{"a", "b"}},
		{"as they are, blanks and all", testoutput.Input{Text: "\n  a  \n"}, []string{"  a  "}},
		{"of F where the rule has no expression", testoutput.Input{Text: "x\nFAILED a::b\ny", TimedOut: true}, []string{"FAILED a::b"}},
		{"nothing", testoutput.Input{Text: "\n \n"}, nil},
		{"the line in which a match ends", testoutput.Input{Text: "x\n\n\n  --- FAIL: TestA\n"}, []string{"  --- FAIL: TestA"}},
		{"without escape sequences", testoutput.Input{Text: "\x1b[31mnot implemented\x1b[0m\r\n"}, []string{"not implemented"}},
		{"a long line is cut", testoutput.Input{Text: long}, []string{"not implemented" + strings.Repeat("é", 991) + "…"}},
		{"exit code 5 without a match", testoutput.Input{Text: "deselected", Exit: new(5)}, []string{"deselected"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := testoutput.Classify(test.in)
			if diff := cmp.Diff(test.want, got.KeyLines); diff != "" {
				t.Errorf("rule %s (-want +got):\n%s", got.Rule, diff)
			}
		})
	}
}

func TestFailingTestsAreTenAndUnique(t *testing.T) {
	lines := append([]string{"FAILED a::t1"}, numbered("FAILED a::t%d", 1, 30)...)
	got := testoutput.Classify(testoutput.Input{Text: strings.Join(lines, "\n")})
	if diff := cmp.Diff(numbered("a::t%d", 1, 10), got.FailingTests); diff != "" {
		t.Errorf("failing tests (-want +got):\n%s", diff)
	}
	// Two lines may name one test; both are read.
	got = testoutput.Classify(testoutput.Input{Text: strings.Repeat("FAILED a::b - x\nFAILED a::b - y\n", 30) + "FAILED a::c"})
	if diff := cmp.Diff([]string{"a::b", "a::c"}, got.FailingTests); diff != "" {
		t.Errorf("failing tests (-want +got):\n%s", diff)
	}
}

func TestRelatedFiles(t *testing.T) {
	tests := []struct {
		name, line string
		changed    []string
		want       []string
	}{
		{"Go", "./coupon/coupon.go:10:12: undefined: Apply", nil, []string{"coupon/coupon.go"}},
		{"TypeScript", "src/a.ts(1,17): error TS2307: Cannot find './b.js'", nil, []string{"src/a.ts", "b.js"}},
		{"Python, absolute", "ImportError: cannot import name 'a' (/w/a.py)", nil, []string{"/w/a.py"}},
		{"Java", "[ERROR] /w/src/Coupon.java:[3,29] cannot find symbol", nil, []string{"/w/src/Coupon.java"}},
		{"a file as URL", "at file:///w/a.mjs:3:1 is not defined", nil, []string{"/w/a.mjs"}},
		{"another URL is no file", "GET https://example.com/a.js is not defined", nil, nil},
		{"Windows", `C:\w\a.cs(3): not implemented`, nil, []string{`C:\w\a.cs`}},
		{"letters outside ASCII", "src/쿠폰.ts: not implemented", nil, []string{"src/쿠폰.ts"}},
		{"no suffix of a source", "a.txt and a.gopher: not implemented", nil, nil},
		{"then the changed ones", "b.go: not implemented", []string{"a.md", "b.go"}, []string{"b.go", "a.md"}},
		{"ten", "b.go: not implemented", numbered("%d.txt", 1, 20), append([]string{"b.go"}, numbered("%d.txt", 1, 9)...)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := testoutput.Classify(testoutput.Input{Text: test.line, Changed: test.changed})
			if diff := cmp.Diff(test.want, got.RelatedFiles); diff != "" {
				t.Errorf("related files (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNames has what E0 to E5 find, for a person to provide.
func TestNames(t *testing.T) {
	tests := []struct{ rule, line, want string }{
		{"E0", "bash: line 1: ./scripts/testoutput.sh: No such file or directory", "./scripts/testoutput.sh"},
		{"E2", "bash: line 1: pytest: command not found", "pytest"},
		{"E2", "zsh: command not found: pytest", "pytest"},
		{"E2", "/usr/bin/env: ‘node’: No such file or directory", "node"},
		{"E2", "/usr/bin/python3: No module named pytest", "pytest"},
		{"E2", "bash: line 1: ./testoutput.sh: Permission denied", "./testoutput.sh"},
		{"E3", "open x: No space left on device", "No space left on device"},
		{"E3", "error: no matching package named `serde` found", "serde"},
		{"E3", "a.go:4:2: missing go.sum entry for module providing package github.com/google/uuid (imported by x)", "github.com/google/uuid"},
		{"E3", "error: linker `cc` not found", "linker `cc` not found"},
		{"E4", "Error: Cannot find module 'big.js'", "big.js"},
		{"E4", "Error: Cannot find module 'big\n.js'", "big .js"},
		{"E5", "connect ECONNREFUSED 127.0.0.1:5432", "127.0.0.1:5432"},
		{"E5", "a_test.go:10: Get \"http://[::1]:9/\": dial tcp [::1]:9: connect: connection refused", "[::1]:9"},
		{"E5", "dial tcp: lookup db.local on 127.0.0.11:53: no such host", "db.local"},
		{"E5", "getaddrinfo ENOTFOUND db.local", "db.local"},
		{"E5", "curl: (6) Could not resolve host: db.local", "db.local"},
		{"E5", `could not translate host name "db" to address: Temporary failure in name resolution`, "db"},
		{"E5", `connection to server at "localhost", port 5432 failed: Connection refused`, "port 5432"},
		{"E5", `FATAL: password authentication failed for user "shop"`, `user "shop"`},
		{"E5", "listen EADDRINUSE: address already in use :::3000", ":::3000"},
		{"E5", "Network is unreachable", "Network is unreachable"},
	}
	for _, test := range tests {
		t.Run(test.line, func(t *testing.T) {
			got := testoutput.Classify(testoutput.Input{Text: test.line})
			if diff := cmp.Diff([]string{test.want}, got.Names); diff != "" || got.Rule != test.rule {
				t.Errorf("rule %s, names (-want +got):\n%s", got.Rule, diff)
			}
		})
	}
	exit := 127
	got := testoutput.Classify(testoutput.Input{Text: "bash: line 1: pytest: command not found\n", Exit: &exit})
	if diff := cmp.Diff([]string{"pytest"}, got.Names); diff != "" || got.Rule != "E1" {
		t.Errorf("rule %s, names (-want +got):\n%s", got.Rule, diff)
	}
}

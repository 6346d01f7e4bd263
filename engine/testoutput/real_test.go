package testoutput_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"placet/engine/testoutput"
)

// outputs holds what tools really print, each case as two files and a line in
// the index.
const outputs = "testdata/outputs"

// realCase is a run of a tool. A type is wanted of those that do not pass.
type realCase struct {
	File, Tool, Version, Command, Note string
	ExitCode                           *int `json:"exit_code"`
	TimedOut                           bool `json:"timed_out"`
	Expected                           string
	Own                                []string
	WantType                           testoutput.Type `json:"want_type"`
	WantRule                           string          `json:"want_rule"`
	WantPassed                         bool            `json:"want_passed"`
}

func realCases(t *testing.T) []realCase {
	t.Helper()
	f, err := os.Open(filepath.Join(outputs, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var cases []realCase
	d := json.NewDecoder(f)
	d.DisallowUnknownFields()
	if err := d.Decode(&cases); err != nil {
		t.Fatalf("index.json: %v", err)
	}
	return cases
}

func (c realCase) output(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(outputs, c.File+name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestRealOutputs judges and classifies what real tools printed.
func TestRealOutputs(t *testing.T) {
	cases := realCases(t)
	if len(cases) < 40 {
		t.Errorf("the index has %d cases, want at least 40", len(cases))
	}
	for _, tool := range []string{"pytest", "go", "jest", "vitest", "mocha", "cargo", "junit", "tsc", "mypy", "node"} {
		if !slices.ContainsFunc(cases, func(c realCase) bool { return c.Tool == tool }) {
			t.Errorf("the index has no case of %s", tool)
		}
	}
	for _, c := range cases {
		t.Run(c.File, func(t *testing.T) {
			stdout, stderr := c.output(t, ".stdout"), c.output(t, ".stderr")
			matched, marker := testoutput.Match(c.Expected, stdout, stderr)
			passed := testoutput.Passed(c.ExitCode, c.TimedOut, c.Expected, matched, marker)
			if passed != c.WantPassed {
				t.Errorf("passed is %v, want %v (matched %s, marker %s)", passed, c.WantPassed, show(matched), show(marker))
			}
			if passed {
				return
			}
			in := testoutput.Input{Text: testoutput.Text(stdout, stderr), TimedOut: c.TimedOut, Exit: c.ExitCode, Own: c.Own}
			got := testoutput.Classify(in)
			if got.Type != c.WantType || got.Rule != c.WantRule {
				t.Errorf("%s by %s, want %s by %s; key lines:\n%s", got.Type, got.Rule, c.WantType, c.WantRule, strings.Join(got.KeyLines, "\n"))
			}
			checkFinding(t, in, got)
		})
	}
}

// TestEveryRealOutputIsInTheIndex finds files that no case judges.
func TestEveryRealOutputIsInTheIndex(t *testing.T) {
	want := []string{"index.json", "README.md"}
	for _, c := range realCases(t) {
		want = append(want, c.File+".stdout", c.File+".stderr")
	}
	entries, err := os.ReadDir(outputs)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains(want, e.Name()) {
			t.Errorf("%s stands in no case of the index", e.Name())
		}
	}
}

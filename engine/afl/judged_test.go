package afl

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"placet/engine"
	"placet/engine/run"
)

// judgedCase is the end of a run of tests, and what a person says of it: PASSED, or the type of the
// failure. Why says why it is UNKNOWN where somebody would say more.
type judgedCase struct {
	Name     string `json:"name"`
	Exit     int    `json:"exit"`
	Expected string `json:"expected"`
	OwnWords string `json:"own_words"`
	Output   string `json:"output"`
	Right    string `json:"right"`
	Arguable bool   `json:"arguable"`
	Why      string `json:"why"`
}

// argued has the rule that decides an arguable case of the first sixty, all of them as a person did.
var argued = map[string]string{
	"py-psycopg2-refused-among-passes": "each reason that the runner gives is the refusal, so nothing is left for the worker",
	"mocha-eaddrinuse-some-pass":       "the same: the only reason is a port that is taken",
	"curl-healthcheck-refused":         "a server that the worker should have started looks alike; without one reason in the code it is the environment",
	"py-failed-timeout-signal":         "the runner's own limit, and as many failures as limits",
	"jest-timeout":                     "the same",
	"vitest-timeout":                   "the same",
	"mocha-timeout":                    "the same",
	"node-test-runner-cancelled":       "the same",
	"py-attr-none":                     "a member of nothing is no missing member: the value is wrong",
	"py-circular-import":               "the name is there, imported in a wrong order",
	"rspec-nomethod-own":               "a member of an object is missing, and not of nil",
	"elixir-undefined":                 "a function is missing",
	"eslint-errors":                    "the code runs, with another result than the check asks for",
	"go-quoted-child-fail":             "a mark that is indented without its parent's is what a test prints",
}

func judgedCases(t *testing.T) []judgedCase {
	t.Helper()
	body, err := os.ReadFile("testdata/test-outputs.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var cases []judgedCase
	for line := range bytes.Lines(body) {
		var c judgedCase
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&c); err != nil {
			t.Fatalf("line %d of test-outputs.jsonl: %v", len(cases)+1, err)
		}
		cases = append(cases, c)
	}
	return cases
}

// Every output is judged as a person would, by the session in which a worker's command ended so.
func TestOutputsAreJudgedAsAPersonWould(t *testing.T) {
	cases := judgedCases(t)
	if len(cases) < 120 {
		t.Errorf("test-outputs.jsonl has %d cases, expected the sixty and at least as many of the same kinds", len(cases))
	}
	snapshot, _ := validatingWorld(t, nil, cp{id: "a"}).Full()
	cp := read(snapshot).checkpoint("a")
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			if c.Arguable && argued[c.Name] == "" {
				t.Error("the case is arguable; say in argued why the value is right")
			}
			cp.def = &Definition{ID: "a", Description: text(c.OwnWords), Expected: text(c.Expected)}
			ended := &Validation{CommandEnd: run.CommandEnd{Outcome: engine.CommandFinished, ExitCode: &c.Exit}, Stdout: run.CommandOutput{Head: c.Output}}
			ended.MatchedText, ended.Marker = match(c.Expected, c.Output)
			v := judgeValidation(cp, ended, "", nil)
			got := string(v.FailureType)
			if v.Passed {
				got = "PASSED"
			}
			if got != c.Right {
				t.Errorf("%s by rule %q, expected %s; key lines: %q", got, v.Rule, c.Right, v.KeyLines)
			}
		})
	}
}

// The table of reasons has no case that is gone or not arguable.
func TestArguedCasesAreArguable(t *testing.T) {
	left := map[string]bool{}
	for name := range argued {
		left[name] = true
	}
	for _, c := range judgedCases(t) {
		if c.Arguable {
			delete(left, c.Name)
		}
	}
	for name := range left {
		t.Errorf("%s is argued, and is no arguable case", name)
	}
}

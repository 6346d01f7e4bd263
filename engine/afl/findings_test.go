package afl

import (
	"slices"
	"strings"
	"testing"
)

// Every finding of the page's section 3.4, by a design that has it and its
// neighbour that has not.
func TestFindings(t *testing.T) {
	entry := func(rest string) string { return "checkpoints:\n  - {id: a, criteria: [x], " + rest + "}\n" }
	good := entry(`validation: {command: run, expected: "3 passed"}`)
	for id, c := range map[string]struct{ bad, good, says string }{
		"E1": {design("", cp{id: "a", after: []string{"b"}}, cp{id: "b", after: []string{"a"}}), design("", cp{id: "a", after: []string{"b"}}, cp{id: "b"}), "cycle a → b → a"},
		"E2": {entry(`dependencies: [x], validation: {command: run}`), good, `"a" depends on "x"`},
		"E3": {design("", cp{id: "a"}, cp{id: "A"}), design("", cp{id: "a"}, cp{id: "b"}), "is taken by"},
		"E4": {"checkpoints:\n  - {name: two words, validation: {command: run}}\n", "checkpoints:\n  - {name: words, validation: {command: run}}\n", "cannot be used"},
		"E5": {entry(`validation: {expected: x}`), good, "no validation.command"},
		"E7": {entry(`validation: {command: run, timeout: 60s}`), entry(`validation: {command: run, timeout: 60000}`), "no whole number from 1 to 86400000"},
		"E8": {"checkpoints: []\n", good, "no checkpoint"},
		"E9": {"session: other\n" + good, "session: abc12345\n" + good, `the folder is "abc12345"`},
		"W1": {"checkpoints:\n  - {id: a, validation: {command: run}}\n", good, "no criteria"},
		"W2": {entry(`validation: {command: run}`), good, "exit code 0 passes"},
		"W3": {entry(`validation: {command: run, expected: " Passed "}`), good, "failing run"},
		"W4": {entry(`type: chore, validation: {command: run}`), entry(`type: api, validation: {command: run}`), "read as implementation"},
		"W5": {"prerequisites: [{id: redis, name: Redis, type: environment, script: up}]\n" + good, good, "shown, not run"},
	} {
		read := func(body string) specs {
			w := newWorld(t)
			w.Write(specsYAML, body)
			s, _ := w.Full()
			return read(s).specs
		}
		has := func(s specs) (string, bool) {
			i := slices.IndexFunc(s.findings, func(f finding) bool { return f.id == id })
			if i < 0 {
				return "", false
			}
			return s.findings[i].line(), true
		}
		if line, found := has(read(c.bad)); !found || !strings.Contains(line, c.says) {
			t.Errorf("%s is not found, or says %q; expected %q", id, line, c.says)
		}
		if line, found := has(read(c.good)); found {
			t.Errorf("%s is found where it is not: %s", id, line)
		}
	}
	for _, boundary := range []string{"0", "86400001", "1.5", "-1"} {
		w := newWorld(t)
		w.Write(specsYAML, entry("validation: {command: run, timeout: "+boundary+"}"))
		s, _ := w.Full()
		if !slices.Contains(ids(read(s).specs.findings, true), "E7") {
			t.Errorf("a timeout of %s is no finding", boundary)
		}
	}
	for _, boundary := range []string{"1", "86400000"} {
		w := newWorld(t)
		w.Write(specsYAML, entry("validation: {command: run, timeout: "+boundary+"}"))
		s, _ := w.Full()
		if slices.Contains(ids(read(s).specs.findings, true), "E7") {
			t.Errorf("a timeout of %s is a finding", boundary)
		}
	}
}

// Without a command there is nothing to run, and that is meant where results
// come from outside.
func TestMissingCommandIsMeantWhereResultsComeFromOutside(t *testing.T) {
	w := newWorld(t)
	w.config(func(c *Config) { c.Validation = ptr("result") })
	w.Write(specsYAML, approvedHead+"checkpoints:\n  - {id: a, validation: {expected: ok}}\n")
	w.settle()
	w.status(Delegating, "a=in_progress")
}

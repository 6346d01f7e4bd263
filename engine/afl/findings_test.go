package afl

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"placet/schemas"
)

// Every finding of section 3.4 of the page, with a design that has it and a similar one that does
// not.
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
		"E10": {
			entry("validation: {command: run}") + "  - {id: b, criteria: [x], depends_on: [a], validation: {command: run}}\n",
			entry("validation: {command: run}") + "  - {id: b, criteria: [x], depends_on: [docker], validation: {command: run}}\n",
			`/checkpoints/1/depends_on: the key "depends_on" is unknown: it is kept and not read, so the order is lost; did you mean dependencies?`,
		},
		"W7": {entry(`validation: {command: run, expect: "3 passed"}`), good, `/checkpoints/0/validation/expect: the key "expect" is unknown: it is kept and not read; did you mean expected?`},
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
	for _, id := range []string{"status.json", "../x", "x.tmp"} {
		w := newWorld(t)
		w.Write(specsYAML, design("", cp{id: strconv.Quote(id)}))
		s, _ := w.Full()
		if !slices.Contains(read(s).specs.ids(true), "E4") {
			t.Errorf("an id of %s is no finding", id)
		}
	}
	for _, boundary := range []string{"0", "86400001", "1.5", "-1"} {
		w := newWorld(t)
		w.Write(specsYAML, entry("validation: {command: run, timeout: "+boundary+"}"))
		s, _ := w.Full()
		if !slices.Contains(read(s).specs.ids(true), "E7") {
			t.Errorf("a timeout of %s is no finding", boundary)
		}
	}
	for _, boundary := range []string{"1", "86400000"} {
		w := newWorld(t)
		w.Write(specsYAML, entry("validation: {command: run, timeout: "+boundary+"}"))
		s, _ := w.Full()
		if slices.Contains(read(s).specs.ids(true), "E7") {
			t.Errorf("a timeout of %s is a finding", boundary)
		}
	}
}

// Without a command placet runs nothing, which is intended if results come from outside.
func TestMissingCommandIsMeantWhereResultsComeFromOutside(t *testing.T) {
	w := newWorld(t)
	w.config(func(c *Config) { c.Validation = ptr("result") })
	w.Write(specsYAML, approvedHead+"checkpoints:\n  - {id: a, validation: {expected: ok}}\n")
	w.settle()
	w.status(Delegating, "a=in_progress")
}

// Unknown keys that resemble a known one are reported, and no others.
func TestKeysOfADesignThatNobodyReads(t *testing.T) {
	for key, want := range map[string]string{
		"dependsOn: [b]": "E10 dependencies", "Dependencies: [b]": "E10 dependencies", "depends-on: b": "E10 dependencies", "needs: [b]": "E10 dependencies",
		"requires: [b]": "E10 dependencies", "dependancies: [b]": "E10 dependencies", "requires: [redis]": "W7 dependencies", "after: {x: 1}": "W7 dependencies",
		"cmd: make test": "W7 validation.command", "run: make test": "W7 validation.command", "Criteria: [x]": "W7 criteria", "acceptance_criteria: [x]": "W7 criteria",
		"estimate: 3": "", "created_at: 2026-01-19": "", "owner: kim": "", "$ref: x": "",
	} {
		v2 := `{"criteria": ["x"], "validation": {"command": "run", "expected": "3 passed"}}`
		for file, files := range map[string]map[string]string{
			"specs/checkpoints.yaml": {specsYAML: "checkpoints:\n  - {id: b, criteria: [x], validation: {command: run, expected: 3 passed}}\n  - {id: a, validation: {command: run, expected: 3 passed}, " + key + "}\n"},
			"checkpoints/a.json":     {"checkpoints/b.json": v2, "checkpoints/a.json": asJSON(t, key)},
		} {
			w := newWorld(t)
			w.Write("meta.json", "{}")
			for rel, body := range files {
				w.Write(rel, body)
			}
			s, _ := w.Full()
			got := ""
			for _, f := range read(s).specs.findings {
				if f.id == "E10" || f.id == "W7" {
					got += f.id + " " + strings.TrimSuffix(strings.TrimPrefix(f.suggestion, "did you mean "), "?")
				}
			}
			if got != want {
				t.Errorf("%s in %s: %q, want %q", key, file, got, want)
			}
		}
	}
}

// Only the second layout reads tasks, and only under that name.
func TestTasksThatNobodyReads(t *testing.T) {
	const other = `{"criteria": ["x"], "validation": {"command": "run", "expected": "3 passed"}`
	for want, files := range map[string]map[string]string{
		"E10 /checkpoints/1/prerequisites/tasks": {specsYAML: "checkpoints:\n  - {id: b, criteria: [x], validation: {command: run, expected: 3 passed}}\n" +
			"  - {id: a, criteria: [x], prerequisites: {tasks: [b]}, validation: {command: run, expected: 3 passed}}\n"},
		"E10 /prerequisites/task": {"checkpoints/b.json": other + "}", "checkpoints/a.json": other + `, "prerequisites": {"task": ["b"]}}`},
		"W7 /prerequisite":        {"checkpoints/b.json": other + "}", "checkpoints/a.json": other + `, "prerequisite": {"tasks": ["b"]}}`},
		"":                        {"checkpoints/b.json": other + "}", "checkpoints/a.json": other + `, "prerequisites": {"tasks": ["b"]}}`},
	} {
		w := newWorld(t)
		w.Write("meta.json", "{}")
		for rel, body := range files {
			w.Write(rel, body)
		}
		s, _ := w.Full()
		got := ""
		for _, f := range read(s).specs.findings {
			got += f.id + " " + f.place
		}
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// asJSON returns a checkpoint with one more key, which is written as YAML.
func asJSON(t *testing.T, key string) string {
	t.Helper()
	var o schemas.Raw
	if err := schemas.DecodeYAML("", "x", []byte("{validation: {command: run, expected: 3 passed}, "+key+"}"), &o, schemas.YAMLLimits{}); err != nil {
		t.Fatal(err)
	}
	return string(o)
}

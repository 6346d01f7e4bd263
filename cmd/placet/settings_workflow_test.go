package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/engine/optimizer"
)

// A level command is trusted by its own digest as well as by its setting's, and
// while it waits it is known, and does not run.
func TestALevelCommandIsTrustedByItsOwnDigest(t *testing.T) {
	from := places(t)
	put(t, from.workspace, "placet.toml", "[optimizer.workflows]\n\"sop engine\" = { analysis = [\"python3\", \"a.py\"] }\n")
	digest := optimizer.CommandDigest([]string{"python3", "a.py"})
	s := mustLoad(t, from)
	if len(s.waiting) != 1 || s.waiting[0].command != digest || s.trusted[digest] {
		t.Fatalf("waiting: %+v", s.waiting)
	}
	if diff := cmp.Diff([]string{"python3", "a.py"}, s.Optimizer.Workflows["sop engine"].Analysis); diff != "" {
		t.Errorf("is not known while it waits: %s", diff)
	}
	agree(t, from, untrustedLine{Name: "a command", Digest: digest, of: digest, argv: []string{"python3", "a.py"}})
	if s := mustLoad(t, from); len(s.waiting) > 0 || !s.trusted[digest] {
		t.Errorf("waiting: %+v", s.waiting)
	}
}

// Two files that speak of one workflow are one table: the later file changes
// what it names, and its owner has agreed to no command of the earlier one.
func TestTablesOfAWorkflowAreMergedSettingBySetting(t *testing.T) {
	from := places(t)
	put(t, from.workspace, "placet.toml", "[optimizer.workflows]\nw = { analysis = [\"theirs\"], level_attempts = 3, inputs_wait = \"1m\" }\nother = { gate_threshold = 70 }\n")
	put(t, filepath.Dir(from.user), "placet.toml", "[optimizer.workflows]\nw = { evaluation = [\"mine\"], inputs_wait = \"2m\" }\n")
	s := mustLoad(t, from)
	want := map[string]optimizer.Workflow{
		"w":     {Analysis: []string{"theirs"}, Evaluation: []string{"mine"}, LevelAttempts: new(3), InputsWait: new("2m")},
		"other": {GateThreshold: new(70.0)},
	}
	if diff := cmp.Diff(want, s.Optimizer.Workflows); diff != "" {
		t.Error(diff)
	}
	if s.trusted[optimizer.CommandDigest([]string{"theirs"})] || !s.trusted[optimizer.CommandDigest([]string{"mine"})] {
		t.Errorf("trusted: %v", s.trusted)
	}
}

// Whoever uncomments a setting of placet init's file alone is told of its table; with
// the table, the examples stand below theirs.
func TestASettingOutsideItsTableIsToldWhereItBelongs(t *testing.T) {
	from := places(t)
	put(t, from.workspace, "placet.toml", "inputs_wait = \"1m\"\n")
	_, err := load(from)
	if p, ok := err.(*problem); !ok || !strings.Contains(p.hint, "[optimizer]") {
		t.Errorf("says %#v", err)
	}
	example := strings.NewReplacer("#[optimizer.workflows]", "[optimizer.workflows]", `# "sop-masking`, `"sop-masking`).Replace(initialSettings)
	put(t, from.workspace, "placet.toml", example)
	if _, err := load(from); err != nil {
		t.Errorf("the example of a workflow: %v", err)
	}
}

package config

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/cmd/placet/console"
	"placet/engine/optimizer"
)

// A level command is trusted by its own digest as well as by its setting's. While it
// waits it is known, but does not run.
func TestALevelCommandIsTrustedByItsOwnDigest(t *testing.T) {
	from := places(t)
	put(t, from.Workspace, "placet.toml", "[optimizer.workflows]\n\"sop engine\" = { analysis = [\"python3\", \"a.py\"] }\n")
	digest := optimizer.CommandDigest([]string{"python3", "a.py"})
	s := mustLoad(t, from)
	if len(s.Waiting) != 1 || s.Waiting[0].command != digest || s.Trusted[digest] {
		t.Fatalf("waiting: %+v", s.Waiting)
	}
	if diff := cmp.Diff([]string{"python3", "a.py"}, s.Optimizer.Workflows["sop engine"].Analysis); diff != "" {
		t.Errorf("is not known while it waits: %s", diff)
	}
	agree(t, from, UntrustedLine{Name: "a command", Digest: digest, Of: digest, Argv: []string{"python3", "a.py"}})
	if s := mustLoad(t, from); len(s.Waiting) > 0 || !s.Trusted[digest] {
		t.Errorf("waiting: %+v", s.Waiting)
	}
}

// Two files with settings for one workflow make one table: the later file changes the
// settings that it names, and its owner has not agreed to a command of the earlier one.
func TestTablesOfAWorkflowAreMergedSettingBySetting(t *testing.T) {
	from := places(t)
	put(t, from.Workspace, "placet.toml", "[optimizer.workflows]\nw = { analysis = [\"theirs\"], level_attempts = 3, inputs_wait = \"1m\" }\nother = { gate_threshold = 70 }\n")
	put(t, filepath.Dir(from.User), "placet.toml", "[optimizer.workflows]\nw = { evaluation = [\"mine\"], inputs_wait = \"2m\" }\n")
	s := mustLoad(t, from)
	want := map[string]optimizer.Workflow{
		"w":     {Analysis: []string{"theirs"}, Evaluation: []string{"mine"}, LevelAttempts: new(3), InputsWait: new("2m")},
		"other": {GateThreshold: new(70.0)},
	}
	if diff := cmp.Diff(want, s.Optimizer.Workflows); diff != "" {
		t.Error(diff)
	}
	if s.Trusted[optimizer.CommandDigest([]string{"theirs"})] || !s.Trusted[optimizer.CommandDigest([]string{"mine"})] {
		t.Errorf("trusted: %v", s.Trusted)
	}
}

// An error names the table if only a setting of placet init's file is uncommented;
// with the table, users' examples go below it.
func TestASettingOutsideItsTableIsToldWhereItBelongs(t *testing.T) {
	from := places(t)
	put(t, from.Workspace, "placet.toml", "inputs_wait = \"1m\"\n")
	_, err := Load(from)
	if p, ok := err.(*console.Problem); !ok || !strings.Contains(p.Hint("en"), "[optimizer]") {
		t.Errorf("says %#v", err)
	}
	example := strings.NewReplacer("#[optimizer.workflows]", "[optimizer.workflows]", `# "sop-masking`, `"sop-masking`).Replace(InitialSettings)
	put(t, from.Workspace, "placet.toml", example)
	if _, err := Load(from); err != nil {
		t.Errorf("the example of a workflow: %v", err)
	}
}

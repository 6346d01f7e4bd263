package afl

import (
	"slices"
	"strings"
	"testing"

	"placet/engine"
)

// A text that YAML cuts at a "#" is a finding that says line and what to write.
func TestCutTexts(t *testing.T) {
	for criterion, want := range map[string]string{
		"total of order #12":        `specs/checkpoints.yaml: line 4: YAML takes "#12" for a comment, so the text is only "total of order"; if it belongs to the text, quote it: "total of order #12"`,
		"a channel #general":        `line 4: YAML takes "#general"`,
		`"total of order #12"`:      "",
		"'total of order #12'":      "",
		"total # a comment of mine": "",
		"total #":                   "",
		"order#12":                  "",
		"|\n        order #12":      "",
	} {
		w := newWorld(t)
		w.Write(specsYAML, "checkpoints:\n  - id: a\n    criteria:\n      - "+criterion+"\n    validation: {command: run, expected: 3 passed}\n")
		s, _ := w.Full()
		got := ""
		for _, f := range read(s).specs.findings {
			if f.id == "W8" {
				got = f.line()
			}
		}
		if !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q", criterion, got, want)
		}
	}
}

// Checkpoints.yml is a finding, also in a folder that is no session because of it.
func TestMisnamedCheckpoints(t *testing.T) {
	for _, beside := range []string{"", "meta.json", specsYAML} {
		w := newWorld(t)
		w.Write(specsYML, "checkpoints: [{id: a}]\n")
		if beside != "" {
			w.Write(beside, map[string]string{"meta.json": "{}", specsYAML: design("", cp{id: "a"})}[beside])
		}
		s, _ := w.Full()
		view, _ := family.View(s)
		told := slices.ContainsFunc(view.Findings, func(f engine.Finding) bool {
			return strings.HasSuffix(f.Path, specsYML) && f.Severity == "warning" && strings.HasSuffix(f.Text, "rename it to "+specsYAML)
		})
		if !told {
			t.Errorf("beside %q: %+v", beside, view.Findings)
		}
	}
}

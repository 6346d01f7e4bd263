package cli_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestApproveAndRejectPickWhatAgreesAndRefuses asks with the words of FABER's table and others.
// A verb chooses the option with its effect, and names the effect. If there is none, it chooses
// none: its message then names every effect, and suggests no option.
func TestApproveAndRejectPickWhatAgreesAndRefuses(t *testing.T) {
	t.Parallel()
	const stops, on = "stops the whole run for good", "goes on after architect:design-review"
	for name, c := range map[string]struct {
		typ     string
		options []string
		verb    string
		takes   string // the option, "" for none
		effect  string
	}{
		"no":                    {"approval", []string{"yes", "no"}, "reject", "no", stops},
		"yes":                   {"approval", []string{"yes", "no"}, "approve", "yes", on},
		"disapprove":            {"review", []string{"ship", "disapprove"}, "reject", "disapprove", stops},
		"ship":                  {"review", []string{"ship", "disapprove"}, "approve", "ship", on},
		"stop":                  {"confirmation", []string{"go", "stop"}, "reject", "stop", stops},
		"the table's own word":  {"review", []string{"no", "request_changes", "reject", "approve"}, "reject", "reject", stops},
		"two that refuse":       {"approval", []string{"ship", "no", "stop"}, "reject", "", ""},
		"nothing that refuses":  {"approval", []string{"approve", "request_changes"}, "reject", "", ""},
		"nothing that agrees":   {"review", []string{"no", "request_changes"}, "approve", "", ""},
		"a choice called no":    {"selection", []string{"yes", "no"}, "reject", "", ""},
		"a choice called yes":   {"selection", []string{"yes", "no"}, "approve", "", ""},
		"abort":                 {"error_resolution", []string{"retry", "skip", "abort"}, "reject", "abort", stops},
		"nothing that is meant": {"error_resolution", []string{"retry", "skip", "abort"}, "approve", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0)
			p.asks(c.typ, "Is the design good?", c.options...)
			inbox, out := p.must(3, "inbox"), ""
			if c.takes != "" {
				p.says(inbox, "placet show "+p.requestID(0))
				p.says(p.must(0, "show", p.requestID(0)), "placet "+c.verb+" "+p.reference()+"\n", c.effect)
				out = p.must(0, c.verb, p.reference())
				p.says(out, "answered: "+c.takes+" → "+c.effect)
				p.must(0, "once")
				p.says(p.must(0, c.verb, p.requestID(0)), "is closed: accepted, "+c.takes)
				return
			}
			out = p.must(1, c.verb, p.reference())
			said, hint, _ := strings.Cut(out, "\n")
			for _, option := range c.options {
				p.says(said, option+" → ")
				if strings.Contains(hint, option) {
					t.Errorf("suggests %s:\n%s", option, out)
				}
			}
			p.stays(p.request(0) + "/response.json")
		})
	}
}

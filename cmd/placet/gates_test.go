package main

import (
	"slices"
	"testing"

	"placet/engine"
	"placet/engine/gate"
)

// Of two tables each type of request has the approvers whom both let answer, whatever
// names they give them by.
func TestTheTighterGatesHold(t *testing.T) {
	rule := func(who ...string) gateRule { return gateRule{Approvers: who} }
	for name, c := range map[string]struct {
		now, then map[string]gateRule
		want      map[string][]string // of faber/review, faber/approval and afl/review
		waits     bool                // of faber/review
	}{
		"nothing":              {want: map[string][]string{"faber/review": nil}},
		"proposed alone":       {then: map[string]gateRule{"*": rule("kim")}, want: map[string][]string{"faber/review": {"kim"}, "afl/review": {"kim"}}, waits: true},
		"agreed to alone":      {now: map[string]gateRule{"faber": rule("kim")}, want: map[string][]string{"faber/review": {"kim"}, "afl/review": nil}, waits: true},
		"the same":             {now: map[string]gateRule{"*": rule("kim")}, then: map[string]gateRule{"*": rule("kim")}, want: map[string][]string{"faber/review": {"kim"}}},
		"both":                 {now: map[string]gateRule{"*": rule("kim", "lee")}, then: map[string]gateRule{"*": rule("lee", "park")}, want: map[string][]string{"faber/review": {"lee"}}, waits: true},
		"nobody":               {now: map[string]gateRule{"*": rule("kim")}, then: map[string]gateRule{"*": rule("lee")}, want: map[string][]string{"faber/review": {gate.Nobody}}, waits: true},
		"anybody is no opener": {now: map[string]gateRule{"*": rule("kim")}, then: map[string]gateRule{"*": rule()}, want: map[string][]string{"faber/review": {"kim"}}, waits: true},
		"the one of both":      {now: map[string]gateRule{"*": rule("kim")}, then: map[string]gateRule{"*": rule("owner:kim", "signed:kim")}, want: map[string][]string{"faber/review": {"owner:kim"}}, waits: true},
		"a more specific one": {
			now: map[string]gateRule{"faber": rule("kim", "lee")}, then: map[string]gateRule{"faber/review": rule("lee"), "*": rule("kim")},
			want: map[string][]string{"faber/review": {"lee"}, "faber/approval": {"kim"}, "afl/review": {"kim"}}, waits: true,
		},
	} {
		var s settings
		s.tighten(c.now, c.then)
		config := engine.Config{Gates: s.gates()}
		for of, want := range c.want {
			family, typ, _ := cutLast(of, "/")
			if g := config.GateFor(family, typ); !slices.Equal(g.Approvers, want) || of == "faber/review" && g.Waits != c.waits {
				t.Errorf("%s: %s has %+v, want %q", name, of, g, want)
			}
		}
	}
}

// Only the last agreement to gates holds, and each decision has its moment.
func TestOneAgreementToGates(t *testing.T) {
	var file trustFile
	line := func(text string) untrustedLine {
		d := engine.Sum([]byte(text))
		return untrustedLine{Name: "gates", Digest: d, of: d, Text: text}
	}
	open, closed := line(`{}`), line(`{"*":{"approvers":["kim"]}}`)
	file.agree(noon, untrustedLine{Name: "a", Digest: "sha256:1", of: "sha256:1"})
	if !file.gatesSince().IsZero() {
		t.Errorf("agreement to something else is a decision about gates: %s", file.GatesDecided)
	}
	file.agree(noon, open)
	file.agree(noon.AddDate(0, 0, 1), closed)
	if len(file.Trusted) != 2 || file.last("gates").Text != closed.Text || !file.gatesSince().After(noon.AddDate(0, 0, 1)) {
		t.Errorf("%+v", file)
	}
	file.revoke(noon.AddDate(0, 0, 2), map[engine.Digest]bool{closed.Digest: true})
	if file.last("gates") != nil || !file.gatesSince().After(noon.AddDate(0, 0, 2)) {
		t.Errorf("revoked: %+v", file)
	}
}

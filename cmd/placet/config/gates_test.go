package config

import (
	"slices"
	"testing"

	"placet/cmd/placet/console"
	"placet/engine"
	"placet/engine/gate"
)

// With two tables, the approvers of a type of request are those whom both let answer,
// under whatever names they list them.
func TestTheTighterGatesHold(t *testing.T) {
	rule := func(who ...string) GateRule { return GateRule{Approvers: who} }
	for name, c := range map[string]struct {
		now, then map[string]GateRule
		want      map[string][]string // of faber/review, faber/approval and afl/review
		waits     bool                // of faber/review
	}{
		"nothing":              {want: map[string][]string{"faber/review": nil}},
		"proposed alone":       {then: map[string]GateRule{"*": rule("kim")}, want: map[string][]string{"faber/review": {"kim"}, "afl/review": {"kim"}}, waits: true},
		"agreed to alone":      {now: map[string]GateRule{"faber": rule("kim")}, want: map[string][]string{"faber/review": {"kim"}, "afl/review": nil}, waits: true},
		"the same":             {now: map[string]GateRule{"*": rule("kim")}, then: map[string]GateRule{"*": rule("kim")}, want: map[string][]string{"faber/review": {"kim"}}},
		"both":                 {now: map[string]GateRule{"*": rule("kim", "lee")}, then: map[string]GateRule{"*": rule("lee", "park")}, want: map[string][]string{"faber/review": {"lee"}}, waits: true},
		"nobody":               {now: map[string]GateRule{"*": rule("kim")}, then: map[string]GateRule{"*": rule("lee")}, want: map[string][]string{"faber/review": {gate.Nobody}}, waits: true},
		"anybody is no opener": {now: map[string]GateRule{"*": rule("kim")}, then: map[string]GateRule{"*": rule()}, want: map[string][]string{"faber/review": {"kim"}}, waits: true},
		"the one of both":      {now: map[string]GateRule{"*": rule("kim")}, then: map[string]GateRule{"*": rule("owner:kim", "signed:kim")}, want: map[string][]string{"faber/review": {"owner:kim"}}, waits: true},
		"a more specific one": {
			now: map[string]GateRule{"faber": rule("kim", "lee")}, then: map[string]GateRule{"faber/review": rule("lee"), "*": rule("kim")},
			want: map[string][]string{"faber/review": {"lee"}, "faber/approval": {"kim"}, "afl/review": {"kim"}}, waits: true,
		},
	} {
		var s Settings
		s.tighten([]map[string]GateRule{c.now, c.then}, nil)
		config := engine.Config{Gates: s.MachineGates()}
		for of, want := range c.want {
			family, typ, _ := console.CutLast(of, "/")
			if g := config.GateFor(family, typ); !slices.Equal(g.Approvers, want) || of == "faber/review" && g.Waits != c.waits {
				t.Errorf("%s: %s has %+v, want %q", name, of, g, want)
			}
		}
	}
}

// With two tables, presses of buttons may do what both let them.
func TestTheTighterLinksHold(t *testing.T) {
	yes, no := true, false
	for name, c := range map[string]struct {
		now, then, want *bool
		waits           bool
	}{
		"nothing": {}, "the same": {now: &no, then: &no, want: &no},
		"proposed": {then: &no, want: &no, waits: true}, "taken out": {now: &no, want: &no, waits: true},
		"loosened": {then: &yes, waits: true}, "opened": {now: &no, then: &yes, want: &no, waits: true}, "agreed": {now: &yes, then: &yes, want: &yes},
	} {
		var s Settings
		s.tighten([]map[string]GateRule{{"*": {Links: c.now}}, {"*": {Links: c.then}}}, nil)
		g := s.MachineGates()["*"]
		if g.Waits != c.waits || linkRank(g.Links) != linkRank(c.want) {
			t.Errorf("%s: %+v, expected links %v, waits %v", name, g, c.want, c.waits)
		}
	}
}

// Only the last agreement to gates holds, and each decision has its time.
func TestOneAgreementToGates(t *testing.T) {
	var file TrustFile
	line := func(text string) UntrustedLine {
		d := engine.Sum([]byte(text))
		return UntrustedLine{Name: "gates", Digest: d, Of: d, Text: text}
	}
	open, closed := line(`{}`), line(`{"*":{"approvers":["kim"]}}`)
	file.Agree(noon, UntrustedLine{Name: "a", Digest: "sha256:1", Of: "sha256:1"})
	if !file.GatesSince().IsZero() {
		t.Errorf("agreement to something else is a decision about gates: %s", file.GatesDecided)
	}
	file.Agree(noon, open)
	file.Agree(noon.AddDate(0, 0, 1), closed)
	if len(file.Trusted) != 2 || file.last("gates").Text != closed.Text || !file.GatesSince().After(noon.AddDate(0, 0, 1)) {
		t.Errorf("%+v", file)
	}
	file.Revoke(noon.AddDate(0, 0, 2), map[engine.Digest]bool{closed.Digest: true})
	if file.last("gates") != nil || !file.GatesSince().After(noon.AddDate(0, 0, 2)) {
		t.Errorf("revoked: %+v", file)
	}
}

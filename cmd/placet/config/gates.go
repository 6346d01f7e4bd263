package config

import (
	"maps"
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/gate"
)

// GatesKey is the table of gates.
var GatesKey = []string{"gates"}

// GatesWait is what people are told of gates that wait for trust.
var GatesWait = TighterWaits("[gates]")

// noGates is the value of a table of gates that holds none.
const noGates = "{}"

// mergeGates settles which gates hold. To take them out of placet.toml is a change like
// any other, and waits for trust.
func (s *Settings) mergeGates(file string) {
	now, then, gone := s.sides(GatesKey[0])
	if gone && now[0] != noGates {
		s.takeOut(GatesKey, noGates, file)
	}
	s.tighten(rulesOf(now), rulesOf(then))
}

// rulesOf are the gates of tables in their order.
func rulesOf(texts []string) map[string]GateRule {
	rules := map[string]GateRule{}
	for _, text := range texts {
		maps.Copy(rules, valueOf[map[string]GateRule](text))
	}
	return rules
}

// tighten makes gates of two tables that ask for what both of them ask for.
func (s *Settings) tighten(a, b map[string]GateRule) {
	s.Gates, s.gatesWait = nil, map[string]bool{}
	for _, names := range []map[string]GateRule{a, b} {
		for name := range names {
			if s.Gates == nil {
				s.Gates = map[string]GateRule{}
			}
			one, other := ruleFor(a, name), ruleFor(b, name)
			s.Gates[name] = GateRule{Level: one.Level, Approvers: bothApprove(one.Approvers, other.Approvers)}
			s.gatesWait[name] = !slices.Equal(one.Approvers, other.Approvers)
		}
	}
}

// ruleFor is the rule of a table for what a name stands for: its own, or that of its
// family, or the general one.
func ruleFor(rules map[string]GateRule, name string) GateRule {
	family, _, _ := strings.Cut(name, "/")
	for _, of := range []string{name, family, "*"} {
		if rule, ok := rules[of]; ok {
			return rule
		}
	}
	return GateRule{}
}

// bothApprove are the approvers whom two lists let answer; an empty list lets anybody.
func bothApprove(a, b []string) []string {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	var both []string
	for _, one := range a {
		for _, other := range b {
			if who := narrower(one, other); who != "" && !slices.Contains(both, who) {
				both = append(both, who)
			}
		}
	}
	if len(both) == 0 {
		return []string{gate.Nobody}
	}
	return both
}

// narrower is the one of two approvers whom both mean, "" where they mean others. A bare
// name is that of anybody who is known by it.
func narrower(a, b string) string {
	switch {
	case gate.Admits(a, b):
		return b
	case gate.Admits(b, a):
		return a
	}
	return ""
}

// MachineGates are the gates as the machines read them.
func (s Settings) MachineGates() map[string]engine.Gate {
	gates := map[string]engine.Gate{}
	for name, g := range s.Gates {
		if g.Level == "" {
			g.Level = "file"
		}
		gates[name] = engine.Gate{Level: g.Level, Approvers: slices.Clone(g.Approvers), Waits: s.gatesWait[name]}
	}
	return gates
}

// DecideGates notes that somebody decided which gates hold. The moment is rounded up:
// an answer of before must not look like one of after.
func (t *TrustFile) DecideGates(now time.Time) {
	t.GatesDecided = now.UTC().Add(time.Millisecond).Format("2006-01-02T15:04:05.000Z")
}

// GatesSince is when somebody last decided which gates hold, the zero time for never.
func (t TrustFile) GatesSince() time.Time {
	at, _ := time.Parse(time.RFC3339, t.GatesDecided)
	return at
}

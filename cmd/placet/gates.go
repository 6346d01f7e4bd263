package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/gate"
)

// Whoever can write placet.toml can write its [gates], or take them out. So what was
// agreed to last holds until somebody decides anew, and what stands in the file holds
// besides, where it is tighter: a gate is never opened by a file, nor by a decision
// that is still to come.

// gatesKey is the table of gates.
var gatesKey = []string{"gates"}

// gatesWait is what people are told of gates that wait for trust.
const gatesWait = "[gates] waits for trust: until somebody decides, the tighter of what was agreed to and what placet.toml says holds (placet trust)"

// noGates is the value of a table of gates that holds none.
const noGates = "{}"

// saidGates are the gates that one configuration file says.
type saidGates struct {
	rules  map[string]gateRule
	own    bool
	counts bool // the user's own, or agreed to
}

// rulesOf are the gates of a setting's canonical text. The text is that of a table that
// was checked, or agreed to.
func rulesOf(text string) map[string]gateRule {
	rules := map[string]gateRule{}
	_ = json.Unmarshal([]byte(text), &rules)
	return rules
}

// gates is the agreement to the table of gates that holds, nil for none: the last one.
func (t trustFile) gates() *trusted {
	for i, one := range slices.Backward(t.Trusted) {
		if one.Name == gatesKey[0] {
			return &t.Trusted[i]
		}
	}
	return nil
}

// mergeGates settles which gates hold. agreed to are those of the trust file, unless
// placet.toml says the same: taking them out of it is a change like any other, and
// waits for trust.
func (s *settings) mergeGates(file string) {
	now, then := map[string]gateRule{}, map[string]gateRule{}
	if agreed := s.agreed.gates(); agreed != nil && !slices.ContainsFunc(s.saidGates, func(g saidGates) bool { return g.counts && !g.own }) {
		now = rulesOf(agreed.Text)
		if agreed.Text != noGates && !slices.ContainsFunc(s.saidGates, func(g saidGates) bool { return !g.own }) {
			gone := setting{key: gatesKey, text: noGates, path: file}
			gone.digest = gone.digestOf()
			gone.sealed = gone.digest
			s.waiting = append(s.waiting, gone)
		}
	}
	for _, g := range s.saidGates {
		maps.Copy(then, g.rules)
		if g.counts {
			maps.Copy(now, g.rules)
		}
	}
	s.tighten(now, then)
}

// tighten makes gates of two tables that ask for what both of them ask for.
func (s *settings) tighten(a, b map[string]gateRule) {
	s.Gates, s.gatesWait = nil, map[string]bool{}
	for _, names := range []map[string]gateRule{a, b} {
		for name := range names {
			if s.Gates == nil {
				s.Gates = map[string]gateRule{}
			}
			one, other := ruleFor(a, name), ruleFor(b, name)
			s.Gates[name] = gateRule{Level: one.Level, Approvers: bothApprove(one.Approvers, other.Approvers)}
			s.gatesWait[name] = !slices.Equal(one.Approvers, other.Approvers)
		}
	}
}

// ruleFor is the rule of a table for what a name stands for: its own, or that of its
// family, or the general one.
func ruleFor(rules map[string]gateRule, name string) gateRule {
	family, _, _ := strings.Cut(name, "/")
	for _, of := range []string{name, family, "*"} {
		if rule, ok := rules[of]; ok {
			return rule
		}
	}
	return gateRule{}
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

// gates are the gates as the machines read them.
func (s settings) gates() map[string]engine.Gate {
	gates := map[string]engine.Gate{}
	for name, g := range s.Gates {
		if g.Level == "" {
			g.Level = "file"
		}
		gates[name] = engine.Gate{Level: g.Level, Approvers: slices.Clone(g.Approvers), Waits: s.gatesWait[name]}
	}
	return gates
}

// decideGates notes that somebody decided which gates hold. The moment is rounded up:
// an answer of before must not look like one of after.
func (t *trustFile) decideGates(now time.Time) {
	t.GatesDecided = now.UTC().Add(time.Millisecond).Format("2006-01-02T15:04:05.000Z")
}

// gatesSince is when somebody last decided which gates hold, the zero time for never.
func (t trustFile) gatesSince() time.Time {
	at, _ := time.Parse(time.RFC3339, t.GatesDecided)
	return at
}

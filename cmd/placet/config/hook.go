package config

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"time"

	"placet/templates"
)

// Hook is the table [hook]: how placet hook answers agents before they call a tool.
type Hook struct {
	// Wait is how long placet waits for a person; then the call is denied.
	Wait string `toml:"wait"`
	// Permission says how the permission prompts of a client are answered: pass leaves them to
	// the client, ask asks a person here.
	Permission string `toml:"permission"`
	// First says whose answer counts: placet is the only one that asks, or any of placet and the
	// client's own prompt, whichever is answered first.
	First string `toml:"first"`
	// Stop says what happens when an agent ends its turn: tell gives it the answers that it has
	// not seen, block keeps it working while its asks are open, off does nothing.
	Stop string     `toml:"stop"`
	Rule []HookRule `toml:"rule"`
}

// HookRule says what happens to calls of tools. The first rule that matches a call counts.
type HookRule struct {
	Tool   []string `toml:"tool"`  // globs on the client's name of the tool; none: every tool
	Match  []string `toml:"match"` // regular expressions, at least one of which must match; none: every call
	Do     string   `toml:"do"`
	Reason string   `toml:"reason"`
}

// These are the values of HookRule.Do.
const (
	HookAsk   = "ask"
	HookDeny  = "deny"
	HookAllow = "allow"
	HookPass  = "pass"
	HookShow  = "show"
)

// These are the values of Hook.First.
const (
	FirstPlacet = "placet"
	FirstAny    = "any"
)

// AsksPrompts reports whether placet asks people about the permission prompts of clients.
func (h Hook) AsksPrompts() bool { return h.Permission == HookAsk || h.First == FirstAny }

var hookRules = []string{"hook", "rule"}

// rulesName is the name of the rules, and noRules their text if there are none.
const (
	rulesName = "hook.rule"
	noRules   = "[]"
)

func defaultHook() Hook {
	return Hook{Wait: "23h", Permission: HookPass, First: FirstPlacet, Stop: "tell"}
}

// Waits returns how long placet waits for a person. It is shorter than the 24 h that placet init
// makes clients wait for a hook: a client that gives up lets the call run.
func (h Hook) Waits() time.Duration {
	d, _ := time.ParseDuration(h.Wait) // already checked
	return d
}

// check reports the key and the problem of the first setting that the schema accepts but that
// cannot be used.
func (h Hook) check() (key string, err error) {
	for i, r := range h.Rule {
		if err := r.check(i + 1); err != nil {
			return "rule", err
		}
	}
	return "", nil
}

// check reports a mistake in the rule with a number.
func (r HookRule) check(number int) error {
	for _, glob := range r.Tool {
		if _, err := path.Match(glob, ""); err != nil || glob == "" {
			return templates.Errorf("config.hook.tool", "number", number, "tool", strconv.Quote(glob))
		}
	}
	for _, expression := range r.Match {
		if _, err := regexp.Compile(expression); err != nil {
			return templates.Errorf("config.hook.match", "number", number, "match", strconv.Quote(expression), "error", err)
		}
	}
	return nil
}

// rulesIn returns the rules in a tree of settings.
func rulesIn(tree map[string]any) []map[string]any {
	value, _ := lookup(tree, hookRules)
	return tablesIn(value)
}

// holdsUntrusted reports whether a rule counts without trust: it only makes a person decide, or
// stops the call.
func holdsUntrusted(rule map[string]any) bool { return rule["do"] == HookAsk || rule["do"] == HookDeny }

// needsTrust reports whether a tree has rules that count only after placet trust.
func needsTrust(tree map[string]any) bool {
	return slices.ContainsFunc(rulesIn(tree), func(r map[string]any) bool { return !holdsUntrusted(r) })
}

// dropUntrusted removes the rules that count only after placet trust from a tree.
func dropUntrusted(tree map[string]any) {
	kept := slices.DeleteFunc(slices.Clone(rulesIn(tree)), func(r map[string]any) bool { return !holdsUntrusted(r) })
	tree[hookRules[0]].(map[string]any)[hookRules[1]] = kept
}

// joinRules puts the rules of earlier files after those of this one. No file removes another's
// rules, and the user's own rules, which are read last, come first.
func joinRules(tree, before map[string]any) {
	earlier, own := rulesIn(before), rulesIn(tree)
	if len(earlier) == 0 || len(own) == 0 {
		return
	}
	table := maps.Clone(tree[hookRules[0]].(map[string]any))
	table[hookRules[1]] = slices.Concat(own, earlier)
	tree[hookRules[0]] = table
}

// rulesOfText returns the rules in a text that was checked when it was agreed to or read.
func rulesOfText(text string) []map[string]any { return valueOf[[]map[string]any](text) }

// heldRules returns the rules that hold although they are in no file that counts: rules that
// were agreed to and that ask or deny hold until somebody decides again.
func (x sides) heldRules() (list []map[string]any) {
	texts := []string{x.agreed}
	for _, one := range x.held {
		texts = append(texts, one[0])
	}
	for _, text := range texts {
		for _, rule := range rulesOfText(text) {
			if holdsUntrusted(rule) {
				list = append(list, rule)
			}
		}
	}
	return list
}

// holdsNoOther reports whether no other rules hold besides those of a file that need no trust.
func (s *Settings) holdsNoOther(p Setting) bool {
	held := s.sides(rulesName).heldRules()
	return len(held) == 0 || canonical(held) == p.Text
}

// mergeRules adds the rules that hold although no file that counts contains them.
func (s *Settings) mergeRules(file string) error {
	x := s.sides(rulesName)
	held := x.heldRules()
	if len(held) == 0 {
		return nil
	}
	if len(x.held) > 0 {
		s.holds(rulesName)
	}
	if x.gone {
		s.takeOut(hookRules, noRules, file)
	}
	var own, others []map[string]any
	for _, one := range s.statements[rulesName] {
		for _, rule := range rulesOfText(one.text) {
			switch {
			case one.own:
				own = append(own, rule)
			case one.counts || holdsUntrusted(rule):
				others = append(others, rule)
			}
		}
	}
	list := slices.Concat(own, strictestFirst(held, others))
	return s.apply(Layer{Path: file}, map[string]any{hookRules[0]: map[string]any{hookRules[1]: list}})
}

// strictestFirst joins two lists of rules so that neither lets a call run that the other denies
// or asks a person about.
func strictestFirst(held, others []map[string]any) []map[string]any {
	if len(others) == 0 || canonical(held) == canonical(others) {
		return held
	}
	list := slices.Concat(held, others)
	rank := func(rule map[string]any) int {
		return slices.Index([]string{HookAsk, HookDeny}, fmt.Sprint(rule["do"]))
	}
	slices.SortStableFunc(list, func(a, b map[string]any) int { return rank(b) - rank(a) })
	return list
}

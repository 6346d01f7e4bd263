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

// Hook is the table [hook]: what placet hook says to agents before they call a tool.
type Hook struct {
	// Wait is how long a person is waited for; then the call is denied.
	Wait string `toml:"wait"`
	// Permission says what becomes of the permission prompts of a client: pass leaves them
	// to the client, ask has a person asked here.
	Permission string `toml:"permission"`
	// Stop says what happens when an agent ends its turn: tell tells it the answers that it
	// does not know, block keeps it while its asks are open, off does nothing.
	Stop string     `toml:"stop"`
	Rule []HookRule `toml:"rule"`
}

// HookRule says what becomes of calls of tools. Of the rules that fit the first counts.
type HookRule struct {
	Tool   []string `toml:"tool"`  // globs on the client's name of the tool; none: every tool
	Match  []string `toml:"match"` // regular expressions, one of which must match; none: every call
	Do     string   `toml:"do"`
	Reason string   `toml:"reason"`
}

// What a rule does, as HookRule.Do says it.
const (
	HookAsk   = "ask"
	HookDeny  = "deny"
	HookAllow = "allow"
	HookPass  = "pass"
	HookShow  = "show"
)

var hookRules = []string{"hook", "rule"}

// rulesName is the name of the rules, and noRules their text where there are none.
const (
	rulesName = "hook.rule"
	noRules   = "[]"
)

func defaultHook() Hook { return Hook{Wait: "23h", Permission: HookPass, Stop: "tell"} }

// Waits is how long a person is waited for. It is shorter than what placet init has clients wait
// for a hook, 24 h: a client that gives up lets the call run.
func (h Hook) Waits() time.Duration {
	d, _ := time.ParseDuration(h.Wait) // checked
	return d
}

// check reports the first setting that cannot be used although the schema takes it, and its key.
func (h Hook) check() (key string, err error) {
	for i, r := range h.Rule {
		if err := r.check(i + 1); err != nil {
			return "rule", err
		}
	}
	return "", nil
}

// check refuses what the rule of a number cannot say.
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

// rulesIn are the rules that a tree of settings holds.
func rulesIn(tree map[string]any) []map[string]any {
	value, _ := lookup(tree, hookRules)
	return tablesIn(value)
}

// holdsUntrusted reports whether a rule counts without trust: whatever it says, a person
// decides, or the call does not run.
func holdsUntrusted(rule map[string]any) bool { return rule["do"] == HookAsk || rule["do"] == HookDeny }

// needsTrust reports whether a tree has rules that count only after placet trust.
func needsTrust(tree map[string]any) bool {
	return slices.ContainsFunc(rulesIn(tree), func(r map[string]any) bool { return !holdsUntrusted(r) })
}

// dropUntrusted takes the rules out of a tree that count only after placet trust.
func dropUntrusted(tree map[string]any) {
	kept := slices.DeleteFunc(slices.Clone(rulesIn(tree)), func(r map[string]any) bool { return !holdsUntrusted(r) })
	tree[hookRules[0]].(map[string]any)[hookRules[1]] = kept
}

// joinRules has the rules of files before follow those of this one: none takes another's
// away, and of the user's own, which are read last, the first counts.
func joinRules(tree, before map[string]any) {
	earlier, own := rulesIn(before), rulesIn(tree)
	if len(earlier) == 0 || len(own) == 0 {
		return
	}
	table := maps.Clone(tree[hookRules[0]].(map[string]any))
	table[hookRules[1]] = slices.Concat(own, earlier)
	tree[hookRules[0]] = table
}

// rulesOfText are the rules of a text that was checked when it was agreed to or read.
func rulesOfText(text string) []map[string]any { return valueOf[[]map[string]any](text) }

// heldRules are the rules that hold without being in a file that counts: what was agreed to
// asks or denies until somebody decides anew.
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

// holdsNoOther reports whether, beside rules of a file that need no trust, no others hold.
func (s *Settings) holdsNoOther(p Setting) bool {
	held := s.sides(rulesName).heldRules()
	return len(held) == 0 || canonical(held) == p.Text
}

// mergeRules adds the rules that hold although no file that counts says them.
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

// strictestFirst joins two lists of rules so that neither lets a call run that the other
// denies, or has asked about.
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

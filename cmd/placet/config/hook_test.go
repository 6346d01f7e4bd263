package config

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const looseRules = `
[hook]
wait = "1h"
permission = "ask"
[[hook.rule]]
tool = ["Read"]
do = "allow"
[[hook.rule]]
match = ['\bpush\b']
do = "ask"
reason = "others"
[[hook.rule]]
tool = ["mcp__*"]
do = "deny"
`

func dos(rules []HookRule) string {
	var words []string
	for _, r := range rules {
		words = append(words, r.Do)
	}
	return strings.Join(words, " ")
}

// Rules in a file of the workspace that ask or deny count without trust, and nothing else of [hook]
// does. An agreement counts unchanged, and if it is stricter it holds until somebody decides again.
func TestRulesOfTheWorkspaceAskAndDenyWithoutTrust(t *testing.T) {
	from := places(t)
	put(t, from.Workspace, "placet.toml", looseRules)
	s := mustLoad(t, from)
	if diff := cmp.Diff(Hook{Wait: "23h", Permission: "pass", First: "placet", Stop: "tell", Rule: s.Hook.Rule}, s.Hook); diff != "" {
		t.Error(diff)
	}
	if got := dos(s.Hook.Rule); got != "ask deny" {
		t.Errorf("rules that count: %q", got)
	}
	if len(s.Waiting) != 3 {
		t.Fatalf("waiting: %v", s.Waiting)
	}
	agree(t, from, waitingSetting(s.Waiting[0]), waitingSetting(s.Waiting[1]), waitingSetting(s.Waiting[2]))
	if s = mustLoad(t, from); dos(s.Hook.Rule) != "allow ask deny" || s.Hook.Wait != "1h" || s.Hook.Permission != "ask" || len(s.Waiting) > 0 {
		t.Errorf("after agreement: %+v, waiting %v", s.Hook, s.Waiting)
	}
	put(t, from.Workspace, "placet.toml", strings.Replace(looseRules, "Read", "*", 1))
	if s = mustLoad(t, from); dos(s.Hook.Rule) != "ask deny" || len(s.Waiting) != 1 || s.Waiting[0].Line == 0 {
		t.Errorf("after a change: %+v, waiting %v", s.Hook.Rule, s.Waiting)
	}
	put(t, from.Workspace, "placet.toml", "[[hook.rule]]\ndo = \"deny\"\n")
	if s = mustLoad(t, from); dos(s.Hook.Rule) != "deny deny ask" || len(s.Waiting) != 3 || s.Hook.Wait != "1h" || s.Hook.Permission != "ask" {
		t.Errorf("beside rules that need no trust: %+v, waiting %v", s.Hook, s.Waiting)
	}
	agree(t, from, waitingSetting(s.Waiting[0]), waitingSetting(s.Waiting[1]), waitingSetting(s.Waiting[2]))
	if s = mustLoad(t, from); dos(s.Hook.Rule) != "deny" || len(s.Waiting) != 0 || s.Hook.Wait != "23h" || s.Hook.Permission != "pass" {
		t.Errorf("after agreement to what is written: %+v, waiting %v", s.Hook, s.Waiting)
	}
}

// The user's own rules come first, and those of the workspace after them.
func TestOwnRulesComeBeforeThoseOfTheWorkspace(t *testing.T) {
	from := places(t)
	put(t, from.Workspace, "placet.toml", looseRules)
	put(t, filepath.Dir(from.User), "placet.toml", "[[hook.rule]]\ndo = \"pass\"\ntool = [\"Grep\"]\n[[hook.rule]]\ndo = \"show\"\n")
	if got := dos(mustLoad(t, from).Hook.Rule); got != "pass show ask deny" {
		t.Errorf("rules: %q", got)
	}
	put(t, filepath.Dir(from.User), "placet.toml", "[hook]\nstop = \"off\"\n")
	if s := mustLoad(t, from); dos(s.Hook.Rule) != "ask deny" || s.Hook.Stop != "off" {
		t.Errorf("hook: %+v", s.Hook)
	}
}

// That the client's own prompt may be answered, too, counts in a file of the workspace only after trust;
// that it may not counts at once.
func TestThePromptOfAClientCountsAfterTrust(t *testing.T) {
	from := places(t)
	put(t, from.Workspace, "placet.toml", "[hook]\nfirst = \"any\"\n")
	s := mustLoad(t, from)
	if s.Hook.First != FirstPlacet || len(s.Waiting) != 1 {
		t.Fatalf("before trust: %q, waiting %v", s.Hook.First, s.Waiting)
	}
	agree(t, from, waitingSetting(s.Waiting[0]))
	if s = mustLoad(t, from); s.Hook.First != FirstAny {
		t.Errorf("after trust: %q", s.Hook.First)
	}
	put(t, from.Workspace, "placet.toml", "[hook]\nfirst = \"placet\"\n")
	if s = mustLoad(t, from); s.Hook.First != FirstPlacet {
		t.Errorf("taken back, and not yet trusted: %q", s.Hook.First)
	}
	put(t, filepath.Dir(from.User), "placet.toml", "[hook]\nfirst = \"any\"\n")
	if s = mustLoad(t, from); s.Hook.First != FirstAny {
		t.Errorf("by the user's own file: %q", s.Hook.First)
	}
}

func TestBadHookSettings(t *testing.T) {
	for body, want := range map[string]string{
		"[hook]\nwait = \"24h\"":                                  `placet.toml:2: hook.wait: "24h" is no length of time from 1s to 23h, such as "10m"`,
		"[hook]\npermission = \"allow\"":                          `hook.permission: unknown word "allow": expected one of "pass", "ask"`,
		"[hook]\nfirst = \"me\"":                                  `hook.first: unknown word "me": expected one of "placet", "any"`,
		"[hook]\nstop = \"no\"":                                   `hook.stop: unknown word "no": expected one of "tell", "block", "off"`,
		"[[hook.rule]]\ndo = \"maybe\"":                           `hook.rule.do: number 1 of the list: unknown word "maybe": expected one of "ask", "deny", "allow", "pass", "show"`,
		"[[hook.rule]]\ntool = [\"B\"]":                           `hook.rule.do: number 1 of the list: is missing: expected one of "ask", "deny", "allow", "pass", "show"`,
		"[[hook.rule]]\ndo = \"deny\"\nmacth = []":                `unknown setting "hook.rule.macth"`,
		"[[hook.rule]]\ndo = \"deny\"\nDo = \"ask\"":              `unknown setting "hook.rule.Do"`,
		"hook = { rule = [{ do = \"deny\", tol = [] }] }":         `unknown setting "hook.rule.tol"`,
		"[[hook.rule]]\ndo = \"deny\"\nmatch = [\"(\"]":           `number 1 cannot match "("`,
		"[[hook.rule]]\ndo = \"deny\"\ntool = [\"[\"]":            `number 1 has the tool "["`,
		"[[hook.rule]]\ndo = \"deny\"\ntool = \"Bash\"":           `hook.rule.tool: number 1 of the list: is text: expected an array`,
		"[hook]\nrule = \"deny\"":                                 `hook.rule: is text: expected an array`,
		"[[hook.rule]]\ndo = \"deny\"\n[[hook.rule]]\ndo = \"x\"": `hook.rule.do: number 2 of the list: unknown word "x"`,
	} {
		from := places(t)
		put(t, from.Workspace, "placet.toml", body)
		if _, err := Load(from); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot  %v\nwant %s", body, err, want)
		}
	}
}

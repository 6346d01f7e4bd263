package hook

import (
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"placet/cmd/placet/config"
	"placet/templates"
)

// RuleSet is a set of rules that init offers to write into placet.toml. Each asks a person.
type RuleSet struct {
	Name  string
	rules []setRule
}

// setRule is a rule of a set. Its comment and its reason are sentences for people.
type setRule struct {
	name          string
	tools         map[string][]string // by client
	match         []string
	about, reason string // keys of words.json
}

// These are the parts of the expressions below. startOfCommand is a place in the text of a shell where a
// command begins, flags are options before its subcommand, inCommand is any text of the same command, and
// endOfWord is what follows a whole word.
const (
	startOfCommand = "(^|[;&|({\\n`]|!\\s|\\b(if|do|then|else|exec|time|nohup|npx|bunx)\\s|\\b(sudo|env|xargs|timeout)\\s([^;&|\\n]*\\s)?|\\w=\\S*\\s|sh\\s+-\\w*c\\s+\\W)\\s*([\\w.~/-]*/)?"
	flags          = `(-\S+\s+([^-\s]\S*\s+)?)*`
	inCommand      = `(([^;&|\n]|\\\n)*\s)?`
	endOfWord      = `(\s|$|[;&|)"\x27])`
	outside        = `["\x27]?(/|~|\$\{?HOME\b|\.\.(["\x27\s/]|$)|[^\s"\x27]*/\.\.(["\x27\s/]|$))`
	secretFile     = `(\.env(\.(local|dev|development|test|staging|prod|production|ci)(\.local)?)?|\.envrc|\.netrc|\.pgpass|\.git-credentials|id_(rsa|dsa|ecdsa|ed25519)|\.(ssh|aws|gnupg|kube)/[^\s"\x27]+|\.config/gcloud/[^\s"\x27]+|\.docker/config\.json)`
	secretName     = `(?i:key|token|secret|passw|credential)`
)

// shellTools and readTools are the tools of clients with hooks that run a shell's command, and that show
// the content of a file.
var (
	shellTools = map[string][]string{"claude-code": {"Bash", "PowerShell"}, "codex": {"Bash", "PowerShell"}, "gemini": {"run_shell_command"}, "cursor": {shell}}
	readTools  = map[string][]string{"claude-code": {"Read", "Grep"}, "gemini": {"read_file", "read_many_files", "search_file_content"}}
)

// allToolsInOrder are the tools of rules in the order in which they are written.
var allToolsInOrder = []string{"Bash", "PowerShell", "run_shell_command", shell, "Read", "Grep", "read_file", "read_many_files", "search_file_content"}

// ruleSets are all sets. A name of a rule never changes, because placet.toml has it.
var ruleSets = []RuleSet{{"safe", []setRule{
	{
		name: "force-push", tools: shellTools, about: "hook.set.push", reason: "hook.set.push.reason",
		match: []string{startOfCommand + `git\s+` + flags + `push\s` + inCommand + `["\x27]?(--force|--mirror|--delete|-[a-zA-Z]*[fd][a-zA-Z]*` + endOfWord + `|\+\S|:\S)`},
	},
	{
		name: "publish", tools: shellTools, about: "hook.set.publish", reason: "hook.set.publish.reason",
		match: []string{
			startOfCommand + `(npm|pnpm|yarn|bun|lerna|changeset|vsce|jsr)\s+((run|npm|exec|workspace\s+\S+)\s+|-\S+\s+([^-\s]\S*\s+)?)*publish` + endOfWord,
			startOfCommand + `(cargo|uv|poetry|hatch|flit|pdm|dart\s+pub)\s+(\+\S+\s+)?` + flags + `publish` + endOfWord,
			startOfCommand + `(python[\d.]*\s+-m\s+)?twine\s+` + flags + `upload` + endOfWord,
			startOfCommand + `(gem|docker|podman|helm|oras|(dotnet\s+)?nuget)\s+` + flags + `((image|manifest|compose)\s+` + flags + `)?push` + endOfWord,
			startOfCommand + `(docker|podman)\s+` + flags + `(buildx\s+)?build\s` + inCommand + `--push` + endOfWord,
			startOfCommand + `(mvnw?\s` + inCommand + `deploy|gradlew?\s` + inCommand + `(\S*:)?publish|gh\s+release\s+create|goreleaser\s+release|semantic-release)` + endOfWord,
		},
	},
	{
		name: "deploy", tools: shellTools, about: "hook.set.deploy", reason: "hook.set.deploy.reason",
		match: []string{
			startOfCommand + `(kubectl|oc)\s+` + flags + `(apply|create|delete|replace|patch|edit|scale|set|drain|rollout\s+(restart|undo))` + endOfWord,
			startOfCommand + `(helm|helmfile)\s+` + flags + `(install|upgrade|uninstall|delete|rollback|apply|sync|destroy)` + endOfWord,
			startOfCommand + `(terraform|tofu|terragrunt|pulumi|cdk)\s+` + flags + `(run-all\s+)?(apply|destroy|import|up|deploy)` + endOfWord,
			startOfCommand + `(serverless|sls|firebase|fly|flyctl|wrangler|eb|gcloud\s+(app|run|functions))\s+` + flags + `deploy` + endOfWord,
			startOfCommand + `(vercel|netlify)\s` + inCommand + `--prod\b`,
			startOfCommand + `git\s+` + flags + `push\s+` + flags + `(heroku|prod|production|live)` + endOfWord,
			startOfCommand + `(((make|just|task|rake|cap|(ba)?sh|(npm|pnpm|yarn|bun)\s+run)\s+([^;&|\n]*\s)?)?[\w./:-]*deploy[^;&|\n]*\bprod(uction)?\b|(make|just|task|rake|cap)\s[^;&|\n]*\bprod(uction)?\b[^;&|\n]*\bdeploy\b)`,
		},
	},
	{
		name: "delete-outside", tools: shellTools, about: "hook.set.delete", reason: "hook.set.delete.reason",
		match: []string{
			startOfCommand + `(rm|rmdir|unlink|shred|(?i:remove-item))\s` + inCommand + outside,
			startOfCommand + `rm\s+(-\S+\s+)*(\.|\./|\*|\./\*|\.git/?)(\s|$|[;&|)])`,
			startOfCommand + `find\s+` + outside + inCommand + `(-delete|-exec(dir)?\s+rm)\b`,
			startOfCommand + `(?i:remove-item|ri|rm|rmdir|rd|del|erase)\s` + inCommand + `["\x27]?(?i:[a-z]:[\\/]|\\\\|\$env:|%\w+%)`,
		},
	},
	{
		name: "secrets", tools: shellTools, about: "hook.set.secrets", reason: "hook.set.secrets.reason",
		match: []string{
			startOfCommand + `(cat|bat|less|more|head|tail|nl|tac|od|xxd|hexdump|strings|base64|sort|cut|diff|jq|yq|curl|tar|zip|gpg|(?i:get-content|gc|type))\s([^;&|\n]*[\s"\x27=@])?["\x27]?([^\s"\x27]*/)?` + secretFile + endOfWord,
			startOfCommand + `(cp|mv|scp|rsync)\s` + inCommand + `["\x27]?([^\s"\x27]*/)?` + secretFile + `["\x27]?\s+[^\s;&|]`,
			startOfCommand + `(e?grep|rg|ag|sed|awk)\s` + inCommand + `[^-\s]\S*\s` + inCommand + `([^\s"\x27]*/)?` + secretFile + endOfWord,
			`(<\s*|\b(open|readFile|readFileSync|read_text|read)\(\s*["\x27])([^\s"\x27]*/)?` + secretFile + endOfWord,
			startOfCommand + `(printenv\s*([|;&>)\n]|$)|printenv\s+\w*` + secretName + `|(env|export\s+-p|set|declare\s+-[px]+)\s*([|;&>)\n]|$))`,
			startOfCommand + `(echo|printf|(?i:write-(output|host)))\s[^;&|\n]*\$(\{\w*` + secretName + `\w*(\}|:[-\d ])|(?i:env:)?\w*` + secretName + `)`,
			startOfCommand + `(vault\s+(kv\s+get|read)|aws\s` + inCommand + `get-secret-value|gcloud\s+(secrets\s+versions\s+access|auth\s+print-access-token)|gh\s+auth\s+token|op\s+(read|item\s+get)|pass\s+show|security\s+find-\w+-password|kubectl\s+` + flags + `get\s+` + flags + `secrets?\s+` + inCommand + `-o)`,
		},
	},
	{
		name: "secret-files", tools: readTools, about: "hook.set.files", reason: "hook.set.secrets.reason",
		match: []string{`(^|["/])` + secretFile + `("|$)`},
	},
}}}

// RuleSetNames returns the names of all sets.
func RuleSetNames() (names []string) {
	for _, s := range ruleSets {
		names = append(names, s.Name)
	}
	return names
}

// NamedRuleSet returns the set of a name.
func NamedRuleSet(name string) (s RuleSet, ok bool) {
	at := slices.Index(RuleSetNames(), name)
	if at < 0 {
		return s, false
	}
	return ruleSets[at], true
}

// RulesChange is the change of placet.toml that adds the rules of a set.
type RulesChange struct {
	Body []byte // nil for no change
	Text string // what is added or updated
	// Added and Updated are names of rules; an updated one gets further tools. Kept are those that
	// somebody has changed.
	Added, Updated, Kept []string
	// rules are all of the set that are then as placet writes them.
	rules []config.HookRule
}

// Plan returns the change that adds the rules to placet.toml for the tools of some clients. A rule that
// is there is left as it is if somebody has changed it, and otherwise gets the tools that it lacks.
func (s RuleSet) Plan(body []byte, clients []Client, lang string) (c RulesChange, err error) {
	var before map[string]any
	if _, err := toml.Decode(string(body), &before); err != nil {
		return c, err
	}
	text, added := string(body), ""
	for _, r := range s.rules {
		tools := r.toolsOf(clients)
		has, there := s.find(text, r)
		switch {
		case len(tools) == 0:
		case !there && hasMatch(before, r.match):
		case !there:
			c.rules = append(c.rules, r.rule(tools, lang))
			c.Added = append(c.Added, s.nameOf(r))
			added += "\n" + s.render(r, tools, lang)
		default:
			own, known := s.toolsOf(has, r)
			if !known {
				c.Kept = append(c.Kept, s.nameOf(r))
				continue
			}
			all := inOrder(slices.Concat(own, tools))
			c.rules = append(c.rules, r.rule(all, lang))
			if len(all) > len(own) {
				block := withLineEnds(s.render(r, all, lang), has)
				text = strings.Replace(text, has, block, 1)
				c.Updated, c.Text = append(c.Updated, s.nameOf(r)), c.Text+block+"\n"
			}
		}
	}
	if added != "" {
		text = string(File{Table: added[1:]}.append([]byte(text)))
		c.Text += added[1:]
	}
	if text == string(body) {
		return c, nil
	}
	c.Body = []byte(text)
	return c, c.check(body, before)
}

// inlineHook matches a table of hooks that ends where it stands, which placet's reader extends and others do not.
var inlineHook = regexp.MustCompile(`(?m)^\s*["']?hook["']?\s*=`)

// check reports whether the change adds its rules and changes nothing else.
func (c RulesChange) check(body []byte, before map[string]any) error {
	const what = "[[hook.rule]]"
	if inlineHook.Match(body) {
		return templates.Errorf("hook.append.inline", "what", what, "name", "hook")
	}
	var after map[string]any
	if _, err := toml.Decode(string(c.Body), &after); err != nil {
		return templates.Errorf("hook.append.because", "what", what, "error", err)
	}
	then, was := rulesOf(after), rulesOf(before)
	if len(then) != len(was)+len(c.Added) || !reflect.DeepEqual(withoutRules(after), withoutRules(before)) {
		return templates.Errorf("hook.append", "what", what)
	}
	return nil
}

// rulesOf returns the rules in a tree of settings.
func rulesOf(tree map[string]any) []map[string]any {
	list, _ := valueAt(tree, []string{"hook", "rule"}).([]map[string]any)
	return list
}

// withoutRules returns what a tree of settings has besides rules.
func withoutRules(tree map[string]any) map[string]any {
	rest := map[string]any{}
	for name, value := range tree {
		rest[name] = value
	}
	hooks := map[string]any{}
	table, _ := tree["hook"].(map[string]any)
	for name, value := range table {
		if name != "rule" {
			hooks[name] = value
		}
	}
	rest["hook"] = hooks
	return rest
}

// hasMatch reports whether a tree of settings has a rule with these expressions.
func hasMatch(tree map[string]any, match []string) bool {
	return slices.ContainsFunc(rulesOf(tree), func(rule map[string]any) bool {
		list, _ := rule["match"].([]any)
		return slices.EqualFunc(list, match, func(has any, want string) bool { return has == want })
	})
}

// With returns rules as they are after the change.
func (c RulesChange) With(rules []config.HookRule) []config.HookRule {
	all := slices.Clone(rules)
	for _, r := range c.rules {
		same := func(has config.HookRule) bool { return slices.Equal(has.Match, r.Match) }
		if at := slices.IndexFunc(all, same); at >= 0 {
			all[at].Tool = r.Tool
		} else {
			all = append(all, r)
		}
	}
	return all
}

// Text returns the rules for the tools of some clients as placet.toml has them.
func (s RuleSet) Text(clients []Client, lang string) string {
	c, _ := s.Plan(nil, clients, lang) // nothing is there that could stand against it
	return c.Text
}

func (s RuleSet) nameOf(r setRule) string { return s.Name + "/" + r.name }

// find returns the text of a rule in placet.toml, from the comment with its name to an empty line.
func (s RuleSet) find(text string, r setRule) (block string, there bool) {
	for line := range strings.SplitAfterSeq(text, "\n") {
		switch {
		case !there:
			if there = strings.HasPrefix(line, "# "+s.nameOf(r)+":"); there {
				block = line
			}
		case strings.TrimSpace(line) == "":
			return block, true
		default:
			block += line
		}
	}
	return block, there
}

// toolsOf returns the tools in the text of a rule. known is false if somebody has changed anything else.
func (s RuleSet) toolsOf(block string, r setRule) (tools []string, known bool) {
	var has struct{ Hook config.Hook }
	if _, err := toml.Decode(block, &has); err != nil || len(has.Hook.Rule) != 1 {
		return nil, false
	}
	if tools = has.Hook.Rule[0].Tool; !slices.Equal(tools, r.toolsOf(r.clientsWith(tools))) {
		return nil, false
	}
	plain := strings.TrimRight(strings.ReplaceAll(block, "\r\n", "\n"), "\n")
	return tools, slices.ContainsFunc(templates.Languages(), func(lang string) bool {
		return plain == strings.TrimRight(s.render(r, tools, lang), "\n")
	})
}

// render returns the text of a rule.
func (s RuleSet) render(r setRule, tools []string, lang string) string {
	rule := r.rule(tools, lang)
	lines := []string{"# " + s.nameOf(r) + ": " + templates.Text(lang, r.about), "[[hook.rule]]", "tool = [" + quoted(tools) + "]", "match = ["}
	for _, m := range rule.Match {
		lines = append(lines, "  '"+m+"',")
	}
	return strings.Join(append(lines, "]", "do = "+strconv.Quote(rule.Do), "reason = "+strconv.Quote(rule.Reason), ""), "\n")
}

// rule returns the rule for some tools.
func (r setRule) rule(tools []string, lang string) config.HookRule {
	return config.HookRule{Tool: tools, Match: r.match, Do: config.HookAsk, Reason: templates.Text(lang, r.reason)}
}

// toolsOf returns the tools of some clients that the rule is about.
func (r setRule) toolsOf(clients []Client) (tools []string) {
	for _, c := range clients {
		tools = append(tools, r.tools[c.Name]...)
	}
	return inOrder(tools)
}

// clientsWith returns the clients all of whose tools are among some.
func (r setRule) clientsWith(tools []string) []Client {
	lacks := func(c Client) bool {
		return slices.ContainsFunc(r.tools[c.Name], func(name string) bool { return !slices.Contains(tools, name) })
	}
	return slices.DeleteFunc(slices.Clone(Clients), lacks)
}

// inOrder returns tools once each: those of the sets in the order of allToolsInOrder, then others.
func inOrder(tools []string) (once []string) {
	for _, name := range slices.Concat(allToolsInOrder, tools) {
		if slices.Contains(tools, name) && !slices.Contains(once, name) {
			once = append(once, name)
		}
	}
	return once
}

func quoted(names []string) string {
	var list []string
	for _, name := range names {
		list = append(list, strconv.Quote(name))
	}
	return strings.Join(list, ", ")
}

// withLineEnds returns a text with the line ends of another.
func withLineEnds(text, of string) string {
	if strings.Contains(of, "\r\n") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if !strings.HasSuffix(of, "\n") {
		text = strings.TrimRight(text, "\r\n")
	}
	return text
}

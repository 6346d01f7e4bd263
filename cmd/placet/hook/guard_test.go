package hook

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"placet/cmd/placet/config"
	"placet/layout"
)

// guardedPlaces is a workspace with a request, and a folder of the agent in it.
func guardedPlaces(t *testing.T) Places {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	request := filepath.Join(root, ".asks/a/requests/ask-1")
	for _, dir := range []string{request, filepath.Join(root, "src/requests/api"), filepath.Join(root, "home")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"link": ".asks/a/requests/ask-1", "innocent.json": ".asks/a/requests/ask-1/response.json"} {
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"request.json", "../../state.json"} {
		if err := os.WriteFile(filepath.Join(request, name), []byte("{}"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Places{Root: root, Cwd: root, Home: filepath.Join(root, "home"), Layouts: []layout.Family{layout.Ask{}, layout.AFL{}}, PersonVerb: firstVerb}
}

// firstVerb stands for placet's command tree, which no package below cmd/placet/cli knows: the verb is
// the first word that is neither a flag nor the folder of -C.
func firstVerb(args []string) string {
	for i, word := range args {
		switch {
		case strings.HasPrefix(word, "-") || i > 0 && args[i-1] == "-C":
		case slices.Contains([]string{"approve", "reject", "respond", "steer", "trust"}, word):
			return word
		default:
			return ""
		}
	}
	return ""
}

// judged returns the outcome of a call in one workspace.
func judged(c Client, rules []config.HookRule, in Input, p Places) Outcome {
	o, _ := c.Judge([]Workspace{{rules, p}}, in)
	return o
}

// called returns the call of a tool as a client passes it.
func called(t *testing.T, c Client, tool string, input any) Input {
	t.Helper()
	event := "PreToolUse"
	if c.Name == "gemini" {
		event = "BeforeTool"
	}
	body, err := json.Marshal(map[string]any{"session_id": "s", "cwd": "/", "hook_event_name": event, "tool_name": tool, "tool_input": input})
	if err != nil {
		t.Fatal(err)
	}
	in, err := c.Read(strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	return in
}

type members map[string]any

// Check 5 of the hooks covers ways of writing an answer, or of deciding what needs one, by a file tool
// or in plain words of a shell.
func TestHookCheck5TheGuardDeniesWhatAPersonDoes(t *testing.T) {
	p := guardedPlaces(t)
	const answer = ".asks/a/requests/ask-1/response.json"
	files := []struct {
		client Client
		tool   string
		input  members
	}{
		{claudeCode, "Write", members{"file_path": filepath.Join(p.Root, answer), "content": "{}"}},
		{claudeCode, "Write", members{"file_path": "src/../" + answer}},
		{claudeCode, "Write", members{"file_path": "link/response.json"}},
		{claudeCode, "Write", members{"file_path": "innocent.json"}},
		{claudeCode, "Edit", members{"file_path": ".asks/a/requests/ask-1/form.md", "old_string": "[ ]", "new_string": "[x]"}},
		{claudeCode, "MultiEdit", members{"file_path": ".asks/a/requests/ask-1/form.2.md"}},
		{claudeCode, "Write", members{"file_path": ".ASKS/a/Requests/ask-1/Response.JSON"}},
		{claudeCode, "Write", members{"file_path": ".asks/a/requests/ask-1/receipt.json"}},
		{claudeCode, "Write", members{"file_path": ".asks/a/requests/ask-1/answer.kim.json"}},
		{claudeCode, "Write", members{"file_path": "placet.toml"}},
		{claudeCode, "Write", members{"file_path": "~/.config/placet/placet.toml"}},
		{claudeCode, "Write", members{"file_path": ".placet/lock"}},
		{claudeCode, "Write", members{"file_path": "placet.policy/x.toml"}},
		{claudeCode, "Write", members{"file_path": ".claude/settings.local.json"}},
		{claudeCode, "NotebookEdit", members{"notebook_path": answer}},
		{claudeCode, "mcp__files__write_file", members{"path": answer}},
		{claudeCode, "mcp__files__move_file", members{"source": "a", "destination": answer}},
		{claudeCode, "mcp__files__write_files", members{"files": []any{members{"path": answer}}}},
		{claudeCode, "mcp__files__find_and_replace", members{"path": "placet.toml"}},
		{codex, "apply_patch", members{"command": "*** Begin Patch\n*** Add File: " + answer + "\n+{}\n*** End Patch\n"}},
		{codex, "apply_patch", members{"command": "*** Begin Patch\n*** Update File: a\n*** Move to: .codex/hooks.json\n*** End Patch\n"}},
		{gemini, "write_file", members{"file_path": answer}},
		{gemini, "replace", members{"file_path": ".gemini/settings.json"}},
		{claudeCode, "Write", members{"file_path": ".asks/a/state.json"}},
		{claudeCode, "Write", members{"file_path": ".ASKS/a/State.json"}},
		{claudeCode, "Edit", members{"file_path": ".asks/a/answer.json"}},
		{claudeCode, "Write", members{"file_path": ".asks/a/requests/ask-1/request.json"}},
		{claudeCode, "Write", members{"file_path": ".afl/sessions/shop/state.json"}},
		{claudeCode, "Write", members{"file_path": "~/.config/placet/tokens.json"}},
		{claudeCode, "Write", members{"file_path": ".mcp.json"}},
		{claudeCode, "Edit", members{"file_path": "~/.claude.json"}},
		{claudeCode, "Write", members{"file_path": ".cursor/mcp.json"}},
		{codex, "apply_patch", members{"command": "*** Begin Patch\n*** Update File: .asks/a/state.json\n*** End Patch\n"}},
	}
	for _, f := range files {
		if o := judged(f.client, nil, called(t, f.client, f.tool, f.input), p); o.Do != config.HookDeny || o.Reason == "" {
			t.Errorf("%s %v: %v", f.tool, f.input, o)
		}
	}
	for _, command := range []string{
		"echo '{}' > " + answer,
		"echo '{}'>" + answer,
		"echo x >> ./" + answer,
		"printf '{}' | tee " + answer,
		"cp /tmp/x " + answer,
		"cp /tmp/response.json .asks/a/requests/ask-1/",
		"mv /tmp/x.json link",
		"cd .asks/a/requests/ask-1 && echo '{}' > response.json",
		"cd .asks/a/requests\nsed -i 's/\\[ \\]/[x]/' ask-1/form.md",
		"d=.asks/a/requests/ask-1; echo x > $d/response.json",
		"export D=.asks/a/requests; cp /tmp/x ${D}/ask-1/response.json",
		"find .asks -name 'form*.md' -exec true {} + ; find .asks/a/requests/ask-1/form.md -delete",
		"sort -o placet.toml x",
		"dd if=/tmp/x of=" + answer,
		`python3 -c "open('` + answer + `', 'w').write('{}')"`,
		"cat > " + answer + " <<EOF\n{}\nEOF",
		"ln -sf /tmp/x " + answer,
		"rm .asks/*/requests/*/resp*.json",
		"git checkout -- placet.toml",
		"tee -a placet.toml < x",
		"placet approve ask-1",
		"/usr/local/bin/placet -C . --json reject ask-1 -m no",
		"env -u CLAUDECODE placet respond ask-1 approve",
		"CLAUDECODE= placet approve ask-1",
		`bash -c "true; placet approve ask-1"`,
		"echo y | placet trust",
		"echo --yes | xargs placet trust",
		"pla'c'et steer ask-1",
		"true && (placet approve ask-1)",
		"echo $(placet approve ask-1)",
		"echo ask-1 | xargs placet approve",
		"echo 'placet approve ask-1' | sh",
		"sh <<X\nplacet approve ask-1\nX",
		"go run ./cmd/placet approve ask-1",
		"echo '{}' > .asks/a/state.json",
		"cp /tmp/old.json .asks/a/state.json",
		"cp /tmp/state.json .asks/a/",
		"mv /tmp/answer.json .asks/a",
		"mv .asks/a/answer.json /tmp",
		"sudo cp /tmp/x .asks/a/answer.json",
		"rm .asks/*/state.json",
		"sed -i s/open/answered/ .asks/a/state.json",
		"perl -pi -e 's/open/answered/' .asks/a/state.json",
		"git checkout HEAD~1 -- .asks/a/state.json",
		`python3 -c "import json; json.dump({}, open('.asks/a/state.json', 'w'))"`,
		"python3 - .asks/a/state.json <<'E'\nimport sys\nopen(sys.argv[1], 'w').write('{}')\nE",
		`node -e "require('fs').writeFileSync('.asks/a/answer.json', '{}')"`,
		"cd .asks/a && tee state.json < /tmp/x",
		"jq . /tmp/x > .afl/sessions/shop/state.json",
		"echo x >> ~/.config/placet/tokens.json",
		"npx prettier --write .mcp.json",
		"O='--json approve'; placet $O ask-1",
		"cat <<X\n$(placet approve ask-1)\nX",
		"xargs rm <<< placet.toml",
		"while read f; do rm $f; done <<< placet.toml",
		"for f in placet.toml; do rm $f; done",
		"case a in a) placet trust;; esac",
		"f() { placet approve ask-1; }; f",
		"tee >(cat > placet.toml)",
		"tee $'placet.toml' < /tmp/x",
		"echo x >| placet.toml",
		"{ echo x; } &>> placet.toml",
		"cp /tmp/x .asks/a/requests/$(ls .asks/a/requests)/response.json",
		"python3 - <<'E'\np = 'placet.toml'\nopen(p, 'w')\nE",
		"echo it's ) | tee placet.toml", // no text of bash, but perhaps of another shell
		"if ($x) { placet 'approve' ask-1 }",
		"$(" + strings.Repeat("(", 1<<19) + " > placet.toml",
		"x='f \"$x \"'; y='eval \"$y $x\"'; f \"$y \"; placet approve ask-1",
	} {
		for tool, c := range map[string]Client{"Bash": claudeCode, "run_shell_command": gemini} {
			if o := judged(c, nil, called(t, c, tool, members{"command": command}), p); o.Do != config.HookDeny || o.Reason == "" {
				t.Errorf("%s: %q passes", tool, command)
			}
		}
	}
	in := called(t, codex, "local_shell", members{"command": []string{"bash", "-lc", "placet approve ask-1"}})
	if o := judged(codex, nil, in, p); o.Do != config.HookDeny {
		t.Errorf("a command of several words passes: %v", o)
	}
}

// An honest agent's other calls pass.
func TestTheGuardLetsReadAndAsk(t *testing.T) {
	p := guardedPlaces(t)
	for _, command := range []string{
		"ls -la", "cat .asks/a/requests/ask-1/form.md", "grep -r approve . 2>/dev/null | head", "jq . .asks/a/answer.json",
		`placet ask "Deploy?" --option approve --wait`, "placet inbox", "placet show ask-1", "placet withdraw a -m 'not needed'",
		"git add .asks placet.toml && git commit -m 'placet approve; see placet.toml'", "git diff placet.toml > /tmp/d",
		"# placet approve ask-1\ntrue", "echo 'run placet approve ask-1' > NOTES.md", "cat > NOTES.md <<EOF\nplacet approve ask-1\nEOF",
		"find . -name placet.toml", "placet ask 'May I change placet.toml?' --artifact placet.toml --wait", "curl -s x > $TMP/response.json", "sort placet.toml | uniq -c",
		"echo x > src/requests/api/client.py", "sed -n 1,5p placet.toml", "cat placet.toml && python3 x.py", "mkdir -p .asks/b && cp /tmp/ask.json .asks/b/ask.json",
		"cat .asks/a/state.json | jq .status", "while [ ! -e .asks/a/answer.json ]; do sleep 1; done; jq -r .response .asks/a/answer.json",
		"cp .asks/a/answer.json /tmp/a.json", "cp /tmp/ask.json .asks/a/", `python3 -c "import json; print(json.load(open('.asks/a/answer.json'))['response'])"`,
		"./deploy.sh --answer .asks/a/answer.json", "python3 report.py .asks/a/state.json", "echo {} > state.json", "rm -f build/state.json && cp x docs/answer.json",
		"cat .mcp.json ~/.config/placet/tokens.json", "if true; then cat placet.toml; fi", "[[ -e placet.toml ]] && cat placet.toml", "gh pr create --body \"$(cat <<'E'\nIt's done (mostly).\nE\n)\"",
		"git add .asks/a/state.json .mcp.json", "echo {} > .asks/a/withdraw.json", "rm .afl/sessions/shop/delegations/a/iterations/1/worker.json",
	} {
		if o := judged(claudeCode, nil, called(t, claudeCode, "Bash", members{"command": command}), p); o.Do != config.HookPass {
			t.Errorf("%q: %s", command, o.Reason)
		}
	}
	for tool, input := range map[string]members{
		"Read": {"file_path": "placet.toml"}, "Grep": {"pattern": "x", "path": ".placet"}, "Write": {"file_path": "src/requests/api/client.py", "content": "placet.toml"},
		"mcp__files__read_file": {"path": "placet.toml"}, "WebSearch": {"query": "placet.toml"}, "mcp__placet__ask_human": {"question": "placet approve?"},
		"Edit": {"file_path": "src/state.json"}, "mcp__files__write_file": {"path": ".asks/b/ask.json"}, "MultiEdit": {"file_path": "tests/answer.json"},
	} {
		if o := judged(claudeCode, []config.HookRule{{Tool: []string{"mcp__placet__*"}, Do: config.HookDeny}}, called(t, claudeCode, tool, input), p); o.Do != config.HookPass {
			t.Errorf("%s %v: %s", tool, input, o.Reason)
		}
	}
}

// A command cannot keep its reader busy for long, whatever its variables hold.
func TestTheGuardReadsSoMuchAndNoMore(t *testing.T) {
	var b strings.Builder
	b.WriteString("a0='x y'\n")
	for i := range 60 {
		fmt.Fprintf(&b, "a%d=\"$a%d $a%d\"\n", i+1, i, i)
	}
	b.WriteString("f \"$a60\"")
	in := called(t, claudeCode, "Bash", members{"command": b.String()})
	if o := judged(claudeCode, nil, in, guardedPlaces(t)); o.Do != config.HookDeny {
		t.Errorf("values that double 60 times: %v", o)
	}
}

// The text that a rule matches depends on the tool.
func TestWhatARuleIsMatchedWith(t *testing.T) {
	p := guardedPlaces(t)
	if err := os.Symlink(".asks", filepath.Join(p.Root, "questions")); err != nil {
		t.Fatal(err)
	}
	p.Cwd = filepath.Join(p.Root, "src")
	for _, test := range []struct {
		client Client
		tool   string
		input  members
		want   string
	}{
		{claudeCode, "Bash", members{"command": "git push\n-f", "description": "x"}, "git push\n-f"},
		{codex, "shell", members{"command": []string{"git", "push"}}, "git push"},
		{claudeCode, "Write", members{"file_path": "../questions/a/new.md"}, ".asks/a/new.md"},
		{claudeCode, "Read", members{"file_path": "/etc/hosts"}, "/etc/hosts"},
		{codex, "apply_patch", members{"command": "*** Update File: b.go\n*** Move to: ../c.go\n"}, "c.go src/b.go"},
		{claudeCode, "WebFetch", members{"url": "https://example.org/x", "prompt": "p"}, "https://example.org/x"},
		{claudeCode, "mcp__x__y", members{"b": 1.50, "a": []any{"<", nil}}, `{"a":["<",null],"b":1.5}`},
	} {
		s := called(t, test.client, test.tool, test.input).SubjectIn(p)
		if got := strings.Join(s.All, " "); got != test.want {
			t.Errorf("%s: %q, expected %q", test.tool, got, test.want)
		}
	}
}

func TestTheFirstRuleThatFitsCounts(t *testing.T) {
	p := guardedPlaces(t)
	rules := []config.HookRule{
		{Tool: []string{"mcp__*"}, Match: []string{"drop", "delete"}, Do: "deny", Reason: "no"},
		{Tool: []string{"mcp__db__*"}, Do: "allow"},
		{Match: []string{"secret"}, Do: "show"},
	}
	for _, test := range []struct {
		c           Client
		tool, value string
		want        string
	}{
		{claudeCode, "mcp__db__run", "delete x", "deny no"},
		{claudeCode, "mcp__db__run", "select secret", "allow A rule of placet allows this call."},
		{claudeCode, "Other", "secret", "show A rule of placet has you asked."},
		{gemini, "Other", "secret", "ask "},
		{codex, "Other", "plain", "pass "},
	} {
		o := judged(test.c, rules, called(t, test.c, test.tool, members{"q": test.value}), p)
		if got := fmt.Sprint(o.Do, " ", o.Reason); got != test.want {
			t.Errorf("%s %s: %q, expected %q", test.tool, test.value, got, test.want)
		}
	}
}

// The first workspace that judges a call is its own. The others make the outcome stricter, never looser.
func TestWorkspacesAboveOnlyTighten(t *testing.T) {
	p := guardedPlaces(t)
	for _, test := range []struct {
		own, above []string // the actions of the matching rules, "" if none matches
		want       string
		asks       int
	}{
		{[]string{""}, []string{"", ""}, "pass", 0},
		{[]string{""}, []string{"", "deny"}, "deny", 0},
		{[]string{"allow"}, []string{"deny", "ask"}, "deny", 1},
		{[]string{"allow"}, []string{""}, "allow", 0},
		{[]string{"allow"}, []string{"pass"}, "pass", 0},
		{[]string{""}, []string{"allow"}, "pass", 0},
		{[]string{"deny"}, []string{"allow"}, "deny", 0},
		{[]string{"show"}, []string{"allow"}, "show", 0},
		{[]string{"show"}, []string{"ask"}, "ask", 1},
		{[]string{"ask"}, []string{"", "ask", "show"}, "ask", 2},
	} {
		var all []Workspace
		for _, do := range slices.Concat(test.own, test.above) {
			w := Workspace{Places: p}
			if do != "" {
				w.Rules = []config.HookRule{{Do: do}}
			}
			all = append(all, w)
		}
		o, asks := claudeCode.Judge(all, called(t, claudeCode, "Bash", members{"command": "make"}))
		if o.Do != test.want || len(asks) != test.asks {
			t.Errorf("%q below %q: %s, asked in %v", test.own, test.above, o.Do, asks)
		}
	}
}

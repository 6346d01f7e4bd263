package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"placet/cmd/placet/cli"
	"placet/cmd/placet/console"
	"placet/internal/await"
)

// agentAttacks are by agents whose client asks placet before it calls a tool, and on what they would
// make a person's browser do.
var agentAttacks = []attack{
	{"an agent that lets itself in", "an agent makes itself a token, logs a browser in, or decides what counts, and so answers in a person's place", func(t *testing.T, p *place) {
		p.write("placet.toml", gatesBy("kim"))
		p.write(".asks/x/ask.json", `{"question": "Deploy?"}`)
		p.must(3, "once")
		reading := [][]string{{"token", "list"}, {"trust"}, {"inbox"}, {"show", "x"}, {"--json", "status"}}
		letting := [][]string{{"token", "new", "me", "--roles", "read,decide"}, {"--lang", "ko", "token", "new", "me"}, {"login"}, {"open"}, {"open", "x"}, {"adopt", "ask/x"},
			{"trust", "--yes"}, {"trust", "gates"}, {"trust", "--revoke", "gates"}, {"approve", "x"}, {"reject", "x"}, {"steer", "x", "-m", "y"}, {"respond", "x", "approve"}}
		p.vars = []string{"CLAUDECODE=1"}
		for _, line := range letting {
			if out, code := p.placet(line...); code != 1 || !strings.Contains(out, "CLAUDECODE") {
				t.Errorf("an agent's placet %s: %d, %s", strings.Join(line, " "), code, out)
			}
		}
		for _, line := range reading {
			if out, _ := p.placet(line...); strings.Contains(out, "CLAUDECODE") {
				t.Errorf("an agent cannot look: placet %s: %s", strings.Join(line, " "), out)
			}
		}
		if _, err := os.Stat(filepath.Join(p.stateHome(), "placet", "tokens.json")); err == nil {
			t.Error("a token was made")
		}
		p.vars = nil
		for _, line := range letting {
			if out := p.calls(t, "claude-code", p.root, "Bash", "placet "+strings.Join(line, " "), 0); !strings.Contains(out, `"deny"`) {
				t.Errorf("the guard lets placet %s pass: %s", strings.Join(line, " "), out)
			}
		}
		for _, line := range append(reading, []string{"ask", "May I approve?"}, []string{"withdraw", "x"}, []string{"-C", "approve", "inbox"}, []string{"--lang", "approve", "status"}, []string{"approve", "--help"}) {
			if out := p.calls(t, "claude-code", p.root, "Bash", "placet "+strings.Join(line, " "), 0); out != "" {
				t.Errorf("the guard denies placet %s: %s", strings.Join(line, " "), out)
			}
		}
		p.must(0, "trust", "--yes")
		p.must(0, "token", "new", "ci", "--roles", "read,decide")
	}},
	{"a flag before the verb", "an agent puts a flag with a value before the verb that answers, as anybody may", func(t *testing.T, p *place) {
		p.write("placet.toml", "")
		for _, flags := range []string{"--lang en", "--lang=en", "--config /dev/null", "-C .", "-C.", "--workspace .", "--json --lang ja", "-m fine"} {
			if out := p.calls(t, "codex", p.root, "Bash", "placet "+flags+" approve x", 0); !strings.Contains(out, `"deny"`) {
				t.Errorf("placet %s approve passes: %s", flags, out)
			}
			if out := p.calls(t, "codex", p.root, "Bash", "placet "+flags+" show x", 0); out != "" {
				t.Errorf("placet %s show is denied: %s", flags, out)
			}
		}
	}},
	{"what placet alone writes", "an agent writes the outcome of its question into state.json or answer.json, a token, or takes the hook out of its client's settings", func(t *testing.T, p *place) {
		p.write("placet.toml", "")
		p.configure("[ask]\nroot = \"questions\"\n")
		p.write("questions/x/ask.json", `{"question": "Deploy?"}`)
		p.must(3, "once")
		denied := []string{"questions/x/state.json", "questions/x/answer.json", "questions/x/requests/" + p.askRequest("x") + "/request.json", ".nemawashi/actions/7/state.json",
			".mcp.json", ".claude/settings.json", ".vscode/mcp.json", filepath.Join(p.stateHome(), "placet", "tokens.json")}
		for _, file := range denied {
			if out := p.calls(t, "claude-code", p.root, "Write", file, 0); !strings.Contains(out, `"deny"`) {
				t.Errorf("writing %s passes: %s", file, out)
			}
			for _, command := range []string{"echo '{}' > " + file, "cp /tmp/x " + file, "rm " + file} {
				if out := p.calls(t, "claude-code", p.root, "Bash", command, 0); !strings.Contains(out, `"deny"`) {
					t.Errorf("%s passes: %s", command, out)
				}
			}
			for _, command := range []string{"cat " + file, "jq . < " + file, "grep -c x " + file} {
				if out := p.calls(t, "claude-code", p.root, "Bash", command, 0); out != "" {
					t.Errorf("%s is denied: %s", command, out)
				}
			}
		}
		for _, command := range []string{"rm questions/*/state.json", "cp /tmp/state.json questions/x/", "cd questions/x && sed -i s/open/answered/ state.json"} {
			if out := p.calls(t, "claude-code", p.root, "Bash", command, 0); !strings.Contains(out, `"deny"`) {
				t.Errorf("%s passes: %s", command, out)
			}
		}
		for _, command := range []string{"until [ -f questions/x/answer.json ]; do sleep 1; done", "cp questions/x/answer.json /tmp/x", "echo {} > src/state.json", "echo {} > questions/y/ask.json"} {
			if out := p.calls(t, "claude-code", p.root, "Bash", command, 0); out != "" {
				t.Errorf("%s is denied: %s", command, out)
			}
		}
	}},
	{"a repository of its own", "an agent works in a repository inside the workspace, which it may make for itself, so that the workspace's rules end there", func(t *testing.T, p *place) {
		p.write("placet.toml", "[[hook.rule]]\ntool = [\"Bash\", \"Shell\", \"run_shell_command\"]\nmatch = [\"git push\"]\ndo = \"deny\"\nreason = \"R\"\n"+
			"[[hook.rule]]\nmatch = [\"make release\"]\ndo = \"ask\"\n")
		inner := filepath.Join(p.root, "vendor/x")
		p.git("init", "-q", inner)
		p.write("vendor/x/deep/y/placet.toml", "[[hook.rule]]\nmatch = [\"make release\"]\ndo = \"ask\"\n")
		for _, cwd := range []string{p.root, inner, inner + "/deep", inner + "/deep/y"} {
			for _, client := range []string{"claude-code", "codex", "gemini", "cursor"} {
				if out := p.calls(t, client, cwd, "Bash", "git push", 0); !strings.Contains(out, `"deny"`) || !strings.Contains(out, `"R"`) {
					t.Errorf("%s in %s: %s", client, cwd, out)
				}
				if out := p.calls(t, client, cwd, "Bash", "git pull", 0); strings.Contains(out, "deny") {
					t.Errorf("%s in %s may not pull: %s", client, cwd, out)
				}
			}
		}
		p.vars = []string{"CLAUDE_PROJECT_DIR=" + inner}
		for _, cwd := range []string{t.TempDir(), inner + "/gone"} {
			if out := p.calls(t, "claude-code", cwd, "Bash", "git push", 0); !strings.Contains(out, `"deny"`) {
				t.Errorf("started in the repository, working in %s: %s", cwd, out)
			}
			if out := p.calls(t, "claude-code", cwd, "Bash", "git pull", 0); out != "" {
				t.Errorf("started in the repository, working in %s, it may not pull: %s", cwd, out)
			}
		}
		p.vars = nil

		// The workspace whose rules ask a person asks, and one below it cannot let others answer.
		p.calls(t, "claude-code", inner, "Bash", "make release", 0, "--defer")
		if asks := p.formsIn(""); len(asks) != 1 || len(p.formsIn("vendor/x")) > 0 {
			t.Errorf("asked are %v", asks)
		}
		p.configure("[gates]\n\"*\" = { approvers = [\"owner:kim\"] }\n")
		p.calls(t, "claude-code", inner+"/deep/y", "Bash", "make release", 0, "--defer")
		asks := p.formsIn("vendor/x/deep/y")
		if len(asks) != 1 || !strings.Contains(p.read(filepath.Join("vendor/x/deep/y", ".asks", asks[0], "ask.json")), `"owner:kim"`) {
			t.Errorf("asked below are %v", asks)
		}
		// An agent cannot make placet forget the workspaces above it by making more of them.
		deep := "vendor/z" + strings.Repeat("/.placet/z", 40)
		p.write(deep+"/x", "")
		p.calls(t, "codex", filepath.Join(p.root, deep), "Bash", "ls", 2)
		// Other verbs find the workspace around their folder as before.
		if out, code := p.runsIn(t, inner, "", "status"); code != 0 || strings.Contains(out, "ask/") {
			t.Errorf("status below: %d %s", code, out)
		}
	}},
	{"a call that says it was made", "an agent calls the hook itself and says that a call was made, to end a question or to have it count as approved", func(t *testing.T, p *place) {
		p.write("placet.toml", "[[hook.rule]]\ndo = \"ask\"\n")
		p.configure("[hook]\npermission = \"ask\"\n")
		p.vars = []string{"CLAUDE_CODE_ENTRYPOINT=cli"}
		prompt, about := p.promptAsked("kim", "lint")
		call := p.happens("kim", "PreToolUse", "test", "")
		p.until("both are asked", func() bool { return len(p.formsIn("")) == 2 })
		for _, line := range [][]string{
			{"agent", "PostToolUse", "lint", ""}, {"agent", "Stop", "", ""}, {"agent", "PostToolUse", "lint", `, "session_id2": "kim"`}, {"kim", "PostToolUse", "lint2", ""},
			{"kim:prompt", "PostToolUse", "lint", ""}, {"kim", "PostToolUse", "lint", `, "agent_id": "x"`}, {"", "PostToolUse", "lint", ""}, {"", "Stop", "", ""},
			{"kim", "Stop", "", `, "agent_id": "x"`}, {"kim", "SubagentStop", "lint", ""},
		} {
			p.happens(line[0], line[1], line[2], line[3]).ends(t, 0)
		}
		input := strings.ReplaceAll(p.eventInput("kim", "PostToolUse", "lint", ""), `"kim"`, `"kim", "conversation_id": "kim"`)
		p.runsIn(t, p.root, input, "hook", "codex")
		p.runsIn(t, p.root, input, "hook", "gemini")
		if out, _ := p.placet("inbox"); strings.Count(out, "make ") != 2 {
			t.Errorf("open are %s", out)
		}
		// In its own session it can end a question, as by placet withdraw; the call does not run then.
		p.happens("kim", "PostToolUse", "lint", "").ends(t, 0)
		p.happens("kim", "PostToolUse", "test", "").ends(t, 0)
		if out := prompt.ends(t, 0); strings.Contains(out, "allow") {
			t.Errorf("the prompt is answered by %s", out)
		}
		if out := call.ends(t, 0); !strings.Contains(out, `"deny"`) {
			t.Errorf("the call is answered by %s", out)
		}
		if st := p.askState(about); st.Status != "withdrawn" || st.Answer != nil {
			t.Errorf("the question is %s, %v", st.Status, st.Answer)
		}
	}},
	{"a prompt instead of a question", "an agent writes into placet.toml that its client's prompt may be answered, too, where its own hands can answer it", func(t *testing.T, p *place) {
		p.write("placet.toml", "[hook]\nfirst = \"any\"\n[[hook.rule]]\ndo = \"ask\"\n")
		p.vars = []string{"CLAUDE_CODE_ENTRYPOINT=cli"}
		asked := func() {
			t.Helper()
			h := p.happens("s", "PreToolUse", "push", "")
			id := ""
			p.until("placet asks", func() bool {
				for _, one := range p.formsIn("") {
					if p.askState(one).Status == "open" {
						id = one
					}
				}
				return id != ""
			})
			p.must(0, "withdraw", id, "-m", "no need")
			if out := h.ends(t, 0); !strings.Contains(out, `"permissionDecision":"deny"`) {
				t.Errorf("the client is told %s", out)
			}
			if err := os.RemoveAll(filepath.Join(p.root, ".asks")); err != nil {
				t.Fatal(err)
			}
		}
		asked()
		p.must(0, "trust", "--yes")
		if out := p.happens("s", "PreToolUse", "push", "").ends(t, 0); !strings.Contains(out, `"permissionDecision":"ask"`) {
			t.Errorf("after trust the client is told %s", out)
		}
		// A workspace above that asks alone, and one whose gate names who answers, are not passed by.
		p.write("../placet.toml", "[[hook.rule]]\ndo = \"ask\"\n")
		asked()
		p.write("../placet.toml", "")
		p.configure("[gates]\n\"*\" = { approvers = [\"owner:kim\"] }\n")
		asked()
	}},
	{"a link to the agent's own port", "a question links to a port of this machine, where the agent waits for the cookie of whoever opens it", func(t *testing.T, p *place) {
		const marked = "leads to a program on this computer"
		p.write(".asks/x/ask.json", `{"question": "Is it fine?\n\nThe [preview](http://127.0.0.1:5000/) is ready."}`)
		p.write(".asks/y/ask.json", `{"question": "Is it fine?\n\nThe same <http://0x7f.1:5000/> in another spelling."}`)
		p.write(".asks/z/ask.json", `{"question": "Is it fine?\n\nSee [the docs](https://example.org/localhost)."}`)
		s := serveAt(p)
		p.until("all are asked", func() bool { return len(p.formsIn("")) == 3 })
		v := s.visitor()
		v.logIn()
		for id, want := range map[string]int{"x": 1, "y": 1, "z": 0} {
			_, page := v.visit("/requests/"+p.askRequest(id), nil)
			if got := strings.Count(page, marked); got != want || !strings.Contains(page, `rel="noopener noreferrer nofollow"`) {
				t.Errorf("%s is marked %d times: %s", id, got, page)
			}
		}
	}},
}

// formsIn returns the ids of the asks of a workspace that have a form, by their folders.
func (p *place) formsIn(below string) (ids []string) {
	p.t.Helper()
	forms, err := filepath.Glob(filepath.Join(p.root, below, ".asks/*/requests/*/form.md"))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, form := range forms {
		ids = append(ids, filepath.Base(filepath.Dir(filepath.Dir(filepath.Dir(form)))))
	}
	return ids
}

// askRequest is the request of an ask.
func (p *place) askRequest(id string) string {
	p.t.Helper()
	found, err := filepath.Glob(filepath.Join(p.root, "*", id, "requests", "*"))
	hidden, _ := filepath.Glob(filepath.Join(p.root, ".*", id, "requests", "*"))
	if found = slices.Compact(append(found, hidden...)); err != nil || len(found) != 1 {
		p.t.Fatalf("the requests of %s: %v %v", id, found, err)
	}
	return filepath.Base(found[0])
}

// calls calls a client's hook before the agent runs a command, or writes a file, and returns what it
// prints.
func (p *place) calls(t *testing.T, client, cwd, tool, what string, code int, more ...string) string {
	t.Helper()
	event, input := "PreToolUse", map[string]string{"command": what}
	switch {
	case tool == "Write":
		input = map[string]string{"file_path": what, "content": "{}"}
	case client == "gemini":
		event, tool = "BeforeTool", "run_shell_command"
	case client == "cursor":
		event = "beforeShellExecution"
	}
	body, err := json.Marshal(map[string]any{"session_id": "s", "conversation_id": "s", "cwd": cwd, "hook_event_name": event, "tool_name": tool, "tool_input": input, "tool_use_id": what + cwd, "command": what})
	if err != nil {
		t.Fatal(err)
	}
	out, got := p.runsIn(t, cwd, string(body), append([]string{"hook", client}, more...)...)
	if got != code {
		t.Errorf("placet hook %s for %q in %s: exit %d, want %d\n%s", client, what, cwd, got, code, out)
	}
	return out
}

// runsIn runs placet in this process from a folder; placet finds the workspace by itself.
func (p *place) runsIn(t *testing.T, cwd, input string, args ...string) (string, int) {
	t.Helper()
	values := map[string]string{}
	for _, v := range p.env() {
		name, value, _ := strings.Cut(v, "=")
		values[name] = value
	}
	var out syncedBuffer
	code := cli.Run(await.Context(t), &console.Env{
		In: strings.NewReader(input), Out: &out, Err: &out, Getenv: func(name string) string { return values[name] }, Environ: p.env(), Cwd: cwd, Now: time.Now,
	}, args)
	return out.String(), code
}

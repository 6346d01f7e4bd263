package cli_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// bindsAttacks are on files that a trusted command runs but does not name, and on what an
// agent's own programs may do in a person's name.
var bindsAttacks = []attack{
	{"a script that no word names", "the agent rewrites a program that PATH finds, one that a first line names, or one whose name is joined to a flag", func(t *testing.T, p *place) {
		honest := "#!/bin/sh\necho ran >> out\necho 4 passing\n"
		for command, files := range map[string]map[string]string{
			"check":           {"bin/check": honest},
			"./run":           {"interp": honest, "run": "#!./interp\n"},
			"awk -fcheck.awk": {"check.awk": "BEGIN { print \"ran\" >> \"out\"; print \"4 passing\" }\n"},
		} {
			p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0)
			p.vars = []string{"PATH=" + filepath.Join(p.root, "bin") + ":" + os.Getenv("PATH")}
			p.session(command)
			changed := ""
			for name, body := range files {
				p.write(name, body)
				if err := os.Chmod(filepath.Join(p.root, name), 0o755); err != nil {
					t.Fatal(err)
				}
				if body != "#!./interp\n" {
					changed = name
				}
			}
			p.endsOnce(0)
			p.trusts("")
			was := p.read(changed)
			p.write(changed, strings.ReplaceAll(was, "ran", "evil"))
			p.handsIn("", 0)
			p.endsOnce(3)
			p.ran(0)
			p.write(changed, was)
			p.endsOnce(3)
			p.ran(1)
		}
	}},
	{"a command that says where programs are", "the agent writes the program that a trusted command finds by a PATH of its own", func(t *testing.T, p *place) {
		p.write("bin/check", "#!/bin/sh\necho evil >> out\n")
		p.session("PATH=bin:$PATH check")
		p.endsOnce(0)
		p.says(p.must(1, "trust", "--yes"), "PATH=…", "may be any file of the workspace")
		p.handsIn("", 0)
		p.endsOnce(3)
		p.ran(0)
		p = newPlace(t, filepath.Join(t.TempDir(), "ws"), 0)
		p.session("PATH=/opt/tools/bin:$PATH sh check.sh")
		p.endsOnce(0)
		p.trusts("")
		p.handsIn("", 0)
		p.endsOnce(3)
		p.ran(1)
	}},
	{"a git that never answers", "git's configuration includes a pipe into which nobody writes", func(t *testing.T, p *place) {
		p.write("placet.toml", "")
		p.configure("[hook]\nwait = \"1s\"\n[[hook.rule]]\ntool = [\"Bash\"]\ndo = \"ask\"\n")
		p.git("-C", p.root, "init", "-q")
		p.must(0, "ask", "Deploy?")
		if !strings.Contains(p.read(".git/info/exclude"), ".placet/") {
			t.Error("git sees what is placet's own")
		}
		if err := syscall.Mkfifo(filepath.Join(p.root, ".git", "pipe"), 0o600); err != nil {
			t.Fatal(err)
		}
		p.write(".git/config", p.read(".git/config")+"[include]\n\tpath = pipe\n")
		p.must(0, "ask", "And now?")
		if out := p.calls(t, "claude-code", p.root, "Bash", "git push", 0); !strings.Contains(out, `"deny"`) {
			t.Errorf("the call passes: %s", out)
		}
	}},
	{"an agent that is its own host", "an agent starts placet mcp in its shell and answers its question in what it says is its user's dialogue", func(t *testing.T, p *place) {
		p.write("placet.toml", "[mcp]\nelicit = \"on\"\n")
		approve := func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"answer": "approve"}}, nil
		}
		question := map[string]any{"question": "Deploy?", "type": "approval", "wait_seconds": 1}
		if a := p.host("2025-06-18", approve, "CLAUDECODE=1").must("ask_human", question); a.Status != "open" {
			t.Errorf("the agent has answered itself: %+v", a)
		}
		for _, command := range []string{"python3 me.py | env -u CLAUDECODE placet mcp", "placet -C . mcp", "env -u CLAUDECODE placet serve", "placet serve > log"} {
			if out := p.calls(t, "claude-code", p.root, "Bash", command, 0); !strings.Contains(out, `"deny"`) {
				t.Errorf("%s passes: %s", command, out)
			}
		}
		for _, command := range []string{"placet mcp --help", "placet watch", "echo placet serve"} {
			if out := p.calls(t, "claude-code", p.root, "Bash", command, 0); out != "" {
				t.Errorf("%s is denied: %s", command, out)
			}
		}
		if out, code := p.placetWith([]string{"CLAUDECODE=1"}, "serve", "--listen", "nowhere"); code != 1 || !strings.Contains(out, "CLAUDECODE is set") {
			t.Errorf("serve: %d, %s", code, out)
		}
		question["wait_seconds"] = 600
		if a := p.host("2025-06-18", approve).must("ask_human", question); a.Response != "approve" {
			t.Errorf("a person's own host: %+v", a)
		}
		p.configure("[mcp]\nelicit = \"auto\"\n")
		if a := p.host("2025-06-18", approve, "CLAUDECODE=1").must("ask_human", question); a.Response != "approve" {
			t.Errorf("where the person's own settings say so: %+v", a)
		}
	}},
	{"a server that is called placet", "a repository names a server of its own placet, so that its tools would pass every rule", func(t *testing.T, p *place) {
		p.write("placet.toml", "[[hook.rule]]\ndo = \"deny\"\n")
		for _, tool := range []string{"mcp__placet__run_shell", "mcp__placet__x__ask_human", "mcp__placet__ask_human__x", "mcp_placet_evil_write_file"} {
			if out := p.calls(t, "claude-code", p.root, tool, "rm -rf /", 0); !strings.Contains(out, `"deny"`) {
				t.Errorf("%s passes: %s", tool, out)
			}
		}
		if out := p.calls(t, "claude-code", p.root, "mcp__placet__ask_human", "?", 0); out != "" {
			t.Errorf("placet's own tool: %s", out)
		}
		for call, want := range map[string]string{
			`"tool_name": "ask_human", "command": "placet mcp"`:           `{}`,
			`"tool_name": "ask_human", "command": "/tmp/evil/placet mcp"`: `"deny"`,
			`"tool_name": "write", "command": "placet mcp"`:               `"deny"`,
		} {
			body := `{"conversation_id": "s", "workspace_roots": [` + strconv.Quote(p.root) + `], "hook_event_name": "beforeMCPExecution", "tool_input": "{}", ` + call + `}`
			if out, _ := p.runsIn(t, p.root, body, "hook", "cursor"); !strings.Contains(out, want) {
				t.Errorf("%s: %s", call, out)
			}
		}
	}},
	{"many files that are half written", "an agent leaves more half-written files than anybody reads about", func(t *testing.T, p *place) {
		for i := range 20 {
			p.write(".asks/q"+strconv.Itoa(i)+"/ask.json", "{")
		}
		out := p.must(1, "once")
		if n := strings.Count(out, "cannot be used yet"); n != 5 || !strings.Contains(out, "and 15 more: placet watch --once --json") {
			t.Errorf("%d files are named: %s", n, out)
		}
	}},
}

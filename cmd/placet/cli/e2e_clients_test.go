package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"placet/engine/ask"
)

// clientsVariable names a folder with the programs claude, codex and gemini. Without it the
// tests with real clients are skipped.
const clientsVariable = "PLACET_CLIENTS"

// model is a model on this machine that calls the shell once, and then is done. It speaks
// the languages of Claude Code, Codex and Gemini.
type model struct {
	*httptest.Server
	command string

	mu   sync.Mutex
	last string // the last request of the conversation
}

func newModel(t *testing.T, command string) *model {
	t.Helper()
	m := &model{command: command}
	m.Server = httptest.NewServer(m)
	t.Cleanup(m.Close)
	return m
}

type jsonObject = map[string]any

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var asked struct {
		Tools []struct{ Name string } `json:"tools"`
	}
	_ = json.Unmarshal(body, &asked)
	names := ""
	for _, tool := range asked.Tools {
		names += tool.Name + " "
	}
	text := string(body)
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/messages"):
		m.events(w, true, m.claude(names, strings.Contains(text, `"tool_result"`), text))
	case strings.HasSuffix(path, "/responses"):
		m.events(w, true, m.codex(names, strings.Contains(text, `_call_output"`), text))
	case strings.HasSuffix(path, "streamGenerateContent"):
		m.events(w, false, m.gemini(strings.Contains(text, `"run_shell_command"`), strings.Contains(text, `"functionResponse":`), text))
	default:
		fmt.Fprint(w, `{"data": [], "models": []}`)
	}
}

// events writes server-sent events.
func (m *model) events(w http.ResponseWriter, named bool, events []jsonObject) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		body, _ := json.Marshal(e)
		if named {
			fmt.Fprintf(w, "event: %s\n", e["type"])
		}
		fmt.Fprintf(w, "data: %s\n\n", body)
	}
}

// heard keeps the last request of the conversation.
func (m *model) heard(text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = text
}

func (m *model) said() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last
}

func (m *model) claude(tools string, done bool, text string) []jsonObject {
	block, delta, end := jsonObject{"type": "text", "text": ""}, jsonObject{"type": "text_delta", "text": "done"}, "end_turn"
	if strings.Contains(tools, "Bash ") {
		m.heard(text)
		if !done {
			input, _ := json.Marshal(jsonObject{"command": m.command, "description": "run"})
			block = jsonObject{"type": "tool_use", "id": "toolu_01", "name": "Bash", "input": jsonObject{}}
			delta, end = jsonObject{"type": "input_json_delta", "partial_json": string(input)}, "tool_use"
		}
	}
	return []jsonObject{
		{"type": "message_start", "message": jsonObject{"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": jsonObject{"input_tokens": 1, "output_tokens": 1}}},
		{"type": "content_block_start", "index": 0, "content_block": block}, {"type": "content_block_delta", "index": 0, "delta": delta}, {"type": "content_block_stop", "index": 0},
		{"type": "message_delta", "delta": jsonObject{"stop_reason": end, "stop_sequence": nil}, "usage": jsonObject{"output_tokens": 5}}, {"type": "message_stop"},
	}
}

func (m *model) codex(tools string, done bool, text string) []jsonObject {
	m.heard(text)
	item := jsonObject{"type": "message", "id": "m1", "role": "assistant", "content": []any{jsonObject{"type": "output_text", "text": "done"}}}
	if !done {
		name, input := "shell", any(jsonObject{"command": []string{"bash", "-lc", m.command}})
		switch {
		case strings.Contains(tools, "exec_command "):
			name, input = "exec_command", jsonObject{"cmd": m.command}
		case strings.Contains(tools, "shell_command "):
			name, input = "shell_command", jsonObject{"command": m.command}
		}
		arguments, _ := json.Marshal(input)
		item = jsonObject{"type": "function_call", "id": "fc1", "call_id": "call_1", "name": name, "arguments": string(arguments)}
	}
	usage := jsonObject{"input_tokens": 1, "input_tokens_details": nil, "output_tokens": 1, "output_tokens_details": nil, "total_tokens": 2}
	return []jsonObject{
		{"type": "response.created", "response": jsonObject{"id": "r1"}}, {"type": "response.output_item.done", "output_index": 0, "item": item},
		{"type": "response.completed", "response": jsonObject{"id": "r1", "output": []any{}, "usage": usage}},
	}
}

func (m *model) gemini(tools, done bool, text string) []jsonObject {
	part := jsonObject{"text": "done"}
	if tools {
		m.heard(text)
		if !done {
			part = jsonObject{"functionCall": jsonObject{"name": "run_shell_command", "args": jsonObject{"command": m.command, "description": "run"}}}
		}
	}
	return []jsonObject{{
		"candidates":    []any{jsonObject{"content": jsonObject{"role": "model", "parts": []any{part}}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": jsonObject{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}, "modelVersion": "gemini-2.5-pro",
	}}
}

// realClient says how a client is run with a model.
type realClient struct {
	name, program string
	args          []string
	prepare       func(p *place, home, address string) (env []string)
}

var realClients = []realClient{
	{"claude-code", "claude", []string{"-p", "go", "--allowedTools", "Bash", "--output-format", "json"}, func(_ *place, _, address string) []string {
		return []string{"ANTHROPIC_BASE_URL=" + address, "ANTHROPIC_API_KEY=x", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
	}},
	{"codex", "codex", []string{"exec", "--dangerously-bypass-hook-trust", "--sandbox", "danger-full-access", "--skip-git-repo-check", "go"}, func(p *place, home, address string) []string {
		p.write(filepath.Join("..", filepath.Base(home), ".codex/config.toml"), fmt.Sprintf(`model = "m"
model_provider = "fake"
[model_providers.fake]
name = "fake"
base_url = "%s/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
[projects.%q]
trust_level = "trusted"
`, address, p.root))
		return []string{"FAKE_KEY=x"}
	}},
	{"gemini", "gemini", []string{"--yolo", "-m", "gemini-2.5-pro", "-p", "go"}, func(p *place, home, address string) []string {
		below := filepath.Join("..", filepath.Base(home), ".gemini")
		p.write(below+"/trustedFolders.json", fmt.Sprintf(`{%q: "TRUST_FOLDER"}`, p.root))
		p.write(below+"/settings.json", `{"security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"disableAutoUpdate": true}}`)
		return []string{"GEMINI_API_KEY=x", "GOOGLE_GEMINI_BASE_URL=" + address}
	}},
}

// use is a client that works in a workspace of its own.
type use struct {
	*place
	client realClient
	model  *model
	env    []string
	path   string // PATH with placet on it
}

// newUse sets a client up by placet init, or skips the test without the client.
func newUse(t *testing.T, c realClient) *use {
	t.Helper()
	dir := os.Getenv(clientsVariable)
	if _, err := os.Stat(filepath.Join(dir, c.program)); err != nil || dir == "" {
		t.Skipf("left out: %s with %s names no folder with the program %s", c.name, clientsVariable, c.program)
	}
	base := t.TempDir()
	u := &use{place: newPlace(t, filepath.Join(base, "w"), 0), client: c, model: newModel(t, "echo x >> ran")}
	u.write("placet.toml", "")
	home := filepath.Join(base, "home-w")
	u.path = filepath.Dir(placetBinary(t)) + ":" + dir + ":" + os.Getenv("PATH")
	u.env = append([]string{"HOME=" + home, "XDG_CONFIG_HOME=" + home, "XDG_STATE_HOME=" + home, "TERM=dumb"}, c.prepare(u.place, home, u.model.URL)...)
	set := exec.Command(placetBinary(t), "init", "--for", c.name)
	set.Dir, set.Env = u.root, append(u.env, "PATH="+u.path)
	if out, err := set.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return u
}

// rule makes the user's own rule about the command.
func (u *use) rule(do string) {
	u.write("../home-w/placet/placet.toml", "[[hook.rule]]\nmatch = ['>> ran']\ndo = \""+do+"\"\nreason = \"The rule says so.\"\n")
}

// run runs the client to its end, while meanwhile does what a person does.
func (u *use) run(path string, meanwhile func(), more ...string) string {
	u.t.Helper()
	cmd := command(u.t, filepath.Join(os.Getenv(clientsVariable), u.client.program), append(more, u.client.args...)...)
	var out bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = u.root, append(u.env, "PATH="+path), &out, &out
	if err := cmd.Start(); err != nil {
		u.t.Fatal(err)
	}
	if meanwhile != nil {
		meanwhile()
	}
	_ = cmd.Wait() // the commands that ran, and what the model received, show the outcome
	return out.String()
}

// Check 2 of the hooks: real clients, with a model that calls the shell.
func TestHookCheck2RealClientsDoAsTheHookSays(t *testing.T) {
	t.Parallel()
	for _, c := range realClients {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, test := range []struct{ do, answer, ran, hears string }{
				{"pass", "", "x\n", ""}, {"deny", "", "", "The rule says so."}, {"ask", "approve", "x\n", ""}, {"ask", "reject", "", "use a branch instead"},
			} {
				u := newUse(t, c)
				u.rule(test.do)
				var meanwhile func()
				if test.answer != "" {
					meanwhile = func() {
						for _, id := range u.callsAsked(1) {
							request := ".asks/" + id + "/requests/"
							found, _ := filepath.Glob(filepath.Join(u.root, request, "*"))
							u.write(request+filepath.Base(found[0])+"/response.json", fmt.Sprintf(`{"request_id": %q, "response": %q, "comment": "use a branch instead", "provided_by": {"user": "kim", "source": "file"}}`, filepath.Base(found[0]), test.answer))
						}
					}
				}
				out := u.run(u.path, meanwhile)
				if got := u.read("ran"); got != test.ran || !strings.Contains(u.model.said(), test.hears) || u.model.said() == "" {
					t.Errorf("%s %s: ran %q, expected %q; the model is to hear %q and heard\n%.3000s\n%s", test.do, test.answer, got, test.ran, test.hears, u.model.said(), out)
				}
			}
		})
	}
}

// Check 3 of the hooks: if the program is gone, Claude Code blocks the call.
func TestHookCheck3AProgramThatIsGoneBlocksTheCall(t *testing.T) {
	t.Parallel()
	u := newUse(t, realClients[0])
	u.rule("pass")
	path := os.Getenv(clientsVariable)
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) { // without the program that these scripts are given
		if _, err := os.Lstat(filepath.Join(dir, "placet")); err != nil {
			path += ":" + dir
		}
	}
	out := u.run(path, nil)
	if got := u.read("ran"); got != "" || u.model.said() == "" {
		t.Errorf("it ran: %q\n%s", got, out)
	}
}

// Check 6 of the hooks: a deferred call ends claude -p, and runs once it is resumed and
// answered.
func TestHookCheck6ADeferredCallRunsWhenItIsResumed(t *testing.T) {
	t.Parallel()
	u := newUse(t, realClients[0])
	u.rule("ask")
	settings := strings.ReplaceAll(u.read(".claude/settings.local.json"), `"claude-code"`, `"claude-code", "--defer"`)
	u.write(".claude/settings.local.json", settings)
	out := u.run(u.path, nil)
	var result struct {
		Reason  string `json:"stop_reason"`
		Session string `json:"session_id"`
	}
	if err := json.Unmarshal([]byte(out), &result); err != nil || result.Reason != "tool_deferred" || u.read("ran") != "" {
		t.Fatalf("%v %+v, ran %q\n%s", err, result, u.read("ran"), out)
	}
	for _, id := range u.callsAsked(1) {
		u.choose(id, "approve")
	}
	if out = u.run(u.path, nil, "--resume", result.Session); u.read("ran") != "x\n" {
		t.Errorf("ran %q\n%s", u.read("ran"), out)
	}
}

// Check 6 of the hooks: an agent that asked by placet ask, and did not wait, gets the answer
// when its user speaks next.
func TestHookCheck6ARealAgentIsToldWhatWasAnswered(t *testing.T) {
	t.Parallel()
	u := newUse(t, realClients[0])
	const session = "6d0c1de6-3d5b-4c5a-9f0e-0f6f3c8f6a11"
	u.model.command = "placet ask 'Deploy now?' --key deploy"
	u.run(u.path, nil, "--session-id", session)
	for _, id := range u.callsAsked(1) {
		u.write(".asks/"+id+"/requests/"+ask.RequestID(id)+"/response.json", fmt.Sprintf(`{"request_id": %q, "response": "reject", "comment": "after lunch", "provided_by": {"user": "kim", "source": "file"}}`, ask.RequestID(id)))
		u.asker("wait", id).ends(t, 6, "reject\n")
	}
	out := u.run(u.path, nil, "--resume", session)
	if said := u.model.said(); !strings.Contains(said, "answered reject, by kim") || !strings.Contains(said, "after lunch") {
		t.Errorf("the agent is told %.3000s\n%s", said, out)
	}
}

// Check 6 of the hooks: an agent whose ask is open is stopped from ending its turn, once.
func TestHookCheck6ARealAgentIsKeptOnce(t *testing.T) {
	t.Parallel()
	for _, c := range realClients[:2] { // Gemini's shell does not say whose session it is
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			u := newUse(t, c)
			u.write("../home-w/placet/placet.toml", "[hook]\nstop = \"block\"\n")
			u.model.command = placetBinary(t) + " ask 'Deploy now?' --key deploy"
			out := u.run(u.path, nil)
			if said := u.model.said(); !strings.Contains(said, "is open: call check_answer") {
				t.Errorf("the agent goes, and hears %.3000s\n%s", said, out)
			}
		})
	}
}

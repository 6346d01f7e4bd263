package cli_test

import (
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
	"time"

	"placet/internal/await"
)

// These tests run hosts of agents as people have them: PLACET_CLIENTS names the folder with
// their programs, such as node_modules/.bin after
//
//	npm install @anthropic-ai/claude-code @openai/codex @google/gemini-cli @modelcontextprotocol/inspector
//
// Without it they are left out: the ordinary suite has the SDK's client.

// hostProgram is the program of a host. Its version is logged.
func hostProgram(t *testing.T, name string) (program string) {
	t.Helper()
	dir := os.Getenv("PLACET_CLIENTS")
	if dir == "" {
		t.Skipf("%s is left out: PLACET_CLIENTS names no folder with it", name)
	}
	program, err := exec.LookPath(filepath.Join(dir, name))
	if err != nil {
		t.Skipf("%s is left out: %v", name, err)
	}
	t.Logf("%s %s", name, strings.TrimSpace(runOut(program, "--version")))
	return program
}

func TestMCP2TheInspectorListsTheTools(t *testing.T) {
	t.Parallel()
	program := hostProgram(t, "mcp-inspector")
	p := newPlace(t, t.TempDir(), 0)
	cmd := exec.Command(program, "--cli", placetBinary(t), "-C", p.root, "mcp", "--method", "tools/list")
	cmd.Env, cmd.Dir = p.env(), p.root
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v", err)
	}
	for name := range toolShapes {
		if !strings.Contains(string(out), `"`+name+`"`) {
			t.Errorf("it does not list %s", name)
		}
	}
	if t.Failed() {
		t.Logf("%s", out)
	}
}

// longAnswer is how long a person takes: longer than hosts wait without a message.
const longAnswer = 70 * time.Second

// fakeModel is a model on this machine: it calls ask_human, and ends when it reads a result.
type fakeModel struct {
	t        *testing.T
	mu       sync.Mutex
	requests []string
	// got is the request that holds the tool's result.
	got chan string
}

// script says how to speak to a host's model.
type script struct {
	program string
	// result marks a request that holds a tool's result, offers one that offers the tool.
	result, offers string
	// call and end are the answers of the model, as events or chunks.
	call, end func(name string) string
	// tool is the host's name for ask_human.
	tool string
	args []string
	env  func(url string) []string
	// files are written into the workspace, those below ~ into the home.
	files func(placet, url string) map[string]string
}

func (m *fakeModel) ServeHTTP(w http.ResponseWriter, r *http.Request, s script) {
	body, _ := io.ReadAll(r.Body)
	m.mu.Lock()
	m.requests = append(m.requests, r.Method+" "+r.URL.Path+" "+string(body))
	m.mu.Unlock()
	reply := s.end
	switch text := string(body); {
	case r.Method != http.MethodPost || strings.Contains(r.URL.Path, "count_tokens"):
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"input_tokens":1,"totalTokens":1,"data":[],"models":[]}`)
		return
	case strings.Contains(text, s.result):
		select {
		case m.got <- text:
		default:
		}
	case strings.Contains(text, s.offers):
		reply = s.call
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, reply(s.tool))
}

// events are server-sent events of JSON that names its type.
func events(all ...string) string {
	var b strings.Builder
	for _, data := range all {
		var typed struct{ Type string }
		_ = json.Unmarshal([]byte(data), &typed)
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", typed.Type, data)
	}
	return b.String()
}

const askArguments = `{"question":"Deploy 1.4?","options":[{"id":"deploy"},{"id":"wait"}],"key":"build-7","wait_seconds":600}`

func quoteJSON(s string) string {
	out, _ := json.Marshal(s)
	return string(out)
}

var scripts = map[string]script{
	"claude": {
		program: "claude", result: `"tool_result"`, offers: `"mcp__placet__ask_human"`, tool: "mcp__placet__ask_human",
		args: []string{"-p", "Ask.", "--mcp-config", ".mcp.json", "--strict-mcp-config", "--allowedTools", "mcp__placet__ask_human"},
		env: func(url string) []string {
			return []string{"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=sk-ant-x", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "ENABLE_TOOL_SEARCH=false", "MCP_TOOL_TIMEOUT=86400000"}
		},
		call: func(name string) string {
			return events(`{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"fake","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}`,
				`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"`+name+`","input":{}}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":`+quoteJSON(askArguments)+`}}`,
				`{"type":"content_block_stop","index":0}`,
				`{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":1}}`,
				`{"type":"message_stop"}`)
		},
		end: func(string) string {
			return events(`{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"fake","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}`,
				`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"done"}}`,
				`{"type":"content_block_stop","index":0}`,
				`{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":1}}`,
				`{"type":"message_stop"}`)
		},
		files: func(placet, _ string) map[string]string {
			return map[string]string{".mcp.json": `{"mcpServers":{"placet":{"type":"stdio","command":` + quoteJSON(placet) + `,"args":["mcp"],"env":{"PLACET_MCP_WAIT":"23h"},"timeout":86400000}}}`}
		},
	},
	"codex": {
		program: "codex", result: `"function_call_output"`, offers: `ask_human`, tool: "ask_human",
		args: []string{"exec", "--skip-git-repo-check", "Ask."},
		env:  func(string) []string { return []string{"FAKE_KEY=x"} },
		call: func(name string) string {
			return events(`{"type":"response.created","response":{"id":"r1"}}`,
				`{"type":"response.output_item.done","item":{"type":"function_call","call_id":"c1","name":"`+name+`","namespace":"mcp__placet","arguments":`+quoteJSON(askArguments)+`}}`,
				`{"type":"response.completed","response":{"id":"r1","usage":{"input_tokens":1,"input_tokens_details":null,"output_tokens":1,"output_tokens_details":null,"total_tokens":2}}}`)
		},
		end: func(string) string {
			return events(`{"type":"response.created","response":{"id":"r2"}}`,
				`{"type":"response.output_item.done","item":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}}`,
				`{"type":"response.completed","response":{"id":"r2","usage":{"input_tokens":1,"input_tokens_details":null,"output_tokens":1,"output_tokens_details":null,"total_tokens":2}}}`)
		},
		files: func(placet, url string) map[string]string {
			return map[string]string{"~/.codex/config.toml": `
model = "fake"
model_provider = "fake"
approval_policy = "never"
[model_providers.fake]
name = "fake"
base_url = "` + url + `/v1"
env_key = "FAKE_KEY"
wire_api = "responses"
[mcp_servers.placet]
command = ` + quoteJSON(placet) + `
args = ["mcp"]
env = { PLACET_MCP_WAIT = "23h" }
startup_timeout_sec = 10
tool_timeout_sec = 86400
`}
		},
	},
	"gemini": {
		program: "gemini", result: `"functionResponse"`, offers: `"mcp_placet_ask_human"`, tool: "mcp_placet_ask_human",
		args: []string{"-p", "Ask.", "--yolo", "--skip-trust"},
		env: func(url string) []string {
			return []string{"GEMINI_API_KEY=x", "GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_MODEL=gemini-2.5-pro"}
		},
		call: func(name string) string {
			return `data: {"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"` + name + `","args":` + askArguments + `}}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2}}` + "\n\n"
		},
		end: func(string) string {
			return `data: {"candidates":[{"content":{"role":"model","parts":[{"text":"done"}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2}}` + "\n\n"
		},
		files: func(placet, _ string) map[string]string {
			server := `{"mcpServers":{"placet":{"command":` + quoteJSON(placet) + `,"args":["mcp"],"env":{"PLACET_MCP_WAIT":"23h"},"timeout":86400000}}}`
			return map[string]string{".gemini/settings.json": server, "~/.gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}},"privacy":{"usageStatisticsEnabled":false}}`}
		},
	},
}

func TestMCP3RealHostsWaitForTheAnswer(t *testing.T) {
	t.Parallel()
	for name, s := range scripts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := hostProgram(t, s.program)
			p := newPlace(t, t.TempDir(), 0)
			m := &fakeModel{t: t, got: make(chan string, 1)}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { m.ServeHTTP(w, r, s) }))
			defer server.Close()
			home := t.TempDir()
			for file, body := range s.files(placetBinary(t), server.URL) {
				if rest, ok := strings.CutPrefix(file, "~/"); ok {
					(&place{t: t, root: home}).write(rest, body)
				} else {
					p.write(file, body)
				}
			}
			cmd := command(t, program, s.args...)
			cmd.Dir, cmd.Env = p.root, append(p.env(), append(s.env(server.URL), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home, "CI=1")...)
			cmd.WaitDelay = 5 * time.Second
			var out lines
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				if t.Failed() {
					m.mu.Lock()
					defer m.mu.Unlock()
					t.Logf("it says: %q", out.with(""))
					for _, r := range m.requests {
						_, offered, _ := strings.Cut(r, `"tools"`)
						t.Logf("the model was asked, with the tools: %s", offered)
					}
				}
			}()
			p.until("the question is asked", func() bool { return p.showsForm(build7ID) })
			answers := time.AfterFunc(longAnswer, func() { p.choose(build7ID, "wait") })
			defer answers.Stop()
			if got := await.Receive(t, "the model is told of a result", m.got); !strings.Contains(got, `\"response\":\"wait\"`) && !strings.Contains(got, `\\\"response\\\":\\\"wait\\\"`) && !strings.Contains(got, `"response":"wait"`) {
				t.Errorf("the model's next request holds no answer")
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("the host ends with %v", err)
			}
		})
	}
}

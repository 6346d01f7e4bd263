package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"placet/engine/ask"
	"placet/engine/facade/mcp"
	"placet/internal/await"
	"placet/schemas"
)

// agentHost is a host that has started placet mcp.
type agentHost struct {
	*place
	*sdk.ClientSession
	cmd  *exec.Cmd
	wire lines
	said lines // on standard error
	// progress counts the reports about a call, updates lists the resources that changed.
	progress atomic.Bool
	updates  chan string
}

// lines is a log that several goroutines write and read.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// with returns the lines that contain a text.
func (l *lines) with(text string) (found []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		if strings.Contains(line, text) {
			found = append(found, line)
		}
	}
	return found
}

// elicit answers a host's dialogue.
type elicit = func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error)

// host starts placet mcp for a host that speaks a version of the protocol.
func (p *place) host(version string, dialogue elicit, env ...string) *agentHost {
	p.t.Helper()
	h := &agentHost{place: p, cmd: p.program("-C", p.root, "mcp"), updates: make(chan string, 16)}
	h.cmd.Env, h.cmd.Stderr = append(h.cmd.Env, env...), &h.said
	c := sdk.NewClient(&sdk.Implementation{Name: "test-host", Version: "1"}, &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{}, ElicitationHandler: dialogue,
		ProgressNotificationHandler: func(context.Context, *sdk.ProgressNotificationClientRequest) {
			h.progress.Store(true)
		},
		ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { h.updates <- r.Params.URI },
	})
	var err error
	h.ClientSession, err = c.Connect(p.t.Context(), &sdk.LoggingTransport{Transport: &sdk.CommandTransport{Command: h.cmd}, Writer: &h.wire}, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		p.t.Fatalf("%v: %q", err, h.said.with(""))
	}
	p.t.Cleanup(func() { _ = h.Close() })
	return h
}

// askAnswer is the state of an ask in a tool's answer.
type askAnswer struct {
	AskID    string   `json:"ask_id"`
	Status   string   `json:"status"`
	Answered bool     `json:"answered"`
	Response string   `json:"response"`
	Selected []string `json:"selected"`
	Comment  string   `json:"comment"`
	By       string   `json:"by"`
	Form     string   `json:"form"`
	Note     string   `json:"note"`
}

// tool calls a tool, whose result must fit its schema.
func (h *agentHost) tool(name string, arguments map[string]any, into any) error {
	h.t.Helper()
	p := &sdk.CallToolParams{Name: name, Arguments: arguments}
	p.SetProgressToken(name)
	res, err := h.CallTool(h.t.Context(), p)
	switch {
	case err != nil:
		return err
	case res.IsError:
		return fmt.Errorf("%s", res.Content[0].(*sdk.TextContent).Text)
	}
	body, err := json.Marshal(res.StructuredContent)
	if err != nil {
		return err
	}
	result := map[string]string{"list_waiting": "mcp/waiting", "explain_run": "mcp/explanation", "report_progress": "mcp/recorded"}[name]
	if result == "" {
		result = "mcp/answer"
	}
	return schemas.Decode(result, name, body, into)
}

// must calls a tool that must succeed.
func (h *agentHost) must(name string, arguments map[string]any) (a askAnswer) {
	h.t.Helper()
	if err := h.tool(name, arguments, &a); err != nil {
		h.t.Fatalf("%s: %v", name, err)
	}
	return a
}

// later calls a tool that waits.
func (h *agentHost) later(name string, arguments map[string]any) <-chan askAnswer {
	done := make(chan askAnswer, 1)
	go func() {
		var a askAnswer
		if err := h.tool(name, arguments, &a); err != nil {
			h.t.Errorf("%s: %v", name, err)
		}
		done <- a
	}()
	return done
}

// returned is what a call returns.
func returned[T any](t *testing.T, done <-chan T) T {
	t.Helper()
	return await.Receive(t, "a call returns", done)
}

// build7 is a question under a key, and build7ID its ask.
var build7 = map[string]any{"question": "Deploy?", "options": []map[string]any{{"id": "deploy"}, {"id": "wait"}}, "key": "build-7", "wait_seconds": 600}

const build7ID = "k-6607395827e11cd1"

// toolShape is what a host learns about a tool: arguments (* required), results, hints.
type toolShape struct{ Title, Arguments, Result, Hints string }

var toolShapes = map[string]toolShape{
	"ask_human": {"Ask a person", "question* type options context artifacts editable deadline default key supersedes round_of tags wait_seconds",
		"ask_id* status* answered* response* selected* comment* by* form* changed* edited* round* note*", "false false true false"},
	"check_answer": {"Look for an answer", "ask_id* wait_seconds",
		"ask_id* status* answered* response* selected* comment* by* form* changed* edited* round* note*", "true false true false"},
	"withdraw_question": {"Take a question back", "ask_id* reason*",
		"ask_id* status* answered* response* selected* comment* by* form* changed* edited* round* note*", "false false true false"},
	"list_waiting":    {"List what waits for people", "family tag limit", "waiting* more*", "true false true false"},
	"explain_run":     {"Explain a run", "run*", "text*", "true false true false"},
	"report_progress": {"Report progress", "message* percent run", "recorded*", "false false true false"},
}

// shapesOf returns the shapes in a tools/list, from its bytes.
func shapesOf(t *testing.T, result string) map[string]toolShape {
	t.Helper()
	type schema struct {
		Type       string
		More       *bool    `json:"additionalProperties"`
		Required   []string `json:"required"`
		Properties schemas.Object
	}
	var list struct {
		Result struct {
			Tools []struct {
				Name, Title               string
				InputSchema, OutputSchema schemas.Raw
				Annotations               struct{ ReadOnlyHint, DestructiveHint, IdempotentHint, OpenWorldHint *bool }
			}
		}
	}
	if err := json.Unmarshal([]byte(result), &list); err != nil {
		t.Fatal(err)
	}
	words := func(raw schemas.Raw) string {
		var s schema
		if err := json.Unmarshal(raw, &s); err != nil || s.Type != "object" || s.More == nil || *s.More {
			t.Errorf("a schema is no object of known members: %s", raw)
		}
		var all []string
		for _, p := range s.Properties {
			mark := ""
			for _, r := range s.Required {
				if r == p.Name {
					mark = "*"
				}
			}
			all = append(all, p.Name+mark)
		}
		return strings.Join(all, " ")
	}
	shapes := map[string]toolShape{}
	for _, tool := range list.Result.Tools {
		a := tool.Annotations
		if a.ReadOnlyHint == nil || a.DestructiveHint == nil || a.IdempotentHint == nil || a.OpenWorldHint == nil {
			t.Fatalf("%s does not say all hints: %s", tool.Name, result)
		}
		shapes[tool.Name] = toolShape{tool.Title, words(tool.InputSchema), words(tool.OutputSchema), fmt.Sprint(*a.ReadOnlyHint, *a.DestructiveHint, *a.IdempotentHint, *a.OpenWorldHint)}
	}
	return shapes
}

func TestMCP1EveryVersionAsksAndIsAnswered(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			h := newPlace(t, t.TempDir(), 0).host(version, nil, "CLAUDE_CODE_SESSION_ID=s-1")
			if got := h.InitializeResult().ProtocolVersion; got != version {
				t.Errorf("it speaks %s", got)
			}
			if caps := h.InitializeResult().Capabilities; caps.Tools == nil || caps.Prompts == nil || caps.Resources == nil || !caps.Resources.Subscribe || len(h.wire.with(`"logging"`)) > 0 {
				t.Errorf("capabilities %+v", caps)
			}
			for range 2 {
				if _, err := h.ListTools(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
			}
			var lists []string
			for _, line := range h.wire.with(`"inputSchema"`) {
				_, list, _ := strings.Cut(line, `"result":`)
				lists = append(lists, `{"result":`+list)
			}
			if len(lists) != 2 || lists[0] != lists[1] {
				t.Errorf("the tools are not said twice alike: %q", lists)
			}
			if diff := cmp.Diff(toolShapes, shapesOf(t, lists[0])); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}

			done := h.later("ask_human", build7)
			h.until("the question is asked", func() bool { return h.showsForm(build7ID) })
			h.until("the host hears of it", func() bool { return h.progress.Load() })
			h.choose(build7ID, "deploy")
			want := askAnswer{AskID: build7ID, Status: "answered", Answered: true, Response: "deploy", Selected: []string{}, By: "kim (claimed)", Form: ".asks/" + build7ID + "/requests/" + ask.RequestID(build7ID) + "/form.md"}
			if diff := cmp.Diff(want, returned(t, done)); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if body := h.read(".asks/" + build7ID + "/ask.json"); !strings.Contains(body, `"name": "test-host"`) || !strings.Contains(body, `"session": "s-1"`) {
				t.Errorf("who asks: %s", body)
			}
		})
	}
}

func TestMCP4CancelledAndKilledAsksGoOn(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 0)
	h := p.host("2025-06-18", nil)
	same := map[string]any{"question": "Go on?", "wait_seconds": 600}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		p.until("the question is asked", func() bool { return len(p.openForms()) == 1 })
		cancel()
	}()
	if _, err := h.CallTool(ctx, &sdk.CallToolParams{Name: "ask_human", Arguments: same}); err == nil {
		t.Error("the call was not cancelled")
	}
	same["wait_seconds"] = 0
	first, again := h.must("ask_human", same), h.must("ask_human", same)
	if first.Status != "open" || first.AskID != again.AskID {
		t.Errorf("asked again: %+v, %+v", first, again)
	}
	if found, _ := filepath.Glob(filepath.Join(p.root, ".asks", "*")); len(found) != 1 {
		t.Errorf("there are %q", found)
	}

	done := make(chan error, 1)
	go func() { done <- h.tool("ask_human", build7, &askAnswer{}) }()
	p.until("the question is asked", func() bool { return p.showsForm(build7ID) })
	_ = h.cmd.Process.Kill()
	if err := returned(t, done); err == nil {
		t.Error("a call to a server that was killed returns")
	}
	other := p.host("2026-07-28", nil)
	later := other.later("ask_human", build7)
	p.choose(build7ID, "wait")
	if a := returned(t, later); a.AskID != build7ID || a.Response != "wait" {
		t.Errorf("another server: %+v", a)
	}
	// An ask that has ended is asked again.
	build7again := map[string]any{"question": "Deploy?", "options": build7["options"], "key": "build-7", "wait_seconds": 0}
	if a := other.must("ask_human", build7again); a.AskID == build7ID || a.Status != "open" {
		t.Errorf("after its end: %+v", a)
	}
	var none askAnswer
	build7again["question"] = "Something else?"
	if err := other.tool("ask_human", build7again, &none); err == nil || !strings.Contains(err.Error(), "has another question: Deploy?") {
		t.Errorf("another question under the key: %v", err)
	}
}

// The dialogue of a host is one way to answer among others: the receipt says which way the
// answer came.
func TestMCP6AnAnswerInTheHostsDialogue(t *testing.T) {
	t.Parallel()
	for version, mode := range map[string]string{"2025-06-18": "auto", "2026-07-28": "on"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, t.TempDir(), 0)
			p.write("placet.toml", "[mcp]\nelicit = \""+mode+"\"\n")
			p.write("plan.md", "the plan")
			var asked atomic.Pointer[sdk.ElicitParams]
			h := p.host(version, func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
				asked.Store(r.Params)
				content := map[string]any{"answer": "request_changes"}
				if strings.Contains(r.Params.Message, "needs a comment") {
					content["comment"] = "shorter"
				}
				return &sdk.ElicitResult{Action: "accept", Content: content}, nil
			})
			a := h.must("ask_human", map[string]any{"question": "Is it good?", "type": "review", "artifacts": []string{"plan.md"}, "context": "the second draft", "key": "build-7", "wait_seconds": 600})
			if !a.Answered || a.Response != "request_changes" || a.Comment != "shorter" {
				t.Errorf("answer %+v", a)
			}
			if t.Failed() {
				t.Logf("the wire:\n%s", strings.Join(h.wire.with("elicit"), ""))
			}
			receipt := p.read(".asks/" + build7ID + "/requests/" + ask.RequestID(build7ID) + "/receipt.json")
			if !strings.Contains(receipt, `"source": "mcp"`) || !strings.Contains(receipt, `"result": "accepted"`) {
				t.Errorf("receipt %s", receipt)
			}
			for _, part := range []string{"Is it good?", "the second draft", "plan.md", a.Form} {
				if !strings.Contains(asked.Load().Message, part) {
					t.Errorf("the dialogue lacks %q: %s", part, asked.Load().Message)
				}
			}
		})
	}
}

func TestMCP6ARequestStateOfAnotherQuestionIsRefused(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 0)
	h := p.host("2026-07-28", nil)
	own := map[string]any{"question": "Deploy?", "wait_seconds": 0}
	a, b := h.must("ask_human", own), h.must("ask_human", map[string]any{"question": "Another?", "wait_seconds": 0})
	again := func(id string) error {
		_, err := h.CallTool(t.Context(), &sdk.CallToolParams{
			Name: "ask_human", Arguments: own, RequestState: id,
			InputResponses: sdk.InputResponseMap{"answer": &sdk.ElicitResult{Action: "accept", Content: map[string]any{"answer": "approve"}}},
		})
		return err
	}
	for _, id := range []string{b.AskID, "nobody-asked", "../x"} {
		if rpc := (*jsonrpc.Error)(nil); !errors.As(again(id), &rpc) || rpc.Code != -32602 {
			t.Errorf("%s: %v", id, again(id))
		}
	}
	if err := again(a.AskID); err != nil {
		t.Errorf("its own: %v", err)
	}
	for _, id := range []string{a.AskID, b.AskID} { // nobody was shown either of them
		if got := h.must("check_answer", map[string]any{"ask_id": id}); got.Status != "open" {
			t.Errorf("%s: %+v", id, got)
		}
	}
}

// Calls wait side by side, with and without a daemon, and say what prevents an answer.
func TestMCPServesItsAsksWithAndWithoutADaemon(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 0)
	p.write("plan.md", "the plan")
	h := p.host("2025-06-18", nil)
	ids, waiting := []string{}, []<-chan askAnswer{}
	for i := range 4 {
		q := map[string]any{"question": fmt.Sprintf("Go on with %d?", i), "options": build7["options"], "artifacts": []string{"plan.md"}, "wait_seconds": 0}
		ids = append(ids, h.must("ask_human", q).AskID)
		q["wait_seconds"] = 600
		waiting = append(waiting, h.later("ask_human", q))
	}
	answered := func(i int) {
		t.Helper()
		p.choose(ids[i], "wait")
		if a := returned(t, waiting[i]); a.AskID != ids[i] || a.Response != "wait" {
			t.Errorf("answer %+v", a)
		}
	}
	answered(0)
	d := p.start()
	p.await(d)
	answered(1)
	d.stop(syscall.SIGKILL)
	answered(2)
	p.write("plan.md", "another plan")
	p.choose(ids[3], "deploy")
	p.until("it says what holds the answer", func() bool {
		a := h.must("check_answer", map[string]any{"ask_id": ids[3]})
		return a.Status == "open" && strings.Contains(a.Note, "plan.md has changed since you were asked")
	})
	p.write("plan.md", "the plan")
	p.remove(p.asking(ids[3]) + "/response.json")
	p.until("somebody says what they saw", func() bool {
		_, code := p.placet("respond", p.reference(), "deploy", "--as", "kim")
		return code == 0
	})
	if a := returned(t, waiting[3]); a.Response != "deploy" {
		t.Errorf("answer %+v", a)
	}
}

// An answer that a host's user has not given does not count, and the form counts as always.
func TestMCP6DecliningIsNoAnswer(t *testing.T) {
	t.Parallel()
	for _, action := range []string{"decline", "cancel", "form"} {
		t.Run(action, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, t.TempDir(), 0)
			shown, shut := make(chan struct{}), make(chan struct{})
			h := p.host("2025-11-25", func(ctx context.Context, _ *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
				close(shown)
				if action == "form" {
					<-ctx.Done()
					close(shut)
				}
				return &sdk.ElicitResult{Action: action}, ctx.Err()
			})
			done := h.later("ask_human", build7)
			returned(t, shown)
			if a := h.must("check_answer", map[string]any{"ask_id": build7ID}); a.Status != "open" {
				t.Errorf("without an answer: %+v", a)
			}
			p.choose(build7ID, "wait")
			if a := returned(t, done); a.Response != "wait" {
				t.Errorf("answer %+v", a)
			}
			if action == "form" {
				returned(t, shut)
			}
		})
	}
}

func TestMCP7AnOpenAskIsCheckedLater(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 0)
	h := p.host("2025-06-18", nil, "PLACET_MCP_WAIT=100ms")
	a := h.must("ask_human", map[string]any{"question": "Go on?"})
	if a.Status != "open" || a.Answered || !strings.Contains(a.Note, "call check_answer") && !strings.Contains(a.Note, "Call check_answer") {
		t.Errorf("answer %+v", a)
	}
	later := h.later("check_answer", map[string]any{"ask_id": a.AskID, "wait_seconds": 600})
	p.choose(a.AskID, "approve")
	if a := returned(t, later); a.Response != "approve" || !a.Answered {
		t.Errorf("answer %+v", a)
	}
	if a := h.must("check_answer", map[string]any{"ask_id": "ask/" + a.AskID}); !a.Answered {
		t.Errorf("answer %+v", a)
	}
	var none askAnswer
	if err := h.tool("withdraw_question", map[string]any{"ask_id": a.AskID, "reason": "r"}, &none); err == nil || !strings.Contains(err.Error(), "it is answered, and that is final") {
		t.Errorf("withdrawn after its answer: %v", err)
	}
	if err := h.tool("check_answer", map[string]any{"ask_id": "nobody-asked"}, &none); err == nil || !strings.Contains(err.Error(), "there is no such ask") {
		t.Errorf("an unknown ask: %v", err)
	}
	b := h.must("ask_human", map[string]any{"question": "And this?", "wait_seconds": 0})
	for range 2 {
		if w := h.must("withdraw_question", map[string]any{"ask_id": b.AskID, "reason": "not needed"}); w.Status != "withdrawn" || w.Note != "not needed" {
			t.Errorf("withdrawn: %+v", w)
		}
	}
}

// An agent learns that a person changed the file, and where the approved text is.
func TestMCPSaysWhichTextWasApproved(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 0)
	p.write("plan.md", "first\n")
	h := p.host("2025-06-18", nil)
	var none askAnswer
	if err := h.tool("ask_human", map[string]any{"question": "Go on?", "artifacts": []string{"plan.md"}, "editable": []string{"other.md"}}, &none); err == nil || !strings.Contains(err.Error(), "other.md, which is none of the artifacts") {
		t.Errorf("a file that is not asked about: %v", err)
	}
	a := h.must("ask_human", map[string]any{"question": "Go on?", "artifacts": []string{"plan.md"}, "editable": []string{"plan.md"}, "wait_seconds": 0})
	form := p.read(a.Form)
	p.write(a.Form, strings.NewReplacer("\nfirst\n", "\nsecond\n", "- [ ] approve", "- [x] approve", "- [ ] submit", "- [x] submit").Replace(form))
	var got mcp.Answer
	if err := h.tool("check_answer", map[string]any{"ask_id": a.AskID, "wait_seconds": 600}, &got); err != nil {
		t.Fatal(err)
	}
	want := []mcp.EditedFile{{Path: "plan.md", File: ".asks/" + a.AskID + "/answer-1.md"}}
	if !slices.Equal(got.Edited, want) || p.read(want[0].File) != "second\n" || !strings.Contains(got.Note, "use what stands in edited") {
		t.Errorf("answer %+v", got)
	}
}

func TestMCP8AFollowedInboxTellsOfAnAsk(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2025-06-18", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, t.TempDir(), 1)
			h := p.host(version, nil)
			const inbox = "placet://inbox"
			if err := h.Subscribe(t.Context(), &sdk.SubscribeParams{URI: inbox}); err != nil {
				t.Fatal(err)
			}
			read := func(uri string) string {
				t.Helper()
				r, err := h.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
				if err != nil {
					t.Fatalf("%s: %v", uri, err)
				}
				return r.Contents[0].Text
			}
			p.asker("ask", "Deploy?", "--key", "build-7", "--private").ends(t, 0, build7ID+"\n")
			if got := returned(t, h.updates); got != inbox {
				t.Errorf("an update of %s", got)
			}
			if text := read(inbox); !strings.Contains(text, "- ask/"+build7ID+" ask-") || !strings.Contains(text, ": a private question Form: .asks/") || strings.Contains(text, "Deploy") || !strings.Contains(text, "design of item 1") {
				t.Errorf("inbox:\n%s", text)
			}
			p.asker("withdraw", build7ID, "-m", "no").ends(t, 0, "ask/"+build7ID+" is taken back, by "+me()+": no\n")
			returned(t, h.updates)
			if n := len(h.wire.with("notifications/resources/updated")); n != 2 {
				t.Errorf("%d updates of two changes", n)
			}
			if text := read("placet://answer/" + build7ID); !strings.Contains(text, `"status":"withdrawn"`) {
				t.Errorf("answer: %s", text)
			}
			if text := read("placet://run/ask/" + build7ID); !strings.Contains(text, "withdrawn") {
				t.Errorf("run: %s", text)
			}
			if text := read("placet://form/" + ask.RequestID(build7ID)); !strings.Contains(text, "- [ ] submit this answer") {
				t.Errorf("form: %s", text)
			}
			if _, err := h.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "placet://form/../../placet.toml"}); err == nil {
				t.Error("a path outside is read")
			}
			got, err := h.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "waiting"})
			if err != nil || !strings.Contains(got.Messages[0].Content.(*sdk.TextContent).Text, "design of item 1") {
				t.Errorf("the prompt waiting: %v %+v", err, got)
			}
			got, err = h.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "explain", Arguments: map[string]string{"run": "ask/" + build7ID}})
			if err != nil || !strings.Contains(got.Messages[0].Content.(*sdk.TextContent).Text, "withdrawn") {
				t.Errorf("the prompt explain: %v %+v", err, got)
			}
		})
	}
}

func me() string { return strings.TrimSpace(runOut("id", "-un")) }

func runOut(name string, args ...string) string {
	out, _ := exec.Command(name, args...).Output()
	return string(out)
}

func TestMCPListsExplainsAndReports(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 2)
	h := p.host("2025-06-18", nil)
	h.must("ask_human", map[string]any{"question": "Deploy?\nmore", "tags": []string{"urgent"}, "deadline": "2h", "wait_seconds": 0})
	type line struct {
		Run      string `json:"run"`
		Type     string `json:"type"`
		Question string `json:"question"`
		Form     string `json:"form"`
		Deadline string `json:"deadline"`
	}
	list := func(arguments map[string]any) (lines []line, more int) {
		t.Helper()
		var got struct {
			Waiting []line `json:"waiting"`
			More    int    `json:"more"`
		}
		if err := h.tool("list_waiting", arguments, &got); err != nil {
			t.Fatal(err)
		}
		return got.Waiting, got.More
	}
	if all, more := list(map[string]any{"limit": 2}); len(all) != 2 || more != 1 || all[0].Type != "review" || all[0].Question != "Is the design of item 1 good?" {
		t.Errorf("waiting: %+v and %d", all, more)
	}
	for _, narrow := range []map[string]any{{"family": "ask"}, {"tag": "urgent"}} {
		if asks, more := list(narrow); len(asks) != 1 || more != 0 || asks[0].Question != "Deploy? more" || asks[0].Deadline == "" || p.read(asks[0].Form) == "" {
			t.Errorf("%v: %+v and %d", narrow, asks, more)
		}
	}
	var text struct {
		Text string `json:"text"`
	}
	if err := h.tool("explain_run", map[string]any{"run": "faber"}, &text); err == nil || !strings.Contains(err.Error(), "fits 2 runs") {
		t.Errorf("two runs fit: %v", err)
	}
	if asks, _ := list(map[string]any{"tag": "urgent"}); h.tool("explain_run", map[string]any{"run": asks[0].Run}, &text) != nil || !strings.Contains(text.Text, "a person is asked until") {
		t.Errorf("explained: %s", text.Text)
	}
	var recorded struct {
		Recorded bool `json:"recorded"`
	}
	if err := h.tool("report_progress", map[string]any{"message": "moving\x1b[2J the tests", "percent": 40.4, "run": "faber/x"}, &recorded); err != nil || !recorded.Recorded {
		t.Errorf("reported: %v", err)
	}
	if out, _ := p.placet("status"); !strings.Contains(out, "agent: moving\\u{1b}[2J the tests (") || !strings.Contains(out, "40 %, faber/x)") {
		t.Errorf("status:\n%s", out)
	}
	if found, _ := filepath.Glob(filepath.Join(p.root, "..", "home-*", "placet", "workspaces", "*", "agents", "????????.json")); len(found) != 1 {
		t.Errorf("reports: %q", found)
	}
}

// Standard output has nothing but the protocol, whatever happens.
func TestMCP10StandardOutputIsTheProtocol(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 0)
	p.write(".asks/Bad/ask.json", "{")
	cmd := p.program("mcp")
	cmd.Dir, cmd.Env = t.TempDir(), append(cmd.Env, "CLAUDE_PROJECT_DIR="+p.root)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"h","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"no/such"}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"no_such","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"ask_human","arguments":{"question":"a","default":"approve","deadline":"1h"}}}`,
		`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"ask_human","arguments":{"question":"Go on?","artifacts":["../../etc/passwd"]}}}`,
		`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"ask_human","arguments":{"question":"Go on?","key":"build-7","wait_seconds":0}}}`,
	} {
		if _, err := io.WriteString(in, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	got := map[float64]string{}
	read := bufio.NewScanner(out)
	read.Buffer(nil, 1<<20)
	for len(got) < 6 && read.Scan() {
		var m struct {
			JSONRPC string
			ID      float64
		}
		if err := json.Unmarshal(read.Bytes(), &m); err != nil || m.JSONRPC != "2.0" {
			t.Errorf("standard output has %q", read.Text())
		}
		got[m.ID] = read.Text()
	}
	for id, want := range map[float64]string{2: `"error"`, 3: `"error"`, 4: `silence is never consent`, 5: `"isError":true`, 6: `"status\":\"open\"`} {
		if !strings.Contains(got[id], want) {
			t.Errorf("answer %v: %s, expected %s", id, got[id], want)
		}
	}
	if !p.showsForm(build7ID) {
		t.Error("the project of the host is not the workspace")
	}
	_ = in.Close()
	if rest, _ := io.ReadAll(out); len(rest) > 0 {
		t.Errorf("at the end it says %q", rest)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ends with %v", err)
	}
}

// A signal ends the server though a call waits, and the ask stays open.
func TestMCPEndsWhileACallWaits(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 0)
	h := p.host("2025-06-18", nil)
	done := make(chan error, 1)
	go func() { done <- h.tool("ask_human", build7, &askAnswer{}) }()
	p.until("the question is asked", func() bool { return p.showsForm(build7ID) })
	_ = h.cmd.Process.Signal(syscall.SIGTERM)
	if err := returned(t, done); err == nil {
		t.Error("the call returns an answer")
	}
	if p.read(".asks/"+build7ID+"/answer.json") != "" {
		t.Error("the ask has ended")
	}
}

func TestMCPRefusesToStart(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 0)
	for setting, want := range map[string]string{
		"[mcp]\nelicit = \"perhaps\"\n": `mcp.elicit: unknown word "perhaps": expected one of "auto", "on", "off"`,
		"[ask]\nenabled = false\n":      "[ask] is not enabled",
	} {
		p.write("placet.toml", setting)
		if out, code := p.placet("mcp"); code != 2 || !strings.Contains(out, want) {
			t.Errorf("%s: %d %s", setting, code, out)
		}
	}
	_ = os.Remove(filepath.Join(p.root, "placet.toml"))
	cmd := p.program("-C", p.root, "mcp")
	cmd.Env = append(cmd.Env, "PLACET_MCP_WAIT=25h")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "PLACET_MCP_WAIT takes a length up to 24h") {
		t.Errorf("a wait that is too long: %v %s", err, out)
	}
}

// The process that serves an ask notifies people of it, once however often the call is
// repeated.
func TestMCPHasPeopleToldOfAnAsk(t *testing.T) {
	t.Parallel()
	p, service := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0), newHook(t)
	p.write("placet.toml", "")
	p.ownSettings("[notify]\nto = [\"generic+" + service.URL + "/hook\"]\n")
	h := p.host("2025-06-18", nil)
	a := h.must("ask_human", map[string]any{"question": "Deploy 1.4?", "wait_seconds": 0})
	p.until("a person is told", func() bool { return len(service.about("Deploy 1.4?")) > 0 })
	later := h.later("ask_human", map[string]any{"question": "Deploy 1.4?", "wait_seconds": 600})
	p.choose(a.AskID, "approve")
	if a := returned(t, later); !a.Answered {
		t.Errorf("answer %+v", a)
	}
	if told := service.about("Deploy 1.4?"); len(told) != 1 {
		t.Errorf("people are told %q", told)
	}
}

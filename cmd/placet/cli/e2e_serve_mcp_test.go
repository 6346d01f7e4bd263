package cli_test

import (
	"context"
	"net/http"
	"strings"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"placet/engine/ask"
)

// bearer sends a token with each call.
type bearer struct{ token string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

// agent connects an agent's host over HTTP, as the token of a name.
func (s *site) agent(token, version string, dialogue elicit) *agentHost {
	s.t.Helper()
	h := &agentHost{place: s.place, updates: make(chan string, 16)}
	c := sdk.NewClient(&sdk.Implementation{Name: "test-host", Version: "1"}, &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{}, ElicitationHandler: dialogue,
		ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { h.updates <- r.Params.URI },
	})
	var err error
	h.ClientSession, err = c.Connect(s.t.Context(), &sdk.StreamableClientTransport{
		Endpoint: s.url + "/mcp", HTTPClient: &http.Client{Transport: bearer{s.tokens[token]}},
	}, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = h.Close() })
	return h
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"h","version":"1"}}}`

func TestMCP9WhoMayCallOverHTTP(t *testing.T) {
	t.Parallel()
	s := serveAt(newPlace(t, t.TempDir(), 0))
	s.token("agent", "read,write")
	s.token("other", "read,write")
	asks := func(r *http.Request) { r.Header.Set("Accept", "application/json, text/event-stream") }
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	s.wants("no token", s.call("", "POST", "/mcp", initialize, asks), 401, "unauthorized")
	s.wants("a wrong token", s.call("", "POST", "/mcp", initialize, asks, header("Authorization", "Bearer plt_x")), 401, "unauthorized")
	for method, body := range map[string]any{"POST": initialize, "GET": nil, "DELETE": nil} {
		s.wants(method+" from a foreign page", s.call("agent", method, "/mcp", body, asks, header("Origin", "http://evil.example")), 403, "host")
		s.wants(method+" under a foreign name", s.call("agent", method, "/mcp", body, asks, func(r *http.Request) { r.Host = "evil.example" }), 403, "host")
	}
	s.wants("a page of another site", s.call("agent", "POST", "/mcp", initialize, asks, header("Sec-Fetch-Site", "cross-site")), 403, "")
	s.wants("2 MiB", s.call("agent", "POST", "/mcp", `{"x":"`+strings.Repeat("x", 2<<20)+`"}`, asks), 413, "too_large")
	s.wants("no JSON", s.call("agent", "POST", "/mcp", initialize, asks, header("Content-Type", "text/plain")), 415, "content_type")

	began := s.call("agent", "POST", "/mcp", initialize, asks)
	session := began.header.Get("Mcp-Session-Id")
	if began.status != 200 || session == "" || !strings.Contains(began.body, `"serverInfo"`) {
		t.Fatalf("initialize: %d %s", began.status, began.body)
	}
	ping := `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	if r := s.call("agent", "POST", "/mcp", ping, asks, header("Mcp-Session-Id", session)); r.status != 200 {
		t.Errorf("its session: %d %s", r.status, r.body)
	}
	if r := s.call("other", "POST", "/mcp", ping, asks, header("Mcp-Session-Id", session)); r.status != 403 {
		t.Errorf("the session of another token: %d %s", r.status, r.body)
	}
}

// Over HTTP agents ask and get answers as over stdio, while serve makes the passes. A token
// without the role decide answers nothing, whatever its host says.
func TestMCPOverHTTPAsksAndIsAnswered(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 1)
	p.write("placet.toml", "[mcp]\nelicit = \"on\"\n")
	s := serveAt(p)
	s.token("agent", "read,write")
	s.token("person", "read,write,decide")
	s.token("reader", "read", "--families", "ask")
	accept := func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"answer": "wait"}}, nil
	}
	for version, key := range map[string]string{"2026-07-28": "build-7", "2025-06-18": "build-8"} {
		h := s.agent("agent", version, accept)
		arguments := map[string]any{"question": "Deploy?", "options": build7["options"], "key": key, "wait_seconds": 0}
		a := h.must("ask_human", arguments)
		if a.Status != "open" {
			t.Errorf("%s: %+v", version, a)
		}
		// A second call after the answer would ask again.
		done := h.later("check_answer", map[string]any{"ask_id": a.AskID, "wait_seconds": 600})
		if err := h.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "placet://answer/" + a.AskID}); err != nil {
			t.Fatal(err)
		}
		s.choose(a.AskID, "deploy")
		if a := returned(t, done); a.Response != "deploy" {
			t.Errorf("%s: %+v", version, a)
		}
		returned(t, h.updates)
	}
	if body := p.read(".asks/" + build7ID + "/ask.json"); !strings.Contains(body, `"name": "agent"`) {
		t.Errorf("who asks: %s", body)
	}
	a := s.agent("person", "2025-06-18", accept).must("ask_human", map[string]any{"question": "Deploy?", "options": build7["options"], "key": "build-9", "wait_seconds": 600})
	if receipt := p.read(".asks/" + a.AskID + "/requests/" + ask.RequestID(a.AskID) + "/receipt.json"); a.Response != "wait" || a.By != "person" || !strings.Contains(receipt, `"api:person"`) || !strings.Contains(receipt, `"source": "mcp"`) {
		t.Errorf("a person's own dialogue: %+v, %s", a, receipt)
	}

	reader := s.agent("reader", "2025-06-18", nil)
	var none askAnswer
	for name, arguments := range map[string]map[string]any{
		"ask_human": build7, "withdraw_question": {"ask_id": build7ID, "reason": "r"}, "report_progress": {"message": "m"},
	} {
		if err := reader.tool(name, arguments, &none); err == nil || !strings.Contains(err.Error(), "lacks the role write") {
			t.Errorf("%s by who may only read: %v", name, err)
		}
	}
	if a := reader.must("check_answer", map[string]any{"ask_id": build7ID}); a.Response != "deploy" {
		t.Errorf("read: %+v", a)
	}
	var list struct {
		Waiting []any `json:"waiting"`
	}
	if err := reader.tool("list_waiting", nil, &list); err != nil || len(list.Waiting) != 0 {
		t.Errorf("families that it may not see: %v %v", err, list)
	}
	if err := reader.tool("explain_run", map[string]any{"run": "faber"}, &none); err == nil || strings.Contains(err.Error(), "acme") {
		t.Errorf("a run that it may not see: %v", err)
	}
}

// The end of its stream, of the token or of the server ends a call. The ask stays open.
func TestMCPOverHTTPACallEnds(t *testing.T) {
	t.Parallel()
	s := serveAt(newPlace(t, t.TempDir(), 0))
	s.token("a", "read,write")
	s.token("b", "read,write")
	waits := map[string]any{"question": "Deploy?", "key": "build-7", "wait_seconds": 600}
	first, second := s.agent("a", "2026-07-28", nil), s.agent("b", "2025-06-18", nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		s.until("the question is asked", func() bool { return s.showsForm(build7ID) })
		cancel()
	}()
	if _, err := first.CallTool(ctx, &sdk.CallToolParams{Name: "ask_human", Arguments: waits}); err == nil {
		t.Error("the call was not cancelled")
	}
	done := make(chan error, 2)
	for _, h := range []*agentHost{first, second} {
		go func() {
			done <- h.tool("check_answer", map[string]any{"ask_id": build7ID, "wait_seconds": 600}, &askAnswer{})
		}()
	}
	if out, code := s.placet("token", "revoke", "b"); code != 0 {
		t.Fatal(out)
	}
	if err := returned(t, done); err == nil {
		t.Error("a call goes on though its token was revoked")
	}
	if a := first.must("check_answer", map[string]any{"ask_id": build7ID}); a.Status != "open" {
		t.Errorf("the ask is %+v", a)
	}
	s.daemon.stop(syscall.SIGTERM)
	if err := returned(t, done); err == nil {
		t.Error("a call goes on though the server has ended")
	}
	if !s.daemon.isOver() {
		t.Error("the server has not ended")
	}
}

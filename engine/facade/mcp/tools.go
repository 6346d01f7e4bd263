package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"placet/schemas"
)

// tool is one row of the table. Its schemas are mcp/<name> and mcp/<result>.
type tool struct {
	name, title, about, result string
	readsOnly                  bool
	// call carries out a call whose arguments match the schema.
	call func(s *Server, ctx context.Context, req *sdk.CallToolRequest) (any, error)
}

var tools = []tool{
	{"ask_human", "Ask a person", "Ask a person a question and wait for the answer. Before what cannot be undone or was not agreed. Returns at once where the answer is there, else when somebody answers or the time is over; then the status is open, which is no answer: call check_answer.", "answer", false, (*Server).askHuman},
	{"check_answer", "Look for an answer", "How a question stands that was asked with ask_human. Act on answered alone.", "answer", true, (*Server).checkAnswer},
	{"withdraw_question", "Take a question back", "Take back a question that needs no answer any more.", "answer", false, (*Server).withdrawQuestion},
	{"list_waiting", "List what waits for people", "The questions that wait for people in this workspace, of all agents and programs.", "waiting", true, (*Server).listWaiting},
	{"explain_run", "Explain a run", "Why a run stands where it stands, and what would move it.", "explanation", true, (*Server).explainRun},
	{"report_progress", "Report progress", "Show people for an hour what you are doing. It asks nothing and decides nothing.", "recorded", false, (*Server).reportProgress},
}

// IsTool reports whether placet has a tool with a name.
func IsTool(name string) bool {
	return slices.ContainsFunc(tools, func(t tool) bool { return t.name == name })
}

// addTools adds the tools with all hints, because a host may assume the worst about a missing
// one.
func (s *Server) addTools() {
	no := false
	for _, t := range tools {
		s.sdk.AddTool(&sdk.Tool{
			Name: t.name, Title: t.title, Description: t.about,
			InputSchema: schemaOf(t.name), OutputSchema: schemaOf(t.result),
			Annotations: &sdk.ToolAnnotations{Title: t.title, ReadOnlyHint: t.readsOnly, DestructiveHint: &no, IdempotentHint: true, OpenWorldHint: &no},
		}, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return s.handle(ctx, t, req)
		})
	}
}

// schemaOf returns the schema of a tool's arguments or result.
func schemaOf(name string) json.RawMessage {
	body, err := schemas.Source("mcp/" + name)
	if err != nil {
		panic(err) // it is part of the program
	}
	return body
}

// handle carries out a call. It returns a mistake of the caller as an error of the tool, which
// the model reads.
func (s *Server) handle(ctx context.Context, t tool, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	ctx, cancel := s.until(ctx)
	defer cancel()
	out, err := t.call(s, ctx, req)
	switch rpc := (*jsonrpc.Error)(nil); {
	case err == nil:
	case ctx.Err() != nil || errors.As(err, &rpc):
		return nil, err
	default:
		return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: err.Error()}}}, nil
	}
	if more, ok := out.(*sdk.CallToolResult); ok {
		return more, nil
	}
	body, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	return &sdk.CallToolResult{StructuredContent: json.RawMessage(body), Content: []sdk.Content{&sdk.TextContent{Text: string(body)}}}, nil
}

// askHuman asks a person, and waits for the answer.
func (s *Server) askHuman(ctx context.Context, req *sdk.CallToolRequest) (any, error) {
	var q Question
	if err := arguments(req, &q); err != nil {
		return nil, err
	}
	if host := req.ClientInfo(); host != nil {
		q.By = host.Name
	}
	w := s.o.Workspace
	if state := req.Params.RequestState; state != "" {
		id, _, _ := strings.Cut(state, ".")
		if !w.IsOf(q, id) {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "requestState names no question of this call"}
		}
		return s.askAgain(ctx, req, q, id)
	}
	id, err := w.Ask(ctx, q)
	if err != nil {
		return nil, err
	}
	if more := s.inputRequired(req, id, ""); more != nil {
		return more, nil
	}
	return s.await(ctx, req, id, s.patience(q.Wait, s.o.Wait), true)
}

// patience returns how long a call waits.
func (s *Server) patience(seconds *int, unsaid time.Duration) time.Duration {
	if seconds == nil {
		return unsaid
	}
	return time.Duration(*seconds) * time.Second
}

func (s *Server) checkAnswer(ctx context.Context, req *sdk.CallToolRequest) (any, error) {
	var x struct {
		AskID string `json:"ask_id"`
		Wait  *int   `json:"wait_seconds"`
	}
	if err := arguments(req, &x); err != nil {
		return nil, err
	}
	return s.await(ctx, req, x.AskID, s.patience(x.Wait, 0), false)
}

func (s *Server) withdrawQuestion(ctx context.Context, req *sdk.CallToolRequest) (any, error) {
	var x struct {
		AskID  string `json:"ask_id"`
		Reason string `json:"reason"`
	}
	if err := arguments(req, &x); err != nil {
		return nil, err
	}
	if err := s.o.Workspace.Withdraw(ctx, x.AskID, x.Reason); err != nil {
		return nil, err
	}
	return s.await(ctx, req, x.AskID, 5*time.Second, false)
}

func (s *Server) listWaiting(_ context.Context, req *sdk.CallToolRequest) (any, error) {
	x := struct {
		Family string `json:"family"`
		Tag    string `json:"tag"`
		Limit  int    `json:"limit"`
	}{Limit: 20}
	if err := arguments(req, &x); err != nil {
		return nil, err
	}
	return s.o.Workspace.Waiting(x.Family, x.Tag, x.Limit)
}

func (s *Server) explainRun(_ context.Context, req *sdk.CallToolRequest) (any, error) {
	var x struct {
		Run string `json:"run"`
	}
	if err := arguments(req, &x); err != nil {
		return nil, err
	}
	text, err := s.o.Workspace.Explain(x.Run)
	return map[string]string{"text": strings.TrimSpace(text)}, err
}

func (s *Server) reportProgress(_ context.Context, req *sdk.CallToolRequest) (any, error) {
	var p Progress
	if err := arguments(req, &p); err != nil {
		return nil, err
	}
	recorded, err := s.o.Workspace.Report(req.Session.ID(), p)
	return map[string]bool{"recorded": recorded}, err
}

package mcp

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Dialogue is a question in the form in which a host shows it to its user.
type Dialogue struct {
	Message  string
	Options  []DialogueOption // none: an answer in words
	Multiple bool             // several may be chosen together
}

// DialogueOption is a choice, with what it means.
type DialogueOption struct{ ID, Title string }

// Reply is the answer of a host's user.
type Reply struct {
	// Choices are the chosen options, or the one text.
	Choices []string
	Comment string
}

const (
	// withoutDialogues is the first version in which a server cannot open a dialogue during a
	// call that waits: the server ends the call, and the host calls again.
	withoutDialogues = "2026-07-28"
	// inputName names the one input that a call asks for.
	inputName = "answer"
	// mostShown is how often a dialogue is shown if its answers cannot be accepted.
	mostShown = 3
)

// elicits reports whether the host shows forms to its user.
func elicits(req *sdk.CallToolRequest) bool {
	caps := req.ClientCapabilities()
	return caps != nil && caps.Elicitation != nil && (caps.Elicitation.Form != nil || caps.Elicitation.URL == nil)
}

func isModern(req *sdk.CallToolRequest) bool { return req.ProtocolVersion() >= withoutDialogues }

// mayShow reports whether a dialogue may be shown while a call waits.
func (s *Server) mayShow(req *sdk.CallToolRequest) bool {
	return !isModern(req) && elicits(req) && s.o.Elicit() != "off"
}

// converse shows the host's dialogue until one of its answers is accepted. Declining and
// cancelling are nobody's decision, because hosts without a user do both by themselves. If
// anything else prevents an answer, the question also remains open for the other ways of
// answering.
func (s *Server) converse(ctx context.Context, session *sdk.ServerSession, id string) {
	problem := ""
	for range mostShown {
		d, ok := s.o.Workspace.Dialogue(id)
		if !ok {
			return
		}
		res, err := session.Elicit(ctx, d.params(problem))
		if err != nil || res.Action != "accept" {
			return
		}
		if err := s.o.Workspace.Respond(ctx, id, replyOf(res)); err == nil || ctx.Err() != nil {
			return
		} else {
			problem = err.Error()
		}
	}
}

// inputRequired ends a call with the question for the host's user; it returns nil if the call
// does not end so. The dialogue blocks all other ways to answer until somebody closes it, so it
// is used only if the setting is "on".
func (s *Server) inputRequired(req *sdk.CallToolRequest, id, problem string) *sdk.CallToolResult {
	if !isModern(req) || !elicits(req) || s.o.Elicit() != "on" {
		return nil
	}
	a, err := s.o.Workspace.Answer(id)
	if err != nil || !a.isOpen() || a.Form == "" {
		return nil
	}
	d, ok := s.o.Workspace.Dialogue(id)
	if !ok {
		return nil
	}
	return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{inputName: d.params(problem)}, RequestState: s.stateOf(id, d)}
}

// stateOf returns the requestState that identifies the answer to a dialogue: the ask's id, and a
// code over it and what is shown, which only this server can make. The host brings it back,
// because servers keep nothing between such calls.
func (s *Server) stateOf(id string, d Dialogue) string {
	code := hmac.New(sha256.New, s.key)
	shown, err := json.Marshal([]any{id, d})
	if err != nil {
		panic(err) // only texts are encoded
	}
	code.Write(shown)
	return id + "." + hex.EncodeToString(code.Sum(nil))
}

// errNotShown is the error for an answer to a dialogue that this server has not shown, or that
// would be different now.
var errNotShown = errors.New("the question was not shown as it is: answer what is shown now")

// respond passes on the answer to the dialogue that this server has sent with a state.
func (s *Server) respond(ctx context.Context, id, state string, r Reply) error {
	d, ok := s.o.Workspace.Dialogue(id)
	if !ok || !hmac.Equal([]byte(state), []byte(s.stateOf(id, d))) {
		return errNotShown
	}
	return s.o.Workspace.Respond(ctx, id, r)
}

// askAgain continues a call that ended with a question for the host's user. It accepts an answer
// only to the question that this server has shown, because nobody else can have seen it.
func (s *Server) askAgain(ctx context.Context, req *sdk.CallToolRequest, q Question, id string) (any, error) {
	a, err := s.o.Workspace.Answer(id)
	if err != nil {
		return nil, err
	}
	res, _ := req.Params.InputResponses[inputName].(*sdk.ElicitResult)
	if a.isOpen() && res != nil && res.Action == "accept" && s.o.Elicit() != "off" {
		if err := s.respond(ctx, id, req.Params.RequestState, replyOf(res)); err != nil {
			if more := s.inputRequired(req, id, err.Error()); more != nil {
				return more, nil
			}
		}
	}
	return s.await(ctx, req, id, s.patience(q.Wait, s.o.Wait), false)
}

// params returns the dialogue in the form of the protocol: one flat object. problem says why the
// last answer was not accepted.
func (d Dialogue) params(problem string) *sdk.ElicitParams {
	answer := map[string]any{"type": "string", "title": "Answer", "minLength": 1}
	if len(d.Options) > 0 {
		titled := make([]any, len(d.Options))
		for i, o := range d.Options {
			titled[i] = map[string]string{"const": o.ID, "title": o.Title}
		}
		answer = map[string]any{"type": "string", "title": "Answer", "oneOf": titled}
		if d.Multiple {
			answer = map[string]any{"type": "array", "title": "Answers", "minItems": 1, "items": map[string]any{"anyOf": titled}}
		}
	}
	message := d.Message
	if problem != "" {
		message = problem + "\n\n" + message
	}
	schema, err := json.Marshal(map[string]any{
		"type": "object", "required": []string{"answer"},
		"properties": map[string]any{"answer": answer, "comment": map[string]string{"type": "string", "title": "Comment"}},
	})
	if err != nil {
		panic(err) // only texts are encoded
	}
	return &sdk.ElicitParams{Mode: "form", Message: message, RequestedSchema: json.RawMessage(schema)}
}

// replyOf returns what a user has filled in. It ignores values of a wrong type.
func replyOf(res *sdk.ElicitResult) (r Reply) {
	r.Comment, _ = res.Content["comment"].(string)
	switch answer := res.Content["answer"].(type) {
	case string:
		r.Choices = []string{answer}
	case []any:
		for _, one := range answer {
			if word, ok := one.(string); ok {
				r.Choices = append(r.Choices, word)
			}
		}
	}
	return r
}

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

// Dialogue is a question as a host shows it to its user.
type Dialogue struct {
	Message  string
	Options  []DialogueOption // none: an answer in words
	Multiple bool             // several may be chosen together
}

// DialogueOption is a choice, with what it means.
type DialogueOption struct{ ID, Title string }

// Reply is what the user of a host has answered.
type Reply struct {
	// Choices are the options, or the one text.
	Choices []string
	Comment string
}

const (
	// withoutDialogues is the first version in which a server cannot open a dialogue beside
	// its waiting: it ends the call, and is called again.
	withoutDialogues = "2026-07-28"
	// inputName names the one input that a call asks for.
	inputName = "answer"
	// mostShown is how often a dialogue is shown whose answer cannot be taken.
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

// converse shows the host's dialogue until an answer of it is taken. Declining and cancelling
// are nobody's word: hosts without a user do both by themselves. What else keeps a dialogue
// from an answer leaves the question to the other ways of answering, too.
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

// inputRequired ends a call with the question for the host's user, nil where it does not. It
// shuts all other ways to answer until somebody closes the dialogue: only who says "on" gets
// that.
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

// stateOf is the requestState by which an answer to a dialogue is known again: the ask's id, and
// a code over it and what is shown that this server alone can make. Servers keep nothing
// between such calls, so that the host brings it back.
func (s *Server) stateOf(id string, d Dialogue) string {
	code := hmac.New(sha256.New, s.key)
	shown, err := json.Marshal([]any{id, d})
	if err != nil {
		panic(err) // it is made of texts
	}
	code.Write(shown)
	return id + "." + hex.EncodeToString(code.Sum(nil))
}

// errNotShown is what is wrong with an answer to a dialogue that this server has not shown, or
// that would be another now.
var errNotShown = errors.New("the question was not shown as it is: answer what is shown now")

// respond gives the answer to the dialogue that this server has sent with a state.
func (s *Server) respond(ctx context.Context, id, state string, r Reply) error {
	d, ok := s.o.Workspace.Dialogue(id)
	if !ok || !hmac.Equal([]byte(state), []byte(s.stateOf(id, d))) {
		return errNotShown
	}
	return s.o.Workspace.Respond(ctx, id, r)
}

// askAgain goes on with a call that ended with a question for the host's user. An answer that it
// brings counts where this server has shown what it answers: nobody else has seen the question.
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

// params is the dialogue as the protocol has it: one flat object. problem says why the last
// answer was not taken.
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
		panic(err) // it is made of texts
	}
	return &sdk.ElicitParams{Mode: "form", Message: message, RequestedSchema: json.RawMessage(schema)}
}

// replyOf is what a user has filled in. What has another type than was asked for is nothing.
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

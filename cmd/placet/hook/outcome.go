package hook

import (
	"bytes"
	"encoding/json"

	"placet/cmd/placet/config"
)

// These types are the JSON that clients accept. Their members are in the order of the
// clients' documentation.
type (
	inOutputJSON struct {
		Output toolOutput `json:"hookSpecificOutput"`
	}
	toolOutput struct {
		Event    string `json:"hookEventName"`
		Decision string `json:"permissionDecision"`
		Reason   string `json:"permissionDecisionReason"`
	}
	permissionJSON struct {
		Output permissionOutput `json:"hookSpecificOutput"`
	}
	permissionOutput struct {
		Event    string             `json:"hookEventName"`
		Decision permissionDecision `json:"decision"`
	}
	permissionDecision struct {
		Behavior string `json:"behavior"`
		Message  string `json:"message,omitempty"`
	}
	contextJSON struct {
		Output contextOutput `json:"hookSpecificOutput"`
	}
	contextOutput struct {
		Event   string `json:"hookEventName"`
		Context string `json:"additionalContext"`
	}
	decisionJSON struct {
		Decision string `json:"decision"`
		Reason   string `json:"reason"`
	}
	cursorJSON struct {
		Permission   string `json:"permission,omitempty"`
		UserMessage  string `json:"user_message,omitempty"`
		AgentMessage string `json:"agent_message,omitempty"`
	}
)

// Answer returns the text to print for the outcome of a call, nil for nothing.
func (c Client) Answer(in Input, o Outcome) []byte {
	if in.Moment == Permission {
		return permissionAnswer(in, o)
	}
	word := o.Do
	if word == config.HookShow {
		word = "ask"
	}
	switch {
	case c.dialect == likeCursor && o.Do == config.HookPass:
		return encode(cursorJSON{})
	case o.Do == config.HookPass:
		return nil
	case c.dialect == likeCursor && o.Do == config.HookDeny:
		return encode(cursorJSON{word, o.Reason, o.Reason})
	case c.dialect == likeCursor:
		return encode(cursorJSON{Permission: word})
	case c.dialect == likeGemini && o.Do == config.HookDeny:
		return encode(decisionJSON{word, o.Reason})
	case c.dialect == likeClaude || o.Do == config.HookDeny:
		return encode(inOutputJSON{toolOutput{in.Event, word, o.Reason}})
	}
	return nil // without an answer the call does not run
}

// permissionAnswer returns the text to print instead of a client's own prompt.
func permissionAnswer(in Input, o Outcome) []byte {
	switch o.Do {
	case config.HookAllow:
		return encode(permissionJSON{permissionOutput{in.Event, permissionDecision{Behavior: "allow"}}})
	case config.HookDeny:
		return encode(permissionJSON{permissionOutput{in.Event, permissionDecision{"deny", o.Reason}}})
	}
	return nil
}

// Tells reports whether the client accepts a text for the agent at a moment. At the end of a
// turn only Claude Code does.
func (c Client) Tells(in Input) bool { return in.Moment != TurnEnds || c.dialect == likeClaude }

// Tell returns the text to print to give an agent a text.
func (c Client) Tell(in Input, text string) []byte {
	return encode(contextJSON{contextOutput{in.Event, text}})
}

// Keep returns the text to print to make an agent continue its turn.
func (c Client) Keep(reason string) []byte {
	if c.dialect == likeGemini {
		return encode(decisionJSON{"deny", reason})
	}
	return encode(decisionJSON{"block", reason})
}

func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // cannot fail: v holds only texts
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

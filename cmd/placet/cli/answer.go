package cli

import (
	"placet/engine"
	"placet/engine/gate"
)

// written is what became of an answer.
type written struct {
	RequestID  string        `json:"request_id"`
	Run        string        `json:"run"`
	Where      string        `json:"where"`
	Response   string        `json:"response"`
	Selected   []string      `json:"selected"`
	Comment    string        `json:"comment"`
	ProvidedBy gate.By       `json:"provided_by"`
	Path       string        `json:"path"`
	Digest     engine.Digest `json:"digest"`
	// Effect is what the answer does, in words.
	Effect string `json:"effect"`
	// Result is "written", or "same" where the same answer stood there.
	Result string `json:"result"`
	Daemon bool   `json:"daemon"`
}

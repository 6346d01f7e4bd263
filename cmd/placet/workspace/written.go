package workspace

import (
	"placet/engine"
	"placet/engine/gate"
)

// Written is what became of an answer.
type Written struct {
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

// Answer makes an answer durable as response.json, where every check of it has passed, and
// says what became of it. placet watch, or the next placet once, carries it out.
func (b *Workspace) Answer(t Request, resp gate.Response) (Written, error) {
	result, err := b.Write(t, resp)
	return Written{
		RequestID: t.Request, Run: t.Run.String(), Where: t.Where, Response: resp.Response, Selected: resp.Selected,
		Comment: resp.Comment, ProvidedBy: resp.ProvidedBy, Path: t.Response, Digest: resp.Digest, Effect: t.Effects(resp),
		Result: result, Daemon: DaemonRuns(b.Root),
	}, err
}

// AnsweredBefore is what became of an answer that was taken earlier.
func (b *Workspace) AnsweredBefore(c Closed) Written {
	r := c.Receipt
	return Written{
		RequestID: r.RequestID, Run: c.Run.String(), Response: r.Response, Selected: r.Selected, Comment: r.Comment,
		ProvidedBy: r.ProvidedBy, Digest: r.Digest, Result: "same", Daemon: DaemonRuns(b.Root),
	}
}

package answer

import (
	"context"

	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
)

// Written is what became of an answer.
type Written struct {
	gate.Response
	Run   string `json:"run"`
	Where string `json:"where"`
	Path  string `json:"path"`
	// Effect is what the answer does, in words.
	Effect string `json:"effect"`
	// Result is "written", or "same" where the same answer stood there.
	Result string `json:"result"`
	Daemon bool   `json:"daemon"`
}

// Give makes an answer durable as response.json, where every check of it has passed, and
// says what became of it. placet watch, or the next placet once, carries it out. It waits for
// whoever is writing there until the context is done.
func Give(ctx context.Context, b *workspace.Workspace, t view.Request, resp gate.Response) (Written, error) {
	result, err := Write(ctx, b, t, resp)
	return Written{resp, t.Run.String(), t.Where, t.Response, view.Effects(t, resp), result, workspace.DaemonRuns(b.Root)}, err
}

// Reply is an answer that is written as the reply that says the same.
func (w Written) Reply() Reply {
	return Reply{Option: w.Response.Response, Selected: w.Selected, Comment: w.Comment, Edits: w.Edits, Keys: run.KeysOf(w.Extra)}
}

// IsInPlace reports whether the very bytes of an answer stand as response.json.
func IsInPlace(b *workspace.Workspace, t view.Request, resp gate.Response) bool {
	body, err := resp.Encode()
	return err == nil && b.Settled(t.Response, workspace.ResponseFile(t.Request)).Sum == engine.Sum(body)
}

// AnsweredBefore is what became of an answer that was taken earlier.
func AnsweredBefore(b *workspace.Workspace, c view.Closed) Written {
	r := c.Receipt
	resp := gate.Response{RequestID: r.RequestID, Response: r.Response, Selected: r.Selected, Comment: r.Comment, Edits: r.Edits, ProvidedBy: r.ProvidedBy, Digest: r.Digest}
	return Written{Response: resp, Run: c.Run.String(), Result: "same", Daemon: workspace.DaemonRuns(b.Root)}
}

package answer

import (
	"context"

	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
)

// Written is the outcome of giving an answer.
type Written struct {
	gate.Response
	Run   string `json:"run"`
	Where string `json:"where"`
	Path  string `json:"path"`
	// Effect says in words what the answer does.
	Effect string `json:"effect"`
	// Result is "written", or "same" if the same answer was there.
	Result string `json:"result"`
	Daemon bool   `json:"daemon"`
}

// Give makes an answer durable as response.json, after every check of it has passed, and
// returns the outcome. placet watch, or the next placet watch --once, carries it out. Give waits for
// another writer of the file until the context is done.
func Give(ctx context.Context, b *workspace.Workspace, t view.Request, resp gate.Response) (Written, error) {
	result, err := Write(ctx, b, t, resp)
	return Written{resp, t.Run.String(), t.Where, t.Response, view.Effects(t, resp), result, workspace.DaemonRuns(b.Root)}, err
}

// Reply returns the reply that says the same as a written answer.
func (w Written) Reply() Reply {
	return Reply{Option: w.Response.Response, Selected: w.Selected, Comment: w.Comment, Edits: w.Edits, Keys: run.KeysOf(w.Extra)}
}

// IsInPlace reports whether response.json has the very bytes of an answer.
func IsInPlace(b *workspace.Workspace, t view.Request, resp gate.Response) bool {
	body, err := resp.Encode()
	return err == nil && b.Settled(t.Response, workspace.ResponseFile(t.Request)).Sum == engine.Sum(body)
}

// AnsweredBefore returns the outcome of an answer that was accepted earlier.
func AnsweredBefore(b *workspace.Workspace, c view.Closed) Written {
	r := c.Receipt
	resp := gate.Response{RequestID: r.RequestID, Response: r.Response, Selected: r.Selected, Comment: r.Comment, Edits: r.Edits, ProvidedBy: r.ProvidedBy, Digest: r.Digest}
	return Written{Response: resp, Run: c.Run.String(), Result: "same", Daemon: workspace.DaemonRuns(b.Root)}
}

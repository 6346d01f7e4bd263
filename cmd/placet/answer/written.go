package answer

import (
	"context"
	"errors"
	"time"

	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/gate"
	"placet/engine/loop"
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
	return give(ctx, b, t, resp, func(doc engine.Document) error { return b.Put(doc, t.Request) })
}

// Submit checks a reply and gives it as [NewResponse] and [Give] do. Where the loop of this process
// serves the run, its next pass judges the answer, writes it and carries it out, all at once.
func Submit(ctx context.Context, b *workspace.Workspace, t view.Request, r Reply) (Written, error) {
	resp, err := newResponse(b, t, r)
	if err != nil {
		return Written{}, err
	}
	return give(ctx, b, t, resp, func(doc engine.Document) error {
		err := loop.ErrNotSubmitted
		if doc.Over == "" {
			ctx, stop := context.WithTimeout(ctx, longestPass)
			defer stop()
			err = workspace.Submit(ctx, b, t.Found, doc, func(s engine.Snapshot, p engine.Plan) error { return counts(b, t, resp, s, p) })
		}
		if !errors.Is(err, loop.ErrNotSubmitted) {
			return err
		}
		if err := CheckCounts(b, t.Anew(), resp); err != nil {
			return err
		}
		return b.Put(doc, t.Request)
	})
}

// longestPass is how long an answer waits for a pass over its run before it is written without one:
// the run's locks may be held for long.
const longestPass = 10 * time.Second

// give makes an answer durable by a function that writes its document.
func give(ctx context.Context, b *workspace.Workspace, t view.Request, resp gate.Response, put func(engine.Document) error) (Written, error) {
	result, err := write(ctx, b, t, resp, put)
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

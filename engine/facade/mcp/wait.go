package mcp

import (
	"context"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// progressEvery is how often a host is told that its call still waits. Some hosts drop a
// call without such signs.
const progressEvery = 15 * time.Second

// notAnswered is the note about an ask that is still open when a call stops waiting.
const notAnswered = "nobody has answered yet: this is no consent. Call check_answer with this ask_id later, and do nothing meanwhile that depends on the answer."

// await waits until an ask ends, or for so long, and then returns its state. If the call is
// cancelled, only the call ends; the ask stays open. dialogue says that the host's dialogue
// may be used meanwhile.
func (s *Server) await(ctx context.Context, req *sdk.CallToolRequest, id string, wait time.Duration, dialogue bool) (Answer, error) {
	w := s.o.Workspace
	ctx, stop := context.WithCancel(ctx)
	var shown sync.WaitGroup
	defer shown.Wait()
	defer stop()
	over := time.NewTimer(wait)
	defer over.Stop()
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	told := false
	for began := time.Now(); ; {
		changed := w.Changed()
		a, err := w.Answer(id)
		if err != nil || !a.isOpen() {
			return a, err
		}
		if wait <= 0 {
			return unanswered(a), nil
		}
		if !told {
			told = true
			notify(ctx, req, 0, a.Title)
		}
		if dialogue && a.Form != "" && s.mayShow(req) {
			dialogue = false
			shown.Go(func() { s.converse(ctx, req.Session, id) })
		}
		select {
		case <-ctx.Done():
			return a, ctx.Err()
		case <-streamEnd(req):
			return a, context.Canceled
		case <-over.C:
			wait = 0
		case <-changed:
		case <-tick.C:
			notify(ctx, req, time.Since(began), a.Title)
		}
	}
}

// unanswered returns an open ask in the form in which a call returns it.
func unanswered(a Answer) Answer {
	if a.Note != "" {
		a.Note += "\n"
	}
	a.Note += notAnswered
	return a
}

// notify tells the host, if it wants progress, how long its call has waited.
func notify(ctx context.Context, req *sdk.CallToolRequest, waited time.Duration, title string) {
	if token := req.Params.GetProgressToken(); token != nil {
		_ = req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: float64(int(waited.Seconds())), Message: title})
	}
}

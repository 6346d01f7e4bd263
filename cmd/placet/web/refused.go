package web

import (
	"log/slog"
	"sync"

	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
)

// refusals counts answers of people who may not give them.
type refusals struct {
	mu sync.Mutex
	n  int
}

// add counts an answer from a person who may not give it. The log names the first and every
// hundredth.
func (r *refusals) add(b *workspace.Workspace, x view.Refusal, log *slog.Logger) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	if r.n == 1 || r.n%100 == 0 {
		log.Warn("an answer was refused: its author may not answer", "run", x.Run, "request", x.Request, "who", x.Who, "refused_so_far", r.n)
	}
	if err := view.KeepRefusal(b, x); err != nil {
		log.Debug("a refused answer cannot be noted", "err", err)
	}
}

// Refused returns how many answers were refused because their author may not give them.
func (a *App) Refused() int {
	a.refused.mu.Lock()
	defer a.refused.mu.Unlock()
	return a.refused.n
}

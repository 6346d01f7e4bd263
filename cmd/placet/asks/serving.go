package asks

import (
	"context"
	"path"
	"slices"
	"time"

	"placet/cmd/placet/config"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/ask"
	"placet/engine/loop"
	"placet/engine/statedir"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// waiters records that this process waits for asks, as long as it does. Without a state folder
// it records nothing.
type waiters struct {
	a     *Asks
	dir   *statedir.Dir
	of    map[string]*statedir.Serving
	alone bool // a question is worth nothing once this process is gone
	beat  time.Time
}

// newWaiters opens the folder of the records.
func (a *Asks) newWaiters(alone bool) *waiters {
	w := &waiters{a: a, of: map[string]*statedir.Serving{}, alone: alone}
	if a.Workspace.StateDir != nil {
		w.dir, _ = statedir.CreatePath(a.Workspace.Env.StateHome(), a.Workspace.Root) // without it nobody knows who waits
	}
	return w
}

// beatEvery is how often a process records that it still waits.
const beatEvery = 10 * time.Second

// serve records that this process waits for the asks of a list that are open, and for no others.
func (w *waiters) serve(found []loop.Found) {
	if w.dir == nil {
		return
	}
	now := w.a.Workspace.Env.Now()
	open := map[string]bool{}
	for _, f := range found {
		if st, _ := w.a.State(f); st.IsFinal() {
			continue
		}
		open[f.Run.ID] = true
		if w.of[f.Run.ID] == nil {
			if s, err := w.dir.Serve(f.Run.ID, w.alone); err == nil {
				w.of[f.Run.ID] = s
			}
		}
	}
	due := now.Sub(w.beat) >= beatEvery
	for id, s := range w.of {
		switch {
		case !open[id]:
			s.End(now, true)
			delete(w.of, id)
		case due:
			s.Beat(now)
			w.beat = now
		}
	}
}

// end records that this process waits no longer.
func (w *waiters) end() {
	if w.dir == nil {
		return
	}
	for id, s := range w.of {
		f, err := w.a.Find(id)
		st, _ := w.a.State(f)
		s.End(w.a.Workspace.Env.Now(), err == nil && st.IsFinal())
	}
	_ = w.dir.Close() // nothing is written
}

// WithdrawAbandoned takes back the open questions that are worth nothing without their asker,
// once that one is gone, however it ended.
func WithdrawAbandoned(b *workspace.Workspace) {
	dir := config.PathDir(b.Env, b.Root)
	at := slices.IndexFunc(b.Families, func(f loop.Family) bool { return f.Layout.Name() == "ask" })
	if _, held := b.Store.Paused(); dir == nil || at < 0 || held || b.Env.InGitHook() {
		return
	}
	defer dir.Close()
	for _, id := range dir.Abandoned() {
		run, ok := b.Families[at].Layout.At(path.Join(b.Ask.Root, id, "ask.json"))
		if ok && b.Loop.Summarize(loop.Found{Run: run, Family: b.Families[at]}).Status == ask.Open {
			withdrawAbandoned(b, run)
		}
	}
}

// abandonedPause is the pause between two looks of a daemon for askers that are gone.
const abandonedPause = 2 * time.Second

// WithdrawAbandonedUntil does what [WithdrawAbandoned] does, again and again until the context ends.
func WithdrawAbandonedUntil(ctx context.Context, b *workspace.Workspace) {
	look := time.NewTicker(abandonedPause)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
			WithdrawAbandoned(b)
		}
	}
}

// withdrawAbandoned takes back the question of an ask whose asker is gone.
func withdrawAbandoned(b *workspace.Workspace, run layout.Run) {
	kind, _ := layout.Ask{}.File(run, "withdraw.json")
	body, err := schemas.Encode(ask.Withdraw{Reason: templates.Text(b.Env.Lang, "cli.wait.gone")})
	if err == nil {
		_ = b.Store.Write(engine.Document{Path: path.Join(run.Dir, "withdraw.json"), Kind: kind.Kind, Body: body}) // somebody else has, or the next one will
	}
}

package web

import (
	"context"
	"time"

	"placet/cmd/placet/answer"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/facade"
	"placet/layout"
)

// surface is the app as Nemawashi's dialect sees it.
type surface struct{ a *App }

// Viewer implements [nemawashi.Surface].
func (s surface) Viewer(c *facade.Call) *workspace.Workspace { return s.a.viewer(c) }

// Wait implements [nemawashi.Surface].
func (s surface) Wait() time.Duration { return s.a.o.Wait }

// Request implements [nemawashi.Surface].
func (s surface) Request(v *workspace.Workspace, name string, sees func(family string) bool) (view.RequestAt, error) {
	return requestAmong(v, name, sees)
}

// Answer implements [nemawashi.Surface].
func (s surface) Answer(ctx context.Context, v *workspace.Workspace, who facade.Identity, at view.RequestAt, shown string, r answer.Reply) (int, any, error) {
	return s.a.answer(ctx, v, who, at, shown, r)
}

// Await implements [nemawashi.Surface].
func (s surface) Await(run layout.Run, wants func(engine.Document) bool) (come <-chan engine.Document, done func()) {
	wait := s.a.waiters.add(run, wants)
	return wait.come, func() { s.a.waiters.remove(wait) }
}

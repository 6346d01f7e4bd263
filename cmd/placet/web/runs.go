package web

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine/facade"
	"placet/engine/reconcile"
)

// runList is status, a page of it.
type runList struct {
	workspace.Summary
	Next string `json:"next"`
}

// listRuns answers with how the runs stand; those that ended where a status of theirs, or
// all of them, are asked for.
func (a *App) listRuns(c *facade.Call) (int, any, error) {
	v := a.viewer(c)
	found, err := narrowed(v, c)
	if err != nil {
		return 0, nil, err
	}
	status := c.Text("status")
	s := v.LookAtRuns(found, status != "")
	if status != "" && status != "all" {
		s.Runs = slices.DeleteFunc(s.Runs, func(l workspace.RunLine) bool { return string(l.Status) != status })
	}
	list := runList{Summary: s}
	list.Runs, list.Next = page(c, s.Runs, func(l workspace.RunLine) string { return l.Run })
	return 0, list, nil
}

// runNamed is the run of a path, by its whole name.
func runNamed(v *workspace.Workspace, c *facade.Call) (reconcile.Found, error) {
	family, id := c.Values["family"], c.Values["id"]
	if c.Who.Sees(family) {
		for _, f := range v.Runs() {
			if f.Run.Family == family && f.Run.ID == id {
				return f, nil
			}
		}
	}
	return reconcile.Found{}, facade.Refuse(http.StatusNotFound, "not_found", fmt.Sprintf("there is no run %q; GET /api/v1/runs lists them", console.OneLine(family+"/"+id)))
}

// getRun answers with one run.
func (a *App) getRun(c *facade.Call) (int, any, error) {
	v := a.viewer(c)
	f, err := runNamed(v, c)
	if err != nil {
		return 0, nil, err
	}
	return 0, v.RunDataOf(v.ViewOf(f)), nil
}

// getExplanation answers with why a run stands where it stands.
func (a *App) getExplanation(c *facade.Call) (int, any, error) {
	v := a.viewer(c)
	f, err := runNamed(v, c)
	if err != nil {
		return 0, nil, err
	}
	return 0, v.Explain(workspace.Subject{View: v.ViewOf(f)}), nil
}

// streamEvents answers with the events from now on.
func (a *App) streamEvents(c *facade.Call) (int, any, error) {
	return 0, nil, a.events.Stream(c, func() bool { return a.server.StillValid(c) })
}

// health answers whether the loop is alive.
func (a *App) health(*facade.Call) (int, any, error) {
	if !a.o.Turns() {
		return 0, nil, errors.New("the loop does not turn")
	}
	return 0, map[string]bool{"ok": true}, nil
}

package web

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine/facade"
	"placet/engine/loop"
	"placet/schemas"
)

// runList is one page of status.
type runList struct {
	view.Summary
	Next string `json:"next"`
}

// listRuns answers with the state of the runs. It includes runs that have ended if the call
// asks for one of their statuses, or for all.
func (a *App) listRuns(c *facade.Call) (int, any, error) {
	v := a.viewer(c)
	found, err := narrowed(v, c)
	if err != nil {
		return 0, nil, err
	}
	p, err := newPager(c, runSection)
	if err != nil {
		return 0, nil, err
	}
	status := c.Text("status")
	s := lookAt(v, c, found, status != "")
	var rows []listedRun
	for i, line := range s.Runs {
		if status == "" || status == "all" || string(line.Status) == status {
			rows = append(rows, listedRun{line, runKey(v, s.Views[i].Found)})
		}
	}
	s.Runs = []view.RunLine{}
	for _, row := range take(p, runSection, rows, func(r listedRun) []string { return r.key }) {
		s.Runs = append(s.Runs, row.line)
	}
	return 0, runList{s, p.next}, nil
}

// listedRun is a run of the list, with the key by which the list is sorted.
type listedRun struct {
	line view.RunLine
	key  []string
}

// runKey returns a key that sorts the runs as they are found: by family, then by the path of
// their state.
func runKey(v *workspace.Workspace, f loop.Found) []string {
	return []string{fmt.Sprintf("%02d", slices.Index(v.FamilyNames(), f.Run.Family)), f.Run.State}
}

// runNamed returns the run that a path names by its whole name.
func runNamed(v *workspace.Workspace, c *facade.Call) (loop.Found, error) {
	family, id := c.Values["family"], c.Values["id"]
	if c.Who.Sees(family) {
		for _, f := range v.Runs() {
			if f.Run.Family == family && f.Run.ID == id {
				return f, nil
			}
		}
	}
	return loop.Found{}, facade.Deny(http.StatusNotFound, "not_found", "page.no.run", "name", strconv.Quote(console.OneLine(family+"/"+id)))
}

// getRun answers with one run.
func (a *App) getRun(c *facade.Call) (int, any, error) {
	v := a.viewer(c)
	f, err := runNamed(v, c)
	if err != nil {
		return 0, nil, err
	}
	return 0, view.RunDataOf(v, view.Of(v, f)), nil
}

// getExplanation answers with the reason for a run's state.
func (a *App) getExplanation(c *facade.Call) (int, any, error) {
	v := a.viewer(c)
	f, err := runNamed(v, c)
	if err != nil {
		return 0, nil, err
	}
	return 0, view.Explain(v, view.Subject{View: view.Of(v, f)}), nil
}

// streamEvents answers with the events from now on.
func (a *App) streamEvents(c *facade.Call) (int, any, error) {
	if err := knownFamily(a.b, c.Text("family")); err != nil {
		return 0, nil, err
	}
	for _, name := range strings.Split(c.Text("filter"), ",") {
		if near := schemas.Nearest(name, eventNames); near != "" && near != name {
			return 0, nil, facade.Invalid(facade.UnknownWord("filter", name, eventNames))
		}
	}
	return 0, nil, a.events.Stream(c, func() bool { return a.server.StillValid(c) })
}

// eventNames are the names of the events that all families have.
var eventNames = []string{"transition", "request", "reset"}

// health answers whether the loop is alive.
func (a *App) health(*facade.Call) (int, any, error) {
	if !a.o.Turns() {
		return 0, nil, errors.New("the loop does not turn")
	}
	return 0, map[string]bool{"ok": true}, nil
}

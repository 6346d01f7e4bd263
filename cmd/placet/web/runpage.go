package web

import (
	"net/http"
	"time"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/facade"
	"placet/templates"
)

// runRow is a run in the list.
type runRow struct {
	Name, Path, Class, Status, Waits string
	Since                            time.Time
}

// runsPage shows where every run stands.
func (a *App) runsPage(c *facade.Call) (int, any, error) {
	v := a.viewer(c)
	found, err := narrowed(v, c)
	if err != nil {
		return 0, nil, err
	}
	all := c.Text("status") != ""
	s := lookAt(v, c, found, all)
	data := struct {
		pageHead
		stateOf
		All  bool
		Runs []runRow
	}{pageHead: a.head(c, "runs", templates.Text(a.language(c), "page.runs")), stateOf: stateIn(v, s), All: all}
	for i, l := range s.Runs {
		if i == mostListed {
			break
		}
		view := s.Views[i]
		data.Runs = append(data.Runs, runRow{
			Name: console.Brief(view.Key), Path: runPath(l.Run), Status: console.OneLine(string(l.Status)), Since: view.Since,
			Class: statusClass(view.Final, view.Troubled(), len(view.Open) > 0), Waits: workspace.WaitsAt(view),
		})
	}
	return 0, nil, a.show(c, http.StatusOK, data.Lang, "runs", data)
}

// planNode is a part of a run's plan, or of the run.
type planNode struct {
	Label, Group, Status, Class string
	Current                     bool
}

// runView is a run's page.
type runView struct {
	pageHead
	stateOf
	Family, Status, Class, Heading string
	Open                           []inboxCard
	Why                            []string
	Moves, Facts                   []engine.Fact
	Plan, Parts                    []planNode
	Log                            []engine.Entry
}

// shownLog is how many events of a run its page shows, the newest.
const shownLog = 200

// runPage shows a run: why it stands where it stands, its plan and its log.
func (a *App) runPage(c *facade.Call) (int, any, error) {
	v := a.viewer(c)
	f, err := runNamed(v, c)
	if err != nil {
		return 0, nil, err
	}
	view := v.ViewOf(f)
	e := v.Explain(workspace.Subject{View: view})
	page := runView{
		pageHead: a.head(c, "run", console.Brief(view.Key)), stateOf: stateOf{Held: e.Held},
		Family: view.Key.Family, Status: console.OneLine(string(view.Status)), Class: statusClass(view.Final, view.Troubled(), len(view.Open) > 0), Heading: console.Brief(view.Key),
	}
	page.Run = view.Key.String()
	for _, n := range e.Problems {
		page.Problems = append(page.Problems, workspace.RunProblem{Run: page.Run, Note: n})
	}
	for _, o := range view.Open {
		page.Open = append(page.Open, cardOf(v, page.Lang, o))
	}
	for _, why := range e.Why {
		page.Why = append(page.Why, console.OneLine(why))
	}
	for _, m := range e.Moves {
		page.Moves = append(page.Moves, engine.Fact{Label: console.OneLine(m.Path), Value: console.Lines(m.Content)})
	}
	for _, fact := range view.Facts {
		page.Facts = append(page.Facts, engine.Fact{Label: console.OneLine(fact.Label), Value: console.OneLine(fact.Value)})
	}
	for _, n := range view.Graph {
		page.Plan = append(page.Plan, planNode{console.OneLine(n.Label), console.OneLine(n.Group), console.OneLine(string(n.Status)), nodeClass(n.Status, n.Current), n.Current})
	}
	for _, p := range view.Parts {
		page.Parts = append(page.Parts, planNode{Label: console.OneLine(p.ID), Status: console.OneLine(string(p.Status)), Class: nodeClass(p.Status, false)})
	}
	for _, l := range view.Log[max(0, len(view.Log)-shownLog):] {
		l.Message, l.Who, l.Where, l.Event = console.Cut(console.OneLine(l.Message), 300), console.OneLine(l.Who), console.OneLine(l.Where), console.OneLine(l.Event)
		page.Log = append([]engine.Entry{l}, page.Log...)
	}
	return 0, nil, a.show(c, http.StatusOK, page.Lang, "run", page)
}

// nodeClass is how the status of a part looks.
func nodeClass(s engine.Status, current bool) string {
	switch s {
	case "completed", "skipped", "succeeded", "approved", "passed":
		return "done"
	case "failed", "blocked", "escalated":
		return "alarm"
	}
	if current {
		return "waits"
	}
	return "runs"
}

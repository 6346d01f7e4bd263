package web

import (
	"net/http"

	"placet/cmd/placet/view"
	"placet/cmd/placet/web/nemawashi"
	"placet/engine/facade"
)

// These are the parameters of lists.
var (
	familyParam = facade.Param{Name: "family", Summary: "of one family alone"}
	runParam    = facade.Param{Name: "run", Summary: "of one run alone, <family>/<id>"}
	limitParam  = facade.Param{Name: "limit", Summary: "how many at most", Least: 1, Most: 1000, Default: "100"}
	afterParam  = facade.Param{Name: "after", Summary: "what follows the next of an earlier answer"}
)

// Routes returns all routes, the most specific first.
func (a *App) Routes() []facade.Route {
	routes := []facade.Route{
		{
			Method: http.MethodGet, Path: "/api/v1/requests", Summary: "What is asked, oldest first", Access: facade.TokenOrSession, Role: facade.Read,
			Query: []facade.Param{
				familyParam, runParam, {Name: "type", Summary: "of one type alone"},
				{Name: "status", Summary: "open, closed, or all", Words: []string{"open", "closed", "all"}, Default: "open"}, limitParam, afterParam,
			},
			Data: requestList{}, Handle: a.listRequests,
		},
		{
			Method: http.MethodGet, Path: "/api/v1/requests/{id}", Summary: "All about one request: its id, or <run>:<id> percent-encoded", Access: facade.TokenOrSession, Role: facade.Read,
			Data: facade.Either{view.OpenData{}, view.ClosedData{}}, Handle: a.getRequest,
		},
		{
			Method: http.MethodGet, Path: "/api/v1/requests/{id}/artifacts/{n}", Summary: "A file that the request shows; the header Placet-Now says what became of it: same, changed, missing",
			Access: facade.TokenOrSession, Role: facade.Read,
			Query: []facade.Param{{Name: "version", Summary: "as it was asked about, as it is now, or what changed", Words: []string{"asked", "now", "diff"}, Default: "asked"}},
			Raw:   true, Handle: a.getArtifact,
		},
		{
			Method: http.MethodPost, Path: "/api/v1/requests/{id}/answer", Summary: "Answer a request, for what was shown", Access: facade.TokenOrSession, Role: facade.Decide,
			Body: &answerBody{}, Data: answered{}, Handle: a.postAnswer,
		},
		{
			Method: http.MethodGet, Path: "/api/v1/runs", Summary: "Where every run stands", Access: facade.TokenOrSession, Role: facade.Read,
			Query: []facade.Param{familyParam, {Name: "status", Summary: "those of a status, or all, those that ended among them"}, limitParam, afterParam},
			Data:  runList{}, Handle: a.listRuns,
		},
		{
			Method: http.MethodGet, Path: "/api/v1/runs/{family}/{id...}", Summary: "All about one run", Access: facade.TokenOrSession, Role: facade.Read,
			Data: view.RunData{}, Handle: a.getRun,
		},
		{
			Method: http.MethodGet, Path: "/api/v1/explain/{family}/{id...}", Summary: "Why a run stands where it stands", Access: facade.TokenOrSession, Role: facade.Read,
			Data: view.Explanation{}, Handle: a.getExplanation,
		},
		{
			Method: http.MethodGet, Path: "/api/v1/events", Summary: "One stream of what happens, as server-sent events; Last-Event-ID resumes it", Access: facade.TokenOrSession, Role: facade.Read,
			Query: []facade.Param{
				familyParam, runParam, {Name: "filter", Summary: "names of events, with commas; worker.progress.<session> for one worker"},
				{Name: "session_id", Summary: "of one worker's session alone; what is about no session passes"},
			},
			Raw: true, Handle: a.streamEvents,
		},
		{Method: http.MethodGet, Path: "/healthz", Summary: "Whether placet is at work", Bare: true, Data: map[string]bool{}, Handle: a.health},
	}
	routes = append(routes, facade.Route{Method: http.MethodGet, Path: "/metrics", Summary: "Metrics for Prometheus", Raw: true, Handle: func(c *facade.Call) (int, any, error) {
		a.o.Metrics(c)
		return 0, nil, nil
	}})
	routes = append(routes, nemawashi.Routes(surface{a})...)
	routes = append(routes, a.agentRoutes()...)
	routes = append(routes, a.slackRoutes()...)
	routes = append(routes, a.linkRoute())
	routes = append(routes, a.pageRoutes()...)
	// The description covers the whole table, including itself.
	describe := facade.Route{Method: http.MethodGet, Path: "/openapi.json", Summary: "This description", Bare: true}
	all := append(routes, describe)
	description := facade.OpenAPI(all, a.o.Version)
	all[len(all)-1].Handle = func(*facade.Call) (int, any, error) { return 0, description, nil }
	return all
}

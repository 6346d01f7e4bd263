package web

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"placet/cmd/placet/asks"
	"placet/cmd/placet/workspace"
	"placet/engine/facade"
	"placet/engine/facade/mcp"
)

// agents serves the hosts of agents that call over MCP. It is set up at the first call.
type agents struct {
	mu      sync.Mutex
	closed  bool
	ended   context.Context
	end     context.CancelFunc
	asks    *asks.Asks
	handler *mcp.Handler
	servers map[string]*mcp.Server // by the name of the token, which is unique
}

func (a *App) agentRoutes() (routes []facade.Route) {
	for method, summary := range map[string]string{
		http.MethodPost:   "A message of an agent's host in the Model Context Protocol (docs/mcp.md)",
		http.MethodGet:    "What an agent's host is told outside of its calls, as server-sent events",
		http.MethodDelete: "End the session of an agent's host",
	} {
		routes = append(routes, facade.Route{Method: method, Path: "/mcp", Summary: summary, Access: facade.TokenOnly, Role: facade.Read, Raw: true, Handle: a.answerAgent})
	}
	slices.SortFunc(routes, func(x, y facade.Route) int { return strings.Compare(x.Method, y.Method) })
	return routes
}

// lookAtAgent is how often placet checks that the agent of a waiting call still has access.
const lookAtAgent = time.Second

// answerAgent answers a call of an agent's host, which may wait for a day.
func (a *App) answerAgent(c *facade.Call) (int, any, error) {
	server, ended, err := a.agents.serverOf(a, c.Who)
	if err != nil {
		return 0, nil, err
	}
	_ = http.NewResponseController(c.Writer).SetWriteDeadline(time.Time{}) // it streams
	ctx, cancel := context.WithCancel(c.Context())
	defer cancel()
	go func() {
		tick := time.NewTicker(lookAtAgent)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ended.Done():
				cancel()
			case <-tick.C:
				if !a.server.StillValid(c) {
					cancel()
				}
			}
		}
	}()
	r := c.WithContext(ctx)
	r.Body = io.NopCloser(bytes.NewReader(c.Raw))
	a.agents.handler.Serve(c.Writer, r, server, c.Who.Known)
	return 0, nil, nil
}

// serverOf returns the server for a caller, and the context that ends all servers.
func (x *agents) serverOf(a *App, who facade.Identity) (*mcp.Server, context.Context, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return nil, nil, facade.Refuse(http.StatusServiceUnavailable, "unavailable", "placet ends")
	}
	if x.handler == nil {
		if err := x.begin(a); err != nil {
			return nil, nil, err
		}
	}
	s := x.servers[who.Token]
	if s == nil {
		who.Source = "mcp"
		s = mcp.New(mcp.Options{
			Workspace: &asks.Agent{
				Asks: x.asks, Who: who, Origin: "token " + who.Token,
				Look: func() *workspace.Workspace { return a.b.Viewer(who) }, Explanation: a.o.Explanation,
			},
			Version: a.o.Version, Wait: a.o.AgentWait, Elicit: func() string { return a.b.Current().MCP.Elicit },
		})
		x.servers[who.Token] = s
	}
	return s, x.ended, nil
}

// begin opens the workspace to ask people, as a separate process would.
func (x *agents) begin(a *App) (err error) {
	x.ended, x.end = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			x.end()
		}
	}()
	if !a.b.Serves("ask") {
		return facade.Refuse(http.StatusConflict, "not_configured", "[ask] is not enabled: agents cannot ask")
	}
	if x.asks, err = asks.Open(x.ended, asks.AgentEnv(a.b.Env, a.b.Root)); err != nil {
		return err
	}
	serve := a.b.Serve
	origins := slices.Clone(serve.AllowedOrigins)
	if serve.PublicURL != "" {
		origins = append(origins, strings.TrimSuffix(serve.PublicURL, "/"))
	}
	if x.handler, err = mcp.NewHandler(origins, a.o.Log); err != nil {
		return err
	}
	x.servers = map[string]*mcp.Server{}
	go x.asks.Serve(x.ended)
	return nil
}

// close ends all waits of agents.
func (x *agents) close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
	if x.end != nil {
		x.end()
	}
	for _, s := range x.servers {
		s.Close()
	}
}

// Package web serves a workspace over HTTP to browsers and programs: it has the table of routes, and
// what each of them does. It reads by the same functions as the command line, and answers with the
// same types; what it writes is what any editor could have written.
//
// requests.go and runs.go are the API of all families; inboxpage.go, requestpage.go and runpage.go are
// the pages; commits.go sends the changes of a commit, refused.go counts answers that nobody may give,
// and agents.go answers agents' hosts.
package web

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine/facade"
	"placet/engine/send"
)

// Options are the dependencies of the routes.
type Options struct {
	// Wait is how long a call waits for the outcome of what it has written.
	Wait time.Duration
	// Metrics answers /metrics.
	Metrics func(c *facade.Call)
	// Turns reports whether the loop is alive.
	Turns    func() bool
	Tokens   facade.Tokens
	Sessions *facade.Sessions
	Version  string
	// Sender calls Slack. Loopback says that only this machine reaches the server.
	Sender   *send.Sender
	Loopback bool
	// Press answers for the code in the call of a button.
	Press func(ctx context.Context, text string) error
	// AgentWait is how long an agent's call waits if it does not say, and Explanation returns the
	// explanation for people of a run's state.
	AgentWait   time.Duration
	Explanation func(b *workspace.Workspace, s view.Subject) string
	Log         *slog.Logger
}

// App answers the calls.
type App struct {
	o       Options
	b       *workspace.Workspace
	server  *facade.Server
	events  facade.Events
	waiters waiters
	refused refusals
	sending chan struct{}
	notes   sync.Mutex // held while a note in a thread is counted and written
	agents  agents
}

// New returns an app. It must be attached to the loop before the workspace is open, and Begin must be
// called before the first call.
func New() *App { return &App{sending: make(chan struct{}, slackSends)} }

// Begin gives the app its workspace.
func (a *App) Begin(b *workspace.Workspace, o Options) {
	a.b, a.o = b, o
}

// Serve sets the server of the app's routes.
func (a *App) Serve(s *facade.Server) { a.server = s }

// Close ends all streams.
func (a *App) Close() {
	a.events.Close()
	a.agents.close()
}

// viewer returns the workspace for one call.
func (a *App) viewer(c *facade.Call) *workspace.Workspace { return a.b.Viewer(c.Who) }

// reader returns the workspace for a page, in the page's language.
func (a *App) reader(c *facade.Call) *workspace.Workspace {
	v := a.viewer(c)
	v.Env.Lang = a.language(c)
	return v
}

// Encode puts data into the envelope of --json.
func Encode(data any, bare bool) ([]byte, error) { return console.Encode(data, bare) }

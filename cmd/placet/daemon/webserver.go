package daemon

import (
	"cmp"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"placet/cmd/placet/console"
	"placet/cmd/placet/web"
	"placet/cmd/placet/workspace"
	"placet/engine/facade"
	"placet/engine/loop"
	"placet/engine/watch"
)

// Pages are what the API and the pages of a workspace need besides it.
type Pages struct {
	// Address is where they are, "" for that of the settings.
	Address, Version string
	Tokens           facade.Tokens
	// AgentWait is how long an agent's call waits that does not say, and Explanation how people
	// are told why a run stands where it stands.
	AgentWait   time.Duration
	Explanation func(b *workspace.Workspace, s workspace.Subject) string
}

// webServer answers with an API and pages.
type webServer struct {
	metricsSource
	Pages
	app      *web.App
	listener net.Listener
	server   *facade.Server
	answer   http.Handler // of /metrics
	loop     *loop.Loop
	// ended notes that the workspace is not served any more, nil where it was not.
	ended func() error
}

// NewPages returns a server of the API and the pages of a workspace, and of its metrics.
func NewPages(p Pages) Server {
	return &webServer{metricsSource: metricsSource{metrics: newMetrics(p.Version)}, Pages: p, app: web.New()}
}

// attach implements [Server].
func (s *webServer) attach(o *loop.Options) {
	s.metrics.attach(o)
	s.app.Attach(o)
}

// listen implements [Server]. What would let the wrong people in ends the start.
func (s *webServer) listen(b *workspace.Workspace) error {
	if err := mayServe(b); err != nil {
		return err
	}
	if _, err := s.Tokens.List(); err != nil {
		return console.Usage("say.text", "text", err)
	}
	l, err := listenAt(cmp.Or(s.Address, b.Serve.Listen), "cli.serve.listen")
	if err != nil {
		return err
	}
	s.listener = l
	if b.Slack.AllowUnsigned && !listensToLoopback(l) {
		return console.Usage("cli.serve.unsigned", "address", l.Addr()).Try("cli.serve.sign")
	}
	return nil
}

// mayServe says why a workspace cannot be served over HTTP.
func mayServe(b *workspace.Workspace) error {
	for _, w := range b.Settings.Waiting {
		if name := w.Name(); name == "serve" || strings.HasPrefix(name, "serve.") {
			return console.Usage("cli.serve.untrusted", "path", console.OneLine(w.Path), "line", w.Line).Try("cli.serve.trust")
		}
	}
	if b.StateDir == nil {
		return console.Usage("cli.serve.stateless", "error", b.Stateless)
	}
	if err := b.StateDir.CheckAttributions(); err != nil {
		return console.Usage("cli.serve.attributions", "error", err)
	}
	return nil
}

// serve implements [Server].
func (s *webServer) serve(b *workspace.Workspace, watcher *watch.Watcher, log *slog.Logger) {
	s.answer, s.loop = s.begin(b, watcher), b.Loop
	s.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "placet_refused_answers_total", Help: "Answers that came over HTTP from somebody who may not give them.",
	}, func() float64 { return float64(s.app.Refused()) }))
	sessions := &facade.Sessions{Site: filepath.Base(b.StateDir.Location())[:8], Owner: console.Login(), Secure: strings.HasPrefix(b.Serve.PublicURL, "https://"), Take: b.TakeLogin}
	s.app.Begin(b, web.Options{
		Wait: b.Serve.Waits(), Version: s.Version, Log: log, Tokens: s.Tokens, Sessions: sessions,
		Metrics: func(c *facade.Call) { s.answer.ServeHTTP(c.Writer, c.Request) },
		Turns:   s.turns, Sender: b.Sender(), Loopback: listensToLoopback(s.listener),
		AgentWait: s.AgentWait, Explanation: s.Explanation,
	})
	s.server = facade.New(facade.Options{
		Routes: s.app.Routes(), Tokens: s.Tokens, Sessions: sessions, PublicURL: b.Serve.PublicURL,
		Hosts: slices.Concat(b.Serve.AllowedHosts, namedHost(cmp.Or(s.Address, b.Serve.Listen))), Origins: b.Serve.AllowedOrigins,
		Encode: web.Encode, Page: s.app.Problem, Now: b.Env.Now, Log: log,
	})
	s.app.Serve(s.server)
	go func() {
		if err := s.server.Serve(s.listener); err != nil {
			log.Warn("HTTP is not answered any more", "err", err)
		}
	}()
	url := s.url(b)
	if err := b.SetServedAt(url); err != nil {
		log.Warn("placet open and placet login do not find this server", "err", err)
	}
	s.ended = func() error { return b.ClearServedAt(url) }
	b.Env.Note("cli.serve.at", "url", url)
	s.noteLogin(b, url)
}

// noteLogin prints a link by which the owner logs in.
func (s *webServer) noteLogin(b *workspace.Workspace, url string) {
	link, err := LoginLink(b, url, "")
	if err != nil {
		b.Env.Note("cli.serve.nolink", "error", err)
		return
	}
	b.Env.Note("cli.serve.login", "time", facade.LinkTime, "link", link)
}

// listensToLoopback reports whether this machine alone can reach a listener.
func listensToLoopback(l net.Listener) bool {
	at, ok := l.Addr().(*net.TCPAddr)
	return ok && at.IP.IsLoopback()
}

// namedHost is the name that a listen address has, which callers may use; an address
// that stands for all of them is no name.
func namedHost(address string) []string {
	host, _, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err != nil || ip != nil && ip.IsUnspecified() {
		return nil
	}
	return []string{host}
}

// url is where browsers find the pages.
func (s *webServer) url(b *workspace.Workspace) string {
	return strings.TrimSuffix(cmp.Or(b.Serve.PublicURL, "http://"+addressOf(s.listener)), "/")
}

// turns reports whether the loop was looked at a while ago: it holds nothing for long.
func (s *webServer) turns() bool {
	seen := s.seen.Load()
	return seen != nil && time.Since(seen.at) < oldLook && !seen.stopped
}

// close implements [Server].
func (s *webServer) close() {
	switch {
	case s.listener == nil:
	case s.server == nil:
		_ = s.listener.Close()
	default:
		_ = s.ended() // where that fails no link leads anywhere once the lock is free
		s.stop()
		s.app.Close()
		s.server.Close()
	}
}

// LoginLink makes a link by which a browser logs in once, as a token or, without a name,
// as the owner.
func LoginLink(b *workspace.Workspace, url, token string) (string, error) {
	word, err := b.NewLogin(token)
	return url + "/login#" + word, err
}

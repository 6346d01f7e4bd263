package daemon

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/web"
	"placet/cmd/placet/workspace"
	"placet/engine/facade"
	"placet/engine/loop"
	"placet/engine/watch"
)

// Pages are the settings of the API and the pages of a workspace.
type Pages struct {
	// Address is where they listen, "" for the address of the settings.
	Address, Version string
	Tokens           facade.Tokens
	// AgentWait is how long an agent's call waits if it does not say, and Explanation returns
	// the explanation for people of a run's state.
	AgentWait   time.Duration
	Explanation func(b *workspace.Workspace, s view.Subject) string
}

// webServer answers with an API and pages.
type webServer struct {
	answering
	Pages
	app   *web.App
	press func(ctx context.Context, text string) error
	// pageHost is the name of this machine at which the pages are, a new one each time, "" if
	// public_url or the address says where they are. Browsers resolve every name below localhost
	// themselves.
	pageHost string
}

// NewPages returns a server of the API and the pages of a workspace, and of its metrics.
func NewPages(p Pages) Server {
	return &webServer{answering: answering{metrics: newMetrics(p.Version)}, Pages: p, app: web.New()}
}

// attach implements [Server].
func (s *webServer) attach(o *loop.Options) {
	s.metrics.attach(o)
	s.app.Attach(o)
}

// listen implements [Server]. It ends the start if the wrong people could get in.
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

// presses implements [Server]: whoever has a button reaches the public address.
func (s *webServer) presses(b *workspace.Workspace, press func(ctx context.Context, text string) error) (at string) {
	s.press = press
	if b.Serve.PublicURL == "" {
		return ""
	}
	return strings.TrimSuffix(b.Serve.PublicURL, "/") + web.LinksPath
}

// mayServe returns the reason why a workspace cannot be served over HTTP, or nil.
func mayServe(b *workspace.Workspace) error {
	for _, w := range b.Settings.Waiting {
		if name := w.Name(); name == "serve" || strings.HasPrefix(name, "serve.") {
			return console.Usage("cli.serve.untrusted", "path", w.Path, "line", w.Line).Try("cli.serve.trust")
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
	if b.Serve.PublicURL == "" && listensToLoopback(s.listener) {
		s.pageHost = "placet-" + strings.ToLower(rand.Text()) + ".localhost"
	}
	server := s.routed(b, s.begin(b, watcher), log)
	go func() {
		if err := server.Serve(s.listener); err != nil {
			log.Warn("HTTP is not answered any more", "err", err)
		}
	}()
	url := strings.TrimSuffix(cmp.Or(b.Serve.PublicURL, "http://"+addressOf(s.listener)), "/")
	pages := s.pagesAt(url)
	if err := workspace.SetServedAt(b, pages); err != nil {
		log.Warn("placet open and placet open --print do not find this server", "err", err)
	}
	s.end = func() {
		_ = workspace.ClearServedAt(b, pages) // if that fails, the links lead nowhere once the lock is free
		s.app.Close()
		server.Close()
	}
	b.Env.Note("cli.serve.at", "url", url)
	noteLogin(b, pages)
}

// routed returns the server of all routes. metrics answers one of them.
func (s *webServer) routed(b *workspace.Workspace, metrics http.Handler, log *slog.Logger) *facade.Server {
	refused := metric{name: "placet_refused_answers_total", kind: "counter", help: "Answers that came over HTTP from somebody who may not give them."}
	s.registry.gather(func(tell tell) { tell(refused, float64(s.app.Refused())) })
	sessions := &facade.Sessions{Site: siteOf(b), Owner: console.Login(), Secure: strings.HasPrefix(b.Serve.PublicURL, "https://"), Take: func(hash string, now time.Time) (string, bool) { return workspace.TakeLogin(b, hash, now) }}
	s.app.Begin(b, web.Options{
		Wait: b.Serve.Waits(), Version: s.Version, Log: log, Tokens: s.Tokens, Sessions: sessions,
		Metrics: func(c *facade.Call) { metrics.ServeHTTP(c.Writer, c.Request) },
		Turns:   s.turns, Sender: b.Sender(), Loopback: listensToLoopback(s.listener),
		AgentWait: s.AgentWait, Explanation: s.Explanation, Press: s.press,
	})
	server := facade.New(facade.Options{
		Routes: s.app.Routes(), Tokens: s.Tokens, Sessions: sessions, PublicURL: b.Serve.PublicURL, PageHost: s.pageHost,
		Hosts: slices.Concat(b.Serve.AllowedHosts, namedHost(cmp.Or(s.Address, b.Serve.Listen))), Origins: b.Serve.AllowedOrigins,
		Encode: web.Encode, Page: s.app.Problem, Now: b.Env.Now, Log: log,
	})
	s.app.Serve(server)
	return server
}

// noteLogin prints a link by which the owner logs in.
func noteLogin(b *workspace.Workspace, url string) {
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

// namedHost returns the host name of a listen address, which callers may use; nothing for an
// address that stands for all of them.
func namedHost(address string) []string {
	host, _, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err != nil || ip != nil && ip.IsUnspecified() {
		return nil
	}
	return []string{host}
}

// turns reports whether the loop answered not long ago: it holds nothing for long.
func (s *webServer) turns() bool {
	seen := s.seen.Load()
	return seen != nil && time.Since(seen.at) < oldLook && !seen.stopped
}

// siteOf returns a word that distinguishes the cookies of a workspace from those of others.
func siteOf(b *workspace.Workspace) string { return filepath.Base(b.StateDir.Location())[:8] }

// pagesAt returns where the pages of the server at an address are.
func (s *webServer) pagesAt(at string) string {
	u, err := url.Parse(at)
	if err != nil || s.pageHost == "" {
		return at
	}
	return "http://" + net.JoinHostPort(s.pageHost, u.Port())
}

// LoginLink makes a link by which a browser logs in once to the pages at an address, as a token
// or, without a name, as the owner.
func LoginLink(b *workspace.Workspace, pages, token string) (string, error) {
	word, err := workspace.NewLogin(b, token)
	return pages + "/login#" + word, err
}

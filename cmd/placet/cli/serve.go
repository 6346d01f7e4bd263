package cli

import (
	"cmp"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"placet/cmd/placet/cli/verb"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"

	"placet/cmd/placet/console"
	"placet/cmd/placet/web"
	"placet/cmd/placet/workspace"
	"placet/engine/facade"
	"placet/engine/loop"
	"placet/engine/watch"
)

func serveVerb() verb.Verb {
	var format, listen string
	var watches int
	return verb.Verb{
		Use:   "serve",
		Group: verb.GroupRun,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&listen, "listen", "", "")
			f.StringVar(&format, "log", "text", "")
			f.IntVar(&watches, "watches", 0, "")
		},
		Run: func(c verb.Call) error {
			switch {
			case c.Env.Flags.JSON:
				return console.Usage("cli.watch.endless", "verb", "serve").Try("say.text", "text", "placet serve --log json")
			case format != "text" && format != "json":
				return console.Usage("cli.watch.log", "value", strconv.Quote(console.OneLine(format)))
			}
			return serveWorkspace(c.Ctx, c.Env, format == "json", watches, newWebServer(c.Env, listen))
		},
	}
}

// webServer is serve's: watch with an API and pages before it.
type webServer struct {
	metricsSource
	env      *console.Env
	address  string // "" for that of the settings
	app      *web.App
	listener net.Listener
	server   *facade.Server
	answer   http.Handler // of /metrics
	loop     *loop.Loop
	// agentWait is how long an agent's call waits that does not say.
	agentWait time.Duration
	// ended notes that the workspace is not served any more, nil where it was not.
	ended func() error
}

func newWebServer(w *console.Env, listen string) *webServer {
	s := &webServer{metricsSource: metricsSource{metrics: newMetrics()}, env: w, address: listen}
	s.app = web.New()
	return s
}

// attach implements server.
func (s *webServer) attach(o *loop.Options) {
	s.metrics.attach(o)
	s.app.Attach(o)
}

// tokensAt is where the user's tokens are.
func tokensAt(w *console.Env) (facade.Tokens, error) {
	dir := w.XDG("XDG_CONFIG_HOME", ".config")
	if dir == "" {
		return facade.Tokens{}, console.Usage("cli.token.where").Try("cli.token.home")
	}
	return facade.Tokens{Path: filepath.Join(dir, "placet", "tokens.json")}, nil
}

// listen implements server. What would let the wrong people in ends the start.
func (s *webServer) listen(b *workspace.Workspace) error {
	if err := mayServe(b); err != nil {
		return err
	}
	tokens, err := tokensAt(s.env)
	if err != nil {
		return err
	}
	if _, err := tokens.List(); err != nil {
		return console.Usage("say.text", "text", err)
	}
	if s.agentWait, err = agentWait(s.env); err != nil {
		return err
	}
	l, err := listenAt(cmp.Or(s.address, b.Serve.Listen), "cli.serve.listen")
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

// serve implements server.
func (s *webServer) serve(b *workspace.Workspace, watcher *watch.Watcher, log *slog.Logger) {
	s.answer, s.loop = s.begin(b, watcher), b.Loop
	s.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "placet_refused_answers_total", Help: "Answers that came over HTTP from somebody who may not give them.",
	}, func() float64 { return float64(s.app.Refused()) }))
	tokens, _ := tokensAt(s.env) // listen has looked
	sessions := &facade.Sessions{Site: filepath.Base(b.StateDir.Location())[:8], Owner: console.Login(), Secure: strings.HasPrefix(b.Serve.PublicURL, "https://"), Take: b.TakeLogin}
	s.app.Begin(b, web.Options{
		Wait: b.Serve.Waits(), Version: thisBuild().Version, Log: log, Tokens: tokens, Sessions: sessions,
		Metrics: func(c *facade.Call) { s.answer.ServeHTTP(c.Writer, c.Request) },
		Turns:   s.turns, Sender: b.Sender(), Loopback: listensToLoopback(s.listener),
		AgentWait: s.agentWait, Explanation: explanationText,
	})
	s.server = facade.New(facade.Options{
		Routes: s.app.Routes(), Tokens: tokens, Sessions: sessions, PublicURL: b.Serve.PublicURL,
		Hosts: slices.Concat(b.Serve.AllowedHosts, namedHost(cmp.Or(s.address, b.Serve.Listen))), Origins: b.Serve.AllowedOrigins,
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
	link, err := loginLink(b, url, "")
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

// close implements server.
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

// loginLink makes a link by which a browser logs in once, as a token or, without a name,
// as the owner.
func loginLink(b *workspace.Workspace, url, token string) (string, error) {
	word, err := b.NewLogin(token)
	return url + "/login#" + word, err
}

func loginVerb() verb.Verb {
	return verb.Verb{
		Use:  "login [TOKEN]",
		Most: 1, Group: verb.GroupSetUp,
		Look: func(c verb.Call, b *workspace.Workspace) error {
			link, err := newLink(b, console.First(c.Args))
			if err != nil {
				return err
			}
			return b.Env.Answer(map[string]string{"link": link}, func() { fmt.Fprintln(b.Env.Out, link) })
		},
	}
}

// newLink is a link for a running serve.
func newLink(b *workspace.Workspace, token string) (string, error) {
	if token != "" {
		tokens, err := tokensAt(b.Env)
		if err != nil {
			return "", err
		}
		if _, ok := tokens.Named(token, b.Env.Now()); !ok {
			return "", console.Refused("cli.login.token", "name", strconv.Quote(console.OneLine(token))).Try("say.text", "text", "placet token list")
		}
	}
	url := b.ServedAt()
	if url == "" {
		return "", console.Refused("cli.login.noserve", "workspace", strconv.Quote(b.Root)).Try("cli.login.start")
	}
	return loginLink(b, url, token)
}

func openVerb() verb.Verb {
	return verb.Verb{
		Use:  "open [REQUEST]",
		Most: 1, Group: verb.GroupDecide, Complete: verb.CompleteRequests,
		Look: func(c verb.Call, b *workspace.Workspace) error {
			page := ""
			if len(c.Args) > 0 {
				name, _, err := workspace.CutDigest(c.Args[0])
				if err != nil {
					return err
				}
				t, err := b.OneRequest(name)
				if err != nil {
					return err
				}
				page = t.Run.String() + ":" + t.Request
			}
			link, err := newLink(b, "")
			if err != nil {
				return err
			}
			if page != "" {
				link += "&" + web.RequestPath(page)
			}
			return b.Env.Answer(map[string]string{"link": link}, func() { browse(b, link) })
		},
	}
}

// browse opens a link in the user's browser, and prints it where there is none.
func browse(b *workspace.Workspace, link string) {
	if err := openBrowser(b.Env, link); err != nil {
		b.Env.Note("cli.open.nobrowser", "error", err, "time", facade.LinkTime)
		fmt.Fprintln(b.Env.Out, link)
	}
}

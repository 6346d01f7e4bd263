package facade

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Limits of a call.
const (
	headerTime  = 5 * time.Second  // to send the header
	bodyTime    = 30 * time.Second // to send the body
	answerTime  = 60 * time.Second // to receive the answer
	idleTime    = 60 * time.Second // before the next call on a connection
	headerBytes = 16 << 10
	closeTime   = 5 * time.Second // for open calls to end when placet ends
)

// Limits of a call whose caller is not identified.
const (
	anonymousTime = 2 * time.Second // to send the body
	anonymousBody = 4 << 10         // a login link has some 50 bytes
	// signedBody is for calls whose signature covers the body: it is read before the caller
	// is identified. Slack repeats in it the message whose button was pressed, up to 3000
	// characters a block, each of them nine bytes in a form. A body that takes longer than
	// anonymousTime is lost anyway, because Slack waits three seconds for the answer.
	signedBody = 256 << 10
)

// Options configure a server.
type Options struct {
	Routes []Route
	Tokens Tokens
	// Sessions are the sessions of browsers, nil for none.
	Sessions *Sessions
	// PublicURL is the address at which browsers reach the server, "" for the listening
	// address.
	PublicURL string
	// PageHost is the name of this machine at which pages are shown and browsers are logged in,
	// because they send a cookie to all ports of a host; "" stands for every name. Nobody else may
	// know it: a page of another port could lead a browser there.
	PageHost string
	// Hosts and Origins are further ones that a call may name; loopback is always allowed.
	Hosts, Origins []string
	// Encode puts data into its envelope, or encodes it bare.
	Encode func(data any, bare bool) ([]byte, error)
	// Page answers a problem for the viewer of a page; nil: as for programs.
	Page func(c *Call, p *Problem) bool
	Now  func() time.Time
	Log  *slog.Logger
}

// Server answers HTTP.
type Server struct {
	o      Options
	server *http.Server
	ended  chan struct{}
}

// New returns a server that does not listen yet.
func New(o Options) *Server {
	s := &Server{o: o, ended: make(chan struct{})}
	s.server = &http.Server{
		Handler:           s,
		ReadHeaderTimeout: headerTime, ReadTimeout: headerTime + bodyTime, WriteTimeout: headerTime + bodyTime + answerTime, IdleTimeout: idleTime,
		// net/http adds 4 KiB of its own.
		MaxHeaderBytes: headerBytes - 4<<10,
		ErrorLog:       slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
		ConnState:      connectionState,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connectionKey{}, c)
		},
	}
	return s
}

// Serve answers on a listener until Close.
func (s *Server) Serve(l net.Listener) error {
	defer close(s.ended)
	if err := s.server.Serve(limit(l, mostAnonymous, mostIdentified)); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Close waits a while for open calls to end. Streams end when their contexts do.
func (s *Server) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	if s.server.Shutdown(ctx) != nil {
		_ = s.server.Close()
	}
	<-s.ended
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	c := &Call{Request: r, Writer: w}
	// The deadline holds until the body has been read, also if the call is refused before.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(anonymousTime))
	route, err := s.admit(c)
	if err == nil {
		err = s.handle(c, route)
	}
	if err != nil {
		s.refuse(c, route, err)
	}
}

// admit makes every check of a call, in the order of the package's documentation.
func (s *Server) admit(c *Call) (route Route, err error) {
	defer func() {
		if c.Who.Known == "" {
			connectionOf(c.Request).forget()
		}
	}()
	if err := s.checkHost(c.Request); err != nil {
		return route, err
	}
	route, c.Values, err = find(s.o.Routes, c.Request)
	if err != nil {
		return route, err
	}
	if s.isElsewhere(c.Request) && route.isPage() && route.Form { // what pages load is no secret
		return route, Deny(http.StatusForbidden, "host", "page.no.page")
	}
	if err := s.identify(c, route); err != nil {
		return route, err
	}
	if c.Who.Known != "" {
		if err := s.Identified(c); err != nil {
			return route, err
		}
	}
	if !c.Who.May(route.Role) {
		return route, Deny(http.StatusForbidden, "role", "page.no.role", "role", route.Role)
	}
	if route.Family != "" && !c.Who.Sees(route.Family) {
		return route, Deny(http.StatusForbidden, "role", "page.no.family", "family", route.Family)
	}
	if err := c.readQuery(route); err != nil {
		return route, err
	}
	if err := c.readBody(route); err != nil {
		return route, err
	}
	if c.Who.Session != nil && c.Method != http.MethodGet && !c.Who.Session.checks(c.csrf(route)) {
		return route, Deny(http.StatusForbidden, "csrf", "page.no.session")
	}
	return route, nil
}

// csrf returns the token of a form or of a script's call.
func (c *Call) csrf(r Route) string {
	if r.Form {
		form, _ := url.ParseQuery(string(c.Raw))
		return form.Get("csrf")
	}
	return c.Header.Get("X-CSRF-Token")
}

// checkHost refuses a call that names another host, or comes from a page of another origin,
// because a page in a browser can make a name of its own point here.
func (s *Server) checkHost(r *http.Request) error {
	if !s.isHost(r.Host) {
		return Deny(http.StatusForbidden, "host", "page.no.host")
	}
	if origins, sent := r.Header["Origin"]; sent && (len(origins) != 1 || !s.isOrigin(origins[0], r.Host)) {
		return Deny(http.StatusForbidden, "host", "page.no.origin")
	}
	return nil
}

func (s *Server) isHost(header string) bool {
	host := hostOf(header)
	if isLoopbackHost(host) {
		return true
	}
	known := slices.Clone(s.o.Hosts)
	if s.o.PageHost != "" {
		known = append(known, s.o.PageHost)
	}
	if u, err := url.Parse(s.o.PublicURL); err == nil && u.Host != "" {
		known = append(known, u.Host)
	}
	return slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, header) || strings.EqualFold(k, host) })
}

// isElsewhere reports whether a call names this machine by a name at which no pages are shown.
func (s *Server) isElsewhere(r *http.Request) bool {
	return s.o.PageHost != "" && IsLoopback(r.Host)
}

// hostOf returns a host without its port.
func hostOf(header string) string {
	host, _, err := net.SplitHostPort(header)
	if err != nil {
		host = header
	}
	return strings.Trim(host, "[]")
}

// IsLoopback reports whether the header Host of a call names this machine.
func IsLoopback(header string) bool { return isLoopbackHost(hostOf(header)) }

// isLoopbackHost reports whether a host is this machine: by its address, or by the name for
// which no resolver is asked.
func isLoopbackHost(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}

func (s *Server) isOrigin(origin, host string) bool {
	if slices.Contains(s.o.Origins, origin) || s.o.PublicURL != "" && origin == strings.TrimSuffix(originOf(s.o.PublicURL), "/") {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Path == "" && strings.EqualFold(u.Host, host)
}

func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// identify finds the caller of a call.
func (s *Server) identify(c *Call, r Route) error {
	if r.Access == Anybody || r.Access == Signed {
		return nil
	}
	now := s.o.Now()
	headers := c.Header["Authorization"]
	if (r.Access == TokenOrSession || r.Access == TokenOnly) && len(headers) > 0 {
		secret, ok := strings.CutPrefix(headers[0], "Bearer ")
		if !ok || len(headers) > 1 {
			return unauthorized("missing bearer token")
		}
		t, err := s.o.Tokens.Find(strings.TrimSpace(secret), now)
		if err != nil {
			return err
		}
		c.Who = identityOf(t)
		return nil
	}
	if s.o.Sessions != nil && r.Access != TokenOnly && !s.isElsewhere(c.Request) {
		if who, ok := s.o.Sessions.of(c.Request, s.o.Tokens, now); ok {
			c.Who = who
			return nil
		}
	}
	return unauthorized("missing bearer token")
}

// Identified counts the connection of a call among those of identified callers. The error
// says that there are too many of them.
func (s *Server) Identified(c *Call) error {
	if !connectionOf(c.Request).identify() {
		return Deny(http.StatusServiceUnavailable, "connections", "page.no.connection", "most", mostIdentified)
	}
	return nil
}

// identityOf returns the caller with a token.
func identityOf(t Token) Identity {
	return Identity{Known: "api:" + t.Name, User: t.Name, Source: "http", Roles: t.Roles, Families: t.Families, Token: t.Name}
}

// StillValid reports whether a caller may continue: its token is still valid, and its
// session has not ended.
func (s *Server) StillValid(c *Call) bool {
	if c.Who.Session != nil && !s.o.Sessions.holds(c.Who.Session, s.o.Now()) {
		return false
	}
	if c.Who.Token == "" {
		return true
	}
	_, ok := s.o.Tokens.Named(c.Who.Token, s.o.Now())
	return ok
}

func (s *Server) handle(c *Call, r Route) error {
	status, data, err := r.Handle(c)
	if err != nil || r.Raw {
		return err
	}
	body, err := s.o.Encode(data, r.Bare)
	if err != nil {
		return err
	}
	c.Writer.Header().Set("Content-Type", "application/json")
	c.Writer.WriteHeader(cmp.Or(status, http.StatusOK))
	_, _ = c.Writer.Write(body)
	return nil
}

// refuse answers with a problem.
func (s *Server) refuse(c *Call, r Route, err error) {
	p := problemOf(err)
	if !errors.As(err, new(*Problem)) {
		s.o.Log.Warn("a call cannot be answered", "path", c.URL.Path, "err", err)
	}
	if allow, ok := p.Members["allow"].([]string); ok {
		c.Writer.Header().Set("Allow", strings.Join(allow, ", "))
	}
	if r.isPage() && s.o.Page != nil && s.o.Page(c, p) {
		return
	}
	p.write(c.Writer)
}

package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine/facade"
	"placet/engine/watch"
	"placet/templates"
)

const (
	metricsPath = "/metrics"
	// fewConns limits the connections at one time. A further connection closes the oldest, so that
	// clients take no descriptors from the runs.
	fewConns = 8
	// askTime, answerTime and idleTime limit how long a client may take to send a question, to read
	// the answer, and to send the next question.
	askTime, answerTime, idleTime = 5 * time.Second, 10 * time.Second, 10 * time.Second
	// closeTime is how long an answer may take when placet ends.
	closeTime = time.Second
	// lookAtRuns is how often the metrics sample the daemon, and oldLook the greatest age of a
	// sample. Clients get a copy of the last sample and wait for nothing.
	lookAtRuns, oldLook = 500 * time.Millisecond, time.Minute
)

// answering is the part that all servers of a daemon share: a listener, the daemon's metrics, and the
// sample from which they are computed.
type answering struct {
	*metrics
	seen     atomic.Pointer[health]
	stop     context.CancelFunc // ends the sampling
	listener net.Listener
	end      func() // ends what serve began, nil before that
}

// close implements [Server]: it ends what listen and serve began.
func (m *answering) close() {
	switch {
	case m.listener == nil:
	case m.end == nil:
		_ = m.listener.Close()
	default:
		m.stop()
		m.end()
	}
}

// presses implements [Server]: it takes none.
func (m *answering) presses(*workspace.Workspace, func(context.Context, string) error) string {
	return ""
}

// metricsServer answers with metrics, and with nothing else.
type metricsServer struct {
	answering
	address string
}

// begin starts to sample a daemon, and returns the handler that answers with its metrics.
func (m *answering) begin(b *workspace.Workspace, watcher *watch.Watcher) http.Handler {
	var looks context.Context
	looks, m.stop = context.WithCancel(context.Background())
	look := func() { m.seen.Store(currentHealth(b, watcher)) }
	look()
	go everyTick(looks, lookAtRuns, look)
	m.registry.gather(runCounts{now: b.Env.Now, look: m.seen.Load}.tell)
	return m.fresh(m.handler())
}

// NewMetrics returns a server of the metrics of a placet of a version, and checks its address. It
// refuses an address without a host, which would be open to every machine: the user must write that
// out.
func NewMetrics(address, version string) (Server, error) { return newMetricsServer(address, version) }

func newMetricsServer(address, version string) (*metricsServer, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, console.Usage("cli.metrics.address", "value", strconv.Quote(console.OneLine(address))).Try("say.text", "text", "--metrics 127.0.0.1:9090")
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return nil, console.Usage("cli.metrics.port", "value", strconv.Quote(console.OneLine(port))).Try("say.text", "text", "--metrics 127.0.0.1:9090")
	}
	if host == "" {
		return nil, console.Usage("cli.metrics.host", "value", strconv.Quote(console.OneLine(address))).
			Try("say.text", "text", "--metrics 127.0.0.1:"+port)
	}
	return &metricsServer{answering: answering{metrics: newMetrics(version)}, address: address}, nil
}

// listen implements [Server].
func (t *metricsServer) listen(*workspace.Workspace) (err error) {
	t.listener, err = listenAt(t.address, "cli.metrics.listen")
	return err
}

// listenAt opens an address. refused is the sentence for an address that cannot be opened.
func listenAt(address string, refused templates.Key) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if unknown := (*net.DNSError)(nil); errors.As(err, &unknown) {
		err = cmp.Or(lacksFiles(), err)
	}
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, console.Usage(refused, "address", address, "error", templates.NewMessage("cli.listen.used")).Try("cli.listen.other")
	case err != nil:
		return nil, console.Usage(refused, "address", address, "error", err)
	}
	return l, nil
}

// addressOf returns an address by which this machine reaches a listener: 127.0.0.1 for one that
// listens on all addresses, since no call may name those.
func addressOf(l net.Listener) string {
	if at, ok := l.Addr().(*net.TCPAddr); ok && at.IP.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", strconv.Itoa(at.Port))
	}
	return l.Addr().String()
}

// lacksFiles reports whether the process cannot open as many files now as a name lookup needs: the
// resolver would call the name unknown then.
func lacksFiles() error {
	for range 4 {
		fd, err := syscall.Dup(0)
		if err != nil {
			return err
		}
		defer syscall.Close(fd)
	}
	return nil
}

// serve implements [Server].
func (t *metricsServer) serve(b *workspace.Workspace, watcher *watch.Watcher, log *slog.Logger) {
	server := &http.Server{
		Handler:           t.known(t.begin(b, watcher)),
		ReadHeaderTimeout: askTime, ReadTimeout: askTime, WriteTimeout: answerTime, IdleTimeout: idleTime,
		MaxHeaderBytes: 16 << 10,
		ErrorLog:       slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	b.Env.Note("cli.metrics.at", "url", "http://"+addressOf(t.listener)+metricsPath)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err := server.Serve(facade.LimitConns(t.listener, fewConns))
		if !errors.Is(err, http.ErrServerClosed) {
			log.Warn("metrics cannot be asked for any more", "err", err)
		}
	}()
	t.end = func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		if server.Shutdown(ctx) != nil {
			_ = server.Close()
		}
		<-ended
	}
}

// everyTick calls f at intervals until the context ends.
func everyTick(ctx context.Context, every time.Duration, f func()) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			f()
		}
	}
}

// fresh answers with an error if the last sample is too old: old values must not pass for the present
// ones.
func (m *answering) fresh(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if age := time.Since(m.seen.Load().at); age > oldLook {
			http.Error(w, fmt.Sprintf("cannot say how the runs stand: the daemon was looked at %v ago", age.Round(time.Second)), http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// known refuses a request that names another host. A page in a browser could otherwise point a name
// of its own here, and read the answer.
func (t *metricsServer) known(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !t.isOwn(r.Host) {
			host, _, _ := net.SplitHostPort(t.address)
			http.Error(w, fmt.Sprintf("cannot answer for this host: the metrics are at %s (listening for %s). Ask by that address, or start placet with --metrics and the name.",
				t.listener.Addr(), host), http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isOwn reports whether a Host header names this machine as placet listens on it: the name of
// --metrics, the address, localhost, or a loopback address, with the port. Any address will do if
// placet listens on all of them, because an address is not a name.
func (t *metricsServer) isOwn(header string) bool {
	host, port, err := net.SplitHostPort(header)
	given, _, _ := net.SplitHostPort(t.address)
	at, ok := t.listener.Addr().(*net.TCPAddr)
	if err != nil || !ok || port != strconv.Itoa(at.Port) {
		return false
	}
	if strings.EqualFold(host, given) || strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && (ip.IsLoopback() || at.IP.IsUnspecified() || ip.Unmap() == at.AddrPort().Addr().Unmap())
}

// handler answers GET /metrics and nothing else.
func (m *metrics) handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != metricsPath:
			http.Error(w, "there is nothing but "+metricsPath, http.StatusNotFound)
		case r.Method != http.MethodGet:
			w.Header().Set("Allow", http.MethodGet)
			http.Error(w, "only GET", http.StatusMethodNotAllowed)
		default:
			w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
			_, _ = w.Write(m.registry.text()) // whoever asked may be gone
		}
	})
}

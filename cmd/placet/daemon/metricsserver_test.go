package daemon

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"placet/cmd/placet/config"
	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine/watch"
)

// exposition is what GET /metrics answers.
func exposition(t *testing.T, m *metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, metricsPath, nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func TestWhichAddressesMetricsTake(t *testing.T) {
	for address, want := range map[string]string{
		"127.0.0.1:9090": "", "127.0.0.1:0": "", "[::1]:9090": "", "localhost:9090": "", "0.0.0.0:9090": "",
		":9090":           "--metrics 127.0.0.1:9090",
		":0":              "--metrics 127.0.0.1:0",
		"":                "--metrics 127.0.0.1:9090",
		"9090":            "--metrics 127.0.0.1:9090",
		"127.0.0.1":       "--metrics 127.0.0.1:9090",
		"127.0.0.1:":      "--metrics 127.0.0.1:9090",
		"127.0.0.1:65536": "--metrics 127.0.0.1:9090",
		"127.0.0.1:-1":    "--metrics 127.0.0.1:9090",
		"127.0.0.1:http":  "--metrics 127.0.0.1:9090",
		"::1:9090":        "--metrics 127.0.0.1:9090",
	} {
		server, err := newMetricsServer(address, "v1")
		var p *console.Problem
		switch {
		case want == "" && (err != nil || server.address != address):
			t.Errorf("%q: %v", address, err)
		case want != "" && (!errors.As(err, &p) || p.Code != console.ExitUsage || p.Hint("en") != want):
			t.Errorf("%q: %+v", address, err)
		}
	}
}

func TestNothingButTheMetricsIsAnswered(t *testing.T) {
	handler := busy().handler()
	for _, c := range []struct {
		method, path string
		code         int
	}{
		{"GET", "/metrics", 200}, {"GET", "/metrics?x=1", 200},
		{"POST", "/metrics", 405}, {"HEAD", "/metrics", 405}, {"DELETE", "/metrics", 405},
		{"GET", "/", 404}, {"GET", "/metrics/", 404}, {"GET", "/debug/pprof/", 404}, {"GET", "//metrics", 404}, {"POST", "/x", 404},
	} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(c.method, c.path, strings.NewReader("{}")))
		if w.Code != c.code {
			t.Errorf("%s %s: %d, want %d", c.method, c.path, w.Code, c.code)
		}
		if c.code == 405 && w.Header().Get("Allow") != "GET" {
			t.Errorf("%s %s does not say what is allowed", c.method, c.path)
		}
	}
}

// serveEmptyWorkspace starts a metrics server on an empty workspace.
func serveEmptyWorkspace(t *testing.T) (server *metricsServer, url string) {
	t.Helper()
	var said bytes.Buffer
	w := &console.Env{Err: &said, Now: time.Now, Getenv: func(string) string { return "" }}
	log := slog.New(slog.DiscardHandler)
	b := workspace.New(w, t.TempDir(), config.Settings{File: config.Defaults()}, workspace.Setup{Log: log, Live: true}, nil)
	watcher, err := watch.New(b.Root, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { watcher.Close() })
	server, err = newMetricsServer("127.0.0.1:0", "v1")
	if err == nil {
		err = server.listen(nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	server.serve(b, watcher, log)
	t.Cleanup(server.close)
	url, ok := strings.CutPrefix(strings.TrimSpace(said.String()), "placet: metrics on ")
	if !ok || !strings.HasPrefix(url, "http://127.0.0.1:") || !strings.HasSuffix(url, "/metrics") || strings.Contains(url, ":0/") {
		t.Fatalf("said %q", said.String())
	}
	return server, url
}

func get(t *testing.T, url string) string {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%d, %v: %s", response.StatusCode, err, body)
	}
	return string(body)
}

func TestATapAnswersUntilItIsClosed(t *testing.T) {
	server, url := serveEmptyWorkspace(t)
	if body := get(t, url); !strings.Contains(body, "\nplacet_degraded{state=\"git_hold\"} 0\n") {
		t.Errorf("answered %s", body)
	}
	second, err := newMetricsServer(server.listener.Addr().String(), "v1")
	if err != nil {
		t.Fatal(err)
	}
	var p *console.Problem
	if err := second.listen(nil); !errors.As(err, &p) || p.Code != console.ExitUsage || !strings.Contains(p.Error(), "the port is in use") {
		t.Errorf("a port in use: %v", err)
	}
	server.close()
	if conn, err := net.Dial("tcp", server.listener.Addr().String()); err == nil {
		conn.Close()
		t.Error("it answers still")
	}
}

// A page in a browser can point a name of its own to this machine. Requests under that name get
// no answer.
func TestForeignHostsAreRefused(t *testing.T) {
	for _, c := range []struct {
		given, at string
		answers   string
		refuses   string
	}{
		{"127.0.0.1:0", "127.0.0.1:9090", "127.0.0.1:9090 localhost:9090 LOCALHOST:9090 [::1]:9090 127.0.0.2:9090",
			"evil.example:9090 evil.example 127.0.0.1 127.0.0.1:80 localhost:80 10.0.0.7:9090 :9090 localhost.evil.example:9090"},
		{"0.0.0.0:9090", "0.0.0.0:9090", "10.0.0.7:9090 [fe80::7]:9090 localhost:9090", "host.example:9090 10.0.0.7:80 10.0.0.7"},
		{"Host.example:9090", "10.0.0.7:9090", "host.example:9090 10.0.0.7:9090 [::ffff:10.0.0.7]:9090 localhost:9090", "10.0.0.8:9090 other.example:9090"},
	} {
		at, err := net.ResolveTCPAddr("tcp", c.at)
		if err != nil {
			t.Fatal(err)
		}
		server := &metricsServer{answering: answering{listener: listening{addr: at}}, address: c.given}
		for words, want := range map[string]int{c.answers: 200, c.refuses: 421} {
			for _, host := range append(strings.Fields(words), map[int]string{200: strings.Fields(c.answers)[0], 421: ""}[want]) {
				r := httptest.NewRequest(http.MethodGet, metricsPath, nil)
				r.Host = host
				w := httptest.NewRecorder()
				server.known(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, r)
				if w.Code != want {
					t.Errorf("on %s: Host %q: %d, want %d", c.given, host, w.Code, want)
				}
			}
		}
	}
}

// listening is a listener that only has an address.
type listening struct {
	net.Listener
	addr net.Addr
}

func (l listening) Addr() net.Addr { return l.addr }

// A client gets the last sample, and waits for none. A sample that is too old is an error.
func TestAScrapeWaitsForNoLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		server, stuck := &metricsServer{}, make(chan struct{})
		server.seen.Store(&health{at: time.Now(), held: true})
		go everyTick(ctx, lookAtRuns, func() { <-stuck; server.seen.Store(&health{at: time.Now(), stopped: true}) })
		scrape := func() (o *health, code int) {
			w := httptest.NewRecorder()
			server.fresh(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { o = server.seen.Load() })).
				ServeHTTP(w, httptest.NewRequest(http.MethodGet, metricsPath, nil))
			return o, w.Code
		}
		time.Sleep(oldLook)
		if o, code := scrape(); code != 200 || !o.held || o.stopped {
			t.Errorf("%d: %+v", code, o)
		}
		time.Sleep(time.Second)
		if _, code := scrape(); code != 503 {
			t.Errorf("a look of long ago: %d", code)
		}
		close(stuck)
		synctest.Wait()
		if o, code := scrape(); code != 200 || !o.stopped {
			t.Errorf("%d: %+v", code, o)
		}
		stop()
	})
}

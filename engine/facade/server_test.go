package facade

import (
	"bufio"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"placet/templates"
)

// pipes is a listener with connections in memory, so that their deadlines use the test's own
// clock.
type pipes struct {
	conns chan net.Conn
	ended chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.ended:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { close(p.ended); return nil }

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// dial opens a connection.
func (p *pipes) dial() net.Conn {
	ours, theirs := net.Pipe()
	p.conns <- theirs
	return ours
}

// onOwnClock runs a test against a server that answers some routes, with a clock of its own.
func onOwnClock(t *testing.T, test func(t *testing.T, p *pipes, events *Events)) {
	synctest.Test(t, func(t *testing.T) {
		events := &Events{}
		encode := func(data any, _ bool) ([]byte, error) { return json.Marshal(data) }
		s := New(Options{Encode: encode, Now: time.Now, Log: slog.New(slog.DiscardHandler), Routes: []Route{
			{Method: "GET", Path: "/ok", Handle: func(*Call) (int, any, error) { return 0, "ok", nil }},
			{Method: "POST", Path: "/slow", Body: &struct{}{}, Handle: func(c *Call) (int, any, error) {
				select {
				case <-c.Context().Done():
					return 0, nil, c.Context().Err()
				case <-time.After(headerTime + bodyTime + time.Second):
					return 0, "slow", nil
				}
			}},
			{Method: "GET", Path: "/events", Raw: true, Handle: func(c *Call) (int, any, error) {
				return 0, nil, events.Stream(c, func() bool { return true })
			}},
		}})
		p := &pipes{make(chan net.Conn), make(chan struct{})}
		go func() { _ = s.Serve(p) }()
		test(t, p, events)
		events.Close()
		s.Close()
	})
}

// sends sends bytes, and returns what comes back and how long it took until the server closed
// the connection.
func sends(t *testing.T, p *pipes, text string) (got string, took time.Duration) {
	t.Helper()
	conn, began := p.dial(), time.Now()
	defer conn.Close()
	go func() { _, _ = io.WriteString(conn, text) }()
	body, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(body), time.Since(began)
}

const local = " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"

func TestWhoIsSlowIsCutOff(t *testing.T) {
	for what, c := range map[string]struct {
		text string
		time time.Duration
		says string
	}{
		"a header that does not end": {"GET /ok HTTP/1.1\r\nHost: localhost\r\nX: ", headerTime, ""},
		"a body that does not come":  {"POST /slow" + local + "Content-Length: 10\r\n\r\n{", anonymousTime, `"code":"body"`},
		"no further call":            {"GET /ok" + local + "\r\n", idleTime, `"ok"`},
	} {
		onOwnClock(t, func(t *testing.T, p *pipes, _ *Events) {
			got, took := sends(t, p, c.text)
			if took < c.time || took > c.time+2*time.Second || !strings.Contains(got, c.says) {
				t.Errorf("%s: %q after %v, expected after %v", what, got, took, c.time)
			}
		})
	}
}

// A call is answered even if that takes longer than the body may take.
func TestADeadlineOfTheBodyEndsWithTheBody(t *testing.T) {
	onOwnClock(t, func(t *testing.T, p *pipes, _ *Events) {
		got, _ := sends(t, p, "POST /slow"+local+"Connection: close\r\nContent-Length: 2\r\n\r\n{}")
		if !strings.HasPrefix(got, "HTTP/1.1 200") || !strings.Contains(got, `"slow"`) {
			t.Errorf("%q", got)
		}
	})
}

func TestAQuietStreamSaysThatItIsThere(t *testing.T) {
	onOwnClock(t, func(t *testing.T, p *pipes, events *Events) {
		conn := p.dial()
		defer conn.Close()
		go func() { _, _ = io.WriteString(conn, "GET /events"+local+"\r\n") }()
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		lines, began := bufio.NewScanner(resp.Body), time.Now()
		var alive []time.Duration
		for len(alive) < 8 && lines.Scan() {
			if lines.Text() == ": alive" {
				alive = append(alive, time.Since(began).Round(time.Second))
			}
		}
		for i, at := range alive {
			if want := time.Duration(i+1) * 15 * time.Second; at != want {
				t.Errorf("comment %d comes after %v, expected after %v", i, at, want)
			}
		}
		if len(alive) < 8 {
			t.Errorf("the stream ends after %v", alive)
		}
	})
}

// A member with the name of one that every problem has would be replaced, so adding it
// panics.
func TestNoProblemHasAMemberTwice(t *testing.T) {
	for _, name := range reservedMembers {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a problem takes a member %q", name)
				}
			}()
			Refuse(http.StatusConflict, "closed", "it is closed").With(name, "x")
		}()
	}
	w := httptest.NewRecorder()
	Refuse(http.StatusConflict, "closed", "it is closed").With("state", "rejected").write(w)
	var got map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got["status"] != 409.0 || got["state"] != "rejected" || got["code"] != "closed" {
		t.Errorf("%v %s", err, w.Body)
	}
}

// Programs get English texts, whatever language people read.
func TestAProblemIsReadInTheLanguageOfAPage(t *testing.T) {
	closed := Deny(http.StatusConflict, "closed", "page.no.closed", "answer", templates.Errorf("page.no.form")).With("state", "rejected")
	if closed.Error() != "the request is closed: the form cannot be read" || closed.In("ko") != "닫힌 요청입니다: 양식을 읽을 수 없습니다" {
		t.Errorf("%q, %q", closed, closed.In("ko"))
	}
	if p := InvalidFor(templates.Errorf("page.no.form")); p.Detail != "the form cannot be read" || p.In("ja") != "フォームを読めません" {
		t.Errorf("%q, %q", p, p.In("ja"))
	}
	if p := Refuse(http.StatusConflict, "closed", "it is closed"); p.In("ko") != p.Detail {
		t.Errorf("%q", p.In("ko"))
	}
}

func TestAPointerIsALocation(t *testing.T) {
	for pointer, want := range map[string][]string{
		"": {"body"}, "/draft": {"body", "draft"}, "/payload/actions/1": {"body", "payload", "actions", "1"}, "/a~1b/c~0d": {"body", "a/b", "c~d"},
	} {
		if got := PointerError(pointer, "x").Loc; !slices.Equal(got, want) {
			t.Errorf("%q is at %v", pointer, got)
		}
	}
}

// A call that names no host is refused, whatever hosts a server has.
func TestACallWithoutAHostIsRefused(t *testing.T) {
	for _, pages := range []string{"", "placet-x.localhost"} {
		s := New(Options{PageHost: pages, Now: time.Now, Log: slog.New(slog.DiscardHandler), Routes: []Route{
			{Method: "GET", Path: "/ok", Raw: true, Handle: func(*Call) (int, any, error) { return 0, nil, nil }},
		}})
		for host, want := range map[string]int{"": http.StatusForbidden, "127.0.0.1:1": http.StatusOK} {
			r := httptest.NewRequest(http.MethodGet, "/ok", nil)
			r.Host = host
			w := httptest.NewRecorder()
			if s.ServeHTTP(w, r); w.Code != want {
				t.Errorf("pages at %q, host %q: %d, expected %d", pages, host, w.Code, want)
			}
		}
	}
}

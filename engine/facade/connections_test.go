package facade

import (
	"bufio"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"placet/internal/await"
)

// guarded returns a server with one route for anybody, one for a token and one for signed
// calls.
func guarded(t *testing.T) (s *Server, secret string) {
	t.Helper()
	tokens := Tokens{filepath.Join(t.TempDir(), "placet", "tokens.json")}
	secret, err := tokens.New("kim", []Role{Read}, nil, noon, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	ok := func(*Call) (int, any, error) { return 0, "ok", nil }
	encode := func(data any, _ bool) ([]byte, error) { return json.Marshal(data) }
	return New(Options{Encode: encode, Now: time.Now, Tokens: tokens, Log: slog.New(slog.DiscardHandler), Routes: []Route{
		{Method: "POST", Path: "/anybody", Handle: ok},
		{Method: "POST", Path: "/signed", Access: Signed, Handle: ok},
		{Method: "POST", Path: "/mine", Access: TokenOnly, Handle: ok},
	}}), secret
}

// slow begins a call and never sends its body.
const slow = "POST /anybody" + local + "Content-Length: 100\r\n\r\n{"

// named returns a call of an identified caller.
func named(secret string) string {
	return "POST /mine" + local + "Authorization: Bearer " + secret + "\r\nContent-Length: 2\r\n\r\n{}"
}

// Unidentified callers have a bound of their own: even more of them than there may be
// connections stop no identified caller.
func TestSlowCallersWithoutANameStopNobody(t *testing.T) {
	s, secret := guarded(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(l) }()
	defer s.Close()
	var crowd []net.Conn
	for i := range mostAnonymous + mostIdentified {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		crowd = append(crowd, conn)
		if i%2 == 0 { // the others say nothing at all
			_, _ = io.WriteString(conn, slow)
		}
	}
	r, err := http.NewRequestWithContext(await.Context(t), "POST", "http://"+l.Addr().String()+"/mine", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+secret)
	r.Header.Set("Content-Type", "application/json")
	got, err := http.DefaultClient.Do(r)
	if err != nil || got.StatusCode != http.StatusOK {
		t.Fatalf("somebody with a name: %v %v", got, err)
	}
	got.Body.Close()
	// This connection sends nothing, and is closed without an answer.
	ended := make(chan []byte, 1)
	go func() {
		said, _ := io.ReadAll(crowd[1])
		ended <- said
	}()
	if said := await.Receive(t, "the oldest connection ends", ended); len(said) > 0 {
		t.Errorf("the oldest connection is told %q", said)
	}
}

// onPipes serves on connections in memory, with a clock of the test's own.
func onPipes(t *testing.T, anonymous, identified int, test func(t *testing.T, p *pipes, secret string)) {
	synctest.Test(t, func(t *testing.T) {
		s, secret := guarded(t)
		p := &pipes{make(chan net.Conn), make(chan struct{})}
		l := limit(p, anonymous, identified)
		go func() { _ = s.server.Serve(l) }()
		test(t, p, secret)
		_ = s.server.Close()
		synctest.Wait()
	})
}

// line sends a call and returns the first line of the answer, or the error's text.
func line(conn net.Conn, text string) string {
	go func() { _, _ = io.WriteString(conn, text) }()
	got, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return err.Error()
	}
	_, _ = io.Copy(io.Discard, got.Body)
	return got.Status
}

// isOpen reports whether the other end has not closed a silent connection.
func isOpen(conn net.Conn) bool {
	_ = conn.SetReadDeadline(time.Now())
	_, err := conn.Read(make([]byte, 1))
	return err != io.EOF
}

func TestTheOldestWithoutANameGoesFirst(t *testing.T) {
	onPipes(t, 3, 2, func(t *testing.T, p *pipes, secret string) {
		mine := p.dial()
		defer mine.Close()
		if got := line(mine, named(secret)); got != "200 OK" {
			t.Fatal(got)
		}
		began := time.Now()
		var crowd []net.Conn
		for range 5 {
			crowd = append(crowd, p.dial())
			time.Sleep(time.Millisecond)
		}
		time.Sleep(graceTime)
		if open := slices.Collect(func(yield func(bool) bool) {
			for _, c := range crowd {
				_ = yield(isOpen(c))
			}
		}); !slices.Equal(open, []bool{false, false, true, true, true}) {
			t.Errorf("open are %v", open)
		}
		if took := time.Since(began); took > headerTime {
			t.Errorf("it took %v: they would have ended by themselves", took)
		}
		if got := line(mine, named(secret)); got != "200 OK" {
			t.Errorf("who has a name: %s", got)
		}
		for _, c := range crowd {
			c.Close()
		}
	})
}

// An earlier identified call on a connection does not identify a later one: the last call
// counts.
func TestAConnectionCountsByItsLastCall(t *testing.T) {
	onPipes(t, 1, 2, func(t *testing.T, p *pipes, secret string) {
		one := p.dial()
		defer one.Close()
		for _, call := range []string{named(secret), "POST /mine" + local + "Authorization: Bearer plt_revoked\r\nContent-Length: 0\r\n\r\n"} {
			line(one, call)
		}
		time.Sleep(graceTime)
		next := p.dial()
		defer next.Close()
		synctest.Wait()
		if isOpen(one) || !isOpen(next) {
			t.Error("a token that is good no more holds a place")
		}
	})
}

// If identified callers have all connections, one that waits for its next call makes room, and
// one with a call in progress does not.
func TestAnIdleConnectionMakesRoom(t *testing.T) {
	onPipes(t, 3, 2, func(t *testing.T, p *pipes, secret string) {
		var conns []net.Conn
		for range 3 {
			c := p.dial()
			defer c.Close()
			if got := line(c, named(secret)); got != "200 OK" {
				t.Fatal(got)
			}
			conns = append(conns, c)
			time.Sleep(time.Second)
		}
		if isOpen(conns[0]) || !isOpen(conns[1]) || !isOpen(conns[2]) {
			t.Error("not the one that waited longest has made room")
		}
		_ = conns[1].SetReadDeadline(time.Time{})
		_ = conns[2].SetReadDeadline(time.Time{})
		for _, c := range conns[1:] {
			_, _ = io.WriteString(c, strings.TrimSuffix(named(secret), "{}"))
		}
		synctest.Wait() // both are read
		more := p.dial()
		defer more.Close()
		if got := line(more, named(secret)); got != "503 Service Unavailable" {
			t.Errorf("one too many: %s", got)
		}
	})
}

// Before the caller is identified, a body must be small and arrive at once.
func TestABodyBeforeANameIsSmall(t *testing.T) {
	kib := func(n int) string { return strings.Repeat("x", n<<10) }
	s, secret := guarded(t)
	for _, c := range []struct {
		path, body string
		status     int
	}{
		{"/anybody", kib(4), 200}, {"/anybody", kib(4) + "x", 413},
		{"/signed", kib(256), 200}, {"/signed", kib(256) + "x", 413},
		{"/mine", kib(256), 200},
	} {
		for _, length := range []int64{int64(len(c.body)), -1} {
			r := httptest.NewRequest("POST", c.path, strings.NewReader(c.body))
			r.Host, r.ContentLength = "localhost", length
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Authorization", "Bearer "+secret)
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if w.Code != c.status {
				t.Errorf("%d bytes to %s: %d %s", len(c.body), c.path, w.Code, w.Body)
			}
		}
	}
	onPipes(t, 3, 2, func(t *testing.T, p *pipes, secret string) {
		for call, least := range map[string]time.Duration{
			slow: anonymousTime,
			"POST /mine" + local + "Content-Length: 9\r\n\r\n{":                                         anonymousTime, // nobody
			"POST /signed" + local + "Content-Length: 9\r\n\r\n{":                                       anonymousTime,
			"POST /mine" + local + "Authorization: Bearer " + secret + "\r\nContent-Length: 9\r\n\r\n{": bodyTime,
		} {
			if _, took := sends(t, p, call); took < least || took > least+2*time.Second {
				t.Errorf("%q ends after %v, expected after %v", call, took, least)
			}
		}
	})
}

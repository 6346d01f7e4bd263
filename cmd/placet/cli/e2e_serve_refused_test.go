package cli_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"placet/internal/await"
)

// digests is every file of the workspace, with a digest of what it holds.
func (p *place) digests() string {
	var all strings.Builder
	_ = filepath.WalkDir(p.root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			body, _ := os.ReadFile(path)
			fmt.Fprintf(&all, "%s %x\n", strings.TrimPrefix(path, p.root), sha256.Sum256(body))
		}
		return nil
	})
	return all.String()
}

// Scenario 26: callers without the right, and invalid calls, write nothing.
func TestServeRefuses(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 1)
	s := serveAt(p)
	p.until("the request is open", p.opened)
	s.token("all", "read,write,decide")
	s.token("reader", "read")
	s.token("writer", "write,decide")
	s.token("other", "read,write,decide", "--families", "ask")
	s.token("gone", "read,write,decide")
	s.token("over", "read,write,decide", "--expires", "1ns")
	if out, code := s.placet("token", "revoke", "gone"); code != 0 {
		t.Fatal(out)
	}
	s.tokens["wrong"] = "plt_" + strings.Repeat("A", 43)
	s.tokens["mistyped"] = s.tokens["all"] + "x"
	request := "/api/v1/requests/" + p.requestID(0)
	shown := s.call("all", "GET", request, nil)
	digest := shown.text("data", "digest")
	if shown.status != 200 || digest == "" {
		t.Fatalf("the request: %d %s", shown.status, shown.body)
	}
	answer := map[string]any{"response": "approve", "digest": digest}
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	large := `{"response":"approve","comment":"` + strings.Repeat("x", 2<<20) + `"}`
	before := p.digests()
	for _, x := range []struct {
		what, token, method, path string
		body                      any
		change                    func(*http.Request)
		status                    int
		code                      string
	}{
		{"token missing", "", "GET", request, nil, nil, 401, "unauthorized"},
		{"token wrong", "wrong", "POST", request + "/answer", answer, nil, 401, "unauthorized"},
		{"token mistyped", "mistyped", "POST", request + "/answer", answer, nil, 401, "unauthorized"},
		{"token expired", "over", "POST", request + "/answer", answer, nil, 401, "unauthorized"},
		{"token revoked", "gone", "POST", request + "/answer", answer, nil, 401, "unauthorized"},
		{"token twice", "all", "POST", request + "/answer", answer, func(r *http.Request) { r.Header.Add("Authorization", "Bearer x") }, 401, "unauthorized"},
		{"another scheme", "", "POST", request + "/answer", answer, header("Authorization", "Basic eDp5"), 401, "unauthorized"},
		{"token in the query", "", "GET", request + "?token=" + s.tokens["all"], nil, nil, 401, "unauthorized"},
		{"role decide lacks", "reader", "POST", request + "/answer", answer, nil, 403, "role"},
		{"role write lacks", "reader", "POST", "/api/v1/nemawashi", map[string]any{}, nil, 403, "role"},
		{"role read lacks", "writer", "GET", request, nil, nil, 403, "role"},
		{"another family's request", "other", "POST", request + "/answer", answer, nil, 404, "not_found"},
		{"another family's endpoints", "other", "POST", "/api/v1/nemawashi", map[string]any{}, nil, 403, "role"},
		{"foreign host", "all", "POST", request + "/answer", answer, host("evil.example"), 403, "host"},
		{"foreign host that resembles", "all", "POST", request + "/answer", answer, host("127.0.0.1.evil.example"), 403, "host"},
		{"foreign origin", "all", "POST", request + "/answer", answer, header("Origin", "https://evil.example"), 403, "host"},
		{"origin null", "all", "POST", request + "/answer", answer, header("Origin", "null"), 403, "host"},
		{"origin with another port", "all", "POST", request + "/answer", answer, header("Origin", "http://127.0.0.1:1"), 403, "host"},
		{"GET of what changes", "all", "GET", request + "/answer", nil, nil, 405, "method"},
		{"GET with an answer in the query", "all", "GET", request + "/answer?response=approve&digest=" + digest, nil, nil, 405, "method"},
		{"PUT", "all", "PUT", request + "/answer", answer, nil, 405, "method"},
		{"DELETE", "all", "DELETE", request, nil, nil, 405, "method"},
		{"HEAD", "all", "HEAD", request, nil, nil, 405, ""},
		{"method in a header", "all", "GET", request + "/answer", nil, header("X-HTTP-Method-Override", "POST"), 405, "method"},
		{"text/plain", "all", "POST", request + "/answer", answer, header("Content-Type", "text/plain"), 415, "content_type"},
		{"a form", "all", "POST", request + "/answer", "response=approve&digest=" + digest, header("Content-Type", "application/x-www-form-urlencoded"), 415, "content_type"},
		{"no content type", "all", "POST", request + "/answer", answer, func(r *http.Request) { r.Header.Del("Content-Type") }, 415, "content_type"},
		{"2 MB", "all", "POST", request + "/answer", large, nil, 413, "too_large"},
		{"2 MB of unknown length", "all", "POST", request + "/answer", large, func(r *http.Request) { r.ContentLength = -1 }, 413, "too_large"},
		{"broken JSON", "all", "POST", request + "/answer", `{"response":`, nil, 422, "invalid"},
		{"a list", "all", "POST", request + "/answer", `[1]`, nil, 422, "invalid"},
		{"two documents", "all", "POST", request + "/answer", `{"response":"approve","digest":"` + digest + `"}{}`, nil, 422, "invalid"},
		{"a member twice", "all", "POST", request + "/answer", `{"response":"reject","response":"approve","digest":"` + digest + `"}`, nil, 422, "invalid"},
		{"unknown member", "all", "POST", request + "/answer", map[string]any{"response": "approve", "digest": digest, "coment": "x"}, nil, 422, "invalid"},
		{"wrong type", "all", "POST", request + "/answer", map[string]any{"response": 1, "digest": digest}, nil, 422, "invalid"},
		{"no digest", "all", "POST", request + "/answer", map[string]any{"response": "approve"}, nil, 422, "invalid"},
		{"old digest", "all", "POST", request + "/answer", map[string]any{"response": "approve", "digest": "sha256:" + strings.Repeat("0", 64)}, nil, 409, "stale"},
		{"unknown option", "all", "POST", request + "/answer", map[string]any{"response": "aprove", "digest": digest}, nil, 422, "invalid"},
		{"an option that looks like approve", "all", "POST", request + "/answer", map[string]any{"response": "аpprove", "digest": digest}, nil, 422, "invalid"},
		{"unknown filter", "all", "GET", "/api/v1/requests?famly=faber", nil, nil, 422, "invalid"},
		{"limit", "all", "GET", "/api/v1/requests?limit=1001", nil, nil, 422, "invalid"},
		{"unknown request", "all", "GET", "/api/v1/requests/fr-nothing", nil, nil, 404, "not_found"},
		{"traversal", "all", "GET", "/api/v1/requests/..%2f..%2fstate.json", nil, nil, 404, "not_found"},
		{"traversal to an answer", "all", "POST", "/api/v1/requests/..%2f..%2fx/answer", answer, nil, 404, "not_found"},
		{"traversal in a run", "all", "GET", "/api/v1/runs/faber/..%2f..%2f..%2fetc", nil, nil, 404, "not_found"},
		{"dots", "all", "GET", "/api/v1/requests/..", nil, nil, 404, "not_found"},
		{"traversal in an artifact", "all", "GET", request + "/artifacts/..%2f1", nil, nil, 404, "not_found"},
		{"traversal in an action", "all", "POST", "/api/v1/nemawashi/..%2f1/execute", map[string]any{}, nil, 404, "not_found"},
		{"NUL", "all", "GET", "/api/v1/requests/%00", nil, nil, 404, "not_found"},
		{"line end", "all", "GET", "/api/v1/requests/x%0d%0aSet-Cookie:%20a=b", nil, nil, 404, "not_found"},
		{"line end in the query", "all", "GET", "/api/v1/requests?family=x%0d%0aSet-Cookie:%20a=b", nil, nil, 422, "invalid"},
		{"nothing there", "all", "GET", "/api/v2/requests", nil, nil, 404, "not_found"},
		{"an absolute address", "all", "CONNECT", "/", nil, nil, 405, "method"},
	} {
		r := s.call(x.token, x.method, x.path, x.body, func(r *http.Request) {
			if x.change != nil {
				x.change(r)
			}
		})
		if r.status != x.status || r.text("code") != x.code {
			t.Errorf("%s: %d %s, expected %d %q", x.what, r.status, r.body, x.status, x.code)
		}
		if r.header.Get("Set-Cookie") != "" || r.header.Get("Access-Control-Allow-Origin") != "" || r.header.Get("X-Content-Type-Options") != "nosniff" || r.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: headers %v", x.what, r.header)
		}
		if x.body != nil && strings.Contains(r.body, p.root) {
			t.Errorf("%s: the answer says where the workspace is: %s", x.what, r.body)
		}
	}
	for what, sent := range map[string]string{
		"a header of 32 KiB":   "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Long: " + strings.Repeat("x", 32<<10) + "\r\n\r\n",
		"two lengths":          "POST /api/v1/nemawashi HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}x",
		"no host":              "GET /healthz HTTP/1.1\r\n\r\n",
		"two hosts":            "GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
		"another host in line": "GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
	} {
		if got := s.raw(sent); !strings.HasPrefix(got, "HTTP/1.1 4") {
			t.Errorf("%s: %q", what, got)
		}
	}
	if after := p.digests(); after != before {
		t.Errorf("something was written:\n%s\nbefore\n%s", after, before)
	}
	for what, path := range map[string]string{"healthz": "/healthz", "openapi": "/openapi.json", "metrics": "/metrics"} {
		if r := s.call("", "GET", path, nil); r.status != 200 {
			t.Errorf("%s without a token: %d", what, r.status)
		}
	}
}

// raw sends bytes and returns what comes back.
func (s *site) raw(sent string) string {
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close()
	context.AfterFunc(await.Context(s.t), func() { conn.Close() })
	_, _ = io.WriteString(conn, sent)
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.CloseWrite()
	}
	got, _ := io.ReadAll(conn)
	return string(got)
}

// A client that sends a header slowly is cut off, and keeps nobody else from an answer.
func TestServeCutsSlowHeaders(t *testing.T) {
	t.Parallel()
	s := serveAt(newPlace(t, t.TempDir(), 0))
	var slow []net.Conn
	for range 8 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
		slow = append(slow, conn)
	}
	if r := s.call("", "GET", "/healthz", nil); r.status != 200 {
		t.Errorf("healthz beside slow callers: %d", r.status)
	}
	for _, conn := range slow {
		context.AfterFunc(await.Context(t), func() { conn.Close() })
		if got, err := io.ReadAll(conn); err != nil {
			t.Fatalf("a slow caller is not cut off: %q %v", got, err)
		}
	}
}

// Scenario 25: an answer from a person who is not listed leaves nothing in the workspace.
func TestServeKeepsOthersFromAnswering(t *testing.T) {
	t.Parallel()
	calls := tortured(64, 1_000)
	p := newPlace(t, t.TempDir(), 0)
	p.configure("[gates]\n\"nemawashi\" = { approvers = [\"api:lead\"] }\n")
	s := serveAt(p)
	s.token("lead", "read,write,decide")
	s.token("guest", "read,write,decide")
	action, id := s.begins("guest", nil)
	before := p.digests()
	digest := s.call("lead", "GET", "/api/v1/requests/"+id, nil).text("data", "digest")
	var all sync.WaitGroup
	for n := range 16 {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := n; i < calls; i += 16 {
				path, body := "/api/v1/approvals/"+id+"/approve", map[string]any{}
				if i%2 == 0 {
					path, body = "/api/v1/requests/"+id+"/answer", map[string]any{"response": "approve", "digest": digest}
				}
				r, err := s.try("guest", "POST", path, body)
				if err != nil || r.status != 403 || r.text("code") != "not_an_approver" {
					t.Errorf("guest: %v %d %s", err, r.status, r.body)
					return
				}
			}
		}()
	}
	all.Wait()
	if after := p.digests(); after != before {
		t.Errorf("something was written:\n%s", after)
	}
	if m := s.call("", "GET", "/metrics", nil).body; !strings.Contains(m, fmt.Sprintf("placet_refused_answers_total %d", calls)) {
		t.Errorf("the metrics do not count %d refused answers", calls)
	}
	var kept int64
	home := filepath.Join(p.root, "..", "home-"+filepath.Base(p.root))
	_ = filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(d.Name(), "refused") {
			if info, err := d.Info(); err == nil {
				kept += info.Size()
			}
		}
		return nil
	})
	if kept == 0 || kept > 2<<20 {
		t.Errorf("%d bytes of refused answers are kept", kept)
	}
	if n := strings.Count(s.daemon.said(), "an answer was refused"); n > 200 {
		t.Errorf("the log says %d times that an answer was refused", n)
	}
	if said, _ := p.placet("explain", "nemawashi/"+action); !strings.Contains(said, "refused") {
		t.Errorf("explain does not count refused answers: %s", said)
	}
	clone := &place{t: t, root: t.TempDir()}
	if err := os.CopyFS(clone.root, os.DirFS(p.root)); err != nil {
		t.Fatal(err)
	}
	clone.configure("[gates]\n\"nemawashi\" = { approvers = [\"api:lead\"] }\n")
	r := s.call("lead", "POST", "/api/v1/approvals/"+id+"/approve", nil)
	if r.status != 200 || r.text("status") != "executed" {
		t.Fatalf("lead: %d %s", r.status, r.body)
	}
	if rc := p.read(".nemawashi/actions/" + action + "/requests/" + id + "/receipt.json"); !strings.Contains(rc, `"api:lead"`) {
		t.Errorf("receipt: %s", rc)
	}
	// In a clone nobody knows who answered: the name there is a claim.
	folder := ".nemawashi/actions/" + action + "/requests/" + id
	clone.write(folder+"/response.json", p.read(folder+"/response.json"))
	if out, _ := clone.placet("once"); clone.read(folder+"/receipt.json") != "" || !strings.Contains(clone.read(folder+"/problem.md"), "lead") {
		t.Errorf("the clone took the answer: %s", out)
	}
}

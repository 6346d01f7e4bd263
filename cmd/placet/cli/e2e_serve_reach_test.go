package cli_test

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// freePort returns a port of this machine on which nobody listens.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// Links lead to a proxy's address, and calls that name it are answered; so are further hosts
// and origins. A call waits as long as the settings say.
func TestServeIsReachedByOtherNames(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 1)
	p.write(".git/HEAD", "ref: refs/heads/main\n")
	p.configure("[serve]\npublic_url = \"https://placet.example.com\"\nallowed_hosts = [\"inbox.example\"]\nallowed_origins = [\"https://other.example\"]\nwait = \"100ms\"\n")
	s := &site{place: p, tokens: map[string]string{}, url: "http://127.0.0.1:" + freePort(t)}
	s.daemon = s.launch(nil, []string{placetBinary(t), "-C", s.root, "serve", "--listen", strings.TrimPrefix(s.url, "http://")})
	t.Cleanup(func() { s.daemon.stop(syscall.SIGTERM) })
	s.await(s.daemon)
	s.token("all", "read,decide")
	if said := s.daemon.said(); !strings.Contains(said, "serving on https://placet.example.com\n") || !regexp.MustCompile(`https://placet\.example\.com/login#\S{43}`).MatchString(said) {
		t.Errorf("serve says %s", said)
	}
	origin := func(name string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Origin", name) }
	}
	for _, c := range []struct {
		what   string
		change func(*http.Request)
		status int
	}{
		{"the public name", host("placet.example.com"), 200},
		{"the public name in capitals", host("PLACET.example.com"), 200},
		{"an allowed host", host("inbox.example"), 200},
		{"an allowed host with a port", host("inbox.example:8443"), 200},
		{"another host", host("evil.example"), 403},
		{"a name below an allowed one", host("x.inbox.example"), 403},
		{"the public origin", origin("https://placet.example.com"), 200},
		{"the public name without TLS", origin("http://placet.example.com"), 403},
		{"an allowed origin", origin("https://other.example"), 200},
		{"an origin like an allowed one", origin("https://other.example.evil"), 403},
		{"an allowed host as an origin", origin("https://inbox.example"), 403},
	} {
		if r := s.call("all", "GET", "/api/v1/requests", nil, c.change); r.status != c.status {
			t.Errorf("%s: %d %s", c.what, r.status, r.body)
		}
	}
	out, _ := p.placet("login")
	_, word, _ := strings.Cut(strings.TrimSpace(out), "#")
	got, _ := s.visitor().visit("/login", url.Values{"link": {word}}, host("placet.example.com"), origin("https://placet.example.com"))
	if cookies := got.Cookies(); len(cookies) != 1 || !cookies[0].Secure || !cookies[0].HttpOnly {
		t.Errorf("the cookie behind https: %v", cookies)
	}
	// Nothing is decided while git rewrites the tree, and a call does not wait for that.
	p.until("the request is open", p.opened)
	digest := s.call("all", "GET", "/api/v1/requests/"+p.requestID(0), nil).text("data", "digest")
	p.write(".git/MERGE_HEAD", strings.Repeat("0", 40)+"\n")
	r := s.call("all", "POST", "/api/v1/requests/"+p.requestID(0)+"/answer", map[string]any{"response": "approve", "digest": digest})
	s.wants("a wait of 100 ms", r, 202, "")
}

// placet open passes a link to the browser that BROWSER names, as one argument.
func TestServeOpensABrowser(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 0)
	p.askEach(2, twoOptions)
	s := serveAt(p)
	p.until("they ask", func() bool { return len(p.openForms()) == 2 })
	dir := t.TempDir()
	browser, opened := filepath.Join(dir, "browser"), filepath.Join(dir, "opened")
	script := fmt.Sprintf("#!/bin/sh\nprintf '%%s\\n' \"$#\" \"$1\" > %s.new && mv %s.new %s\n", opened, opened, opened)
	if err := os.WriteFile(browser, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	request := s.requestOf("ask/q0001")
	for arg, page := range map[string]string{"": "/", "ask/q0001:" + request: "/requests/" + percent("ask/q0001", request)} {
		_ = os.Remove(opened)
		args := []string{"open"}
		if arg != "" {
			args = append(args, arg)
		}
		if out, code := p.placetWith([]string{"BROWSER=" + browser}, args...); code != 0 {
			t.Fatalf("open %s: %d %s", arg, code, out)
		}
		var link string
		p.until("the browser is opened", func() bool {
			body, _ := os.ReadFile(opened)
			n, rest, _ := strings.Cut(string(body), "\n")
			link = strings.TrimSpace(rest)
			return n == "1"
		})
		if got, _ := s.visitor().visit("/login", url.Values{"link": {link}}); !strings.HasPrefix(link, "http://"+s.pages+"/login#") || got.Header.Get("Location") != page {
			t.Errorf("open %q opens %q, which leads to %q", arg, link, got.Header.Get("Location"))
		}
	}
	if out, code := p.placetWith([]string{"BROWSER=" + browser}, "open", "ask/nothing"); code == 0 {
		t.Errorf("a request that is not there is opened: %s", out)
	}
	// Without a browser the link is printed.
	if out, code := p.placetWith([]string{"BROWSER=", "DISPLAY=", "WAYLAND_DISPLAY="}, "open"); code != 0 || loginAt.FindString(out) == "" {
		t.Errorf("open without a browser: %d %s", code, out)
	}
}

// A caller learns what is wrong with its token, and no more.
func TestServeSaysWhatIsWrongWithAToken(t *testing.T) {
	t.Parallel()
	s := serveAt(newPlace(t, t.TempDir(), 0))
	s.token("gone", "read")
	if out, code := s.placet("token", "revoke", "gone"); code != 0 {
		t.Fatal(out)
	}
	s.tokens["wrong"] = "plt_" + strings.Repeat("A", 43)
	for token, detail := range map[string]string{"": "missing bearer token", "gone": "invalid token", "wrong": "invalid token"} {
		r := s.call(token, "GET", "/api/v1/requests", nil)
		if r.status != 401 || r.text("detail") != detail || r.header.Get("WWW-Authenticate") != `Bearer realm="placet"` {
			t.Errorf("token %q: %d %s %v", token, r.status, r.body, r.header)
		}
	}
}

// A file that a request shows is sent as a download, and no link is followed.
func TestServeHandsOutArtifacts(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 0)
	for _, name := range []string{"plan.html", "linked.md", "large.md"} {
		p.write(name, "<script>alert(1)</script> "+name+"\n")
	}
	p.write(".asks/file/ask.json", `{"question": "Good?", "options": [{"id": "yes"}, {"id": "no"}], "artifacts": [{"path": "plan.html"}, {"path": "linked.md"}, {"path": "large.md"}]}`)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serveAt(p)
	s.token("all", "read")
	p.until("it asks", func() bool { return len(p.openForms()) == 1 })
	path := "/api/v1/requests/" + percent("ask/file", s.requestOf("ask/file")) + "/artifacts/"
	r := s.call("all", "GET", path+"1", nil)
	h := r.header
	if r.status != 200 || r.body != p.read("plan.html") || h.Get("Content-Disposition") != `attachment; filename="plan.html"` || h.Get("Content-Type") != "text/plain; charset=utf-8" || h.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("a file: %d %q %v", r.status, r.body, h)
	}
	if got := h.Get("Placet-Now"); got != "same" {
		t.Errorf("it is said to be %q", got)
	}
	was := p.read("plan.html")
	p.write("plan.html", "<p>another</p>\n")
	for version, want := range map[string]string{"": was, "?version=asked": was, "?version=now": "<p>another</p>\n", "?version=diff": "@@ -1 +1 @@\n-" + was + "+<p>another</p>"} {
		if r := s.call("all", "GET", path+"1"+version, nil); r.status != 200 || r.body != want || r.header.Get("Placet-Now") != "changed" {
			t.Errorf("version %q of a changed file: %d %q %v", version, r.status, r.body, r.header)
		}
	}
	if r := s.call("all", "GET", path+"2", nil); r.status != 200 || r.body != p.read("linked.md") {
		t.Errorf("a file as it was asked about: %d %q", r.status, r.body)
	}
	if err := os.Remove(filepath.Join(p.root, "linked.md")); err != nil {
		t.Fatal(err)
	}
	p.link(secret, "linked.md")
	p.write("large.md", strings.Repeat("x", 1<<20+1))
	r = s.call("all", "GET", path+"2?version=now", nil)
	if s.wants("a link", r, 404, "not_found"); strings.Contains(r.body, "secret\n") {
		t.Errorf("a link is followed: %s", r.body)
	}
	s.wants("a file of more than a mebibyte", s.call("all", "GET", path+"3?version=now", nil), 413, "too_large")
	if r := s.call("all", "GET", path+"1?version=then", nil); r.status != 422 {
		t.Errorf("a version that there is not: %d %q", r.status, r.body)
	}
	for _, n := range []string{"0", "4", "-1", "x", "1e0"} {
		s.wants("file "+n, s.call("all", "GET", path+n, nil), 404, "not_found")
	}
	p.write("large.md", strings.Repeat("x", 1<<20))
	if r := s.call("all", "GET", path+"3?version=now", nil); r.status != 200 || len(r.body) != 1<<20 {
		t.Errorf("a file of a mebibyte: %d, %d bytes", r.status, len(r.body))
	}
}

// If an override is carried out without being shown to anybody, only a caller with the role
// decide may bring one.
func TestServeAsksWhoOverrides(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 0)
	p.configure("[nemawashi]\nexecute_on_approve = false\nexecute_override = \"allow\"\n")
	s := serveAt(p)
	s.token("writer", "read,write")
	s.token("lead", "read,write,decide")
	meeting := map[string]any{"attendee": "a@b.example", "title": "t", "start_at": "2026-12-01T10:00:00Z", "end_at": "2026-12-01T11:00:00Z"}
	action, id := s.begins("lead", map[string]any{"type": "meeting_request", "payload": meeting})
	s.wants("approve", s.call("lead", "POST", "/api/v1/approvals/"+id+"/approve", nil), 200, "")
	execute := "/api/v1/nemawashi/" + action + "/execute"
	other := map[string]any{"calendar": map[string]any{"attendee": "c@b.example", "title": "t", "startAt": "2026-12-01T10:00:00Z", "endAt": "2026-12-01T11:00:00Z"}}
	before := p.digests()
	s.wants("an override of who may not decide", s.call("writer", "POST", execute, other), 403, "role")
	if p.digests() != before {
		t.Error("something was written")
	}
	r := s.call("lead", "POST", execute, other)
	if r.status != 200 || r.text("status") != "executed" {
		t.Fatalf("an override of who may decide: %d %s", r.status, r.body)
	}
	if job := p.read(".nemawashi/actions/" + action + "/jobs/" + r.text("job_id") + "/job.json"); !strings.Contains(job, "c@b.example") {
		t.Errorf("the job carries %s", job)
	}
}

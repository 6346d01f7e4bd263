package cli_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"placet/cmd/placet/console"
)

// visitor is a browser without scripts: it keeps its cookies and follows no redirection.
type visitor struct {
	*site
	client *http.Client
}

func (s *site) visitor() visitor {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return visitor{s, &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// visit opens a page at the host of the pages, or posts a form if one is given.
func (v visitor) visit(path string, form url.Values, change ...func(*http.Request)) (*http.Response, string) {
	v.t.Helper()
	method, body := "GET", io.Reader(nil)
	if form != nil {
		method, body = "POST", strings.NewReader(form.Encode())
	}
	q, err := http.NewRequest(method, v.url+path, body)
	if err != nil {
		v.t.Fatal(err)
	}
	if form != nil {
		q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		q.Header.Set("Origin", "http://"+v.pages)
	}
	q.Host = v.pages
	for _, c := range change {
		c(q)
	}
	got, err := v.client.Do(q)
	if err != nil {
		v.t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return got, string(text)
}

// logIn logs in by a new link, for a token or for the owner.
func (v visitor) logIn(args ...string) *http.Response {
	v.t.Helper()
	got, text := v.visit("/login", url.Values{"link": {v.link(args...)}})
	if got.StatusCode != http.StatusSeeOther {
		v.t.Fatalf("login: %d %s", got.StatusCode, text)
	}
	return got
}

// Browsers send a cookie to all ports of a host, so the pages have a host of their own, which no
// other program learns. Elsewhere on this machine there is no page, and a session is none.
func TestPagesHaveAHostOfTheirOwn(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 1)
	s := serveAt(p)
	v := s.visitor()
	v.logIn()
	if !regexp.MustCompile(`^placet-[a-z2-7]{26}\.localhost:\d+$`).MatchString(s.pages) {
		t.Errorf("the pages are at %s", s.pages)
	}
	_, port, _ := strings.Cut(s.pages, ":")
	for _, elsewhere := range []string{"127.0.0.1:" + port, "localhost:" + port} {
		got, text := v.visit("/runs?x=1", nil, host(elsewhere))
		if name, _, _ := strings.Cut(s.pages, "."); got.StatusCode != http.StatusForbidden || strings.Contains(text+fmt.Sprint(got.Header), name) {
			t.Errorf("at %s: %d %s", elsewhere, got.StatusCode, text)
		}
		if got, _ := v.visit("/api/v1/runs", nil, host(elsewhere)); got.StatusCode != http.StatusUnauthorized {
			t.Errorf("a session at %s: %d", elsewhere, got.StatusCode)
		}
		if got, _ := s.visitor().visit("/login", url.Values{"link": {s.link()}}, host(elsewhere), func(q *http.Request) { q.Header.Set("Origin", "http://"+elsewhere) }); got.StatusCode != http.StatusForbidden || len(got.Cookies()) > 0 {
			t.Errorf("a login at %s: %d", elsewhere, got.StatusCode)
		}
	}
	if got, _ := v.visit("/api/v1/runs", nil); got.StatusCode != http.StatusOK {
		t.Errorf("a session at home: %d", got.StatusCode)
	}
	for _, other := range []string{"placet-00000000.localhost:" + port, "evil." + s.pages} {
		if got, _ := v.visit("/", nil, host(other)); got.StatusCode != http.StatusForbidden {
			t.Errorf("at %s: %d", other, got.StatusCode)
		}
	}
}

var formField = regexp.MustCompile(`name="(csrf|digest)" value="([^"]+)"`)

// fields returns the hidden fields of a page's form.
func fields(page string) url.Values {
	form := url.Values{}
	for _, f := range formField.FindAllStringSubmatch(page, -1) {
		form.Set(f[1], f[2])
	}
	return form
}

// Scenario 34: the link, the cookie, the form's token, and the end of a session are checked.
func TestServeSessions(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 1)
	s := serveAt(p)
	p.until("the request is open", p.opened)
	v := s.visitor()
	if got, _ := v.visit("/", nil); got.StatusCode != http.StatusSeeOther || got.Header.Get("Location") != "/login" {
		t.Errorf("without a session: %d to %q", got.StatusCode, got.Header.Get("Location"))
	}
	link := s.link()
	got, _ := v.visit("/login", url.Values{"link": {link}})
	cookies := got.Cookies()
	if len(cookies) != 1 || got.Header.Get("Location") != "/" {
		t.Fatalf("login: %v to %q", cookies, got.Header.Get("Location"))
	}
	if c := cookies[0]; !regexp.MustCompile(`^placet_session_[0-9a-f]{8}$`).MatchString(c.Name) || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Secure || c.Path != "/" || c.MaxAge != 12*60*60 {
		t.Errorf("the cookie: %+v", c)
	}
	if got, _ := s.visitor().visit("/login", url.Values{"link": {link}}); got.StatusCode != http.StatusForbidden || len(got.Cookies()) > 0 {
		t.Errorf("the link again: %d %v", got.StatusCode, got.Cookies())
	}
	if got, _ := s.visitor().visit("/login", url.Values{"link": {link[:len(link)-1]}}); got.StatusCode != http.StatusForbidden {
		t.Errorf("a part of a link: %d", got.StatusCode)
	}
	for _, next := range []string{"//evil.example/requests/", "/requests/\\evil.example", "https://evil.example"} {
		if got, _ := s.visitor().visit("/login", url.Values{"link": {s.link() + "&" + next}}); got.Header.Get("Location") != "/" {
			t.Errorf("the login leads to %q", got.Header.Get("Location"))
		}
	}

	path := "/requests/" + p.requestID(0)
	got, page := v.visit(path, nil)
	if policy := got.Header.Get("Content-Security-Policy"); got.StatusCode != 200 || !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
		t.Errorf("the page: %d, policy %q", got.StatusCode, policy)
	}
	form := fields(page)
	form.Set("option", "approve")
	changed := func(name, value string) url.Values {
		other := url.Values{}
		for k, v := range form {
			other[k] = v
		}
		if other.Del(name); value != "" {
			other.Set(name, value)
		}
		return other
	}
	another := s.visitor()
	another.logIn()
	_, theirs := another.visit(path, nil)
	before := p.digests()
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for what, c := range map[string]struct {
		form   url.Values
		change func(*http.Request)
		status int
	}{
		"no token of the form":           {changed("csrf", ""), nil, 403},
		"a wrong one":                    {changed("csrf", strings.Repeat("A", 43)), nil, 403},
		"that of another session":        {changed("csrf", fields(theirs).Get("csrf")), nil, 403},
		"from another page":              {form, header("Origin", "https://evil.example"), 403},
		"JSON":                           {form, header("Content-Type", "application/json"), 415},
		"no digest":                      {changed("digest", ""), nil, 409},
		"what was shown at another time": {changed("digest", "sha256:"+strings.Repeat("0", 64)), nil, 409},
		"no option":                      {changed("option", ""), nil, 422},
	} {
		change := c.change
		if change == nil {
			change = func(*http.Request) {}
		}
		if got, text := v.visit(path, c.form, change); got.StatusCode != c.status {
			t.Errorf("%s: %d, expected %d: %s", what, got.StatusCode, c.status, text)
		}
	}
	for what, path := range map[string]string{"the API": "/api/v1/requests/" + p.requestID(0) + "/answer", "the logout": "/logout"} {
		r := s.call("", "POST", path, map[string]any{"response": "approve", "digest": form.Get("digest")}, header("Cookie", cookies[0].Name+"="+cookies[0].Value), host(s.pages), func(r *http.Request) {
			if what == "the logout" {
				r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			}
		})
		if r.status != 403 {
			t.Errorf("%s by the cookie alone: %d %s", what, r.status, r.body)
		}
	}
	if after := p.digests(); after != before {
		t.Errorf("something was written:\n%s\nbefore\n%s", after, before)
	}
	if got, text := v.visit(path, form); got.StatusCode != http.StatusSeeOther {
		t.Fatalf("the answer: %d %s", got.StatusCode, text)
	}
	if _, page := v.visit(path, nil); !strings.Contains(page, `class="receipt`) {
		t.Errorf("the page after the answer: %s", page)
	}
	if rc := p.read(p.request(0) + "/receipt.json"); !strings.Contains(rc, `"source": "web"`) || !strings.Contains(rc, `"owner:`+console.Login()+`"`) {
		t.Errorf("the receipt of the page's answer: %s", rc)
	}

	if got, _ := v.visit("/logout", url.Values{"csrf": {form.Get("csrf")}}); got.StatusCode != http.StatusSeeOther || got.Cookies()[0].MaxAge >= 0 {
		t.Errorf("logout: %d %v", got.StatusCode, got.Cookies())
	}
	if r := s.call("", "GET", "/api/v1/requests", nil, header("Cookie", cookies[0].Name+"="+cookies[0].Value)); r.status != 401 {
		t.Errorf("the cookie after the logout: %d", r.status)
	}
}

// A session for a token has the rights of the token, and no more.
func TestServeSessionOfAToken(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 1)
	p.askEach(1, twoOptions)
	s := serveAt(p)
	p.until("the requests are open", func() bool { return p.opened() && len(p.openForms()) == 1 })
	s.token("reader", "read", "--families", "ask")
	v := s.visitor()
	v.logIn("reader")
	_, inbox := v.visit("/", nil)
	if !strings.Contains(inbox, "Deploy build 0") || strings.Contains(inbox, p.requestID(0)) {
		t.Errorf("the inbox: %s", inbox)
	}
	if got, _ := v.visit("/requests/"+p.requestID(0), nil); got.StatusCode != 404 {
		t.Errorf("another family's request: %d", got.StatusCode)
	}
	path := "/requests/" + percent("ask/q0000", p.requestOf("ask/q0000"))
	_, page := v.visit(path, nil)
	form := fields(page)
	form.Set("option", "deploy")
	if form.Get("csrf") == "" {
		t.Fatalf("the page: %s", page)
	}
	if got, _ := v.visit(path, form); got.StatusCode != 403 {
		t.Errorf("an answer of who may read: %d", got.StatusCode)
	}
	if _, code := p.placet("login", "nobody"); code == 0 {
		t.Error("there is a link for a token that is none")
	}
}

// The pages speak the languages of the browser.
func TestServePagesInThreeLanguages(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 1)
	s := serveAt(p)
	p.until("the request is open", p.opened)
	v := s.visitor()
	v.logIn()
	for asked, want := range map[string][4]string{
		"ko-KR,ko;q=0.9,en;q=0.5": {`lang="ko"`, "받은 요청", "답변 보내기", "열린 요청은"},
		"ja":                      {`lang="ja"`, "受信箱", "回答を送信", "開いている依頼は"},
		"fr, en;q=0.5":            {`lang="en"`, "Inbox", "Send the answer", "lists what is open"},
		"":                        {`lang="en"`, "Inbox", "Send the answer", "lists what is open"},
	} {
		in := func(r *http.Request) { r.Header.Set("Accept-Language", asked) }
		_, inbox := v.visit("/", nil, in)
		_, page := v.visit("/requests/"+p.requestID(0), nil, in)
		_, none := v.visit("/requests/none", nil, in)
		if !strings.Contains(inbox, want[0]) || !strings.Contains(inbox, want[1]) || !strings.Contains(page, want[0]) || !strings.Contains(page, want[2]) || !strings.Contains(none, want[3]) {
			t.Errorf("for %q: %q are not all there", asked, want)
		}
		run := "/runs/faber/" + strings.TrimPrefix(p.runs[0], ".fractary/faber/runs/")
		for _, path := range []string{"/?tab=mine", "/?tab=answered", "/runs", run, run + "?tab=facts", run + "?tab=log"} {
			got, page := v.visit(path, nil, in)
			if key := regexp.MustCompile(`>(page|field)\.[a-z.]+<`).FindString(page); got.StatusCode != 200 || key != "" || !strings.Contains(page, want[0]) {
				t.Errorf("for %q: %s answers %d, with %q", asked, path, got.StatusCode, key)
			}
		}
	}
}

// Tokens that cannot be trusted end the start.
func TestServeNeedsTokensThatAreItsOwn(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 0)
	if out, code := p.placet("token", "new", "one", "--roles", "read"); code != 0 {
		t.Fatal(out)
	}
	file := filepath.Join(p.root, "..", "home-"+filepath.Base(p.root), "placet", "tokens.json")
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		body string
		mode os.FileMode
		says string
	}{
		"others may read it": {string(body), 0o644, "0600"},
		"half an object":     {string(body[:len(body)/2]), 0o600, "tokens.json"},
		"an unknown role":    {strings.Replace(string(body), `"read"`, `"rule"`, 1), 0o600, "unknown role"},
		"a key twice":        {strings.Replace(string(body), `"name"`, `"name": "x", "name"`, 1), 0o600, "tokens.json"},
	} {
		if err := os.WriteFile(file, []byte(c.body), c.mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, c.mode); err != nil {
			t.Fatal(err)
		}
		if out, code := p.placet("serve", "--listen", "127.0.0.1:0"); code != 2 || !strings.Contains(out, c.says) {
			t.Errorf("%s: serve says %d %s", what, code, out)
		}
		if out, code := p.placet("token", "list"); code == 0 || !strings.Contains(out, c.says) {
			t.Errorf("%s: token list says %d %s", what, code, out)
		}
	}
}

// Many clients answer at once, each request twice: every request has one receipt, and the
// second answer gets the first one's.
func TestTortureServeManyClients(t *testing.T) {
	t.Parallel()
	clients, asked := tortured(8, 200), tortured(40, 500)
	p := newPlace(t, t.TempDir(), 0)
	p.askEach(asked, twoOptions)
	s := serveAt(p)
	s.token("all", "read,write,decide")
	p.until("all ask", func() bool { return len(p.openForms()) == asked })
	var next atomic.Int64
	var wg sync.WaitGroup
	digests := make([]string, asked)
	for i := range digests {
		digests[i] = s.call("all", "GET", "/api/v1/requests/"+percent("ask/"+askName(i), p.requestOf("ask/"+askName(i))), nil).text("data", "digest")
	}
	for range clients {
		wg.Go(func() {
			for n := int(next.Add(1)) - 1; n < 2*asked; n = int(next.Add(1)) - 1 {
				run := "ask/" + askName(n/2)
				answer := func() (reply, error) {
					return s.try("all", "POST", "/api/v1/requests/"+percent(run, p.requestOf(run))+"/answer", map[string]any{"response": "deploy", "digest": digests[n/2]})
				}
				r, err := answer()
				for err == nil && strings.Contains(r.body, `"being_written"`) { // by the other client; a busy machine takes long
					r, err = answer()
				}
				if err != nil || r.status != 200 && r.status != 202 {
					t.Errorf("answer %d: %v %d %s", n, err, r.status, r.body)
				}
			}
		})
	}
	wg.Wait()
	p.until("all are answered", func() bool {
		found, _ := filepath.Glob(filepath.Join(p.root, ".asks/*/requests/*/receipt.json"))
		return len(found) == asked
	})
	for i := range asked {
		if rc := p.receiptOf(p.requestOf("ask/" + askName(i))); !strings.Contains(rc, `"accepted"`) || !strings.Contains(rc, `"api:all"`) {
			t.Errorf("receipt %d: %s", i, rc)
		}
	}
}

// askName returns the name of the n-th question.
func askName(n int) string { return fmt.Sprintf("q%04d", n) }

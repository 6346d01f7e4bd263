package cli_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"placet/internal/await"
)

// Runs that a token may not see do not disturb those that it may.
func TestServeHidesOtherFamilies(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 2)
	state := strings.ReplaceAll(p.read(p.runs[1]+"/state.json"), "fr-20261120-000002", "fr-20261120-000001")
	p.write(p.runs[1]+"/state.json", state)
	p.askEach(1, twoOptions)
	s := serveAt(p)
	s.token("all", "read,write,decide")
	s.token("asks", "read,decide", "--families", "ask")
	const twice = "/api/v1/requests/fr-20261120-000001"
	p.until("both ask", func() bool { return s.call("all", "GET", twice, nil).status == 409 && len(p.openForms()) == 1 })
	s.wants("an id of two runs of another family", s.call("asks", "GET", twice, nil), 404, "not_found")
	s.wants("an answer to it", s.call("asks", "POST", twice+"/answer", map[string]any{"response": "approve", "digest": "sha256:00000000"}), 404, "not_found")
	// The folder of another family's run has a request's name.
	id := p.requestOf("ask/q0000")
	p.write(p.runs[0]+"/requests/"+id+"/request.json", "{}")
	s.wants("an id of two families", s.call("all", "GET", "/api/v1/requests/"+id, nil), 409, "ambiguous")
	s.wants("the own one", s.call("asks", "GET", "/api/v1/requests/"+id, nil), 200, "")
	action, approval := s.begins("all", nil)
	p.write(p.runs[0]+"/requests/"+approval+"/request.json", "{}")
	s.wants("an approval whose id another family has", s.call("all", "POST", "/api/v1/approvals/"+approval+"/reject", nil), 200, "")
	// The event of another family is treated as a forgotten one.
	events := s.listen("all", "?filter=transition&family=nemawashi", "")
	next, nextID := s.begins("all", nil)
	s.wants("reject "+next, s.call("all", "POST", "/api/v1/approvals/"+nextID+"/reject", nil), 200, "")
	seen, ok := events.next()
	if !ok || seen.id == "" {
		t.Fatalf("no event of action %s: %+v", action, seen)
	}
	resumed := s.listen("asks", "", seen.id)
	if r := s.answers("ask/q0000", "deploy"); r.status != 200 { // the stream has an event then
		t.Fatalf("answer: %d %s", r.status, r.body)
	}
	if f, ok := resumed.next(); !ok || f.name != "reset" {
		t.Errorf("after an event of another family: %+v", f)
	}
	if f, ok := s.listen("all", "?family=nemawashi", seen.id).next(); !ok || f.name == "reset" {
		t.Errorf("after an event of its own: %+v", f)
	}
}

// A client that opens connections without end keeps only a few, and does not stop placet from
// ending.
func TestServeEndsBesideIdleConnections(t *testing.T) {
	t.Parallel()
	s := serveAt(newPlace(t, t.TempDir(), 0))
	var ends []<-chan error
	for n := range 256 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		_, _ = io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
		answered, ended := make(chan error, 1), make(chan error, 1)
		go func() {
			said := bufio.NewReader(conn)
			_, err := said.ReadString('\n')
			answered <- err
			_, err = io.Copy(io.Discard, said)
			ended <- err
		}()
		if err := await.Receive(t, "a call is answered", answered); err != nil {
			t.Fatalf("connection %d: %v", n, err)
		}
		ends = append(ends, ended)
	}
	await.Receive(t, "the oldest connection is closed for a newer one", ends[0])
	if err := s.daemon.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	await.Receive(t, "placet serve ends", s.daemon.ended)
}

// The printed address is one by which a browser gets in.
func TestServeNamesAnAddressThatLetsIn(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 0)
	d := p.launch(nil, []string{placetBinary(t), "-C", p.root, "serve", "--listen", "0.0.0.0:0"})
	defer d.stop(syscall.SIGTERM)
	p.await(d)
	found := servingOn.FindStringSubmatch(d.said())
	if found == nil || !strings.HasPrefix(found[1], "http://127.0.0.1:") {
		t.Fatalf("it says %s", d.said())
	}
	s := &site{place: p, daemon: d, url: found[1], pages: strings.Split(loginAt.FindString(d.said()), "/")[2], tokens: map[string]string{}}
	s.visitor().logIn()
}

// No link leads to a server that is gone.
func TestLoginNeedsAServer(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 0)
	s := serveAt(p)
	link := s.link()
	refused := func(when string) {
		t.Helper()
		for _, verb := range []string{"login", "open"} {
			if out, code := p.placet(verb); code == 0 || !strings.Contains(out, "no placet serve runs") || !strings.Contains(out, "placet serve") || strings.Contains(out, "/login#") {
				t.Errorf("%s %s: %d %s", verb, when, code, out)
			}
		}
	}
	_ = s.daemon.cmd.Process.Kill()
	<-s.daemon.ended
	_ = s.daemon.cmd.Wait()
	refused("after a kill")
	d := p.start()
	p.await(d)
	refused("beside watch")
	d.stop(syscall.SIGTERM)
	s.begin()
	if got := s.link(); strings.SplitAfter(got, "/login#")[1] == strings.SplitAfter(link, "/login#")[1] {
		t.Errorf("the link again: %s", got)
	}
	s.daemon.stop(syscall.SIGTERM)
	served, _ := filepath.Glob(filepath.Join(p.root, "..", "home-"+filepath.Base(p.root), "placet/workspaces/*/served"))
	if len(served) > 0 {
		t.Errorf("after the end stands %q", served)
	}
}

// Two servers of one machine do not log each other's browsers out.
func TestServeKeepsSessionsOfTwoWorkspacesApart(t *testing.T) {
	t.Parallel()
	one, other := serveAt(newPlace(t, t.TempDir(), 0)), serveAt(newPlace(t, t.TempDir(), 0))
	v := one.visitor()
	w := visitor{other, v.client} // a browser sends a cookie to every port
	v.logIn()
	w.logIn()
	for _, at := range []visitor{v, w} {
		if got, _ := at.visit("/", nil); got.StatusCode != http.StatusOK {
			t.Errorf("%s: %d to %q", at.url, got.StatusCode, got.Header.Get("Location"))
		}
	}
}

// A given but empty list opens nothing.
func TestTokenRefusesEmptyLists(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 0)
	for _, args := range [][]string{{"--families", ""}, {"--roles", ""}, {"--families="}, {"--families", ","}, {"--roles", ","}} {
		if out, code := p.placet(append([]string{"token", "new", "x"}, args...)...); code != 2 || strings.Contains(out, "plt_") {
			t.Errorf("token new %q: %d %s", args, code, out)
		}
	}
	if out, code := p.placet("token", "list"); code != 0 || strings.Contains(out, "x ") {
		t.Errorf("token list: %d %s", code, out)
	}
}

// The page has every word of a question, whatever Markdown leaves out.
func TestServeShowsAllThatIsAsked(t *testing.T) {
	t.Parallel()
	question := "Deploy build 0?\n\nSee [the plan](https://a.example \"titleword\") and ![a picture](https://b.example \"pictureword\").\n\n" +
		"```sh infoword\nrun\n```\n\n[ref]: https://c.example/referenceword 'referencetitle'\n\n| a | b |\n|---|---|\n| 1 | 2 | surplusword |\n\n<b>tagword</b> &amp; \\* `codeword`\n"
	text, err := json.Marshal(question)
	if err != nil {
		t.Fatal(err)
	}
	p := newPlace(t, t.TempDir(), 0)
	p.write(".asks/q0000/ask.json", fmt.Sprintf(`{"question": %s%s}`, text, twoOptions))
	s := serveAt(p)
	p.until("the question is asked", func() bool { return len(p.openForms()) == 1 })
	v := s.visitor()
	v.logIn()
	path := "/requests/" + percent("ask/q0000", p.requestOf("ask/q0000"))
	for lang, label := range map[string]string{"en": "As written", "ko": "쓰인 그대로", "ja": "書かれたとおり"} {
		_, page := v.visit(path, nil, func(r *http.Request) { r.Header.Set("Accept-Language", lang) })
		_, rest, _ := strings.Cut(page, "<summary>"+label+"</summary>")
		written, _, _ := strings.Cut(rest, "</pre>")
		if !strings.Contains(html.UnescapeString(written), strings.TrimSpace(question)) {
			t.Errorf("%s: not all is shown as written: %s", lang, page)
		}
		prose, _, _ := strings.Cut(page, "<summary>"+label)
		for _, word := range []string{"titleword", "pictureword", "infoword"} {
			if !strings.Contains(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(prose, ""), word) {
				t.Errorf("%s: %s is not rendered", lang, word)
			}
		}
	}
}

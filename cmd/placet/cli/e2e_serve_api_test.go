package cli_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// refuses checks that an answer is a problem with a code, and that its detail or its members
// contain some texts.
func (s *site) refuses(what string, r reply, status int, code string, words ...string) {
	s.t.Helper()
	s.wants(what, r, status, code)
	for _, w := range words {
		if !strings.Contains(r.body, w) {
			s.t.Errorf("%s: %q is not in %s", what, w, r.body)
		}
	}
	if strings.Contains(r.body, `"status":""`) {
		s.t.Errorf("%s: an empty status: %s", what, r.body)
	}
}

// The answer to the call that begins an action says why it cannot be registered.
func TestServeSaysWhatKeepsAnActionBack(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 0)
	s := serveAt(p)
	s.token("lead", "read,write,decide")
	_, id := s.begins("lead", nil)
	begin := func(members map[string]any) reply {
		body := map[string]any{"type": "mail_draft", "summary": "Tell them", "draft": "Dear all\n"}
		for k, v := range members {
			body[k] = v
		}
		return s.call("lead", "POST", "/api/v1/nemawashi", body)
	}
	for what, c := range map[string]struct {
		members map[string]any
		words   []string
	}{
		"an action that is still open is replaced":   {map[string]any{"replaces": 1}, []string{"/replaces", "action 1 is still approval_pending"}},
		"nobody knows the action that is replaced":   {map[string]any{"replaces": 999}, []string{"/replaces", "nothing is known of action 999"}},
		"the draft ends in half an object":           {map[string]any{"draft": "Dear all\n{\"a\":\n"}, []string{"the last line begins with {"}},
		"the payload of the draft cannot be used":    {map[string]any{"draft": "Dear all\n{\"to\": \"Boss <a@b.example>\"}\n"}, []string{"/to", "bare address"}},
		"the batch in the draft has an unknown type": {map[string]any{"draft": "x\n{\"actions\": [{\"type\": \"fax\"}]}\n"}, []string{"/actions/0", "fax"}},
	} {
		r := begin(c.members)
		s.refuses(what, r, 409, "unusable", c.words...)
		for _, verb := range []string{"request-approval", "execute"} {
			again := s.call("lead", "POST", "/api/v1/nemawashi/"+r.text("action_id")+"/"+verb, nil)
			if again.status != 409 || again.text("code") == "" {
				t.Errorf("%s, then %s: %d %s", what, verb, again.status, again.body)
			}
			s.refuses(what+", then "+verb, again, 409, again.text("code"))
		}
		if r := s.call("lead", "GET", "/api/v1/audit/action-"+r.text("action_id"), nil); r.status != 200 || r.text("thread_id") == "" {
			t.Errorf("%s, then audit: %d %s", what, r.status, r.body)
		}
	}
	// An action that was just rejected can be renewed at once.
	s.wants("reject", s.call("lead", "POST", "/api/v1/approvals/"+id+"/reject", nil), 200, "")
	s.wants("an action that was rejected is replaced", begin(map[string]any{"replaces": 1}), 200, "")
	// An editor began an action with a mistake: it is never registered.
	p.write(".nemawashi/actions/40/drafts/v1.md", "Dear all\n")
	p.write(".nemawashi/actions/40/action.json", `{"type": "fax", "summary": "x", "requested_by": "agent"}`)
	for _, verb := range []string{"request-approval", "execute"} {
		s.refuses("an action of an unknown type, "+verb, s.call("lead", "POST", "/api/v1/nemawashi/40/"+verb, nil), 409, "unusable", "action.json", "fax", `"action_id":40`)
	}
	if r := s.call("lead", "GET", "/api/v1/audit/action-40", nil); r.status != 200 || r.text("thread_id") != "action-40" || r.text("events") != "[]" {
		t.Errorf("audit of an action that is not registered: %d %s", r.status, r.body)
	}
}

// A problem names the state of the run or the request, besides the number of HTTP.
func TestServeProblemsSayTheState(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 0)
	p.askEach(1, twoOptions)
	s := serveAt(p)
	s.token("all", "read,write,decide")
	p.until("it asks", func() bool { return len(p.openForms()) == 1 })
	if r := s.answers("ask/q0000", "deploy"); r.status != 200 {
		t.Fatalf("answer: %d %s", r.status, r.body)
	}
	says := func(what string, r reply, code, state string) {
		t.Helper()
		s.wants(what, r, 409, code)
		if r.text("state") != state || r.text("status") != "409" {
			t.Errorf("%s: %s", what, r.body)
		}
	}
	says("another answer to a closed request", s.call("all", "POST", "/api/v1/requests/"+percent("ask/q0000", s.requestOf("ask/q0000"))+"/answer", map[string]any{"response": "wait", "digest": "sha256:0000000"}), "closed", "accepted")
	action, id := s.begins("all", nil)
	execute := "/api/v1/nemawashi/" + action + "/execute"
	says("execute before the approval", s.call("all", "POST", execute, nil), "not_approved", "approval_pending")
	s.wants("reject", s.call("all", "POST", "/api/v1/approvals/"+id+"/reject", nil), 200, "")
	says("approve what was rejected", s.call("all", "POST", "/api/v1/approvals/"+id+"/approve", nil), "closed", "rejected")
	says("execute what was rejected", s.call("all", "POST", execute, nil), "wrong_status", "rejected")
	says("ask for what was rejected", s.call("all", "POST", "/api/v1/nemawashi/"+action+"/request-approval", nil), "wrong_status", "rejected")
}

// requestPage is a page of the list of requests.
type requestPage struct {
	open, closed []string
	next         string
}

// page reads a page of the list of requests.
func (s *site) page(token, query string) (p requestPage) {
	s.t.Helper()
	r := s.call(token, "GET", "/api/v1/requests?"+query, nil)
	if r.status != 200 {
		s.t.Fatalf("%s: %d %s", query, r.status, r.body)
	}
	list := data(s.t, r.body)
	names := func(section string) (all []string) {
		entries, _ := list[section].([]any)
		for _, e := range entries {
			all = append(all, fmt.Sprint(e.(map[string]any)["run"]))
		}
		return all
	}
	p.open, p.closed = names("requests"), names("closed")
	p.next, _ = list["next"].(string)
	return p
}

// Pages continue in the right place while requests are answered: none is missed, and none of a
// section is listed twice.
func TestServePagesWhileRequestsAreAnswered(t *testing.T) {
	t.Parallel()
	const asked = 12
	p := newPlace(t, t.TempDir(), 0)
	p.askEach(asked, twoOptions)
	s := serveAt(p)
	s.token("all", "read,decide")
	p.until("all ask", func() bool { return len(p.openForms()) == asked })
	answer := func(n int) {
		t.Helper()
		if r := s.answers("ask/"+askName(n), "deploy"); r.status != 200 {
			t.Fatalf("answer %d: %d %s", n, r.status, r.body)
		}
	}
	for n := range 3 {
		answer(n)
	}
	var open, closed []string
	next := 3
	for query, pages := "status=all&limit=2", 0; ; pages++ {
		page := s.page("all", query)
		if len(page.open)+len(page.closed) > 2 || pages > asked {
			t.Fatalf("page %d: %+v", pages, page)
		}
		open, closed = append(open, page.open...), append(closed, page.closed...)
		if page.next == "" {
			break
		}
		query = "status=all&limit=2&after=" + url.QueryEscape(page.next)
		// The last one of the page is gone before the next page is read, and so is one that was
		// not listed yet.
		if len(page.open) == 2 && next < asked {
			answer(int(page.open[1][len(page.open[1])-1]-'0') + 10*int(page.open[1][len(page.open[1])-2]-'0'))
			next++
		}
	}
	for _, list := range [][]string{open, closed} {
		if sorted := slices.Sorted(slices.Values(list)); len(slices.Compact(sorted)) != len(list) {
			t.Errorf("something is listed twice: %v", list)
		}
	}
	for n := range asked {
		if !slices.Contains(append(open, closed...), "ask/"+askName(n)) {
			t.Errorf("%s is on no page: open %v, closed %v", askName(n), open, closed)
		}
	}
	for _, query := range []string{"after=nonsense", "after=ask/q0000:q", "status=closed&after=" + url.QueryEscape(s.page("all", "limit=1").next), "after=W10"} {
		s.refuses(query, s.call("all", "GET", "/api/v1/requests?"+query, nil), 422, "invalid", `"after"`)
	}
	if r := s.call("all", "GET", "/api/v1/requests?limit=1000", nil); r.status != 200 {
		t.Errorf("a thousand at once: %d %s", r.status, r.body)
	}
	// The list of runs continues in the same way.
	var runs []string
	for query := "limit=5&status=all"; query != ""; {
		list := data(t, s.call("all", "GET", "/api/v1/runs?"+query, nil).body)
		for _, r := range list["runs"].([]any) {
			runs = append(runs, fmt.Sprint(r.(map[string]any)["run"]))
		}
		if query = ""; list["next"] != "" {
			query = "limit=5&status=all&after=" + url.QueryEscape(fmt.Sprint(list["next"]))
		}
	}
	if sorted := slices.Sorted(slices.Values(runs)); len(runs) != asked || len(slices.Compact(sorted)) != asked {
		t.Errorf("the runs: %v", runs)
	}
}

// An edited draft of a registered action stops every answer, and the code says so.
func TestServeSaysThatTheDraftChanged(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 0)
	s := serveAt(p)
	s.token("lead", "read,write,decide")
	for _, file := range []string{"drafts/v1.md", "action.json"} {
		action, id := s.begins("lead", nil)
		name := ".nemawashi/actions/" + action + "/" + file
		was := p.read(name)
		p.write(name, was+"\n")
		digest := s.call("lead", "GET", "/api/v1/requests/"+id, nil).text("data", "digest")
		approve := func() reply { return s.call("lead", "POST", "/api/v1/approvals/"+id+"/approve", nil) }
		p.until("the change of "+file+" is seen", func() bool {
			return s.call("lead", "GET", "/api/v1/requests/"+id, nil).text("data", "problem") != ""
		})
		s.refuses("approve after a change of "+file, approve(), 409, "draft_changed", file)
		s.refuses("steer after a change of "+file, s.call("lead", "POST", "/api/v1/approvals/"+id+"/steer", map[string]any{"feedback": "x"}), 409, "draft_changed", file)
		s.refuses("answer after a change of "+file, s.call("lead", "POST", "/api/v1/requests/"+id+"/answer", map[string]any{"response": "approve", "digest": digest}), 409, "draft_changed", file)
		p.write(name, was)
		p.until("it is restored", func() bool { return s.call("lead", "GET", "/api/v1/requests/"+id, nil).text("data", "problem") == "" })
		if r := approve(); r.status != 200 || r.text("status") != "executed" {
			t.Errorf("approve what was restored: %d %s", r.status, r.body)
		}
	}
}

// A form whose session is over is not sent, and the page says so and shows the typed text.
func TestServeAFormWithoutSessionIsNotLost(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 0)
	p.askEach(1, twoOptions)
	s := serveAt(p)
	p.until("it asks", func() bool { return len(p.openForms()) == 1 })
	v := s.visitor()
	v.logIn()
	path := "/requests/" + percent("ask/q0000", s.requestOf("ask/q0000"))
	_, page := v.visit(path, nil)
	form := fields(page)
	form.Set("option", "deploy")
	form.Set("comment", "my own <b>words</b>")
	other := s.visitor()
	other.logIn()
	_, theirs := other.visit(path, nil)
	before := p.digests()
	unsent := func(what string, got *http.Response, text string) {
		t.Helper()
		for _, want := range []string{"Your answer was not sent.", "my own &lt;b&gt;words&lt;/b&gt;"} {
			if got.StatusCode != 403 || !strings.Contains(text, want) {
				t.Errorf("%s: %d, without %q: %s", what, got.StatusCode, want, text)
			}
		}
	}
	forged := url.Values{}
	for k, v := range form {
		forged[k] = v
	}
	forged.Set("csrf", fields(theirs).Get("csrf"))
	got, text := v.visit(path, forged)
	unsent("a form of another session", got, text)
	if r := s.call("", "POST", "/api/v1/requests/"+percent("ask/q0000", s.requestOf("ask/q0000"))+"/answer", map[string]any{"response": "deploy"}, func(r *http.Request) {
		for _, c := range v.client.Jar.Cookies(&url.URL{Scheme: "http", Host: s.pages}) {
			r.AddCookie(c)
		}
		r.Host = s.pages
	}); r.status != 403 || r.text("code") != "csrf" {
		t.Errorf("a script's call without the form's token: %d %s", r.status, r.body)
	}
	if got, _ := v.visit("/logout", url.Values{"csrf": {form.Get("csrf")}}); got.StatusCode != http.StatusSeeOther {
		t.Fatalf("logout: %d", got.StatusCode)
	}
	got, text = v.visit(path, form)
	unsent("a form after the logout", got, text)
	if !strings.Contains(text, `id="login"`) || !strings.Contains(text, `name="next" value="`+path+`"`) {
		t.Errorf("the login page does not lead back: %s", text)
	}
	if p.digests() != before {
		t.Error("something was written")
	}
	if got, _ := v.visit("/login", url.Values{"link": {s.link()}, "next": {path}}); got.Header.Get("Location") != path {
		t.Errorf("the login leads to %q", got.Header.Get("Location"))
	}
	if got, _ := s.visitor().visit("/login", url.Values{"link": {s.link()}, "next": {"//evil.example/requests/"}}); got.Header.Get("Location") != "/" {
		t.Errorf("the login leads to %q", got.Header.Get("Location"))
	}
	if got, _ := s.visitor().visit(path, nil); got.Header.Get("Location") != "/login?next="+url.QueryEscape(path) {
		t.Errorf("a page without a session leads to %q", got.Header.Get("Location"))
	}
	// A restart logs out, too.
	s.daemon.stop(syscall.SIGTERM)
	s.begin()
	got, text = v.visit(path, form)
	unsent("a form after a restart", got, text)
}

// A token of one family gets no data of others: neither what waits for trust, nor which runs
// use the same request id.
func TestServeShowsATokenItsFamiliesAlone(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 2)
	p.askEach(1, twoOptions)
	p.write(p.runs[1]+"/state.json", strings.ReplaceAll(p.read(p.runs[1]+"/state.json"), "fr-20261120-000002", "fr-20261120-000001"))
	p.write("placet.toml", "[nemawashi]\nexecute_override = \"allow\"\n[gates]\n\"faber\" = { approvers = [\"api:secret\"] }\n")
	p.write(p.runs[0]+"/metadata.json", "{")
	s := serveAt(p)
	s.token("all", "read")
	s.token("ask", "read", "--families", "ask")
	p.until("all is there", func() bool {
		r := s.call("all", "GET", "/api/v1/requests", nil).body
		return strings.Contains(r, "execute_override") && strings.Contains(r, "Deploy build 0") && strings.Contains(r, "fr-20261120-000001")
	})
	v := s.visitor()
	v.logIn("ask")
	for _, path := range []string{"/api/v1/requests", "/api/v1/requests?status=all", "/api/v1/runs", "/api/v1/runs?status=all", "/api/v1/requests/fr-20261120-000001", "/", "/runs"} {
		text := s.call("ask", "GET", path, nil).body
		if !strings.HasPrefix(path, "/api") {
			_, text = v.visit(path, nil)
		}
		for _, secret := range []string{"execute_override", "api:secret", `"gates"`, "faber/", "metadata.json", "acme"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s tells %q to a token of another family: %s", path, secret, text)
			}
		}
	}
}

// An unknown name is answered with similar ones, and an error in a body with its member, in
// words that a program's author understands.
func TestServeNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 0)
	p.askEach(1, `, "options": [{"id": "deploy"}, {"id": "wait", "comment": true}]`)
	s := serveAt(p)
	s.token("all", "read,write,decide")
	p.until("it asks", func() bool { return len(p.openForms()) == 1 })
	for path, want := range map[string]string{
		"/api/v1/requests?famly=faber":       `did you mean \"family\"`,
		"/api/v1/requests?family=fabr":       `did you mean \"faber\"`,
		"/api/v1/runs?family=nemawash":       `did you mean \"nemawashi\"`,
		"/api/v1/events?family=asks":         `did you mean \"ask\"`,
		"/api/v1/events?filter=transitions":  `did you mean \"transition\"`,
		"/api/v1/events?filter=x,requests":   `did you mean \"request\"`,
		"/api/v1/requests?family=elsewhere":  "there are",
		"/api/v1/requests?status=everything": "open, closed, all",
	} {
		s.refuses(path, s.call("all", "GET", path, nil), 422, "invalid", want)
	}
	mail := func(members map[string]any) map[string]any {
		body := map[string]any{"type": "mail_draft", "summary": "x"}
		for k, v := range members {
			body[k] = v
		}
		return body
	}
	for loc, body := range map[string]any{
		`["body","payload","actions","1","type"]`: mail(map[string]any{"payload": map[string]any{"actions": []any{map[string]any{"type": "mail_draft"}, map[string]any{"type": "fax"}}}}),
		`["body","payload","to","0"]`:             mail(map[string]any{"payload": map[string]any{"to": "Boss <a@b.example>"}}),
		`["body","type"]`:                         map[string]any{"type": "fax", "summary": "x"},
		`["body","summary"]`:                      map[string]any{"type": "mail_draft"},
		`["body","expires_at"]`:                   mail(map[string]any{"expires_at": "tomorrow"}),
		`["body","draft"]`:                        mail(map[string]any{"draft": " "}),
		`["body","replaces"]`:                     mail(map[string]any{"replaces": "seven"}),
	} {
		r := s.call("all", "POST", "/api/v1/nemawashi", body)
		s.refuses(loc, r, 422, "invalid", `"loc":`+loc)
		if strings.Contains(r.body, "action.json") || strings.Contains(r.body, "line 6") {
			t.Errorf("%s: the answer names a file that the caller does not know: %s", loc, r.body)
		}
	}
	request := "/api/v1/requests/" + percent("ask/q0000", s.requestOf("ask/q0000"))
	digest := s.call("all", "GET", request, nil).text("data", "digest")
	for _, body := range []map[string]any{{"response": "wait"}, {"response": "never"}, {"response": ""}, {"response": "deploy", "selected": []string{"x"}}} {
		body["digest"] = digest
		r := s.call("all", "POST", request+"/answer", body)
		s.wants(fmt.Sprint(body), r, 422, "invalid")
		for _, hint := range []string{"-m", "placet ", "--select"} {
			if strings.Contains(r.body, hint) {
				t.Errorf("%v: the answer is for a terminal: %s", body, r.body)
			}
		}
	}
}

// A setting that would let the wrong people in, or hide who answered, ends the start.
func TestServeNeedsTrustAndAttributions(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 0)
	s := serveAt(p)
	s.token("lead", "read,write,decide")
	_, id := s.begins("lead", nil)
	s.wants("approve", s.call("lead", "POST", "/api/v1/approvals/"+id+"/approve", nil), 200, "")
	s.daemon.stop(syscall.SIGTERM)
	files, _ := filepath.Glob(filepath.Join(p.stateHome(), "placet", "workspaces", "*", "attributions.jsonl"))
	if len(files) != 1 {
		t.Fatalf("%v", files)
	}
	body, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	refuses := func(what, says string) {
		t.Helper()
		if out, code := p.placet("serve", "--listen", "127.0.0.1:0"); code != 2 || !strings.Contains(out, says) {
			t.Errorf("%s: serve says %d %s", what, code, out)
		}
	}
	for what, text := range map[string]string{
		"nonsense": string(body) + "nonsense\n", "a list": "[]\n", "another author": strings.Replace(string(body), "api:lead", "root:lead", 1),
	} {
		if err := os.WriteFile(files[0], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		refuses(what, "attributions.jsonl")
	}
	if err := os.WriteFile(files[0], body, 0o600); err != nil {
		t.Fatal(err)
	}
	p.write("placet.toml", "[serve]\nlisten = \"0.0.0.0:0\"\n")
	refuses("[serve] of the workspace", "[serve]")
	if out, code := p.placet("trust", "serve", "--yes"); code != 0 {
		t.Fatal(out)
	}
	s.begin()
}

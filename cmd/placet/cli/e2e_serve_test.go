package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"placet/internal/await"
)

// site is a workspace that is served over HTTP.
type site struct {
	*place
	daemon *daemon
	url    string
	pages  string // the host of its pages
	tokens map[string]string
}

var servingOn = regexp.MustCompile(`(?m)^placet: serving on (\S+)$`)

// serveAt serves a workspace.
func serveAt(p *place) *site {
	p.t.Helper()
	s := &site{place: p, tokens: map[string]string{}}
	s.begin()
	p.t.Cleanup(func() { s.daemon.stopAfter(p.t) })
	return s
}

func (s *site) begin() {
	s.t.Helper()
	s.daemon = s.launch(nil, []string{placetBinary(s.t), "-C", s.root, "serve", "--listen", "127.0.0.1:0"})
	s.await(s.daemon)
	s.until("placet serve says where", func() bool {
		found := servingOn.FindStringSubmatch(s.daemon.said())
		if found != nil {
			s.url = found[1]
		}
		if link := loginAt.FindString(s.daemon.said()); link != "" {
			s.pages = strings.Split(link, "/")[2]
		}
		return found != nil && s.pages != ""
	})
}

// configure writes a setting into the configuration of the tests' user.
func (p *place) configure(text string) {
	p.t.Helper()
	home := filepath.Join(p.root, "..", "home-"+filepath.Base(p.root), "placet")
	if err := os.MkdirAll(home, 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "placet.toml"), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// token makes a token, and keeps it under its name.
func (s *site) token(name, roles string, more ...string) {
	s.t.Helper()
	out, code := s.placet(append([]string{"token", "new", name, "--roles", roles}, more...)...)
	secret := regexp.MustCompile(`plt_[A-Za-z0-9_-]{43}`).FindString(out)
	if code != 0 || secret == "" {
		s.t.Fatalf("token new %s: %s", name, out)
	}
	s.tokens[name] = secret
}

// host names another host in a call.
func host(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }

// reply is an answer to a call.
type reply struct {
	status int
	header http.Header
	body   string
	json   map[string]any // nil if it is not an object
}

// text is a member of the answer, by its path.
func (r reply) text(path ...string) string {
	var at any = r.json
	for _, name := range path {
		m, _ := at.(map[string]any)
		at = m[name]
	}
	switch v := at.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return fmt.Sprint(v)
	}
	out, _ := json.Marshal(at)
	return string(out)
}

// call calls as the token of a name, "" for none; body nil sends none.
func (s *site) call(token, method, path string, body any, more ...func(*http.Request)) reply {
	r, err := s.try(token, method, path, body, more...)
	if err != nil {
		s.t.Helper()
		s.t.Fatal(err)
	}
	return r
}

func (s *site) try(token, method, path string, body any, more ...func(*http.Request)) (r reply, err error) {
	var sent io.Reader = http.NoBody
	switch b := body.(type) {
	case nil:
	case string:
		sent = strings.NewReader(b)
	default:
		text, err := json.Marshal(b)
		if err != nil {
			return r, err
		}
		sent = bytes.NewReader(text)
	}
	q, err := http.NewRequestWithContext(await.Context(s.t), method, s.url+path, sent)
	if err != nil {
		return r, err
	}
	if sent != http.NoBody {
		q.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		q.Header.Set("Authorization", "Bearer "+s.tokens[token])
	}
	for _, change := range more {
		change(q)
	}
	got, err := client.Do(q)
	if err != nil {
		return r, err
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	r = reply{status: got.StatusCode, header: got.Header, body: string(text)}
	_ = json.Unmarshal(text, &r.json)
	return r, err
}

// client follows no redirection: it is an answer.
var client = &http.Client{
	Transport:     &http.Transport{MaxIdleConnsPerHost: 64, MaxConnsPerHost: 64},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// wants checks the status of an answer, and the code of a problem.
func (s *site) wants(what string, r reply, status int, code string) {
	s.t.Helper()
	if r.status != status || code != r.text("code") {
		s.t.Errorf("%s: %d %s, expected %d %q", what, r.status, r.body, status, code)
	}
}

// actionAt is the id of the open approval of an action.
func (s *site) actionAt(action string) string {
	s.t.Helper()
	var st struct {
		Approval string `json:"approval_request_id"`
	}
	_ = json.Unmarshal([]byte(s.read(".nemawashi/actions/"+action+"/state.json")), &st)
	return st.Approval
}

// begins begins an action and makes placet ask a person; it returns the action's number and the
// approval's id.
func (s *site) begins(token string, members map[string]any) (action, approval string) {
	s.t.Helper()
	body := map[string]any{"type": "mail_draft", "summary": "Tell them", "draft": "Dear all,\nwe are late.\n"}
	for k, v := range members {
		body[k] = v
	}
	r := s.call(token, "POST", "/api/v1/nemawashi", body)
	if r.status != 202 { // it has begun, and a busy machine has not read it yet
		s.wants("begin", r, 200, "")
	}
	if r.text("status") != "pending" || r.text("thread_id") != "action-"+r.text("action_id") {
		s.t.Errorf("begin answers %s", r.body)
	}
	action = r.text("action_id")
	s.until("the approval is asked for", func() bool {
		r = s.call(token, "POST", "/api/v1/nemawashi/"+action+"/request-approval", nil)
		return r.status != 202
	})
	s.wants("request-approval", r, 200, "")
	approval = r.text("approval_request_id")
	if r.text("status") != "approval_pending" || !strings.HasPrefix(approval, "apr-") || r.text("action_id") != action {
		s.t.Errorf("request-approval answers %s", r.body)
	}
	return action, approval
}

// Scenario 22: the endpoints work that the clients of nemawashi know.
func TestServeNemawashi(t *testing.T) {
	t.Parallel()
	s := serveAt(newPlace(t, t.TempDir(), 0))
	s.token("lead", "read,write,decide")

	t.Run("approve", func(t *testing.T) {
		action, id := s.begins("lead", nil)
		again := s.call("lead", "POST", "/api/v1/nemawashi/"+action+"/request-approval", nil)
		s.wants("asked twice", again, 200, "")
		if again.text("approval_request_id") != id {
			t.Errorf("asked twice: %s", again.body)
		}
		s.wants("execute before approval", s.call("lead", "POST", "/api/v1/nemawashi/"+action+"/execute", map[string]any{}), 409, "not_approved")
		r := s.call("lead", "POST", "/api/v1/approvals/"+id+"/approve", map[string]any{"comment": "go", "extra": 1})
		s.wants("approve", r, 200, "")
		job := r.text("job_id")
		if r.text("status") != "executed" || !strings.HasPrefix(job, "job-") || r.text("thread_id") != "action-"+action {
			t.Errorf("approve answers %s", r.body)
		}
		for _, path := range []string{"/api/v1/approvals/" + id + "/approve", "/api/v1/nemawashi/" + action + "/execute"} {
			r := s.call("lead", "POST", path, map[string]any{})
			if r.status != 200 || r.text("job_id") != job {
				t.Errorf("%s again: %d %s", path, r.status, r.body)
			}
		}
		s.wants("reject what was carried out", s.call("lead", "POST", "/api/v1/approvals/"+id+"/reject", nil), 409, "closed")
		s.wants("steer what was carried out", s.call("lead", "POST", "/api/v1/approvals/"+id+"/steer", map[string]any{"feedback": "softer"}), 409, "closed")
		s.wants("ask for what was carried out", s.call("lead", "POST", "/api/v1/nemawashi/"+action+"/request-approval", nil), 409, "wrong_status")
		a := s.call("lead", "GET", "/api/v1/audit/action-"+action, nil)
		if !regexp.MustCompile(`(?s)approval_requested.*approval_approved.*execution_started.*execution_succeeded`).MatchString(a.body) || a.text("thread_id") != "action-"+action {
			t.Errorf("audit: %s", a.body)
		}
		if newest := s.call("lead", "GET", "/api/v1/audit/action-"+action+"?limit=1", nil); strings.Count(newest.body, "event_type") != 1 || !strings.Contains(newest.body, "execution_succeeded") {
			t.Errorf("audit, the newest: %s", newest.body)
		}
		if known := s.read(".nemawashi/actions/" + action + "/requests/" + id + "/receipt.json"); !strings.Contains(known, `"api:lead"`) {
			t.Errorf("receipt: %s", known)
		}
	})
	t.Run("steer", func(t *testing.T) {
		action, id := s.begins("lead", nil)
		steer := map[string]any{"feedback": "softer tone", "selectedPlan": "plan b", "idempotencyKey": "k1"}
		r := s.call("lead", "POST", "/api/v1/approvals/"+id+"/steer", steer)
		s.wants("steer", r, 200, "")
		next := r.text("approval_request_id")
		if next == id || !strings.HasPrefix(next, "apr-") || r.text("status") != "approval_pending" {
			t.Errorf("steer answers %s", r.body)
		}
		if draft := s.read(".nemawashi/actions/" + action + "/drafts/v2.md"); !strings.HasSuffix(draft, "[Steer] softer tone\n[Plan] B\n") {
			t.Errorf("v2: %q", draft)
		}
		for _, at := range []string{id, next} {
			r := s.call("lead", "POST", "/api/v1/approvals/"+at+"/steer", steer)
			if r.status != 200 || r.text("approval_request_id") != next {
				t.Errorf("the same steer again at %s: %d %s", at, r.status, r.body)
			}
			s.wants("other feedback, same key", s.call("lead", "POST", "/api/v1/approvals/"+at+"/steer", map[string]any{"feedback": "harder", "idempotencyKey": "k1"}), 409, "key_reused")
		}
		if s.read(".nemawashi/actions/"+action+"/drafts/v3.md") != "" {
			t.Error("a repeat made another version")
		}
		for _, verb := range []string{"approve", "reject", "steer"} {
			r := s.call("lead", "POST", "/api/v1/approvals/"+id+"/"+verb, map[string]any{"feedback": "x"})
			s.wants(verb+" of a superseded approval", r, 409, "stale_approval")
			if r.text("superseded_by") != next || r.text("current_approval_request_id") != next {
				t.Errorf("%s of a superseded approval: %s", verb, r.body)
			}
		}
		s.wants("no feedback", s.call("lead", "POST", "/api/v1/approvals/"+next+"/steer", map[string]any{"feedback": " "}), 422, "invalid")
		s.wants("no plan", s.call("lead", "POST", "/api/v1/approvals/"+next+"/steer", map[string]any{"feedback": "x", "selectedPlan": "d"}), 422, "invalid")
		s.wants("an old digest", s.call("lead", "POST", "/api/v1/approvals/"+next+"/approve", map[string]any{"digest": "sha256:" + strings.Repeat("0", 64)}), 409, "stale")
		r = s.call("lead", "POST", "/api/v1/approvals/"+next+"/reject", nil)
		if r.status != 200 || strings.TrimSpace(r.body) != `{"status":"rejected"}` {
			t.Errorf("reject: %d %s", r.status, r.body)
		}
		if r := s.call("lead", "POST", "/api/v1/approvals/"+next+"/reject", nil); r.status != 200 {
			t.Errorf("reject again: %d %s", r.status, r.body)
		}
		s.wants("approve what was rejected", s.call("lead", "POST", "/api/v1/approvals/"+next+"/approve", nil), 409, "closed")
	})
	t.Run("refused", func(t *testing.T) {
		s.wants("unknown approval", s.call("lead", "POST", "/api/v1/approvals/apr-000000000000/approve", nil), 404, "not_found")
		s.wants("unknown action", s.call("lead", "POST", "/api/v1/nemawashi/999/execute", nil), 404, "not_found")
		s.wants("unknown thread", s.call("lead", "GET", "/api/v1/audit/action-999", nil), 404, "not_found")
		s.wants("unknown status", s.call("lead", "GET", "/api/v1/history?status=open", nil), 422, "invalid")
		s.wants("unknown type", s.call("lead", "POST", "/api/v1/nemawashi", map[string]any{"type": "fax", "summary": "x"}), 422, "invalid")
		s.wants("no summary", s.call("lead", "POST", "/api/v1/nemawashi", map[string]any{"type": "mail_draft"}), 422, "invalid")
		s.wants("unknown member", s.call("lead", "POST", "/api/v1/nemawashi", map[string]any{"type": "mail_draft", "summary": "x", "drafft": "y"}), 422, "invalid")
		s.wants("bad address", s.call("lead", "POST", "/api/v1/nemawashi", map[string]any{"type": "mail_draft", "summary": "x", "payload": map[string]any{"to": "Boss <a@b.example>"}}), 422, "invalid")
	})
	t.Run("history", func(t *testing.T) {
		action, _ := s.begins("lead", map[string]any{"project_id": "p1", "draft": strings.Repeat("é", 200)})
		r := s.call("lead", "GET", "/api/v1/history?project_id=p1&status=approval_pending", nil)
		var list []struct {
			Action  int      `json:"action_id"`
			Summary string   `json:"summary"`
			Events  []any    `json:"events"`
			Project string   `json:"project_id"`
			Extra   struct{} `json:"-"`
		}
		if err := json.Unmarshal([]byte(r.body), &list); err != nil || len(list) != 1 || fmt.Sprint(list[0].Action) != action || list[0].Summary != strings.Repeat("é", 160)+"..." || len(list[0].Events) == 0 {
			t.Errorf("history: %v %s", err, r.body)
		}
	})
	t.Run("execute", func(t *testing.T) {
		meeting := map[string]any{"attendee": "a@b.example", "title": "t", "start_at": "2026-12-01T10:00:00Z", "end_at": "2026-12-01T11:00:00Z"}
		action, id := s.begins("lead", map[string]any{"type": "meeting_request", "payload": meeting})
		s.wants("approve", s.call("lead", "POST", "/api/v1/approvals/"+id+"/approve", nil), 200, "")
		s.wants("simulate", s.call("lead", "POST", "/api/v1/nemawashi/"+action+"/execute", map[string]any{"simulateFailure": true}), 409, "job_begun")
	})
}

// An approval carries nothing out: the command does, or asks about what it brings.
func TestServeExecutesWhatWasApproved(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 0)
	p.configure("[nemawashi]\nexecute_on_approve = false\n")
	s := serveAt(p)
	s.token("lead", "read,write,decide")
	meeting := map[string]any{"attendee": "a@b.example", "title": "t", "start_at": "2026-12-01T10:00:00Z", "end_at": "2026-12-01T11:00:00Z"}
	action, id := s.begins("lead", map[string]any{"type": "meeting_request", "payload": meeting})
	r := s.call("lead", "POST", "/api/v1/approvals/"+id+"/approve", nil)
	if r.status != 200 || r.text("status") != "approved" || r.text("job_id") != "" {
		t.Fatalf("approve: %d %s", r.status, r.body)
	}
	execute := "/api/v1/nemawashi/" + action + "/execute"
	other := map[string]any{"attendee": "c@b.example", "title": "t", "startAt": "2026-12-01T10:00:00Z", "endAt": "2026-12-01T11:00:00Z"}
	s.wants("an override without attendee", s.call("lead", "POST", execute, map[string]any{"calendar": map[string]any{"title": "t"}}), 409, "bad_override")
	r = s.call("lead", "POST", execute, map[string]any{"calendar": other})
	s.wants("an override", r, 409, "override_needs_approval")
	next := r.text("approval_request_id")
	if next == id || next == "" || next != s.actionAt(action) {
		t.Fatalf("an override: %s", r.body)
	}
	s.wants("approve the override", s.call("lead", "POST", "/api/v1/approvals/"+next+"/approve", nil), 200, "")
	r = s.call("lead", "POST", execute, map[string]any{"simulateFailure": true})
	if r.status != 200 || r.text("status") != "failed" || !strings.HasPrefix(r.text("job_id"), "job-") {
		t.Fatalf("a simulated failure: %d %s", r.status, r.body)
	}
	if again := s.call("lead", "POST", "/api/v1/approvals/"+next+"/approve", nil); again.status != 200 || again.text("job_id") != r.text("job_id") {
		t.Errorf("approve again: %d %s", again.status, again.body)
	}
}

// percent is a request of a run as a path names it.
func percent(run, request string) string { return url.PathEscape(run + ":" + request) }

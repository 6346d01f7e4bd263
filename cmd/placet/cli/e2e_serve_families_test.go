package cli_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// everyFamily is a workspace with open requests of every family.
func everyFamily(t *testing.T) *place {
	p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0)
	archive, err := txtar.ParseFile(filepath.Join("..", "..", "..", "testdata", "upgrade", "waiting.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		p.write(f.Name, string(f.Data))
	}
	p.configure("[optimizer]\nhitl_timeout = \"80000h\"\n")
	p.writeAsk("one")
	p.write(".nemawashi/actions/1/drafts/v1.md", "Dear all\n")
	p.write(".nemawashi/actions/1/action.json", `{"type": "mail_draft", "summary": "Tell them", "requested_by": "agent"}`)
	return p
}

// data returns the content of an answer, without the parts that differ between two calls.
func data(t *testing.T, body string, without ...string) map[string]any {
	t.Helper()
	var v struct {
		Data map[string]any `json:"data"`
	}
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	for _, name := range without {
		delete(v.Data, name)
	}
	return v.Data
}

// Scenario 23: a request of every family is listed, shown and answered, by the same bodies
// as those of --json.
func TestServeAnswersEveryFamily(t *testing.T) {
	t.Parallel()
	s := serveAt(everyFamily(t))
	s.token("all", "read,write,decide")
	p, families := s.place, map[string]bool{}
	p.until("every family asks", func() bool {
		var list struct {
			Data struct {
				Requests []struct {
					Run  string `json:"run"`
					Form string `json:"form"`
				} `json:"requests"`
			} `json:"data"`
		}
		_ = json.Unmarshal([]byte(s.call("all", "GET", "/api/v1/requests", nil).body), &list)
		for _, q := range list.Data.Requests {
			family, _, _ := strings.Cut(q.Run, "/")
			families[family] = families[family] || p.read(q.Form) != ""
		}
		return len(families) == 5 && len(list.Data.Requests) == leftOpen+2
	})
	same := func(what, path string, without []string, args ...string) {
		t.Helper()
		out, code := p.placet(append(args, "--json")...)
		if code != 0 && code != 3 { // 3 means that something waits
			t.Fatalf("%s: %d %s", what, code, out)
		}
		if diff := cmp.Diff(data(t, out, without...), data(t, s.call("all", "GET", path, nil).body, without...)); diff != "" {
			t.Errorf("%s is not as --json has it:\n%s", what, diff)
		}
	}
	same("the inbox", "/api/v1/requests", []string{"closed", "next"}, "inbox")
	same("status", "/api/v1/runs", []string{"next", "at", "daemon_pid"}, "status")
	var list struct {
		Data struct {
			Requests []struct {
				Run, Type string
				ID        string `json:"request_id"`
				Digest    string
				Options   []struct{ ID string }
			} `json:"requests"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(s.call("all", "GET", "/api/v1/requests", nil).body), &list); err != nil {
		t.Fatal(err)
	}
	for _, q := range list.Data.Requests {
		path := "/api/v1/requests/" + percent(q.Run, q.ID)
		same("show "+q.ID, path, nil, "show", q.Run+":"+q.ID)
		family, id, _ := strings.Cut(q.Run, "/")
		same("show "+q.Run, "/api/v1/runs/"+family+"/"+url.PathEscape(id), nil, "show", q.Run)
		same("explain "+q.Run, "/api/v1/explain/"+family+"/"+id, nil, "explain", q.Run)
	}
	for _, filter := range []string{"family=ask", "type=escalation", "run=ask/one", "limit=1"} {
		r := s.call("all", "GET", "/api/v1/requests?"+filter, nil)
		if n := strings.Count(r.body, `"requested_at"`); n != 1 {
			t.Errorf("%s lists %d requests: %s", filter, n, r.body)
		}
	}
	for _, q := range list.Data.Requests {
		word := "because"
		body := map[string]any{"digest": q.Digest, "comment": word}
		if len(q.Options) > 0 {
			body["response"] = q.Options[0].ID
		}
		path := "/api/v1/requests/" + percent(q.Run, q.ID)
		r := s.call("all", "POST", path+"/answer", body)
		if r.status != 200 || r.text("data", "receipt", "result") != "accepted" || !strings.Contains(r.text("data", "receipt", "known_as"), "api:all") || r.text("data", "receipt", "provided_by", "source") != "http" || r.text("data", "result") != "written" {
			t.Errorf("answer %s: %d %s", q.ID, r.status, r.body)
		}
		again := s.call("all", "POST", path+"/answer", body)
		if again.status != 200 || again.text("data", "result") != "same" || again.text("data", "receipt", "decided_at") != r.text("data", "receipt", "decided_at") {
			t.Errorf("answer %s again: %d %s", q.ID, again.status, again.body)
		}
		same("show the closed "+q.ID, path, nil, "show", q.Run+":"+q.ID)
	}
	if r := s.call("all", "GET", "/api/v1/requests?status=closed", nil); strings.Count(r.body, `"receipt_path"`) != len(list.Data.Requests) {
		t.Errorf("closed: %s", r.body)
	}
}

// A request id that two runs use is ambiguous until its run is named.
func TestServeGuessesNoRequest(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 2)
	state := strings.ReplaceAll(p.read(p.runs[1]+"/state.json"), "fr-20261120-000002", "fr-20261120-000001")
	p.write(p.runs[1]+"/state.json", state)
	s := serveAt(p)
	s.token("all", "read,write,decide")
	run := "faber/" + strings.TrimPrefix(p.runs[0], ".fractary/faber/runs/")
	p.until("both ask", func() bool { return s.call("all", "GET", "/api/v1/requests/fr-20261120-000001", nil).status == 409 })
	r := s.call("all", "GET", "/api/v1/requests/fr-20261120-000001", nil)
	s.wants("an id of two runs", r, 409, "ambiguous")
	if fits := r.text("fits"); strings.Count(fits, ":fr-20261120-000001") != 2 || !strings.Contains(fits, run) {
		t.Errorf("fits: %s", fits)
	}
	s.wants("an answer to an id of two runs", s.call("all", "POST", "/api/v1/requests/fr-20261120-000001/answer", map[string]any{"response": "approve", "digest": "sha256:00000000"}), 409, "ambiguous")
	s.wants("the run's", s.call("all", "GET", "/api/v1/requests/"+percent(run, "fr-20261120-000001"), nil), 200, "")
}

// Scenario 24: two concurrent answers that say the same are one, and an answer in place is
// respected.
func TestServeBesideOtherAnswers(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 3)
	p.write(".git/HEAD", "ref: refs/heads/main\n")
	s := serveAt(p)
	s.token("all", "read,write,decide")
	p.until("the requests are open", p.opened)
	digest := func(i int) string {
		return s.call("all", "GET", "/api/v1/requests/"+p.requestID(i), nil).text("data", "digest")
	}
	shown, reference := digest(0), p.requestReference(0)
	var both sync.WaitGroup
	both.Add(9)
	for range 8 {
		go func() {
			defer both.Done()
			if r, err := s.try("all", "POST", "/api/v1/requests/"+p.requestID(0)+"/answer", map[string]any{"response": "approve", "digest": shown}); err != nil || r.status != 200 || r.text("data", "receipt", "result") != "accepted" {
				t.Errorf("API: %v %d %s", err, r.status, r.body)
			}
		}()
	}
	go func() {
		defer both.Done()
		if out, code := p.placet("approve", reference); code != 0 {
			t.Errorf("command line: %s", out)
		}
	}()
	both.Wait()
	p.verify(0, "approve")

	// Nothing is decided while git rewrites the tree. An unusable answer is replaced meanwhile,
	// and a usable one is not.
	p.write(".git/MERGE_HEAD", strings.Repeat("0", 40)+"\n")
	p.write(p.request(1)+"/response.json", p.response(1, "approved-not", ""))
	p.write(p.request(2)+"/response.json", p.response(2, "reject", "no"))
	r := s.call("all", "POST", "/api/v1/requests/"+p.requestID(1)+"/answer", map[string]any{"response": "approve", "digest": digest(1)})
	if r.status != 202 || r.text("data", "result") != "written" || !strings.Contains(p.read(p.request(1)+"/response.json"), `"approve"`) {
		t.Errorf("over an answer that nobody can use: %d %s", r.status, r.body)
	}
	r = s.call("all", "POST", "/api/v1/requests/"+p.requestID(2)+"/answer", map[string]any{"response": "approve", "digest": digest(2)})
	s.wants("over another answer", r, 409, "answer_in_place")
}

// stream is a stream of events.
type stream struct {
	*http.Response
	lines *bufio.Scanner
}

type frame struct{ id, name, data string }

// listen opens the stream of events, after the one with an id.
func (s *site) listen(token, query, after string) stream {
	s.t.Helper()
	q, err := http.NewRequest("GET", s.url+"/api/v1/events"+query, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+s.tokens[token])
	if after != "" {
		q.Header.Set("Last-Event-ID", after)
	}
	got, err := (&http.Client{}).Do(q)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { got.Body.Close() })
	x := stream{got, bufio.NewScanner(got.Body)}
	if f, ok := x.next(); !ok || f.name != "connection.established" || got.Header.Get("Content-Type") != "text/event-stream" {
		s.t.Fatalf("the stream begins with %+v", f)
	}
	return x
}

// next returns the next event; ok is false at the end of the stream.
func (x stream) next() (f frame, ok bool) {
	for x.lines.Scan() {
		name, value, _ := strings.Cut(x.lines.Text(), ": ")
		switch name {
		case "id":
			f.id = value
		case "event":
			f.name = value
		case "data":
			f.data = value
		}
		if x.lines.Text() == "" && f.name != "" {
			return f, true
		}
	}
	return f, false
}

// Scenario 27: an interrupted stream resumes where it was; after a restart it begins anew.
func TestTortureServeResumesStreams(t *testing.T) {
	t.Parallel()
	runs := tortured(8, 50)
	p := newPlace(t, t.TempDir(), runs)
	s := serveAt(p)
	s.token("all", "read,write,decide")
	s.token("other", "read", "--families", "ask")
	p.until("the requests are open", p.opened)
	whole, part := s.listen("all", "?filter=transition", ""), s.listen("all", "?filter=transition", "")
	nothing := s.listen("other", "", "")
	approve := func(i int) {
		r := s.call("all", "GET", "/api/v1/requests/"+p.requestID(i), nil)
		if r := s.call("all", "POST", "/api/v1/requests/"+p.requestID(i)+"/answer", map[string]any{"response": "approve", "digest": r.text("data", "digest")}); r.status != 200 {
			t.Fatalf("answer %d: %s", i, r.body)
		}
	}
	approve(0)
	first, ok := part.next()
	if !ok || first.id == "" || !strings.Contains(first.data, `"edge":`) {
		t.Fatalf("first event: %+v", first)
	}
	part.Body.Close()
	for i := 1; i < runs; i++ {
		approve(i)
	}
	seen, order := map[string]int{first.id: 1}, []string{first.id}
	resumed := s.listen("all", "?filter=transition", first.id)
	for len(order) < runs {
		f, ok := resumed.next()
		if !ok {
			t.Fatalf("the stream ends after %d events", len(order))
		}
		if seen[f.id]++; seen[f.id] > 1 || f.name != "transition" {
			t.Errorf("%+v comes twice, or is none", f)
		}
		order = append(order, f.id)
	}
	var all []string
	for len(all) < runs {
		f, ok := whole.next()
		if !ok {
			t.Fatalf("the whole stream ends after %d events", len(all))
		}
		all = append(all, f.id)
	}
	if diff := cmp.Diff(all, order); diff != "" {
		t.Errorf("the stream that was cut has other events:\n%s", diff)
	}
	// A revoked token ends its streams.
	if out, code := p.placet("token", "revoke", "other"); code != 0 {
		t.Fatal(out)
	}
	if f, ok := nothing.next(); ok {
		t.Errorf("who may see another family alone is sent %+v", f)
	}
	s.daemon.stop(syscall.SIGTERM)
	s.begin()
	if f, ok := s.listen("all", "", first.id).next(); !ok || f.name != "reset" {
		t.Errorf("after a restart: %+v", f)
	}
}

// One process serves a workspace; when it is killed, the next takes over.
func TestServeBesideWatch(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 1)
	d := p.start()
	p.await(d)
	out, code := p.placet("serve", "--listen", "127.0.0.1:0")
	if code == 0 || !strings.Contains(out, "stop it first: placet serve includes watch") {
		t.Errorf("serve beside watch: %d %s", code, out)
	}
	d.stop(syscall.SIGTERM)
	s := serveAt(p)
	for _, verb := range [][]string{{"watch"}, {"serve", "--listen", "127.0.0.1:0"}} {
		if out, code := p.placet(verb...); code == 0 {
			t.Errorf("%s beside serve: %s", verb, out)
		}
	}
	s.token("all", "read")
	_ = s.daemon.cmd.Process.Kill()
	<-s.daemon.ended
	_ = s.daemon.cmd.Wait()
	s.begin()
	if r := s.call("all", "GET", "/api/v1/requests", nil); r.status != 200 {
		t.Errorf("after a kill: %d %s", r.status, r.body)
	}
}

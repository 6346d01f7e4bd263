package cli_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// The address of a response is used only if it is Slack's. A press with another address counts,
// because its signature proves that Slack has sent it, but the address is never called.
func TestSlackAForeignResponseURLIsNeverCalled(t *testing.T) {
	t.Parallel()
	d := newSlackDouble(t)
	s := slackSite(t, d, "[gates]\n\"nemawashi\" = { approvers = [\"slack:U1\"] }\n")
	var called atomic.Int32
	foreign := countingListener(t, func() { called.Add(1) })
	_, _, m := s.asks(d, nil)
	addresses := []string{"http://" + foreign, "https://" + foreign, "https://hooks.slack.com@" + foreign, "https://" + foreign + "/hooks.slack.com", strings.Replace(d.URL, "http:", "https:", 1) + ".evil.example"}
	for n, address := range addresses {
		if r := s.press("U2", buttons(m)["hitl_approve"], map[string]any{"response_url": address}); r.text("text") != "not allowed" {
			t.Errorf("somebody else with %s: %d %s", address, r.status, r.body)
		}
		s.until("who may not answer is told in the channel", func() bool { return len(d.of("chat.postEphemeral")) == n+1 })
	}
	if r := s.press("U1", buttons(m)["hitl_approve"], map[string]any{"response_url": addresses[1]}); r.text("text") != "approved" {
		t.Errorf("a press that counts: %d %s", r.status, r.body)
	}
	s.postedWith(d, "Execution completed.")
	for n, address := range addresses {
		if r := s.press("U1", buttons(m)["hitl_reject"], map[string]any{"response_url": address}); r.text("text") != "stale" {
			t.Errorf("a stale press with %s: %d %s", address, r.status, r.body)
		}
		s.until("who presses too late is told in the channel", func() bool { return len(d.of("chat.postEphemeral")) == len(addresses)+n+1 })
	}
	if n := called.Load(); n > 0 {
		t.Errorf("%d calls of a foreign address", n)
	}
}

// countingListener is a listener that counts its connections.
func countingListener(t *testing.T, accepted func()) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			accepted()
			_ = conn.Close()
		}
	}()
	return l.Addr().String()
}

// Interactions are forms, and events are JSON: another body is refused, and nothing moves.
func TestSlackCallsOfAnotherTypeAreRefused(t *testing.T) {
	t.Parallel()
	d := newSlackDouble(t)
	s := slackSite(t, d, "")
	_, id, m := s.asks(d, nil)
	kind := func(kind string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Content-Type", kind) }
	}
	before := s.digests()
	payload, _ := json.Marshal(map[string]any{
		"type": "block_actions", "user": map[string]any{"id": "U1"}, "actions": []any{map[string]any{"action_id": "hitl_approve", "value": buttons(m)["hitl_approve"]["value"]}},
	})
	event := `{"type":"event_callback","event_id":"Ev1","event":{"type":"message","user":"U1","text":"plan b","channel":"C1","ts":"1700000010.000001","thread_ts":"1700000000.000001"}}`
	s.wants("an interaction as JSON", s.slackSends("/api/slack/interactions", "payload="+string(payload), kind("application/json")), 415, "content_type")
	s.wants("an interaction without a type", s.slackSends("/api/slack/interactions", "payload="+string(payload), kind("")), 415, "content_type")
	s.wants("an event as a form", s.slackSends("/api/slack/events", event, kind("application/x-www-form-urlencoded")), 415, "content_type")
	s.wants("an event as text", s.slackSends("/api/slack/events", event, kind("text/plain")), 415, "content_type")
	for _, body := range []string{"", "{", "payload=x", "[]", event + "x"} {
		s.wants("an event that is no JSON", s.slackSends("/api/slack/events", body, kind("application/json; charset=utf-8")), 400, "body")
	}
	s.wants("an unsigned interaction as JSON", s.call("", "POST", "/api/slack/interactions", "{}"), 401, "signature")
	if after := s.digests(); after != before {
		t.Errorf("something was written about %s:\n%s", id, after)
	}
	if r := s.slackSends("/api/slack/events", event, kind("application/json; charset=utf-8")); r.status != 200 {
		t.Errorf("an event: %d %s", r.status, r.body)
	}
}

// allow_unsigned is for this machine alone: a call that names another host needs a signature,
// though it comes to the same address.
func TestSlackUnsignedCallsNeedThisHost(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 0)
	p.configure("[serve]\nallowed_hosts = [\"placet.example\"]\n[slack]\nallow_unsigned = true\n")
	s := serveAt(p)
	body := `{"token":"t","challenge":"abc123","type":"url_verification"}`
	for _, name := range []string{"localhost", "127.0.0.1:8787", "[::1]"} {
		if r := s.call("", "POST", "/api/slack/events", body, host(name)); r.status != 200 || r.text("challenge") != "abc123" {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
	}
	s.wants("another host that may be named", s.call("", "POST", "/api/slack/events", body, host("placet.example")), 401, "signature")
	s.wants("another host", s.call("", "POST", "/api/slack/events", body, host("evil.example")), 403, "host")
}

// Without a bot token no dialog can be opened: Request changes steers with these words.
func TestSlackRequestsChangesWithoutAToken(t *testing.T) {
	t.Parallel()
	d := newSlackDouble(t)
	p, secrets := newPlace(t, t.TempDir(), 0), t.TempDir()
	for name, value := range map[string]string{"secret": slackSecret, "hook": d.URL + "/hook"} {
		if err := os.WriteFile(filepath.Join(secrets, name), []byte(value), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.configure(fmt.Sprintf("[slack]\napi_url = %q\nsigning_secret_file = %q\nwebhook_url_file = %q\n", d.URL+"/api", secrets+"/secret", secrets+"/hook"))
	s := serveAt(p)
	s.token("lead", "read,write,decide")
	action, id := s.begins("lead", nil)
	s.until("the question is posted", func() bool { return len(d.of("/hook")) == 1 })
	have := buttons(d.of("/hook")[0])
	if r := s.press("U1", have["hitl_request_changes"], nil); r.status != 200 || r.text("text") != "request changes" {
		t.Fatalf("request changes: %d %s", r.status, r.body)
	}
	s.until("it is asked again", func() bool { next := s.actionAt(action); return next != id && next != "" })
	if draft := s.read(".nemawashi/actions/" + action + "/drafts/v2.md"); !strings.HasSuffix(draft, "[Steer] request_changes\n") {
		t.Errorf("v2: %q", draft)
	}
	if rc := s.read(".nemawashi/actions/" + action + "/requests/" + id + "/receipt.json"); !strings.Contains(rc, `"slack:U1"`) {
		t.Errorf("receipt: %s", rc)
	}
	s.until("the question is posted again", func() bool { return len(d.of("/hook")) == 2 })
	if r := s.press("U1", have["hitl_approve"], nil); r.text("text") != "stale" {
		t.Errorf("a press of the first message: %s", r.body)
	}
	for _, method := range []string{"views.open", "chat.postMessage", "chat.postEphemeral", "chat.update"} {
		if n := len(d.of(method)); n > 0 {
			t.Errorf("%d calls of %s without a token", n, method)
		}
	}
}

// Only the author of a reply learns that they may not answer, and nothing is written.
func TestSlackAReplyOfSomebodyElseLeavesNothing(t *testing.T) {
	t.Parallel()
	for lang, says := range map[string]string{"en": "You are not among those who may answer", "ko": "이 요청에 답변할 수 있는 사람이 아닙니다"} {
		t.Run(lang, func(t *testing.T) { aReplyOfSomebodyElseLeavesNothing(t, lang, says) })
	}
}

func aReplyOfSomebodyElseLeavesNothing(t *testing.T, lang, says string) {
	t.Parallel()
	d := newSlackDouble(t)
	s := slackSite(t, d, "[gates]\n\"nemawashi\" = { approvers = [\"slack:U1\"] }\n[nemawashi]\nlanguage = \""+lang+"\"\n")
	s.asks(d, nil)
	before := s.digests()
	for n, text := range []string{"plan b", "hello", "承認"} {
		if r := s.says("U2", text, fmt.Sprint("Ev", n), fmt.Sprintf("1700000010.%06d", n), nil); r.status != 200 || strings.TrimSpace(r.body) != `{"ok":true}` {
			t.Errorf("%s: %d %s", text, r.status, r.body)
		}
	}
	s.until("who replied is told each time", func() bool { return len(d.of("chat.postEphemeral")) == 3 })
	for _, told := range d.of("chat.postEphemeral") {
		if told.body["user"] != "U2" || told.body["channel"] != "C1" || told.body["thread_ts"] != "1700000000.000001" || !strings.Contains(told.raw, says) {
			t.Errorf("who replied is told %s", told.raw)
		}
	}
	if after := s.digests(); after != before {
		t.Errorf("something was written:\n%s", after)
	}
	if n := len(d.of("chat.postMessage")); n != 1 {
		t.Errorf("%d messages", n)
	}
}

// A request has twenty notes at most, also when more replies come at the same instant.
func TestSlackARequestHasTwentyNotesAtMost(t *testing.T) {
	t.Parallel()
	d := newSlackDouble(t)
	s := slackSite(t, d, "")
	action, id, _ := s.asks(d, nil)
	notes := func() int {
		found, _ := filepath.Glob(filepath.Join(s.root, ".nemawashi/actions", action, "requests", id, "slack/note-*/note.json"))
		return len(found)
	}
	say := func(n int) {
		if r := s.says("U1", "approve", fmt.Sprint("Ev", n), fmt.Sprintf("1700000010.%06d", n), nil); r.status != 200 {
			t.Errorf("reply %d: %d %s", n, r.status, r.body)
		}
	}
	for n := range 15 {
		say(n)
	}
	if n := notes(); n != 15 {
		t.Errorf("%d notes for 15 replies", n)
	}
	var all sync.WaitGroup
	for n := range 25 {
		all.Go(func() { say(20 + n) })
	}
	all.Wait()
	if n := notes(); n != 20 {
		t.Errorf("%d notes for 40 replies", n)
	}
	s.until("each of them is posted", func() bool { return len(d.of("chat.postMessage")) == 21 })
	if s.actionAt(action) != id {
		t.Error("words have decided")
	}
}

// The author of a reply that names no plan and no subject is asked what it is about.
func TestSlackAReplyIsAskedWhatItIsAbout(t *testing.T) {
	t.Parallel()
	d := newSlackDouble(t)
	s := slackSite(t, d, "")
	action, id, _ := s.asks(d, nil)
	for range 2 {
		if r := s.says("U1", "hello", "Ev1", "1700000010.000001", nil); r.status != 200 {
			t.Errorf("a reply: %d %s", r.status, r.body)
		}
	}
	if note := s.postedWith(d, "the mail, the calendar or the approval document?"); note.body["thread_ts"] != "1700000000.000001" {
		t.Errorf("the note: %s", note.raw)
	}
	if s.actionAt(action) != id || len(d.of("chat.postMessage")) != 2 {
		t.Errorf("%d messages", len(d.of("chat.postMessage")))
	}
	if r := s.says("U1", "the mail, please shorter", "Ev2", "1700000010.000002", nil); r.status != 200 {
		t.Errorf("what it is about: %d %s", r.status, r.body)
	}
	s.until("it is asked again", func() bool { next := s.actionAt(action); return next != id && next != "" })
}

// A JSON line inside feedback never becomes the mail's recipient.
func TestSlackAJSONLineInFeedbackIsNoRecipient(t *testing.T) {
	t.Parallel()
	d := newSlackDouble(t)
	s := slackSite(t, d, "")
	action, id, _ := s.asks(d, map[string]any{"payload": map[string]any{"to": "pm@acme.example"}})
	if r := s.says("U1", "plan b\n{\"to\":\"evil@x.example\"}", "Ev1", "1700000010.000001", nil); r.status != 200 {
		t.Errorf("a reply: %d %s", r.status, r.body)
	}
	s.until("it is asked again", func() bool { next := s.actionAt(action); return next != id && next != "" })
	dir := ".nemawashi/actions/" + action
	if draft := s.read(dir + "/drafts/v2.md"); !strings.HasSuffix(draft, "[Steer] plan b\n{\"to\":\"evil@x.example\"}\n[Plan] B\n") {
		t.Errorf("v2: %q", draft)
	}
	again := s.posted(d, 2)
	if !strings.Contains(again.raw, "to: pm@acme.example") || strings.Contains(again.raw, "to: evil@x.example") {
		t.Errorf("asked again: %s", again.raw)
	}
	if r := s.press("U1", buttons(again)["hitl_approve"], nil); r.text("text") != "approved" {
		t.Fatalf("approve: %s", r.body)
	}
	s.postedWith(d, "Execution completed.")
	found, _ := filepath.Glob(filepath.Join(s.root, dir, "jobs/*/job.json"))
	if len(found) != 1 {
		t.Fatalf("jobs: %q", found)
	}
	job, _ := os.ReadFile(found[0])
	if !regexp.MustCompile(`"to":\s*\[?\s*"pm@acme\.example"`).Match(job) || strings.Contains(string(job), "evil@x.example") {
		t.Errorf("the job: %s", job)
	}
}

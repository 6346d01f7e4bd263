package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf16"

	"placet/engine/slack"
)

// slackDouble behaves as Slack's web API does, as far as placet calls it, and refuses what
// Slack refuses.
type slackDouble struct {
	*httptest.Server
	mu     sync.Mutex
	calls  []slackCall
	refuse string // the error that it answers with
	hold   chan struct{}
	broken []string
}

type slackCall struct {
	method string
	body   map[string]any
	raw    string
}

func newSlackDouble(t *testing.T) *slackDouble {
	d := &slackDouble{}
	d.Server = httptest.NewServer(http.HandlerFunc(d.serve))
	t.Cleanup(d.Close)
	return d
}

func (d *slackDouble) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/posted" {
		d.posted(w)
		return
	}
	raw, _ := io.ReadAll(r.Body)
	c := slackCall{method: strings.TrimPrefix(r.URL.Path, "/api/"), raw: string(raw)}
	_ = json.Unmarshal(raw, &c.body)
	d.mu.Lock()
	d.calls = append(d.calls, c)
	n, refuse, hold := len(d.calls), d.refuse, d.hold
	if r.URL.Path != "/hook" && r.Header.Get("Authorization") != "Bearer xoxb-test" {
		d.broken = append(d.broken, c.method+" without the token")
	}
	d.broken = append(d.broken, tooLong(c.body)...)
	d.mu.Unlock()
	if hold != nil {
		<-hold
	}
	if r.URL.Path == "/hook" {
		fmt.Fprint(w, "ok")
		return
	}
	if refuse != "" {
		fmt.Fprintf(w, `{"ok":false,"error":%q}`, refuse)
		return
	}
	fmt.Fprintf(w, `{"ok":true,"channel":"C1","ts":"1700000000.%06d","message":{"text":"x"}}`, n)
}

// posted lists the messages so far, for a client that reads them as a person does.
func (d *slackDouble) posted(w io.Writer) {
	type message struct {
		Body json.RawMessage `json:"body"`
	}
	list := []message{}
	for _, c := range d.of("chat.postMessage") {
		list = append(list, message{json.RawMessage(c.raw)})
	}
	_ = json.NewEncoder(w).Encode(list)
}

// tooLong are the blocks of a message that Slack would refuse.
func tooLong(body map[string]any) (wrong []string) {
	blocks, _ := body["blocks"].([]any)
	if len(blocks) > 50 {
		wrong = append(wrong, fmt.Sprintf("%d blocks", len(blocks)))
	}
	for _, b := range blocks {
		text, _ := b.(map[string]any)["text"].(map[string]any)
		s, _ := text["text"].(string)
		most := map[string]int{"header": 150, "section": 3000}[fmt.Sprint(b.(map[string]any)["type"])]
		if n := len(utf16.Encode([]rune(s))); most > 0 && (n > most || n == 0) {
			wrong = append(wrong, fmt.Sprintf("a text of %d units in %v", n, b.(map[string]any)["type"]))
		}
	}
	return wrong
}

// of are the calls of a method so far.
func (d *slackDouble) of(method string) (list []slackCall) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.calls {
		if c.method == method {
			list = append(list, c)
		}
	}
	return list
}

func (d *slackDouble) set(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
}

const slackSecret = "test-signing-secret"

// slackSite is a workspace with Slack before it.
func slackSite(t *testing.T, d *slackDouble, more string) *site {
	p := newPlace(t, t.TempDir(), 0)
	secrets := t.TempDir()
	for name, value := range map[string]string{"secret": slackSecret, "token": "xoxb-test"} {
		if err := os.WriteFile(filepath.Join(secrets, name), []byte(value+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.configure(fmt.Sprintf("[slack]\ndefault_channel = \"C1\"\napi_url = %q\nsigning_secret_file = %q\nbot_token_file = %q\n%s", d.URL+"/api", secrets+"/secret", secrets+"/token", more))
	s := serveAt(p)
	s.token("lead", "read,write,decide")
	return s
}

// slackSends sends, signed, what Slack would send.
func (s *site) slackSends(path, body string, change ...func(*http.Request)) reply {
	s.t.Helper()
	at := fmt.Sprint(time.Now().Unix())
	sign := func(r *http.Request) {
		if path == "/api/slack/interactions" {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		r.Header.Set("X-Slack-Request-Timestamp", at)
		r.Header.Set("X-Slack-Signature", slack.Sign(slackSecret, at, []byte(body)))
	}
	return s.call("", "POST", path, body, append([]func(*http.Request){sign}, change...)...)
}

// press presses a button of a message.
func (s *site) press(user string, button map[string]any, members map[string]any) reply {
	s.t.Helper()
	payload := map[string]any{
		"type": "block_actions", "user": map[string]any{"id": user}, "channel": map[string]any{"id": "C1"}, "message": map[string]any{"ts": "1700000000.000001"},
		"trigger_id": "t.1", "actions": []any{map[string]any{"action_id": button["action_id"], "value": button["value"], "action_ts": "1700000001.000001"}},
	}
	for k, v := range members {
		payload[k] = v
	}
	return s.interacts(payload)
}

// interacts sends a payload of an interaction.
func (s *site) interacts(payload map[string]any) reply {
	s.t.Helper()
	body, _ := json.Marshal(payload)
	return s.slackSends("/api/slack/interactions", "payload="+url.QueryEscape(string(body)))
}

// says sends what somebody wrote in a thread.
func (s *site) says(user, text, id, ts string, members map[string]any) reply {
	s.t.Helper()
	event := map[string]any{"type": "message", "user": user, "text": text, "channel": "C1", "ts": ts, "thread_ts": "1700000000.000001"}
	for k, v := range members {
		event[k] = v
	}
	body, _ := json.Marshal(map[string]any{"type": "event_callback", "event_id": id, "event": event})
	return s.slackSends("/api/slack/events", string(body))
}

// buttons are those of a message, by their action ids.
func buttons(c slackCall) map[string]map[string]any {
	found := map[string]map[string]any{}
	blocks, _ := c.body["blocks"].([]any)
	for _, b := range blocks {
		elements, _ := b.(map[string]any)["elements"].([]any)
		for _, e := range elements {
			element := e.(map[string]any)
			found[fmt.Sprint(element["action_id"])] = element
		}
	}
	return found
}

func (s *site) posted(d *slackDouble, n int) slackCall {
	s.t.Helper()
	s.until(fmt.Sprintf("%d messages are posted", n), func() bool { return len(d.of("chat.postMessage")) >= n })
	return d.of("chat.postMessage")[n-1]
}

// postedWith waits for the message of a channel that holds some words, and returns it.
func (s *site) postedWith(d *slackDouble, words string) (found slackCall) {
	s.t.Helper()
	s.until("a message says "+words, func() bool {
		for _, c := range d.of("chat.postMessage") {
			if strings.Contains(c.raw, words) {
				found = c
				return true
			}
		}
		return false
	})
	return found
}

// asks begins an action, and waits for its message.
func (s *site) asks(d *slackDouble, members map[string]any) (action, id string, message slackCall) {
	s.t.Helper()
	before := len(d.of("chat.postMessage"))
	action, id = s.begins("lead", members)
	message = s.posted(d, before+1)
	// The message is there, Slack's answer is on disk, and the journal says where the message is.
	dir := ".nemawashi/actions/" + action
	s.until("its outcome is on disk", func() bool {
		outcome := s.read(dir + "/requests/" + id + "/slack/ask/outcome-1.json")
		return outcome != "" && (!strings.Contains(outcome, `"ts"`) || strings.Contains(s.read(dir+"/events.jsonl"), `"approval_posted"`))
	})
	return action, id, message
}

// Presses: only those who may answer can press, once, and the message shows the outcome.
func TestSlackPresses(t *testing.T) {
	t.Parallel()
	d := newSlackDouble(t)
	s := slackSite(t, d, "[gates]\n\"nemawashi\" = { approvers = [\"slack:U1\"] }\n")
	action, id, m := s.asks(d, nil)
	have := buttons(m)
	shown := strings.TrimPrefix(s.call("lead", "GET", "/api/v1/requests/"+id, nil).text("data", "digest"), "sha256:")
	value := fmt.Sprintf("thread_id=action-%s|approval_request_id=%s|action_id=%s|shown=%s", action, id, action, shown)
	for button, style := range map[string]any{"hitl_approve": "primary", "hitl_reject": "danger", "hitl_request_changes": nil} {
		if have[button]["value"] != value || have[button]["style"] != style {
			t.Errorf("button %s: %v", button, have[button])
		}
	}
	for _, words := range []string{"Approval requested", "*Tell them*", "we are late.", "manager@example.com"} {
		if !strings.Contains(m.raw, words) {
			t.Errorf("the message lacks %q: %s", words, m.raw)
		}
	}
	if m.body["text"] != "Tell them" || m.body["channel"] != "C1" || m.body["thread_ts"] != nil {
		t.Errorf("the message: %s", m.raw)
	}
	before := s.digests()
	for range 2 {
		if r := s.press("U2", have["hitl_approve"], nil); r.status != 200 || r.text("text") != "not allowed" {
			t.Errorf("somebody else: %d %s", r.status, r.body)
		}
	}
	for what, value := range map[string]string{
		"another thread":   strings.Replace(value, "action-"+action, "action-99", 1),
		"another action":   strings.Replace(value, "action_id="+action, "action_id=99", 1),
		"another approval": strings.Replace(value, id, "apr-000000000000", 1),
		"a part twice":     value + "|action_id=" + action,
		"a part missing":   "approval_request_id=" + id,
		"nothing":          "",
	} {
		if r := s.press("U1", map[string]any{"action_id": "hitl_approve", "value": value}, nil); r.status != 200 || strings.TrimSpace(r.body) != `{"ok":true}` {
			t.Errorf("%s: %d %s", what, r.status, r.body)
		}
	}
	if r := s.press("U1", map[string]any{"action_id": "hitl_other", "value": value}, nil); r.status != 200 || strings.TrimSpace(r.body) != `{"ok":true}` {
		t.Errorf("an unknown button: %d %s", r.status, r.body)
	}
	if after := s.digests(); after != before {
		t.Errorf("something was written:\n%s", after)
	}
	var all sync.WaitGroup
	for range tortured(10, 100) {
		all.Go(func() {
			if r := s.press("U1", have["hitl_approve"], map[string]any{"response_url": "https://evil.example/x"}); r.status != 200 || r.text("text") != "approved" {
				t.Errorf("a press: %d %s", r.status, r.body)
			}
		})
	}
	all.Wait()
	s.until("it is carried out", func() bool {
		return strings.Contains(s.read(".nemawashi/actions/"+action+"/state.json"), `"status": "executed"`)
	})
	folder := ".nemawashi/actions/" + action + "/requests/" + id
	if rc := s.read(folder + "/receipt.json"); !strings.Contains(rc, `"slack:U1"`) || !strings.Contains(rc, `"source": "slack"`) || strings.Count(rc, "slack-interaction:1700000001.000001:"+id+":hitl_approve") != 1 {
		t.Errorf("receipt: %s", rc)
	}
	if jobs, _ := filepath.Glob(filepath.Join(s.root, ".nemawashi/actions", action, "jobs/*")); len(jobs) != 1 {
		t.Errorf("%d jobs", len(jobs))
	}
	s.until("the message says how it ended", func() bool { return len(d.of("chat.update")) == 1 })
	update := d.of("chat.update")[0]
	if !strings.Contains(update.raw, "approved by U1") || len(buttons(update)) != 0 || update.body["ts"] != "1700000000.000001" {
		t.Errorf("the message then: %s", update.raw)
	}
	result := s.posted(d, 2)
	if !regexp.MustCompile(`^Execution completed\. job_id=job-[0-9a-f]{12} action_id=`+action+`$`).MatchString(fmt.Sprint(result.body["text"])) || result.body["thread_ts"] != "1700000000.000001" {
		t.Errorf("the result: %s", result.raw)
	}
	if r := s.press("U1", have["hitl_reject"], nil); r.text("text") != "stale" {
		t.Errorf("another press then: %s", r.body)
	}
	if len(d.of("chat.postEphemeral")) == 0 {
		t.Error("nobody was told that a press does not count")
	}
	if len(d.broken) > 0 {
		t.Errorf("Slack would refuse: %q", d.broken)
	}
}

// Steering in a thread, and in a dialog.
func TestSlackSteers(t *testing.T) {
	t.Parallel()
	d := newSlackDouble(t)
	s := slackSite(t, d, "")
	action, id, m := s.asks(d, nil)
	dir := ".nemawashi/actions/" + action
	nothing := func(what string, r reply) {
		t.Helper()
		if r.status != 200 || strings.TrimSpace(r.body) != `{"ok":true}` || s.actionAt(action) != id {
			t.Errorf("%s: %d %s", what, r.status, r.body)
		}
	}
	if r := s.slackSends("/api/slack/events", `{"token":"t","challenge":"abc123","type":"url_verification"}`); r.status != 200 || r.text("challenge") != "abc123" {
		t.Errorf("url_verification: %d %s", r.status, r.body)
	}
	s.wants("no JSON", s.slackSends("/api/slack/events", "{"), 400, "body")
	nothing("a bot", s.says("U1", "plan b", "Ev1", "1700000010.000001", map[string]any{"bot_id": "B1"}))
	nothing("a change", s.says("U1", "plan b", "Ev2", "1700000010.000002", map[string]any{"subtype": "message_changed"}))
	nothing("another thread", s.says("U1", "plan b", "Ev3", "1700000010.000003", map[string]any{"thread_ts": "1700000000.999999"}))
	nothing("another channel", s.says("U1", "plan b", "Ev4", "1700000010.000004", map[string]any{"channel": "C2"}))
	nothing("no text", s.says("U1", "  ", "Ev5", "1700000010.000005", nil))
	for n, text := range []string{"承認", "plan b, not plan c"} {
		for range 2 {
			nothing(text, s.says("U1", text, fmt.Sprintf("Ev%d", 10+n), fmt.Sprintf("1700000011.%06d", n), nil))
		}
	}
	if note := s.posted(d, 3); note.body["thread_ts"] != "1700000000.000001" || len(d.of("chat.postMessage")) != 3 {
		t.Errorf("notes: %s", note.raw)
	}
	// One event four times at once, then again with another id: one steer.
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if r := s.says("U1", "A案、メールを短く &amp; 明るく", "Ev20", "1700000020.000001", map[string]any{"subtype": "thread_broadcast"}); r.status != 200 {
				t.Errorf("a steer: %d %s", r.status, r.body)
			}
		})
	}
	all.Wait()
	s.until("it is asked again", func() bool { next := s.actionAt(action); return next != id && next != "" })
	if draft := s.read(dir + "/drafts/v2.md"); !strings.HasSuffix(draft, "[Steer] A案、メールを短く & 明るく\n[Plan] A\n") {
		t.Errorf("v2: %q", draft)
	}
	again := s.posted(d, 4)
	if again.body["thread_ts"] != "1700000000.000001" {
		t.Errorf("asked again: %s", again.raw)
	}
	s.until("the first message says that it is replaced", func() bool { return len(d.of("chat.update")) == 1 })
	if closed := d.of("chat.update")[0]; !strings.Contains(closed.raw, "changes requested by U1 at ") || !strings.Contains(closed.raw, "; replaced by "+s.actionAt(action)) {
		t.Errorf("the first message then: %s", closed.raw)
	}
	if r := s.press("U1", buttons(m)["hitl_approve"], nil); r.text("text") != "stale" {
		t.Errorf("a press of the first message: %s", r.body)
	}
	s.daemon.stop(syscall.SIGTERM)
	s.begin()
	for _, ev := range []string{"Ev20", "Ev21"} {
		if r := s.says("U1", "A案、メールを短く &amp; 明るく", ev, "1700000020.000001", nil); r.status != 200 {
			t.Errorf("again after a restart: %d %s", r.status, r.body)
		}
	}
	// A dialog: words and a plan.
	second := s.actionAt(action)
	if r := s.press("U1", buttons(again)["hitl_request_changes"], nil); r.status != 200 || r.text("text") != "request changes" {
		t.Errorf("request changes: %d %s", r.status, r.body)
	}
	opened := d.of("views.open")
	if len(opened) != 1 {
		t.Fatalf("%d dialogs", len(opened))
	}
	view := opened[0].body["view"].(map[string]any)
	if view["private_metadata"] != buttons(again)["hitl_request_changes"]["value"] || opened[0].body["trigger_id"] != "t.1" {
		t.Errorf("the dialog: %s", opened[0].raw)
	}
	submit := func(words string) reply {
		values := map[string]any{"words": map[string]any{"words": map[string]any{"value": words}}, "plan": map[string]any{"plan": map[string]any{"selected_option": map[string]any{"value": "C"}}}}
		return s.interacts(map[string]any{
			"type": "view_submission", "user": map[string]any{"id": "U1"},
			"view": map[string]any{"id": "V1", "callback_id": view["callback_id"], "private_metadata": view["private_metadata"], "state": map[string]any{"values": values}},
		})
	}
	if r := submit(" "); r.text("response_action") != "errors" {
		t.Errorf("a dialog without words: %s", r.body)
	}
	if r := submit("shorter"); r.status != 200 || r.text("response_action") != "clear" {
		t.Errorf("a dialog: %d %s", r.status, r.body)
	}
	s.until("it is asked a third time", func() bool { next := s.actionAt(action); return next != second && next != "" })
	if draft := s.read(dir + "/drafts/v3.md"); !strings.HasSuffix(draft, "[Steer] shorter\n[Plan] C\n") || s.read(dir+"/drafts/v4.md") != "" {
		t.Errorf("v3: %q", draft)
	}
	// After the decision, replies change nothing, and one note says so.
	third := s.posted(d, 5)
	if r := s.press("U1", buttons(third)["hitl_reject"], nil); r.text("text") != "rejected" {
		t.Errorf("reject: %s", r.body)
	}
	s.until("it is rejected", func() bool { return strings.Contains(s.read(dir+"/state.json"), `"status": "rejected"`) })
	for range 2 {
		if r := s.says("U1", "plan b", "Ev30", "1700000030.000001", nil); r.status != 200 {
			t.Errorf("after the end: %d %s", r.status, r.body)
		}
	}
	if note := s.posted(d, 6); !strings.Contains(note.raw, "action "+action+" is rejected; nothing changed") {
		t.Errorf("after the end: %s", note.raw)
	}
	if len(d.broken) > 0 {
		t.Errorf("Slack would refuse: %q", d.broken)
	}
}

// Signatures: scenario 28.
func TestSlackSignatures(t *testing.T) {
	t.Parallel()
	d := newSlackDouble(t)
	s := slackSite(t, d, "")
	body := `{"token":"t","challenge":"abc123","type":"url_verification"}`
	now := time.Now().Unix()
	signed := func(at int64, secret, of string) func(*http.Request) {
		return func(r *http.Request) {
			r.Header.Set("X-Slack-Request-Timestamp", fmt.Sprint(at))
			r.Header.Set("X-Slack-Signature", slack.Sign(secret, fmt.Sprint(at), []byte(of)))
		}
	}
	for what, change := range map[string]func(*http.Request){
		"301 seconds ago": signed(now-301, slackSecret, body),
		"301 seconds on":  signed(now+302, slackSecret, body),
		"another secret":  signed(now, "other", body),
		"another body":    signed(now, slackSecret, body+" "),
		"no signature":    func(r *http.Request) { r.Header.Set("X-Slack-Request-Timestamp", fmt.Sprint(now)) },
		"no time":         func(r *http.Request) { r.Header.Set("X-Slack-Signature", slack.Sign(slackSecret, "", []byte(body))) },
		"upper-case digits": func(r *http.Request) {
			signed(now, slackSecret, body)(r)
			r.Header.Set("X-Slack-Signature", "V0="+strings.ToUpper(r.Header.Get("X-Slack-Signature")[3:]))
		},
	} {
		for _, path := range []string{"/api/slack/events", "/api/slack/interactions"} {
			r := s.call("", "POST", path, body, change)
			s.wants(what, r, 401, "signature")
			if r.header.Get("X-Slack-No-Retry") != "1" {
				t.Errorf("%s: headers %v", what, r.header)
			}
		}
	}
	s.wants("a token in place of a signature", s.call("lead", "POST", "/api/slack/events", body), 401, "signature")
	if r := s.call("", "POST", "/api/slack/events", body, signed(now, slackSecret, body)); r.status != 200 {
		t.Errorf("signed: %d %s", r.status, r.body)
	}
	// Without a secret nothing is accepted, unless that is allowed on this machine.
	p := newPlace(t, t.TempDir(), 0)
	unsigned := serveAt(p)
	unsigned.wants("no secret", unsigned.call("", "POST", "/api/slack/events", body), 401, "signature")
	unsigned.daemon.stop(syscall.SIGTERM)
	p.configure("[slack]\nallow_unsigned = true\n")
	unsigned.begin()
	if r := unsigned.call("", "POST", "/api/slack/events", body); r.status != 200 {
		t.Errorf("unsigned on this machine: %d %s", r.status, r.body)
	}
	unsigned.daemon.stop(syscall.SIGTERM)
	if out, code := p.placet("serve", "--listen", "0.0.0.0:0"); code != 2 || !strings.Contains(out, "allow_unsigned") {
		t.Errorf("unsigned for everybody: %d %s", code, out)
	}
}

// What a message holds: a long draft, and what Slack would take for markup.
func TestSlackShowsWhatIsThere(t *testing.T) {
	t.Parallel()
	d := newSlackDouble(t)
	s := slackSite(t, d, "")
	draft := "<!channel> & ```code``` @here \u202e" + strings.Repeat("とても長い😀<&>", 9000)
	_, id, m := s.asks(d, map[string]any{"draft": draft, "summary": "Look <@U1> *bold*"})
	if len(buttons(m)) != 0 || !strings.Contains(m.raw, "placet show "+id) || !strings.Contains(m.raw, "drafts/v1.md") {
		t.Errorf("what is cut has buttons, or does not say where the whole is: %.3000s", m.raw)
	}
	var sent struct {
		Blocks []struct {
			Text struct {
				Text     string
				Type     string
				Verbatim bool
			}
		}
	}
	if err := json.Unmarshal([]byte(m.raw), &sent); err != nil {
		t.Fatal(err)
	}
	for _, b := range sent.Blocks {
		text := b.Text.Text
		if strings.Contains(text, "<!") || strings.Contains(text, "<@") || strings.Contains(text, "\u202e") || b.Text.Type == "mrkdwn" && !b.Text.Verbatim {
			t.Errorf("a block is not escaped: %.300q", text)
		}
		text, _, _ = strings.Cut(text, "\n… cut here: ")
		if inner := strings.TrimSuffix(strings.TrimPrefix(text, "```\n"), "\n```"); strings.Contains(inner, "```") || regexp.MustCompile(`&(a|am|amp|l|lt|g|gt)?$`).MatchString(inner) {
			t.Errorf("a block is cut wrongly: %.100q … %q", text, text[max(0, len(text)-40):])
		}
	}
	if len(d.broken) > 0 {
		t.Errorf("Slack would refuse: %q", d.broken)
	}
}

// Scenario 32: an attempt to ask that a kill interrupted is not repeated; a clone posts
// nothing; a refused message is not tried again, and one that was certainly not sent is.
func TestSlackAsksOnce(t *testing.T) {
	t.Parallel()
	d := newSlackDouble(t)
	hold := make(chan struct{})
	d.hold = hold
	s := slackSite(t, d, "")
	action, id := s.begins("lead", nil)
	s.posted(d, 1)
	_ = s.daemon.cmd.Process.Kill()
	<-s.daemon.ended
	_ = s.daemon.cmd.Wait()
	close(hold)
	d.set(func() { d.hold = nil })
	clone := t.TempDir()
	if err := os.CopyFS(clone, os.DirFS(s.root)); err != nil {
		t.Fatal(err)
	}
	s.begin()
	r := s.call("lead", "POST", "/api/v1/approvals/"+id+"/approve", nil)
	if r.status != 200 || r.text("status") != "executed" {
		t.Fatalf("approve: %d %s", r.status, r.body)
	}
	if n := len(d.of("chat.postMessage")); n != 1 {
		t.Errorf("%d messages for action %s", n, action)
	}
	// The first attempt of another action is refused for now.
	d.set(func() { d.refuse = "ratelimited" })
	next, nextID := s.begins("lead", nil)
	s.until("its outcome is on disk", func() bool {
		return strings.Contains(s.read(".nemawashi/actions/"+next+"/requests/"+nextID+"/slack/ask/outcome-1.json"), `"failed"`)
	})
	p := &place{t: t, root: clone}
	home, err := os.ReadFile(filepath.Join(s.root, "..", "home-"+filepath.Base(s.root), "placet", "placet.toml"))
	if err != nil {
		t.Fatal(err)
	}
	p.configure(string(home))
	before := len(d.of("chat.postMessage"))
	if out, code := p.placet("once"); code > 3 {
		t.Errorf("once in a clone: %d %s", code, out)
	}
	if n := len(d.of("chat.postMessage")); n != before {
		t.Errorf("the clone has posted %d messages", n-before)
	}
}

// Scenario 33: a request of another family is answered by its buttons, and the webhook only
// asks.
func TestSlackAsksForEveryFamily(t *testing.T) {
	t.Parallel()
	d := newSlackDouble(t)
	s := slackSite(t, d, "families = [\"*\"]\n")
	p := newPlace(t, s.root, 1)
	m := s.posted(d, 1)
	have := buttons(m)
	if len(have) == 0 || !strings.Contains(m.raw, "Is the design of item 1 good?") {
		t.Fatalf("the message: %s", m.raw)
	}
	s.until("its outcome is on disk", func() bool { return p.read(p.request(0)+"/slack/ask/outcome-1.json") != "" })
	option := ""
	for name, b := range have {
		if text, _ := b["text"].(map[string]any); text["text"] == "approve" {
			option = name
		}
	}
	if r := s.press("U7", have[option], nil); r.status != 200 || r.text("text") != "approved" {
		t.Errorf("approve: %d %s", r.status, r.body)
	}
	s.until("it is approved", func() bool { return p.answered(0) })
	p.verify(0, "approve")
	s.until("the message says so", func() bool { return len(d.of("chat.update")) == 1 })
	if u := d.of("chat.update")[0]; !strings.Contains(u.raw, "approved by U7") {
		t.Errorf("the message then: %s", u.raw)
	}
	// A webhook alone.
	w := newSlackDouble(t)
	hook := filepath.Join(t.TempDir(), "hook")
	if err := os.WriteFile(hook, []byte(w.URL+"/hook"), 0o600); err != nil {
		t.Fatal(err)
	}
	q := newPlace(t, t.TempDir(), 0)
	q.configure(fmt.Sprintf("[slack]\nwebhook_url_file = %q\n", hook))
	alone := serveAt(q)
	alone.token("lead", "read,write,decide")
	action, id := alone.begins("lead", nil)
	alone.until("the question is posted", func() bool { return len(w.of("/hook")) == 1 })
	if asked := w.of("/hook")[0]; len(buttons(asked)) != 0 || !strings.Contains(asked.raw, "placet show "+id) || asked.body["channel"] != nil {
		t.Errorf("the question: %s", asked.raw)
	}
	if r := alone.call("lead", "POST", "/api/v1/approvals/"+id+"/reject", nil); r.status != 200 {
		t.Errorf("reject: %d %s", r.status, r.body)
	}
	outcome := q.read(".nemawashi/actions/" + action + "/requests/" + id + "/slack/ask/outcome-1.json")
	if n := len(w.of("/hook")); n != 1 || strings.Contains(outcome, w.URL) {
		t.Errorf("%d calls, outcome %s", n, outcome)
	}
}

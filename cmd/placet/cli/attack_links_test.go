package cli_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"placet/engine/ask"
	"placet/internal/ntfytest"
)

// linkAttacks are on the codes of buttons in messages.
var linkAttacks = []attack{
	{"a code used twice", "somebody repeats a press that was read on the topic of answers", func(t *testing.T, p *place) {
		s := p.linked(t, "")
		m := p.offered(t, s, "a", "")
		pressed, _ := m.Button("Approve")
		ntfytest.Press(t, m, "Approve")
		p.approvedByLink(t, "a")
		before := p.read(p.asking("a") + "/receipt.json")
		p.hears(s.Post("answers", pressed.Body))
		p.toldOff(t, s, "was pressed before")
		if p.read(p.asking("a")+"/receipt.json") != before {
			t.Error("the receipt has changed")
		}
	}},
	{"guessed codes", "somebody posts codes until one fits", func(t *testing.T, p *place) {
		s := p.linked(t, "")
		m := p.offered(t, s, "a", "")
		own, _ := m.Button("Approve")
		prefix := own.Body[:len(own.Body)-32]
		last := ""
		for i := range 25 {
			last = s.Post("answers", fmt.Sprintf("%s%032x", prefix, i))
		}
		p.hears(last)
		p.isOpen(t, "a")
		s.Post("answers", own.Body) // guesses turn no button off
		p.approvedByLink(t, "a")
	}},
	{"a code for another request", "somebody posts the code of one request with the name of another", func(t *testing.T, p *place) {
		s := p.linked(t, "")
		a, b := p.offered(t, s, "a", ""), p.offered(t, s, "b", "")
		code, _ := a.Button("Approve")
		name := "ask/b:" + ask.RequestID("b")
		for _, text := range []string{code.Body + " " + name, name + " " + code.Body, `{"code":"` + code.Body + `","request":"` + name + `"}`, strings.ToUpper(code.Body)} {
			p.hears(s.Post("answers", text))
		}
		p.isOpen(t, "a")
		p.isOpen(t, "b")
		ntfytest.Press(t, b, "Approve")
		p.approvedByLink(t, "b")
		p.isOpen(t, "a")
	}},
	{"a code for another option", "somebody posts the code of a rejection as an approval", func(t *testing.T, p *place) {
		s := p.linked(t, "")
		m := p.offered(t, s, "a", "")
		code, _ := m.Button("Reject")
		for _, text := range []string{code.Body + " approve", "approve " + code.Body, `{"code":"` + code.Body + `","option":"approve"}`} {
			p.hears(s.Post("answers", text))
		}
		p.isOpen(t, "a")
		ntfytest.Press(t, m, "Reject")
		p.until("it is rejected", func() bool { return strings.Contains(p.read(p.asking("a")+"/receipt.json"), `"response": "reject"`) })
	}},
	{"an expired code", "somebody presses the button of a message that is older than a day", func(t *testing.T, p *place) {
		s := p.linked(t, "")
		m := p.offered(t, s, "a", "")
		p.inLinks(t, func(file, body string) string {
			return regexp.MustCompile(`"expires":"[^"]*"`).ReplaceAllString(body, `"expires":"2026-01-01T00:00:00Z"`)
		})
		p.hears(ntfytest.Press(t, m, "Approve"))
		p.toldOff(t, s, "has expired")
		p.isOpen(t, "a")
		ntfytest.Press(t, p.offered(t, s, "b", ""), "Approve")
		p.approvedByLink(t, "b")
	}},
	{"a code after the answer", "somebody presses an old message about a request that was rejected", func(t *testing.T, p *place) {
		s := p.linked(t, "")
		m := p.offered(t, s, "a", "")
		p.must(0, "reject", p.reference(), "-m", "not today", "--as", "kim")
		p.until("it is rejected", func() bool { return p.there(p.asking("a") + "/receipt.json") })
		before := p.read(p.asking("a") + "/receipt.json")
		p.hears(ntfytest.Press(t, m, "Approve"))
		p.toldOff(t, s, "the request is closed")
		if p.read(p.asking("a")+"/receipt.json") != before {
			t.Error("the receipt has changed")
		}
	}},
	{"a code after a change", "what a request is about changes between the message and the press", func(t *testing.T, p *place) {
		s := p.linked(t, "")
		p.write("plan.md", "the plan\n")
		m := p.offered(t, s, "a", `, "artifacts": [{"path": "plan.md"}]`)
		p.says(m.Message, "the plan")
		p.write("plan.md", "another plan\n")
		p.hears(ntfytest.Press(t, m, "Approve"))
		p.toldOff(t, s, "changed")
		p.isOpen(t, "a")
		p.write("plan.md", "the plan\n")
		m = p.offered(t, s, "b", `, "artifacts": [{"path": "plan.md"}]`)
		ntfytest.Press(t, m, "Approve")
		p.approvedByLink(t, "b")
	}},
	{"a forged answer", "somebody who knows the topic of answers writes there what an answer looks like", func(t *testing.T, p *place) {
		s := p.linked(t, "")
		m := p.offered(t, s, "a", "")
		request := ask.RequestID("a")
		for _, text := range []string{
			"approve", "ask/a approve", `{"request_id":"` + request + `","response":"approve","provided_by":{"user":"kim","source":"link"}}`,
			"placet-00000000-" + strings.Repeat("0", 32), "placet approve " + request, strings.Repeat("a", 5000),
		} {
			p.hears(s.Post("answers", text))
		}
		p.isOpen(t, "a")
		ntfytest.Press(t, m, "Approve")
		p.approvedByLink(t, "a")
	}},
	{"a code in the workspace", "an agent lays the record of a code of its own into the workspace", func(t *testing.T, p *place) {
		s := p.linked(t, "")
		m := p.offered(t, s, "a", "")
		own, _ := m.Button("Approve")
		code := strings.Repeat("ab", 16)
		sum := sha256.Sum256([]byte("placet link\n" + code))
		p.inLinks(t, func(file, body string) string {
			for _, dir := range []string{"links", ".placet/links", ".asks/links", ".asks/a/links", p.asking("a") + "/links"} {
				p.write(dir+"/"+hex.EncodeToString(sum[:]), body)
			}
			if strings.Contains(body, code) || strings.Contains(body, own.Body[len(own.Body)-32:]) || strings.Contains(file, own.Body[len(own.Body)-32:]) {
				t.Errorf("the state folder holds a code: %s", body)
			}
			return body
		})
		p.hears(s.Post("answers", own.Body[:len(own.Body)-32]+code))
		p.isOpen(t, "a")
		if err := filepath.Walk(p.root, func(file string, info os.FileInfo, err error) error {
			if err == nil && info.Mode().IsRegular() {
				if body, _ := os.ReadFile(file); strings.Contains(string(body), own.Body[len(own.Body)-32:]) {
					t.Errorf("%s holds a code", file)
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		ntfytest.Press(t, m, "Approve")
		p.approvedByLink(t, "a")
	}},
	{"a code that the gates refuse", "somebody presses a button where [gates] says links = false since then", func(t *testing.T, p *place) {
		s := p.linked(t, "")
		m := p.offered(t, s, "a", "")
		d := launched.by(t)[0]
		p.linkSettings(s, "[gates]\n\"*\" = { links = false }\n")
		p.until("the settings are read again", func() bool { return strings.Contains(d.said(), "settings read again") })
		p.hears(ntfytest.Press(t, m, "Approve"))
		p.toldOff(t, s, "links = false")
		p.isOpen(t, "a")
		if m := p.offered(t, s, "b", ""); len(m.Actions) > 0 {
			t.Errorf("a message offers what does not count: %+v", m)
		}
		p.choose("a", "approve")
		p.until("it is answered otherwise", func() bool { return p.there(p.asking("a") + "/receipt.json") })
	}},
}

// A press made while nobody listened counts once placet runs again, also after kill -9.
func TestAPressCountsAfterACrash(t *testing.T) {
	t.Parallel()
	p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0)
	s := p.linked(t, "")
	m := p.offered(t, s, "a", "")
	launched.by(t)[0].stop(syscall.SIGKILL)
	ntfytest.Press(t, m, "Approve")
	p.start()
	p.approvedByLink(t, "a")
	if list := s.In("kim"); len(list) != 1 {
		t.Errorf("there are %d messages: %+v", len(list), list)
	}
}

// A message offers an approval only if it shows all that is approved; a private question offers
// nothing. An asker that waits without a daemon takes presses, too.
func TestAButtonNeedsAllThatIsShown(t *testing.T) {
	t.Parallel()
	p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0)
	s := p.linked(t, "")
	for id, more := range map[string]string{
		"long":    `, "context": "` + strings.Repeat("word ", 500) + `"`,
		"private": `, "sensitivity": "private"`,
	} {
		p.write(".asks/"+id+"/ask.json", `{"question": "Deploy `+id+`?", "type": "approval"`+more+`}`)
	}
	p.until("both are told", func() bool { return len(s.In("kim")) == 2 })
	for _, m := range s.In("kim") {
		if len(m.Actions) > 0 {
			t.Errorf("it has buttons: %+v", m)
		}
	}
	p.says(p.offered(t, s, "short", `, "context": "The reason."`).Message, "The reason.", "approve", "ask/short")
	launched.by(t)[0].stop(syscall.SIGTERM)

	a := p.asker("ask", "Deploy now?", "--wait")
	var m ntfytest.Message
	p.until("it is told", func() (ok bool) { m, ok = s.About("kim", "Deploy now?"); return ok })
	ntfytest.Press(t, m, "Approve")
	a.ends(t, 0, "approve\n")
}

// Under serve with a public address buttons post there. A press counts there as it does on the
// topic, and a code that nobody made does not.
func TestAButtonPostsToTheServer(t *testing.T) {
	t.Parallel()
	p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0)
	n := ntfytest.New(t)
	p.write("placet.toml", "")
	p.linkSettings(n, "[serve]\npublic_url = \"https://placet.example.com\"\n")
	s := &site{place: p, tokens: map[string]string{}, url: "http://127.0.0.1:" + freePort(t)}
	s.daemon = s.launch(nil, []string{placetBinary(t), "-C", s.root, "serve", "--listen", strings.TrimPrefix(s.url, "http://")})
	t.Cleanup(func() { s.daemon.stop(syscall.SIGTERM) })
	s.await(s.daemon)
	m := p.offered(t, n, "a", "")
	button, _ := m.Button("Approve")
	if open, has := m.Button("Open"); button.URL != "https://placet.example.com/api/links" || !has || open.Action != "view" || !strings.HasPrefix(open.URL, "https://placet.example.com/requests/ask") {
		t.Errorf("the buttons are %+v", m.Actions)
	}
	public := host("placet.example.com")
	guess := button.Body[:len(button.Body)-32] + strings.Repeat("0", 32)
	if r := s.call("", "POST", "/api/links", guess, public); r.status != 409 {
		t.Errorf("a guess: %d %s", r.status, r.body)
	}
	p.isOpen(t, "a")
	if r := s.call("", "POST", "/api/links", button.Body, public); r.status != 200 {
		t.Errorf("a press: %d %s", r.status, r.body)
	}
	p.approvedByLink(t, "a")
}

// linked makes messages of a place go to a server of ntfy, with buttons, and starts a daemon.
func (p *place) linked(t *testing.T, more string) *ntfytest.Server {
	t.Helper()
	s := ntfytest.New(t)
	p.t = t
	p.write("placet.toml", "")
	p.linkSettings(s, more)
	p.await(p.start())
	p.until("the topic of answers is followed", func() bool { return s.Streams() == 1 })
	return s
}

func (p *place) linkSettings(s *ntfytest.Server, more string) {
	p.t.Helper()
	p.ownSettings(fmt.Sprintf("%s\n[notify]\nto = [%q]\nanswers = \"answers\"\n", more, s.Target("kim")))
}

// offered asks for an approval, and returns the message about it.
func (p *place) offered(t *testing.T, s *ntfytest.Server, id, more string) (m ntfytest.Message) {
	t.Helper()
	p.write(".asks/"+id+"/ask.json", `{"question": "Deploy `+id+`?", "type": "approval"`+more+`}`)
	p.until("it is told", func() (ok bool) { m, ok = s.About("kim", "Deploy "+id+"?"); return ok })
	return m
}

// hears waits until placet has read a message of the topic of answers.
func (p *place) hears(message string) {
	p.t.Helper()
	p.until(message+" is read", func() bool {
		for _, file := range p.linkFiles() {
			if body, _ := os.ReadFile(file); strings.HasPrefix(filepath.Base(file), "heard-") && string(body) >= message {
				return true
			}
		}
		return false
	})
}

func (p *place) linkFiles() []string {
	files, _ := filepath.Glob(filepath.Join(p.root, "..", "home-"+filepath.Base(p.root), "placet/workspaces/*/links/*"))
	return files
}

// inLinks replaces what the records of codes say.
func (p *place) inLinks(t *testing.T, change func(file, body string) string) {
	t.Helper()
	n := 0
	for _, file := range p.linkFiles() {
		body, _ := os.ReadFile(file)
		if strings.Contains(string(body), `"expires"`) {
			n++
			if err := os.WriteFile(file, []byte(change(file, string(body))), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n == 0 {
		t.Fatal("no code is recorded")
	}
}

// isOpen reports an error if somebody has answered an ask.
func (p *place) isOpen(t *testing.T, id string) {
	t.Helper()
	for _, name := range []string{"/response.json", "/receipt.json"} {
		if p.there(p.asking(id) + name) {
			t.Errorf("%s has %s: %s", id, name, p.read(p.asking(id)+name))
		}
	}
}

// approvedByLink waits until an ask is approved by a press.
func (p *place) approvedByLink(t *testing.T, id string) {
	t.Helper()
	receipt := p.asking(id) + "/receipt.json"
	p.until("it is approved", func() bool { return p.there(receipt) })
	p.says(p.read(receipt), `"response": "approve"`, `"source": "link"`, `"link:ntfy-`)
}

// toldOff waits until the phone says that a press did not count.
func (p *place) toldOff(t *testing.T, s *ntfytest.Server, why string) {
	t.Helper()
	var m ntfytest.Message
	p.until("the press is refused", func() (ok bool) { m, ok = s.About("kim", "Your press did not count"); return ok })
	p.says(m.Message, why)
}

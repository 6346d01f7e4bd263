package cli_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unicode"
	"unicode/utf8"

	"placet/engine/ask"
)

// hook is a service that records its messages.
type hook struct {
	*httptest.Server
	mu  sync.Mutex
	got []string
}

func newHook(t *testing.T) *hook {
	h := &hook{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h.mu.Lock()
		h.got = append(h.got, string(body))
		h.mu.Unlock()
	}))
	t.Cleanup(h.Close)
	return h
}

// about returns the messages that contain a text.
func (h *hook) about(text string) (messages []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range h.got {
		if strings.Contains(m, text) {
			messages = append(messages, m)
		}
	}
	return messages
}

// ownSettings writes the user's own configuration.
func (p *place) ownSettings(text string) {
	p.t.Helper()
	home := filepath.Join("..", "home-"+filepath.Base(p.root))
	p.write(filepath.Join(home, "placet", "placet.toml"), text)
	if err := os.Chmod(filepath.Join(p.root, home, "placet", "placet.toml"), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// Checks 1 and 5 of notifications on the real program: a request that opens is notified once,
// cleaned and in one argument, also after a crash; a private or unwanted one is not.
func TestNotifyTellsOfWhatOpens(t *testing.T) {
	t.Parallel()
	p, h := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0), newHook(t)
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "notify-send"), []byte("#!/bin/sh\nprintf '%s\\0' \"$@\" > \"$HOME/desk.new\" && mv \"$HOME/desk.new\" \"$HOME/desk\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.vars = append(p.vars, "PATH="+bin+":"+os.Getenv("PATH"))
	p.ownSettings("[notify]\nto = [\"generic+" + h.URL + "/hook\"]\non = [\"*\", \"!tag:later\"]\n")
	p.write("placet.toml", "")
	d := p.start()
	p.await(d)
	p.write(".asks/first/ask.json", `{"question": "First?"}`)
	p.until("what opens is told", func() bool { return len(h.about("First?")) == 1 })
	p.ownSettings("[notify]\nto = [\"generic+" + h.URL + "/hook\", \"desktop\"]\non = [\"*\", \"!tag:later\"]\n")
	p.until("the settings are read again", func() bool { return strings.Contains(d.said(), "settings read again") })
	p.until("the desktop is known", func() bool { return strings.Contains(p.ledger(), "desktop") })
	p.write(".asks/later/ask.json", `{"question": "Later?", "tags": ["later"]}`)
	p.write(".asks/secret/ask.json", `{"question": "Fire Bob?", "sensitivity": "private", "options": [{"id": "fire-bob"}, {"id": "keep"}], "type": "choice"}`)
	p.until("the private question is told", func() bool { return len(h.about("a private question: "+ask.RequestID("secret"))) == 1 })
	p.write(".asks/hostile/ask.json", `{"question": "-u critical \u001b[31m\"Deploy\"\u202e `+"`1.4`"+` $(id)?\n\nNow \u0007.", "deadline": "2h"}`)
	p.until("the question is told", func() bool { return len(h.about("-u critical")) == 1 })
	desk := filepath.Join("..", "home-ws", "desk")
	p.until("the desktop shows it", func() bool { return strings.Contains(p.read(desk), "-u critical") })

	argv := strings.Split(strings.TrimSuffix(p.read(desk), "\x00"), "\x00")
	if want := "--app-name=placet\n--\n-u critical \\u{1b}[31m\"Deploy\"\\u{202e} `1.4` $(id)? …"; len(argv) != 4 || strings.Join(argv[:3], "\n") != want {
		t.Errorf("notify-send got %q", argv)
	}
	text := h.about("-u critical")[0]
	for _, want := range []string{"\nask/hostile (approval, waits for ", ", until 2", "\nform: " + p.root + "/.asks/hostile/requests/", "\nanswer: placet show ask/hostile:" + ask.RequestID("hostile")} {
		if !strings.Contains(text, want) {
			t.Errorf("the message lacks %q:\n%s", want, text)
		}
	}
	if n := utf8.RuneCountInString(text); n > 1000 || strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) }) {
		t.Errorf("the message has %d characters, or some that are not shown: %q", n, text)
	}

	p.write(".asks/long/ask.json", `{"question": "Long `+strings.Repeat("가나다 ", 900)+`", "type": "multi", "deadline": "1h", "options": [`+longOptions()+`]}`)
	p.until("a long question is told", func() bool { return len(h.about("Long 가나다")) == 1 })
	if n := utf8.RuneCountInString(h.about("Long 가나다")[0]); n > 1000 {
		t.Errorf("a message has %d characters", n)
	}

	d.stop(syscall.SIGKILL)
	d = p.start()
	p.await(d)
	p.write(".asks/after/ask.json", `{"question": "After the crash?"}`)
	p.until("what opens after the crash is told", func() bool { return len(h.about("After the crash?")) == 1 })
	d.stop(syscall.SIGTERM)
	for about, want := range map[string]int{"First?": 1, "a private question": 1, "-u critical": 1, "After the crash?": 1, "Later?": 0, "ob": 0, "summary": 0} {
		if got := len(h.about(about)); got != want {
			t.Errorf("%q is in %d messages, expected %d: %q", about, got, want, h.got)
		}
	}
}

// A daemon reminds people of requests that opened under the one before it.
func TestNotifyRemindsAfterARestart(t *testing.T) {
	t.Parallel()
	p, h := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0), newHook(t)
	p.ownSettings("[notify]\nto = [\"generic+" + h.URL + "/hook\"]\nremind = [\"4s\"]\n")
	p.writeAsk("a")
	d := p.start()
	p.until("it is told", func() bool { return len(h.about("Deploy a?")) == 1 })
	d.stop(syscall.SIGKILL)
	d = p.start()
	p.until("it is told again", func() bool { return len(h.about("Deploy a?")) == 2 })
	p.choose("a", "wait")
	p.until("it is answered", func() bool { return strings.Contains(p.read(".asks/a/answer.json"), `"answered"`) })
	d.stop(syscall.SIGTERM)
	if got := h.about("Deploy a?"); len(got) != 2 {
		t.Errorf("it is told %d times: %q", len(got), got)
	}
}

// longOptions are as many options as an ask may have, with long ids.
func longOptions() string {
	var all []string
	for i := range 49 {
		all = append(all, fmt.Sprintf(`{"id": "%s%02d"}`, strings.Repeat("option", 6), i))
	}
	return strings.Join(all, ", ")
}

// ledger returns the record of notifications.
func (p *place) ledger() string {
	found, _ := filepath.Glob(filepath.Join(p.root, "..", "home-"+filepath.Base(p.root), "placet/workspaces/*/notified.jsonl"))
	if len(found) == 0 {
		return ""
	}
	body, _ := os.ReadFile(found[0])
	return string(body)
}

// A process that waits for its own ask notifies people of it, if no daemon does.
func TestNotifyTellsOfAnAskThatIsWaitedFor(t *testing.T) {
	t.Parallel()
	p, h := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0), newHook(t)
	p.ownSettings("[notify]\nto = [\"generic+" + h.URL + "/hook\"]\n")
	p.writeAsk("beside")
	const id = "k-6607395827e11cd1" // of the key build-7
	a := p.asker("ask", "Deploy now?", "--option", "deploy", "--option", "wait", "--key", "build-7", "--any", "--wait")
	p.until("it is told", func() bool { return len(h.about("Deploy now?")) == 1 })
	p.choose(id, "wait")
	a.ends(t, 0, "wait\n")
	p.asker("wait", id, "--any").ends(t, 0, "wait\n")
	if len(h.got) != 1 {
		t.Errorf("it is told %d times: %q", len(h.got), h.got)
	}
}

// An attempt with an unknown outcome is not repeated, and status reports it.
func TestNotifyStatusSaysWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	p, h := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0), newHook(t)
	p.ownSettings("[notify]\nto = [\"generic+" + h.URL + "/hook\"]\n")
	p.writeAsk("a")
	p.asker("wait", "a", "--any", "--timeout", "1ms").ends(t, 3, "")
	found, _ := filepath.Glob(filepath.Join(p.root, "../home-ws/placet/workspaces/*"))
	if len(found) != 1 {
		t.Fatalf("state folders: %v", found)
	}
	request := "ask/a:" + ask.RequestID("a")
	line := `{"at":"2026-01-01T10:00:00Z","attempt":1,"target":"generic-00000000","told":{"` + request + `":"opening"}}` + "\n"
	if err := os.WriteFile(filepath.Join(found[0], "notified.jsonl"), []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, code := p.placet("status"); code != 3 || !strings.Contains(out, "it is not known whether generic-00000000 was told of "+request+" (opening); nobody is told twice") {
		t.Errorf("status ends with %d:\n%s", code, out)
	}
	if out, _ := p.placet("status", "--json"); !strings.Contains(out, `"undelivered":[{"request":"`+request+`","target":"generic-00000000","rung":"opening","outcome":"unknown","at":"2026-01-01T10:00:00Z","reason":""}]`) {
		t.Errorf("status --json:\n%s", out)
	}
	p.choose("a", "wait")
	p.asker("wait", "a", "--any").ends(t, 0, "wait\n")
	if out, _ := p.placet("status"); strings.Contains(out, "not known") {
		t.Errorf("of a request that is closed:\n%s", out)
	}
}

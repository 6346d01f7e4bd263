package notify

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/internal/await"
)

// inbox is a service that stores the first line of each message.
type inbox struct {
	*httptest.Server
	mu  sync.Mutex
	got []string
}

func (b *inbox) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	b.mu.Lock()
	b.got = append(b.got, string(body))
	b.mu.Unlock()
	if strings.HasPrefix(r.URL.Path, "/services/") { // Slack's
		fmt.Fprint(w, "ok")
		return
	}
	fmt.Fprint(w, "{}")
}

func (b *inbox) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.got)
}

func newInbox(t *testing.T) *inbox {
	b := &inbox{}
	b.Server = httptest.NewServer(http.HandlerFunc(b.serve))
	t.Cleanup(b.Close)
	return b
}

const slackURL = "slack://hook:AAAAAAAAA-BBBBBBBBB-123456789123456789123456@webhook"

// asSlack makes hooks.slack.com a local server.
func asSlack(t *testing.T) *inbox { return as(t, "hooks.slack.com") }

// as makes a host a local server.
func as(t *testing.T, host string) *inbox {
	t.Helper()
	b := &inbox{}
	b.Server = httptest.NewTLSServer(http.HandlerFunc(b.serve))
	t.Cleanup(b.Close)
	before := http.DefaultTransport
	local := before.(*http.Transport).Clone()
	local.DialTLSContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		if addr != host+":443" {
			return nil, errors.New("the test calls nobody else: " + addr)
		}
		d := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
		return d.DialContext(ctx, network, b.Listener.Addr().String())
	}
	http.DefaultTransport = local
	t.Cleanup(func() { http.DefaultTransport = before })
	return b
}

// stub puts a program into PATH that stores its arguments, each on a line of its own, with
// an empty line between two calls.
func stub(t *testing.T, name string) (calls func() string) {
	t.Helper()
	dir := t.TempDir()
	out := filepath.Join(dir, "calls")
	script := "#!/bin/sh\n{ for a in \"$@\"; do printf '[%s]\\n' \"$a\"; done; env | grep ^PLACET_ | sort; echo; } >> " + out + "\n"
	if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return func() string {
		body, _ := os.ReadFile(out)
		return string(body)
	}
}

func ntfyTo(server *httptest.Server) string {
	return "ntfy://" + server.Listener.Addr().String() + "/kim?scheme=http"
}

func genericTo(server *httptest.Server) string { return "generic+" + server.URL + "/hook" }

// Check 1 of notifications: one message per rung.
func TestNotifySendsOneMessagePerRung(t *testing.T) {
	ntfy, generic, slack := newInbox(t), newInbox(t), asSlack(t)
	desk, own := stub(t, "notify-send"), stub(t, "tell-me")
	o := newOffice(t, Settings{
		To: []string{ntfyTo(ntfy.Server), slackURL, "desktop"}, Command: []string{"tell-me", "-x"}, Remind: []string{"30m", "2h"},
		Escalate: []Escalation{{After: "4h", To: []string{genericTo(generic.Server)}}},
	})
	o.begin(nil)
	o.ask(fact(), "deploy")
	counts := func() [5]int {
		return [5]int{ntfy.count(), slack.count(), strings.Count(desk(), "[--app-name="), strings.Count(own(), "[-x]"), generic.count()}
	}
	for _, step := range []struct {
		ahead time.Duration
		want  [5]int
	}{
		{0, [5]int{1, 1, 1, 1, 0}}, {30 * time.Minute, [5]int{2, 2, 2, 2, 0}}, {90 * time.Minute, [5]int{3, 3, 3, 3, 0}},
		{2 * time.Hour, [5]int{3, 3, 3, 3, 1}}, {48 * time.Hour, [5]int{3, 3, 3, 3, 1}},
	} {
		o.forward(step.ahead)
		await.Until(t, fmt.Sprintf("%v after %v, got %v", step.want, step.ahead, counts()), func() bool { return counts() == step.want })
	}
	o.stop()
	if got := counts(); got != [5]int{3, 3, 3, 3, 1} {
		t.Errorf("in the end %v", got)
	}
	if diff := cmp.Diff([]string{"deploy\nopening", "deploy\nremind 30m", "deploy\nremind 2h"}, ntfy.got); diff != "" {
		t.Errorf("ntfy (-want +got):\n%s", diff)
	}
	if want := "[--app-name=placet]\n[--]\n[deploy]\n[remind 2h]\n"; !strings.Contains(desk(), want) {
		t.Errorf("notify-send got:\n%s", desk())
	}
	if want := "[-x]\nPLACET_FORM=/deploy/form.md\nPLACET_REQUEST=deploy\nPLACET_RUN=ask/deploy\nPLACET_RUNG=opening\nPLACET_TITLE=deploy\n\n"; !strings.Contains(own(), want) {
		t.Errorf("the program got:\n%s", own())
	}
}

// Check 4 of notifications: the other services are served, whatever one service does.
func TestNotifyServesOthersWhileAServiceHangs(t *testing.T) {
	release := make(chan struct{})
	var hung sync.WaitGroup
	hung.Add(1)
	hangs := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { hung.Done(); <-release }))
	t.Cleanup(hangs.Close)
	t.Cleanup(sync.OnceFunc(func() { close(release) }))
	fails := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusInternalServerError) }))
	t.Cleanup(fails.Close)
	good := newInbox(t)
	o := newOffice(t, Settings{To: []string{
		genericTo(hangs), ntfyTo(fails), "generic://nobody.invalid/hook", genericTo(good.Server),
	}})
	o.begin(nil)
	o.ask(fact(), "a")
	hung.Wait() // and is not released
	await.Until(t, "the good service is told", func() bool { return good.count() == 1 })
	await.Until(t, "the refusal is recorded", func() bool { return tries(o, "ntfy") == 1 })
	for n, rest := range retries {
		o.forward(rest + time.Second)
		await.Until(t, "it is tried again", func() bool { return tries(o, "ntfy") == n+2 })
	}
	o.forward(time.Hour)
	o.stop()
	doubts, err := Doubts(o.state, o.now().Add(time.Minute))
	var got []string
	for _, d := range doubts {
		if !strings.Contains(d.Reason, "nobody.invalid") { // how fast a name is not found differs
			kind, _, _ := strings.Cut(d.Target, "-")
			got = append(got, kind+" "+d.Outcome)
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{"generic unknown", "ntfy refused"}, slices.Compact(got)); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if good.count() != 1 {
		t.Errorf("the good service is told %d times", good.count())
	}
}

// tries returns the refused attempts at a target of a kind.
func tries(o *office, kind string) int {
	o.n.ledger.mu.Lock()
	defer o.n.ledger.mu.Unlock()
	for at, t := range o.n.ledger.told {
		if strings.HasPrefix(at.target, kind) && t.outcome == isRefused {
			return t.tries
		}
	}
	return 0
}

// An error of a service is a refusal only if nothing can have arrived, and it repeats no
// secret of the URL.
func TestNotifyJudgesWhatAServiceSays(t *testing.T) {
	const to = "generic://host/secret-topic?token=very-secret"
	get := func(err error) error {
		return &url.Error{Op: "Post", URL: "https://host/status/500/very-secret", Err: err}
	}
	for _, test := range []struct {
		err     error
		refused bool
		says    string
	}{
		{fmt.Errorf("sending: %w", get(&net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "host", IsNotFound: true}})), true, "sending: Post: dial tcp: lookup host: no such host"},
		{fmt.Errorf("x: %s", get(errors.New("dial tcp 127.0.0.1:1: connect: connection refused"))), true, "x: Post: dial tcp 127.0.0.1:1: connect: connection refused"},
		{get(context.DeadlineExceeded), false, "Post: context deadline exceeded"},
		{get(io.EOF), false, "Post: EOF"},
		{errors.New("got unexpected HTTP status: 500 Internal Server Error"), true, "got unexpected HTTP status: 500 Internal Server Error"},
		{errors.New("server returned unexpected response status code: 404 Not Found: secret-topic"), true, "server returned unexpected response status code: 404 Not Found: …"},
		{errors.New("webhook response failure: invalid_token"), true, "webhook response failure: invalid_token"},
		{errors.New("server response: forbidden (40301), see: https://ntfy.sh/docs"), true, "server response: forbidden (40301), see: …"},
		{errors.New("unexpected end of JSON input"), false, "unexpected end of JSON input"},
		{errors.New("posted to host:4500"), false, "posted to host:4500"},
	} {
		err := judge(test.err, to)
		if refused := errors.As(err, new(refusal)); refused != test.refused || err.Error() != test.says {
			t.Errorf("%q: refused %v, %q; expected %v, %q", test.err, refused, err, test.refused, test.says)
		}
	}
}

// The errors of real services are judged unchanged.
func TestNotifyJudgesRealRefusals(t *testing.T) {
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, `{"code":40301,"error":"forbidden"}`, http.StatusForbidden)
	}))
	t.Cleanup(refuses.Close)
	gone := httptest.NewServer(nil)
	gone.Close()
	slack := asSlack(t)
	slack.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Error(w, "invalid_token", http.StatusForbidden) })
	for _, to := range []string{ntfyTo(refuses), genericTo(refuses), ntfyTo(gone), genericTo(gone), slackURL} {
		err := sendURL(t.Context(), to, "text")
		if !errors.As(err, new(refusal)) || strings.Contains(err.Error(), "123456789123456789123456") {
			t.Errorf("%s: %v", to[:6], err)
		}
	}
}

// Discord's client tries again by itself; one attempt of ours makes one request.
func TestNotifyAsksDiscordOnce(t *testing.T) {
	server := as(t, "discord.com")
	calls := 0
	for _, test := range []struct {
		answer  func(http.ResponseWriter)
		refused bool
	}{
		{func(w http.ResponseWriter) { w.WriteHeader(http.StatusInternalServerError) }, true},
		{func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, false},
	} {
		calls = 0
		server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { calls++; test.answer(w) })
		err := sendURL(t.Context(), "discord://very-secret-token@123456789", "text")
		if err == nil || errors.As(err, new(refusal)) != test.refused || calls != 1 || strings.Contains(err.Error(), "very-secret") {
			t.Errorf("%d calls: %v, expected one, refused %v", calls, err, test.refused)
		}
	}
}

func TestNotifyRunsAProgramToItsEnd(t *testing.T) {
	for name, test := range map[string]struct {
		argv    []string
		refused bool
		says    string
	}{
		"well":    {[]string{"true"}, false, "<nil>"},
		"badly":   {[]string{"sh", "-c", "exit 3"}, true, "sh ended with 3"},
		"missing": {[]string{"there-is-no-such-program"}, true, `cannot run there-is-no-such-program: exec: "there-is-no-such-program": executable file not found in $PATH`},
		"killed":  {[]string{"sh", "-c", "kill -9 $$"}, false, "sh: signal: killed"},
	} {
		err := runProgram(t.Context(), test.argv, os.Environ())
		if got := fmt.Sprint(err); got != test.says || errors.As(err, new(refusal)) != test.refused {
			t.Errorf("%s: %q", name, got)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := runProgram(ctx, []string{"sleep", "60"}, os.Environ()); err == nil {
		t.Error("a program outlives its time")
	}
}

func TestDesktopCommandsTakeTheTextAsItIs(t *testing.T) {
	m := Message{Title: `-u "critical"`, Text: "<b>&\\n"}
	for system, want := range map[string][]string{
		"linux":   {"notify-send", "--app-name=placet", "--", `-u "critical"`, `&lt;b&gt;&amp;\\n`},
		"darwin":  {"osascript", "-e", "on run argv", "-e", "display notification (item 2 of argv) with title (item 1 of argv)", "-e", "end run", "--", `-u "critical"`, "<b>&\\n"},
		"windows": nil,
	} {
		if diff := cmp.Diff(want, desktopCommand(system, m)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", system, diff)
		}
	}
}

package notify

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"net/url"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/nicholas-fedor/shoutrrr/pkg/router"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/discord"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"

	"placet/templates"
)

// sendTime is how long one attempt may take.
const sendTime = 10 * time.Second

// Message is what people are told.
type Message struct {
	// Title is one line without control characters, Text the rest.
	Title, Text string
	// Request, Run, Form and Rung go to the user's own program. They are empty where several
	// requests are told in one message.
	Request, Run, Form, Rung string
}

// errLost says that nobody knows whether a message has arrived.
var errLost = templates.Errorf("notify.lost")

// refusal says that a message has not arrived, and why.
type refusal struct{ templates.Message }

// Error is what a log shows.
func (r refusal) Error() string { return r.String() }

func refuse(key templates.Key, pairs ...any) error {
	return refusal{templates.NewMessage(key, pairs...)}
}

// deliver hands a message to a target, with env as the environment of the user's own program
// and environ as that of the desktop's. The error is a [refusal] where it has certainly not
// arrived, and repeats no secret.
func deliver(ctx context.Context, t target, m Message, environ, env []string) error {
	switch {
	case t.url != "":
		return sendURL(ctx, t.url, strings.TrimSpace(m.Title+"\n"+m.Text))
	case t.key == desktop:
		argv := desktopCommand(runtime.GOOS, m)
		if argv == nil {
			return refuse("notify.refused.desktop")
		}
		return runProgram(ctx, argv, environ)
	}
	return runProgram(ctx, t.argv, append(env, "PLACET_REQUEST="+m.Request, "PLACET_RUN="+m.Run, "PLACET_TITLE="+m.Title, "PLACET_FORM="+m.Form, "PLACET_RUNG="+m.Rung))
}

// checkURL returns the service that a URL is for, or why nothing can be sent there.
func checkURL(text string) (scheme string, err error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" {
		return "", templates.Errorf("notify.setting.url")
	}
	scheme, _, _ = strings.Cut(u.Scheme, "+")
	r := router.ServiceRouter{}
	if _, err := r.NewService(scheme); err != nil || scheme == "logger" {
		return "", templates.Errorf("notify.setting.service", "service", strconv.Quote(scheme))
	}
	if scheme == "matrix" { // it logs in when it is set up
		return scheme, nil
	}
	defer func() {
		if recover() != nil { // the library's, of a URL that nobody has tried
			err = templates.Errorf("notify.setting.misfit", "service", strconv.Quote(scheme))
		}
	}()
	if _, err := r.Locate(text); err != nil {
		return "", templates.Errorf("notify.setting.misfit.because", "service", strconv.Quote(scheme), "error", scrub(err.Error(), text))
	}
	return scheme, nil
}

// boundClient gives the client that most services send with a limit: it has none, and whoever
// waits for a service that hangs would wait for ever.
var boundClient = sync.OnceFunc(func() { http.DefaultClient.Timeout = sendTime })

// hanging counts, by URL, the attempts that have not come back in time: not every service's
// client has a limit.
var hanging struct {
	sync.Mutex
	count map[string]int
}

// mostHanging is how many there may be.
const mostHanging = 4

// sendURL sends a text to a service. The library knows no context: what it still does when
// the time is over goes on beside, and few of that may.
func sendURL(ctx context.Context, to, text string) error {
	boundClient()
	if !addHanging(to, 1) {
		return refuse("notify.refused.hanging")
	}
	done := make(chan error, 1)
	go func() {
		defer addHanging(to, -1)
		defer func() {
			if r := recover(); r != nil {
				done <- templates.Errorf("notify.broke", "error", scrub(fmt.Sprint(r), to))
			}
		}()
		r := router.ServiceRouter{}
		service, err := r.Locate(to) // a new one each time: services remember what they sent
		if err != nil {
			done <- refuse("say.text", "text", scrub(err.Error(), to))
			return
		}
		if d, ok := service.(*discord.Service); ok {
			d.HTTPClient, d.Sleeper = &onceClient{next: d.HTTPClient}, noSleep{}
		}
		done <- service.Send(text, &types.Params{})
	}()
	select {
	case <-ctx.Done():
		return errLost
	case err := <-done:
		return judge(err, to)
	}
}

// onceClient makes one request and no other. Discord's client would repeat one of which nobody
// knows whether it has arrived.
type onceClient struct {
	next discord.HTTPClient
	said error // what came of the first
}

// Do implements [discord.HTTPClient].
func (c *onceClient) Do(r *http.Request) (*http.Response, error) {
	if c.said != nil {
		return nil, c.said
	}
	res, err := c.next.Do(r)
	if err != nil {
		c.said = errors.New(err.Error()) // which is no cause to try again
		return nil, c.said
	}
	c.said = fmt.Errorf("response status %d", res.StatusCode)
	return res, nil
}

// noSleep is for a client that does not try again.
type noSleep struct{}

// Sleep implements [discord.Sleeper].
func (noSleep) Sleep(time.Duration) {}

func addHanging(to string, n int) (ok bool) {
	hanging.Lock()
	defer hanging.Unlock()
	if hanging.count == nil {
		hanging.count = map[string]int{}
	}
	if n > 0 && hanging.count[to] >= mostHanging {
		return false
	}
	if hanging.count[to] += n; hanging.count[to] == 0 {
		delete(hanging.count, to)
	}
	return true
}

var (
	// transport is the error of an HTTP request that got no answer.
	transport = regexp.MustCompile(`\b(Get|Post|Put|Patch|Delete|Head) "[^"]*"`)
	// unsent are words of the network for a connection that was never made.
	unsent = regexp.MustCompile(`\bdial (tcp|udp|unix)|no such host|connection refused|\bx509: `)
	// answered are words of services for an answer that refuses.
	answered = regexp.MustCompile(`(?i)\b(status|code|failed)\D{0,60}\b[45]\d\d\b|(response|status) failure|server response: |api error`)
)

// judge makes a refusal of an error that says so. Services hand on no more than its text, and
// what is not known to be a refusal is none: it is not tried again.
func judge(err error, to string) error {
	if err == nil || errors.As(err, new(refusal)) || errors.As(err, new(*templates.Error)) {
		return err
	}
	text := err.Error()
	code := (*textproto.Error)(nil)
	said := scrub(text, to)
	switch {
	case unsent.MatchString(text), errors.As(err, &code) && code.Code >= 400, !transport.MatchString(text) && answered.MatchString(text):
		return refuse("say.text", "text", said)
	}
	return errors.New(said)
}

// longestReason is how much is kept of what a service says, in bytes.
const longestReason = 300

var anyURL = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"']+`)

// scrub takes out of a text what may be a secret: every URL, and the parts of the one that
// was sent to.
func scrub(text, to string) string {
	text = anyURL.ReplaceAllString(transport.ReplaceAllString(text, "$1"), "…")
	if u, err := url.Parse(to); err == nil {
		secrets := append(strings.Split(u.Path, "/"), u.Opaque)
		if u.User != nil {
			word, _ := u.User.Password()
			secrets = append(secrets, u.User.Username(), word)
		}
		for _, words := range u.Query() {
			secrets = append(secrets, words...)
		}
		for _, s := range secrets {
			if len(s) > 5 {
				text = strings.ReplaceAll(text, s, "…")
			}
		}
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	return text[:min(len(text), longestReason)]
}

// desktopCommand shows a message on the desktop, nil where nothing is known to do so. What
// the message says is never an option, a program or markup.
func desktopCommand(system string, m Message) []string {
	switch system {
	case "linux", "freebsd", "openbsd", "netbsd":
		text := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `\`, `\\`).Replace(m.Text)
		return []string{"notify-send", "--app-name=placet", "--", m.Title, text}
	case "darwin":
		return []string{
			"osascript", "-e", "on run argv", "-e", "display notification (item 2 of argv) with title (item 1 of argv)", "-e", "end run",
			"--", m.Title, m.Text,
		}
	}
	return nil
}

// runProgram runs a program of the user's to its end. It does not begin in the workspace,
// where a program may find more of its own than the user has put there.
func runProgram(ctx context.Context, argv, env []string) error {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = "/", env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	switch exit := (*exec.ExitError)(nil); {
	case err == nil:
		return nil
	case cmd.Process == nil:
		return refuse("notify.refused.run", "program", argv[0], "error", err)
	case ctx.Err() != nil:
		return errLost
	case errors.As(err, &exit) && exit.Exited():
		return refuse("notify.refused.exit", "program", argv[0], "code", exit.ExitCode())
	}
	return templates.Errorf("notify.program", "program", argv[0], "error", err)
}

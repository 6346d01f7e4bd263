package notify

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"net/url"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/nicholas-fedor/shoutrrr/pkg/router"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/discord"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"

	"placet/internal/lazyregexp"
	"placet/templates"
)

// sendTime is how long one attempt may take.
const sendTime = 10 * time.Second

// Message is what people read.
type Message struct {
	// Title is one line without control characters, Text the rest.
	Title, Text string
	// Buttons are answers that people can press, none if the message shows too little to decide
	// by. They go to topics of ntfy alone.
	Buttons Buttons
	// Page is the URL of the request's page, "" for none, and Open the name of the button that
	// opens it.
	Page, Open string
	// Request, Run, Form and Rung go to the user's own program. They are empty if one message
	// is about several requests.
	Request, Run, Form, Rung string
}

// errLost says that it is unknown whether a message has arrived.
var errLost = templates.Errorf("notify.lost")

// refusal says that a message has not arrived, and why.
type refusal struct{ templates.Message }

// Error returns the English text, for logs.
func (r refusal) Error() string { return r.String() }

func refuse(key templates.Key, pairs ...any) error {
	return refusal{templates.NewMessage(key, pairs...)}
}

// deliver sends a message to a target, with env as the environment of the user's own program
// and environ as that of the desktop's. The error is a [refusal] if the message has certainly
// not arrived, and repeats no secret.
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

// checkURL returns the service of a URL, or why nothing can be sent there.
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
	if scheme == "matrix" { // it would log in when it is set up
		return scheme, nil
	}
	defer func() {
		if recover() != nil { // a panic of the library, over a URL that nobody has tried
			err = templates.Errorf("notify.setting.misfit", "service", strconv.Quote(scheme))
		}
	}()
	if _, err := r.Locate(text); err != nil {
		return "", templates.Errorf("notify.setting.misfit.because", "service", strconv.Quote(scheme), "error", scrub(err.Error(), text))
	}
	return scheme, nil
}

// boundClient gives the HTTP client of most services a time limit. It has none, and a service
// that hangs would keep its caller waiting for ever.
var boundClient = sync.OnceFunc(func() { http.DefaultClient.Timeout = sendTime })

// hanging counts, by URL, the attempts that have not returned in time, because not every
// service's client has a limit.
var hanging struct {
	sync.Mutex
	count map[string]int
}

// mostHanging is how many hanging attempts a URL may have.
const mostHanging = 4

// sendURL sends a text to a service. The library accepts no context, so an attempt may
// continue in its goroutine after the time is over; few may do so.
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
		service, err := r.Locate(to) // a new one each time, because services remember what they sent
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

// onceClient makes one request only. Discord's client would repeat a request that may have
// arrived.
type onceClient struct {
	next discord.HTTPClient
	said error // the result of the first request
}

// Do implements [discord.HTTPClient].
func (c *onceClient) Do(r *http.Request) (*http.Response, error) {
	if c.said != nil {
		return nil, c.said
	}
	res, err := c.next.Do(r)
	if err != nil {
		c.said = errors.New(err.Error()) // it gives the client no reason to try again
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
	transport = lazyregexp.New(`\b(Get|Post|Put|Patch|Delete|Head) "[^"]*"`)
	// unsent matches the network's errors for a connection that was never made.
	unsent = lazyregexp.New(`\bdial (tcp|udp|unix)|no such host|connection refused|\bx509: `)
	// answered matches the errors of services for an answer that refuses.
	answered = lazyregexp.New(`(?i)\b(status|code|failed)\D{0,60}\b[45]\d\d\b|(response|status) failure|server response: |api error`)
)

// judge turns an error that says so into a refusal. Services pass on no more than its text,
// and an error that is not known to be a refusal is not one, so it is not tried again.
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

// longestReason is how much of a service's error is kept, in bytes.
const longestReason = 300

var anyURL = lazyregexp.New(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"']+`)

// scrub removes from a text what may be a secret: every URL, and the parts of the URL that
// was used.
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

// desktopCommand returns the command that shows a message on the desktop, nil if none is
// known. The text of the message is never read as an option, a program or markup.
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

// runProgram runs a program of the user's to its end. It does not start it in the workspace,
// where the program might find files that the user has not put there.
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

package notify

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/nicholas-fedor/shoutrrr/pkg/router"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/ntfy"

	"placet/engine"
	"placet/internal/lazyregexp"
	"placet/templates"
)

// Buttons need what the library does not send: its list of actions is cut at each semicolon and
// set in a header, and it follows no topic. So this file calls ntfy's documented HTTP API. The
// URL of a target means what it means to the library.

// Button is an answer that people can give by a press.
type Button struct {
	// Option is the id of the request's option, and Label its name on the button.
	Option, Label string
}

// Buttons are the answers that a message offers, with all that they decide about.
type Buttons struct {
	List []Button
	// Text replaces the text of the message.
	Text string
	// Shown is the digest of what Text shows, and Until when the answers expire.
	Shown engine.Digest
	Until time.Time
}

// ntfyTopic is a topic that gets messages, and the topic of the same server to which presses
// come.
type ntfyTopic struct {
	conf    *ntfy.Config
	answers string
	client  *http.Client
}

// topicName is the form of a topic's name.
var topicName = lazyregexp.New(`^[-_A-Za-z0-9]{1,64}$`)

// newTopic returns the topic of a target. The URL has been checked.
func newTopic(to, answers string) (*ntfyTopic, error) {
	r := router.ServiceRouter{}
	service, err := r.Locate(to)
	if err != nil {
		return nil, err
	}
	s, is := service.(*ntfy.Service)
	if !is || !topicName.MatchString(answers) || s.Config.Topic == answers {
		return nil, templates.Errorf("notify.setting.answers")
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if s.Config.DisableTLSVerification {
		transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}
	}
	same := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &ntfyTopic{conf: s.Config, answers: answers, client: &http.Client{Transport: transport, CheckRedirect: same}}, nil
}

// at returns the URL of a path of the server.
func (t *ntfyTopic) at(path string) string {
	return (&url.URL{Scheme: t.conf.Scheme, Host: t.conf.Host, Path: "/" + path}).String()
}

// request returns a call of the server, as the user of the URL.
func (t *ntfyTopic) request(ctx context.Context, method, address string, body io.Reader) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, address, body)
	if err == nil && (t.conf.Username != "" || t.conf.Password != "") {
		r.SetBasicAuth(t.conf.Username, t.conf.Password)
	}
	return r, err
}

// ntfyMessage is a message as ntfy publishes it.
type ntfyMessage struct {
	Topic    string       `json:"topic"`
	Title    string       `json:"title,omitempty"`
	Message  string       `json:"message"`
	Tags     []string     `json:"tags,omitempty"`
	Priority int          `json:"priority,omitempty"`
	Click    string       `json:"click,omitempty"`
	Attach   string       `json:"attach,omitempty"`
	Filename string       `json:"filename,omitempty"`
	Icon     string       `json:"icon,omitempty"`
	Delay    string       `json:"delay,omitempty"`
	Email    string       `json:"email,omitempty"`
	Actions  []ntfyAction `json:"actions,omitempty"`
}

// ntfyAction is a button: view opens a page, http makes a call.
type ntfyAction struct {
	Action string `json:"action"`
	Label  string `json:"label"`
	URL    string `json:"url"`
	Method string `json:"method,omitempty"`
	Body   string `json:"body,omitempty"`
	Clear  bool   `json:"clear,omitempty"`
}

// message returns a message as the URL of the target wants it. Buttons replace its own actions.
func (t *ntfyTopic) message(title, text string) ntfyMessage {
	c := t.conf
	return ntfyMessage{
		Topic: c.Topic, Title: cmp.Or(title, c.Title), Message: text, Tags: c.Tags, Priority: int(c.Priority), Click: c.Click,
		Attach: c.Attach, Filename: c.Filename, Icon: c.Icon, Delay: c.Delay, Email: c.Email,
	}
}

// press returns the button that posts a code to an address, "" for the topic of answers.
func (t *ntfyTopic) press(label, code, address string) ntfyAction {
	return ntfyAction{Action: "http", Label: label, URL: cmp.Or(address, t.at(t.answers)), Method: http.MethodPost, Body: code, Clear: true}
}

// publish sends a message.
func (t *ntfyTopic) publish(ctx context.Context, m ntfyMessage) error {
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	r, err := t.request(ctx, http.MethodPost, t.at(""), bytes.NewReader(body))
	if err != nil {
		return err
	}
	if !t.conf.Cache {
		r.Header.Set("Cache", "no")
	}
	if !t.conf.Firebase {
		r.Header.Set("Firebase", "no")
	}
	return t.do(r)
}

// do makes a call, and returns an error unless the server accepted it.
func (t *ntfyTopic) do(r *http.Request) error {
	res, err := t.client.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	return t.refusal(res)
}

// refusal returns why a server did not accept a call, nil if it did.
func (t *ntfyTopic) refusal(res *http.Response) error {
	if res.StatusCode == http.StatusOK {
		return nil
	}
	said, _ := io.ReadAll(io.LimitReader(res.Body, longestReason))
	return refuse("notify.refused.status", "status", res.StatusCode, "text", scrub(scrub(string(said), t.at(t.conf.Topic)), t.at(t.answers)))
}

// sendNtfy sends a message with its buttons, and with the link to its page. Without codes it has
// no buttons.
func (n *Notifier) sendNtfy(ctx context.Context, t target, m Message) error {
	out := t.ntfy.message(m.Title, m.Text)
	codes, err := n.codes(t, m)
	if err != nil {
		n.o.Log.Warn("a message has no buttons", "target", t.key, "request", m.Request, "err", err)
	}
	for i, code := range codes {
		out.Actions = append(out.Actions, t.ntfy.press(m.Buttons.List[i].Label, code, n.o.PostTo))
		out.Message = m.Buttons.Text
	}
	if m.Page != "" {
		out.Actions = append(out.Actions, ntfyAction{Action: "view", Label: m.Open, URL: m.Page})
	}
	err = t.ntfy.publish(ctx, out)
	if ctx.Err() != nil {
		return errLost
	}
	return judge(err, t.url)
}

// addAnswers adds to the targets of ntfy the topic of answers. It is an error if nothing in the
// settings is such a target.
func (p *plan) addAnswers() error {
	if p.answers == "" {
		return nil
	}
	some := false
	for _, t := range p.allTargets() {
		if !strings.HasPrefix(t.key, ntfy.Scheme+"-") {
			continue
		}
		topic, err := newTopic(t.url, p.answers)
		if err != nil {
			return err
		}
		t.ntfy, some = topic, true
		p.targets[t.key] = t
	}
	if !some {
		return templates.Errorf("notify.setting.answers")
	}
	return nil
}

package send

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/textproto"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"

	"placet/engine"
	"placet/schemas"
	"placet/templates"
)

// longestTalk is how many bytes a server may say.
const longestTalk = 1 << 20

// sendMail hands a mail to its server.
func (s *Sender) sendMail(ctx context.Context, what engine.Send, password secret) engine.Sent {
	content, err := render(what)
	if err != nil {
		return engine.Sent{Outcome: engine.SendRefused, Reason: "cannot send such a mail: " + err.Error()}
	}
	d := delivery{Mail: what.Mail, password: password, tls: s.tlsConfig(what.Mail.Host)}
	reply, err := d.deliver(ctx, content)
	if err != nil {
		return d.failure(err)
	}
	code := 250 // the only one that deliver takes for a yes
	reply = oneLine(password.hide(reply))
	return engine.Sent{
		Outcome: engine.SendDone, Code: &code,
		Response: respond(what.Response, schemas.Member{Name: "server_reply", Value: reply}),
	}
}

// delivery is the conversation with a server about one mail.
type delivery struct {
	*engine.Mail
	password secret
	tls      *tls.Config
	// ended is true from the final dot on: until then the server has nothing to deliver.
	ended bool
}

// refusal is a no that placet says by what the server offers.
type refusal struct{ error }

// errNotHere keeps what is not encrypted on this machine.
var errNotHere = errors.New("without TLS a mail goes to a server on this machine only; use starttls or tls")

// failure says what the error of a conversation means for the mail.
func (d *delivery) failure(err error) engine.Sent {
	sent := engine.Sent{Outcome: engine.SendFailed, Reason: err.Error()}
	if d.ended {
		sent.Outcome = engine.SendUnknown
	}
	var reply *textproto.Error
	if errors.As(err, &reply) {
		sent.Code = &reply.Code
		sent.Reason = strings.ReplaceAll(sent.Reason, reply.Error(), fmt.Sprint(reply.Code, " ", reply.Msg)) // without quotes
	}
	switch {
	case errors.Is(err, errNotHere):
		sent.Outcome = engine.SendNotStarted
	case errors.As(err, new(refusal)), reply != nil && reply.Code/100 == 5:
		sent.Outcome = engine.SendRefused
	case reply != nil && reply.Code/100 == 4:
		sent.Outcome = engine.SendFailed
	}
	return sent
}

// deliver has the conversation and returns the reply to the final dot. Where ctx ends,
// the connection is cut.
//
// It does not use the client of go-mail, which cannot be cancelled, and which after an
// error in the middle of a mail says QUIT: that ends the mail with a final dot first.
func (d *delivery) deliver(ctx context.Context, content []byte) (reply string, err error) {
	conn, err := d.dial(ctx)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	bounded := net.Conn(&boundedConn{Conn: conn, left: longestTalk})
	if d.TLS == "tls" {
		bounded = tls.Client(bounded, d.tls)
	}
	c, err := smtp.NewClient(bounded, d.Host)
	if err != nil {
		return "", err
	}
	for _, step := range []func(*smtp.Client) error{greet, d.startTLS, d.authenticate, d.envelope} {
		if err := step(c); err != nil {
			return "", err
		}
	}
	if reply, err = d.data(c, content); err == nil {
		_, _ = c.Text.Cmd("QUIT") // whatever becomes of it, the server has the mail
	}
	return reply, err
}

// dial connects to the server. Without TLS only one on this machine is reached.
func (d *delivery) dial(ctx context.Context) (net.Conn, error) {
	var dialer net.Dialer
	switch d.TLS {
	case "starttls", "tls":
	case "none":
		dialer.Control = onlyHere
	default:
		return nil, refusal{fmt.Errorf("cannot send with TLS %q: expected starttls, tls or none", d.TLS)}
	}
	return dialer.DialContext(ctx, "tcp", net.JoinHostPort(d.Host, strconv.Itoa(d.Port)))
}

// onlyHere refuses a connection that leaves this machine.
func onlyHere(_, address string, _ syscall.RawConn) error {
	if to, err := netip.ParseAddrPort(address); err != nil || !to.Addr().Unmap().IsLoopback() {
		return errNotHere
	}
	return nil
}

// boundedConn is a connection on which the other side may say only so much.
type boundedConn struct {
	net.Conn
	left int
}

func (c *boundedConn) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, fmt.Errorf("the server said more than %d bytes", longestTalk)
	}
	n, err := c.Conn.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

// greet says who calls.
func greet(c *smtp.Client) error {
	name, err := os.Hostname()
	if err != nil {
		name = "localhost"
	}
	return c.Hello(name)
}

// startTLS encrypts the conversation where that is asked for. It never goes on without.
func (d *delivery) startTLS(c *smtp.Client) error {
	if d.TLS != "starttls" {
		return nil
	}
	if offered, _ := c.Extension("STARTTLS"); !offered {
		return refusal{errors.New("the server does not offer STARTTLS")}
	}
	return c.StartTLS(d.tls)
}

// authenticate logs in where there is a username.
func (d *delivery) authenticate(c *smtp.Client) error {
	if d.Username == "" {
		return nil
	}
	_, offered := c.Extension("AUTH")
	ways := strings.Fields(offered)
	var auth smtp.Auth
	switch password, noTLS := string(d.password), d.TLS == "none"; {
	case slices.Contains(ways, "PLAIN"):
		auth = smtp.PlainAuth("", d.Username, password, d.Host, noTLS)
	case slices.Contains(ways, "LOGIN"):
		auth = smtp.LoginAuth(d.Username, password, d.Host, noTLS)
	case slices.Contains(ways, "CRAM-MD5"):
		auth = smtp.CRAMMD5Auth(d.Username, password)
	default:
		return refusal{fmt.Errorf("the server offers none of AUTH PLAIN, LOGIN and CRAM-MD5, but %q", offered)}
	}
	if err := c.Auth(auth); err != nil {
		return fmt.Errorf("the server did not accept the login of %q: %w", d.Username, err)
	}
	return nil
}

// envelope names the sender and everybody who gets the mail.
func (d *delivery) envelope(c *smtp.Client) error {
	ascii := isASCII(d.From + strings.Join(d.To, ""))
	if offered, _ := c.Extension("SMTPUTF8"); !ascii && !offered {
		return refusal{errors.New("the server takes no addresses beyond ASCII (SMTPUTF8)")}
	}
	c.SkipSMTPUTF8(ascii) // a server on the way may know nothing of it
	if err := c.Mail("<" + d.From + ">"); err != nil {
		return fmt.Errorf("the server did not accept the sender %s: %w", d.From, err)
	}
	for _, to := range d.To {
		if err := c.Rcpt("<" + to + ">"); err != nil {
			return fmt.Errorf("the server did not accept %s, so nobody gets the mail: %w", to, err)
		}
	}
	return nil
}

// data hands over the mail itself.
func (d *delivery) data(c *smtp.Client, content []byte) (reply string, err error) {
	w, err := c.Data()
	if err != nil {
		return "", err
	}
	if _, err := w.Write(content); err != nil {
		return "", err
	}
	d.ended = true
	if err := w.Close(); err != nil {
		return "", fmt.Errorf("the server was given the whole mail and did not confirm it: %w", err)
	}
	return w.(*smtp.DataCloser).ServerResponse(), nil
}

// render returns a mail as it goes over the wire. Of a mail that could not be sent as it
// was approved it returns what is wrong.
func render(what engine.Send) ([]byte, error) {
	m := what.Mail
	if len(m.To) == 0 {
		return nil, errors.New("it has no recipient")
	}
	if strings.ContainsFunc(m.Subject, unicode.IsControl) || !utf8.ValidString(m.Subject+m.Body) {
		return nil, errors.New("its subject holds a control character, or it is not UTF-8")
	}
	for _, a := range append([]string{m.From}, m.To...) {
		if !addressPattern.MatchString(a) || !utf8.ValidString(a) || strings.ContainsFunc(a, isHidden) {
			return nil, fmt.Errorf("%q is not a bare address, such as name@example.com", a)
		}
	}
	msg := mail.NewMsg(mail.WithNoDefaultUserAgent())
	if err := errors.Join(msg.From(m.From), msg.To(m.To...)); err != nil {
		return nil, err
	}
	msg.SetMessageIDWithValue(what.Key + m.From[strings.LastIndexByte(m.From, '@'):])
	msg.Subject(headerText(m.Subject))
	msg.SetBodyString(mail.TypeTextPlain, m.Body)
	if m.Calendar != nil {
		msg.AddAlternativeString("text/calendar; method=REQUEST", string(m.Calendar))
		msg.AttachReadSeeker("invite.ics", bytes.NewReader(m.Calendar), mail.WithFileContentType("application/ics"))
	}
	var content bytes.Buffer
	_, err := msg.WriteTo(&content)
	return content.Bytes(), err
}

var (
	// addressPattern is a bare address that needs no quotes.
	addressPattern = regexp.MustCompile(`^[^\s<>()\[\]\\,;:@"]+@[^\s<>()\[\]\\,;:@"]+$`)
	// plainHeader is what a header shows as it is written: printable ASCII and single
	// blanks.
	plainHeader = regexp.MustCompile(`^[!-~]+( [!-~]+)*$`)
)

// headerText returns a text as a header may hold it. What a reader would decode although
// it was written so is encoded itself: people read the text that was approved.
func headerText(text string) string {
	if plainHeader.MatchString(text) && !strings.Contains(text, "=?") {
		return text
	}
	var words []string
	for text != "" {
		part := templates.CutWith(text, 45, "") // a word has at most 75 characters
		words = append(words, "=?UTF-8?B?"+base64.StdEncoding.EncodeToString([]byte(part))+"?=")
		text = text[len(part):]
	}
	return strings.Join(words, " ")
}

// isHidden reports whether a character cannot be seen.
func isHidden(r rune) bool { return unicode.IsSpace(r) || !unicode.IsGraphic(r) }

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII })
}

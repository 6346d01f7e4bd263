package send

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/textproto"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/wneessen/go-mail"

	"placet/engine"
	"placet/internal/lazyregexp"
	"placet/schemas"
	"placet/templates"
)

// quitTime is how long a server may take to say goodbye after it has taken the
// mail.
const quitTime = time.Second

// sendMail sends a mail to its server in one conversation.
func (s *Sender) sendMail(ctx context.Context, what engine.Send, password secret) engine.Sent {
	msg, err := newMessage(what)
	if err != nil {
		return engine.Sent{Outcome: engine.SendRefused, Reason: "cannot send such a mail: " + err.Error()}
	}
	if err := s.deliver(ctx, what.Mail, password, msg); err != nil {
		return mailFailure(err)
	}
	code := 250 // only 250 confirms the final dot
	said := schemas.Member{Name: "server_reply", Value: oneLine(password.hide(msg.ServerResponse()))}
	return engine.Sent{Outcome: engine.SendDone, Code: &code, Response: respond(what.Response, said)}
}

// deliver returns nil once the server has taken the mail.
//
// After an error deliver must not send QUIT: in the middle of a mail that would write the
// final dot first, and the server would deliver half a mail.
func (s *Sender) deliver(ctx context.Context, m *engine.Mail, password secret, msg *mail.Msg) error {
	client, err := s.newClient(ctx, m, password)
	if err != nil {
		return err
	}
	server, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return err
	}
	ascii := isASCII(m.From + strings.Join(m.To, ""))
	if offered, _ := server.Extension("SMTPUTF8"); !offered && !ascii {
		return errOnlyASCII
	}
	server.SkipSMTPUTF8(ascii) // a server on the way may not support it
	if err := client.SendWithSMTPClient(server, msg); err != nil {
		return err
	}
	_ = server.UpdateDeadline(quitTime)
	_ = server.Quit() // the server has the mail, even if this fails
	return nil
}

// newClient returns a client whose connection is cut when ctx ends. It never
// continues without the TLS that the mail asks for.
func (s *Sender) newClient(ctx context.Context, m *engine.Mail, password secret) (*mail.Client, error) {
	proof, dial := s.tlsConfig(m.Host), new(net.Dialer).DialContext
	policy := mail.NoTLS
	switch m.TLS {
	case "starttls":
		policy = mail.TLSMandatory
	case "tls":
		dial = (&tls.Dialer{Config: proof}).DialContext
	}
	options := []mail.Option{
		mail.WithTLSPolicy(policy), mail.WithTLSConfig(proof), mail.WithoutNoop(), mail.WithoutRset(),
		mail.WithTimeout(time.Hour), // ctx ends earlier
		mail.WithDialContextFunc(func(until context.Context, _, _ string) (net.Conn, error) {
			conn, err := dial(until, "tcp", net.JoinHostPort(m.Host, strconv.Itoa(m.Port)))
			if err == nil {
				context.AfterFunc(ctx, func() { conn.Close() })
			}
			return conn, err
		}),
	}
	if m.Username != "" {
		options = append(options, mail.WithOpportunisticSMTPAuth(mail.SMTPAuthPlain, mail.SMTPAuthLogin), mail.WithUsername(m.Username), mail.WithPassword(string(password)))
	}
	return mail.NewClient(m.Host, options...)
}

// mailFailure returns the meaning of an error for the mail. Until the final dot is
// sent, the server has nothing to deliver.
func mailFailure(err error) engine.Sent {
	sent := engine.Sent{Outcome: engine.SendFailed, Reason: err.Error()}
	var code int
	var sending *mail.SendError
	var reply *textproto.Error
	if errors.As(err, &sending) {
		code = sending.ErrorCode()
	} else if errors.As(err, &reply) {
		code = reply.Code
	}
	if code != 0 {
		sent.Code = &code
	}
	switch {
	case code/100 == 5, offersTooLittle(err):
		sent.Outcome = engine.SendRefused
	case code == 0 && sending != nil && sending.Reason == mail.ErrSMTPDataClose:
		sent.Outcome, sent.Reason = engine.SendUnknown, "the server was given the whole mail and did not confirm it: "+sent.Reason
	}
	return sent
}

var errOnlyASCII = errors.New("the server takes no addresses beyond ASCII (SMTPUTF8)")

// offersTooLittle reports whether a server lacks a feature that the mail needs. go-mail
// has no error values for two of these cases.
func offersTooLittle(err error) bool {
	return errors.Is(err, errOnlyASCII) || errors.Is(err, mail.ErrNoSupportedAuthDiscovered) || strings.Contains(err.Error(), "does not support STARTTLS") ||
		strings.Contains(err.Error(), "does not support SMTP AUTH")
}

// checkMail returns nil for a mail that can be sent exactly as it was approved.
func checkMail(m *engine.Mail) error {
	if len(m.To) == 0 {
		return errors.New("it has no recipient")
	}
	if strings.ContainsFunc(m.Subject, unicode.IsControl) || !utf8.ValidString(m.Subject+m.Body) {
		return errors.New("its subject holds a control character, or it is not UTF-8")
	}
	for _, a := range append([]string{m.From}, m.To...) {
		if !addressPattern.MatchString(a) || !utf8.ValidString(a) || strings.ContainsFunc(a, isHidden) {
			return fmt.Errorf("%q is not a bare address, such as name@example.com", a)
		}
	}
	return nil
}

// newMessage returns a mail in the form that is sent.
func newMessage(what engine.Send) (*mail.Msg, error) {
	m, msg := what.Mail, mail.NewMsg(mail.WithNoDefaultUserAgent())
	if err := checkMail(m); err != nil {
		return nil, err
	}
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
	return msg, nil
}

var (
	// addressPattern matches a bare address that needs no quotes.
	addressPattern = lazyregexp.New(`^[^\s<>()\[\]\\,;:@"]+@[^\s<>()\[\]\\,;:@"]+$`)
	// plainHeader matches a text that a header shows unchanged: printable ASCII and
	// single blanks.
	plainHeader = lazyregexp.New(`^[!-~]+( [!-~]+)*$`)
)

// headerText returns a text in the form that a header can hold. A text that a reader's
// program would decode although it was written that way is encoded too, so that people
// read the text that was approved.
func headerText(text string) string {
	if plainHeader.MatchString(text) && !strings.Contains(text, "=?") {
		return text
	}
	var words []string
	for text != "" {
		part := templates.CutWith(text, 45, "") // an encoded word has at most 75 characters
		words = append(words, "=?UTF-8?B?"+base64.StdEncoding.EncodeToString([]byte(part))+"?=")
		text = text[len(part):]
	}
	return strings.Join(words, " ")
}

// isHidden reports whether a character is invisible.
func isHidden(r rune) bool { return unicode.IsSpace(r) || !unicode.IsGraphic(r) }

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII })
}

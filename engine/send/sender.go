// Package send carries out an [engine.Send]: it sends a mail to an SMTP server, or calls an
// HTTP service, and says how that ended.
//
// Rules:
//
//   - Nothing is sent twice. A [Sender] tries once; whoever reads the outcome decides
//     whether to try again.
//   - An outcome claims no more than is certain: "failed" and "refused" say that nothing was
//     done. If the whole request may have left and no answer came, the outcome is "unknown".
//   - A mail is one conversation. The final dot follows only after the server has accepted
//     every recipient, and a server delivers nothing before the final dot.
//   - A secret is read when it is needed, and no text that repeats it is returned.
package send

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/internal/lazyregexp"
	"placet/schemas"
	"placet/templates"
)

// longestResponse is the longest response of an outcome in bytes.
const longestResponse = 64 << 10

// Sender carries out the sends of one workspace. Its methods may be called from several
// goroutines.
type Sender struct {
	root   string
	getenv func(string) string
	// authorities judge the certificates of servers; nil means those of the system.
	authorities *x509.CertPool
}

// New returns a Sender for the workspace at root, which looks up variables by getenv.
func New(root string, getenv func(string) string) *Sender {
	return &Sender{root: root, getenv: getenv}
}

// keyPattern matches an idempotency key, which is sent in headers.
var keyPattern = lazyregexp.New(`^[A-Za-z0-9._-]{1,128}$`)

// Send carries out one send and says how it ended. It returns soon after ctx has ended,
// and the cause of ctx becomes the reason.
func (s *Sender) Send(ctx context.Context, what engine.Send) engine.Sent {
	secret, err := s.prepare(what)
	if err != nil {
		return engine.Sent{Outcome: engine.SendNotStarted, Reason: err.Error()}
	}
	timeout := cmp.Or(what.Timeout, time.Minute)
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("there was no answer within %s", timeout))
	defer cancel()
	sent := engine.Sent{Outcome: engine.SendDone, Response: respond(what.Response)}
	switch {
	case what.Mail != nil:
		sent = s.sendMail(ctx, what, secret)
	case what.Call != nil:
		sent = s.call(ctx, what, secret)
	}
	// A dialer notices the deadline with a timer of its own, which may be the earlier one.
	if deadline, _ := ctx.Deadline(); !time.Now().Before(deadline) {
		<-ctx.Done()
	}
	if cause := context.Cause(ctx); cause != nil && sent.Outcome != engine.SendDone {
		sent.Reason = cause.Error() + ": " + sent.Reason
	}
	sent.Reason = oneLine(secret.hide(sent.Reason))
	return sent
}

// prepare returns the secret of a send, or why the send cannot be started.
func (s *Sender) prepare(what engine.Send) (secret, error) {
	mail, call := what.Mail, what.Call
	switch {
	case what.Problem != "":
		return "", errors.New(what.Problem)
	case mail == nil && call == nil:
		return "", nil
	case !keyPattern.MatchString(what.Key):
		return "", fmt.Errorf("cannot send with the idempotency key %q: use letters, digits, '.', '_' and '-'", what.Key)
	case mail == nil:
		return s.secretAt(call.Token)
	case !slices.Contains([]string{"starttls", "tls", "none"}, mail.TLS):
		return "", fmt.Errorf("cannot send with TLS %q: expected starttls, tls or none", mail.TLS)
	case mail.TLS == "none" && !slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, mail.Host):
		return "", fmt.Errorf("cannot send to %q without TLS, which is for localhost, 127.0.0.1 and ::1: use starttls or tls", mail.Host)
	case mail.Username == "":
		return "", nil
	}
	password, err := s.secretAt(mail.Password)
	if err == nil && password == "" {
		err = fmt.Errorf("cannot send: there is no password for %q. Set the variable %s, or name a file", mail.Username, mail.Password.Env)
	}
	return password, err
}

// tlsConfig says how a server has to prove that it is the host.
func (s *Sender) tlsConfig(host string) *tls.Config {
	return &tls.Config{ServerName: host, RootCAs: s.authorities, MinVersion: tls.VersionTLS12}
}

// respond returns fields as an object, or nil if there are none.
func respond(fields []engine.Field, more ...schemas.Member) schemas.Raw {
	var o schemas.Object
	for _, f := range fields {
		o = append(o, schemas.Member{Name: f.Name, Value: f.Value})
	}
	if o = append(o, more...); len(o) == 0 {
		return nil
	}
	body, err := schemas.Encode(o)
	if err != nil || len(body) > longestResponse {
		return nil // the send has happened, also without a response
	}
	return body
}

// visible returns a text from outside as one line without invisible characters.
func visible(text string) string { return templates.Clean(strings.Join(strings.Fields(text), " ")) }

// oneLine returns the same as visible, cut to the length that an outcome
// repeats.
func oneLine(text string) string { return templates.Cut(visible(text), engine.LongestReason) }

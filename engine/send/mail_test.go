package send

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/google/go-cmp/cmp"

	"placet/engine"
)

// short returns the part of a send's end that a test compares.
func short(sent engine.Sent) string {
	code := "-"
	if sent.Code != nil {
		code = fmt.Sprint(*sent.Code)
	}
	return sent.Outcome + " " + code
}

// read returns the header and the text of a mail.
func read(t *testing.T, body []byte) (mail.Header, string) {
	t.Helper()
	m, err := mail.ReadMessage(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Header.Get("Content-Transfer-Encoding"); got != "quoted-printable" {
		t.Errorf("the text is encoded as %q", got)
	}
	return m.Header, plain(t, m.Body)
}

// plain decodes a text. In a mail its line ends are CRLF, and the last line has one.
func plain(t *testing.T, r io.Reader) string {
	t.Helper()
	text, err := io.ReadAll(quotedprintable.NewReader(r))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

func subject(t *testing.T, h mail.Header) string {
	t.Helper()
	text, err := new(mime.WordDecoder).DecodeHeader(h.Get("Subject"))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestAMailArrivesAsItWasApproved(t *testing.T) {
	t.Parallel()
	long := &strings.Builder{}
	for i := 0; long.Len() < 256<<10; i++ {
		fmt.Fprintf(long, "%d. 挑戦 = 100%%\t%s \n.\n..%c\n", i, strings.Repeat("x", i%1200), rune(0x20+i%0x2000))
	}
	tests := map[string]struct{ subject, body string }{
		"plain":                 {"Risk of project 7", "Please look.\n"},
		"empty":                 {"", ""},
		"right to left":         {"תשלום \u202e001\u202c مرحبا", "שלום\n"},
		"Japanese, long":        {strings.Repeat("燃え尽き症候群のリスク ", 25) + "!", "炎上\n"},
		"looks encoded":         {"=?utf-8?q?harmless?=", "=?utf-8?q?harmless?= =41\n"},
		"runs of blanks":        {"a" + strings.Repeat(" ", 200) + "b", "  \n \n"},
		"blanks at the ends":    {"  a  ", "no line end"},
		"one long word":         {strings.Repeat("w", 900), strings.Repeat("w", 5000)},
		"a line of one dot":     {".", ".\n.\n..\nQUIT\n"},
		"looks like a header":   {"Bcc: a@b.example", "Bcc: a@b.example\n\nx"},
		"a body of 256 KiB":     {"long", long.String()[:256<<10-3] + "end"},
		"control in the body":   {"c", "a\x00b\x1b[0m\n"},
		"emoji with its joiner": {"👩‍💻 ok", "👩‍💻"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := new(server).serve(t, nil)
			what := mailTo(s.addr)
			what.Mail.Subject, what.Mail.Body = test.subject, strings.ToValidUTF8(test.body, "?")
			sent := sender(t).Send(t.Context(), what)
			if short(sent) != "done 250" || sent.Reason != "" {
				t.Fatalf("%s: %s", short(sent), sent.Reason)
			}
			_, mails := s.got()
			if len(mails) != 1 {
				t.Fatalf("%d mails", len(mails))
			}
			header, body := read(t, mails[0].body)
			if diff := cmp.Diff(test.subject, subject(t, header)); diff != "" {
				t.Errorf("subject (-want +got):\n%s", diff)
			}
			if body = strings.TrimSuffix(body, "\n"); body != strings.TrimSuffix(what.Mail.Body, "\n") {
				t.Errorf("the body of %d bytes arrived as %d others", len(what.Mail.Body), len(body))
			}
			head, _, _ := bytes.Cut(mails[0].body, []byte("\r\n\r\n"))
			for line := range bytes.Lines(head) {
				if len(line) > 998 || len(bytes.TrimSpace(line)) == 0 {
					t.Errorf("a line of the header has %d bytes: %q", len(line), line)
				}
			}
			want := mail.Header{
				"From": {"<no-reply@saihai.example>"}, "To": {"<manager@example.com>"},
				"Message-Id": {"<job-0123456789ab-1@saihai.example>"}, "Mime-Version": {"1.0"},
				"Content-Type": {"text/plain; charset=UTF-8"}, "Content-Transfer-Encoding": {"quoted-printable"},
			}
			delete(header, "Subject")
			delete(header, "Date")
			if diff := cmp.Diff(want, header); diff != "" {
				t.Errorf("header (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAMailGoesOverTLSWithALogin(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"starttls", "tls"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			certificate, pool := authority(t)
			s := (&server{login: checkPassword}).serve(t, func(srv *smtp.Server) {
				srv.TLSConfig, srv.Addr = &tls.Config{Certificates: []tls.Certificate{certificate}}, way
				srv.AllowInsecureAuth = false
			})
			from := sender(t)
			from.authorities = pool
			what := withLogin(mailTo(s.addr))
			what.Mail.TLS, what.Mail.To = way, nil
			for n := range 20 {
				what.Mail.To = append(what.Mail.To, fmt.Sprintf("person-%d@%s.example", n, strings.Repeat("long", 10)))
			}
			if sent := from.Send(t.Context(), what); short(sent) != "done 250" {
				t.Fatalf("%s: %s", short(sent), sent.Reason)
			} else if want := "{\n  \"status\": \"sent\",\n  \"server_reply\": \"2.0.0 OK: queued\"\n}\n"; string(sent.Response) != want {
				t.Errorf("response %s, want %s", sent.Response, want)
			}
			_, mails := s.got()
			if len(mails) != 1 {
				t.Fatalf("%d mails", len(mails))
			}
			if diff := cmp.Diff(what.Mail.To, mails[0].to); diff != "" {
				t.Errorf("recipients (-want +got):\n%s", diff)
			}
			header, _ := read(t, mails[0].body)
			list, err := header.AddressList("To")
			if err != nil || len(list) != 20 {
				t.Errorf("the header names %d recipients: %v", len(list), err)
			}
		})
	}
}

func TestAnInvitationIsReadAsOne(t *testing.T) {
	t.Parallel()
	s := new(server).serve(t, nil)
	what := mailTo(s.addr)
	calendar := "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nSUMMARY:会議\r\nEND:VCALENDAR\r\n"
	what.Mail.Calendar = []byte(calendar)
	if sent := sender(t).Send(t.Context(), what); short(sent) != "done 250" {
		t.Fatalf("%s: %s", short(sent), sent.Reason)
	}
	_, mails := s.got()
	m, err := mail.ReadMessage(bytes.NewReader(mails[0].body))
	if err != nil {
		t.Fatal(err)
	}
	type part struct{ kind, disposition, text string }
	var parts []part
	var walk func(contentType string, r io.Reader)
	walk = func(contentType string, r io.Reader) {
		kind, params, err := mime.ParseMediaType(contentType)
		if err != nil {
			t.Fatal(err)
		}
		for in := multipart.NewReader(r, params["boundary"]); ; {
			p, err := in.NextRawPart()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			if ct := p.Header.Get("Content-Type"); strings.HasPrefix(ct, "multipart/") {
				walk(ct, p)
			} else {
				var text string
				if p.Header.Get("Content-Transfer-Encoding") == "base64" {
					text = fromBase64(t, p)
				} else {
					text = plain(t, p)
				}
				parts = append(parts, part{ct, p.Header.Get("Content-Disposition"), strings.ReplaceAll(text, "\r\n", "\n")})
			}
		}
	}
	walk(m.Header.Get("Content-Type"), m.Body)
	lines := strings.ReplaceAll(calendar, "\r\n", "\n")
	want := []part{
		{"text/plain; charset=UTF-8", "", "Please look.\n"},
		{"text/calendar; method=REQUEST; charset=UTF-8", "", lines},
		{`application/ics; name="invite.ics"`, `attachment; filename="invite.ics"`, lines},
	}
	if diff := cmp.Diff(want, parts, cmp.AllowUnexported(part{})); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
}

func TestHowAMailEnds(t *testing.T) {
	t.Parallel()
	certificate, pool := authority(t)
	secure := func(srv *smtp.Server) { srv.TLSConfig = &tls.Config{Certificates: []tls.Certificate{certificate}} }
	cut := func(c *smtp.Conn) error {
		c.Conn().Close()
		return nil
	}
	at := func(bad string, err error) func(*smtp.Conn, string) error {
		return func(_ *smtp.Conn, to string) error {
			if to == bad {
				return err
			}
			return nil
		}
	}
	tests := map[string]struct {
		server *server
		set    func(*smtp.Server)
		change func(*engine.Mail)
		want   string
		why    string // part of the reason
	}{
		"451 at RCPT":              {server: &server{rcpt: at("b@x.example", reply(451, "later"))}, want: "failed 451", why: "b@x.example"},
		"550 at RCPT":              {server: &server{rcpt: at("b@x.example", reply(550, "nobody"))}, want: "refused 550", why: "b@x.example"},
		"550 at the final dot":     {server: &server{data: func(*smtp.Conn) error { return reply(550, "spam") }}, want: "refused 550", why: "spam"},
		"452 at the final dot":     {server: &server{data: func(*smtp.Conn) error { return reply(452, "full") }}, want: "failed 452", why: "full"},
		"nothing at the dot":       {server: &server{data: cut}, want: "unknown -", why: "did not confirm"},
		"cut at RCPT":              {server: &server{rcpt: func(c *smtp.Conn, _ string) error { return cut(c) }}, want: "failed -"},
		"no STARTTLS":              {server: &server{}, change: func(m *engine.Mail) { m.TLS = "starttls" }, want: "refused -", why: "does not support STARTTLS"},
		"another host's TLS":       {server: &server{login: checkPassword}, set: secure, change: func(m *engine.Mail) { m.TLS, m.Host = "starttls", "localhost" }, want: "failed -", why: "certificate"},
		"no TLS where it begins":   {server: &server{}, change: func(m *engine.Mail) { m.TLS = "tls" }, want: "failed -", why: "TLS"},
		"TLS of another name":      {server: &server{}, change: func(m *engine.Mail) { m.TLS = "ssl" }, want: "not_started -", why: `"ssl"`},
		"wrong password":           {server: &server{login: func(_, _, _ string) error { return reply(535, "go away") }}, change: func(m *engine.Mail) { m.Username, m.Password.Env = "placet", "SMTP_PASSWORD" }, want: "refused 535", why: "SMTP AUTH failed"},
		"login not now":            {server: &server{login: func(_, _, _ string) error { return reply(454, "later") }}, change: func(m *engine.Mail) { m.Username, m.Password.Env = "placet", "SMTP_PASSWORD" }, want: "failed 454"},
		"no AUTH":                  {server: &server{}, change: func(m *engine.Mail) { m.Username, m.Password.Env = "placet", "SMTP_PASSWORD" }, want: "refused -", why: "does not support SMTP AUTH"},
		"no password":              {server: &server{}, change: func(m *engine.Mail) { m.Username, m.Password.Env = "placet", "UNSET" }, want: "not_started -", why: "UNSET"},
		"beyond ASCII":             {server: &server{}, change: func(m *engine.Mail) { m.To = []string{"매니저@x.example"} }, want: "refused -", why: "SMTPUTF8"},
		"beyond ASCII, understood": {server: &server{}, set: func(srv *smtp.Server) { srv.EnableSMTPUTF8 = true }, change: func(m *engine.Mail) { m.To = []string{"매니저@x.example"} }, want: "done 250"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := test.server.serve(t, test.set)
			from := sender(t)
			from.authorities = pool
			if test.want == "failed -" {
				from.authorities = nil
			}
			what := mailTo(s.addr)
			what.Mail.To = []string{"a@x.example", "b@x.example", "c@x.example"}
			if test.change != nil {
				test.change(what.Mail)
			}
			sent := from.Send(t.Context(), what)
			if got := short(sent); got != test.want || !strings.Contains(sent.Reason, test.why) {
				t.Errorf("%s: %s; want %s: %s", got, sent.Reason, test.want, test.why)
			}
			done := test.want == "done 250"
			if _, mails := s.got(); done != (len(mails) == 1) && test.want != "unknown -" {
				t.Errorf("%d mails", len(mails))
			}
			if done != (sent.Response != nil) {
				t.Errorf("response %s", sent.Response)
			}
		})
	}
}

func TestAServerThatIsNotThereMayBeTriedAgain(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	if sent := sender(t).Send(t.Context(), mailTo(listener.Addr().(*net.TCPAddr))); short(sent) != "failed -" {
		t.Errorf("%s: %s", short(sent), sent.Reason)
	}
}

func TestWithoutTLSNoMailLeavesThisMachine(t *testing.T) {
	t.Parallel()
	what := mailTo(&net.TCPAddr{Port: 25})
	what.Mail.Host = "192.0.2.1"
	sent := sender(t).Send(t.Context(), what)
	if short(sent) != "not_started -" || !strings.Contains(sent.Reason, "starttls") {
		t.Errorf("%s: %s", short(sent), sent.Reason)
	}
}

func TestTheConversationWithAnOddServer(t *testing.T) {
	t.Parallel()
	instead := func(verb, text string) func(string) string {
		usual := accepting()
		return func(line string) string {
			if strings.HasPrefix(line, verb) {
				return text
			}
			return usual(line)
		}
	}
	tests := map[string]struct {
		greeting string
		answer   func(string) string
		want     string
	}{
		"accepts":                  {"220 hi", accepting(), "done 250"},
		"no word to QUIT":          {"220 hi", instead("QUIT", ""), "done 250"},
		"silence after QUIT":       {"220 hi", instead("QUIT", "-"), "done 250"},
		"no RSET":                  {"220 hi", instead("RSET", "502 what"), "done 250"},
		"no NOOP":                  {"220 hi", instead("NOOP", "502 what"), "done 250"},
		"no login that we know":    {"220 hi", instead("EHLO", "250-mx.example\r\n250 AUTH XOAUTH2"), "refused -"},
		"closed today":             {"554 no mail here", accepting(), "refused 554"},
		"busy":                     {"421 busy", accepting(), "failed 421"},
		"no SMTP":                  {"HTTP/1.1 400 Bad Request", accepting(), "failed -"},
		"no EHLO and no HELO":      {"220 hi", func(string) string { return "502 what" }, "refused 502"},
		"no to DATA":               {"220 hi", instead("DATA", "451 later"), "failed 451"},
		"a yes that is none":       {"220 hi", instead("DATA", "250 fine"), "failed -"},
		"an odd word at the end":   {"220 hi", instead(".", "354 more"), "unknown -"},
		"gone after the final dot": {"220 hi", instead(".", ""), "unknown -"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr, said := script(t, test.greeting, test.answer)
			sent := sender(t).Send(t.Context(), withLogin(mailTo(addr)))
			if short(sent) != test.want {
				t.Errorf("%s: %s; want %s", short(sent), sent.Reason, test.want)
			}
			for i, line := range said() {
				if line == "." && i+1 < len(said()) && !strings.HasPrefix(test.want, "done") {
					t.Errorf("after the final dot: %q", said()[i+1:])
				}
				if strings.HasPrefix(line, "MAIL") && line != "MAIL FROM:<no-reply@saihai.example>" {
					t.Errorf("%q: a mail in ASCII asks for no more than that", line)
				}
			}
		})
	}
}

// A mail that could differ from the approved one is not even begun.
func TestWhatCannotBeSentAsItWasApprovedIsRefused(t *testing.T) {
	t.Parallel()
	s := new(server).serve(t, nil)
	tests := map[string]func(*engine.Mail){
		"LF in the subject":       func(m *engine.Mail) { m.Subject = "a\nBcc: x@y.example" },
		"CRLF in the subject":     func(m *engine.Mail) { m.Subject = "a\r\n\r\nbody" },
		"CR in the subject":       func(m *engine.Mail) { m.Subject = "a\rb" },
		"NEL in the subject":      func(m *engine.Mail) { m.Subject = "a\u0085b" },
		"subject not UTF-8":       func(m *engine.Mail) { m.Subject = "a\xff" },
		"body not UTF-8":          func(m *engine.Mail) { m.Body = "a\xff" },
		"nobody":                  func(m *engine.Mail) { m.To = nil },
		"LF in an address":        func(m *engine.Mail) { m.To = []string{"a@b.example\nBcc: c@d.example"} },
		"another command":         func(m *engine.Mail) { m.To = []string{"a@b.example>\r\nRCPT TO:<c@d.example"} },
		"LF in the sender":        func(m *engine.Mail) { m.From = "a@b.example\r\nX: y" },
		"a display name":          func(m *engine.Mail) { m.To = []string{"Boss <a@b.example>"} },
		"a comment":               func(m *engine.Mail) { m.To = []string{"a@b.example (boss)"} },
		"two in one":              func(m *engine.Mail) { m.To = []string{"a@b.example, c@d.example"} },
		"a quoted local part":     func(m *engine.Mail) { m.To = []string{`"c@d.example"@b.example`} },
		"a parameter":             func(m *engine.Mail) { m.From = "a@b.example SIZE=1" },
		"a turned address":        func(m *engine.Mail) { m.To = []string{"a\u202e@b.example"} },
		"a blank that looks none": func(m *engine.Mail) { m.To = []string{"a\u00a0@b.example"} },
		"no domain":               func(m *engine.Mail) { m.To = []string{"root"} },
		"nothing":                 func(m *engine.Mail) { m.To = []string{""} },
	}
	for name, change := range tests {
		what := mailTo(s.addr)
		change(what.Mail)
		if sent := sender(t).Send(t.Context(), what); short(sent) != "refused -" || sent.Reason == "" {
			t.Errorf("%s: %s: %s", name, short(sent), sent.Reason)
		}
	}
	what := mailTo(s.addr)
	what.Key = "a>\r\nBcc: x@y.example"
	if sent := sender(t).Send(t.Context(), what); short(sent) != "not_started -" {
		t.Errorf("key: %s: %s", short(sent), sent.Reason)
	}
	what = mailTo(s.addr)
	what.Problem = "the file has changed"
	if sent := sender(t).Send(t.Context(), what); short(sent) != "not_started -" || sent.Reason != what.Problem {
		t.Errorf("problem: %s: %s", short(sent), sent.Reason)
	}
	if talks, _ := s.got(); talks != 0 {
		t.Errorf("%d conversations were begun", talks)
	}
}

// hanging returns a hook that waits, and a channel that is closed once it does.
func hanging(t *testing.T) (wait func(), waits <-chan struct{}) {
	t.Helper()
	reached, end := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(end) })
	return func() { close(reached); <-end }, reached
}

func TestAMailThatIsCutWhileItIsSent(t *testing.T) {
	t.Parallel()
	stopped := errors.New("placet was stopped")
	for _, test := range []struct {
		name, want string
		hook       func(s *server, wait func())
	}{
		{"before the mail", "failed -", func(s *server, wait func()) {
			s.rcpt = func(*smtp.Conn, string) error { wait(); return nil }
		}},
		{"after the final dot", "unknown -", func(s *server, wait func()) {
			s.data = func(*smtp.Conn) error { wait(); return nil }
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			wait, waits := hanging(t)
			s := new(server)
			test.hook(s, wait)
			s.serve(t, nil)
			ctx, cancel := context.WithCancelCause(t.Context())
			go func() { <-waits; cancel(stopped) }()
			sent := sender(t).Send(ctx, mailTo(s.addr))
			if short(sent) != test.want || !strings.Contains(sent.Reason, stopped.Error()) {
				t.Errorf("%s: %s", short(sent), sent.Reason)
			}
		})
	}
}

func TestAServerThatSaysNothingIsNotWaitedForLong(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	what := mailTo(listener.Addr().(*net.TCPAddr))
	what.Timeout = 50 * time.Millisecond
	if sent := sender(t).Send(t.Context(), what); short(sent) != "failed -" || !strings.Contains(sent.Reason, "no answer within 50ms") {
		t.Errorf("%s: %s", short(sent), sent.Reason)
	}
}

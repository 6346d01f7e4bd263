package send

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"placet/engine"
)

const password = "correct horse/42"

// received is a mail that a server took.
type received struct {
	from string
	to   []string
	body []byte
}

// server is an SMTP server that does what a test wants.
type server struct {
	addr *net.TCPAddr
	// rcpt and data are further handlers; nil means that the server accepts. data is
	// called when the mail is complete.
	rcpt func(*smtp.Conn, string) error
	data func(*smtp.Conn) error
	// login answers AUTH; nil: the server offers no AUTH.
	login sasl.PlainAuthenticator

	mu    sync.Mutex
	talks int
	mails []received
}

// serve starts a server. set may change what it offers.
func (s *server) serve(t *testing.T, set func(*smtp.Server)) *server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.addr = listener.Addr().(*net.TCPAddr)
	srv := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.talks++
		return &session{server: s, conn: c}, nil
	}))
	srv.Domain, srv.AllowInsecureAuth = "mx.example", true
	srv.ErrorLog = logTo{t}
	if set != nil {
		set(srv)
	}
	if listener := net.Listener(listener); srv.TLSConfig != nil && srv.Addr == "tls" {
		go func() { _ = srv.Serve(tls.NewListener(listener, srv.TLSConfig)) }()
	} else {
		go func() { _ = srv.Serve(listener) }()
	}
	t.Cleanup(func() { srv.Close() })
	return s
}

type logTo struct{ t *testing.T }

func (logTo) Printf(string, ...any) {}
func (logTo) Println(...any)        {}

// got returns how many conversations there were, and the mails.
func (s *server) got() (talks int, mails []received) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.talks, s.mails
}

type session struct {
	*server
	conn *smtp.Conn
	mail received
}

func (s *session) Reset()        { s.mail = received{} }
func (s *session) Logout() error { return nil }

func (s *session) AuthMechanisms() []string {
	if s.login == nil {
		return nil
	}
	return []string{sasl.Plain}
}

func (s *session) Auth(string) (sasl.Server, error) { return sasl.NewPlainServer(s.login), nil }

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	s.mail = received{from: from}
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	if s.rcpt != nil {
		if err := s.rcpt(s.conn, to); err != nil {
			return err
		}
	}
	s.mail.to = append(s.mail.to, to)
	return nil
}

func (s *session) Data(r io.Reader) (err error) {
	if s.mail.body, err = io.ReadAll(r); err != nil {
		return err
	}
	if s.data != nil {
		if err := s.data(s.conn); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mails = append(s.mails, s.mail)
	return nil
}

// reply is an answer of a server.
func reply(code int, text string) error {
	return &smtp.SMTPError{Code: code, EnhancedCode: smtp.EnhancedCode{code / 100, 0, 0}, Message: text}
}

// checkPassword is the login of servers that ask for one.
func checkPassword(_, user, word string) error {
	if user != "placet" || word != password {
		return reply(535, "wrong")
	}
	return nil
}

// script is a server that answers each line with what answer returns; "" cuts the connection.
func script(t *testing.T, greeting string, answer func(line string) string) (addr *net.TCPAddr, said func() []string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	var mu sync.Mutex
	var lines []string
	talk := func(conn net.Conn) {
		defer conn.Close()
		fmt.Fprintf(conn, "%s\r\n", greeting)
		for in := bufio.NewScanner(conn); in.Scan(); {
			mu.Lock()
			lines = append(lines, in.Text())
			mu.Unlock()
			text := answer(in.Text())
			if text == "" {
				return
			}
			if text != "-" {
				fmt.Fprintf(conn, "%s\r\n", text)
			}
		}
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go talk(conn)
		}
	}()
	return listener.Addr().(*net.TCPAddr), func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), lines...)
	}
}

// accepting answers like a server that accepts a mail, and offers AUTH.
func accepting() func(line string) string {
	inData := false
	return func(line string) string {
		verb, _, _ := strings.Cut(line, " ")
		switch {
		case inData && line != ".":
			return "-"
		case inData:
			inData = false
			return "250 2.0.0 taken"
		case verb == "EHLO":
			return "250-mx.example\r\n250-SMTPUTF8\r\n250 AUTH PLAIN LOGIN"
		case verb == "DATA":
			inData = true
			return "354 go on"
		case verb == "AUTH":
			return "235 welcome"
		default:
			return "250 fine"
		}
	}
}

// authority returns a certificate for 127.0.0.1, and the pool that accepts it.
func authority(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	t.Cleanup(s.Close)
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return s.TLS.Certificates[0], pool
}

// sender returns a Sender for an empty workspace and an environment with the password.
func sender(t *testing.T) *Sender {
	t.Helper()
	return New(t.TempDir(), func(name string) string {
		return map[string]string{"SMTP_PASSWORD": password, "API_TOKEN": password}[name]
	})
}

// mailTo is a mail for a server.
func mailTo(addr *net.TCPAddr) engine.Send {
	return engine.Send{
		Key: "job-0123456789ab-1", Timeout: time.Hour,
		Response: []engine.Field{{Name: "status", Value: "sent"}},
		Mail: &engine.Mail{
			Host: "127.0.0.1", Port: addr.Port, TLS: "none",
			From: "no-reply@saihai.example", To: []string{"manager@example.com"}, Subject: "Risk", Body: "Please look.\n",
		},
	}
}

// withLogin has a mail ask for the password in a variable.
func withLogin(what engine.Send) engine.Send {
	what.Mail.Username, what.Mail.Password = "placet", engine.Secret{Env: "SMTP_PASSWORD"}
	return what
}

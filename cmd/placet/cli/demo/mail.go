package demo

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"strings"

	"placet/cmd/placet/console"
)

// keepMails is the mail server of the demo: it prints the port of this machine on which it
// listens, and adds every mail to a file.
func keepMails(ctx context.Context, w *console.Env, file string) error {
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { l.Close() })
	fmt.Fprintln(w.Out, l.Addr().(*net.TCPAddr).Port)
	for {
		conn, err := l.Accept()
		if err != nil {
			return nil // the listener was closed
		}
		if err := keepMail(conn, file); err != nil {
			w.Note("say.text", "text", err)
		}
	}
}

// keepMail receives the mails of one connection (RFC 5321).
func keepMail(conn net.Conn, file string) error {
	defer conn.Close()
	lines := bufio.NewScanner(conn)
	reply := func(text string) { fmt.Fprintf(conn, "%s\r\n", text) }
	reply("220 demo")
	for lines.Scan() {
		switch word, _, _ := strings.Cut(strings.ToUpper(lines.Text()), " "); word {
		case "DATA":
			reply("354 go on")
			var mail strings.Builder
			for lines.Scan() && lines.Text() != "." {
				mail.WriteString(strings.TrimPrefix(lines.Text(), ".") + "\n")
			}
			if err := addTo(file, mail.String()); err != nil {
				reply("451 " + err.Error())
				return err
			}
			reply("250 taken")
		case "QUIT":
			reply("221 bye")
			return nil
		default:
			reply("250 fine")
		}
	}
	return lines.Err()
}

func addTo(file, text string) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(text)
	return err
}

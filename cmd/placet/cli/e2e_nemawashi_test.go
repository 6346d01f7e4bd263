package cli_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// mute is a mail server that accepts mails and never confirms them: it does not send the reply
// to the final dot.
type mute struct {
	net.Listener
	mu    sync.Mutex
	mails map[string]int // by Message-ID
}

func newMute(t *testing.T) *mute {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := &mute{Listener: l, mails: map[string]int{}}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go m.serve(conn)
		}
	}()
	return m
}

func (m *mute) serve(conn net.Conn) {
	defer conn.Close()
	lines := bufio.NewScanner(conn)
	fmt.Fprint(conn, "220 mute\r\n")
	for lines.Scan() {
		switch {
		case strings.HasPrefix(lines.Text(), "DATA"):
			fmt.Fprint(conn, "354 go on\r\n")
			id := ""
			for lines.Scan() && lines.Text() != "." {
				if rest, ok := strings.CutPrefix(lines.Text(), "Message-ID: "); ok {
					id = rest
				}
			}
			m.mu.Lock()
			m.mails[id]++
			m.mu.Unlock()
			lines.Scan() // until the client goes away
			return
		default:
			fmt.Fprint(conn, "250 fine\r\n")
		}
	}
}

// taken returns how many mails arrived, and which of them more than once.
func (m *mute) taken() (n int, twice []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, times := range m.mails {
		if n++; times > 1 {
			twice = append(twice, id)
		}
	}
	return n, twice
}

var attemptDeadline = regexp.MustCompile(`"deadline": "[^"]+"`)

// The daemon is killed by kill -9 between the attempt and the outcome of mails: no mail is ever
// sent twice, and a person is asked about each.
func TestTortureKilledWhileMailsAreUnderWay(t *testing.T) {
	t.Parallel()
	side, rounds := tortured(3, 10), tortured(2, 10) // mails under way at each kill, and kills
	p := newPlace(t, t.TempDir(), 0)
	server := newMute(t)
	home := filepath.Join(p.root, "..", "home-"+filepath.Base(p.root), "placet")
	if err := os.MkdirAll(home, 0o755); err != nil {
		t.Fatal(err)
	}
	conf := fmt.Sprintf("[nemawashi]\nmail = { provider = \"smtp\", smtp_host = \"127.0.0.1\", smtp_port = %d, smtp_tls = \"none\" }\n", server.Addr().(*net.TCPAddr).Port)
	if err := os.WriteFile(filepath.Join(home, "placet.toml"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	glob := func(i int, rest string) []string {
		found, _ := filepath.Glob(filepath.Join(p.root, fmt.Sprintf(".nemawashi/actions/%d", i), rest))
		return found
	}
	for r := range rounds {
		first, last := r*side+1, (r+1)*side
		for i := first; i <= last; i++ {
			dir := fmt.Sprintf(".nemawashi/actions/%d", i)
			p.write(dir+"/drafts/v1.md", "Dear all\n")
			p.write(dir+"/action.json", `{"type": "mail_draft", "summary": "Tell them", "requested_by": "agent", "payload": {"to": "pm@acme.example", "subject": "Late"}}`)
		}
		d := p.start()
		p.await(d)
		for i := first; i <= last; i++ {
			p.until("a person is asked", func() bool { return len(glob(i, "requests/apr-*/form.md")) == 1 })
			dir := filepath.Dir(glob(i, "requests/apr-*/form.md")[0])
			body := fmt.Sprintf(`{"request_id": %q, "response": "approve", "provided_by": {"user": "kim", "source": "file"}}`, filepath.Base(dir))
			if err := replaced("NAME.tmp")(filepath.Join(dir, "response.json"), body); err != nil {
				t.Fatal(err)
			}
		}
		p.until("all mails are under way", func() bool { n, _ := server.taken(); return n == last })
		d.stop(syscall.SIGKILL)
	}
	d := p.start()
	p.await(d)
	for i := 1; i <= rounds*side; i++ {
		if explained, _ := p.placet("explain", fmt.Sprintf("nemawashi/%d", i)); i == 1 && !strings.Contains(explained, "part 1 is under way; without an outcome by ") {
			t.Errorf("explain says %s", explained)
		}
		for _, file := range glob(i, "jobs/*/1/attempt-1.json") {
			if i == 1 { // somebody removes the record that it began
				if err := os.Remove(file); err != nil {
					t.Fatal(err)
				}
				continue
			}
			// The time of the others has run out.
			body, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			past := attemptDeadline.ReplaceAll(body, []byte(`"deadline": "2026-01-01T00:00:00Z"`))
			if err := replaced("NAME.tmp")(file, string(past)); err != nil {
				t.Fatal(err)
			}
		}
	}
	d.stop(syscall.SIGTERM)
	d = p.start()
	p.await(d)
	for i := 1; i <= rounds*side; i++ {
		p.until("a person is asked what became of a mail", func() bool { return len(glob(i, "requests/out-*/form.md")) == 1 })
		outcomes := glob(i, "jobs/*/1/outcome-1.json")
		if i == 1 && len(outcomes) == 0 && len(glob(i, "jobs/*/1/attempt-?.json")) == 0 {
			continue
		}
		if len(outcomes) != 1 || len(glob(i, "jobs/*/1/attempt-2.json")) > 0 {
			t.Fatalf("action %d: outcomes %q, and another attempt: %q", i, outcomes, glob(i, "jobs/*/1/attempt-2.json"))
		}
		if body, _ := os.ReadFile(outcomes[0]); !strings.Contains(string(body), `"outcome": "lost"`) {
			t.Fatalf("action %d ended otherwise than lost: %s", i, body)
		}
	}
	d.stop(syscall.SIGTERM)
	if n, twice := server.taken(); n != rounds*side || len(twice) > 0 {
		t.Errorf("%d mails arrived of %d, twice %q", n, rounds*side, twice)
	}
	t.Logf("killed %d times with %d mails under way: none sent twice, a person is asked about each", rounds, side)
}

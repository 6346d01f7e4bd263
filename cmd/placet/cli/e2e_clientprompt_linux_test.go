package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"unsafe"

	"placet/engine/ask"
)

// onItsTerminal runs the client on a terminal of its own, says go, and returns once it shows its prompt
// and placet's question is asked.
func (u *use) onItsTerminal() (s *session, id string) {
	u.t.Helper()
	u.write("../home-w/.claude.json", fmt.Sprintf(`{"hasCompletedOnboarding": true, "theme": "dark", "numStartups": 5, "customApiKeyResponses": {"approved": ["x"], "rejected": []},
		"projects": {%q: {"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true, "enabledMcpjsonServers": ["placet"]}}}`, u.root))
	s = &session{p: u.place, over: make(chan struct{})}
	s.master, s.slave = openTerminal(u.t)
	size := [4]uint16{40, 120}
	s.ioctl(syscall.TIOCSWINSZ, unsafe.Pointer(&size))
	s.cmd = command(u.t, filepath.Join(os.Getenv(clientsVariable), u.client.program), "--permission-mode", "default", "go")
	s.cmd.Dir, s.cmd.Env = u.root, append(u.env, "PATH="+u.path, "TERM=xterm-256color", "LANG=C.UTF-8")
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = s.slave, s.slave, s.slave
	s.cmd.SysProcAttr.Setsid, s.cmd.SysProcAttr.Setctty = true, true
	if err := s.cmd.Start(); err != nil {
		u.t.Fatal(err)
	}
	go s.follow()
	u.t.Cleanup(func() {
		_ = s.cmd.Process.Signal(syscall.SIGTERM)
		_ = s.cmd.Wait()
		s.slave.Close()
	})
	defer func() {
		if u.t.Failed() {
			u.t.Logf("the client shows %.6000q", s.said())
		}
	}()
	s.await("proceed?")
	u.until("placet asks", func() bool {
		ids := u.askIDs()
		if len(ids) == 1 && u.showsForm(ids[0]) && u.isWaitedFor(ids[0]) {
			id = ids[0]
		}
		return id != ""
	})
	return s, id
}

// A real Claude Code shows its prompt while placet asks, and takes whichever answer comes first.
func TestARealPromptStandsBesideTheQuestion(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ here, there, ran, why string }{
		"approved here": {"approve", "", "x\n", ""}, "rejected here": {"reject", "", "", ""}, "yes there": {"", "1", "x\n", answeredThere}, "no there": {"", "2", "", leftThere}, "given up there": {"", "\x1b", "", leftThere},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUse(t, realClients[0])
			u.write("../home-w/placet/placet.toml", "[hook]\nfirst = \"any\"\n[[hook.rule]]\nmatch = ['>> ran']\ndo = \"ask\"\nreason = \"The rule says so.\"\n")
			set := command(t, placetBinary(t), "init", "--for", "claude-code")
			set.Dir, set.Env = u.root, append(u.env, "PATH="+u.path)
			if out, err := set.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			s, id := u.onItsTerminal()
			if test.here != "" {
				u.choose(id, test.here)
			} else {
				s.keys(test.there)
			}
			u.until("the question is closed", func() bool { return u.askState(id).IsFinal() })
			st := u.askState(id)
			switch {
			case test.here != "" && (st.Status != ask.Answered || st.Answer.Response != test.here):
				t.Errorf("answered here, it is %s, %v", st.Status, st.Answer)
			case test.there != "" && (st.Status != ask.Withdrawn || string(st.Last.Reason) != test.why):
				t.Errorf("answered there, it is %s because %q, expected %q", st.Status, st.Last.Reason, test.why)
			}
			if test.ran != "" {
				u.until("the call runs", func() bool { return u.read("ran") == test.ran })
			}
			if test.here == "reject" {
				s.await("Denied")
			}
			if got := u.read("ran"); got != test.ran {
				t.Errorf("ran %q, expected %q:\n%.6000q", got, test.ran, s.said())
			}
		})
	}
}

package main_test

import (
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// onPty runs placet on a terminal, types keys once it shows a text, and returns all that
// it showed and its exit code.
func (p *place) onPty(text, keys string, args ...string) (string, int) {
	p.t.Helper()
	master, slave := openTerminal(p.t)
	cmd := exec.Command(placetBinary(p.t), append([]string{"-C", p.root}, args...)...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = p.env(), slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	slave.Close()
	var mu sync.Mutex
	var shown strings.Builder
	said := func() string {
		mu.Lock()
		defer mu.Unlock()
		return shown.String()
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf) // EIO when the last program has closed it
			mu.Lock()
			shown.Write(buf[:n])
			mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	p.until("it shows "+text, 10*time.Second, func() bool { return strings.Contains(said(), text) })
	if _, err := io.WriteString(master, keys); err != nil {
		p.t.Fatal(err)
	}
	_ = cmd.Wait()
	<-over
	return said(), cmd.ProcessState.ExitCode()
}

// What gives a run up for good asks for a reason: on a terminal where -m is missing,
// and where nobody can be asked it is refused. Nothing is written without one.
func TestGivingUpAsksForAReason(t *testing.T) {
	p := newPlace(t, t.TempDir(), 0)
	p.write(".afl/sessions/shop/specs/checkpoints.yaml", "checkpoints:\n  - {id: a, criteria: [x], validation: {command: \"true\", expected: \"1 passing\"}}\n")
	p.write(".mso-context/active/20260302-msowd-sop/optimizer/trigger.json", `{"workflow_name": "sop"}`)
	p.write("placet.toml", "")
	p.must(0, "once")
	for verb, file := range map[string]string{
		"afl abort shop":                    ".afl/sessions/shop/control.json",
		"optimizer stop 20260302-msowd-sop": ".mso-context/active/20260302-msowd-sop/optimizer/stop.json",
	} {
		args := strings.Fields(verb)
		if said := p.must(2, args...); !strings.Contains(said, "without a reason") || !strings.Contains(said, "-m TEXT") {
			t.Errorf("%s without a terminal says %q", verb, said)
		}
		for name, keys := range map[string]string{"Ctrl-C": "\x03", "Ctrl-D": "\x04", "nothing": "\r", "blanks": "   \r"} {
			if said, code := p.onPty("Why?", keys, args...); code != 130 || !strings.Contains(said, "nothing was written") {
				t.Errorf("%s, %s: exit %d\n%s", verb, name, code, said)
			}
		}
		if p.read(file) != "" {
			t.Errorf("%s: nobody gave a reason, and %s says %s", verb, file, p.read(file))
		}
		if said, code := p.onPty("Why?", "not needed\r", args...); code != 0 || !strings.Contains(p.read(file), `"reason": "not needed"`) {
			t.Errorf("%s: exit %d, %s says %s\n%s", verb, code, file, p.read(file), said)
		}
	}
}

package cli_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"
)

// terminal runs placet on a terminal of its own and types keys once it asks.
func (p *place) terminal(keys string, args ...string) (string, int) {
	p.t.Helper()
	return p.onTerminal(80, args...).typed("(y/N)", keys)
}

// session is placet on a terminal.
type session struct {
	p             *place
	cmd           *exec.Cmd
	master, slave *os.File
	over          chan struct{}
	mu            sync.Mutex
	shown         strings.Builder
}

// onTerminal runs placet on a terminal of its own, so many columns wide.
func (p *place) onTerminal(columns uint16, args ...string) *session {
	p.t.Helper()
	return p.onTerminalWith(columns, func(*exec.Cmd) {}, args...)
}

// onTerminalWith is onTerminal, with a change of what is run.
func (p *place) onTerminalWith(columns uint16, change func(*exec.Cmd), args ...string) *session {
	p.t.Helper()
	s := &session{p: p, over: make(chan struct{})}
	s.master, s.slave = openTerminal(p.t)
	size := [4]uint16{24, columns}
	s.ioctl(syscall.TIOCSWINSZ, unsafe.Pointer(&size))
	s.cmd = p.program(append([]string{"-C", p.root}, args...)...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = s.slave, s.slave, s.slave
	s.cmd.SysProcAttr.Setsid, s.cmd.SysProcAttr.Setctty = true, true
	change(s.cmd)
	if err := s.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	go s.follow()
	return s
}

// follow keeps what the terminal shows.
func (s *session) follow() {
	defer close(s.over)
	buf := make([]byte, 4096)
	for {
		n, err := s.master.Read(buf) // EIO when nobody has it open any more
		s.mu.Lock()
		s.shown.Write(buf[:n])
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *session) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown.String()
}

// await waits until the terminal shows a text as often as it is given.
func (s *session) await(text ...string) {
	s.p.t.Helper()
	s.p.until(fmt.Sprintf("it shows %q", text), func() bool { return strings.Count(s.said(), text[0]) >= len(text) })
}

func (s *session) keys(keys string) {
	s.p.t.Helper()
	if _, err := io.WriteString(s.master, keys); err != nil {
		s.p.t.Fatal(err)
	}
}

// typed types keys once the terminal shows a text, and ends.
func (s *session) typed(text, keys string) (string, int) {
	s.p.t.Helper()
	s.await(text)
	s.keys(keys)
	return s.end()
}

// end waits until placet has ended, and returns what the terminal showed. Typed text is not
// left to the shell, and the terminal is restored.
func (s *session) end() (string, int) {
	s.p.t.Helper()
	_ = s.cmd.Wait()
	var left int32
	s.ioctl(syscall.TIOCINQ, unsafe.Pointer(&left))
	var mode syscall.Termios
	s.ioctl(syscall.TCGETS, unsafe.Pointer(&mode))
	const usual = syscall.ICANON | syscall.ECHO | syscall.ISIG
	if left != 0 || mode.Lflag&usual != usual {
		s.p.t.Errorf("%d bytes are left to the shell, the terminal is in mode %x:\n%s", left, mode.Lflag, s.said())
	}
	s.slave.Close()
	<-s.over
	return s.said(), s.cmd.ProcessState.ExitCode()
}

func (s *session) ioctl(request uintptr, arg unsafe.Pointer) {
	s.p.t.Helper()
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, s.slave.Fd(), request, uintptr(arg)); errno != 0 {
		s.p.t.Fatal(errno)
	}
}

func openTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	t.Cleanup(func() { master.Close() })
	var locked, number int32
	for request, arg := range map[uintptr]*int32{syscall.TIOCSPTLCK: &locked, syscall.TIOCGPTN: &number} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), request, uintptr(unsafe.Pointer(arg))); errno != 0 {
			t.Fatal(errno)
		}
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return master, slave
}

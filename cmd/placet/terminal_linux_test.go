package main_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// terminal runs placet on a terminal of its own and types keys once it asks.
func (p *place) terminal(keys string, args ...string) (string, int) {
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
	said := func() string {
		mu.Lock()
		defer mu.Unlock()
		return shown.String()
	}
	p.until("it asks", 10*time.Second, func() bool { return strings.Contains(said(), "[y/N]") })
	if _, err := io.WriteString(master, keys); err != nil {
		p.t.Fatal(err)
	}
	_ = cmd.Wait()
	<-over
	return said(), cmd.ProcessState.ExitCode()
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

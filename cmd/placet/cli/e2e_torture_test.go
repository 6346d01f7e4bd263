package cli_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The tests that begin with TestTorture break placet on purpose, from outside:
// the real binary, real files, real signals, real mounts. Each has a small form
// for every day; PLACET_TORTURE=full asks for the numbers of the promises:
//
//	PLACET_TORTURE=full go test ./cmd/placet/cli -run '^TestTorture' -count=1 -timeout 30m

// tortured returns the size of a test: the small one, or that of the promise.
func tortured(small, full int) int {
	if os.Getenv("PLACET_TORTURE") == "full" {
		return full
	}
	return small
}

// jitter pauses for a moment under PLACET_TORTURE=full, so that the next event comes at another
// moment each time. Nothing may depend on it.
func jitter(moment time.Duration) {
	if os.Getenv("PLACET_TORTURE") == "full" {
		time.Sleep(moment)
	}
}

// spent is the processor time that the daemon has used so far.
func (d *daemon) spent(t *testing.T) time.Duration {
	t.Helper()
	body, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", d.cmd.Process.Pid))
	if err != nil {
		t.Skipf("cannot tell the processor time of a process here: %v", err)
	}
	// The second field is the program's name in brackets; user and system
	// time are fields 14 and 15, in ticks of a hundredth of a second.
	fields := strings.Fields(string(body[strings.LastIndexByte(string(body), ')')+1:]))
	var ticks time.Duration
	for _, f := range fields[11:13] {
		ticks += time.Duration(atoi(t, f))
	}
	return ticks * time.Second / 100
}

// doesNotSpin checks that the daemon is idle for two seconds: it uses less than a fifth of one
// processor. On a busy machine a daemon that spins uses less than that, and an idle one no
// more.
func (d *daemon) doesNotSpin(t *testing.T, while string) {
	t.Helper()
	began, before := time.Now(), d.spent(t)
	time.Sleep(2 * time.Second)
	if took, used := time.Since(began), d.spent(t)-before; used > took/5+50*time.Millisecond {
		t.Errorf("%s: %v of processor time in %v", while, used, took)
	}
}

// freeze stops the daemon, and returns when the last of its threads has stopped: the signal
// alone leaves them some time to go on.
func (d *daemon) freeze(t *testing.T) {
	t.Helper()
	if err := d.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var is syscall.WaitStatus
	for !is.Stopped() {
		_, err := syscall.Wait4(d.cmd.Process.Pid, &is, syscall.WUNTRACED, nil)
		if err != nil && err != syscall.EINTR || is.Exited() || is.Signaled() {
			t.Fatalf("cannot wait until the daemon is stopped: %v, %v", is, err)
		}
	}
}

func (d *daemon) thaw(t *testing.T) {
	t.Helper()
	if err := d.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
}

// decided waits until every one of the runs is answered.
func (p *place) decided(runs []int) {
	p.t.Helper()
	left := slices.Clone(runs)
	p.until(fmt.Sprintf("all %d are decided", len(runs)), func() bool {
		left = slices.DeleteFunc(left, p.answered)
		return len(left) == 0
	})
}

// upTo are the numbers below n.
func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func pidOf(d *daemon) string { return strconv.Itoa(d.cmd.Process.Pid) }

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

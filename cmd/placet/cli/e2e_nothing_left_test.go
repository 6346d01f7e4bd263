package cli

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// nothingLeft is the exit code of the tests, which have failed too if they leave something
// behind.
func nothingLeft(code int) int {
	for _, left := range leftovers() {
		fmt.Fprintln(os.Stderr, "the tests leave behind:", left)
		code = max(code, 1)
	}
	return code
}

// leftovers are the processes that the tests have started and not ended, which it kills, and
// what lies in their temporary folder.
func leftovers() (left []string) {
	dir := os.Getenv("PLACET_E2E_DIR")
	patience := 60_000 // ms, for what is about to end
	started := startedIn(dir)
	for _, pid := range slices.Sorted(maps.Keys(started)) {
		if hasEnded(pid, patience) {
			continue
		}
		patience = 0
		left = append(left, fmt.Sprintf("process %d: %s", pid, started[pid]))
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	entries, err := os.ReadDir(filepath.Join(dir, "tmp"))
	if err != nil && !os.IsNotExist(err) {
		left = append(left, err.Error())
	}
	for _, e := range entries {
		left = append(left, filepath.Join(dir, "tmp", e.Name()))
	}
	return left
}

// startedIn are the command lines of the other processes that have the folder of these tests
// in their environment, by process.
func startedIn(dir string) map[int]string {
	started := map[int]string{}
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		environment, err := os.ReadFile(file)
		if err != nil || !slices.Contains(strings.Split(string(environment), "\x00"), "PLACET_E2E_DIR="+dir) {
			continue // another user's, or a process that has ended
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if line, err := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline")); err == nil && pid != os.Getpid() {
			started[pid] = string(bytes.TrimSpace(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return started
}

// hasEnded reports whether a process has ended, or ends within so many milliseconds.
func hasEnded(pid, patience int) bool {
	process, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return err == unix.ESRCH
	}
	defer unix.Close(process)
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(process), Events: unix.POLLIN}}, patience)
	return err == nil && n > 0
}

// What a test leaves behind is found.
func TestAProcessThatIsLeftIsFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "sleep", "600")
	cmd.Env = []string{"PLACET_E2E_DIR=" + dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	if started := startedIn(dir); len(started) != 1 || started[pid] != "sleep 600" || hasEnded(pid, 0) {
		t.Errorf("process %d is not found: %v", pid, started)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if started := startedIn(dir); len(started) > 0 || !hasEnded(pid, 0) {
		t.Errorf("process %d has ended, and is found: %v", pid, started)
	}
}

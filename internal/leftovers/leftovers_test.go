package leftovers

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

func TestAProcessThatIsLeftIsFound(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("processes are found on Linux alone: there is no /proc")
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "sleep", "600")
	cmd.Env = []string{"TMPDIR=" + filepath.Join(dir, "tmp")}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if started := startedIn(dir); len(started) != 1 || started[cmd.Process.Pid] != "sleep 600" {
		t.Errorf("process %d is not found: %v", cmd.Process.Pid, started)
	}
	_ = cmd.Process.Signal(syscall.SIGKILL)
	_ = cmd.Wait()
	if started := startedIn(dir); len(started) > 0 {
		t.Errorf("process %d has ended, and is found: %v", cmd.Process.Pid, started)
	}
}

// leaves is a run of tests that leaves a file.
type leaves struct{}

func (leaves) Run() int {
	_, err := os.MkdirTemp("", "left-")
	if err != nil {
		panic(err)
	}
	return 0
}

func TestWhatLeavesAFileFails(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	if code := Run(leaves{}); code != 1 {
		t.Errorf("exit code %d", code)
	}
}

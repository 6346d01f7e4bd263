package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestDemoStepByStep plays a demo that waits for Enter until it ends, and interrupts another
// one at its first step. Neither leaves anything behind.
func TestDemoStepByStep(t *testing.T) {
	t.Parallel()
	p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0)
	temp := t.TempDir()
	begin := func() *session {
		return p.onTerminalWith(100, func(cmd *exec.Cmd) {
			cmd.Args = append(cmd.Args[:1], "demo", "--step")
			cmd.Env = append(cmd.Env, "TMPDIR="+temp)
		})
	}
	s := begin()
	steps := []string{}
	for _, next := range []string{"The script waits.", "The form is a text file.", "The answer is", "That is all"} {
		steps = append(steps, "Press Enter to go on.")
		s.await(steps...)
		if strings.Contains(s.said(), next) {
			t.Errorf("it does not wait before %q", next)
		}
		s.keys("\n")
		s.await(next)
	}
	if said, code := s.end(); code != 0 || strings.Count(said, "Press Enter") != len(steps) {
		t.Errorf("exit %d\n%s", code, said)
	}
	s = begin()
	s.await("Press Enter to go on.")
	s.keys("\x03")
	if said, code := s.end(); code != 130 || strings.Contains(said, "The script waits.") {
		t.Errorf("exit %d\n%s", code, said)
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("%s is left", left[0].Name())
	}
}

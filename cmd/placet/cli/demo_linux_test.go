package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// onDemo plays the demo on a terminal, in a folder below another one.
func (p *place) onDemo(folder, flag string) *session {
	return p.onTerminalWith(200, func(cmd *exec.Cmd) {
		cmd.Args = append(cmd.Args[:1], "demo", flag)
		cmd.Env = append(cmd.Env, "TMPDIR="+folder)
	})
}

// TestDemoStepByStep plays a demo that waits for Enter until it ends, and interrupts another
// one at its first step. Neither leaves anything behind.
func TestDemoStepByStep(t *testing.T) {
	t.Parallel()
	p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0)
	temp := t.TempDir()
	s := p.onDemo(temp, "--step")
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
	s = p.onDemo(temp, "--step")
	s.await("Press Enter to go on.")
	s.keys("\x03")
	if said, code := s.end(); code != 130 || strings.Contains(said, "The script waits.") {
		t.Errorf("exit %d\n%s", code, said)
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("%s is left", left[0].Name())
	}
}

// TestDemoEndsWithItsTerminal hangs up while a demo waits for the reader: it leaves nothing behind.
func TestDemoEndsWithItsTerminal(t *testing.T) {
	t.Parallel()
	p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0)
	temp := t.TempDir()
	s := p.onDemo(temp, "--try")
	s.await("    http://placet-")
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if said, code := s.end(); code != 130 {
		t.Errorf("exit %d\n%s", code, said)
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("%s is left", left[0].Name())
	}
}

// TestDemoWaitsForTheReadersOwnAnswer ticks the form that demo --try shows: the script goes on.
func TestDemoWaitsForTheReadersOwnAnswer(t *testing.T) {
	t.Parallel()
	p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0)
	temp := t.TempDir()
	s := p.onDemo(temp, "--try")
	s.await("    http://placet-")
	form := regexp.MustCompile(`    (/\S+/form\.md)`).FindStringSubmatch(s.said())
	if form == nil {
		t.Fatalf("it names no form:\n%s", s.said())
	}
	body, err := os.ReadFile(form[1])
	if err != nil {
		t.Fatal(err)
	}
	ticked := strings.NewReplacer("- [ ] approve", "- [x] approve", "- [ ] submit", "- [x] submit").Replace(string(body))
	if err := os.WriteFile(form[1], []byte(ticked), 0o644); err != nil {
		t.Fatal(err)
	}
	s.await("That is all")
	if said, code := s.end(); code != 0 || !strings.Contains(said, "\ndeploying 1.4\r\n") || !strings.Contains(said, "Now it is your turn.") {
		t.Errorf("exit %d\n%s", code, said)
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("%s is left", left[0].Name())
	}
}

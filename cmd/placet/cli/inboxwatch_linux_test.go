package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The inbox is listed again whenever it changes, and a person answers by number: only what they
// were shown, and never by what was typed before.
func TestInboxWatch(t *testing.T) {
	p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0)
	p.opensAskOf(t, "a", map[string]any{"question": "First?"})
	s := p.onTerminal(120, "inbox", "--watch")
	s.await("  1  ask/a")
	p.opensAskOf(t, "b", map[string]any{"question": "Second?"})
	s.await("  2  ask/b")
	s.keys("9\n")
	s.await(`no question here has the number "9"`)
	s.keys("2\napprove\ny\n")
	s.await("Your choice: ")
	if p.there(p.asking("b") + "/response.json") {
		t.Fatalf("what was typed before the question was shown answers it: %s", s.said())
	}
	s.keys("\n")
	s.await("nothing was written")
	s.keys("2\n")
	s.await("Your choice: ", "Your choice: ")
	s.keys("approve\n")
	s.await("(y/N)")
	s.keys("y\n")
	s.await("ask/b (the asker) answered: approve")
	if p.there(p.asking("a")+"/response.json") || !p.there(p.asking("b")+"/response.json") {
		t.Errorf("%s", s.said())
	}
	s.keys("\x03")
	if shown, code := s.end(); code != 0 {
		t.Errorf("Ctrl-C: %d %s", code, shown)
	}
}

// Elsewhere than at a terminal the list is printed and nothing is asked.
func TestInboxWatchElsewhere(t *testing.T) {
	p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0)
	p.opensAskOf(t, "a", map[string]any{"question": "First?"})
	printed, err := os.Create(filepath.Join(t.TempDir(), "printed"))
	if err != nil {
		t.Fatal(err)
	}
	defer printed.Close()
	said := func() string {
		body, err := os.ReadFile(printed.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	pipe := p.program("-C", p.root, "inbox", "--watch")
	pipe.Stdout, pipe.Stderr = printed, printed
	if err := pipe.Start(); err != nil {
		t.Fatal(err)
	}
	p.until("it is listed", func() bool { return strings.Contains(said(), "  1  ask/a") })
	listed := time.Now().Unix()
	p.until("its age has changed, and it was looked at again", func() bool { return time.Now().Unix() > listed+3 })
	p.must(0, "withdraw", "a", "-m", "not needed")
	p.until("it is gone", func() bool { return strings.HasSuffix(said(), "nothing is asked\n\n") })
	if err := pipe.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := pipe.Wait(); err != nil || strings.Contains(said(), "Which one") || strings.Contains(said(), "\x1b") || strings.Count(said(), "First?") != 1 {
		t.Errorf("on SIGINT: %v %q", err, said())
	}
	if out, code := p.placet("inbox", "--watch", "--json"); code != 2 {
		t.Errorf("%d %s", code, out)
	}
}

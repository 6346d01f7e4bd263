package cli_test

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A run is drawn again whenever it changes, in its place on a terminal and below the last
// drawing elsewhere, until Ctrl-C.
func TestGraphWatch(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 0)
	p.plansSession()
	d := p.start()
	p.await(d)
	defer d.stop(syscall.SIGTERM)
	p.until("it starts", 20*time.Second, func() bool { return p.there(plan + "/delegations/schema/iterations/1/prompt.md") })

	s := p.onTerminal(100, "graph", "afl/plan", "--watch")
	s.await("schema")
	pipe := exec.Command(placetBinary(t), "-C", p.root, "graph", "afl/plan", "--watch")
	var out strings.Builder
	pipe.Env, pipe.Stdout, pipe.Stderr = p.env(), &out, &out
	if err := pipe.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(3 * time.Second) // nothing is printed for nothing
	p.hands("schema", 1)
	s.await("✓ schema")
	time.Sleep(2 * time.Second)
	s.keys("\x03")
	if shown, code := s.end(); code != 0 || !strings.Contains(shown, "\x1b[H") {
		t.Errorf("Ctrl-C: %d %s", code, shown)
	}
	if err := pipe.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := pipe.Wait(); err != nil {
		t.Errorf("on SIGINT: %v", err)
	}
	text := out.String()
	if n := strings.Count(text, "afl/plan"); n < 2 || n > 8 || strings.Contains(text, "\x1b") || !strings.Contains(text, "✓ schema") {
		t.Errorf("%d drawings: %s", n, text)
	}
	for _, args := range [][]string{{"graph", "--watch"}, {"graph", "afl", "--watch"}, {"graph", "afl/plan", "--watch", "--json"}} {
		if out, code := p.placet(args...); code != 2 {
			t.Errorf("%q: %d %s", args, code, out)
		}
	}
}

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A run is drawn again whenever it changes, over the last drawing on a terminal and below it
// elsewhere, until Ctrl-C.
func TestGraphWatch(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 0)
	p.plansSession()
	d := p.start()
	p.await(d)
	defer d.stop(syscall.SIGTERM)
	p.until("it starts", func() bool { return p.there(plan + "/delegations/schema/iterations/1/prompt.md") })

	s := p.onTerminal(100, "graph", "afl/plan", "--watch")
	s.await("schema")
	pipe := p.program("-C", p.root, "graph", "afl/plan", "--watch")
	printed, err := os.Create(filepath.Join(t.TempDir(), "printed"))
	if err != nil {
		t.Fatal(err)
	}
	defer printed.Close()
	drawings := func() []string {
		body, err := os.ReadFile(printed.Name())
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(string(body), "\n\nafl/plan")
	}
	pipe.Stdout, pipe.Stderr = printed, printed
	if err := pipe.Start(); err != nil {
		t.Fatal(err)
	}
	p.until("the first drawing is printed", func() bool { return strings.Contains(drawings()[0], "schema") })
	p.hands("schema", 1)
	s.await("✓ schema")
	p.until("it is printed", func() bool {
		all := drawings()
		return strings.Contains(all[len(all)-1], "✓ schema")
	})
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
	all := drawings()
	if len(all) < 2 || strings.Contains(strings.Join(all, ""), "\x1b") {
		t.Errorf("%d drawings: %s", len(all), all)
	}
	for i := 1; i < len(all); i++ {
		if strings.TrimPrefix(all[i-1], "afl/plan") == all[i] {
			t.Errorf("nothing has changed, and it is drawn again: %s", all[i])
		}
	}
	for _, args := range [][]string{{"graph", "--watch"}, {"graph", "afl", "--watch"}, {"graph", "afl/plan", "--watch", "--json"}} {
		if out, code := p.placet(args...); code != 2 {
			t.Errorf("%q: %d %s", args, code, out)
		}
	}
}

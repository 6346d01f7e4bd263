package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Other verbs report a run that the daemon cannot go on with.
func TestHeldUpRunIsExplained(t *testing.T) {
	t.Parallel()
	p := newPlace(t, filepath.Join(t.TempDir(), "w"), 2)
	d := p.start()
	defer d.stop(syscall.SIGTERM)
	p.await(d)
	p.until("the forms are written", p.opened)
	lock, err := os.OpenFile(filepath.Join(p.root, p.runs[0], "state.json.lock"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	p.write(p.request(0)+"/response.json", p.response(0, "approve", "c"))
	const says = "the daemon cannot go on with this run"
	explained := func(i int) bool {
		out, _ := p.placet("explain", filepath.Base(p.runs[i]))
		return strings.Contains(out, says)
	}
	p.until("explain says that the run is held up", func() bool { return explained(0) })
	for _, verb := range []string{"inbox", "status"} {
		if out, code := p.placet(verb); code != 1 || strings.Count(out, says) != 1 {
			t.Errorf("%s (exit %d):\n%s", verb, code, out)
		}
	}
	if explained(1) {
		t.Error("the other run is said to be held up")
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_UN); err != nil {
		t.Fatal(err)
	}
	p.until("the run goes on", func() bool { return p.answered(0) })
	p.until("explain says nothing of it", func() bool { return !explained(0) })
}

package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A file lies where .placet/ belongs, so that the lock cannot be taken: the daemon
// says so once, waits, and goes on by itself once the file is gone.
func TestWatchBeginsAfterTrouble(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 1)
	inTheWay := filepath.Join(p.root, ".placet")
	if err := os.WriteFile(inTheWay, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	d := p.start()
	defer d.stop(syscall.SIGTERM)
	const word = "cannot begin"
	p.until("the daemon says that it cannot begin", 20*time.Second, func() bool { return strings.Contains(d.said(), word) })
	remove(t, inTheWay)
	p.await(d)
	p.until("the form is written", 20*time.Second, p.opened)
	p.write(p.request(0)+"/response.json", p.response(0, "approve", "c"))
	p.until("the run is answered", 20*time.Second, func() bool { return p.answered(0) })
	p.verify(0, "approve")
	for _, word := range []string{word, "cannot lock the workspace"} {
		if n := strings.Count(d.said(), word); n != 1 {
			t.Errorf("said %q %d times:\n%s", word, n, d.said())
		}
	}
}

// What keeps the lock of the workspace from being taken is said once, with its cause.
func TestOnceSaysOnceThatItCannotLock(t *testing.T) {
	for inTheWay, cause := range map[string]string{
		".placet":        "stat .placet/.gitignore: not a directory",
		".placet/lock/x": ".placet/lock is a folder; expected a regular file",
	} {
		p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 1)
		p.write(inTheWay, "x")
		if out := p.must(1, "once"); !strings.HasPrefix(out, fmt.Sprintf("placet: cannot lock the workspace %q: %s", p.root, cause)) {
			t.Errorf("%s: %s", inTheWay, out)
		}
	}
}

// A daemon that waits for its start ends in order when it is told to.
func TestWatchEndsWhileItCannotBegin(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 1)
	if err := os.WriteFile(filepath.Join(p.root, ".placet"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	d := p.start()
	p.until("the daemon says that it cannot begin", 20*time.Second, func() bool { return strings.Contains(d.said(), "cannot begin") })
	d.stop(syscall.SIGTERM)
	if code := d.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("ended with %d: %s", code, d.said())
	}
}

// A daemon that may not open files enough to read its configuration waits; a
// configuration that is wrong ends it.
func TestWatchWaitsForItsConfiguration(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 1)
	p.write("placet.toml", "language = \"en\"\n")
	d := p.start("sh", "-c", `ulimit -n 8 && exec "$@"`, "sh")
	p.until("the daemon says that it cannot begin", 20*time.Second, func() bool {
		return strings.Contains(d.said(), "cannot begin") && strings.Contains(d.said(), "too many open files")
	})
	d.stop(syscall.SIGTERM)
	if code := d.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("ended with %d: %s", code, d.said())
	}
	p.write("placet.toml", "language = 7\n")
	if out, code := p.placet("watch"); code != 2 {
		t.Errorf("a wrong configuration ends with %d: %s", code, out)
	}
}

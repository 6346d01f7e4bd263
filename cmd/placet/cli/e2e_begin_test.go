package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A file is in the place of .placet/, so that the lock cannot be taken: the daemon says so
// once, waits, and goes on by itself once the file is gone.
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
	p.until("the daemon says that it cannot begin", func() bool { return strings.Contains(d.said(), word) })
	remove(t, inTheWay)
	p.await(d)
	p.until("the form is written", p.opened)
	p.write(p.request(0)+"/response.json", p.response(0, "approve", "c"))
	p.until("the run is answered", func() bool { return p.answered(0) })
	p.verify(0, "approve")
	for _, word := range []string{word, "cannot lock the workspace"} {
		if n := strings.Count(d.said(), word); n != 1 {
			t.Errorf("said %q %d times:\n%s", word, n, d.said())
		}
	}
}

// The reason why the lock of the workspace cannot be taken is printed once, with its cause.
func TestOnceSaysOnceThatItCannotLock(t *testing.T) {
	t.Parallel()
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

// A daemon that waits for its start ends in good order after a signal.
func TestWatchEndsWhileItCannotBegin(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 1)
	if err := os.WriteFile(filepath.Join(p.root, ".placet"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	d := p.start()
	p.until("the daemon says that it cannot begin", func() bool { return strings.Contains(d.said(), "cannot begin") })
	d.stop(syscall.SIGTERM)
	if code := d.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("ended with %d: %s", code, d.said())
	}
}

// A daemon that may not open enough files to read its configuration waits; a wrong
// configuration ends it.
func TestWatchWaitsForItsConfiguration(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 1)
	p.write("placet.toml", "language = \"en\"\n")
	d := p.start(withFiles(8)...)
	p.until("the daemon says that it cannot begin", func() bool {
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

// The disk of the workspace or of the state folder refuses all writes from the first call on:
// the daemon says so, decides nothing, and goes on by itself once it can write.
func TestWatchBeginsOnAScarceDisk(t *testing.T) {
	t.Parallel()
	for _, s := range scarcities {
		t.Run(s.name+", workspace", func(t *testing.T) {
			t.Parallel()
			root := filepath.Join(t.TempDir(), "w")
			mountTmpfs(t, root, s.options)
			s.beginsOn(newPlace(t, root, 1), root)
		})
		t.Run(s.name+", state folder", func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, t.TempDir(), 1)
			mountTmpfs(t, p.stateHome(), s.options)
			s.beginsOn(p, p.stateHome())
		})
	}
}

// beginsOn starts a daemon of one run while the disk at dir is scarce.
func (s scarcity) beginsOn(p *place, dir string) {
	p.t.Helper()
	end := s.bring(p.t, dir)
	d := p.start()
	defer d.stop(syscall.SIGTERM)
	word := ": " + s.word
	p.until("the daemon says that it cannot write", func() bool { return strings.Contains(d.said(), word) || p.opened() })
	if p.opened() {
		p.t.Errorf("a form is written: %s", d.said())
	}
	end()
	p.await(d)
	p.until("the form is written: "+d.said(), p.opened)
	p.write(p.request(0)+"/response.json", p.response(0, "approve", "c"))
	p.until("the run is answered", func() bool { return p.answered(0) })
	p.verify(0, "approve")
	if records, _ := filepath.Glob(filepath.Join(p.stateHome(), "placet", "workspaces", "*", "issued", "*", "*")); len(records) != 1 {
		p.t.Errorf("records of what was written: %q", records)
	}
	if n := strings.Count(d.said(), word); n > 2 {
		p.t.Errorf("said %d times:\n%s", n, d.said())
	}
}

// The process may open fewer files than a start needs, whichever of its steps lacks them: the
// daemon waits, and ends in good order after a signal. With fewer than 8, Go's runtime ends the
// process before placet runs.
func TestWatchWaitsForFiles(t *testing.T) {
	t.Parallel()
	for n := 8; n <= 16; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, t.TempDir(), 1)
			d := p.launch(nil, append(withFiles(n), placetBinary(t), "-C", p.root, "watch", "--metrics", "localhost:0"))
			p.until("the daemon waits or serves", func() bool {
				return strings.Contains(d.said(), "cannot begin") || strings.Contains(d.said(), "placet: watching") || d.isOver()
			})
			d.stop(syscall.SIGTERM)
			if code := d.cmd.ProcessState.ExitCode(); code != 0 {
				t.Errorf("ended with %d: %s", code, d.said())
			}
		})
	}
}

package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"placet/internal/badinput"
)

// spoil replaces a good file by a kind of bad one.
func spoil(k badinput.Kind, name string, g badinput.Good) error {
	if err := os.RemoveAll(name); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	switch {
	case k.Missing:
		return nil
	case k.Copy:
		return os.WriteFile(strings.TrimSuffix(name, ".json")+".sync-conflict-20261120-120000-ABCDEFG.json", []byte(g.Body), 0o644)
	case k.Closed:
		return os.WriteFile(name, []byte("{"), 0o000)
	case k.Odd == 0:
		if bad, ok := k.Spoil(g); ok {
			return os.WriteFile(name, []byte(bad), 0o644)
		}
		return nil
	case k.Odd.IsDir():
		return os.Mkdir(name, 0o755)
	case k.Odd&os.ModeNamedPipe != 0:
		return syscall.Mkfifo(name, 0o644)
	case k.Odd&os.ModeTemporary != 0:
		return os.Symlink(filepath.Base(name), name)
	}
	return os.Symlink("/etc/passwd", name)
}

// memory returns the numbers of /proc about a process's memory, in KiB.
func (d *daemon) memory(t *testing.T, what string) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.cmd.Process.Pid))
	if err != nil {
		t.Skipf("memory cannot be told here: %v", err)
	}
	m := regexp.MustCompile(what + `:\s+(\d+) kB`).FindStringSubmatch(string(status))
	if m == nil {
		t.Skipf("memory cannot be told here: no %s", what)
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

// feed puts every kind of bad file into the places of one run after another, until it is
// stopped. It returns what it could not do.
func (p *place) feed(runs []int, stop <-chan struct{}) error {
	for round := 0; ; round++ {
		for _, k := range badinput.Kinds {
			for _, i := range runs {
				select {
				case <-stop:
					return nil
				default:
				}
				answer := badinput.Good{Body: p.response(i, "approve", ""), Required: "response", Text: "response", Word: "response", ID: "request_id"}
				cancel := badinput.Good{Body: `{"by": "x", "reason": "y"}`, Required: "by", Text: "by"}
				for _, f := range []struct {
					name string
					good badinput.Good
				}{
					{p.request(i) + "/response.json", answer}, {p.runs[i] + "/cancel.json", cancel}, {p.runs[i] + "/events/099-x.json", cancel},
					{p.runs[i] + "/metadata.json", cancel}, {".fractary/faber/workflows/none.json", cancel}, {fmt.Sprintf("%s/junk-%d.json", p.runs[i], round), answer},
				} {
					if goodAfterAll(k, f.name) {
						continue
					}
					if err := spoil(k, filepath.Join(p.root, f.name), f.good); err != nil {
						return err
					}
				}
			}
		}
	}
}

// goodAfterAll reports whether a kind only looks bad, and would count.
func goodAfterAll(k badinput.Kind, name string) bool {
	counts := strings.HasSuffix(name, "response.json") || strings.HasSuffix(name, "cancel.json")
	return counts && slices.Contains([]string{"CRLF", "doubly encoded UTF-8", "sync-conflict copy"}, k.Name)
}

// R13: while a workspace gets every kind of bad file, good answers are accepted, nothing bad
// is, and the daemon stays small.
func TestTortureGoodAnswersAmongHostileFiles(t *testing.T) {
	t.Parallel()
	const fed = 4
	good := tortured(6, 24)
	p := newPlace(t, t.TempDir(), fed+good)
	d := p.start()
	defer d.stop(syscall.SIGTERM)
	p.await(d)
	p.until("all forms are written", p.opened)
	before := make([]string, fed)
	for i := range fed {
		before[i] = p.read(p.runs[i] + "/state.json")
	}
	base := d.memory(t, "VmRSS")
	stop, over := make(chan struct{}), make(chan error, 1)
	go func() { over <- p.feed([]int{0, 1, 2, 3}, stop) }()
	for i := fed; i < fed+good; i++ {
		if err := replaced("NAME.tmp")(filepath.Join(p.root, p.request(i), "response.json"), p.response(i, "approve", "c")); err != nil {
			t.Fatal(err)
		}
		p.until("a good answer is taken: "+d.said(), func() bool { return p.answered(i) })
	}
	close(stop)
	if err := <-over; err != nil {
		t.Fatal(err)
	}
	t.Logf("%d good answers; resident %d KiB before, %d after, %d at most", good, base, d.memory(t, "VmRSS"), d.memory(t, "VmHWM"))
	p.until("the daemon is small again", func() bool { return d.memory(t, "VmRSS") <= base+badinput.MostMemory>>10 })
	for i := fed; i < fed+good; i++ {
		p.verify(i, "approve")
	}
	for i := range fed {
		if now := p.read(p.runs[i] + "/state.json"); now != before[i] {
			t.Errorf("run %d moved:\n%s", i, now)
		}
		p.mend(i)
	}
	for i := range fed {
		p.until("mended, the run goes on: "+d.said(), func() bool { return p.answered(i) })
	}
}

// mend removes the bad files of a run, and answers it.
func (p *place) mend(i int) {
	p.t.Helper()
	junk, _ := filepath.Glob(filepath.Join(p.root, p.runs[i], "junk-*"))
	copies, _ := filepath.Glob(filepath.Join(p.root, p.request(i), "*sync-conflict*"))
	for _, name := range append(append(junk, copies...), filepath.Join(p.root, p.runs[i], "cancel.json"), filepath.Join(p.root, p.runs[i], "events/099-x.json"), filepath.Join(p.root, p.request(i), "response.json")) {
		if err := os.RemoveAll(name); err != nil {
			p.t.Fatal(err)
		}
	}
	if err := replaced("NAME.tmp")(filepath.Join(p.root, p.request(i), "response.json"), p.response(i, "approve", "c")); err != nil {
		p.t.Fatal(err)
	}
}

package cli_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"
)

// powered is a workspace on an ext4 file system of its own, in an image behind a
// loop device, whose power can be cut.
type powered struct {
	*place
	image, dir string
	loop       string

	mu        sync.Mutex
	published map[string]int // run → how often the daemon said that it was decided
}

// newPowered makes the file system, or skips the test if that is not possible.
func newPowered(t *testing.T, runs int) *powered {
	t.Helper()
	if os.Getuid() != 0 || runtime.GOOS != "linux" {
		t.Skip("a power cut needs root on Linux: an ext4 image on a loop device")
	}
	for _, tool := range []string{"mkfs.ext4", "losetup", "mount", "e2fsck"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("a power cut needs %s (e2fsprogs, util-linux): %v", tool, err)
		}
	}
	top := t.TempDir()
	p := &powered{image: filepath.Join(top, "image"), dir: filepath.Join(top, "disk"), published: map[string]int{}}
	p.place = &place{t: t, root: filepath.Join(p.dir, "workspace")}
	mustRun(t, "truncate", "-s", "64M", p.image)
	mustRun(t, "mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", p.image)
	if err := os.Mkdir(p.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.release(detach) })
	p.mount()
	p.place = newPlace(t, p.root, runs)
	mustRun(t, "sync", "-f", p.dir) // earlier writes of others are not at stake
	return p
}

func mustRun(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v: %s", name, args, err, out)
	}
}

// mount mounts the image, which replays the journal.
func (p *powered) mount() {
	t := p.place.t
	t.Helper()
	out, err := exec.Command("losetup", "-f", "--show", p.image).CombinedOutput()
	if err != nil {
		t.Skipf("no loop device can be had: %s", out)
	}
	p.loop = strings.TrimSpace(string(out))
	if out, err := exec.Command("mount", "-t", "ext4", p.loop, p.dir).CombinedOutput(); err != nil {
		t.Fatalf("the file system cannot be mounted: %s", out)
	}
}

func (p *powered) unmount() {
	p.until("nobody looks at the file system", func() bool { return p.release(0) != syscall.EBUSY })
}

// release unmounts the image, and frees its device.
func (p *powered) release(how int) error {
	if err := syscall.Unmount(p.dir, how); err == syscall.EBUSY {
		return err
	}
	if p.loop != "" {
		_ = exec.Command("losetup", "-d", p.loop).Run()
		p.loop = ""
	}
	return nil
}

// cut ends the file system as a power cut does: everything that is not on the disk is lost, the
// journal as well.
func (p *powered) cut() {
	t := p.place.t
	t.Helper()
	f, err := os.Open(p.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const shutdown, withoutLog = 0x8004587d, 2 // EXT4_IOC_SHUTDOWN, EXT4_GOING_FLAGS_NOLOGFLUSH
	flags := uint32(withoutLog)
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), shutdown, uintptr(unsafe.Pointer(&flags))); errno != 0 {
		t.Skipf("this kernel cannot shut an ext4 file system down: %v", errno)
	}
}

// serve starts a daemon, and records every decision that it publishes.
func (p *powered) serve() *daemon {
	p.place.t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		p.place.t.Fatal(err)
	}
	d := p.startTo(w)
	w.Close()
	go func() {
		for lines := bufio.NewScanner(r); lines.Scan(); {
			if text := lines.Text(); strings.Contains(text, "awaiting_feedback → ") && !strings.Contains(text, "request_opened") {
				p.mu.Lock()
				p.published[runOf(text)]++
				p.mu.Unlock()
			}
		}
		r.Close()
	}()
	return d
}

// runOf returns the run of a printed transition: "15:04:05 faber/acme/web/00001eef  …".
func runOf(text string) string {
	return filepath.Base(strings.Fields(text)[1])
}

func (p *powered) has(i int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.published[filepath.Base(p.runs[i])[:8]] > 0
}

// The power fails while runs are answered: every decision that placet has published is there
// when it is back, no file is unreadable, and placet goes on.
func TestTorturePowerCut(t *testing.T) {
	t.Parallel()
	cuts := tortured(1, 50)
	p := newPowered(t, 8*cuts)
	want := make([]string, len(p.runs))
	kept := 0
	for c := range cuts {
		runs := upTo(len(p.runs))[8*c : 8*c+8]
		d := p.serve()
		p.await(d)
		for _, i := range runs {
			p.until("the form is written", func() bool { return p.state(i).Revision > 0 && p.read(p.request(i)+"/form.md") != "" })
		}
		for _, i := range runs {
			want[i] = answer(t, p.place, i)
		}
		// The cut comes after some of them, at another moment each time.
		p.until("some are decided", func() bool { return p.has(runs[c%8]) })
		p.cut()
		told := p.told(runs)
		d.stop(syscall.SIGKILL)
		p.unmount()
		p.mount()
		kept += p.survived(told, want)
		p.answerAgain(runs, want)
	}
	d := p.serve()
	p.decided(upTo(len(p.runs)))
	d.stop(syscall.SIGTERM)
	for i := range p.runs {
		p.verify(i, want[i])
	}
	p.unmount()
	mustRun(t, "e2fsck", "-f", "-n", p.image)
	t.Logf("%d power cuts; %d decisions that had been published before were all there", cuts, kept)
}

// told returns the runs that the daemon has published as decided.
func (p *powered) told(runs []int) (told []int) {
	for _, i := range runs {
		if p.has(i) {
			told = append(told, i)
		}
	}
	return told
}

// survived checks the files after the power is back.
func (p *powered) survived(told []int, want []string) int {
	t := p.place.t
	t.Helper()
	for _, i := range told {
		if st := p.state(i); len(st.History) != 1 || st.History[0].Response != want[i] {
			t.Errorf("run %d: a published decision is lost: %+v", i, st)
		}
		if r := p.read(p.request(i) + "/receipt.json"); !strings.Contains(r, `"result": "accepted"`) {
			t.Errorf("run %d: its receipt is %q", i, r)
		}
	}
	for i := range p.runs {
		for _, name := range []string{p.runs[i] + "/state.json", p.request(i) + "/request.json", p.request(i) + "/receipt.json"} {
			if body, err := os.ReadFile(filepath.Join(p.root, name)); err == nil && !strings.HasSuffix(strings.TrimSpace(string(body)), "}") || err != nil && !os.IsNotExist(err) {
				t.Errorf("unreadable after a power cut: %s: %v: %q", name, err, body)
			}
		}
	}
	return len(told)
}

// answerAgain repeats the answers that were lost with the power: those of the reviewers, whose
// editors did not make them durable.
func (p *powered) answerAgain(runs []int, want []string) {
	for _, i := range runs {
		if p.answered(i) {
			continue
		}
		name, body := p.request(i)+"/response.json", p.response(i, want[i], "c")
		if err := replaced("NAME.tmp")(filepath.Join(p.root, name), body); err != nil {
			p.place.t.Error(fmt.Errorf("cannot answer again: %w", err))
		}
		_ = os.Remove(filepath.Join(p.root, p.request(i), "form.md")) // it may be ticked or empty
	}
}

// The power fails once an answer is printed that is given out once: it is used up when the
// power is back. No later write makes the use durable, because there is no count.
func TestPowerCutBehindAUse(t *testing.T) {
	t.Parallel()
	p := newPowered(t, 0)
	p.write("placet.toml", "")
	for _, args := range [][]string{{"ask", "Deploy?", "--type", "approval", "--key", "k"}, {"wait", keyed}} {
		if args[0] == "wait" {
			p.choose(keyed, "approve")
		}
		mustBe(t, p.place, 0, args...)
	}
	p.write(".asks/"+keyed+"/reuse.json", "{")
	mustRun(t, "sync", "-f", p.dir)
	mustBe(t, p.place, 0, "ask", "Deploy?", "--type", "approval", "--key", "k", "--once", "--wait")
	p.cut()
	p.unmount()
	p.mount()
	if found, _ := filepath.Glob(filepath.Join(p.stateHome(), "placet/workspaces/*/permits/"+keyed+"/1")); len(found) != 1 || !strings.HasSuffix(p.readFile(found[0]), "}\n") {
		t.Errorf("the use is lost: %q", found)
	}
	mustBe(t, p.place, 7, "ask", "Deploy?", "--type", "approval", "--key", "k", "--once", "--wait")
	p.unmount()
}

// mustBe runs placet in a process of its own, which keeps nothing open.
func mustBe(t *testing.T, p *place, code int, args ...string) {
	t.Helper()
	if out, got := p.placetWith(nil, args...); got != code {
		t.Fatalf("%q ends with %d: %s", args, got, out)
	}
}

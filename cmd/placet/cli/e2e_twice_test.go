package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The second of two daemons refuses to start, and says why. When the first is killed, the next
// one takes over at once.
func TestTortureSecondDaemonRefusesAndTakesOver(t *testing.T) {
	t.Parallel()
	rounds := tortured(2, 20)
	p := newPlace(t, t.TempDir(), rounds+1)
	want := make([]string, len(p.runs))
	d := p.start()
	p.await(d)
	p.until("all forms are written", p.opened)
	for r := range rounds {
		out, code := p.placet("watch")
		if code != 1 || !strings.Contains(out, "another placet serves it already") {
			t.Fatalf("the second daemon ended with %d: %s", code, out)
		}
		d.stop(syscall.SIGKILL)
		want[r] = answer(t, p, r)
		d = p.start()
		p.decided([]int{r})
		p.await(d)
	}
	want[rounds] = answer(t, p, rounds)
	p.decided([]int{rounds})
	d.stop(syscall.SIGTERM)
	for i := range p.runs {
		p.verify(i, want[i])
	}
}

// A program that cleans the folder, such as git clean, removes the lock file: the daemon takes
// the lock again, a second one is still refused, and answers go on counting.
func TestALockThatIsRemovedIsTakenAnew(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 1)
	d := p.start()
	defer d.stop(syscall.SIGTERM)
	p.await(d)
	p.until("the form is written", p.opened)
	if err := os.RemoveAll(filepath.Join(p.root, ".placet")); err != nil {
		t.Fatal(err)
	}
	p.until("the lock is taken anew", func() bool { return strings.Contains(d.said(), "it is taken anew") })
	if out, code := p.placet("watch"); code != 1 || !strings.Contains(out, "another placet serves it already") {
		t.Errorf("a second daemon ends with %d: %s", code, out)
	}
	if out, _ := p.placet("status"); strings.Contains(out, "no daemon runs here") {
		t.Errorf("status says:\n%s", out)
	}
	if ignored := p.read(".placet/.gitignore"); ignored != "*\n" {
		t.Errorf(".placet/.gitignore is %q", ignored)
	}
	p.write(p.request(0)+"/response.json", p.response(0, "approve", ""))
	p.until("the run is answered", func() bool { return p.answered(0) })
	p.verify(0, "approve")
}

// If a second daemon has begun by that time, the first one ends and says why.
func TestADaemonThatLostItsLockEnds(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 1)
	first := p.start()
	p.await(first)
	lock := filepath.Join(p.root, ".placet/lock")
	first.freeze(t)
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	second := p.start()
	defer second.stop(syscall.SIGTERM)
	p.await(second)
	first.thaw(t)
	p.until("the first one ends", func() bool { return strings.Contains(first.said(), "another placet serves") })
	if err := first.cmd.Wait(); first.cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("the first one ends with %v: %s", err, first.said())
	}
}

// A link in the place of .placet leads to the lock of another workspace: no daemon serves this
// one.
func TestTheLockBehindALinkIsNobodys(t *testing.T) {
	t.Parallel()
	other, p := newPlace(t, t.TempDir(), 1), newPlace(t, t.TempDir(), 1)
	d := other.start()
	defer d.stop(syscall.SIGTERM)
	other.await(d)
	if err := os.Symlink(filepath.Join(other.root, ".placet"), filepath.Join(p.root, ".placet")); err != nil {
		t.Fatal(err)
	}
	if out, _ := p.placet("status"); !strings.Contains(out, "no daemon runs here") {
		t.Errorf("status says:\n%s", out)
	}
}

// Two daemons that do not know of each other, because the file system has no flock, do no harm:
// each answer counts once. One of them is killed now and then.
func TestTortureTwoDaemonsSideBySide(t *testing.T) {
	t.Parallel()
	sideBySide(t, newPlace(t, t.TempDir(), tortured(11, 100)))
}

// noFlock runs a program as on a file system without flock.
var noFlock = []string{"strace", "-f", "-qq", "-o", "/dev/null", "--seccomp-bpf", "-e", "trace=flock", "-e", "inject=flock:error=EOPNOTSUPP"}

func sideBySide(t *testing.T, p *place) {
	if out, err := exec.Command(noFlock[0], append(noFlock[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("no program can be run without flock here: %v: %s", err, out)
	}
	start := func() *daemon {
		d := p.start(noFlock...)
		p.await(d)
		return d
	}
	two := []*daemon{start(), start()}
	p.until("all forms are written", p.opened)
	want := make([]string, len(p.runs))
	for i := range p.runs {
		want[i] = answer(t, p, i)
		if i%10 == 9 {
			two[i/10%2].end(t)
			two[i/10%2] = start()
		}
	}
	p.decided(upTo(len(p.runs)))
	for _, d := range two {
		if said := d.said(); strings.Contains(said, "a bug") {
			t.Errorf("said: %s", said)
		}
		d.end(t)
	}
	p.placet("once") // all possible passes are made
	for i := range p.runs {
		p.verify(i, want[i])
	}
}

// end kills the daemon, and also the program that wraps it.
func (d *daemon) end(t *testing.T) {
	t.Helper()
	children, err := os.ReadFile("/proc/" + pidOf(d) + "/task/" + pidOf(d) + "/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, child := range strings.Fields(string(children)) {
		_ = syscall.Kill(atoi(t, child), syscall.SIGKILL)
	}
	d.stop(syscall.SIGKILL)
}

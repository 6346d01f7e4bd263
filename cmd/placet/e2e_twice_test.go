package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Of two daemons the second refuses, with a word that says why; when the first
// is killed, the next one takes over at once.
func TestTortureSecondDaemonRefusesAndTakesOver(t *testing.T) {
	t.Parallel()
	rounds := tortured(3, 20)
	p := newPlace(t, t.TempDir(), rounds+1)
	want := make([]string, len(p.runs))
	d := p.start()
	p.await(d)
	p.until("all forms are written", 20*time.Second, p.opened)
	for r := range rounds {
		out, code := p.placet("watch")
		if code != 1 || !strings.Contains(out, "another placet serves it already") {
			t.Fatalf("the second daemon ended with %d: %s", code, out)
		}
		d.stop(syscall.SIGKILL)
		want[r] = answer(t, p, r)
		killed := time.Now()
		d = p.start()
		took := p.decided(d, []int{r}, killed, 20*time.Second)
		p.atMost("an answer, from the death of the first daemon", took, time.Second, 20*time.Second)
		p.await(d)
	}
	want[rounds] = answer(t, p, rounds)
	p.decided(d, []int{rounds}, time.Now(), 20*time.Second)
	d.stop(syscall.SIGTERM)
	for i := range p.runs {
		p.verify(i, want[i])
	}
}

// Two daemons that do not know of each other, because somebody removed the lock
// file, or because the file system has no flock, do no harm: each answer counts
// once. One of them is killed now and then.
func TestTortureTwoDaemonsSideBySide(t *testing.T) {
	t.Parallel()
	for name, alone := range map[string]func(p *place) (wrap []string){
		"lock file removed": func(p *place) []string {
			if err := os.Remove(filepath.Join(p.root, ".placet/lock")); err != nil && !os.IsNotExist(err) {
				t.Error(err)
			}
			return nil
		},
		"no flock": func(*place) []string { return noFlock },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sideBySide(t, newPlace(t, t.TempDir(), tortured(20, 100)), alone)
		})
	}
}

// noFlock runs a program as on a file system without flock.
var noFlock = []string{"strace", "-f", "-qq", "-o", "/dev/null", "--seccomp-bpf", "-e", "trace=flock", "-e", "inject=flock:error=EOPNOTSUPP"}

func sideBySide(t *testing.T, p *place, alone func(*place) []string) {
	wrap := alone(p)
	if len(wrap) > 0 {
		if out, err := exec.Command(wrap[0], append(wrap[1:], "true")...).CombinedOutput(); err != nil {
			t.Skipf("no program can be run without flock here: %v: %s", err, out)
		}
	}
	start := func() *daemon {
		alone(p)
		d := p.start(wrap...)
		p.await(d)
		return d
	}
	two := []*daemon{start(), start()}
	p.until("all forms are written", 30*time.Second, p.opened)
	want := make([]string, len(p.runs))
	for i := range p.runs {
		want[i] = answer(t, p, i)
		if i%10 == 9 {
			two[i/10%2].end(t)
			two[i/10%2] = start()
		}
	}
	p.decided(two[0], upTo(len(p.runs)), time.Now(), time.Minute)
	for _, d := range two {
		p.rests(d)
	}
	for i := range p.runs {
		p.verify(i, want[i])
	}
	for _, d := range two {
		if said := d.said(); strings.Contains(said, "a bug") {
			t.Errorf("said: %s", said)
		}
		d.end(t)
	}
}

// end kills the daemon, and not only what it was wrapped in.
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

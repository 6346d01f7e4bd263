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

// tmpfs mounts a small file system, or skips where that is not allowed.
func tmpfs(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if os.Getuid() != 0 {
		t.Skip("a small file system can be mounted by root alone")
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", options, "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("cannot mount a tmpfs here: %s", out)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	root := filepath.Join(dir, "w")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	return root
}

// A full disk: said, nothing damaged, and the run goes on once there is room.
func TestFullDiskRecovers(t *testing.T) {
	root := tmpfs(t, "size=2m")
	p := newPlace(t, root, 3)
	d := p.start()
	defer d.stop(15)
	p.await(d)
	p.until("all forms are written", 20*time.Second, p.opened)
	p.write(p.request(0)+"/response.json", p.response(0, "approve", "c"))
	p.until("the first is answered", 10*time.Second, func() bool { return p.answered(0) })
	before := p.read(p.runs[1] + "/state.json")
	_ = d.cmd.Process.Signal(syscall.SIGSTOP)
	p.write(p.request(1)+"/response.json", p.response(1, "approve", "c"))
	filler := fill(t, filepath.Join(filepath.Dir(root), "filler"))
	_ = d.cmd.Process.Signal(syscall.SIGCONT)
	p.until("the daemon says that the disk is full", 15*time.Second, func() bool { return strings.Contains(d.said(), "no space left") })
	if got := p.read(p.runs[1] + "/state.json"); got != before {
		t.Errorf("state.json changed on a full disk:\n%s", got)
	}
	if n := strings.Count(d.said(), "no space left"); n > 5 {
		t.Errorf("said %d times", n)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	p.until("the second is answered", 70*time.Second, func() bool { return p.answered(1) })
	p.verify(1, "approve")
}

// fill writes a file until the file system is full.
func fill(t *testing.T, name string) string {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 4096)
	for {
		if _, err := f.Write(block); err != nil {
			return name
		}
	}
}

// A read-only file system: said, and the run goes on once it is writable.
func TestReadOnlyRecovers(t *testing.T) {
	root := tmpfs(t, "size=8m")
	p := newPlace(t, root, 2)
	d := p.start()
	p.await(d)
	p.until("all forms are written", 20*time.Second, p.opened)
	d.stop(syscall.SIGTERM)
	p.write(p.request(0)+"/response.json", p.response(0, "approve", "c"))
	remount := func(mode string) {
		t.Helper()
		if out, err := exec.Command("mount", "-o", "remount,"+mode, filepath.Dir(root)).CombinedOutput(); err != nil {
			t.Skipf("cannot remount: %s", out)
		}
	}
	remount("ro")
	d = p.start()
	defer d.stop(syscall.SIGTERM)
	p.until("the daemon says that it cannot write", 15*time.Second, func() bool { return strings.Contains(d.said(), "read-only") })
	remount("rw")
	p.until("the run is answered", 70*time.Second, func() bool { return p.answered(0) })
	p.verify(0, "approve")
}

// 32 file descriptors are enough for 60 runs.
func TestFewDescriptors(t *testing.T) {
	p := newPlace(t, t.TempDir(), 60)
	d := p.start("sh", "-c", `ulimit -n 32; exec "$@"`, "sh")
	defer d.stop(15)
	p.await(d)
	p.until("all forms are written", 30*time.Second, p.opened)
	for i := range p.runs {
		p.write(p.request(i)+"/response.json", p.response(i, "approve", "c"))
	}
	for i := range p.runs {
		p.until("every run is answered: "+d.said(), 30*time.Second, func() bool { return p.answered(i) })
		p.verify(i, "approve")
	}
}

// Without any inotify instance the runs are scanned, and status says so.
func TestNoInotify(t *testing.T) {
	wrap := []string{"unshare", "-Ur", "sh", "-c", `echo 0 > /proc/sys/user/max_inotify_instances && exec "$@"`, "sh"}
	if out, err := exec.Command(wrap[0], append(wrap[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("a user namespace without inotify cannot be made here: %s", out)
	}
	p := newPlace(t, t.TempDir(), 3)
	d := p.start(wrap...)
	defer d.stop(15)
	p.await(d)
	p.until("all forms are written", 20*time.Second, p.opened)
	p.write(p.request(1)+"/response.json", p.response(1, "approve", "c"))
	p.until("the run is answered", 5*time.Second, func() bool { return p.answered(1) })
	p.verify(1, "approve")
	if !strings.Contains(d.said(), "inotify") {
		t.Errorf("the daemon does not say that it gets no events: %s", d.said())
	}
}

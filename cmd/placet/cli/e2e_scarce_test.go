package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"placet/internal/await"
)

// tmpfs mounts a small file system, or skips the test if that is not allowed.
func tmpfs(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	mountTmpfs(t, dir, options)
	root := filepath.Join(dir, "w")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	return root
}

// mountTmpfs mounts a small file system at a folder, which it makes.
func mountTmpfs(t *testing.T, dir, options string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("a small file system can be mounted by root alone")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", options, "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("cannot mount a tmpfs here: %s", out)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, detach) })
}

// scarcity is something that a file system runs out of, with the means to cause and to end
// that.
type scarcity struct {
	name, options string
	word          string // of the daemon's complaint
	// bring makes the file system at dir scarce and returns what ends it.
	bring func(t *testing.T, dir string) (end func())
}

var scarcities = []scarcity{
	{"full disk", "size=2m", "no space left", func(t *testing.T, dir string) func() {
		filler := fill(t, filepath.Join(dir, "filler"))
		return func() { remove(t, filler) }
	}},
	{"out of inodes", "size=16m,nr_inodes=400", "no space left", func(t *testing.T, dir string) func() {
		names := fillInodes(t, filepath.Join(dir, "filler"))
		return func() {
			for _, name := range names {
				remove(t, name)
			}
		}
	}},
	{"remounted read-only", "size=8m", "read-only", func(t *testing.T, dir string) func() {
		remount(t, dir, "ro")
		return func() { remount(t, dir, "rw") }
	}},
}

// On a file system that refuses all writes, the daemon says so, damages nothing, and goes on
// with the runs once it can write.
func TestTortureScarceDiskRecovers(t *testing.T) {
	t.Parallel()
	for _, s := range scarcities {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.torture(t, tortured(1, 4))
		})
	}
}

func (s scarcity) torture(t *testing.T, rounds int) {
	root := tmpfs(t, s.options)
	// The daemon's own lock is always open for writing, and a file system with such a file
	// cannot be made read-only.
	mountTmpfs(t, filepath.Join(root, ".placet"), "size=1m")
	p := newPlace(t, root, 1+2*rounds)
	d := p.start()
	defer d.stop(syscall.SIGTERM)
	p.await(d)
	p.until("all forms are written", p.opened)
	p.write(p.request(0)+"/response.json", p.response(0, "approve", "c"))
	p.until("the first is answered", func() bool { return p.answered(0) })
	for r := range rounds {
		s.round(p, d, 1+2*r, 2+2*r, time.Duration(r)*time.Second)
	}
	p.until("temporary files are gone", func() bool {
		p.placet("once")
		return len(temporaries(t, p.root)) == 0
	})
}

// round answers two runs while the file system is scarce, one by response, one by form. The
// longer that lasts, the more seldom the daemon tries.
func (s scarcity) round(p *place, d *daemon, response, form int, lasts time.Duration) {
	t := p.t
	t.Helper()
	p.until("the daemon has cleaned up, and says that it goes on: what has not ended is not said again", func() bool {
		return len(temporaries(t, p.root)) == 0 && strings.LastIndex(d.said(), "going on  over: ") >= strings.LastIndex(d.said(), "trying again later")
	})
	said := strings.Count(d.said(), s.word)
	before := [2]string{p.read(p.runs[response] + "/state.json"), p.read(p.runs[form] + "/state.json")}
	d.freezeBetweenFiles(t, p.root)
	p.write(p.request(response)+"/response.json", p.response(response, "approve", "c"))
	p.write(p.request(form)+"/form.md", p.ticked(form, "reject"))
	end := s.bring(t, filepath.Dir(p.root))
	d.thaw(t)
	p.until("the daemon says that it cannot write: "+d.said(), func() bool { return strings.Count(d.said(), s.word) > said })
	after := [2]string{p.read(p.runs[response] + "/state.json"), p.read(p.runs[form] + "/state.json")}
	if after != before {
		t.Errorf("a state changed although nothing can be written:\n%s", after)
	}
	if n := strings.Count(d.said(), s.word) - said; n > 5 {
		t.Errorf("said %d times:\n%s", n, d.said())
	}
	jitter(lasts)
	end()
	p.decided([]int{response, form})
	p.verify(response, "approve")
	p.verify(form, "reject")
}

// freezeBetweenFiles stops the daemon while it has no file below root open: a file system on
// which a file is being written cannot be made read-only, and a stopped daemon never closes it.
func (d *daemon) freezeBetweenFiles(t *testing.T, root string) {
	t.Helper()
	await.Until(t, "the daemon is stopped with no file open", func() bool {
		d.freeze(t)
		if !d.hasOpen(t, root) {
			return true
		}
		d.thaw(t)
		return false
	})
}

// hasOpen reports whether the daemon has a file below root open, its own folder aside.
func (d *daemon) hasOpen(t *testing.T, root string) bool {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d/fd", d.cmd.Process.Pid)
	fds, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		link := filepath.Join(dir, fd.Name())
		name, err := os.Readlink(link)
		if err != nil || !strings.HasPrefix(name, root+"/") || strings.HasPrefix(name, root+"/.placet/") {
			continue
		}
		if info, err := os.Stat(link); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	return false
}

// The disk is full now and then, for a moment, in the middle of work.
func TestTortureDiskFullNowAndThen(t *testing.T) {
	t.Parallel()
	p := newPlace(t, tmpfs(t, "size=8m"), tortured(6, 150))
	d := p.start()
	defer d.stop(syscall.SIGTERM)
	p.await(d)
	p.until("all forms are written", p.opened)
	var full atomic.Int64
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			filler := fill(t, filepath.Join(filepath.Dir(p.root), "filler"))
			times := full.Add(1)
			jitter(time.Duration(times%7) * 10 * time.Millisecond)
			remove(t, filler)
			select {
			case <-over:
				return
			default:
			}
			jitter(time.Duration(times%5) * 10 * time.Millisecond)
		}
	}()
	want := make([]string, len(p.runs))
	for i := range p.runs {
		p.until("there is room for an answer", func() (saved bool) {
			want[i], saved = p.tryAnswer(i)
			return saved
		})
		if i%3 == 0 {
			now := full.Load()
			p.until("the disk is full once more", func() bool { return full.Load() > now })
		}
	}
	close(over)
	<-done
	p.decided(upTo(len(p.runs)))
	t.Logf("the disk was full %d times", full.Load())
	for i := range p.runs {
		p.verify(i, want[i])
	}
}

// tryAnswer answers a request if its file finds room on the disk.
func (p *place) tryAnswer(i int) (option string, saved bool) {
	file, body := p.request(i)+"/response.json", p.response(i, "approve", "c")
	option = "approve"
	if i%2 == 1 {
		option = "reject"
		file, body = p.request(i)+"/form.md", p.ticked(i, option)
	}
	full := filepath.Join(p.root, file)
	if replaced("NAME.vsctmp")(full, body) != nil {
		_ = os.Remove(full + ".vsctmp")
		return "", false
	}
	return option, true
}

// fill writes a file until the file system is full.
func fill(t *testing.T, name string) string {
	f, err := os.Create(name)
	if err != nil {
		t.Error(err)
		return name
	}
	defer f.Close()
	block := make([]byte, 4096)
	for {
		if _, err := f.Write(block); err != nil {
			return name
		}
	}
}

// fillInodes makes empty files until there can be no more.
func fillInodes(t *testing.T, name string) (names []string) {
	for {
		next := fmt.Sprintf("%s-%d", name, len(names))
		f, err := os.Create(next)
		if err != nil {
			return names
		}
		f.Close()
		names = append(names, next)
		if len(names) > 100_000 {
			t.Fatal("the file system does not run out of inodes")
		}
	}
}

func remove(t *testing.T, name string) {
	if err := os.Remove(name); err != nil {
		t.Error(err)
	}
}

func remount(t *testing.T, dir, mode string) {
	t.Helper()
	await.Until(t, "nothing is open for writing below "+dir, func() bool {
		out, err := exec.Command("mount", "-o", "remount,"+mode, dir).CombinedOutput()
		if err != nil && !strings.Contains(string(out), "busy") {
			t.Skipf("cannot remount: %s", out)
		}
		return err == nil
	})
}

// On a read-only file system the daemon says so, and the run goes on once it is writable.
func TestReadOnlyRecovers(t *testing.T) {
	t.Parallel()
	root := tmpfs(t, "size=8m")
	p := newPlace(t, root, 2)
	d := p.start()
	p.await(d)
	p.until("all forms are written", p.opened)
	d.stop(syscall.SIGTERM)
	p.write(p.request(0)+"/response.json", p.response(0, "approve", "c"))
	remount(t, filepath.Dir(root), "ro")
	d = p.start()
	defer d.stop(syscall.SIGTERM)
	p.until("the daemon says that it cannot write", func() bool { return strings.Contains(d.said(), "read-only") })
	remount(t, filepath.Dir(root), "rw")
	p.until("the run is answered", func() bool { return p.answered(0) })
	p.verify(0, "approve")
}

// shortage is a resource of which the kernel gives a process too little.
type shortage struct {
	name string
	wrap []string // runs a program in it
	says string   // of the daemon; "" if it has no reason to
}

var shortages = []shortage{
	{"32 descriptors", withFiles(32), ""},
	{"no inotify instance", inNamespace("max_inotify_instances", 0), "no file events can be had"},
	{"15 watches", inNamespace("max_inotify_watches", 15), "cannot watch a folder"},
}

// inNamespace runs a program in a user namespace of its own, with a limit.
func inNamespace(limit string, n int) []string {
	return []string{"unshare", "-Ur", "sh", "-c", fmt.Sprintf(`echo %d > /proc/sys/user/%s && exec "$@"`, n, limit), "sh"}
}

// With few descriptors, without inotify instances, or with few watches, everything is decided
// all the same; if that takes longer, the daemon and status say so.
func TestTortureShortages(t *testing.T) {
	t.Parallel()
	for _, s := range shortages {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			if out, err := exec.Command(s.wrap[0], append(s.wrap[1:], "true")...).CombinedOutput(); err != nil {
				t.Skipf("nothing can be run with %s here: %s", s.name, out)
			}
			p := newPlace(t, t.TempDir(), tortured(20, 100))
			d := p.start(s.wrap...)
			defer func() { d.stop(syscall.SIGTERM) }()
			p.await(d)
			// Others on this machine may have all inotify instances of this user just now.
			for noEvents := "no file events can be had"; s.says != noEvents && strings.Contains(d.said(), noEvents); p.await(d) {
				d.stop(syscall.SIGTERM)
				d = p.start(s.wrap...)
			}
			p.until("all forms are written", p.opened)
			want := make([]string, len(p.runs))
			for i := range p.runs {
				want[i] = answer(t, p, i)
			}
			p.decided(upTo(len(p.runs)))
			for i := range p.runs {
				p.verify(i, want[i])
			}
			if s.says == "" {
				return
			}
			if !strings.Contains(d.said(), s.says) {
				t.Errorf("the daemon does not say that it gets no events: %s", d.said())
			}
			p.until("status says that it gets no events", p.saysBlind)
			d.stop(syscall.SIGTERM)
			d = p.start()
			p.await(d)
			p.until("status says so no more", func() bool { return !p.saysBlind() })
		})
	}
}

// saysBlind reports whether status says that the daemon gets no file events.
func (p *place) saysBlind() bool {
	p.t.Helper()
	out, _ := p.placet("status")
	return strings.Contains(out, "no file events in")
}

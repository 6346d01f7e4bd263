package cli_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// away is a way in which a workspace can lose its name. Each moves the workspace to moved, and
// brings it back.
type away struct {
	name string
	// The folder to rename, relative to the folder that holds everything, and its new name.
	from, to string
	// A stranger takes the name at once.
	stranger bool
}

var aways = []away{
	{"moved away", "above/workspace", "above/elsewhere", false},
	{"another folder takes its name", "above/workspace", "above/elsewhere", true},
	{"the folder above is moved away", "above", "elsewhere", false},
	{"another folder takes the name of the one above", "above", "elsewhere", true},
}

// A workspace that was moved away is reported as gone, and nothing is decided until it is back.
// Another folder that takes its name stays unchanged.
func TestTortureWorkspaceMovedAwayAndBack(t *testing.T) {
	t.Parallel()
	for _, a := range aways {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			top := t.TempDir()
			p := newPlace(t, filepath.Join(top, "above/workspace"), 8*tortured(1, 4))
			d := p.start()
			defer func() { d.stop(syscall.SIGTERM) }()
			p.await(d)
			p.until("all forms are written", p.opened)
			for k := range len(p.runs) / 8 {
				a.torture(p, d, top, upTo(len(p.runs))[8*k:8*k+8])
			}
			a.stopWhile(p, d, top)
		})
	}
}

// torture moves the workspace away, answers some runs there, and brings it back.
func (a away) torture(p *place, d *daemon, top string, runs []int) {
	t := p.t
	t.Helper()
	want := make([]string, len(p.runs))
	gone := strings.Count(d.said(), "the workspace is gone")
	before, quiet := a.move(p, top)
	for _, i := range runs[:4] {
		want[i] = answer(t, a.there(p, top), i)
	}
	p.until("the daemon says that the workspace is gone: "+d.said(), func() bool {
		return strings.Count(d.said(), "the workspace is gone") > gone
	})
	d.doesNotSpin(t, a.name)
	for _, i := range runs[4:6] {
		want[i] = answer(t, a.there(p, top), i)
	}
	for _, i := range runs {
		if a.there(p, top).answered(i) {
			t.Errorf("run %d was decided while its workspace was gone", i)
		}
	}
	a.unchanged(p, before, quiet)
	a.back(p, top)
	p.decided(runs[:6])
	for _, i := range runs[6:] {
		want[i] = answer(t, p, i)
	}
	p.decided(runs[6:])
	for _, i := range runs {
		p.verify(i, want[i])
	}
	p.until("the daemon says that the workspace is back: "+d.said(), func() bool {
		return strings.Count(d.said(), "the workspace is back") == strings.Count(d.said(), "the workspace is gone")
	})
}

// stopWhile ends the daemon while the workspace is gone.
func (a away) stopWhile(p *place, d *daemon, top string) {
	before, quiet := a.move(p, top)
	d.stop(syscall.SIGTERM)
	a.unchanged(p, before, quiet)
	if code := d.cmd.ProcessState.ExitCode(); code != 0 {
		p.t.Errorf("the daemon ended with %d: %s", code, d.said())
	}
	a.back(p, top)
}

// there returns the place of the workspace while it is away.
func (a away) there(p *place, top string) *place {
	moved := *p
	moved.root = filepath.Join(top, strings.Replace("above/workspace", a.from, a.to, 1))
	return &moved
}

// move moves the workspace away. If a stranger takes its name, move returns what that is like:
// an empty folder, or one with a run of its own and an answer.
func (a away) move(p *place, top string) (stranger map[string]string, exists bool) {
	t := p.t
	t.Helper()
	other := filepath.Join(top, "other")
	if a.stranger {
		s := *p
		s.root = filepath.Join(other, "workspace")
		s.write("README", "this is another folder\n")
		if a.from != "above" { // the stranger has a folder of runs, one of which is answered
			s.write(p.runs[0]+"/state.json", fmt.Sprintf(waitingState, filepath.Base(p.runs[0]), 1))
			s.write(s.request(0)+"/response.json", s.response(0, "reject", "not yours"))
		}
	}
	move(t, filepath.Join(top, a.from), filepath.Join(top, a.to))
	if !a.stranger {
		return nil, false
	}
	if a.from == "above" {
		move(t, other, filepath.Join(top, "above"))
	} else {
		move(t, filepath.Join(other, "workspace"), p.root)
	}
	return listing(t, p.root), true
}

func (a away) back(p *place, top string) {
	p.t.Helper()
	if a.stranger {
		if err := os.RemoveAll(filepath.Join(top, a.from)); err != nil {
			p.t.Fatal(err)
		}
	}
	move(p.t, filepath.Join(top, a.to), filepath.Join(top, a.from))
}

// unchanged checks that nothing was written under the workspace's name.
func (a away) unchanged(p *place, before map[string]string, exists bool) {
	p.t.Helper()
	if _, err := os.Lstat(p.root); exists != (err == nil) {
		p.t.Fatalf("something is at %s: %v", p.root, err)
	}
	if !exists {
		return
	}
	after := listing(p.t, p.root)
	for name, was := range before {
		if after[name] != was {
			p.t.Errorf("the other folder's %s was changed", name)
		}
	}
	for name := range after {
		if _, was := before[name]; !was {
			p.t.Errorf("%s was made in the other folder", name)
		}
	}
}

func move(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// listing returns all files in a folder, and the times of its folders, which also show what was
// made and removed again.
func listing(t *testing.T, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		all[name] = info.ModTime().String()
		if !e.IsDir() {
			body, err := os.ReadFile(name)
			all[name] += string(body)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Folders of runs, and those above them, are renamed away and back with answers in them, while
// others are made and removed by the hundred.
func TestTortureFoldersRenamedInAStorm(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 4*tortured(2, 30))
	d := p.start()
	defer d.stop(syscall.SIGTERM)
	p.await(d)
	p.until("all forms are written", p.opened)
	over, done := make(chan struct{}), make(chan int)
	go func() { done <- p.storm(over) }()
	want := make([]string, len(p.runs))
	for k := range len(p.runs) / 4 {
		four := upTo(len(p.runs))[4*k : 4*k+4]
		dirs := []string{
			p.runs[four[0]], p.request(four[1]), p.runs[four[2]] + "/requests", ".fractary/faber",
		}
		for n, i := range four {
			full := filepath.Join(p.root, dirs[n])
			move(t, full, full+"-away")
			moved := *p
			moved.runs = append([]string(nil), p.runs...)
			want[i] = p.answerMoved(i, dirs[n], dirs[n]+"-away")
			move(t, full+"-away", full)
		}
		p.decided(four)
	}
	close(over)
	t.Logf("%d folders made and removed meanwhile", <-done)
	for i := range p.runs {
		p.verify(i, want[i])
	}
}

// answerMoved answers a run while its folder, or one above it, has another name.
func (p *place) answerMoved(i int, from, to string) string {
	p.t.Helper()
	file, body, option := p.request(i)+"/response.json", p.response(i, "reject", "c"), "reject"
	if err := replaced("NAME.tmp")(filepath.Join(p.root, strings.Replace(file, from, to, 1)), body); err != nil {
		p.t.Fatal(err)
	}
	return option
}

// storm makes and removes trees of folders that may hold runs, until it is stopped.
func (p *place) storm(over <-chan struct{}) (made int) {
	for {
		top := filepath.Join(p.root, ".fractary", fmt.Sprintf("storm-%d", made))
		for k := range 20 {
			dir := filepath.Join(top, fmt.Sprintf("runs/acme/web/%d/requests/x/responses", k))
			if err := os.MkdirAll(dir, 0o755); err != nil && !os.IsNotExist(err) {
				p.t.Error(err)
			}
			made += 9
		}
		if err := os.RemoveAll(top); err != nil && !os.IsNotExist(err) {
			p.t.Error(err)
		}
		select {
		case <-over:
			return made
		default:
		}
	}
}

// git stashes all runs, and brings them back with answers in them.
func TestTortureStashedAndBack(t *testing.T) {
	t.Parallel()
	rounds := tortured(2, 10)
	p := newPlace(t, t.TempDir(), 4*rounds)
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = p.root, p.env()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	git("init", "-q", "-b", "main")
	p.write("README", "a repository\n")
	if out, code := p.placet("init"); code != 0 {
		t.Fatalf("init: %d: %s", code, out)
	}
	git("add", "README", "placet.toml")
	git("commit", "-q", "-m", "first")
	d := p.measured()
	defer d.stop(syscall.SIGTERM)
	p.await(d)
	p.until("all forms are written", p.opened)
	want := make([]string, len(p.runs))
	for r := range rounds {
		four := upTo(len(p.runs))[4*r : 4*r+4]
		p.until("the daemon has written all that it had to", func() bool { return len(p.temps()) == 0 })
		d.freeze(t) // so that the stash, not the daemon, takes the first two
		for _, i := range four[:2] {
			want[i] = answer(t, p, i)
		}
		git("stash", "-q", "-u")
		d.thaw(t)
		if r%2 == 1 { // the daemon may have seen that the runs are gone, or not
			p.reads(d, readings{`placet_runs{family="faber",standing="waiting"}`: 0})
		}
		if out, err := exec.Command("find", filepath.Join(p.root, ".fractary"), "-not", "-type", "d", "-not", "-name", "*.lock").Output(); err == nil && len(out) > 0 {
			t.Errorf("placet made a folder anew that git took away:\n%s", out)
		}
		git("stash", "pop", "-q")
		for _, i := range four[2:] {
			want[i] = answer(t, p, i)
		}
		p.decided(four)
		for _, i := range four {
			p.until("its receipt is written", func() bool { return p.read(p.request(i)+"/receipt.json") != "" })
		}
	}
	for i := range p.runs {
		p.verify(i, want[i])
	}
}

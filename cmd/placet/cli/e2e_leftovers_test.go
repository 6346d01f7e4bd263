package cli_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"placet/layout"
)

// temps are placet's temporary files in the workspace.
func (p *place) temps() (names []string) {
	_ = filepath.WalkDir(p.root, func(name string, _ fs.DirEntry, err error) error {
		if err == nil && layout.IsTemp(filepath.Base(name)) {
			names = append(names, name)
		}
		return nil
	})
	return names
}

// A killed daemon's temporary files are gone as soon as the next one watches, also those of
// runs that have ended and of folders above the runs. git shows none of them, whether placet
// init ran or not. A file that may be the work of another process is removed when it is old.
func TestTortureLeftoversOfAKilledDaemon(t *testing.T) {
	t.Parallel()
	for _, init := range []bool{false, true} {
		t.Run(fmt.Sprintf("init %v", init), func(t *testing.T) { leftBehind(t, init) })
	}
}

func leftBehind(t *testing.T, init bool) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 6)
	p.git("init", "-q", p.root)
	if init {
		p.placet("init")
	}
	d := p.start()
	p.await(d)
	p.until("all forms are written", p.opened)
	p.write(p.request(0)+"/response.json", p.response(0, "reject", "no"))
	p.decided([]int{0})
	p.until("git ignores the temporary files", func() bool {
		return strings.Contains(p.read(".git/info/exclude"), ".placet-*.tmp")
	})
	d.stop(syscall.SIGKILL)
	// A daemon was killed in the middle of a commit, and leaves files and a command.
	for i, dir := range []string{"", ".fractary/faber/runs", ".fractary/faber/runs/acme/web", p.runs[0], p.runs[1], p.runs[2] + "/events", p.request(3)} {
		p.write(filepath.Join(dir, layout.TempName(pidOfDead(t), uint32(i))), "half of a document")
	}
	alive := filepath.Join(p.runs[4], layout.TempName(os.Getpid(), 7))
	p.write(alive, "half of an answer")
	if seen := p.git("-C", p.root, "status", "--porcelain", "-uall"); strings.Contains(seen, layout.TempPrefix) || strings.Contains(seen, ".placet/") {
		t.Errorf("init %v: git shows %s", init, seen)
	}
	d = p.start()
	p.await(d)
	ended := filepath.Join(p.root, p.runs[0]) // it is swept later, and the killed daemon may have left more there
	left := slices.DeleteFunc(p.temps(), func(temp string) bool { return filepath.Dir(temp) == ended })
	if len(left) > 1 {
		t.Errorf("when the daemon watches, left are %q", left)
	}
	p.until("at most the command's file is left", func() bool {
		file := filepath.Join(p.root, alive)
		_ = os.Chmod(file, 0o600) // its command is still at work, unless the start took very long
		return !slices.ContainsFunc(p.temps(), func(temp string) bool { return temp != file })
	})
	p.until("no file is left", func() bool { return len(p.temps()) == 0 })
	d.stop(syscall.SIGTERM)
}

// pidOfDead is the id of a process that has ended.
func pidOfDead(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.Pid()
}

package cli_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// stateAttacks are on what placet remembers of processes and earlier looks.
var stateAttacks = []attack{
	{"a link below .placet", "a cloned repository links .placet/actions to its own root, so that what is cleared there is the repository", func(t *testing.T, p *place) {
		p.waiting(t)
		p.write(".git/objects/keep", "history")
		p.link("..", ".placet/actions")
		p.endsOnce(3)
		if !p.there(".git/objects/keep") {
			t.Error("the repository was deleted")
		}
	}},
	{"a forged process", "a cloned repository holds the record of a process that placet never started, so that placet ends it", func(t *testing.T, p *place) {
		p.waiting(t)
		pid, ended := bystander(t)
		p.forge("x", map[string]any{"pid": pid, "boot": bootID(t), "birth": startTime(t, pid), "outcome": ""})
		p.forge("everybody", map[string]any{"pid": pid, "boot": bootID(t), "birth": startTime(t, pid), "outcome": p.runs[0] + "/actions/x/outcome.json", "kind": "outcome"})
		p.endsOnce(3)
		select {
		case <-ended:
			t.Error("a process that placet never started was ended")
		default:
		}
	}},
	{"a forged outcome", "a record below .placet names any file of the workspace as the outcome of its command", func(t *testing.T, p *place) {
		p.waiting(t)
		for i, name := range []string{"package.json", p.runs[0] + "/actions/x/outcome.json", p.runs[0] + "/metadata.json"} {
			before := p.read(name)
			p.forge(string(rune('a'+i)), map[string]any{"pid": 0, "agent": true, "outcome": name, "kind": "outcome"})
			p.endsOnce(3)
			if got := p.read(name); got != before {
				t.Errorf("%s was written: %s", name, got)
			}
		}
	}},
	{"a forged cache", "a repository brings .placet/statcache, which says that nothing is to be done", func(t *testing.T, p *place) {
		p.waiting(t)
		p.endsOnce(3)
		found, err := filepath.Glob(filepath.Join(p.stateHome(), "placet", "workspaces", "*", "statcache*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range found {
			body, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			p.write(".placet/"+filepath.Base(name), string(body))
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
		p.write(".placet/recall", "anything")
		p.write(p.request(0)+"/response.json", p.response(0, "approve", ""))
		out, _ := p.placet("once")
		if !p.answered(0) || !strings.Contains(out, "ignored") {
			t.Errorf("the answer was not taken, or what is ignored was not named: %s", out)
		}
		if out, _ := p.placet("once"); strings.Contains(out, "ignored") {
			t.Errorf("named twice: %s", out)
		}
	}},
}

// waiting puts one run into the workspace that waits for an approval.
func (p *place) waiting(t *testing.T) {
	t.Helper()
	q := newPlace(t, p.root, 1)
	p.runs = q.runs
}

// stateHome is where the programs of the tests remember what they did.
func (p *place) stateHome() string {
	return filepath.Join(p.root, "..", "home-"+filepath.Base(p.root))
}

// endsOnce runs placet watch --once, which must end with a code.
func (p *place) endsOnce(code int) {
	p.t.Helper()
	if out, got := p.placet("once"); got != code {
		p.t.Errorf("placet watch --once ends with %d, want %d: %s", got, code, out)
	}
}

// link puts a symbolic link into the workspace.
func (p *place) link(to, rel string) {
	p.t.Helper()
	full := filepath.Join(p.root, rel)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.Symlink(to, full); err != nil {
		p.t.Fatal(err)
	}
}

// forge writes the record of a command as an earlier version kept it in the
// workspace.
func (p *place) forge(id string, record map[string]any) {
	p.t.Helper()
	record["id"] = id
	body, err := json.Marshal(record)
	if err != nil {
		p.t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(id))
	p.write(".placet/actions/"+hex.EncodeToString(sum[:8])+"/process.json", string(body))
}

// bystander is a process of this user with a group of its own.
func bystander(t *testing.T) (pid int, ended chan struct{}) {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended = make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	return cmd.Process.Pid, ended
}

func bootID(t *testing.T) string {
	t.Helper()
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(id))
}

// startTime is field 22 of /proc/<pid>/stat.
func startTime(t *testing.T, pid int) string {
	t.Helper()
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))[19]
}

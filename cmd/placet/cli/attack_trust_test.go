package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// trustAttacks are on what the owner of a workspace has agreed to.
var trustAttacks = []attack{
	{"trust inside the workspace", "the state folder lies where the agent writes, so that it could agree in the owner's name", func(t *testing.T, p *place) {
		p.session("sh check.sh")
		for _, env := range []string{"XDG_STATE_HOME=" + filepath.Join(p.root, "state"), "XDG_STATE_HOME=\x00HOME=" + p.root} {
			for _, verb := range [][]string{{"trust", "--yes"}, {"trust"}, {"status"}, {"doctor"}, {"once"}} {
				out, code := p.placetWith(strings.Split(env, "\x00"), verb...)
				if !strings.Contains(out, "set XDG_STATE_HOME to a folder outside the workspace") || verb[0] == "trust" && len(verb) == 2 && code != 2 {
					t.Errorf("%q: %d, %s", verb, code, out)
				}
			}
		}
		d := p.watchWith("XDG_STATE_HOME=" + filepath.Join(p.root, "state"))
		if said := d.said(); !strings.Contains(said, "set XDG_STATE_HOME to a folder outside the workspace") {
			t.Errorf("the daemon says %s", said)
		}
		d.stop(syscall.SIGINT)
		p.handsIn("once", 0)
		p.endsOnce(3)
		p.trusts("")
		p.endsOnce(3)
		p.ran(1)
	}},
	{"another repository at the path", "a repository takes the place of one whose commands were trusted", func(t *testing.T, p *place) {
		p.session("sh check.sh")
		p.endsOnce(0)
		p.trusts("")
		if err := os.Rename(p.root, p.root+".old"); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(p.root, os.DirFS(p.root+".old")); err != nil {
			t.Fatal(err)
		}
		p.handsIn("", 0)
		p.endsOnce(3)
		p.ran(0)
		if err := os.RemoveAll(p.root); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(p.root+".old", p.root); err != nil {
			t.Fatal(err)
		}
		p.handsIn("", 0)
		p.endsOnce(3)
		p.ran(1)
	}},
	{"others in the state folder", "the state folder becomes one in which other users may write, while a daemon runs", func(t *testing.T, p *place) {
		p.session("sh check.sh")
		d := p.start()
		defer d.stop(syscall.SIGINT)
		p.await(d)
		p.until("the attempt has begun", func() bool { return strings.Contains(p.afl("state.json"), `"in_progress"`) })
		p.trusts("")
		p.until("the trust counts", func() bool { return strings.Contains(d.said(), "settings read again") })
		home := filepath.Join(p.stateHome(), "placet")
		if err := os.Chmod(home, 0o777); err != nil {
			t.Fatal(err)
		}
		p.until("the daemon says so", func() bool {
			return strings.Contains(d.said(), "nothing is trusted") && strings.Contains(d.said(), "chmod go-w")
		})
		p.handsIn("", 0)
		p.until("the attempt waits", func() bool { return strings.Contains(p.afl("state.json"), `"validating"`) })
		if out, code := p.placet("trust", "--yes"); code != 2 || !strings.Contains(out, "chmod go-w") {
			t.Errorf("%d, %s", code, out)
		}
		p.ran(0)
		if err := os.Chmod(home, 0o700); err != nil {
			t.Fatal(err)
		}
		p.until("the command runs", func() bool { return p.read("out") == "ran\n" })
	}},
	{"a command changed between listing and agreement", "the agent changes what stands under a name before its owner agrees to the name", func(t *testing.T, p *place) {
		p.write("placet.toml", "[faber]\nresume = { command = [\"sh\", \"work.sh\"] }\n")
		p.write("work.sh", "true\n")
		listed := p.listed("faber.resume")
		p.write("work.sh", "rm -rf ~\n")
		if out, code := p.placet("trust", "faber.resume"); code != 2 || !strings.Contains(out, "by its name alone") {
			t.Errorf("%d, %s", code, out)
		}
		for _, arg := range []string{"faber.resume@" + listed, listed[:12], listed} {
			if out, code := p.placet("trust", arg); code == 0 || p.listed("faber.resume") == "" {
				t.Errorf("%s agreed to another: %s", arg, out)
			}
		}
		if out, code := p.placet("trust", "faber.resume@"+listed); code != 1 || !strings.Contains(out, "it is now sha256:") || !strings.Contains(out, "names work.sh: sha256:") {
			t.Errorf("%d, %s", code, out)
		}
		for keys, code := range map[string]int{"\x03": 130, "\x04": 130, "\r": 130, "n\r": 130} {
			if out, got := p.terminal(keys, "trust", "faber.resume"); got != code || !strings.Contains(out, "names work.sh: sha256:") || p.listed("faber.resume") == "" {
				t.Errorf("%q: %d, %s", keys, got, out)
			}
		}
		if out, code := p.terminal("y\r", "trust", "faber.resume"); code != 0 || p.listed("faber.resume") != "" {
			t.Errorf("%d, %s", code, out)
		}
		p.write("work.sh", "true\n")
		if out, code := p.placet("trust", "faber.resume@"+listed); code != 0 || p.listed("faber.resume") != "" {
			t.Errorf("%d, %s", code, out)
		}
	}},
	{"a changed script", "the agent rewrites the script that a trusted command names, or puts one where there was none", func(t *testing.T, p *place) {
		p.session("test -e more.sh && sh more.sh; sh check.sh")
		p.endsOnce(0)
		p.trusts("")
		honest := p.read("check.sh")
		for i, change := range []func(){
			func() { p.write("check.sh", "echo evil >> out\necho 4 passing\n") },
			func() { p.write("more.sh", "echo evil >> out\n"); p.write("check.sh", honest) },
		} {
			change()
			p.handsIn("", i)
			p.endsOnce(3)
			p.endsOnce(3)
			p.ran(0)
			if out, _ := p.placet("inbox"); !strings.Contains(out, "untrusted afl.validation shop/a") {
				t.Errorf("the inbox says %s", out)
			}
			if out, _ := p.placet("trust"); !strings.Contains(out, "changed") {
				t.Errorf("trust says %s", out)
			}
			if p.afl("delegations/a/iterations/1/validation.json") != "" {
				t.Error("an attempt was recorded")
			}
		}
		if err := os.Remove(filepath.Join(p.root, "more.sh")); err != nil {
			t.Fatal(err)
		}
		p.endsOnce(3)
		p.ran(1)
	}},
	{"a script changed under a daemon", "the agent rewrites the script and hands in at once, faster than settings are read", func(t *testing.T, p *place) {
		p.session("sh check.sh")
		p.endsOnce(0)
		p.trusts("")
		d := p.start()
		defer d.stop(syscall.SIGINT)
		p.await(d)
		honest := p.read("check.sh")
		p.write("check.sh", "echo evil >> out\necho 4 passing\n")
		p.handsIn("", 0)
		p.until("the attempt waits for trust", func() bool {
			out, _ := p.placet("explain", "shop")
			return strings.Contains(out, "waits in validating for an answer about changed files: check.sh")
		})
		p.ran(0)
		p.write("check.sh", honest)
		p.until("the command runs", func() bool { return p.read("out") == "ran\n" })
	}},
	{"a work tree with another script", "a folder appears in which the trusted command would run another file", func(t *testing.T, p *place) {
		p.session("sh check.sh")
		p.endsOnce(0)
		p.trusts("")
		honest := p.read("check.sh")
		p.write(".afl/worktrees/a/check.sh", "echo evil >> ../../../out\necho 4 passing\n")
		p.handsIn("", 0)
		p.endsOnce(3)
		p.ran(0)
		p.write(".afl/worktrees/a/check.sh", honest)
		p.endsOnce(3)
		if got := p.read(".afl/worktrees/a/out"); got != "ran\n" {
			t.Errorf("the same script in the work tree did not run there: %q", got)
		}
	}},
	{"revoking with broken settings", "settings that nobody can read keep the owner from taking agreement back", func(t *testing.T, p *place) {
		p.waiting(t)
		p.write("placet.toml", "[faber]\nresume = { command = [\"sh\", \"work.sh\"] }\n")
		p.write("work.sh", "echo $$ > pid\nexec sleep 600\n")
		if out, code := p.placet("trust", "--yes"); code != 0 {
			t.Fatal(out)
		}
		d := p.start()
		defer d.stop(syscall.SIGINT)
		p.await(d)
		p.until("the form is there", p.opened)
		p.write(p.request(0)+"/response.json", p.response(0, "approve", ""))
		p.until("the agent runs", func() bool { return strings.TrimSpace(p.read("pid")) != "" })
		p.write("placet.toml", "[faber\n")
		p.until("the settings are broken", func() bool { return strings.Contains(d.said(), "nothing is trusted until") })
		outcome := func() string {
			found, err := filepath.Glob(filepath.Join(p.root, p.runs[0], "actions/*/outcome.json"))
			if err != nil || len(found) == 0 {
				return ""
			}
			body, _ := os.ReadFile(found[0])
			return string(body)
		}
		if outcome() != "" {
			t.Errorf("broken settings ended what was agreed to: %s", outcome())
		}
		if out, code := p.placet("trust", "--revoke", "faber.resume"); code != 0 || !strings.Contains(out, "revoked  faber.resume") {
			t.Errorf("%d, %s", code, out)
		}
		p.until("the agent is ended", func() bool {
			return strings.Contains(outcome(), `"outcome": "stopped"`) && strings.Contains(outcome(), "agreement to the command was taken back")
		})
		p.damageTrust()
		if out, code := p.placet("trust", "--revoke", "faber.resume"); code != 0 || !strings.Contains(out, "everything is revoked") {
			t.Errorf("%d, %s", code, out)
		}
		p.write("placet.toml", "")
		if out, code := p.placet("trust"); code != 0 || !strings.Contains(out, "nothing waits") {
			t.Errorf("%d, %s", code, out)
		}
	}},
	{"broken settings", "the agent breaks placet.toml, so that a daemon goes on with what was trusted before", func(t *testing.T, p *place) {
		p.session("sh check.sh")
		p.endsOnce(0)
		p.trusts("")
		d := p.start()
		defer d.stop(syscall.SIGINT)
		p.await(d)
		p.write("placet.toml", "[afl\n")
		p.until("the settings are broken", func() bool { return strings.Contains(d.said(), "nothing is trusted until") })
		p.handsIn("", 0)
		p.until("the attempt waits", func() bool { return strings.Contains(p.afl("state.json"), `"validating"`) })
		p.ran(0)
		if n := strings.Count(d.said(), "nothing is trusted until"); n != 1 {
			t.Errorf("said %d times", n)
		}
		p.write("placet.toml", "")
		p.until("the command runs", func() bool { return p.read("out") == "ran\n" })
	}},
	{"a result in place of the validation", "the agent writes result.json and validation.json itself, while the command waits for trust and while it runs", func(t *testing.T, p *place) {
		p.session("read line < gate; sh check.sh")
		if err := syscall.Mkfifo(filepath.Join(p.root, "gate"), 0o600); err != nil {
			t.Fatal(err)
		}
		p.endsOnce(0)
		p.handsIn("", 0)
		at := ".afl/sessions/shop/delegations/a/iterations/1/"
		p.write(at+"result.json", `{"iteration": 1, "exitCode": 0, "output": "4 passing"}`)
		p.endsOnce(3)
		p.write(at+"validation.json", "{}")
		p.endsOnce(3)
		if strings.Contains(p.afl("state.json"), `"completed"`) || !strings.Contains(p.afl("state.json"), `"validating"`) {
			t.Errorf("what the agent wrote decided: %s", p.afl("state.json"))
		}
		if err := os.Remove(filepath.Join(p.root, at+"validation.json")); err != nil {
			t.Fatal(err)
		}
		p.trusts("")
		d := p.start()
		defer d.stop(syscall.SIGINT)
		p.await(d)
		p.until("the command runs", func() bool { return strings.Contains(d.said(), "started a command") })
		var run struct {
			Checkpoints map[string]struct {
				Run struct {
					Digest string `json:"command_digest"`
				} `json:"run"`
			} `json:"checkpoints"`
		}
		if err := json.Unmarshal([]byte(p.afl("state.json")), &run); err != nil {
			t.Fatal(err)
		}
		p.write(at+"validation.json", fmt.Sprintf(`{"iteration": 1, "run": 1, "command_digest": %q, "shell": ["sh", "-c"], "cwd": ".", "started_at": "2026-01-19T10:30:00.000Z",
			"finished_at": "2026-01-19T10:30:01.000Z", "duration_ms": 1, "outcome": "finished", "exit_code": 0, "timed_out": false,
			"stdout": {"bytes": 9, "head": "4 passing", "tail": "", "truncated": false}, "stderr": {"bytes": 0, "head": "", "tail": "", "truncated": false},
			"matched_expected": true, "failing_marker": null}`, run.Checkpoints["a"].Run.Digest))
		p.until("a person is asked", func() bool { return strings.Contains(p.afl("state.json"), `"interrupted_run"`) })
		if strings.Contains(p.afl("state.json"), `"completed"`) {
			t.Errorf("a forged outcome decided: %s", p.afl("state.json"))
		}
	}},
}

// session is an AFL session of one checkpoint that a command validates.
func (p *place) session(command string) {
	p.t.Helper()
	config := filepath.Join(p.stateHome(), "placet", "placet.toml")
	if err := os.MkdirAll(filepath.Dir(config), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(config, []byte("[afl]\napproval_quiet = \"0s\"\nauto_retry_delay = \"0s\"\nshell = [\"sh\", \"-c\"]\n"), 0o600); err != nil {
		p.t.Fatal(err)
	}
	p.write("check.sh", "echo ran >> out\necho 4 passing\n")
	p.write(".afl/sessions/shop/specs/checkpoints.yaml", fmt.Sprintf(
		"approved_at: 2026-01-19T10:30:00Z\ncheckpoints:\n  - id: a\n    criteria: [it works]\n    validation: {command: %q, expected: \"4 passing\"}\n", command))
}

// afl is a file of the session.
func (p *place) afl(rel string) string { return p.read(".afl/sessions/shop/" + rel) }

// handsIn says that the worker is done; if wanted, placet looks once before that.
func (p *place) handsIn(before string, try int) {
	p.t.Helper()
	if before != "" {
		p.endsOnce(0)
	}
	p.write(".afl/sessions/shop/delegations/a/iterations/1/worker.json", fmt.Sprintf(`{"status": "completed", "message": "%d"}`, try))
}

// trusts agrees to all that waits; if wanted, placet looks once before that.
func (p *place) trusts(before string) {
	p.t.Helper()
	if before != "" {
		p.endsOnce(0)
	}
	if out, code := p.placet("trust", "--yes"); code != 0 || !strings.Contains(out, "trusted  afl.validation shop/a") {
		p.t.Fatalf("%d, %s", code, out)
	}
}

// ran checks how often the honest script ran, and that no other did.
func (p *place) ran(times int) {
	p.t.Helper()
	if got := p.read("out"); got != strings.Repeat("ran\n", times) {
		p.t.Errorf("ran: %q, expected it %d times", got, times)
	}
}

var waits = regexp.MustCompile(`(?m)^waits  (\S.*?)  sha256:([0-9a-f]{64})`)

// listed returns the digest under which a thing waits for trust, "" if it does not wait.
func (p *place) listed(name string) string {
	p.t.Helper()
	out, _ := p.placet("trust")
	for _, m := range waits.FindAllStringSubmatch(out, -1) {
		if m[1] == name {
			return m[2]
		}
	}
	return ""
}

func (p *place) damageTrust() {
	p.t.Helper()
	found, err := filepath.Glob(filepath.Join(p.stateHome(), "placet", "workspaces", "*", "trust.json"))
	if err != nil || len(found) != 1 {
		p.t.Fatalf("%v, %v", found, err)
	}
	if err := os.WriteFile(found[0], []byte(`{"schema_version": 1, "tru`), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// placetWith runs placet with other variables.
func (p *place) placetWith(env []string, args ...string) (string, int) {
	p.t.Helper()
	cmd := exec.Command(placetBinary(p.t), append([]string{"-C", p.root}, args...)...)
	cmd.Env = append(p.env(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		p.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// watchWith starts a daemon with another variable and waits until it is ready.
func (p *place) watchWith(env string) *daemon {
	p.t.Helper()
	d := p.start("env", env)
	p.await(d)
	return d
}

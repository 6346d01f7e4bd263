package cli_test

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// hookedPlace makes a workspace in which the user's rules ask about calls.
func hookedPlace(t *testing.T, root, more string) *place {
	t.Helper()
	p := newPlace(t, root, 0)
	p.write("placet.toml", "")
	p.write("../home-"+filepath.Base(root)+"/placet/placet.toml", more+"\n[[hook.rule]]\ndo = \"ask\"\n")
	return p
}

// hookCall is a running hook.
type hookCall struct {
	cmd      *exec.Cmd
	out, err bytes.Buffer
}

func (p *place) hook(id string) *hookCall {
	p.t.Helper()
	h := &hookCall{cmd: p.program("hook", "claude-code")}
	h.cmd.Dir, h.cmd.Stdout, h.cmd.Stderr = p.root, &h.out, &h.err
	h.cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id": "s", "cwd": %q, "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "make %s"}, "tool_use_id": %q}`, p.root, id, id))
	if err := h.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	return h
}

// ends waits for the hook, and returns what it has printed.
func (h *hookCall) ends(t *testing.T, code int) string {
	t.Helper()
	if _ = h.cmd.Wait(); h.cmd.ProcessState.ExitCode() != code {
		t.Fatalf("the hook ends with %v, expected %d: %s%s", h.cmd.ProcessState, code, &h.out, &h.err)
	}
	return h.out.String()
}

// callsAsked waits until n questions are asked, and returns the ids of the asks by their
// subjects.
func (p *place) callsAsked(n int) map[string]string {
	p.t.Helper()
	ids := map[string]string{}
	p.until(fmt.Sprint(n, " questions are asked"), func() bool {
		forms, _ := filepath.Glob(filepath.Join(p.root, ".asks/*/requests/*/form.md"))
		for _, form := range forms {
			id := filepath.Base(filepath.Dir(filepath.Dir(filepath.Dir(form))))
			_, about, _ := strings.Cut(p.read(".asks/"+id+"/state.json"), "`make ")
			about, _, _ = strings.Cut(about, "`")
			ids[about] = id
		}
		return len(ids) == n
	})
	return ids
}

// Check 4 of the hooks: each of several concurrent calls is asked about on its own. A hook that
// is killed prints nothing, and its question ends by itself.
func TestHookCheck4CallsAtOnceAndAHookThatIsKilled(t *testing.T) {
	t.Parallel()
	p := hookedPlace(t, filepath.Join(t.TempDir(), "w"), "")
	one, other := p.hook("one"), p.hook("other")
	ids := p.callsAsked(2)
	p.choose(ids["one"], "approve")
	p.choose(ids["other"], "reject")
	if out := one.ends(t, 0); !strings.Contains(out, `"permissionDecision":"allow"`) {
		t.Errorf("one: %s", out)
	}
	if out := other.ends(t, 0); !strings.Contains(out, `"permissionDecision":"deny"`) {
		t.Errorf("other: %s", out)
	}

	p = hookedPlace(t, filepath.Join(t.TempDir(), "w"), "[hook]\nwait = \"3s\"\n")
	killed := p.hook("killed")
	id := p.callsAsked(1)["killed"]
	_ = killed.cmd.Process.Signal(syscall.SIGKILL)
	if out := killed.ends(t, -1); out != "" {
		t.Errorf("the killed hook printed %q", out)
	}
	p.asker("wait", id).ends(t, 4, "reject\n")
	late := p.hook("late")
	if out := late.ends(t, 0); !strings.Contains(out, "nobody answered in time") || !strings.Contains(out, `"deny"`) {
		t.Errorf("late: %s", out)
	}
}

// Check 3 of the hooks: on a full disk nobody can be asked, and the call does not run.
func TestHookCheck3NothingRunsOnAFullDisk(t *testing.T) {
	t.Parallel()
	root := tmpfs(t, "size=2m")
	p := hookedPlace(t, root, "")
	fill(t, filepath.Join(filepath.Dir(root), "filler"))
	h := p.hook("full")
	if out := h.ends(t, 2); out != "" || !strings.Contains(h.err.String(), "the call does not run: ") {
		t.Errorf("%q %s", out, &h.err)
	}
}

package cli_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Doctor and init say that a client is switched off.
func TestK4DoctorAndInitSayThatAClientIsSwitchedOff(t *testing.T) {
	t.Parallel()
	for client, off := range map[string]struct{ file, body, setting string }{
		"claude-code": {".claude/settings.local.json", `{"disableAllHooks":true}`, "disableAllHooks"},
		"gemini":      {"../home/.gemini/settings.json", `{"hooksConfig":{"enabled":false}}`, "hooksConfig.enabled"},
		"codex":       {"../home/.codex/config.toml", "[features]\nhooks = false\n", "features.hooks"},
		"vscode":      {".vscode/settings.json", `{"chat.mcp.access":"none"}`, "chat.mcp.access"},
	} {
		base := t.TempDir()
		p := newPlace(t, filepath.Join(base, "ws"), 0)
		p.write("README.md", "")
		home := "HOME=" + filepath.Join(base, "home")
		t.Run(client, func(t *testing.T) {
			run := func(args ...string) string {
				cmd := exec.Command(placetBinary(t), append([]string{"-C", p.root}, args...)...)
				cmd.Env = append(p.env(), home, "PATH="+filepath.Dir(cmd.Path)+":"+os.Getenv("PATH"))
				out, _ := cmd.CombinedOutput()
				return string(out)
			}
			if said := run("init", "--for", client); strings.Contains(said, off.setting) {
				t.Errorf("before: %s", said)
			}
			p.write(off.file, off.body)
			for _, verb := range [][]string{{"doctor"}, {"init", "--for", client}} {
				if said := run(verb...); !strings.Contains(said, off.setting) || !strings.Contains(said, filepath.Base(off.file)) {
					t.Errorf("%s does not name %s:\n%s", verb[0], off.setting, said)
				}
			}
		})
	}
}

// Init writes what is personal into the user's own file, out of git's sight, and recognises
// and updates its own entry.
func TestB9InitWritesWhatIsPersonalAndUpdatesItsOwn(t *testing.T) {
	t.Parallel()
	p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0)
	p.write("README.md", "")
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(placetBinary(t), append([]string{"-C", p.root}, args...)...)
		cmd.Env = append(p.env(), "PATH="+filepath.Dir(cmd.Path)+":"+os.Getenv("PATH"))
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	has := func(text, part string) {
		t.Helper()
		if !strings.Contains(text, part) {
			t.Errorf("it lacks %q:\n%s", part, text)
		}
	}
	if out, err := exec.Command("git", "init", "-q", p.root).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	const own = ".claude/settings.local.json"
	has(run("init", "--for", "claude-code"), "yours alone")
	if _, err := os.Stat(filepath.Join(p.root, ".claude/settings.json")); err == nil {
		t.Error("the committed file is written")
	}
	status, _ := exec.Command("git", "-C", p.root, "status", "--porcelain", "-uall").Output()
	if strings.Contains(string(status), own) {
		t.Errorf("git sees it: %s", status)
	}
	written := p.read(own)
	run("init", "--for", "claude-code")
	if p.read(own) != written {
		t.Error("a second init changes it")
	}
	body, _ := os.ReadFile("../../../docs/hooks.md")
	_, rule, _ := readmeBlock(t, string(body), "the rule")
	p.write("placet.toml", rule+"\n")
	if said := run("doctor"); strings.Contains(said, "says something else") {
		t.Errorf("the rule of docs/hooks.md is a finding:\n%s", said)
	}
	p.write(own, strings.Replace(strings.Replace(written, "PowerShell|", "", 1), `"timeout": 86400`, `"timeout": 600`, 1))
	has(run("doctor"), "says something else")
	has(run("init", "--for", "claude-code"), "updated "+own)
	if p.read(own) != written {
		t.Errorf("an older entry becomes %s", p.read(own))
	}
	p.write(own, strings.Replace(written, `"claude-code"`, `"claude-code", "--defer"`, 1))
	has(run("init", "--for", "claude-code"), "nothing is written")
	p.write(own, "{}")
	p.write(".claude/settings.json", written) // as earlier versions did
	run("init", "--for", "claude-code")
	if p.read(own) != "{}" || p.read(".claude/settings.json") != written {
		t.Error("an entry in the committed file is not recognised")
	}
}

// --shared writes the committed file such that people without placet are warned, and nothing
// is blocked for them.
func TestB9ASharedEntryWarnsPeopleWithoutPlacet(t *testing.T) {
	t.Parallel()
	p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0)
	p.write("README.md", "")
	path := "PATH=" + filepath.Dir(placetBinary(t)) + ":" + os.Getenv("PATH")
	run := func(args ...string) string {
		cmd := exec.Command(placetBinary(t), append([]string{"-C", p.root}, args...)...)
		cmd.Env = append(p.env(), path)
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	run("init", "--for", "claude-code") // its entry for the server becomes the shared one
	if err := os.Remove(filepath.Join(p.root, ".claude/settings.local.json")); err != nil {
		t.Fatal(err)
	}
	if said := run("init", "--for", "claude-code", "--shared"); !strings.Contains(said, "people without placet are warned") || !strings.Contains(said, "updated .mcp.json") {
		t.Error(said)
	}
	if said := run("init", "--for", "claude-code"); strings.Contains(said, "created .claude") || strings.Contains(said, "updated") {
		t.Errorf("init without --shared does not know the entry: %s", said)
	}
	if said := run("doctor"); strings.Contains(said, "something else") || strings.Contains(said, "has nothing of placet") {
		t.Error(said)
	}
	var settings struct {
		Hooks map[string][]struct{ Hooks []map[string]any }
	}
	var servers struct {
		Servers map[string]struct{ Args []string } `json:"mcpServers"`
	}
	if err := errors.Join(json.Unmarshal([]byte(p.read(".claude/settings.json")), &settings), json.Unmarshal([]byte(p.read(".mcp.json")), &servers)); err != nil {
		t.Fatal(err)
	}
	hook := settings.Hooks["PreToolUse"][0].Hooks[0]
	if hook["onFailure"] != nil {
		t.Error("a missing program blocks the call")
	}
	input := `{"session_id":"s","cwd":"` + p.root + `","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"t","tool_input":{"command":"placet approve ask-1"}}`
	for _, command := range []string{hook["command"].(string), servers.Servers["placet"].Args[1]} {
		without := exec.Command("/bin/sh", "-c", command)
		without.Env, without.Stdin = []string{"PATH=/nowhere"}, strings.NewReader(input)
		if out, err := without.CombinedOutput(); without.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "placet is not installed") {
			t.Errorf("without placet: %v %s", err, out)
		}
	}
	with := exec.Command("/bin/sh", "-c", hook["command"].(string))
	with.Env, with.Stdin = append(p.env(), path), strings.NewReader(input)
	if out, err := with.CombinedOutput(); err != nil || !strings.Contains(string(out), `"permissionDecision":"deny"`) {
		t.Errorf("with placet: %v %s", err, out)
	}
}

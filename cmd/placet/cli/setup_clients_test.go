package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Issue 30, K4: doctor and init say that a client is switched off.
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
